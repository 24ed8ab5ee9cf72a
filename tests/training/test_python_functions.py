"""tf.py_func, tf.numpy_function, tf.py_function in graphs."""

import threading
from typing import Any

import numpy as np
import pytest

import emplace.compat.v1 as tf


def run(build: Any) -> Any:
    with tf.Graph().as_default():
        made = build()
        with tf.Session() as session:
            return session.run(made)


def test_a_function_sees_scalars_arrays_and_bytes() -> None:
    seen = []

    def look(*values: Any) -> Any:
        seen.extend(values)
        return values[0]

    assert run(lambda: tf.py_func(look, [1.5, np.array([1, 2], np.int64), "ab"], tf.float32)) == 1.5
    assert isinstance(seen[0], np.float32) and isinstance(seen[2], bytes)
    assert seen[1].dtype == np.int64 and seen[1].tolist() == [1, 2]


def test_the_operation_is_named_as_tensorflow_names_it() -> None:
    with tf.Graph().as_default():
        kinds = [
            tf.py_func(lambda x: x, [1.0], tf.float32).op, tf.py_func(lambda x: x, [1.0], tf.float32, stateful=False).op,
            tf.numpy_function(lambda x: x, [1.0], tf.float32, name="mine").op, tf.py_function(lambda x: x, [1.0], tf.float32).op,
        ]
        assert [op.type for op in kinds] == ["PyFunc", "PyFuncStateless", "PyFunc", "EagerPyFunc"]
        assert [op.name for op in kinds] == ["PyFunc", "PyFuncStateless", "mine", "EagerPyFunc"]
        assert kinds[0].outputs[0].shape.rank is None
        assert isinstance(tf.py_func(lambda: None, [], []), tf.Operation)


def test_results_may_be_several_or_none_or_text() -> None:
    assert run(lambda: tf.py_func(lambda x, y: (x + y, x - y), [3.0, 1.0], [tf.float32, tf.float32])) == [4.0, 2.0]
    assert run(lambda: tf.py_func(lambda: None, [], [])) is None
    assert run(lambda: tf.py_func(lambda: ["hé", b"b\0"], [], [tf.string, tf.string])) == ["hé".encode(), b"b\0"]
    assert run(lambda: tf.py_func(lambda x: x[::-1], [["ab", "c"]], tf.string)).tolist() == [b"c", b"ab"]


def test_what_a_function_keeps_is_its_own() -> None:
    kept: list[np.ndarray] = []
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [300])

        def keep(v: np.ndarray) -> np.ndarray:
            kept.append(v)
            return v

        y = tf.py_func(keep, [x * 2.0], tf.float32)
        with tf.Session() as session:
            for i in range(3):
                assert session.run(y, {x: np.full(300, i)})[0] == 2 * i
            kept[2][:] = 9
            assert session.run(y, {x: np.full(300, 7)})[0] == 14
    assert [k[0] for k in kept] == [0, 2, 9, 14]


@pytest.mark.parametrize(
    "raised, expected",
    [(ValueError, "InvalidArgumentError"), (TypeError, "InvalidArgumentError"), (StopIteration, "OutOfRangeError"),
     (MemoryError, "ResourceExhaustedError"), (NotImplementedError, "UnimplementedError"), (RuntimeError, "UnknownError"),
     (KeyError, "UnknownError"), (ZeroDivisionError, "UnknownError")],
)
@pytest.mark.parametrize("make", [tf.py_func, tf.py_function])
def test_an_error_becomes_the_class_tensorflow_gives_it(make: Any, raised: type, expected: str) -> None:
    def fail(x: Any) -> Any:
        raise raised("boom")

    with pytest.raises(tf.errors.OpError) as caught:
        run(lambda: make(fail, [1.0], tf.float32, name="here"))
    assert type(caught.value).__name__ == expected
    assert f"{raised.__name__}: " in caught.value.message and "boom" in caught.value.message
    assert "test_python_functions.py" in caught.value.message  # where it was raised
    assert caught.value.op.name == "here"


@pytest.mark.parametrize(
    "function, words",
    [(lambda x: np.float64(x), "0-th value returned by {} is double, but expects float"), (lambda x: (x, x), "{} returns 2 values, but expects to see 1 values."),
     (lambda x: None, "{} returns 0 values, but expects to see 1 values.")],
)
def test_results_that_do_not_fit_are_refused(function: Any, words: str) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        y = tf.py_func(function, [1.0], tf.float32)
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            session.run(y)
        assert words.format(y.op.get_attr("token").decode()) in caught.value.message


def test_a_stateful_function_runs_at_every_step_and_a_session_lives_on_after_an_error() -> None:
    calls = []

    def count() -> Any:
        calls.append(1)
        if len(calls) == 2:
            raise ValueError("second")
        return np.int32(len(calls))

    with tf.Graph().as_default(), tf.Session() as session:
        y = tf.py_func(count, [], tf.int32)
        assert session.run(y) == 1
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(y)
        assert session.run(y) == 3


def test_functions_call_sessions_and_run_beside_each_other() -> None:
    """Each waits for the other: no thread of the pool is held by one alone."""
    meet = threading.Barrier(2, timeout=60)

    def wait(x: Any) -> Any:
        meet.wait()
        return x

    with tf.Graph().as_default():
        inner = tf.constant(3.0) * 2.0
        two = tf.ConfigProto(inter_op_parallelism_threads=2, use_per_session_threads=True)  # though there be one core
        with tf.Session(config=two) as session:
            y = tf.py_func(lambda: session.run(inner), [], tf.float32)
            assert session.run(y) == 6.0
            both = [tf.py_func(wait, [v], tf.float32) for v in (1.0, 2.0)]
            assert session.run(both) == [1.0, 2.0]


def test_a_loop_and_a_branch_call_functions() -> None:
    def build() -> Any:
        def body(i: Any, total: Any) -> Any:
            twice = tf.py_func(lambda v: v * np.int32(2), [i], tf.int32)
            twice.set_shape([])
            return i + 1, total + twice

        _, total = tf.while_loop(lambda i, _: i < 5, body, [0, 0])
        chosen = tf.cond(tf.constant(True), lambda: tf.py_func(lambda: np.float32(1), [], tf.float32), lambda: tf.py_func(lambda: 1 / 0, [], tf.float32))
        return total, chosen

    assert run(build) == (20, 1.0)


def test_the_gradient_of_an_eager_function_is_what_a_tape_saw() -> None:
    def build() -> Any:
        x, w = tf.constant(3.0), tf.constant([1.0, 2.0])
        y = tf.py_function(lambda x, w: (tf.sin(x) * w, tf.reduce_sum(w)), [x, w], [tf.float32, tf.float32])
        return tf.gradients(y, [x, w])

    to_x, to_w = run(build)
    np.testing.assert_allclose(to_x, np.cos(3.0) * 3, rtol=1e-6)
    np.testing.assert_allclose(to_w, np.sin(3.0) + np.ones(2), rtol=1e-6)


def test_an_eager_function_trains() -> None:
    with tf.Graph().as_default():
        w = tf.get_variable("w", initializer=4.0)
        loss = tf.py_function(lambda w: tf.square(w - 1.0) if w.numpy() > 0 else w, [w], tf.float32)
        train = tf.train.GradientDescentOptimizer(0.25).minimize(loss)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for _ in range(20):
                session.run(train)
            assert abs(session.run(w) - 1.0) < 1e-4


def test_a_gradient_of_ones_own_for_a_function_of_arrays() -> None:
    def build() -> Any:
        tf.RegisterGradient(f"TimesTen{id(build)}")(lambda op, grad: grad * 10.0)
        x = tf.constant(3.0)
        with tf.get_default_graph().gradient_override_map({"PyFunc": f"TimesTen{id(build)}"}):
            y = tf.py_func(lambda v: v * v, [x], tf.float32)
        return tf.gradients(y, x)

    assert run(build) == [10.0]
    with tf.Graph().as_default():
        x = tf.constant(3.0)
        assert tf.gradients(tf.py_func(lambda v: v, [x], tf.float32), x) == [None]


def test_decorators() -> None:
    @tf.numpy_function(Tout=tf.float32)
    def plus_one(x: Any) -> Any:
        return x + np.float32(1)

    assert run(lambda: plus_one(2.0)) == 3.0
    with pytest.raises(TypeError, match="Tout"):
        tf.numpy_function(lambda x: x, [1.0])
    with pytest.raises(ValueError, match="Expected func to be callable"):
        tf.py_func(3, [1.0], tf.float32)


def test_a_function_goes_with_its_graph() -> None:
    import gc
    import weakref

    def build() -> Any:
        class Held:
            def __call__(self) -> Any:
                return np.float32(1)

        held = Held()
        with tf.Graph().as_default():
            y = tf.py_func(held, [], tf.float32)
            with tf.Session() as session:
                assert session.run(y) == 1
        return weakref.ref(held)

    held = build()
    gc.collect()
    assert held() is None
