"""Demands on placements, forecasts, and what a graph would take elsewhere."""

import json
import os
import subprocess
import sys

import pytest

import emplace.compat.v1 as tf

PROGRAM = """
import emplace.compat.v1 as tf
with tf.device("/gpu:0"):
    a = tf.constant([1.0, 2.0], name="a")
with tf.device("/cpu:0"):
    b = tf.identity(a, name="tower_0/b")
with tf.Session() as sess:
    print(sess.run(b).tolist(), tf.placement.violations(sess))
    tf.placement.require("/gpu:*", ops="tower_*/**", max_copied_bytes="4B")
    tf.placement.require(ops="a", max_peak="1GiB")
    for v in tf.placement.violations(sess):
        print(v.node, v.device[-5:], "must be" in v.reason, v.source[-2:], v.demanded_at[-2:])
    print(sess.run(b).tolist())  # was prepared before
    try:
        sess.run(b + 1.0)
    except tf.errors.FailedPreconditionError as e:
        print(str(e).count("; demanded of"), "tower_0/b (Identity) on" in str(e))
"""


def test_demands_are_checked_all_at_once():
    env = {**os.environ, "EMPLACE_VIRTUAL_GPUS": "1"}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=env, capture_output=True, text=True, timeout=600)
    assert done.stdout.splitlines() == [
        "[1.0, 2.0] []", "tower_0/b CPU:0 True :6 :9", "a GPU:0 False :4 :9", "[1.0, 2.0]", "2 True",
    ], done.stdout + done.stderr


def test_demands_that_make_no_sense_are_refused():
    with tf.Graph().as_default() as graph:
        with pytest.raises(tf.errors.InvalidArgumentError, match="is no device"):
            tf.placement.require("gpu")
        with pytest.raises(tf.errors.InvalidArgumentError, match="is no size"):
            tf.placement.require(max_peak="a lot")
    assert not graph._contracts


def test_a_session_foretells_what_is_held():
    with tf.Graph().as_default():
        v = tf.get_variable("v", [1024, 1024])
        total = tf.reduce_sum(tf.matmul(v, v))
        with tf.Session() as sess:
            forecast = sess.forecast(total)
    assert not forecast.guessed and forecast.step_seconds > 0
    (cpu,) = forecast.devices
    assert cpu.holders[0] in (("v", 4 << 20), ("MatMul", 4 << 20)) and cpu.peak >= 8 << 20 and cpu.limit is None
    assert 4 << 20 <= cpu.kept < cpu.least <= cpu.peak


def test_a_step_on_devices_that_are_not_here(tmp_path):
    topology = {
        "devices": ["CPU:0", {"name": "GPU:0", "memory": "1MiB"}, {"name": "GPU:1", "memory": 80e9, "launch_s": 5e-6}],
        "links": {"default": {"latency_s": 1e-5, "bytes_per_s": 2.5e10}, "pairs": [{"src": "GPU:0", "dst": "GPU:1", "latency_s": 1e-6, "bytes_per_s": 3e11}]},
    }
    (tmp_path / "t.json").write_text(json.dumps(topology))
    with tf.Graph().as_default() as graph:
        v = tf.get_variable("v", [1024, 1024])
        total = tf.reduce_sum(tf.matmul(v, v))
        ways = tf.placement.outlooks(tmp_path / "t.json", total, evaluations=100)
        assert str(ways) == str(tf.placement.outlooks(topology, total, graph, evaluations=100))
        assert len(tf.placement.outlooks(["CPU:0", "GPU:0"])) == 4
    assert [w.way for w in ways] == ["CPU:0 alone", "GPU:0 alone", "GPU:1 alone", "simple placer", "dynamic placer"]
    assert "would hold" in ways["GPU:0 alone"].problem and not ways["GPU:1 alone"].problem
    best = ways["dynamic placer"]
    assert best.step_seconds <= 1.01 * ways["GPU:1 alone"].step_seconds < ways["CPU:0 alone"].step_seconds
    assert best.placement["MatMul"].device.endswith("GPU:1") and "traceEvents" in best.chrome_trace()
    assert best.memory[2].limit == 80e9 and sum(best.busy_seconds.values()) > 0
    assert "soonest" in repr(ways) and ways._repr_html_().startswith("<pre>")


def test_measured_costs_count_on_other_machines():
    with tf.Graph().as_default():
        v = tf.get_variable("v", [512, 512])
        total = tf.reduce_sum(tf.matmul(v, v))
        with tf.Session(config=tf.ConfigProto(measure_costs=True)) as sess:
            sess.run(tf.global_variables_initializer())
            for _ in range(20):
                sess.run(total)
            book = sess.costs()
        kind = book.costs(op="MatMul")[0].device
        product = next(r.seconds for r in book.costs(op="MatMul") if r.node == "MatMul")
        ways = tf.placement.outlooks([{"name": "CPU:0", "kind": kind}, "GPU:0"], total, costs=book, evaluations=100)
        assert product <= ways["CPU:0 alone"].step_seconds < 10 * sum(r.seconds for r in book.costs() if r.node)
        with pytest.raises(tf.errors.InvalidArgumentError, match="say nothing"):
            tf.placement.outlooks([{"name": "CPU:0", "kind": "abacus"}], total, costs=book)
    assert ways[0].timeline_svg().startswith("<svg") and "MatMul" in ways[0].timeline_svg()


def test_there_must_be_a_graph():
    program = "import emplace as tf\ntry:\n    tf.placement.require('/cpu:0')\nexcept RuntimeError as e:\n    print('give one' in str(e))"
    program += "\n@tf.function\ndef f(x):\n    tf.placement.require('/cpu:0')\n    return x\ntry:\n    f(1.0)\nexcept RuntimeError as e:\n    print('functions' in str(e))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=600)
    assert done.stdout.split() == ["True", "True"], done.stdout + done.stderr
