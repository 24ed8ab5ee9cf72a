"""`tf.vectorized_map`: for all rows at once what the function gives for each."""

import logging
from typing import Any

import numpy as np
import pytest

tf = pytest.importorskip("emplace")

ROWS = np.random.default_rng(0).standard_normal([5, 4, 3]).astype("f")

FUNCTIONS: dict[str, Any] = {
    "sum": lambda x: tf.reduce_sum(x * x),
    "along axes": lambda x: tf.reduce_max(x, -1) + tf.reduce_mean(x, 1, keepdims=True)[:, 0],
    "product with what all share": lambda x: tf.matmul(x, tf.ones([3, 2])) + tf.ones([2]),
    "product of its own": lambda x: tf.matmul(x, x, transpose_b=True),
    "product from the left": lambda x: tf.matmul(tf.ones([2, 4]), x),
    "broadcasting": lambda x: tf.reduce_sum(x) * tf.ones([2, 2]) + x[0, 0],
    "reshape": lambda x: tf.reshape(x, [2, -1]),
    "reshape by its size": lambda x: tf.reshape(x, [tf.size(x)]),
    "transpose": lambda x: tf.transpose(x),
    "concat": lambda x: tf.concat([x, tf.ones([1, 3])], 0),
    "stack": lambda x: tf.stack([x[0], x[1]], 1),
    "unstack": lambda x: tf.unstack(x)[1],
    "split": lambda x: tf.split(x, 2)[1],
    "slice": lambda x: x[1:, ::2],
    "gather": lambda x: tf.gather(x, [1, 0]),
    "gather by rows": lambda x: tf.gather(tf.range(10.0), tf.cast(tf.abs(x), tf.int32)),
    "gather columns": lambda x: tf.gather(tf.reshape(tf.range(10.0), [2, 5]), tf.cast(tf.abs(x[0]), tf.int32), axis=1),
    "tile": lambda x: tf.tile(x, [2, 1]),
    "pad": lambda x: tf.pad(x, [[1, 1], [0, 2]]),
    "softmax": lambda x: tf.nn.softmax(x),
    "einsum": lambda x: tf.einsum("ij,kj->ik", x, x),
    "where": lambda x: tf.where(x > 0, x, 0.0),
    "one_hot": lambda x: tf.one_hot(tf.argmax(x, 1), 3),
    "cumsum": lambda x: tf.cumsum(x),
    "shape": lambda x: tf.shape(x),
    "what no row takes part in": lambda x: tf.constant(2.0),
    "structure": lambda x: {"a": x + 1, "b": (tf.reduce_sum(x), 3)},
    "inverse": lambda x: tf.linalg.inv(tf.matmul(x, x, transpose_a=True) + tf.eye(3)),
    "squeeze": lambda x: tf.squeeze(x[:1]),
    "fill": lambda x: tf.fill([2], x[0, 0]),
    "l2_loss": lambda x: tf.nn.l2_loss(x),
    "reverse": lambda x: tf.reverse(x, [0]),
    "a branch, which has no rule": lambda x: tf.cond(tf.reduce_sum(x) > 0, lambda: x, lambda: -x),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("traced", [False, True])
def test_gives_what_each_row_gives(name: str, traced: bool) -> None:
    rows, f = tf.constant(ROWS), FUNCTIONS[name]
    whole = (lambda a: tf.vectorized_map(f, a, warn=False)) if not traced else tf.function(lambda a: tf.vectorized_map(f, a, warn=False))
    got = tf.nest.flatten(whole(rows))
    each = [[np.asarray(v) for v in tf.nest.flatten(f(row))] for row in rows]
    for at, value in enumerate(got):
        expected = np.stack([parts[at] for parts in each])
        assert value.shape == expected.shape
        np.testing.assert_allclose(value.numpy(), expected, rtol=1e-5, atol=1e-5)


def test_images_go_as_one_batch() -> None:
    images, kernel = tf.constant(np.arange(2 * 3 * 64, dtype="f").reshape(2, 3, 8, 8, 1)), tf.ones([3, 3, 1, 2])
    got = tf.vectorized_map(lambda x: tf.nn.conv2d(x, kernel, 1, "SAME"), images)
    expected = np.stack([tf.nn.conv2d(x, kernel, 1, "SAME").numpy() for x in images])
    np.testing.assert_allclose(got.numpy(), expected, rtol=1e-5)


def test_gradients_reach_variables_and_rows() -> None:
    rows, w = tf.constant(ROWS), tf.Variable(tf.fill([3, 2], 0.5))
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(rows)
        at_once = tf.reduce_sum(tf.vectorized_map(lambda x: tf.reduce_sum(tf.tanh(tf.matmul(x, w))), rows))
        one_by_one = tf.add_n([tf.reduce_sum(tf.tanh(tf.matmul(x, w))) for x in tf.unstack(rows)])
    for source in (rows, w):
        np.testing.assert_allclose(tape.gradient(at_once, source), tape.gradient(one_by_one, source), rtol=1e-5)


def test_elements_of_one_row_belong_to_all() -> None:
    got = tf.vectorized_map(lambda pair: pair[0] + pair[1], (tf.constant(ROWS), tf.ones([1, 4, 3])))
    np.testing.assert_allclose(got.numpy(), ROWS + 1)


def test_each_row_draws_numbers_of_its_own() -> None:
    got = tf.vectorized_map(lambda x: tf.random.uniform([2]), tf.constant(ROWS)).numpy()
    assert got.shape == (5, 2) and len(np.unique(got)) == 10


def test_goes_row_by_row_with_a_word_where_it_must(caplog: pytest.LogCaptureFixture) -> None:
    def f(x: Any) -> Any:
        return tf.py_function(lambda y: y * 2, [x], tf.float32)

    with caplog.at_level(logging.WARNING, "emplace"):
        np.testing.assert_allclose(tf.vectorized_map(f, tf.constant(ROWS)).numpy(), ROWS * 2)
    assert "EagerPyFunc" in caplog.text
    with pytest.raises(ValueError, match="EagerPyFunc"):
        tf.vectorized_map(f, tf.constant(ROWS), fallback_to_while_loop=False)
