"""Branches and loops whose operations stand on several tasks."""

import numpy as np


def run(tf, cluster):
    devices = ["/job:worker/task:0", "/job:worker/task:1", "/job:ps/task:0"]

    def on(i, f, *args):
        with tf.device(devices[i]):
            return f(*args)

    n = tf.placeholder(tf.int32, [], name="n")
    fetches = {}
    a = on(0, lambda: tf.constant(2.0))
    b = on(1, lambda: tf.constant(5.0))
    fetches["cond"] = tf.cond(n > 2, lambda: on(1, tf.add, a, b), lambda: on(2, tf.multiply, a, b))
    fetches["case"] = tf.case([(n > 5, lambda: on(0, tf.negative, a)), (n > 2, lambda: on(1, tf.square, b))], default=lambda: on(2, tf.sqrt, a))
    fetches["nested"] = tf.cond(n > 1, lambda: tf.cond(on(1, tf.less, n, 4), lambda: on(1, tf.add, a, 1.0), lambda: on(2, tf.add, b, 2.0)), lambda: on(0, tf.add, a, 3.0))
    _, fetches["while"] = tf.while_loop(lambda i, x: i < n, lambda i, x: (i + 1, on(1, lambda: x * 2.0) + on(2, lambda: x)), [0, a])
    _, fetches["pinned variables"] = tf.while_loop(
        lambda i, x: on(0, tf.less, i, n), lambda i, x: (on(0, tf.add, i, 1), on(1, tf.add, x, b)), [on(0, tf.constant, 0), on(1, tf.identity, a)])

    def outer(i, x):
        _, y = tf.while_loop(lambda j, y: j < i, lambda j, y: (j + 1, on(1, lambda: y + 1.0)), [0, x])
        return i + 1, on(2, lambda: y * 1.5)

    _, fetches["nested while"] = tf.while_loop(lambda i, x: i < n, outer, [0, a])
    _, fetches["cond in while"] = tf.while_loop(
        lambda i, x: i < n, lambda i, x: (i + 1, tf.cond(on(2, tf.equal, i % 2, 0), lambda: on(1, tf.add, x, 1.0), lambda: on(0, tf.multiply, x, 2.0))), [0, a])
    with tf.device(devices[2]):
        w = tf.get_variable("w", initializer=1.5)
    _, powered = tf.while_loop(lambda i, x: i < n, lambda i, x: (i + 1, on(1, lambda: x * w)), [0, a])
    fetches["powered"] = powered
    fetches["gradient"] = tf.gradients(powered, [w, a])
    fetches["map_fn"] = tf.map_fn(lambda x: on(1, lambda: x * x), tf.range(4.0))
    fetches["scan"] = tf.scan(lambda c, x: on(2, lambda: c + x), tf.range(5.0))
    fetches["foldl"] = tf.foldl(lambda c, x: on(1, lambda: c * 2.0 + x), tf.range(5.0))
    steps = 4
    with tf.device(tf.train.replica_device_setter(cluster=cluster.spec, worker_device="/job:worker/task:1")):
        inputs = tf.constant(np.linspace(-1, 1, 24).reshape(2, 4, 3).astype(np.float32))
        with tf.variable_scope("rnn", initializer=tf.constant_initializer(0.1)):
            kernel = tf.get_variable("kernel", [6, 3])
            array = tf.TensorArray(tf.float32, steps).unstack(tf.transpose(inputs, [1, 0, 2]))
            outputs = tf.TensorArray(tf.float32, steps)
            _, state, outputs = tf.while_loop(
                lambda t, h, out: t < steps,
                lambda t, h, out: (lambda new: (t + 1, new, out.write(t, new)))(tf.tanh(tf.matmul(tf.concat([array.read(t), h], 1), kernel))),
                [0, tf.zeros([2, 3]), outputs])
            outputs = outputs.stack()
    fetches["rnn"] = state
    fetches["rnn gradient"] = tf.gradients(tf.reduce_sum(outputs), kernel)
    with tf.Session(cluster.target("worker", 0)) as sess:
        sess.run(tf.global_variables_initializer())
        for name, fetch in fetches.items():
            for value in (0, 3, 6):
                try:
                    got = sess.run(fetch, {n: value})
                    print(name, value, [np.round(g, 4).tolist() for g in got] if isinstance(got, list) else np.round(got, 4).tolist())
                except tf.errors.OpError as e:
                    print(name, value, type(e).__name__, e.message[:200])
