"""Eager programs on other tasks print here what they print on TensorFlow (EMPLACE_TEST_RECORD=1 writes that anew)."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
from typing import Iterator

import pytest

from processes import LIMIT, Cluster, environment

PROGRAMS = pathlib.Path(__file__).parent / "eager"
NAMES = sorted(p.stem for p in PROGRAMS.glob("*.py") if not p.stem.startswith("_"))
RECORD = os.environ.get("EMPLACE_TEST_RECORD") == "1"
ENGINE = "tensorflow" if RECORD else "emplace"

_WORKER = """
import json, sys
import emplace as tf
ports, me = json.loads(sys.argv[1]), int(sys.argv[2])
tf.config.experimental_connect_to_cluster(tf.train.ClusterSpec({"worker": ports}), job_name="worker", task_index=me)
def reduce(x, key):
    return tf.raw_ops.CollectiveReduceV2(input=x, group_size=len(ports), group_key=1, instance_key=key, ordering_token=[], merge_op="Add", final_op="Div")
@tf.function
def step(x):
    return reduce(x, 1) * 2.0
for i in range(20):
    mean = step(tf.fill([40_000], float(me + i)))
print(mean.numpy()[[0, -1]].tolist(), flush=True)
if me == 1:
    import os
    os._exit(0)
try:
    reduce(tf.constant(1.0), 2)
except tf.errors.UnavailableError as e:
    print("/job:worker/replica:0/task:1" in e.message)
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster(ENGINE, {"worker": 2}) as made:
        yield made


def _output(command: list[str]) -> str:
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, env=environment(), timeout=LIMIT)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.mark.parametrize("name", NAMES)
def test_prints_what_tensorflow_prints(cluster: Cluster, name: str) -> None:
    printed = _output([str(PROGRAMS / "_program.py"), ENGINE, json.dumps(cluster.spec), name])
    expected = PROGRAMS / f"{name}.expected"
    if RECORD:
        expected.write_text(printed)
    assert printed == expected.read_text()


_GROWING = """
import emplace as tf, json, sys
import emplace.cluster
spec = json.loads(sys.argv[1])
tf.config.experimental_connect_to_host(spec["worker"])
def memory():
    return next(t["memory_bytes"] for t in emplace.cluster.status("grpc://" + spec["worker"][1]) if t["task"].endswith("task:1"))
def some(n):
    with tf.device("/job:worker/task:1"):
        for _ in range(n):
            x = tf.ones([4 << 20]) + 1.0
some(4)
before = memory()
some(100)
print((memory() - before) >> 20 < 200)
"""


def test_values_go_with_their_last_tensor() -> None:
    with Cluster("emplace", {"worker": 2}) as made:
        assert _output(["-c", _GROWING, json.dumps(made.spec)]) == "True\n"


_KILLED = """
import emplace as tf, json, os, signal, sys
spec, pid = json.loads(sys.argv[1]), int(sys.argv[2])
tf.config.experimental_connect_to_host(spec["worker"])
with tf.device("/job:worker/task:1"):
    v = tf.Variable(1.0)
    x = v + 1.0
@tf.function
def f():
    return v + 1.0
print(f().numpy())
os.kill(pid, signal.SIGKILL)
for call in (x.numpy, v.numpy, f):
    try:
        print(call())
    except tf.errors.UnavailableError as e:
        print("From /job:worker/replica:0/task:1:" in e.message)
with tf.device("/job:worker/task:0"):
    print((tf.constant(1.0) + 1.0).numpy())
"""


def test_a_killed_task_is_named_and_the_others_go_on() -> None:
    with Cluster("emplace", {"worker": 2}) as made:
        pid = made._processes["worker", 1].pid
        assert _output(["-c", _KILLED, json.dumps(made.spec), str(pid)]) == "2.0\nTrue\nTrue\nTrue\n2.0\n"


def test_workers_make_collective_operations() -> None:
    from processes import free_ports

    ports = [f"localhost:{port}" for port in free_ports(2)]
    commands = [[sys.executable, "-c", _WORKER, json.dumps(ports), str(me)] for me in (0, 1)]
    started = [subprocess.Popen(c, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment()) for c in commands]
    try:
        told = [p.communicate(timeout=LIMIT) for p in started]
    finally:
        for p in started:
            p.kill()
    assert [out for out, _ in told] == ["[39.0, 39.0]\nTrue\n", "[39.0, 39.0]\n"], told
