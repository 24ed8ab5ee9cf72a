"""What is made again and again leaves nothing behind; what nests or repeats comes to an end."""

import copy
import gc
import itertools
import logging
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

import emplace as tf
from emplace.compat.v1 import logging as tf_logging


def _resident() -> int:
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _bytes_a_round(work: Callable[[], Any], rounds: int) -> float:
    """The least of three counts: what is lost is lost each time, what an allocator keeps is not."""
    return min(_bytes_a_round_once(work, rounds // 3) for _ in range(3))


def _bytes_a_round_once(work: Callable[[], Any], rounds: int) -> float:
    for _ in range(rounds // 4):
        work()
    gc.collect()
    before = _resident()
    for _ in range(rounds):
        work()
    gc.collect()
    return (_resident() - before) / rounds


def test_variables_that_are_dropped_leave_nothing() -> None:
    assert _bytes_a_round(lambda: tf.Variable(1.0), 20_000) < 100


def _table() -> Any:
    return tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(tf.constant(["a"]), tf.constant([1])), -1)


HELD_BY_THE_ENGINE = {
    "queue": lambda: tf.queue.FIFOQueue(3, [tf.float32]).enqueue(1.0), "table": _table, "critical_section": tf.CriticalSection,
    "mutable_table": lambda: tf.lookup.experimental.MutableHashTable(tf.int64, tf.int64, -1),
}  # fmt: skip


@pytest.mark.parametrize("name", HELD_BY_THE_ENGINE)
def test_what_the_engine_holds_goes_with_what_stands_for_it(name: str) -> None:
    assert _bytes_a_round(HELD_BY_THE_ENGINE[name], 3000) < 500


def test_a_function_keeps_what_it_uses() -> None:
    def taker() -> Any:
        queue = tf.queue.FIFOQueue(3, [tf.int32])
        queue.enqueue(4)
        return tf.function(queue.dequeue).get_concrete_function()

    taken = taker()
    gc.collect()
    assert taken().numpy() == 4


def test_what_has_a_name_of_its_own_stays() -> None:
    tf.queue.FIFOQueue(3, [tf.int32], shared_name="stays").enqueue(5)
    gc.collect()
    assert tf.queue.FIFOQueue(3, [tf.int32], shared_name="stays").dequeue().numpy() == 5


def test_a_graph_that_grows_between_runs_keeps_little_more_than_its_nodes() -> None:
    tf1 = tf.compat.v1
    with tf1.Graph().as_default(), tf1.Session() as session:
        grown = _bytes_a_round(lambda: tf1.constant(1.0) + 1.0, 2000)
        run = _bytes_a_round(lambda: session.run(tf1.constant(1.0) + 1.0), 2000)
    assert run - grown < 4000


def test_a_session_goes_on_with_what_it_was_asked_long_ago() -> None:
    tf1 = tf.compat.v1
    with tf1.Graph().as_default(), tf1.Session() as session:
        many = [tf1.constant(i) + 1 for i in range(700)]
        for _ in range(2):
            assert [int(session.run(t)) for t in many] == list(range(1, 701))


def _nested(levels: int, traced: list[int]) -> Any:
    def around(inner: Any, level: int) -> Any:
        def add(x: Any) -> Any:
            traced.append(level)
            return inner(x) + 1.0

        return tf.function(add)

    f = tf.function(lambda x: x + 1.0)
    for level in range(levels):
        f = around(f, level)
    return f


def test_functions_nest_deeply() -> None:
    """Twice the work a level would take 10^9 years."""
    traced: list[int] = []
    assert float(_nested(60, traced)(tf.constant(0.0))) == 61.0
    assert sorted(traced) == list(range(60))


@pytest.fixture
def warnings() -> Any:
    said: list[str] = []

    class Listener(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            said.append(record.getMessage())

    listener, logger = Listener(), tf_logging.get_logger()
    level = logger.level  # others of this process may want less said
    logger.setLevel(logging.WARNING)
    logger.addHandler(listener)
    yield said
    logger.removeHandler(listener)
    logger.setLevel(level)


def test_retracing_again_and_again_is_told_once(warnings: list[str]) -> None:
    f = tf.function(lambda x: x)
    for i in range(12):
        f(i)
    assert len(warnings) == 1 and warnings[0].startswith("5 out of the last 5 calls to <function ")


def test_a_program_that_wants_no_warnings_gets_none() -> None:
    quiet = "import emplace as tf; tf.get_logger().setLevel('ERROR'); f = tf.function(lambda x: x); [f(i) for i in range(9)]"
    done = subprocess.run([sys.executable, "-c", quiet], capture_output=True, text=True, timeout=600)
    assert (done.returncode, done.stderr) == (0, "")


def test_making_a_function_again_and_again_is_told(warnings: list[str]) -> None:
    for _ in range(12):
        tf.function(lambda x: x)(tf.constant(1.0))
    assert len(warnings) == 1 and "triggered tf.function retracing" in warnings[0]


def test_a_few_traces_among_many_calls_are_not_told_of(warnings: list[str]) -> None:
    f = tf.function(lambda x: x + 1.0)
    for n in range(1, 8):
        for _ in range(12):
            f(tf.ones([n]))
    assert not warnings


def test_a_module_whose_function_was_called_is_copied() -> None:
    class Scaled(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.v = tf.Variable(2.0)
            self.also = tf.function(self._also)

        @tf.function
        def __call__(self, x: Any) -> Any:
            return self.v * x

        def _also(self, x: Any) -> Any:
            return self.v + x

    one = tf.constant(1.0)
    m = Scaled()
    assert (float(m(one)), float(m.also(one))) == (2.0, 3.0)
    n = copy.deepcopy(m)
    n.v.assign(5.0)
    assert (float(m(one)), float(m.also(one))) == (2.0, 3.0)
    assert (float(n(one)), float(n.also(one))) == (5.0, 6.0)


def test_rounds_of_nothing_end() -> None:
    nothing = tf.data.Dataset.range(0)
    assert list(nothing.repeat()) == list(tf.data.Dataset.range(3).filter(lambda x: False).repeat()) == []
    assert int(nothing.repeat().cardinality()) == 0
    numbers = tf.data.Dataset.range(2).repeat()
    assert [int(x) for x in itertools.islice(numbers, 5)] == [0, 1, 0, 1, 0]
