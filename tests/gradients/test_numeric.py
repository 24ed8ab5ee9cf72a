"""Every gradient against differences of its function's values, in float64; the second ones too."""

import pathlib
import sys
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "differential"))
from graph_snippets_gradients import ROWS  # noqa: E402

import emplace.compat.v1 as tf  # noqa: E402

STEP = 1e-6
# Functions of float32 only, as their rows are written; their values are compared with TensorFlow's.
SINGLE = {
    "betainc", "polygamma", "softmax_cross_entropy", "softmax_cross_entropy_v1", "sigmoid_cross_entropy", "weighted_cross_entropy",
    "batch_normalization", "cast_down", "cast", "lrn", "fused_batch_norm", "fused_batch_norm_frozen", "resize_bilinear", "resize_nearest",
    "resize_bicubic", "crop_and_resize", "rfft", "reduce_logsumexp",
}
# Not differentiated by all arguments (zeta by its first), held at a bend (clip_by_value), or defined
# for labels that sum to one only.
ASIDE = {"print", "zeta", "clip_by_value", "softmax_cross_entropy_labels", "max_pool3d"}
# Steps: the value jumps or is flat, and the gradient is zero or none.
FLAT = {"floor", "ceil", "round", "rint", "sign", "floordiv", "nextafter", "stop_gradient", "floormod"}
# Eigenvectors and the factors of a decomposition are unique but for signs.
SIGNS = {"eigh_vectors"}
# Read one triangle of a symmetric matrix.
SYMMETRIC = {"cholesky", "eigh"}
TWICE = (
    "exp sin cos tanh sigmoid square sqrt log reciprocal rsqrt multiply_row divide_row subtract_same add_row pow matmul reduce_sum_axis"
    " reduce_mean_all cumsum transpose reshape tile concat gather strided_slice softplus elu softmax bias_add l2_loss erf lgamma"
).split()
NAMES = [n for n in ROWS if n not in SINGLE | ASIDE | FLAT | SIGNS]


def total(y: Any) -> Any:
    parts = y if isinstance(y, (list, tuple)) else [y]
    weights = [tf.reshape(tf.cos(tf.cast(tf.range(tf.size(p)), p.dtype)) + 2.0, tf.shape(p)) for p in parts]
    return tf.add_n([tf.reduce_sum(p * w) for p, w in zip(parts, weights)])


def differences(session: Any, y: Any, xs: list[Any], values: list[np.ndarray]) -> list[np.ndarray]:
    found = []
    for k, x in enumerate(values):
        grad = np.zeros_like(x)
        for at in np.ndindex(x.shape):
            sides = []
            for sign in (1, -1):
                moved = [v.copy() for v in values]
                moved[k][at] += sign * STEP
                sides.append(session.run(y, dict(zip(xs, moved))))
            grad[at] = (sides[0] - sides[1]) / (2 * STEP)
        found.append(grad)
    return found


def compare(name: str, function: Any) -> None:
    make, given = ROWS[name]
    values = [np.asarray(v, np.float64) for v in given]
    with tf.Graph().as_default():
        xs = [tf.placeholder(tf.float64, v.shape) for v in values]
        y = function(make, [(x + tf.transpose(x)) / 2.0 for x in xs] if name in SYMMETRIC else xs)
        grads = [tf.convert_to_tensor(g) for g in tf.gradients(y, xs, unconnected_gradients="zero")]
        with tf.Session() as session:
            actual = session.run(grads, dict(zip(xs, values)))
            expected = differences(session, y, xs, values)
    for a, e in zip(actual, expected, strict=True):
        np.testing.assert_allclose(a, e, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("name", NAMES)
def test_first_derivative(name: str) -> None:
    compare(name, lambda make, xs: total(make(tf, *xs)))


@pytest.mark.parametrize("name", TWICE)
def test_second_derivative(name: str) -> None:
    def slope(make: Any, xs: list[Any]) -> Any:
        first = tf.gradients(total(tf.square(make(tf, *xs))), xs)
        return total([tf.convert_to_tensor(g) for g in first])

    compare(name, slope)
