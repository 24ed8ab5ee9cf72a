"""Eager programs over virtual GPUs: the same bits as on one CPU; settings that come too late."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

tf = pytest.importorskip("emplace")

NAMES = ["/cpu:0", "/device:GPU:0", "/device:GPU:1", "/device:GPU:2", "/device:GPU:3", None]
BINARY = ["add", "subtract", "multiply", "maximum", "minimum"]
SEEDS = 200 if os.environ.get("EMPLACE_TEST_FULL") else 12


def run(program: str, gpus: int = 4) -> str:
    env = {**os.environ, "EMPLACE_VIRTUAL_GPUS": str(gpus), "CUDA_VISIBLE_DEVICES": "-1"}
    code = "import emplace as tf\nimport numpy as np\n" + textwrap.dedent(program)
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=900
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


PROGRAMS = """
import random
names, binary = {names!r}, {binary!r}

def program(x, seed, place):
    r = random.Random(seed)
    values = [x]
    for _ in range(30):
        device, kind = r.choice(names), r.randrange(6)
        a, b = r.choice(values), r.choice(values)
        word = r.choice(binary)
        with tf.device(device if place else "/cpu:0"):
            if kind == 0:
                c = tf.tanh(tf.matmul(a, b))
            elif kind == 1:
                c = tf.reduce_sum(a, axis=0) + b
            elif kind == 2:
                c = tf.cond(tf.reduce_sum(a) > 0.0, lambda: tf.tanh(a * b), lambda: a - b)
            elif kind == 3 and r.random() < 0.3:
                step = lambda i, y: (i + 1, tf.tanh(y + b))
                c = tf.while_loop(lambda i, y: i < 3, step, [tf.constant(0), a])[1]
            else:
                c = tf.tanh(getattr(tf, word)(a, b))
        values.append(c)
    return values

def start(seed):
    return tf.constant(np.random.RandomState(seed).randn(3, 3).astype("f4"))

def bits(values):
    return [v.numpy().tobytes() for v in values]
"""


def test_random_programs_give_the_cpus_bits_on_four_gpus() -> None:
    out = run(
        PROGRAMS.format(names=NAMES, binary=BINARY)
        + f"""
devices = set()
for seed in range({SEEDS}):
    placed = program(start(seed), seed, True)
    assert bits(placed) == bits(program(start(seed), seed, False)), seed
    devices |= {{v.device for v in placed}}
print(len(devices))
"""
    )
    assert out == "5\n"


def test_random_programs_give_the_same_bits_as_functions() -> None:
    out = run(
        PROGRAMS.format(names=NAMES, binary=BINARY)
        + f"""
for seed in range({SEEDS}):
    expected = bits(program(start(seed), seed, False))
    for place in (False, True):
        f = tf.function(lambda x: program(x, seed, place))
        for _ in range(2):
            assert bits(f(start(seed))) == expected, (seed, place)
print("equal")
"""
    )
    assert out == "equal\n"


def test_a_variable_stays_on_its_device_and_pulls_its_readers() -> None:
    out = run(
        """
        with tf.device("/device:GPU:1"):
            v = tf.Variable([1.0, 2.0])
        with tf.device("/cpu:0"):
            v.assign_add([1.0, 1.0])
        print(v.device[-5:], v.read_value().device[-5:], v.numpy().tolist())
        """
    )
    assert out == "GPU:1 GPU:1 [2.0, 3.0]\n"


def test_a_device_without_a_kernel() -> None:
    out = run(
        """
        def multiply():
            with tf.device("/gpu:0"):
                return tf.matmul([[1, 2]], [[3], [4]])
        try:
            multiply()
        except tf.errors.InvalidArgumentError as e:
            print(e.message)
        tf.config.set_soft_device_placement(True)
        print(multiply().device[-5:])
        """,
        gpus=1,
    )
    here = "/job:localhost/replica:0/task:0/device:"
    assert out.splitlines() == [
        f"Could not satisfy device specification '{here}GPU:0'. enable_soft_placement=0. "
        f"Supported device types [CPU]. All available devices [{here}GPU:0, {here}CPU:0]. "
        "[Op:MatMul] name: ",
        "CPU:0",
    ]


def test_nothing_runs_in_another_job_than_asked() -> None:
    out = run(
        """
        tf.config.set_soft_device_placement(True)
        with tf.device("/job:foo/cpu:0"):
            try:
                tf.constant(1.0)
            except RuntimeError as e:
                print(e)
        """,
        gpus=0,
    )
    assert out.endswith("/job:foo/replica:0/task:0/device:CPU:0 unknown device.\n")


def test_settings_that_come_too_late_are_refused() -> None:
    out = run(
        """
        gpus = tf.config.list_physical_devices("GPU")
        tf.config.threading.set_intra_op_parallelism_threads(2)
        tf.config.set_visible_devices(gpus[:2], "GPU")
        print(len(tf.config.list_logical_devices("GPU")))
        for late in (
            lambda: tf.config.set_visible_devices([], "GPU"),
            lambda: tf.config.experimental.set_memory_growth(gpus[0], True),
            lambda: tf.config.threading.set_intra_op_parallelism_threads(3),
        ):
            try:
                late()
                print("taken")
            except RuntimeError as e:
                print(e)
        """
    )
    assert out.splitlines() == [
        "2",
        "Visible devices cannot be modified after being initialized",
        "Physical devices cannot be modified after being initialized",
        "Intra op parallelism cannot be modified after initialization.",
    ]


def test_several_logical_cpus() -> None:
    out = run(
        """
        cpu = tf.config.list_physical_devices("CPU")[0]
        parts = [tf.config.LogicalDeviceConfiguration() for _ in range(3)]
        tf.config.set_logical_device_configuration(cpu, parts)
        print([d.name for d in tf.config.list_logical_devices("CPU")])
        tf.debugging.set_log_device_placement(True)
        with tf.device("CPU:2"):
            tf.constant([1.0]) + 1.0
        """,
        gpus=0,
    )
    assert out.splitlines() == [
        "['/device:CPU:0', '/device:CPU:1', '/device:CPU:2']",
        "Executing op AddV2 in device /job:localhost/replica:0/task:0/device:CPU:2",
    ]


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.floats(-4, 4, width=32), min_size=1, max_size=6),
    st.sampled_from(["tanh", "sigmoid", "exp", "sin", "square"]),
    st.sampled_from(BINARY),
)
def test_a_function_equals_its_eager_run_and_its_gradient_too(
    values: list[float], unary: str, binary: str
) -> None:
    x = tf.constant(np.array(values, "f4"))

    def program(x):  # type: ignore[no-untyped-def]
        y = getattr(tf, unary)(x)
        return tf.reduce_sum(getattr(tf, binary)(y, x * 0.5))

    def gradient(f):  # type: ignore[no-untyped-def]
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return y.numpy(), tape.gradient(y, x).numpy()

    eager, traced = gradient(program), gradient(tf.function(program))
    assert eager[0].tobytes() == traced[0].tobytes()
    assert eager[1].tobytes() == traced[1].tobytes()


def test_many_operations_and_variables_leave_no_memory_behind() -> None:
    out = run(
        """
        import resource
        def work(n):
            x = tf.constant(np.zeros(1000, "f4"))
            for i in range(n):
                x = x + 1.0
                if i % 50 == 0:
                    tf.Variable(np.zeros(100_000, "f4")).assign_add(np.ones(100_000, "f4"))
        work(1000)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        work(8000)
        print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024 < 20)
        """,
        gpus=1,
    )
    assert out == "True\n"


def test_a_queue_is_on_the_cpu() -> None:
    out = run(
        """
        for device in (None, "/gpu:1"):
            with tf.device(device):
                q = tf.queue.FIFOQueue(3, tf.float32)
                q.enqueue_many([[1.0, 2.0]])
                print(q.size().numpy(), q.dequeue().numpy(), q.queue_ref.device[-5:])
        """
    )
    assert out.splitlines() == ["2 1.0 CPU:0"] * 2


def test_sessions_without_a_config_follow_tf_config() -> None:
    out = run(
        """
        cpu, *gpus = tf.config.list_physical_devices()
        tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
        tf.config.set_visible_devices(gpus[1:3], "GPU")
        tf.config.set_soft_device_placement(True)
        with tf.Graph().as_default():
            with tf.device("/gpu:7"):
                c = tf.constant(1.0)
            for config in (None, tf.compat.v1.ConfigProto()):
                with tf.compat.v1.Session(config=config) as sess:
                    print([d.name[-5:] for d in sess.list_devices()])
                    try:
                        print(sess.run(c))
                    except tf.errors.InvalidArgumentError as e:
                        print(e.message[:51])
        """
    )
    assert out.splitlines() == [
        "['CPU:0', 'CPU:1', 'GPU:0', 'GPU:1']",
        "1.0",
        "['CPU:0', 'GPU:0', 'GPU:1', 'GPU:2', 'GPU:3']",
        "Cannot assign a device to node 'Const': Could not s",
    ]


def test_a_device_can_be_entered_again() -> None:
    out = run(
        """
        d = tf.device("/gpu:1")

        @tf.function
        def f(x):
            with d:
                return x + 1.0

        for _ in range(2):
            with d, d:
                print((tf.ones([2]) + 1.0).device[-5:], f(1.0).numpy())
            print((tf.ones([2]) + 1.0).device[-5:])
        """
    )
    assert out.splitlines() == ["GPU:1 2.0", "GPU:0"] * 2


def test_logical_devices_of_a_gpu_when_another_is_hidden() -> None:
    out = run(
        """
        gpus = tf.config.list_physical_devices("GPU")
        tf.config.experimental.set_memory_growth(gpus[1], True)
        tf.config.set_visible_devices(gpus[1], "GPU")
        parts = [tf.config.LogicalDeviceConfiguration(memory_limit=16)] * 2
        tf.config.set_logical_device_configuration(gpus[1], parts)
        print([d.name for d in tf.config.list_logical_devices("GPU")])
        """,
        gpus=2,
    )
    assert out == "['/device:GPU:0', '/device:GPU:1']\n"


def test_memory_grows_on_all_gpus_or_on_none() -> None:
    out = run(
        """
        first, second = tf.config.list_physical_devices("GPU")
        tf.config.experimental.set_memory_growth(first, True)
        for start in (lambda: tf.constant(1.0), tf.compat.v1.Session):
            try:
                with tf.Graph().as_default() if start is tf.compat.v1.Session else tf.device(None):
                    start()
            except ValueError as e:
                print(e)
        tf.config.experimental.set_memory_growth(second, True)
        print(tf.constant(1.0).numpy())
        """,
        gpus=2,
    )
    assert out.splitlines() == ["Memory growth cannot differ between GPU devices"] * 2 + ["1.0"]


def test_logical_devices_that_are_refused_leave_nothing() -> None:
    out = run(
        """
        one = tf.config.LogicalDeviceConfiguration
        cpu, gpu = tf.config.list_physical_devices()
        for device, part in ((gpu, one()), (cpu, one(memory_limit=1)), (cpu, one(experimental_priority=1)), (cpu, one(experimental_device_ordinal=1))):
            try:
                tf.config.set_logical_device_configuration(device, [part])
            except ValueError as e:
                print(e, tf.config.get_logical_device_configuration(device))
        print(len(tf.config.list_logical_devices()))
        """,
        gpus=1,
    )
    assert out.splitlines() == [
        "Setting memory limit is required for GPU virtual devices None",
        "Setting memory limit on CPU virtual devices is currently not supported None",
        "Setting experimental_priority on CPU virtual  devices is currently not supported None",
        "Setting experimental_device_ordinal on CPU virtual  devices is currently not supported None",
        "2",
    ]


def test_a_read_behind_a_write_sees_it_in_every_call() -> None:
    """Also where its shape is known at run time only and the calls around it are recorded."""
    out = run(
        """
        m, v, w = (tf.Variable([0.0, 0.0]) for _ in range(3))
        @tf.function
        def step(g):
            m.assign_add((g - m) * 0.5)
            v.assign_add((g * g - v) * 0.5)
            w.assign_sub(m / (tf.sqrt(v) + 1e-7))
        for _ in range(4):
            step(tf.constant([1.0, 2.0]))
        print([round(float(x), 4) for x in w])
        """,
        gpus=1,
    )
    assert out == "[-3.4768, -3.4768]\n"
