"""Placement as data, pictures of graphs, statistics of runs."""

import os
import subprocess
import sys

import numpy as np
import pytest

import emplace.compat.v1 as tf

PROGRAM = """
import emplace.compat.v1 as tf
with tf.device("/gpu:1"):
    a = tf.constant([[1.0]], name="a")
b = tf.matmul(a, a, name="b")
i = tf.Variable(3, name="i")
with tf.Session() as sess:
    rows = sess.placement(b)
    print([(r.node, r.op, r.device.rsplit("/", 1)[-1]) for r in rows])
    print(rows["a"].device[-5:], bool(rows["a"].reason), sorted(rows.to_dict()))
    print(str(rows).splitlines()[0].split())
    print(rows._repr_html_().startswith("<svg"), "GPU:1" in rows._repr_html_())
    print(len(sess.placement()) > len(rows))
"""


def test_placement_is_data():
    # Where nodes go is the simple placer's rules.
    env = {**os.environ, "EMPLACE_VIRTUAL_GPUS": "2", "EMPLACE_PLACER": "simple"}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=env, capture_output=True, text=True, timeout=600)
    lines = done.stdout.splitlines()
    assert sorted(eval(lines[0])) == [("a", "Const", "device:GPU:1"), ("b", "MatMul", "device:GPU:0")], done.stderr
    assert lines[1] == "GPU:1 True ['nodes']"
    assert lines[2] == "['node', 'op', 'device', 'reason']"
    assert lines[3:] == ["True True", "True"]


def test_a_graph_draws_itself():
    with tf.Graph().as_default() as graph:
        tf.add(1.0, 2.0, name="sum")
        picture = graph._repr_html_()
    assert picture.startswith("<svg") and "sum/x" in picture and picture.endswith("</svg>")


def test_graph_def_goes_out_and_comes_back():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        tf.identity(tf.matmul(x, [[1.0], [2.0]]) + 0.5, name="y")
        definition = graph.as_graph_def()
    with tf.Graph().as_default() as copy:
        (y,) = tf.import_graph_def(definition, name="", return_elements=["y:0"])
        with tf.Session() as sess:
            assert sess.run(y, {"x:0": [[1.0, 1.0]]}).tolist() == [[3.5]]
        assert [n.name for n in copy.as_graph_def().node] == [n.name for n in definition.node]


def test_every_operation_has_a_function():
    assert "MatMul" in dir(tf.raw_ops)
    with tf.Graph().as_default():
        y = tf.raw_ops.MatMul(a=[[1.0, 2.0]], b=[[3.0], [4.0]])
        assert tf.Session().run(y).tolist() == [[11.0]]


@pytest.mark.parametrize("devices", [("/gpu:0", "/cpu:0", "/gpu:1"), ("/cpu:0", "/gpu:1", "/gpu:1"), ("/gpu:1", "/gpu:0", "/cpu:0")])
def test_a_loop_of_frames_spans_devices(monkeypatch, devices):
    monkeypatch.setenv("EMPLACE_VIRTUAL_GPUS", "2")
    with tf.Graph().as_default() as graph, tf.Session() as sess:

        def inner(j, y):
            with tf.device(devices[1]):
                return j + 1, y * 2.0

        def outer(i, x):
            with tf.device(devices[0]):
                x = x + 1.0
            _, x = tf.while_loop(lambda j, _: j < 2, inner, [tf.constant(0), x])
            with tf.device(devices[2]):
                return i + 1, x - 1.0

        with tf.device(devices[0]):
            _, out = tf.while_loop(lambda i, _: i < 3, outer, [tf.constant(0), tf.constant([1.0, 2.0])])
        assert {"Enter", "Exit", "NextIteration"} <= {op.type for op in graph.get_operations()}
        expected = np.float32([1, 2])
        for _ in range(3):
            expected = (expected + 1) * 4 - 1
        for _ in range(2):
            np.testing.assert_array_equal(sess.run(out), expected)
