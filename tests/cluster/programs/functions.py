"""Functions called from, and with bodies on, several tasks."""

import numpy as np


def run(tf, cluster):
    with tf.device("/job:ps/task:0"):
        v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=True)

    @tf.function
    def double(x):
        return x * 2.0

    @tf.function
    def spread(x):
        with tf.device("/job:worker/task:1"):
            y = x + 1.0
        with tf.device("/job:ps/task:1"):
            return y * 3.0, tf.reduce_sum(y)

    @tf.function
    def loops(n):
        total = tf.constant(0.0)
        while total < n:
            total += 1.5
        return total

    @tf.function
    def branches(x):
        if tf.reduce_sum(x) > 0:
            return x
        else:
            return -x

    with tf.device("/job:worker/task:1"):
        fetches = {"double": double(tf.constant([1.0, 2.0])), "loops": loops(tf.constant(7.0)), "branches": branches(tf.constant([-1.0, -2.0]))}
    with tf.device("/job:worker/task:0"):
        fetches["spread"] = spread(tf.constant([1.0, 2.0]))
    read = v.read_value()
    fetches["spread of variable"] = spread(read)
    with tf.device("/job:worker/task:1"):
        fetches["functional while"] = tf.while_loop(lambda i: i < 5, lambda i: i + 2, [tf.constant(0)])
    with tf.Session(cluster.target("worker", 0)) as sess:
        sess.run(tf.global_variables_initializer())
        for name, fetch in fetches.items():
            try:
                got = sess.run(fetch)
                print(name, [np.asarray(g).tolist() for g in got] if isinstance(got, (list, tuple)) else np.asarray(got).tolist())
            except tf.errors.OpError as e:
                print(name, type(e).__name__, e.message[:300])
