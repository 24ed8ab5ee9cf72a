"""Ctrl-C, forks, threads, pickling, leaks: how the package behaves as a guest in a process."""

import gc
import os
import pickle
import signal
import subprocess
import sys
import threading
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
        with pytest.raises(KeyboardInterrupt):
            timer.start()
            while True:
                sess.run(y, {x: feed})
        timer.join()
        assert sess.run(z, {x: feed}) == 0.0
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


CTRL_C_WITHIN_THE_IMPORT = """
import os, signal, sys
import emplace as tf

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[1]:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupting())
try:
    tf.constant(1.0)
except KeyboardInterrupt:
    sys.meta_path.pop(0)
    print(tf.reduce_sum([1.0, 2.0]).numpy(), signal.getsignal(signal.SIGINT) is signal.default_int_handler)
"""


@pytest.mark.parametrize("module", ["emplace._core", "numpy", "numpy.exceptions", "numpy.dtypes", "emplace.eager.context", "emplace.framework.ops"])
def test_ctrl_c_within_the_import_leaves_it_possible(module):
    done = subprocess.run([sys.executable, "-c", CTRL_C_WITHIN_THE_IMPORT, module], capture_output=True, text=True, timeout=600)
    assert (done.stdout, done.stderr) == ("3.0 True\n", "")


def test_gil_is_released_during_a_run():
    """The step ends once another thread of Python's has come to its turn."""
    over = tf.Variable(False, use_resource=True)
    rounds = tf.while_loop(lambda i: tf.logical_not(over.read_value()), lambda i: i + 1, [tf.constant(0)])
    with tf.Session() as sess:
        sess.run(over.initializer)
        ended = over.assign(True).op
        thread = threading.Thread(target=lambda: sess.run(ended))
        thread.start()
        assert sess.run(rounds, options=tf.RunOptions(timeout_in_ms=100_000)) >= 0
        thread.join()


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
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=600)
    assert done.stdout.split() == ["2.0", "refused", "2.0"], done.stderr


def test_fork_before_any_session_works():
    program = (
        "import os, emplace.compat.v1 as tf\n"
        "c = tf.constant(2.0)\n"
        "pid = os.fork()\n"
        "print(tf.Session().run(c + 1.0), flush=True)\n"
        "if pid: os.waitpid(pid, 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=600)
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


def test_import_prints_nothing_and_is_small():
    program = "import sys; before = set(sys.modules); import emplace; print(sum(m.startswith('emplace') for m in sys.modules), len(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    ours, all_new = map(int, done.stdout.split())
    assert ours <= 10 and all_new <= 60, "what nobody asked for is imported"
    assert done.stderr == ""


def run_program(text: str, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=900, env={**os.environ, **environment})


GRAPH_PROGRAM = """
import numpy as np
import emplace.compat.v1 as tf
x = tf.placeholder(tf.float32, [2, 2], name="x")
v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
with tf.name_scope("s"), tf.device("/cpu:0"), tf.control_dependencies([x]):
    y = tf.matmul(x, v) + 1.0
sess = tf.Session()
sess.run(tf.global_variables_initializer())
call = sess.make_callable(y, [x])
for i in range(10):
    value = np.full((2, 2), i, np.float32)
    assert (sess.run(y, {x: value}) == call(value)).all()
try:
    sess.run(y, {x: [1.0]})
except ValueError:
    pass
ops = tf.get_default_graph().get_operations()
"""


def test_nothing_of_the_binding_leaks():
    for end in ("", "sess.close()\n", "del sess, call\n", "import gc; gc.collect()\n"):
        ran = run_program(GRAPH_PROGRAM + end)
        assert ran.returncode == 0 and ran.stderr == ""


def test_graphs_are_freed():
    refs = []
    for _ in range(3):
        g = tf.Graph()
        with g.as_default():
            y = tf.constant(1.0) + 2.0
            with tf.Session() as sess:
                sess.run(y)
        refs.append(weakref.ref(g))
        refs.append(weakref.ref(y))
        del g, y, sess
    gc.collect()
    assert [r() for r in refs] == [None] * 6


@pytest.mark.parametrize("first", ["tensorflow", "emplace"])
def test_emplace_and_tensorflow_live_in_one_process(first):
    import importlib.util

    if importlib.util.find_spec("tensorflow") is None:
        pytest.skip("TensorFlow is not installed")
    other = {"tensorflow": "emplace", "emplace": "tensorflow"}[first]
    ran = run_program(
        f"import {first}.compat.v1 as a\nimport {other}.compat.v1 as b\n"
        """
results = []
for tf in (a, b, a, b):
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [2])
        v = tf.Variable([1.0, 2.0])
        y = tf.reduce_sum(x * v)
        config = tf.ConfigProto(allow_soft_placement=True)
        with tf.Session(config=config) as sess:
            sess.run(tf.global_variables_initializer())
            results.append(float(sess.run(y, {x: [3.0, 4.0]})))
        text = tf.get_default_graph().as_graph_def().SerializeToString()
        assert b"Placeholder" in text
print(results)
""",
        TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="", TF_ENABLE_ONEDNN_OPTS="0",
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip() == "[11.0, 11.0, 11.0, 11.0]"


class Exported:
    """What another library's tensor looks like: DLPack and nothing else."""

    def __init__(self, array):
        self._array = array

    def __dlpack__(self, **how):
        return self._array.__dlpack__(**how)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


def test_dlpack_comes_in():
    x = tf.placeholder(tf.float32, [2, 3])
    y = x * 2.0
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    with tf.Session() as sess:
        np.testing.assert_array_equal(sess.run(y, {x: Exported(array)}), array * 2)
        array[:] = 5
        np.testing.assert_array_equal(sess.run(y, {x: Exported(array)}), np.full((2, 3), 10))
        with pytest.raises(ValueError, match="Cannot feed value of shape"):
            sess.run(y, {x: Exported(np.zeros(2, np.float32))})


def test_dlpack_goes_out():
    with tf.Session() as sess:
        got = sess.run(tf.ones([200, 3]) * 2.0)
    again = np.from_dlpack(Exported(got))
    np.testing.assert_array_equal(again, np.full((200, 3), 2))
    assert again.ctypes.data == got.ctypes.data
    assert got.__dlpack__(max_version=(1, 0)) is not None


def last_frame(error):
    tb = error.__traceback__
    while tb.tb_next is not None:
        tb = tb.tb_next
    return tb.tb_frame.f_code.co_filename


def test_tracebacks_end_at_the_users_line():
    x = tf.placeholder(tf.float32, [2])
    with tf.Session() as sess:
        call = sess.make_callable(x * 2.0, [x])
        for use in (
            lambda: sess.run(x), lambda: sess.run(None), lambda: sess.run(x, {x: [1.0]}), lambda: call([1.0]), lambda: x + "a",
            lambda: x + tf.constant(1), lambda: sess.run("nothing"), lambda: call(),
        ):
            with pytest.raises(Exception) as caught:
                use()
            assert last_frame(caught.value) == __file__


def test_an_uncaught_error_shows_only_the_users_lines():
    ran = run_program("import emplace.compat.v1 as tf\n\ndef layer(x):\n    return tf.nn.relu(x, name='?')\n\nlayer(tf.constant(1.0))\n")
    lines = [line for line in ran.stderr.splitlines() if "File " in line]
    assert ran.returncode == 1 and lines == ['  File "<string>", line 6, in <module>', '  File "<string>", line 4, in layer']


def test_the_users_own_frames_stay_in_a_traceback():
    def choose(op):
        raise KeyError("mine")

    with tf.device(choose):
        with pytest.raises(KeyError) as caught:
            tf.constant(1.0)
    names, tb = [], caught.value.__traceback__
    while tb is not None:
        names.append(tb.tb_frame.f_code.co_name)
        tb = tb.tb_next
    assert names[-1] == "choose"


LOG_WHILE_BUILDING = """
import sys, threading, time
import emplace.compat.v1 as tf

class Slow:  # gives other threads their turn in the middle of a line
    def write(self, text):
        time.sleep(0.02)
    def flush(self):
        pass

graph = tf.Graph()
with graph.as_default():
    x = tf.constant(1.0)
stop = threading.Event()

def build():
    with graph.as_default():
        while not stop.is_set():
            tf.constant(2.0)
            time.sleep(0)

threads = [threading.Thread(target=build) for _ in range(2)]
sys.stdout = Slow()
for t in threads:
    t.start()
sess = tf.Session(graph=graph, config=tf.ConfigProto(log_device_placement=True))
for _ in range(20):
    with graph.as_default():
        y = x + 1.0
    sess.run(y)
    sess.placement(y)
stop.set()
for t in threads:
    t.join()
sys.stdout = sys.__stdout__
print("done")
"""


def test_placements_are_logged_while_other_threads_build():
    done = subprocess.run([sys.executable, "-c", LOG_WHILE_BUILDING], capture_output=True, text=True, timeout=300)
    assert done.stdout == "done\n", done.stdout + done.stderr
