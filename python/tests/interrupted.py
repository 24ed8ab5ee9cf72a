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


def numbers(*shape: int) -> Any:
    return tf.random.uniform(shape)


def whole(count: int, below: int = 1 << 30) -> Any:
    return tf.random.uniform([count], 0, below, tf.int32)


def texts(count: int) -> Any:
    return tf.strings.as_string(tf.range(count))


def waves(*shape: int) -> Any:
    return tf.complex(numbers(*shape), numbers(*shape))


# Kernels that take seconds in one call: what to give them, and the call.
KERNELS: dict[str, tuple[Callable[[], tuple[Any, ...]], Callable[..., Any]]] = {
    "svd": (lambda: (numbers(2000, 2000),), tf.linalg.svd),
    "inverse": (lambda: (numbers(3500, 3500),), tf.linalg.inv),
    "solve": (lambda: (numbers(3000, 3000), numbers(3000, 3000)), tf.linalg.solve),
    "cholesky": (lambda: (tf.eye(6000) * 9000.0 + 1.0,), tf.linalg.cholesky),
    "qr": (lambda: (numbers(3000, 3000),), tf.linalg.qr),
    "eigh": (lambda: (numbers(2000, 2000),), tf.linalg.eigh),
    "eig": (lambda: (numbers(1000, 1000),), tf.linalg.eig),
    "lu": (lambda: (numbers(5000, 5000),), tf.linalg.lu),
    "triangle": (lambda: (numbers(4500, 4500), numbers(4500, 4500)), tf.linalg.triangular_solve),
    "sqrtm": (lambda: (numbers(1200, 1200),), tf.linalg.sqrtm),
    "sort": (lambda: (numbers(10_000_000),), tf.sort),
    "top_k": (lambda: (numbers(10_000_000),), lambda x: tf.math.top_k(x, 5_000_000)),
    "fft": (lambda: (waves(1 << 23),), tf.signal.fft),
    "fft_prime": (lambda: (waves(3_000_017),), tf.signal.fft),
    "unique_with_counts": (lambda: (whole(10_000_000),), tf.unique_with_counts),
    "set_difference": (lambda: (whole(5_000_000), whole(5_000_000)), lambda x, y: tf.raw_ops.ListDiff(x=x, y=y)),
    "join": (lambda: (texts(3_000_000),), lambda s: tf.strings.join([s] * 20)),
    "split": (lambda: (tf.repeat("a b c d e f g h", 1_000_000),), tf.strings.split),
    "regex": (lambda: (tf.strings.reduce_join(tf.repeat("ab", 10_000_000)),), lambda s: tf.strings.regex_replace(s, "b", "xy")),
    "unicode": (lambda: (texts(3_000_000),), lambda s: tf.strings.unicode_decode(s, "UTF-8")),
    "csv": (lambda: (tf.repeat("1,2,3,4,5,6", 1_000_000),), lambda s: tf.io.decode_csv(s, [0] * 6)),
    "sparse": (lambda: (tf.SparseTensor(tf.cast(tf.stack([whole(2_000_000)] * 2, 1), tf.int64), numbers(2_000_000), [1 << 30, 1 << 30]),), tf.sparse.reorder),
    "shuffle": (lambda: (numbers(50_000_000),), tf.random.shuffle),
    "multinomial": (lambda: (numbers(1, 1000),), lambda x: tf.random.categorical(x, 20_000_000)),
    "edit_distance": (lambda: (tf.sparse.from_dense(tf.range(1, 60_000)[None, :]), tf.sparse.from_dense(tf.range(2, 60_001)[None, :])), tf.edit_distance),
    "table": (lambda: (tf.range(4_000_000),), lambda keys: tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(keys, keys), -1)),
}


def kernel(name: str, rounds: int) -> Callable[[], Case]:
    def make() -> Case:
        given, call = KERNELS[name]
        with tf.device("/cpu:0"):
            values = given()

        def long() -> None:
            with tf.device("/cpu:0"):
                for _ in range(rounds):
                    call(*values)

        return long, lambda: tf.constant(1.0) + 1.0

    return make


CASES.update({f"kernel_{name}": kernel(name, FOR_EVER) for name in KERNELS})
CASES.update({f"whole_{name}": kernel(name, 1) for name in KERNELS})  # to its end, where nobody interrupts


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
            print(name, "was over before", flush=True)
        except (KeyboardInterrupt, Stop) as e:
            print(name, "ended by", type(e).__name__, flush=True)
        small()
    print(name, "goes on", flush=True)


tf.function(lambda x: x + 1.0)(tf.constant(1.0))  # what tracing needs is imported: Python itself drops what a handler raises there
if sys.argv[2] != "SIGINT":
    signal.signal(getattr(signal, sys.argv[2]), handle)
for name in sys.argv[3:]:
    run(name)
