"""Tapes that are asked for the impossible."""

import os

import numpy as np
import tensorflow as tf

x = tf.constant(3.0)

def t(f):
    try:
        print(f())
    except Exception as e:
        print(type(e).__name__, e)
with tf.GradientTape() as g:
    g.watch(x)
    y = x * x
print(g.gradient(y, x))
t(lambda: g.gradient(y, x))
with tf.GradientTape() as g:
    g.watch(x)
    y = x * x
    t(lambda: g.gradient(y, x))
g = tf.GradientTape()
t(lambda: g.watch(x))
t(lambda: g.gradient(y, x))
t(lambda: g.stop_recording().__enter__())
with tf.GradientTape() as g:
    t(lambda: g.watch('a'))
    t(lambda: g.watch(None))
    t(lambda: g.watch(3.0))
    t(lambda: g.watch([x, [x]]))
    t(lambda: g.watch({'a': x}))
with tf.GradientTape(persistent=True) as g:
    g.watch(x)
    y = x * x
    z = tf.stack([x, x * 2])
t(lambda: g.gradient(y, None))
t(lambda: g.gradient(None, x))
t(lambda: g.gradient(y, x, output_gradients=tf.constant([1.0, 2.0])))
t(lambda: g.gradient(y, 'a'))
t(lambda: g.gradient('a', x))
t(lambda: g.gradient(y, []))
t(lambda: g.gradient([], x))
t(lambda: g.gradient(y, x, unconnected_gradients='foo'))
t(lambda: g.jacobian(z, x))
t(lambda: g.batch_jacobian(z, x))
t(lambda: g.gradient(y, x, [1.0, 2.0]))
t(lambda: g.gradient(y, tf.Variable(1)))
g.reset() if False else None
with tf.GradientTape() as g:
    g.watch(x)
    y = x * x
    g.reset()
    g.watch(x)
    z = x * 3
t(lambda: g.gradient(z, x))
v = tf.Variable(1.0, trainable=False)
with tf.GradientTape(watch_accessed_variables=False) as g:
    y = v * 2
t(lambda: g.gradient(y, v))

@tf.custom_gradient
def f(x):

    def grad(dy):
        return (dy, dy)
    return (x, grad)
with tf.GradientTape() as g:
    g.watch(x)
    y = f(x)
t(lambda: g.gradient(y, x))
