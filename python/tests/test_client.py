"""emplace.python.client: the devices as messages, a step as a picture."""

import json
import os
import subprocess
import sys

import emplace.compat.v1 as tf
from emplace.python.client import device_lib, timeline


def test_local_devices_have_short_names_and_descriptions():
    code = "from emplace.python.client import device_lib\nfor d in device_lib.list_local_devices(): print(d.name, d.device_type, d.memory_limit, d.physical_device_desc)"
    out = subprocess.run([sys.executable, "-c", code], env={**os.environ, "EMPLACE_VIRTUAL_GPUS": "2:64M"}, capture_output=True, text=True, check=True).stdout
    cpu, *gpus = out.splitlines()
    assert cpu.startswith("/device:CPU:0 CPU 268435456")
    assert [g.split(" device: ")[0] for g in gpus] == [f"/device:GPU:{i} GPU {64 << 20}" for i in range(2)]
    assert all("name: Virtual GPU" in g for g in gpus)


def test_local_devices_obey_the_configuration():
    names = [d.name for d in device_lib.list_local_devices(tf.ConfigProto(device_count={"CPU": 2, "GPU": 0}))]
    assert names == ["/device:CPU:0", "/device:CPU:1"]


def test_a_timeline_shows_calls_edges_and_memory():
    with tf.Graph().as_default(), tf.Session() as s:
        a = tf.placeholder(tf.float32, [2, 2], name="a")
        c = tf.add(tf.matmul(a, a, name="b"), a, name="c")
        step = tf.RunMetadata()
        s.run(c, {a: [[1, 2], [3, 4]]}, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=step)
    events = json.loads(timeline.Timeline(step.step_stats).generate_chrome_trace_format(show_memory=True))["traceEvents"]
    (process,) = [e for e in events if e["ph"] == "M"]
    assert process["args"]["name"].endswith("device:CPU:0 Compute")
    calls = {e["args"]["name"]: e for e in events if e["ph"] == "X"}
    assert calls["b"]["name"] == "MatMul" and calls["c"]["args"]["input0"] == "b"
    start, end = ([e for e in events if e["ph"] == ph and e["name"] == "b"][0] for ph in "st")
    assert start["ts"] == calls["b"]["ts"] + calls["b"]["dur"] and end["ts"] == calls["c"]["ts"]
    memory = [e for e in events if e["ph"] == "C"]
    assert memory and list(memory[-1]["args"].values()) == [0]
    plain = json.loads(timeline.Timeline(step.step_stats).generate_chrome_trace_format(show_dataflow=False))["traceEvents"]
    assert {e["ph"] for e in plain} == {"M", "X"}
