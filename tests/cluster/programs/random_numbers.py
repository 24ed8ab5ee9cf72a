"""Seeded random operations on several tasks give what they give in one process."""

import numpy as np


def run(tf, cluster):
    tf.set_random_seed(7)
    fetches = []
    for i, device in enumerate(("/job:ps/task:0", "/job:worker/task:1", "/job:worker/task:0")):
        with tf.device(device):
            fetches += [tf.random_uniform([3], seed=i), tf.random_normal([2]), tf.random_shuffle([1, 2, 3, 4, 5], seed=4), tf.truncated_normal([2], seed=2), tf.multinomial([[1.0, 2.0, 3.0]], 4, seed=9)]
    with tf.device("/job:worker/task:1"):
        fetches.append(tf.nn.dropout(tf.ones([8]), 0.5, seed=1))
        fetches.append(tf.random.stateless_uniform([2], seed=[1, 2]))
    for _ in range(2):
        with tf.Session(cluster.target("worker", 0)) as sess:
            for _ in range(2):
                print([np.round(x, 5).tolist() for x in sess.run(fetches)])
