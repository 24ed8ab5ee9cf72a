"""The options of tf.gradients and of optimizers: how gradients are summed, held back, placed and left out."""

from typing import Any

import numpy as np
from snippet import Table

snippet = Table()


def net(tf: Any) -> tuple[Any, ...]:
    """Two layers that share their weights, the first on a device of its own."""
    x = tf.placeholder_with_default(np.ones((2, 3), np.float32), [2, 3])
    w, b = tf.Variable(np.ones((3, 2), np.float32), name="w"), tf.Variable(np.zeros(2, np.float32), name="b")
    with tf.device("/cpu:0"):
        first = tf.nn.relu(tf.matmul(x, w) + b)
    second = tf.tanh(first)
    loss = tf.reduce_sum(first * second + tf.matmul(second, w, transpose_b=True)[:, :2])
    return x, w, b, first, second, loss


def table(tf: Any) -> Any:
    return tf.Variable(np.ones((3, 2), np.float32), name="w")


for _name, _how in {
    "plain": {}, "gated": {"gate_gradients": True}, "tree": {"aggregation_method": 1}, "accumulated": {"aggregation_method": 2},
    "tree_gated": {"aggregation_method": 1, "gate_gradients": True}, "colocated": {"colocate_gradients_with_ops": True},
    "colocated_gated": {"colocate_gradients_with_ops": True, "gate_gradients": True},
    "colocated_tree": {"colocate_gradients_with_ops": True, "aggregation_method": 1}, "named": {"name": "back"},
}.items():
    def _gradients(tf: Any, how: Any = _how) -> Any:
        x, w, b, *_, loss = net(tf)
        return tf.gradients(loss, [x, w, b], **how)

    snippet.put(f"options_{_name}", _gradients)

for _name, _how in {
    "free": {"gate_gradients": 0}, "whole": {"gate_gradients": 2}, "tree": {"aggregation_method": 1, "colocate_gradients_with_ops": True},
}.items():
    def _minimized(tf: Any, how: Any = _how) -> Any:
        return tf.train.MomentumOptimizer(0.1, 0.9).minimize(net(tf)[-1], **how)

    snippet.put(f"options_minimize_{_name}", _minimized)


@snippet
def options_stop(tf: Any) -> Any:
    _, w, _, first, _, loss = net(tf)
    return tf.gradients(loss, [w, first], stop_gradients=[first])


@snippet
def options_stop_at_source(tf: Any) -> Any:
    _, w, _, first, _, loss = net(tf)
    return tf.gradients(loss, [w, first], stop_gradients=[w])


@snippet
def options_several_targets(tf: Any) -> Any:
    _, w, _, _, second, loss = net(tf)
    return tf.gradients([loss, second, loss], [w], grad_ys=[None, tf.ones([2, 2]), 3.0])


@snippet
def options_unconnected(tf: Any) -> Any:
    sources = [tf.constant([1.0]), tf.Variable([1.0, 2.0], name="v"), tf.get_variable("r", [2], use_resource=True)]
    return tf.gradients(tf.constant(1.0) * 2.0, sources, unconnected_gradients="zero")


@snippet
def options_many_summed_one_by_one(tf: Any) -> Any:
    x = tf.constant([1.0, 2.0])
    return tf.gradients(tf.sin(x) + tf.cos(x) + x * x + tf.exp(x), x, aggregation_method=tf.AggregationMethod.EXPERIMENTAL_TREE)


@snippet
def options_rows(tf: Any) -> Any:
    w = table(tf)
    return tf.gradients(tf.reduce_sum(tf.gather(w, [0, 1])) + tf.reduce_sum(tf.gather(w, [1, 1])), w, aggregation_method=1)


@snippet
def options_rows_and_whole(tf: Any) -> Any:
    w = table(tf)
    return tf.gradients(tf.reduce_sum(tf.gather(w, [0, 1])) + tf.reduce_sum(w * w), w)


@snippet
def options_rows_gated(tf: Any) -> Any:
    w = table(tf)
    chosen = tf.placeholder_with_default([0, 1, 1], [None])
    return tf.train.AdamOptimizer(0.1).minimize(tf.reduce_sum(tf.nn.embedding_lookup(w, chosen)), gate_gradients=2)


@snippet(cpus=2)
def options_two_devices(tf: Any) -> Any:
    x = tf.constant([1.0, 2.0])
    parts = []
    for device in ("/cpu:0", "/cpu:1", "/cpu:0"):
        with tf.device(device):
            parts.append(tf.square(x))
    return tf.gradients(parts, x, colocate_gradients_with_ops=True)


@snippet
def refused_aggregation(tf: Any) -> Any:
    x = tf.constant(1.0)
    return tf.gradients(x * x, x, aggregation_method=7)
