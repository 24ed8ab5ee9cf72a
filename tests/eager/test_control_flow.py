"""Branches and loops inside tf.function, written with tf.cond and tf.while_loop or in Python."""

import importlib.util
from typing import Any

import numpy as np
import pytest

import emplace as tf

converted = pytest.mark.skipif(
    importlib.util.find_spec("malt") is None, reason="diastatic-malt is not installed"
)


def _gradient(f: Any, x: Any) -> Any:
    x = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x).numpy()


@pytest.mark.parametrize("x, y, slope", [(3.0, 9.0, 6.0), (-3.0, 3.0, -1.0)])
def test_cond_takes_one_branch(x: float, y: float, slope: float) -> None:
    f = tf.function(lambda x: tf.cond(x > 0.0, lambda: x * x, lambda: -x))
    assert f(tf.constant(x)).numpy() == y
    assert _gradient(f, x) == slope


def test_branch_not_taken_assigns_nothing() -> None:
    v = tf.Variable(1.0)

    @tf.function
    def f(x: Any) -> Any:
        tf.cond(x > 0.0, lambda: v.assign_add(x), lambda: v.assign(0.0))

    f(tf.constant(2.0))
    assert v.numpy() == 3.0
    f(tf.constant(-2.0))
    assert v.numpy() == 0.0


def test_while_loop_runs_as_often_as_its_condition_holds() -> None:
    @tf.function
    def f(n: Any) -> Any:
        return tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a * 2), [0, 1])

    for n in (0, 1, 6):
        assert [int(t) for t in f(tf.constant(n))] == [n, 2**n]


def test_while_loop_with_maximum() -> None:
    def f() -> Any:
        return tf.while_loop(lambda i: True, lambda i: [i + 1], [0], maximum_iterations=4)

    f = tf.function(f)
    assert int(f()[0]) == 4


def test_loop_variable_of_another_dtype_is_refused() -> None:
    f = tf.function(
        lambda x: tf.while_loop(lambda x: x < 9, lambda x: [tf.cast(x, tf.float32)], [x])
    )
    with pytest.raises(TypeError, match="enters the loop with type int32"):
        f(tf.constant(1))


def test_branches_of_unlike_dtypes_are_refused() -> None:
    f = tf.function(lambda x: tf.cond(x > 0.0, lambda: x, lambda: tf.constant(1)))
    with pytest.raises(TypeError, match="float32 in true_fn and int32 in false_fn"):
        f(tf.constant(1.0))


@converted
def test_python_if_with_returns() -> None:
    @tf.function
    def f(x: Any) -> Any:
        if x > 2.0:
            return x
        return x * 10.0

    assert [float(f(tf.constant(x))) for x in (1.0, 3.0)] == [10.0, 3.0]
    assert _gradient(f, 1.0) == 10.0


@converted
def test_python_for_with_break_and_continue() -> None:
    @tf.function
    def f(xs: Any) -> Any:
        total = 0.0
        for x in xs:
            if x < 0.0:
                continue
            if x == 100.0:
                break
            total += x * x
        return total

    xs = [1.0, -2.0, 3.0, 100.0, 7.0]
    assert float(f(tf.constant(xs))) == 10.0
    assert np.array_equal(_gradient(f, xs), [2.0, 0.0, 6.0, 0.0, 0.0])


@converted
def test_python_while_and_range() -> None:
    @tf.function
    def collatz(n: Any) -> Any:
        steps = 0
        while n != 1 and steps < 1000:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        return steps

    @tf.function
    def triangle(n: Any) -> Any:
        total = 0
        for i in range(n):
            total += i
        return total

    assert int(collatz(tf.constant(27))) == 111
    assert int(triangle(tf.constant(10))) == 45


@converted
def test_functions_that_are_called_are_converted_too() -> None:
    def clipped(x: Any) -> Any:
        if x > 1.0:
            x = tf.constant(1.0)
        return x

    inner = tf.function(clipped)
    f = tf.function(lambda x: clipped(x) + inner(2.0 * x))
    assert float(f(tf.constant(0.75))) == 1.75


@converted
def test_methods_are_converted(capfd: pytest.CaptureFixture) -> None:
    class Model(tf.Module):
        def __init__(self) -> None:
            self.v = tf.Variable(2.0)

        @tf.function
        def __call__(self, x: Any) -> Any:
            if x > 0.0:
                return self.scaled(x)
            return x

        def scaled(self, x: Any) -> Any:
            while x < 10.0:
                x = x * self.v
            return x

    model = Model()
    assert [float(model(tf.constant(x))) for x in (3.0, -1.0)] == [12.0, -1.0]
    assert capfd.readouterr() == ("", "")


@converted
def test_result_of_one_branch_only_is_refused() -> None:
    @tf.function
    def f(x: Any) -> Any:
        if x > 0.0:
            y = x
        return y

    with pytest.raises(ValueError, match="'y' must also be initialized in the else branch"):
        f(tf.constant(1.0))


@converted
def test_python_effects_happen_once_a_trace() -> None:
    seen = []

    @tf.function
    def f(x: Any) -> Any:
        if x > 0.0:
            seen.append("positive")
        else:
            seen.append("negative")
        return x

    for x in (1.0, -1.0, 2.0):
        f(tf.constant(x))
    assert seen == ["positive", "negative"]


def test_gradient_inside_through_a_branch() -> None:
    @tf.function
    def f(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.cond(x > 0.0, lambda: x * tf.exp(x), lambda: x)
        return tape.gradient(y, x)

    assert f(tf.constant(-2.0)).numpy() == 1.0
    np.testing.assert_allclose(f(tf.constant(2.0)).numpy(), 3.0 * np.exp(2.0), rtol=1e-6)


def test_loop_over_many_rounds_keeps_what_its_gradient_needs() -> None:
    @tf.function
    def f(x: Any) -> Any:
        return tf.while_loop(lambda i, y: i < 1000, lambda i, y: (i + 1, y * 1.001 + x), [0, x])[1]

    y = 1.0
    for _ in range(1000):
        y = y * 1.001 + 1.0
    np.testing.assert_allclose(_gradient(f, 2.0), y, rtol=1e-3)


def test_state_changes_in_the_order_it_was_written_down() -> None:
    v = tf.Variable(1.0)

    @tf.function
    def f(x: Any) -> Any:
        before = v * 1.0
        v.assign_add(x)
        between = v * 1.0
        if x > 0.0:
            v.assign(v * 10.0)
        return before, between, v.read_value()

    assert [float(t) for t in f(tf.constant(2.0))] == [1.0, 3.0, 30.0]
    assert [float(t) for t in f(tf.constant(-5.0))] == [30.0, 25.0, 25.0]


def test_python_for_over_rows_with_an_array() -> None:
    @tf.function
    def f(xs: Any) -> Any:
        out = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
        i = 0
        for x in xs:
            if tf.reduce_sum(x) > 0.0:
                out = out.write(i, x * 2.0)
                i += 1
        return out.stack()

    assert f(tf.constant([[1.0, 2.0], [-1.0, -2.0], [3.0, 4.0]])).numpy().tolist() == [[2.0, 4.0], [6.0, 8.0]]


def test_gradients_inside_a_function() -> None:
    @tf.function
    def f() -> Any:
        x = tf.constant(3.0)
        return tf.gradients(x * x, [x])

    assert f()[0].numpy() == 6.0


def test_tensor_array_in_a_function() -> None:
    @tf.function
    def fibonacci(n: int) -> Any:
        ta = tf.TensorArray(tf.float32, size=0, dynamic_size=True).unstack([0.0, 1.0])
        for i in range(2, n):
            ta = ta.write(i, ta.read(i - 1) + ta.read(i - 2))
        return ta.stack()

    assert fibonacci(7).numpy().tolist() == [0, 1, 1, 2, 3, 5, 8]


def test_python_functions_run_whenever_the_function_does() -> None:
    calls: list[float] = []

    def note(v: Any) -> Any:
        calls.append(float(v))
        return v * 2.0

    f = tf.function(lambda x: tf.cond(x > 0.0, lambda: tf.numpy_function(note, [x], tf.float32), lambda: x))
    assert [float(f(tf.constant(v))) for v in (1.0, -1.0, 3.0)] == [2.0, -1.0, 6.0]
    assert calls == [1.0, 3.0]


def test_print_prints_whenever_the_function_runs(capfd: pytest.CaptureFixture) -> None:
    @tf.function
    def f(x: Any) -> Any:
        tf.print("x is", x)
        return x

    f(tf.constant(1))
    f(tf.constant(2))
    assert capfd.readouterr().err == "x is 1\nx is 2\n"


def test_variables_are_made_by_the_first_trace_alone() -> None:
    @tf.function
    def f(x: Any) -> Any:
        return tf.Variable(1.0) + x

    with pytest.raises(ValueError, match="only supports singleton tf.Variables"):
        f(tf.constant(1.0))


def test_raw_calls_run_at_once() -> None:
    number = tf.TensorSpec([], tf.int32)
    test = tf.function(lambda i: i < 5).get_concrete_function(number)
    body = tf.function(lambda i: i + 2).get_concrete_function(number)
    assert [int(t) for t in tf.raw_ops.While(input=[tf.constant(0)], cond=test, body=body)] == [6]
    made = tf.raw_ops.If(cond=True, input=[tf.constant(1)], Tout=[tf.int32], then_branch=body, else_branch=body)
    assert [int(t) for t in made] == [3]


def test_a_tape_around_another_follows_a_loop_with_break_and_continue() -> None:
    @tf.function
    def f(xs: Any) -> Any:
        total = 0.0
        for x in xs:
            if x < 0.0:
                continue
            if x == 100.0:
                break
            total += x * x * x
        return total

    xs = tf.constant([1.0, -2.0, 3.0, 100.0, 7.0])
    with tf.GradientTape() as outer:
        outer.watch(xs)
        with tf.GradientTape() as inner:
            inner.watch(xs)
            y = f(xs)
        first = inner.gradient(y, xs)
    assert np.array_equal(first, [3.0, 0.0, 27.0, 0.0, 0.0])
    assert np.array_equal(outer.gradient(first, xs), [6.0, 0.0, 18.0, 0.0, 0.0])
