"""Long work of every kind, for test_interrupts.py to end with a signal; run in a process of its own.

usage: interrupted.py KIND SIGNAL CASE...

For each case prints "begin CASE" when the work begins and "CASE ended by EXCEPTION" when it ended; then
does something small in the same way, to see that all is still usable, and prints "CASE goes on".
"""

import os
import signal
import sys
import tempfile
import time
from typing import Any, Callable

import numpy as np

import emplace as tf
import emplace.compat.v1 as tf1

KINDS = {"CPU": "/cpu:0", "GPU": "/gpu:1"}
DEVICE = KINDS[sys.argv[1]]
FOR_EVER = 1 << 60
Case = tuple[Callable[[], Any], Callable[[], Any]]  # the long work, and the small
CASES: dict[str, Callable[[], Case]] = {}


class Stop(Exception):
    """What a handler of the user's raises."""


def case(make: Callable[[], Case]) -> Callable[[], Case]:
    CASES[make.__name__] = make
    return make


def in_session(build: Callable[[], Any]) -> Case:
    with tf1.Graph().as_default(), tf1.device(DEVICE):
        long, small = build(), tf1.constant(1.0) + 2.0
    session = tf1.Session(graph=long.graph, config=tf1.ConfigProto(allow_soft_placement=True))

    def again() -> None:
        while True:
            session.run(long)

    return again, lambda: session.run(small)


def count_for_ever(x: Any) -> Any:
    return tf.while_loop(lambda i, y: i < FOR_EVER, lambda i, y: (i + 1, y * 1.0), [tf.constant(0, tf.int64), x])[1]


def count_for_ever_v1(x: Any) -> Any:
    return tf1.while_loop(lambda i, y: i < FOR_EVER, lambda i, y: (i + 1, y * 1.0), [tf1.constant(0, tf1.int64), x])[1]


@case
def session_loop() -> Case:
    return in_session(lambda: count_for_ever_v1(tf1.constant(1.0)))


@case
def session_kernel() -> Case:
    def build() -> Any:
        x = tf1.ones([5000, 5000])
        return tf1.reduce_sum(tf1.matmul(x, x + tf1.random_uniform([])))

    return in_session(build)


@case
def session_dequeue() -> Case:
    return in_session(lambda: tf1.FIFOQueue(3, tf1.float32).dequeue())


@case
def session_callable() -> Case:
    with tf1.Graph().as_default():
        queue = tf1.FIFOQueue(3, tf1.float32)
        taken, put = queue.dequeue(), queue.enqueue(3.0)
    session = tf1.Session(graph=taken.graph)
    take = session.make_callable(taken)

    def small() -> None:
        session.run(put)
        take()

    return take, small


@case
def session_wide() -> Case:
    def build() -> Any:
        x = tf1.random_uniform([700, 700])
        branches = [x * float(i) for i in range(4)]
        for _ in range(40):
            branches = [tf1.matmul(b, x) for b in branches]
        return tf1.add_n(branches)

    return in_session(build)


def wait_for_ever(x: Any) -> Any:
    time.sleep(1000)
    return x


def spin_for_ever(x: Any) -> Any:
    while True:
        x = x + 0


def loop_for_ever(x: Any) -> Any:
    return eager_loop(tf.constant(1.0)).numpy()


@tf.function
def eager_loop(x: Any) -> Any:
    return count_for_ever(x)


@case
def session_callback_waits() -> Case:
    return in_session(lambda: tf1.py_func(wait_for_ever, [1.0], tf1.float32))


@case
def session_callback_spins() -> Case:
    return in_session(lambda: tf1.py_func(spin_for_ever, [1.0], tf1.float32))


@case
def session_callback_calls() -> Case:
    return in_session(lambda: tf1.py_func(loop_for_ever, [1.0], tf1.float32))


@case
def session_callbacks() -> Case:
    """More than the calling thread can take: others run them too."""
    return in_session(lambda: tf1.add_n([tf1.py_func(wait_for_ever, [float(i)], tf1.float32) for i in range(3)]))


@case
def function_loop() -> Case:
    small = tf.function(lambda x: x + 1.0)
    return lambda: eager_loop(tf.constant(1.0)), lambda: small(tf.constant(1.0))


@case
def function_dequeue() -> Case:
    queue = tf.queue.FIFOQueue(3, [tf.float32])

    @tf.function
    def take() -> Any:
        return queue.dequeue()

    def small() -> Any:
        queue.enqueue(3.0)
        return take()

    return take, small


@case
def function_callback() -> Case:
    @tf.function
    def call(x: Any) -> Any:
        with tf.device("/cpu:0"):
            return tf.py_function(wait_for_ever, [x], tf.float32)

    return lambda: call(tf.constant(1.0)), lambda: tf.py_function(lambda x: x + 1, [1.0], tf.float32)


@case
def eager_dequeue() -> Case:
    queue = tf.queue.FIFOQueue(3, [tf.float32])

    def small() -> Any:
        queue.enqueue(3.0)
        return queue.dequeue()

    return queue.dequeue, small


@case
def eager_kernel() -> Case:
    x = tf.ones([5000, 5000])

    def long() -> None:
        while True:
            tf.matmul(x, x)

    return long, lambda: tf.matmul(x[:2, :2], x[:2, :2])


@case
def eager_unique() -> Case:
    """A kernel that has nothing to share out."""
    with tf.device("/cpu:0"):
        many = tf.random.uniform([10_000_000], 0, 1 << 30, tf.int32)

    def unique(x: Any) -> Any:
        with tf.device("/cpu:0"):
            return tf.unique(x)

    def long() -> None:
        while True:
            unique(many)

    return long, lambda: unique(many[:3])


@case
def eager_pipe() -> Case:
    """A file to which nobody writes."""
    folder = tempfile.TemporaryDirectory()
    pipe, file = os.path.join(folder.name, "pipe"), os.path.join(folder.name, "file")
    os.mkfifo(pipe)

    def read(path: str) -> Any:
        with tf.device("/cpu:0"):
            return tf.io.read_file(path)

    def small() -> None:
        with open(file, "w", encoding="ascii") as to:
            to.write("some")
        assert read(file).numpy() == b"some"
        folder.cleanup()

    return lambda: read(pipe), small


@case
def tape() -> Case:
    x = tf.ones([2000, 2000])

    @tf.function
    def chain(x: Any) -> Any:
        return tf.reduce_sum(tf.matmul(tf.matmul(x, x), x))

    def gradient(x: Any, times: int) -> Any:
        with tf.GradientTape() as t:
            t.watch(x)
            y = chain(x)
            for _ in range(times):
                y += chain(x)
        return t.gradient(y, x)

    return lambda: gradient(x, 1000), lambda: gradient(x[:2, :2], 1)


@case
def dataset() -> Case:
    small = tf.data.Dataset.range(3)

    def long() -> None:
        for _ in tf.data.Dataset.range(FOR_EVER).map(lambda x: x + 1).filter(lambda x: x < 0):
            pass

    return long, lambda: list(small.map(lambda x: x + 1).as_numpy_iterator())


@case
def dataset_reduce() -> Case:
    def total(n: int) -> Any:
        return tf.data.Dataset.range(n).reduce(np.int64(0), lambda total, x: total + x)

    return lambda: total(FOR_EVER), lambda: total(3)


@case
def dataset_map() -> Case:
    def one() -> Any:
        return next(iter(tf.data.Dataset.from_tensors(1.0).map(eager_loop)))

    return one, lambda: next(iter(tf.data.Dataset.from_tensors(1.0).map(lambda x: x + 1)))


@case
def dataset_generator() -> Case:
    def elements() -> Any:
        yield 1.0
        time.sleep(1000)
        yield 2.0

    made = tf.data.Dataset.from_generator(elements, output_signature=tf.TensorSpec([], tf.float32))
    return lambda: list(made), lambda: list(made.take(1))


def handle(number: int, frame: Any) -> None:
    raise Stop("enough")


def run(name: str) -> None:
    with tf.device(DEVICE):
        long, small = CASES[name]()
        print("begin", name, flush=True)
        try:
            long()
        except (KeyboardInterrupt, Stop) as e:
            print(name, "ended by", type(e).__name__, flush=True)
        small()
    print(name, "goes on", flush=True)


tf.function(lambda x: x + 1.0)(tf.constant(1.0))  # what tracing needs is imported: Python itself drops what a handler raises there
if sys.argv[2] != "SIGINT":
    signal.signal(getattr(signal, sys.argv[2]), handle)
for name in sys.argv[3:]:
    run(name)
