"""Checkpoints of variables on several tasks."""

import os
import tempfile


def run(tf, cluster):
    with tf.device("/job:ps/task:0"):
        a = tf.get_variable("a", initializer=[1.0, 2.0])
    with tf.device("/job:ps/task:1"):
        b = tf.get_variable("b", initializer=3)
        c = tf.get_variable("c", [4, 2], initializer=tf.ones_initializer(), partitioner=tf.fixed_size_partitioner(2))
    step = tf.train.get_or_create_global_step()
    change = tf.group(a.assign([7.0, 8.0]), b.assign(9), tf.assign(step, 5))
    with tempfile.TemporaryDirectory() as folder:
        for sharded in (False, True):
            saver = tf.train.Saver(sharded=sharded)
            with tf.Session(cluster.target("worker", 0)) as sess:
                sess.run(tf.global_variables_initializer())
                sess.run(change)
                path = saver.save(sess, os.path.join(folder, "model"), global_step=step)
                print(os.path.basename(path))
                sess.run(tf.global_variables_initializer())
                print(sess.run([a, b, step]))
                saver.restore(sess, path)
                print(sess.run([a, b, step]))
            print(sorted((name, shape) for name, shape in tf.train.list_variables(path)))
            print(sorted(f for f in os.listdir(folder) if "data" in f))
            for f in os.listdir(folder):
                os.remove(os.path.join(folder, f))
        with tf.Session(cluster.target("worker", 0)) as sess:
            try:
                tf.train.Saver().restore(sess, os.path.join(folder, "nothing"))
            except Exception as e:
                print(type(e).__name__)
