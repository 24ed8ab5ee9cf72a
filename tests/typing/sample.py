"""A program as users write it, for the type checker."""

from __future__ import annotations

import numpy as np

import emplace.compat.v1 as tf


def make_layer(x: tf.Tensor, units: int, name: str) -> tf.Tensor:
    with tf.variable_scope(name):
        w = tf.get_variable("w", [4, units], initializer=tf.zeros_initializer())
        b = tf.get_variable("b", [units], initializer=tf.ones_initializer())
        result: tf.Tensor = tf.nn.relu(tf.matmul(x, w) + b, name="out")
    return result


def main() -> None:
    graph = tf.Graph()
    with graph.as_default(), tf.device("/cpu:0"):
        x = tf.placeholder(tf.float32, [None, 4], name="x")
        y = make_layer(x, 3, "layer")
        step = tf.Variable(0, trainable=False, name="step")
        count = tf.assign_add(step, 1)
        total: tf.Tensor = tf.reduce_sum(y)
    config = tf.ConfigProto(allow_soft_placement=True)
    with tf.Session(graph=graph, config=config) as sess:
        sess.run(graph.get_operation_by_name("layer/w/Assign"))
        sess.run([v.initializer for v in (step,)])
        try:
            sess.run(total, feed_dict={x: np.zeros((2, 4), np.float32)})
        except tf.errors.FailedPreconditionError as e:
            print(type(e).__name__, e.message.split(" ")[0])
        run = sess.make_callable(count)
        print(int(run()), int(run()))
    spec = tf.DeviceSpec(job="worker", task=1)
    print(spec.to_string(), total.op.type, total.dtype == np.float32)


if __name__ == "__main__":
    main()
