"""Every optimizer of version 1 with variables on two parameter servers."""

import numpy as np


def run(tf, cluster):
    makers = {
        "sgd": lambda: tf.train.GradientDescentOptimizer(0.01), "momentum": lambda: tf.train.MomentumOptimizer(0.001, 0.9, use_nesterov=True),
        "adam": lambda: tf.train.AdamOptimizer(0.1), "adagrad": lambda: tf.train.AdagradOptimizer(0.1), "adadelta": lambda: tf.train.AdadeltaOptimizer(1.0),
        "rmsprop": lambda: tf.train.RMSPropOptimizer(0.1, momentum=0.5), "ftrl": lambda: tf.train.FtrlOptimizer(0.1),
    }
    for name, maker in makers.items():
        for resource in (False, True):
            with tf.Graph().as_default():
                with tf.device(tf.train.replica_device_setter(cluster=cluster.spec, worker_device="/job:worker/task:1")):
                    step = tf.train.get_or_create_global_step()
                    with tf.variable_scope(f"{name}_{resource}", use_resource=resource):
                        w = tf.get_variable("w", initializer=np.linspace(-1, 1, 6).reshape(3, 2).astype(np.float32))
                        e = tf.get_variable("e", initializer=np.linspace(-2, 2, 8).reshape(4, 2).astype(np.float32))
                    rate_free = maker()
                    loss = tf.reduce_sum(tf.square(tf.matmul(tf.gather(e, [0, 2, 2]), w, transpose_b=True) - 1.0))
                    average = tf.train.ExponentialMovingAverage(0.5, step)
                    train = rate_free.minimize(loss, global_step=step)
                    with tf.control_dependencies([train]):
                        train = average.apply([w])
                with tf.Session(cluster.target("worker", 0)) as sess:
                    sess.run(tf.global_variables_initializer())
                    for _ in range(4):
                        sess.run(train)
                    print(name, resource, "%.3f" % sess.run(loss), np.round(sess.run([w, e, average.average(w)])[2].ravel(), 3).tolist(), sess.run(step))
                    print("  ", sorted({v.device for v in tf.global_variables()}))
