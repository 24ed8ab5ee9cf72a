"""Modules that we save, loaded by us and by TensorFlow."""

from __future__ import annotations

import pathlib
import subprocess
import sys
from typing import Any

import pytest

LOAD = """
import sys
import tensorflow as tf
model = tf.saved_model.load(sys.argv[1])
found = model.signatures["serving_default"](x=tf.constant([[1.0, 1.0]]))
print(sorted(found), found["y"].numpy().tolist(), int(found["n"]))
print(model(tf.constant([[1.0, 1.0]]))["y"].numpy().tolist(), model.scaled(tf.constant([2.0]), by=3.0).numpy().tolist())
print(model.find(tf.constant(["b", "?"])).numpy().tolist())
print([w.numpy().tolist() for w in model.weights], model.count(tf.constant(4)).numpy(), model.count(tf.constant(4)).numpy())
"""
PRINTED = """['n', 'y'] [[5.0, 8.0]] 1
[[5.0, 8.0]] [6.0]
[2, -1]
[[7.0], [8.0]] 10 14"""


@pytest.fixture
def saved(tmp_path: pathlib.Path) -> Any:
    import emplace as tf

    class Affine(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w, self.b = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="w"), tf.Variable([0.5, -0.5], name="b")
            self.weights, self.total = [tf.Variable([7.0]), tf.Variable([8.0])], tf.Variable(6, trainable=False)
            self.words = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), -1)

        @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name="x")])
        def __call__(self, x: Any) -> Any:
            return {"y": tf.matmul(x, self.w) + self.b, "n": tf.shape(x)[0]}

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
        def find(self, x: Any) -> Any:
            return self.words.lookup(x)

        @tf.function
        def scaled(self, x: Any, by: float = 2.0) -> Any:
            return x * by

        @tf.function(input_signature=[tf.TensorSpec([], tf.int32, name="n")])
        def count(self, n: Any) -> Any:
            for _ in tf.range(n):
                self.total.assign_add(1)
            return self.total.read_value()

    module = Affine()
    module.b.assign([1.0, 2.0])
    module.scaled(tf.constant([1.0]), by=3.0)
    tf.saved_model.save(module, str(tmp_path / "model"), signatures=module.__call__)
    return tmp_path / "model"


def test_here(saved: pathlib.Path) -> None:
    done = subprocess.run([sys.executable, "-c", LOAD.replace("tensorflow", "emplace"), str(saved)], capture_output=True, text=True)
    assert done.stdout.strip() == PRINTED, done.stderr[-2000:]


def test_by_tensorflow(saved: pathlib.Path) -> None:
    pytest.importorskip("tensorflow")
    done = subprocess.run([sys.executable, "-c", LOAD, str(saved)], capture_output=True, text=True)
    assert done.stdout.strip() == PRINTED, done.stderr[-2000:]


def test_a_function_without_signature_is_refused(tmp_path: pathlib.Path) -> None:
    import emplace as tf

    with pytest.raises(ValueError, match="Expected a TensorFlow function"):
        tf.saved_model.save(tf.Module(), str(tmp_path / "m"), signatures={"f": tf.function(lambda x: x)})
