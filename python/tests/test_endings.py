"""A program that ends while its threads are at work ends quietly, with its own status."""

import os
import subprocess
import sys

import pytest

RUNS = 3  # these are races; EMPLACE_ENDINGS=20 for more
QUEUE_RUNNERS = """
import emplace.compat.v1 as tf
queue = tf.FIFOQueue(10, tf.float32)
tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(tf.random_uniform([]))] * 4))
taken = queue.dequeue()
session = tf.Session()
tf.train.start_queue_runners(session)
for _ in range(20):
    session.run(taken)
"""
QUEUE_RUNNERS_IN_A_BLOCK = """
import emplace.compat.v1 as tf
queue = tf.FIFOQueue(10, tf.float32)
tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(tf.random_uniform([100, 100]))] * 4))
taken = queue.dequeue()
coordinator = tf.train.Coordinator()
session = tf.InteractiveSession()
tf.train.start_queue_runners(coord=coordinator)
for _ in range(20):
    taken.eval()
"""
QUEUE_RUNNERS_OF_A_CLOSED_SESSION = """
import emplace.compat.v1 as tf
batch = tf.train.shuffle_batch([tf.random_uniform([])], 4, 100, 10, num_threads=4)
with tf.Session() as session:
    tf.train.start_queue_runners(session)
    session.run(batch)
"""
IN_A_THREAD = """
import threading, time
import emplace as tf
import emplace.compat.v1 as tf1
begun = threading.Event()
def work():
{work}
for _ in range({threads}):
    threading.Thread(target=work, daemon=True).start()
begun.wait()
time.sleep(0.05)
"""
EAGER = """
    x = tf.ones([50, 50])
    while True:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(tf.nn.relu(tf.matmul(x, x)))
        tape.gradient(y, x)
        begun.set()
"""
LARGE = """
    x = tf.ones([3000, 3000])
    while True:
        begun.set()
        tf.matmul(x, x)
"""
FUNCTION = """
    @tf.function
    def loop(x):
        return tf.while_loop(lambda i, y: i < 1 << 60, lambda i, y: (i + 1, y * 1.0), [tf.constant(0, tf.int64), x])
    begun.set()
    loop(tf.constant(1.0))
"""
CALLBACK = """
    def sleep(x):
        begun.set()
        while True:
            time.sleep(0.001)
    tf.function(lambda x: tf.py_function(sleep, [x], tf.float32))(tf.constant(1.0))
"""
CALLBACKS = """
    call = tf.function(lambda x: tf.py_function(lambda y: y + 1, [x], tf.float32))
    while True:
        call(tf.constant(1.0))
        begun.set()
"""
SESSION_CALLBACKS = """
    with tf1.Graph().as_default(), tf1.Session() as session:
        y = tf1.add_n([tf1.py_func(lambda x: x + 1, [float(i)], tf1.float32) for i in range(3)])
        while True:
            session.run(y)
            begun.set()
"""
BLOCKED = """
    with tf1.Graph().as_default(), tf1.Session() as session:
        taken = tf1.FIFOQueue(3, tf1.float32).dequeue()
        begun.set()
        session.run(taken)
"""
BLOCKED_EAGER = """
    begun.set()
    tf.queue.FIFOQueue(3, [tf.float32]).dequeue()
"""
DATASET = """
    for x in tf.data.Dataset.range(1 << 60).map(lambda x: x * 2).batch(3).prefetch(2):
        begun.set()
"""
BUILDING = """
    while True:
        with tf1.Graph().as_default():
            x = tf1.constant(1.0)
            for _ in range(50):
                x = tf1.sqrt(x) * 2.0
        begun.set()
"""


def end(program: str, kind: str, status: int = 0) -> None:
    environment = {**os.environ, "EMPLACE_VIRTUAL_GPUS": "2" if kind == "GPU" else "0"}
    for _ in range(int(os.environ.get("EMPLACE_ENDINGS", RUNS))):
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, timeout=600)
        assert (done.returncode, done.stdout, done.stderr) == (status, "", "")


@pytest.mark.parametrize("kind", ["CPU", "GPU"])
@pytest.mark.parametrize(
    "program", [QUEUE_RUNNERS, QUEUE_RUNNERS_IN_A_BLOCK, QUEUE_RUNNERS_OF_A_CLOSED_SESSION], ids=["session", "interactive", "closed"]
)
def test_queue_runners_that_nobody_stopped(program, kind):
    end(program, kind)


THREADS = {
    "eager": EAGER, "large": LARGE, "function": FUNCTION, "callback": CALLBACK, "callbacks": CALLBACKS, "session_callbacks": SESSION_CALLBACKS,
    "blocked": BLOCKED, "blocked_eager": BLOCKED_EAGER, "dataset": DATASET, "building": BUILDING,
}  # fmt: skip


@pytest.mark.parametrize("work", THREADS)
def test_a_daemon_thread_at_work(work):
    end(IN_A_THREAD.format(work=THREADS[work], threads=2), "CPU")


@pytest.mark.parametrize("work", ["eager", "function", "callback", "blocked"])
def test_a_daemon_thread_at_work_beside_gpus(work):
    end(IN_A_THREAD.format(work=THREADS[work], threads=2), "GPU")


def test_the_status_stays_the_programs():
    end(IN_A_THREAD.format(work=BLOCKED, threads=1) + "\nraise SystemExit(3)", "CPU", 3)


def test_an_object_that_goes_last_may_still_make_a_tensor():
    program = "import emplace as tf\ntf.constant(2)\nclass Last:\n    def __del__(self):\n        print(tf.constant(1).numpy())\nlast = Last()\n"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=600)
    assert (done.returncode, done.stdout, done.stderr) == (0, "1\n", "")
