"""Ctrl-C, signals and deadlines end whatever runs, and all stays usable."""

import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time
from typing import Any

import pytest

PROGRAM = pathlib.Path(__file__).with_name("interrupted.py")
SESSIONS = ["session_loop", "session_kernel", "session_dequeue", "session_callable", "session_wide"]
CALLBACKS = ["session_callback_waits", "session_callback_spins", "session_callback_calls", "session_callbacks", "function_callback"]
EAGER = ["function_loop", "function_dequeue", "eager_dequeue", "eager_kernel", "eager_unique", "eager_pipe", "tape"]
DATASETS = ["dataset", "dataset_reduce", "dataset_map", "dataset_generator"]
INTO = 0.2  # seconds of processors' time into the work; or as soon as all its threads sleep
LITTLE = 0.5  # the part of a call's processor time that a kernel of seconds may still use after it
BOUND = 60  # seconds in which it must have ended, on the slowest machine; 0.2 are promised


def interrupted_kernels() -> list[str]:
    """The names in the program's table, which only a process of its own should load."""
    return re.findall(r'^    "(\w+)": \(lambda', PROGRAM.read_text(encoding="utf-8"), re.M)


def interrupt(process: Any, number: int, name: str) -> tuple[list[str], float]:
    """The three lines of a case; the signal comes after the first. And the processor's time until it had ended."""
    lines = [process.stdout.readline()]
    wait_until_at_work(process)
    process.send_signal(number)
    before = processor_time(process)
    late = threading.Timer(BOUND, process.kill)
    late.start()
    lines.append(process.stdout.readline())
    used = processor_time(process) - before
    lines.append(process.stdout.readline())
    late.cancel()
    return lines, used


def wait_until_at_work(process: Any) -> None:
    """By what it does, since on a busy machine a clock doesn't tell."""
    begun, asleep = processor_time(process), 0
    while processor_time(process) < begun + INTO and asleep < 5:
        time.sleep(0.02)
        states = {status(thread)[0] for thread in pathlib.Path(f"/proc/{process.pid}/task").glob("*/stat")}
        asleep = asleep + 1 if states == {"S"} else 0


def status(of: pathlib.Path) -> list[str]:
    """The fields of such a file that follow the program's name."""
    return of.read_text().rpartition(")")[2].split()


def processor_time(process: Any) -> float:
    """Of all its threads so far, in seconds: on a busy machine it tells what a clock can't."""
    try:
        fields = status(pathlib.Path(f"/proc/{process.pid}/stat"))
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def check(cases: list[str], kind: str, number: signal.Signals, ended_by: str) -> None:
    problem = None
    for _ in range(3):
        problem = problem_of(cases, kind, number, ended_by)
        if not problem or "Exception ignored in" not in problem:  # there Python itself drops what a handler raises
            break
    assert not problem, problem


def problem_of(cases: list[str], kind: str, number: signal.Signals, ended_by: str) -> str | None:
    environment = {**os.environ, "EMPLACE_VIRTUAL_GPUS": "2" if kind == "GPU" else "0"}
    command = [sys.executable, str(PROGRAM), kind, number.name, *cases]
    late = {}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) as process:
        for name in cases:
            lines, used = interrupt(process, number, name)
            wanted = [f"begin {name}\n", f"{name} ended by {ended_by}\n", f"{name} goes on\n"]
            if lines != wanted:
                process.kill()
                return f"{lines} instead of {wanted}\n{process.stderr.read()}"
            if used > 0.1 and name.startswith("kernel_"):
                late[name] = used
        ended_with, said = process.wait(BOUND), process.stderr.read()
        if ended_with != 0 or said:
            return f"ended with {ended_with}: {said}"
    for name, used in late.items():
        whole = time_of_whole(name.replace("kernel_", "whole_"))
        if whole > 1 and used > LITTLE * whole:
            return f"{name} went on for {used} s; the whole call takes {whole} s"
    return None


def time_of_whole(name: str) -> float:
    """The processor's time of a kernel that nobody interrupts."""
    with subprocess.Popen([sys.executable, str(PROGRAM), "CPU", "SIGINT", name], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == f"begin {name}\n"
        before = processor_time(process)
        assert process.stdout.readline() == f"{name} was over before\n"
        used = processor_time(process) - before
        process.communicate()
        return used


@pytest.mark.parametrize("kind", ["CPU", "GPU"])
@pytest.mark.parametrize("cases", [SESSIONS, CALLBACKS, EAGER, DATASETS], ids=["sessions", "callbacks", "eager", "datasets"])
def test_ctrl_c(cases, kind):
    check(cases, kind, signal.SIGINT, "KeyboardInterrupt")


@pytest.mark.parametrize("part", range(4))
def test_ctrl_c_within_a_kernel(part):
    kernels = interrupted_kernels()
    assert len(kernels) > 20
    check([f"kernel_{name}" for name in kernels[part::4]], "CPU", signal.SIGINT, "KeyboardInterrupt")


@pytest.mark.parametrize("kind", ["CPU", "GPU"])
def test_a_handler_of_the_users_that_raises(kind):
    cases = ["session_loop", "session_dequeue", "session_callback_waits", "session_callbacks", "function_loop", "eager_dequeue"]
    check(cases, kind, signal.SIGTERM, "Stop")


LONG_DEADLINES = """
import emplace as tf
import emplace.compat.v1 as tf1
tf.config.set_operation_timeout(2**62)
queue = tf.queue.FIFOQueue(3, [tf.float32])
queue.enqueue(1.0)
print(queue.dequeue().numpy())
for wrong in (-1, 1.5, 2**70):
    try:
        tf.config.set_operation_timeout(wrong)
    except ValueError:
        print(tf.config.get_operation_timeout() == 2**62)
with tf1.Graph().as_default(), tf1.Session() as session:
    print(session.run(tf1.constant(2.0), options=tf1.RunOptions(timeout_in_ms=2**62)))
"""
HANDLER_THAT_GOES_ON = """
import os, signal, threading, time
import emplace.compat.v1 as tf
queue = tf.FIFOQueue(3, tf.float32)
taken, put = queue.dequeue(), queue.enqueue(5.0)
session = tf.Session()
heard = threading.Event()
signal.signal(signal.SIGUSR1, lambda *_: heard.set())
def feed():
    time.sleep(0.1)
    os.kill(os.getpid(), signal.SIGUSR1)
    heard.wait()
    session.run(put)
threading.Thread(target=feed).start()
print(session.run(taken))
"""
DEADLINES = """
import os, time
import emplace as tf
queue = tf.queue.FIFOQueue(3, [tf.float32])
x = tf.ones([4000, 4000])
tf.config.set_operation_timeout(100)
assert tf.config.get_operation_timeout() == 100

@tf.function
def loop(x):
    return tf.while_loop(lambda i, y: i < 1 << 60, lambda i, y: (i + 1, y * 1.0), [tf.constant(0, tf.int64), x])

@tf.function
def take():
    return queue.dequeue()

@tf.function
def call(x):
    with tf.device("/cpu:0"):
        return tf.add_n([tf.py_function(sleep, [x], tf.float32) for _ in range(2)])

def sleep(x):
    time.sleep(0.5)
    return x

def chain(x):
    for _ in range(200):
        x = tf.matmul(x, x)
    return x

def endless(n=2**60):
    return tf.data.Dataset.range(n)

def total():
    return endless().reduce(tf.constant(0, tf.int64), lambda total, x: total + x)

def found():
    return next(iter(endless().filter(lambda x: x < 0)))

def count():
    return tf.while_loop(lambda i: True, lambda i: (i + 1,), [tf.constant(0)])

def mapped():
    return tf.map_fn(lambda x: x + 1.0, tf.zeros([10**6]))

def patiently(work):
    tf.config.set_operation_timeout(60_000)
    value = work()
    tf.config.set_operation_timeout(100)
    return value

def small():
    return (tf.constant(1.0) + 1.0).numpy()

def failing():
    try:
        endless(5).reduce(tf.constant(0, tf.int64), lambda total, x: 1 // 0)
    except ZeroDivisionError:
        return True

for work in (total, found, count, mapped):
    try:
        work()
    except tf.errors.DeadlineExceededError as e:
        print("late", "Timed out" in e.message)
    print(patiently(small))
assert patiently(lambda: endless(5).reduce(tf.constant(0, tf.int64), lambda total, x: total + x).numpy()) == 10
assert patiently(failing)

for work in (queue.dequeue, take, lambda: loop(tf.constant(1.0)), lambda: call(tf.constant(1.0)), lambda: tf.function(chain)(x)):
    with tf.device(os.environ["DEVICE"]):
        try:
            work()
        except tf.errors.DeadlineExceededError as e:
            print("late", "Timed out" in e.message)
        print(patiently(small))
tf.config.set_operation_timeout(0)
queue.enqueue(7.0)
print(take().numpy(), call(tf.constant(1.0)).numpy())
"""


def run(program: str, **environment: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env={**os.environ, **environment}, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_a_handler_that_raises_nothing_leaves_the_step_alone():
    assert run(HANDLER_THAT_GOES_ON) == "5.0\n"


@pytest.mark.parametrize("device", ["/cpu:0", "/gpu:1"])
def test_operations_and_functions_have_deadlines(device):
    assert run(DEADLINES, DEVICE=device, EMPLACE_VIRTUAL_GPUS="2") == "late True\n2.0\n" * 9 + "7.0 2.0\n"


def test_a_deadline_beyond_all_clocks_is_none():
    assert run(LONG_DEADLINES) == "1.0\n" + "True\n" * 3 + "2.0\n"
