"""Tapes in tapes, custom gradients, Jacobians."""

import os

import numpy as np
import tensorflow as tf

x = tf.Variable(2.0)
y = tf.Variable(3.0)
with tf.GradientTape() as t:
    x_sq = x * x
    with t.stop_recording():
        y_sq = y * y
    z = x_sq + y_sq
grad = t.gradient(z, {'x': x, 'y': y})
print('dz/dx:', grad['x'])
print('dz/dy:', grad['y'])

@tf.custom_gradient
def clip_gradients(y):

    def backward(dy):
        return tf.clip_by_norm(dy, 0.5)
    return (y, backward)
v = tf.Variable(2.0)
with tf.GradientTape() as t:
    output = clip_gradients(v * v)
print(t.gradient(output, v))
x0 = tf.constant(0.0)
x1 = tf.constant(0.0)
with tf.GradientTape() as tape0, tf.GradientTape() as tape1:
    tape0.watch(x0)
    tape1.watch(x1)
    y0 = tf.math.sin(x0)
    y1 = tf.nn.sigmoid(x1)
    y = y0 + y1
    ys = tf.reduce_sum(y)
print(tape0.gradient(ys, x0).numpy(), tape1.gradient(ys, x1).numpy())
x = tf.Variable(1.0)
with tf.GradientTape() as t2:
    with tf.GradientTape() as t1:
        y = x * x * x
    dy_dx = t1.gradient(y, x)
print(dy_dx.numpy(), t2.gradient(dy_dx, x).numpy())
x = tf.linspace(-10.0, 10.0, 5)
delta = tf.Variable(0.0)
with tf.GradientTape() as tape:
    y = tf.nn.sigmoid(x + delta)
print(tape.jacobian(y, delta))
x = tf.random.stateless_normal([7, 5], [1, 2])
w = tf.Variable(tf.random.stateless_normal([5, 10], [3, 4]))
with tf.GradientTape(persistent=True) as tape:
    y = tf.nn.relu(x @ w)
    tape.watch(x)
print(tape.jacobian(y, w).shape)
with tf.GradientTape(persistent=True) as tape:
    tape.watch(x)
    y = tf.nn.relu(x @ w)
print(tape.batch_jacobian(y, x).shape)
x1 = tf.Variable(2.0)

@tf.function
def h(v):
    with tf.GradientTape() as t2:
        with tf.GradientTape() as t1:
            y = v ** 3
        g = t1.gradient(y, v)
    return t2.gradient(g, v)
print(h(x1))
with tf.autodiff.ForwardAccumulator(x1, tf.constant(1.0)) as acc:
    y = x1 ** 2 * tf.sin(x1)
print(acc.jvp(y))
with tf.autodiff.ForwardAccumulator(x1, tf.constant(1.0)) as acc:
    with tf.GradientTape() as t:
        y = x1 ** 4
    g = t.gradient(y, x1)
print(acc.jvp(g))
