"""Eager operations leave no memory behind; tensors may be dropped while others read them."""

import gc
import os
import threading

import numpy as np

import emplace as tf

ROUNDS = 1_000_000 if os.environ.get("EMPLACE_TEST_FULL") else 60_000


def _resident() -> int:
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _grows_by(work, rounds: int) -> int:  # type: ignore[no-untyped-def]
    for _ in range(rounds // 10):
        work()
    gc.collect()
    before = _resident()
    for _ in range(rounds):
        work()
    gc.collect()
    return _resident() - before


def test_many_operations_keep_memory_flat() -> None:
    a, b = tf.constant(np.ones(100, "f4")), tf.constant(np.ones(100, "f4"))
    assert _grows_by(lambda: a * b + a, ROUNDS // 2) < 4 << 20


def test_many_calls_of_a_function_keep_memory_flat() -> None:
    a = tf.constant(np.ones(100, "f4"))
    f = tf.function(lambda x: tf.cond(tf.reduce_sum(x) > 0.0, lambda: x * x, lambda: x))
    assert _grows_by(lambda: f(a), ROUNDS // 20) < 4 << 20


def test_many_tapes_keep_memory_flat() -> None:
    v = tf.Variable(np.ones(100, "f4"))

    def step() -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(v * v)
        tape.gradient(loss, v)

    assert _grows_by(step, ROUNDS // 100) < 4 << 20


def test_many_variables_keep_memory_flat() -> None:
    assert _grows_by(lambda: tf.Variable(np.ones(1000, "f4")).assign_add(np.ones(1000, "f4")), ROUNDS // 100) < 4 << 20


def test_tensors_are_dropped_while_others_read_them() -> None:
    shared: list = [tf.constant(np.full(1000, 1.0, "f4"))]
    wrong: list[float] = []
    over = threading.Event()

    def read() -> None:
        while not over.is_set():
            value = tf.reduce_max(shared[0] * 1.0).numpy()
            if value != tf.reduce_min(shared[0] * 0.0 + value).numpy():
                wrong.append(float(value))

    readers = [threading.Thread(target=read) for _ in range(3)]
    for r in readers:
        r.start()
    for i in range(ROUNDS // 60):
        shared[0] = tf.constant(np.full(1000, float(i), "f4")) + 1.0
    over.set()
    for r in readers:
        r.join()
    assert wrong == []
