import numpy as np

import emplace.compat.v1 as tf

np.set_printoptions(precision=6)
tf.set_random_seed(42)
uniform = tf.random_uniform([3], seed=7)
normal = tf.random_normal([2, 2], mean=1.0, stddev=2.0, seed=8)
integers = tf.random_uniform([4], 0, 100, dtype=tf.int32, seed=9)
unseeded = tf.random_uniform([2])
truncated = tf.truncated_normal([3], seed=10)
with tf.Session() as sess:
    for _ in range(2):
        print(sess.run(uniform))
        print(sess.run(normal))
        print(sess.run(integers))
        print(sess.run(unseeded))
        print(sess.run(truncated))
with tf.Session() as sess:
    print(sess.run(uniform))
print(
    uniform.op.get_attr("seed"),
    uniform.op.get_attr("seed2"),
    unseeded.op.get_attr("seed"),
    unseeded.op.get_attr("seed2"),
)
with tf.Graph().as_default():
    plain = tf.random_uniform([2], seed=3)
    shuffled = tf.random_shuffle(tf.range(6), seed=1)
    with tf.Session() as sess:
        print(sess.run(plain), sess.run(shuffled))
