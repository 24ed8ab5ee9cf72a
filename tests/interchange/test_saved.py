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
"""


@pytest.fixture
def saved(tmp_path: pathlib.Path) -> Any:
    import emplace as tf

    class Affine(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w, self.b = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="w"), tf.Variable([0.5, -0.5], name="b")

        @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name="x")])
        def __call__(self, x: Any) -> Any:
            return {"y": tf.matmul(x, self.w) + self.b, "n": tf.shape(x)[0]}

    module = Affine()
    module.b.assign([1.0, 2.0])
    tf.saved_model.save(module, str(tmp_path / "model"))
    return tmp_path / "model"


def test_here(saved: pathlib.Path) -> None:
    import emplace as tf

    model = tf.saved_model.load(str(saved))
    assert model.signatures["serving_default"](x=tf.constant([[1.0, 1.0]]))["y"].numpy().tolist() == [[5.0, 8.0]]


def test_by_tensorflow(saved: pathlib.Path) -> None:
    pytest.importorskip("tensorflow")
    done = subprocess.run([sys.executable, "-c", LOAD, str(saved)], capture_output=True, text=True)
    assert done.stdout.strip() == "['n', 'y'] [[5.0, 8.0]] 1", done.stderr[-2000:]


def test_a_function_without_signature_is_refused(tmp_path: pathlib.Path) -> None:
    import emplace as tf

    with pytest.raises(ValueError, match="Expected a TensorFlow function"):
        tf.saved_model.save(tf.Module(), str(tmp_path / "m"), signatures={"f": tf.function(lambda x: x)})
