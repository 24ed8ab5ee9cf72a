"""A step that stays silent says once who waits for what; a signal has the whole process say it."""

import os
import signal
import subprocess
import sys

import pytest

WAITS = """
import sys, threading
import emplace.compat.v1 as tf
queue = tf.FIFOQueue(1, tf.float32, shared_name="orders")
taken = queue.dequeue(name="take")
put = queue.enqueue([7.0])
session = tf.Session()
got = []
thread = threading.Thread(target=lambda: got.append(session.run(taken)))
thread.start()
while not session.waiting():
    pass
print("ready", flush=True)
sys.stdin.readline()
session.run(put)
thread.join()
assert got == [7.0]
"""
EAGER = """
import sys, threading
import emplace as tf
queue = tf.queue.FIFOQueue(1, tf.float32)
got = []
thread = threading.Thread(target=lambda: got.append(float(queue.dequeue())))
thread.start()
print("ready", flush=True)
sys.stdin.readline()
queue.enqueue(7.0)
thread.join()
assert got == [7.0]
"""


class Child:
    """A program whose stderr is read until it says something."""

    def __init__(self, program: str, **environment: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, env=dict(os.environ, EMPLACE_LOG_LEVEL="warning", **environment))  # fmt: skip
        assert self.process.stdout and self.process.stdout.readline() == "ready\n"

    def line_with(self, text: str) -> str:
        assert self.process.stderr
        for line in self.process.stderr:
            if text in line:
                return line
        raise AssertionError(f"ended without {text!r}")

    def rest(self) -> str:
        _, told = self.process.communicate("\n")
        assert self.process.returncode == 0
        return told


@pytest.mark.parametrize(("program", "who"), [(WAITS, "'take' (QueueDequeueV2, "), (EAGER, "'QueueDequeueV2' (")])
@pytest.mark.parametrize("seconds", ["0.1", "0.001"])  # the second is often over before anybody waits
def test_long_silence_is_told_once(program: str, who: str, seconds: str) -> None:
    child = Child(program, EMPLACE_REPORT_WAITING_S=seconds)
    assert f"A step has been under way for {seconds} s. In it wait" in child.line_with("under way")
    line = child.line_with(who)
    assert "for an element of a queue" in line and "/device:CPU:0: waits " in line
    assert "under way" not in child.rest()


def test_silence_may_last_where_nobody_is_to_tell() -> None:
    assert Child(WAITS, EMPLACE_REPORT_WAITING_S="0").rest() == ""


@pytest.mark.parametrize("program", [WAITS, EAGER])
def test_signal_has_a_process_say_who_waits(program: str) -> None:
    child = Child(program, EMPLACE_WAITING_SIGNAL="USR1")
    child.process.send_signal(signal.SIGUSR1)
    told = child.line_with("In this process")
    while "nobody waits" in told:  # the thread had not come so far
        child.process.send_signal(signal.SIGUSR1)
        told = child.line_with("In this process")
    assert "Dequeue" in child.line_with("'")
    child.rest()


def test_without_being_asked_nobody_handles_the_signal() -> None:
    child = Child(WAITS)
    with open(f"/proc/{child.process.pid}/status") as status:
        caught = next(int(line.split()[1], 16) for line in status if line.startswith("SigCgt"))
    assert not caught >> (signal.SIGUSR1 - 1) & 1
    child.rest()
