"""Towers on two tasks in one graph, their gradients averaged on the parameter server."""

import numpy as np


def run(tf, cluster):
    rng = np.random.RandomState(0)
    data = rng.rand(2, 8, 5).astype(np.float32)
    labels = data.sum(-1, keepdims=True)
    grads, losses = [], []
    opt = tf.train.MomentumOptimizer(0.05, 0.9)
    for i in range(2):
        with tf.device(tf.train.replica_device_setter(cluster=cluster.spec, worker_device=f"/job:worker/task:{i}")):
            with tf.variable_scope("model", reuse=i > 0):
                w1 = tf.get_variable("w1", initializer=np.linspace(-0.5, 0.5, 20).reshape(5, 4).astype(np.float32))
                w2 = tf.get_variable("w2", initializer=np.linspace(-0.3, 0.4, 4).reshape(4, 1).astype(np.float32))
                hidden = tf.tanh(tf.matmul(tf.constant(data[i]), w1))
                loss = tf.reduce_mean(tf.squared_difference(tf.matmul(hidden, w2), labels[i]))
                losses.append(loss)
                grads.append(opt.compute_gradients(loss))
    with tf.device("/job:ps/task:0"):
        mean = [((a + b) / 2.0, v) for (a, v), (b, _) in zip(*grads)]
        total = tf.add_n(losses) / 2.0
    train = opt.apply_gradients(mean)
    for v in tf.global_variables():
        print(v.name, v.device)
    with tf.Session(cluster.target("worker", 0)) as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(20):
            _, value = sess.run([train, total])
        print("%.4f" % value)
        print(np.round(sess.run(tf.trainable_variables()[1]), 3).tolist())
