"""Writes SavedModels with TensorFlow, each with calls and what TensorFlow's own loader answers: loaded_models.py FOLDER."""

from __future__ import annotations

import os
import pathlib
import pickle
import sys
from typing import Any

import numpy as np

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"


def numbers(*shape: int) -> np.ndarray:
    return np.random.RandomState(0).uniform(-1, 1, shape).astype("float32")


def texts(*values: bytes) -> np.ndarray:
    return np.array(values, object)


def modules(tf: Any, folder: pathlib.Path) -> dict[str, tuple[Any, list[tuple[str, tuple[Any, ...], dict[str, Any]]]]]:
    vocabulary = folder / "words.txt"
    vocabulary.write_text("apple\nbanana\ncherry\n")

    class Plain(tf.Module):
        def __init__(self) -> None:
            self.w, self.n = tf.Variable(numbers(3, 2)), tf.Variable(0, trainable=False)

        @tf.function
        def __call__(self, x: Any, scale: float = 2.0) -> Any:
            return tf.matmul(x, self.w) * scale

        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
        def count(self, x: Any) -> Any:
            self.n.assign_add(tf.size(x))
            return {"n": self.n.read_value(), "twice": x * 2}

    class Layers(tf.Module):
        def __init__(self) -> None:
            self.layers = [tf.Variable(numbers(2, 2) + i) for i in range(3)]
            self.named, self.k = {"a": tf.Variable(1.0)}, tf.constant([3.0, 4.0])

        @tf.function
        def run(self, x: Any, n: Any) -> Any:
            for w in self.layers:
                x = tf.nn.relu(x @ w)
            while n > 0:
                if tf.reduce_sum(x) > 0:
                    x = x - self.named["a"]
                n -= 1
            return x + self.k

    class Structures(tf.Module):
        @tf.function
        def nested(self, d: Any, t: Any) -> Any:
            return {"s": d["a"] + d["b"], "t": (t[0] * 2, [t[1]])}

        @tf.function(input_signature=[tf.RaggedTensorSpec([None, None], tf.float32)])
        def ragged(self, r: Any) -> Any:
            return tf.reduce_sum(r, axis=1), r * 2.0

    class Tables(tf.Module):
        def __init__(self) -> None:
            self.file = tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer(
                str(vocabulary), tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER), -1)  # fmt: skip
            self.words = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(tf.constant([1, 2]), tf.constant(["one", "two"])), "?")
            self.counts = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
            self.counts.insert(tf.constant(["a", "b"]), tf.constant([1, 2], tf.int64))

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
        def find(self, x: Any) -> Any:
            return self.words.lookup(tf.cast(self.file.lookup(x), tf.int32) + 1)

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
        def count(self, x: Any) -> Any:
            self.counts.insert(x, self.counts.lookup(x) + 1)
            return self.counts.lookup(x), self.counts.size()

    plain, layers, structures = Plain(), Layers(), Structures()
    plain(tf.constant(numbers(4, 3)))
    plain(tf.constant(numbers(4, 3)), scale=3.0)
    layers.run(tf.constant(numbers(2, 2)), tf.constant(3))
    structures.nested({"a": tf.constant(1.0), "b": tf.constant(2.0)}, (tf.constant(3), tf.constant(4.0)))
    x = numbers(4, 3)
    return {
        "plain": (plain, [("__call__", (x,), {}), ("__call__", (x,), {"scale": 3.0}), ("count", (x[0],), {}), ("count", (x[0],), {})]),
        "layers": (layers, [("run", (numbers(2, 2), np.int32(3)), {})]),
        "structures": (structures, [("nested", ({"a": np.float32(1), "b": np.float32(5)}, (np.int32(3), np.float32(4))), {}), ("ragged", ("ragged",), {})]),
        "tables": (Tables(), [("find", (texts(b"banana", b"apple", b"?"),), {}), ("count", (texts(b"b", b"c"),), {}), ("count", (texts(b"b"),), {})]),
    }


def keras_models(keras: Any) -> dict[str, tuple[Any, list[tuple[str, tuple[Any, ...], dict[str, Any]]]]]:
    layers = keras.layers
    rnn = keras.Sequential([keras.Input((5, 3)), layers.Bidirectional(layers.LSTM(4, return_sequences=True)), layers.GRU(3), layers.BatchNormalization()])
    words = keras.Sequential([
        keras.Input((), dtype="string"), layers.TextVectorization(max_tokens=10, output_sequence_length=5, vocabulary=["the", "cat", "sat"]),
        layers.Embedding(10, 3), layers.GlobalAveragePooling1D(),
    ])  # fmt: skip
    return {"rnn": (rnn, [("serve", (numbers(2, 5, 3),), {})]), "words": (words, [("serve", (texts(b"The cat!", b"a dog sat"),), {})])}


def argument(tf: Any, value: Any) -> Any:
    if isinstance(value, str) and value == "ragged":
        return tf.ragged.constant([[1.0, 2.0], [], [3.0]])
    if isinstance(value, dict):
        return {k: argument(tf, v) for k, v in value.items()}
    if isinstance(value, tuple):
        return tuple(argument(tf, v) for v in value)
    return tf.constant(value) if isinstance(value, (np.ndarray, np.generic)) else value


def plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return value.to_list() if hasattr(value, "to_list") else value.numpy()


def main(folder: pathlib.Path) -> None:
    import keras
    import tensorflow as tf

    keras.utils.set_random_seed(1)
    models = {**modules(tf, folder), **keras_models(keras)}
    answers: dict[str, Any] = {}
    for name, (model, calls) in models.items():
        path = str(folder / name)
        if isinstance(model, tf.Module) and not isinstance(model, keras.Model):
            tf.saved_model.save(model, path)
        else:
            model.export(path, verbose=False)
        loaded = tf.saved_model.load(path)
        answers[name] = [(f, a, k, plain(getattr(loaded, f)(*(argument(tf, x) for x in a), **k))) for f, a, k in calls]
    (folder / "answers.pickle").write_bytes(pickle.dumps(answers))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
