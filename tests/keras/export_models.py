"""Run by test_export.py, on Emplace and on TensorFlow: `write FOLDER` trains and exports models, `read FOLDER` serves them."""

import sys

import numpy as np
import tensorflow as tf

layers, r = tf.keras.layers, np.random.RandomState(0)
GIVEN = {
    "convolutions": r.rand(6, 8, 8, 3).astype("float32"), "sequences": r.randint(0, 9, (6, 5)).astype("int32"), "attention": r.rand(6, 4, 8).astype("float32"),
    "texts": np.array(["the cat sat", "a dog", "the dog sat", "", "cat cat", "ran"]), "module": r.rand(6, 3).astype("float32"),
}  # fmt: skip


def built(name):
    if name == "convolutions":
        parts = [layers.Input((8, 8, 3)), layers.Conv2D(4, 3, activation="relu"), layers.BatchNormalization(), layers.MaxPooling2D()]
        return tf.keras.Sequential([*parts, layers.DepthwiseConv2D(2), layers.Flatten(), layers.Dropout(0.5), layers.Dense(2)])
    if name == "sequences":
        return tf.keras.Sequential([layers.Input((5,), dtype="int32"), layers.Embedding(9, 4), layers.Bidirectional(layers.LSTM(3)), layers.Dense(2)])
    if name == "attention":
        given = layers.Input((4, 8))
        mixed = layers.LayerNormalization()(layers.MultiHeadAttention(2, 4)(given, given) + given)
        return tf.keras.Model(given, layers.Dense(2)(layers.GlobalAveragePooling1D()(mixed)))
    vector = layers.TextVectorization(vocabulary=["the", "cat", "sat", "dog"], output_mode="multi_hot")
    return tf.keras.Sequential([layers.Input((), dtype="string"), vector, layers.Dense(2)])


class Module(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable(r.rand(3, 2).astype("float32"), name="w")
        self.calls = tf.Variable(0)

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32)])
    def serve(self, x):
        self.calls.assign_add(1)
        total = tf.zeros([tf.shape(x)[0], 2])
        for i in tf.range(3):
            total += tf.matmul(x, self.w) * tf.cast(i, tf.float32)
        return tf.cond(tf.reduce_sum(total) > 0, lambda: total, lambda: -total)


def write(folder):
    for name, given in GIVEN.items():
        tf.keras.utils.set_random_seed(1)
        if name == "module":
            model = Module()
            tf.saved_model.save(model, f"{folder}/{name}")
            want = model.serve(given)
        else:
            model = built(name)
            model.compile("sgd", "mse")
            model.fit(tf.constant(given) if given.dtype.kind == "U" else given, r.rand(6, 2).astype("float32"), batch_size=3, verbose=0)
            model.export(f"{folder}/{name}", verbose=False)
            want = model(tf.constant(given), training=False)
        np.save(f"{folder}/{name}.npy", want)


def read(folder):
    for name, given in GIVEN.items():
        loaded, want = tf.saved_model.load(f"{folder}/{name}"), np.load(f"{folder}/{name}.npy")
        signature = loaded.signatures["serving_default"]
        (argument,) = signature.structured_input_signature[1]
        (served,) = signature(**{argument: tf.constant(given, signature.structured_input_signature[1][argument].dtype)}).values()
        print(name, np.allclose(loaded.serve(tf.constant(given)), want, atol=1e-5), np.allclose(served, want, atol=1e-5))


{"write": write, "read": read}[sys.argv[1]](sys.argv[2])
