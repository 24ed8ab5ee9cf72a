"""Gradients in eager programs beyond the tape's everyday."""

from typing import Any

import numpy as np
import pytest

tf = pytest.importorskip("emplace")


def test_custom_gradient_of_a_function_that_reads_variables() -> None:
    w = tf.Variable(3.0)

    @tf.custom_gradient
    def f(x: Any) -> Any:
        def grad(dy: Any, variables: Any) -> Any:
            assert [v is w for v in variables] == [True]
            return dy * 10.0, [dy * 100.0]

        return x * w, grad

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert [g.numpy() for g in tape.gradient(y, [x, w])] == [10.0, 100.0]


def test_gradients_that_stop_and_that_connect_nothing() -> None:
    @tf.function
    def f(x: Any) -> Any:
        a = x * 2.0
        b = a + x
        stopped = tf.gradients(a + b, [x], stop_gradients=[a])
        nothing = tf.gradients(a, [b], unconnected_gradients="zero")
        return stopped + nothing

    assert [g.numpy() for g in f(tf.constant(1.0))] == [1.0, 0.0]


def test_gather_nd_within_batches() -> None:
    params = np.arange(24).reshape(2, 3, 4)
    indices = np.array([[[2], [0]], [[1], [1]]])
    found = tf.gather_nd(params, indices, batch_dims=1).numpy()
    assert np.array_equal(found, np.stack([params[0][[2, 0]], params[1][[1, 1]]]))


def test_bins_of_a_histogram() -> None:
    bins = tf.histogram_fixed_width_bins([-1.0, 0.0, 1.5, 2.0, 5.0, 15.0], [0.0, 5.0], nbins=5)
    assert bins.numpy().tolist() == [0, 0, 1, 2, 4, 4]
