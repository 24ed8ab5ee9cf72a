import numpy as np

import emplace.compat.v1 as tf

features = np.array([[1.0, 1.0], [1.0, 2.0], [1.0, 3.0], [1.0, 4.0]], np.float32)
targets = np.array([[3.0], [5.0], [7.0], [9.0]], np.float32)

X = tf.placeholder(tf.float32, [None, 2], name="X")
y = tf.placeholder(tf.float32, [None, 1], name="y")
theta = tf.Variable(tf.zeros([2, 1]), name="theta")
error = tf.matmul(X, theta) - y
mse = tf.reduce_mean(tf.square(error), name="mse")
gradients = 2.0 / 4.0 * tf.matmul(X, error, transpose_a=True)
training_op = tf.assign(theta, theta - 0.1 * gradients)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for epoch in range(501):
        if epoch % 100 == 0:
            print(epoch, "%.5f" % sess.run(mse, {X: features, y: targets}))
        sess.run(training_op, {X: features, y: targets})
    print(np.round(theta.eval(), 3))
