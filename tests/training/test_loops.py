"""Loops of very many rounds take no more memory than loops of few; what their gradients need may wait on the host."""

import threading
from typing import Any

import numpy as np
import pytest

import emplace.compat.v1 as tf

FEW, MANY = 20_000, 1_000_000
ROOM = 2 << 20  # bytes: 2 for each round would be as many


def resident() -> int:
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * 4096


def growth(session: Any, fetch: Any, rounds: Any) -> int:
    """How much more memory the process holds after many rounds than after few."""
    session.run(fetch, {rounds: FEW})
    before = resident()
    session.run(fetch, {rounds: MANY})
    return resident() - before


def test_a_million_empty_rounds() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        rounds = tf.placeholder(tf.int32, [])
        last = tf.while_loop(lambda i: i < rounds, lambda i: i + 1, [0])
        assert growth(session, last, rounds) < ROOM
        assert session.run(last, {rounds: MANY}) == MANY


def test_a_million_rounds_that_carry_values() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        rounds = tf.placeholder(tf.int32, [])
        start = [0, tf.zeros([4]), tf.ones([2, 2])]
        out = tf.while_loop(lambda i, *_: i < rounds, lambda i, a, b: [i + 1, tf.tanh(a + 0.5), tf.transpose(b)], start)
        assert growth(session, out, rounds) < ROOM
        np.testing.assert_array_equal(session.run(out, {rounds: 3})[2], np.ones([2, 2]))


def test_many_rounds_that_update_a_variable() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.get_variable("v", initializer=0.0)
        rounds = tf.placeholder(tf.int32, [])

        def body(i: Any) -> Any:
            with tf.control_dependencies([tf.assign_add(v, 1.0)]):
                return i + 1

        last = tf.while_loop(lambda i: i < rounds, body, [0], parallel_iterations=1)
        session.run(v.initializer)
        assert growth(session, last, rounds) < ROOM
        assert session.run(v) == FEW + MANY


def gradients_of_a_loop(rounds: int, swap_memory: bool) -> list[Any]:
    """A loop on a GPU of 32 MiB whose gradient needs 2 MiB of each round."""
    with tf.Graph().as_default():
        with tf.device("/gpu:0"):
            x, w = tf.placeholder(tf.float32, [256, 1024]), tf.Variable(np.float32(1.01))
            body: Any = lambda i, a: (i + 1, tf.sin(a) * w)  # noqa: E731
            _, y = tf.while_loop(lambda i, _: i < rounds, body, [0, x], swap_memory=swap_memory)
            gradients = tf.gradients(tf.reduce_sum(y), [x, w])
        config = tf.ConfigProto()
        config.gpu_options.experimental.virtual_devices.add(memory_limit_mb=[32])
        with tf.Session(config=config) as session:
            session.run(tf.global_variables_initializer())
            return session.run(gradients, {x: np.linspace(0, 1, 256 * 1024).reshape(256, 1024)})


@pytest.fixture
def one_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMPLACE_VIRTUAL_GPUS", "1")


@pytest.mark.usefixtures("one_gpu")
def test_what_the_gradient_needs_waits_in_host_memory_when_asked() -> None:
    with pytest.raises(tf.errors.ResourceExhaustedError):
        gradients_of_a_loop(40, swap_memory=False)
    for value in gradients_of_a_loop(40, swap_memory=True):
        assert np.isfinite(value).all() and np.abs(value).max() > 0


@pytest.mark.usefixtures("one_gpu")
def test_swapping_changes_no_value() -> None:
    for swapped, kept in zip(gradients_of_a_loop(9, True), gradients_of_a_loop(9, False)):
        np.testing.assert_array_equal(swapped, kept)


def meeting(parallel_iterations: int, patience: float) -> Any:
    """The last value of a loop in which one operation of each round waits for another of the next."""
    rounds = 6
    arrived = [threading.Event() for _ in range(rounds + 1)]
    arrived[rounds].set()

    def arrive(i: Any) -> Any:
        arrived[i].set()
        return np.float32(i)

    def wait(i: Any, x: Any) -> Any:
        return x if arrived[i + 1].wait(patience) else np.float32(np.nan)

    def body(i: Any, total: Any) -> Any:
        here = tf.py_func(arrive, [i], tf.float32, stateful=False)
        return i + 1, total + tf.py_func(wait, [i, here], tf.float32, stateful=False)

    with tf.Graph().as_default():
        loop = tf.while_loop(
            lambda i, _: i < rounds, body, [0, 0.0], parallel_iterations=parallel_iterations,
            shape_invariants=[tf.TensorShape([]), tf.TensorShape(None)],
        )
        with tf.Session(config=tf.ConfigProto(inter_op_parallelism_threads=4, use_per_session_threads=True)) as session:
            return session.run(loop[1])


def test_rounds_are_under_way_together() -> None:
    assert meeting(2, 20) == 15
    assert np.isnan(meeting(1, 0.05))


def mapped(parallel_iterations: int) -> list[Any]:
    """A map, a fold and a scan over two GPUs."""
    with tf.Graph().as_default():
        x = tf.constant(np.linspace(-2, 2, 60, dtype=np.float32).reshape(20, 3))
        w = tf.Variable(np.linspace(0, 1, 9, dtype=np.float32).reshape(3, 3))

        def step(v: Any) -> Any:
            with tf.device("/gpu:0"):
                a = tf.matmul(v[None], w)
            with tf.device("/gpu:1"):
                return tf.sin(a)[0] * 1.5

        all_of: Any = {"parallel_iterations": parallel_iterations}
        results = [
            tf.map_fn(step, x, **all_of), tf.foldl(lambda a, v: step(a) + v, x, **all_of),
            tf.scan(lambda a, v: step(v) - a, x, **all_of),
        ]
        results += tf.gradients(results[0], [x, w])
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            return [value for _ in range(3) for value in session.run(results)]


def test_overlapping_changes_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMPLACE_VIRTUAL_GPUS", "2")
    for together, alone in zip(mapped(10), mapped(1), strict=True):
        np.testing.assert_array_equal(together, alone)
