"""Keras on Emplace: each program runs in a process of its own, where Emplace stands in TensorFlow's place."""

import importlib.util
import os
import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.skipif(importlib.util.find_spec("keras") is None, reason="Keras is not installed")


def run(program: str, **environment: str) -> str:
    done = start(program, **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def start(program: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True,
                          env={**os.environ, **environment}, timeout=600)  # fmt: skip


def test_a_model_trains_evaluates_and_is_saved() -> None:
    said = run(
        """
        import os, tempfile
        import numpy as np
        import emplace as tf
        from emplace.keras import layers

        folder = tempfile.mkdtemp()
        tf.keras.utils.set_random_seed(1)
        x = np.random.rand(256, 4).astype("float32")
        y = x.sum(1, keepdims=True)
        model = tf.keras.Sequential([layers.Input([4]), layers.Dense(16, activation="relu"), layers.Dropout(0.01), layers.Dense(1)])
        model.compile(optimizer=tf.train.AdamOptimizer(0.01), loss="mse", metrics=["mae"], jit_compile=True)
        seen = model.fit(x, y, batch_size=32, epochs=8, verbose=0, validation_split=0.25,
                         callbacks=[tf.keras.callbacks.TensorBoard(folder)]).history
        assert seen["loss"][-1] < 0.1 * seen["loss"][0], seen["loss"]
        assert set(seen) == {"loss", "mae", "val_loss", "val_mae"}
        written = [name for _, _, names in os.walk(folder) for name in names]
        assert sum("tfevents" in name for name in written) == 2, written
        loss = model.evaluate(x, y, verbose=0)[0]
        want = model.predict(x[:5], verbose=0)
        for name in ("whole.keras", "whole.h5"):
            model.save(os.path.join(folder, name))
            again = tf.keras.models.load_model(os.path.join(folder, name), compile=False)
            assert np.array_equal(again.predict(x[:5], verbose=0), want), name
        tf.train.Checkpoint(model=model).save(os.path.join(folder, "ckpt"))
        model.layers[0].kernel.assign(np.zeros([4, 16]))
        tf.train.Checkpoint(model=model).restore(os.path.join(folder, "ckpt-1"))
        assert np.array_equal(model.predict(x[:5], verbose=0), want)
        print("fine")
        """
    )
    assert said == "fine"


def test_datasets_steps_per_execution_and_mixed_precision() -> None:
    said = run(
        """
        import emplace as tf
        from emplace.keras import layers

        tf.keras.utils.set_random_seed(1)
        data = tf.data.Dataset.from_tensor_slices((tf.random.normal([70, 8, 8, 1]), tf.range(70) % 3)).batch(16)
        tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
        model = tf.keras.Sequential([
            layers.Conv2D(4, 3, activation="relu"), layers.BatchNormalization(), layers.GlobalAveragePooling2D(),
            layers.Dense(3, dtype="float32"),
        ])
        model.compile("sgd", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), steps_per_execution=2)
        history = model.fit(data, epochs=2, verbose=0).history["loss"]
        print(len(history), model.layers[0].compute_dtype, model.optimizer.iterations.numpy(), model.predict(data, verbose=0).shape)
        """
    )
    assert said == "2 bfloat16 10 (70, 3)"


def test_it_is_refused_in_plain_words() -> None:
    assert "KERAS_BACKEND is 'jax' here" in start("import emplace; emplace.keras", KERAS_BACKEND="jax").stderr
    gone = """
        import importlib.metadata as m
        def version(name): raise m.PackageNotFoundError(name)
        m.version = version
        import emplace as tf
        tf.losses
        """
    assert "tf.keras is the package Keras, which is not installed here: pip install 'emplace[keras]'" in start(gone).stderr
    old = """
        import importlib.metadata as m
        m.version = lambda name: "2.15.0"
        import emplace as tf
        tf.keras
        """
    assert "tf.keras wants keras>=3.12,<4; Keras 2.15.0 is installed" in start(old).stderr


def test_optimizers_under_the_older_names() -> None:
    said = run(
        """
        import emplace as tf
        for make in (lambda: tf.train.GradientDescentOptimizer(0.1), lambda: tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
                     lambda: tf.train.AdamOptimizer(0.1, beta1=0.8), lambda: tf.train.RMSPropOptimizer(0.1, decay=0.8)):
            v, steps, optimizer = tf.Variable(3.0), tf.Variable(0), make()
            optimizer.minimize(lambda: v * v, global_step=steps)
            print(type(optimizer).__name__, isinstance(optimizer, tf.keras.optimizers.Optimizer), bool(v < 3.0), int(steps))
        """
    )
    assert said.splitlines() == [f"{n}Optimizer True True 1" for n in ("GradientDescent", "Momentum", "Adam", "RMSProp")]


def test_a_model_of_a_program_s_own_is_built_while_fit_traces_it_and_has_a_signature() -> None:
    out = run(
        """
        import tempfile
        import numpy as np
        import emplace as tf

        class Model(tf.keras.Model):
            def __init__(self):
                super().__init__()
                self.dense = tf.keras.layers.Dense(1)
            def call(self, inputs):
                return self.dense(inputs)
        m = Model()
        m.compile("sgd", "mse")
        m.fit(np.ones((4, 3)), np.ones((4, 1)), verbose=0)
        folder = tempfile.mkdtemp()
        tf.saved_model.save(m, folder)
        print(tf.saved_model.load(folder).signatures["serving_default"].structured_input_signature)
        """
    )
    assert out == "((), {'inputs': TensorSpec(shape=(None, 3), dtype=tf.float32, name='inputs')})"


def test_a_checkpoint_waits_for_a_layer_that_is_built_in_a_function() -> None:
    out = run(
        """
        import tempfile
        import emplace as tf

        def create():
            return tf.keras.Sequential([tf.keras.layers.Conv2D(2, 3), tf.keras.layers.Flatten(), tf.keras.layers.Dense(2)])
        m, n = create(), create()
        m(tf.ones([1, 4, 4, 1]))
        m.layers[-1].bias.assign([1.0, 2.0])
        path = tf.train.Checkpoint(model=m).save(tempfile.mkdtemp() + "/saved")
        tf.train.Checkpoint(model=n).restore(path)
        tf.function(lambda x: n(x))(tf.ones([1, 4, 4, 1]))
        print(n.layers[-1].bias.numpy().tolist())
        """
    )
    assert out == "[1.0, 2.0]"


def test_an_epoch_ends_while_its_sequence_is_at_work() -> None:
    said = run(
        """
        import numpy as np
        import emplace as tf

        class Batches(tf.keras.utils.PyDataset):
            def __len__(self):
                return 4

            def __getitem__(self, i):
                return np.ones([16, 4], "float32"), np.ones([16, 1], "float32")

        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        model.compile(optimizer="sgd", loss="mse", jit_compile=True)
        print([len(model.fit(Batches(workers=w, use_multiprocessing=False), epochs=3, verbose=0).history["loss"]) for w in (1, 2)])
        """
    )
    assert said == "[3, 3]"
