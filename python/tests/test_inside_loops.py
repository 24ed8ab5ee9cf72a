"""Iterators after an element failed, and what is inside of a loop or a branch seen from outside."""

from __future__ import annotations

import pytest

import emplace.compat.v1 as tf
from emplace.framework.errors import InaccessibleTensorError

pytestmark = pytest.mark.usefixtures("graph")

_OVER, _WRONG = "OutOfRangeError", "InvalidArgumentError"


def _outcomes(dataset, steps):
    iterator = tf.data.make_initializable_iterator(dataset)
    item, seen = iterator.get_next(), []
    with tf.Session() as session:
        session.run(iterator.initializer)
        for _ in range(steps):
            try:
                seen.append(session.run(item).tolist())
            except tf.errors.OpError as e:
                seen.append(type(e).__name__)
    return seen


def _inverse(x):
    return tf.check_numerics(1.0 / tf.cast(x - 1, tf.float32), "at 1")


def _python(x):
    def double(v):
        if v == 1:
            raise ValueError("one")
        return v * 2

    return tf.py_func(double, [x], tf.int64)


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        (lambda d: d.map(_inverse), [-1.0, _WRONG, 1.0, 0.5, _OVER, _OVER]),
        (lambda d: d.map(_inverse).map(lambda x: x * 2).prefetch(1), [-2.0, _WRONG, 2.0, 1.0, _OVER]),
        (lambda d: d.map(_inverse).batch(2), [_WRONG, [1.0, 0.5], _OVER, _OVER]),
        (lambda d: d.map(_inverse).padded_batch(2, []), [_WRONG, [1.0, 0.5], _OVER]),
        (lambda d: d.map(_inverse).batch(2).map(lambda x: x * 2), [_WRONG, [2.0, 1.0], _OVER]),
        (lambda d: d.map(_python), [0, _WRONG, 4, 6, _OVER]),
        (lambda d: d.map(_python).batch(2), [_WRONG, [4, 6], _OVER]),
        (lambda d: d.filter(lambda x: _inverse(x) < 0.7), [0, _WRONG, 3, _OVER]),
    ],
)
def test_iterators_go_on_after_a_failure(change, wanted):
    assert _outcomes(change(tf.data.Dataset.range(4)), len(wanted)) == wanted


def _loop():
    inside = []

    def body(i):
        inside.append(i * 2)
        return i + 1

    return tf.while_loop(lambda i: i < 3, body, [tf.constant(0)]), inside[0]


_NOT_FETCHABLE = "Operation {} has been marked as not fetchable. Typically this happens when it is defined in another function or code block."


def test_inside_of_a_loop_is_neither_fetched_nor_fed():
    result, inside = _loop()
    session = tf.Session()
    for fetch in (inside, inside.op, inside.name):
        with pytest.raises(InaccessibleTensorError, match=_NOT_FETCHABLE.format("while/mul")):
            session.run(fetch)
    for name in ("while/mul:0", "while/Enter:0"):
        with pytest.raises(ValueError, match=f"Tensor {name} may not be fed."):
            session.run(result, {name: 3})
    graph = tf.get_default_graph()
    assert graph.is_fetchable(result) and graph.is_fetchable(result.graph.get_operation_by_name("while/Enter"))
    assert session.run(result) == 3


def test_inside_of_a_branch_is_not_fetched():
    inside = []
    result = tf.cond(tf.constant(True), lambda: inside.append(tf.constant(3) * 2) or inside[0], lambda: tf.constant(1))
    session = tf.Session()
    for op in (inside[0].op, "cond/pred_id", "cond/switch_t"):
        with pytest.raises(InaccessibleTensorError, match="has been marked as not fetchable"):
            session.run(op)
    assert session.run([result, inside[0] + 1]) == [6, 7]  # outside of loops a branch's value may be used


def test_inside_of_a_loop_is_not_used_outside():
    result, inside = _loop()
    with pytest.raises(ValueError, match="Cannot use 'while/mul' as input to 'add' because 'while/mul' is in a while loop. See info log for more details."):
        inside + 1
    with pytest.raises(ValueError, match="Cannot use 'while/mul' as input to 'other/add' because they are in different while loops."):
        tf.while_loop(lambda i: i < 3, lambda i: i + inside, [tf.constant(0)], name="other")
    assert tf.Session().run(result + 1) == 4


def test_loops_in_loops_and_their_gradients_are_used():
    x = tf.constant(2.0)

    def inner(a):
        return tf.while_loop(lambda j, b: j < 2, lambda j, b: (j + 1, tf.cond(j > 0, lambda: b * x, lambda: b + x)), [0, a])[1]

    y = tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, inner(a)), [0, x])[1]
    first = tf.gradients(y * x, x)[0]
    assert tf.Session().run([y, first]) == [20.0, 76.0]
