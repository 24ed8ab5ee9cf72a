import numpy as np

import emplace.compat.v1 as tf

rng = np.random.RandomState(0)
inputs = rng.rand(16, 3).astype(np.float32)
labels = inputs @ np.array([[1.0], [-2.0], [0.5]], np.float32) + 0.25

x = tf.placeholder(tf.float32, [None, 3], name="x")
y = tf.placeholder(tf.float32, [None, 1], name="y")
with tf.variable_scope("model"):
    w = tf.get_variable("w", [3, 1], initializer=tf.zeros_initializer())
    b = tf.get_variable("b", [1], initializer=tf.zeros_initializer())
loss = tf.reduce_mean(tf.squared_difference(tf.matmul(x, w) + b, y))
step = tf.train.get_or_create_global_step()
for name, optimizer in (
    ("sgd", tf.train.GradientDescentOptimizer(0.5)),
    ("momentum", tf.train.MomentumOptimizer(0.1, 0.9)),
    ("adam", tf.train.AdamOptimizer(0.1)),
):
    train = optimizer.minimize(loss, global_step=step)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(300):
            sess.run(train, {x: inputs, y: labels})
        print(
            name,
            sess.run(step),
            np.round(w.eval().ravel(), 2),
            np.round(b.eval(), 2),
            sess.run(loss, {x: inputs, y: labels}) < 1e-2,
        )
gradient = tf.gradients(loss, [w, b])
print([g.name for g in gradient], [g.shape for g in gradient])
