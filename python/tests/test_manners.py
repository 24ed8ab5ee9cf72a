"""Ctrl-C, forks, threads, pickling, leaks: how the package behaves as a guest in a process."""

import gc
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import pytest

import emplace.compat.v1 as tf


@pytest.fixture(autouse=True)
def fresh_graph():
    with tf.Graph().as_default() as graph:
        yield graph


def long_chain(steps: int = 3000):
    x = tf.placeholder(tf.float32, [400, 400])
    y = x
    for _ in range(steps):
        y = tf.matmul(y, x)
    return x, y


def test_ctrl_c_ends_a_run_and_leaves_the_session_usable():
    x, y = long_chain()
    z = tf.reduce_sum(x)
    feed = np.zeros([400, 400], np.float32)
    with tf.Session() as sess:
        timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            for _ in range(1000):
                sess.run(y, {x: feed})
        timer.join()
        assert sess.run(z, {x: feed}) == 0.0
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_gil_is_released_during_a_run():
    x, y = long_chain(300)
    ticks = []
    with tf.Session() as sess:
        done = threading.Event()

        def tick():
            while not done.is_set():
                ticks.append(time.perf_counter())
                time.sleep(0.001)

        thread = threading.Thread(target=tick)
        thread.start()
        start = time.perf_counter()
        sess.run(y, {x: np.zeros([400, 400], np.float32)})
        end = time.perf_counter()
        done.set()
        thread.join()
    assert sum(start < t < end for t in ticks) >= 3


def test_fork_after_a_session_is_refused_clearly():
    program = (
        "import os, emplace.compat.v1 as tf\n"
        "c = tf.constant(2.0)\n"
        "s = tf.Session(); print(s.run(c), flush=True)\n"
        "pid = os.fork()\n"
        "if pid == 0:\n"
        "    try:\n        s.run(c)\n"
        "    except RuntimeError as e:\n        print('refused' if 'forked' in str(e) else e, flush=True)\n"
        "    os._exit(0)\n"
        "os.waitpid(pid, 0)\n"
        "print(s.run(c))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["2.0", "refused", "2.0"], done.stderr


def test_fork_before_any_session_works():
    program = (
        "import os, emplace.compat.v1 as tf\n"
        "c = tf.constant(2.0)\n"
        "pid = os.fork()\n"
        "print(tf.Session().run(c + 1.0), flush=True)\n"
        "if pid: os.waitpid(pid, 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stdout.count("3.0") == 2, done.stderr


def test_handles_refuse_to_be_pickled():
    for handle in (tf.constant(1.0), tf.Variable(1.0)):
        with pytest.raises(TypeError, match="can't be pickled"):
            pickle.dumps(handle)


def test_a_dropped_session_is_freed():
    c = tf.constant(1.0)
    sess = tf.Session()
    sess.run(c)
    gone = weakref.ref(sess)
    del sess
    gc.collect()
    assert gone() is None


def test_threads_share_a_session():
    x = tf.placeholder(tf.float32, [])
    y = x * 2.0
    wrong = []
    with tf.Session() as sess:
        def work(n):
            for i in range(50):
                if sess.run(y, {x: n + i}) != 2.0 * (n + i):
                    wrong.append((n, i))

        threads = [threading.Thread(target=work, args=(n * 1000,)) for n in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    assert wrong == []


def test_import_prints_nothing_and_is_quick():
    program = "import numpy, time, sys; t = time.process_time(); import emplace; print(time.process_time() - t < 0.1)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.stdout.strip(), done.stderr) == ("True", "")
