"""Blocks of control dependencies, colocation and devices: the cases beside the differential table."""

import numpy as np
import pytest

import emplace
import emplace.compat.v1 as tf


class Standing:
    """Stands for a tensor, as variables do."""

    def __init__(self, tensor):
        self.tensor = tensor

    def _as_graph_element(self):
        return self.tensor


@pytest.mark.usefixtures("graph")
def test_control_dependencies_take_what_stands_for_a_tensor():
    a, b = tf.constant(1.0), tf.constant(2.0)
    with tf.control_dependencies([Standing(a), b, tf.no_op(name="n")]):
        c = tf.constant(3.0)
    assert c.op.control_inputs == [a.op, b.op, tf.get_default_graph().get_operation_by_name("n")]
    for wrong in (1.0, None, object()):
        with pytest.raises(TypeError, match="Can not convert"):
            with tf.control_dependencies([wrong]):
                pass


def test_callables_are_called_when_running_at_once():
    called = []

    def make():
        called.append(1)
        return emplace.constant(3)

    with emplace.control_dependencies([make, emplace.constant(1)]):
        assert called == [1]


@pytest.mark.usefixtures("graph")
def test_colocation_is_an_attribute_of_the_node():
    a = tf.constant(1.0, name="a")
    with tf.colocate_with(a.op):
        b = tf.constant(2.0, name="b")
    assert b.op.get_attr("_class") == [b"loc:@a"]
    assert list(b.op.node_def.attr["_class"].list.s) == [b"loc:@a"]
    assert a.op.colocation_groups() == [b"loc:@a"]
    with pytest.raises(ValueError):
        a.op.get_attr("_class")


@pytest.mark.usefixtures("graph")
def test_colocation_reset_and_then_nested():
    a = tf.constant(1.0, name="a")
    with tf.colocate_with(a.op):
        with tf.colocate_with(None, ignore_existing=True):
            b = tf.constant(2.0, name="b")
            with tf.colocate_with(b.op):
                c = tf.constant(3.0, name="c")
        d = tf.constant(4.0, name="d")
    assert b.op.colocation_groups() == [b"loc:@b"]
    assert c.op.colocation_groups() == [b"loc:@b"]
    assert d.op.colocation_groups() == [b"loc:@a"]


def test_colocation_with_a_variable_in_a_function():
    v = emplace.Variable(1.0)

    @emplace.function
    def f(x):
        with emplace.compat.v1.colocate_with(v):
            return x + v

    assert f(emplace.constant(2.0)).numpy() == 3.0
    assert f(emplace.constant(5.0)).numpy() == 6.0


def test_a_value_tells_its_device():
    with emplace.device("/cpu:0"):
        x = emplace.constant(1.0)
    assert x.device.endswith("/device:CPU:0") and x.backing_device == x.device


def test_device_blocks_left_out_of_order_are_refused():
    with tf.Graph().as_default():
        outer, inner = tf.device("/cpu:0"), tf.device("/cpu:0")
        outer.__enter__()
        inner.__enter__()
        with pytest.raises(RuntimeError, match="without proper scope nesting"):
            outer.__exit__(None, None, None)
        inner.__exit__(None, None, None)
        outer.__exit__(None, None, None)
    outer, inner = emplace.device("/cpu:0"), emplace.device("/cpu:0")
    outer.__enter__()
    inner.__enter__()
    with pytest.raises(RuntimeError, match="without proper scope nesting"):
        outer.__exit__(None, None, None)
    with pytest.raises(RuntimeError, match="without proper scope nesting"):
        inner.__exit__(None, None, None)
    assert emplace.constant(1.0).numpy() == 1.0


def test_virtual_gpus_compute_what_one_device_computes(monkeypatch):
    for seed in range(10):
        monkeypatch.setenv("EMPLACE_VIRTUAL_GPUS", "4")
        values = []
        for on_gpus in (True, False):
            rng = np.random.default_rng(seed)
            with tf.Graph().as_default():
                nodes = [tf.constant(rng.integers(0, 3, (2, 2)).astype(np.float32)) for _ in range(2)]
                for _ in range(16):
                    a, b = (nodes[i] for i in rng.integers(0, len(nodes), 2))
                    gpu, kind = rng.integers(4), rng.integers(4)
                    with tf.device(f"/gpu:{gpu}" if on_gpus else "/cpu:0"):
                        nodes.append((tf.add, tf.subtract, tf.multiply, tf.matmul)[kind](a, b) * 0.25)
                with tf.Session() as sess:
                    values.append(sess.run(tf.add_n(nodes)))
        np.testing.assert_allclose(values[0], values[1], rtol=1e-6)


def test_several_sessions_share_the_virtual_gpus(monkeypatch):
    monkeypatch.setenv("EMPLACE_VIRTUAL_GPUS", "2")
    with tf.Graph().as_default():
        with tf.device("/gpu:1"):
            v = tf.Variable(1.0)
            add = v.assign_add(1.0)
        with tf.Session() as one, tf.Session() as two:
            for sess in (one, two):
                sess.run(v.initializer)
            for _ in range(5):
                one.run(add)
            assert (one.run(v), two.run(v)) == (6.0, 1.0)
