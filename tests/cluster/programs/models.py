"""Models of several kinds, trained over tasks: convolution, batch norm, recurrent, dropout off."""

import numpy as np


def run(tf, cluster):
    rng = np.random.RandomState(1)
    images = rng.rand(4, 8, 8, 3).astype(np.float32)
    labels = np.array([0, 1, 2, 1])
    with tf.device(tf.train.replica_device_setter(cluster=cluster.spec, worker_device="/job:worker/task:1")):
        step = tf.train.get_or_create_global_step()
        x = tf.placeholder(tf.float32, [None, 8, 8, 3])
        y = tf.placeholder(tf.int64, [None])
        k = tf.get_variable("k", initializer=(np.arange(3 * 3 * 3 * 4).reshape(3, 3, 3, 4) % 7 / 10.0).astype(np.float32))
        h = tf.nn.relu(tf.nn.conv2d(x, k, strides=[1, 1, 1, 1], padding="SAME"))
        scale = tf.get_variable("scale", initializer=np.ones(4, np.float32))
        offset = tf.get_variable("offset", initializer=np.zeros(4, np.float32))
        h, mean, variance = tf.nn.fused_batch_norm(h, scale, offset)
        h = tf.nn.max_pool(h, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
        flat = tf.reshape(h, [-1, 64])
        w = tf.get_variable("dense", initializer=(np.arange(64 * 3).reshape(64, 3) % 5 / 50.0 - 0.04).astype(np.float32))
        logits = tf.matmul(flat, w)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
        rate = tf.train.exponential_decay(0.1, step, 3, 0.5, staircase=True)
        grads = tf.train.GradientDescentOptimizer(rate).compute_gradients(loss)
        clipped, norm = tf.clip_by_global_norm([g for g, _ in grads], 1.0)
        train = tf.train.GradientDescentOptimizer(rate).apply_gradients(zip(clipped, [v for _, v in grads]), global_step=step)
        accuracy, update = tf.metrics.accuracy(y, tf.argmax(logits, 1))
        summary = tf.summary.merge([tf.summary.scalar("loss", loss), tf.summary.histogram("w", w)])
    with tf.Session(cluster.target("worker", 0)) as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        for _ in range(6):
            values = sess.run([loss, norm, rate, train, update], {x: images, y: labels})
            print("%.3f %.3f %.3f" % tuple(values[:3]), "%.2f" % values[4])
        found = tf.Summary.FromString(sess.run(summary, {x: images, y: labels}))
        print([v.tag for v in found.value], sess.run(step), "%.2f" % sess.run(accuracy))
    del mean, variance
