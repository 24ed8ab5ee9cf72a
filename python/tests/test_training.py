"""Gradients and descent in graph programs."""

import numpy as np

import emplace.compat.v1 as tf


def test_gradients_and_where_nothing_connects():
    with tf.Graph().as_default():
        x, y = tf.constant(3.0), tf.constant(4.0)
        grads = tf.gradients(x * y + tf.square(x), [x, y])
        assert tf.gradients(x * 2.0, [x, y])[1] is None
        with tf.Session() as sess:
            assert sess.run(grads) == [10.0, 3.0]


def test_descent_moves_as_by_hand():
    with tf.Graph().as_default():
        w = tf.Variable([[1.0], [2.0]])
        x = tf.placeholder(tf.float32, [None, 2])
        step = tf.train.get_or_create_global_step()
        train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_mean(tf.square(tf.matmul(x, w))), global_step=step)
        data = np.array([[1.0, 2.0], [3.0, -1.0]], np.float32)
        by_hand = np.array([[1.0], [2.0]], np.float32)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for _ in range(3):
                sess.run(train, {x: data})
                by_hand -= 0.1 * 2 / 2 * data.T @ (data @ by_hand)
            np.testing.assert_allclose(sess.run(w), by_hand, rtol=1e-5)
            assert sess.run(step) == 3
