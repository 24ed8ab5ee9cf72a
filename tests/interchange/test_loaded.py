"""Objects in SavedModels that TensorFlow and Keras wrote: their functions called, trained and refused as there."""

from __future__ import annotations

import pathlib
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from loaded_models import argument, numbers, plain

NAMES = ["plain", "layers", "structures", "tables", "rnn", "words"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    pytest.importorskip("tensorflow")
    made = tmp_path_factory.mktemp("loaded")
    script = pathlib.Path(__file__).with_name("loaded_models.py")
    done = subprocess.run([sys.executable, str(script), str(made)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return made


def same(want: Any, got: Any) -> None:
    if isinstance(want, dict):
        assert set(want) == set(got)
        for key in want:
            same(want[key], got[key])
    elif isinstance(want, list):
        assert len(want) == len(got)
        for w, g in zip(want, got):
            same(w, g)
    else:
        want, got = np.asarray(want), np.asarray(got)
        assert want.dtype == got.dtype and want.shape == got.shape
        if want.dtype.kind == "f":
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)
        else:
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("name", NAMES)
def test_functions_answer_as_there(folder: pathlib.Path, name: str) -> None:
    import emplace as tf

    model = tf.saved_model.load(str(folder / name))
    for function, args, kwargs, want in pickle.loads((folder / "answers.pickle").read_bytes())[name]:
        same(want, plain(getattr(model, function)(*(argument(tf, a) for a in args), **kwargs)))


def test_a_loaded_function_can_be_trained(folder: pathlib.Path) -> None:
    import emplace as tf

    model, x = tf.saved_model.load(str(folder / "plain")), tf.constant(numbers(4, 3))
    before = model.w.numpy()
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(x))
    gradient = tape.gradient(loss, model.w).numpy()
    np.testing.assert_allclose(gradient, 2 * numbers(4, 3).sum(0)[:, None] * np.ones((1, 2)), rtol=1e-5)
    model.w.assign_sub(0.1 * gradient)
    np.testing.assert_allclose(model(x).numpy(), numbers(4, 3) @ (before - 0.1 * gradient) * 2, rtol=1e-4)
    rnn = tf.saved_model.load(str(folder / "rnn"))
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(rnn.serve(tf.constant(numbers(2, 5, 3))) ** 2)
    assert all(g is not None and np.abs(g.numpy()).max() > 0 for g in tape.gradient(loss, rnn.trainable_variables))


def test_a_call_that_fits_no_trace_is_refused(folder: pathlib.Path) -> None:
    import emplace as tf

    model = tf.saved_model.load(str(folder / "plain"))
    with pytest.raises(ValueError, match="Could not find matching concrete function to call loaded from the SavedModel"):
        model(tf.constant("text"))
    with pytest.raises(TypeError, match="Binding inputs to tf.function failed"):
        model.count(tf.constant("text"))
    with pytest.raises(TypeError, match="missing a required argument: 'x'"):
        model.signatures["serving_default"]()


def test_inside_another_function(folder: pathlib.Path) -> None:
    import emplace as tf

    model, x = tf.saved_model.load(str(folder / "plain")), numbers(4, 3)
    twice = tf.function(lambda t: model(t) + model(t))
    np.testing.assert_allclose(twice(tf.constant(x)).numpy(), 4 * x @ model.w.numpy(), rtol=1e-5)
