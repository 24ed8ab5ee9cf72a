"""Functions of the eager namespace in a graph that a program builds itself: operations, nothing is run while it is built."""

import numpy as np
import pytest

import emplace as tf

tf1 = tf.compat.v1


def _given(value):
    return tf1.placeholder_with_default(value, None if np.ndim(value) == 0 else [None])


BUILT = {
    "py_function": (lambda: tf.py_function(lambda x: x + 1, [_given(1)], tf.int32), 2),
    "numpy_function": (lambda: tf.numpy_function(lambda x: x + np.int32(1), [_given(1)], tf.int32), 2),
    "case": (lambda: tf.case([(_given(1) > 2, lambda: tf.constant(3))], lambda: tf.constant(4)), 4),
    "switch_case": (lambda: tf.switch_case(_given(1), [lambda: tf.constant(3), lambda: tf.constant(4)]), 4),
    "map_fn": (lambda: tf.map_fn(lambda x: x + 1, _given([1, 2])), [2, 3]),
    "vectorized_map": (lambda: tf.vectorized_map(lambda x: x + 1, _given([1, 2])), [2, 3]),
    "foldl": (lambda: tf.foldl(lambda a, x: a - x, _given([1, 2])), -1),
    "foldr": (lambda: tf.foldr(lambda a, x: a - x, _given([1, 2])), 1),
    "scan": (lambda: tf.scan(lambda a, x: a + x, _given([1, 2])), [1, 3]),
}


@pytest.mark.parametrize("name", BUILT)
def test_builds(name: str) -> None:
    build, wanted = BUILT[name]
    with tf1.Graph().as_default(), tf1.Session() as session:
        assert np.asarray(session.run(build())).tolist() == wanted


def test_python_is_called_at_each_run() -> None:
    calls: list[int] = []
    with tf1.Graph().as_default(), tf1.Session() as session:
        count = tf.py_function(lambda: calls.append(1) or len(calls), [], tf.int32)
        assert calls == []
        assert [session.run(count) for _ in range(3)] == [1, 2, 3]


@pytest.mark.parametrize(
    "make", [lambda: tf.numpy_function(lambda: np.int64(2**32), [], tf.int32), lambda: tf.py_function(lambda: 2**63, [], tf.int64)]
)
def test_results_are_of_the_kind_that_was_said(make) -> None:
    with tf1.Graph().as_default(), tf1.Session() as session, pytest.raises(tf.errors.InvalidArgumentError):
        session.run(make())


def test_print_is_an_operation(capfd: pytest.CaptureFixture[str]) -> None:
    with tf1.Graph().as_default(), tf1.Session() as session:
        said = tf.print("it is", _given(7))
        assert capfd.readouterr().err == ""
        session.run(said)
    assert capfd.readouterr().err == "it is 7\n"
