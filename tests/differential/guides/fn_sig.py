"""Functions with an input signature."""

import os

import numpy as np
import tensorflow as tf

@tf.function(input_signature=(tf.TensorSpec(shape=[None], dtype=tf.int32),))
def next_collatz(x):
    print('Tracing with', x)
    return tf.where(x % 2 == 0, x // 2, 3 * x + 1)
print(next_collatz(tf.constant([1, 2])))
for bad in [lambda: next_collatz(tf.constant([[1, 2], [3, 4]])), lambda: next_collatz(tf.constant([1.0, 2.0])), lambda: next_collatz(), lambda: next_collatz(tf.constant([1]), 2), lambda: next_collatz(y=1), lambda: next_collatz('a')]:
    try:
        print(bad())
    except Exception as e:
        print(type(e).__name__, e)
print(next_collatz([1, 2, 3]))

@tf.function(input_signature=[tf.TensorSpec([None], tf.float32), tf.TensorSpec([], tf.float32)])
def g(x, y=2.0):
    return x * y
for bad in [lambda: g([1.0, 2.0]), lambda: g([1.0, 2.0], 3.0), lambda: g(tf.constant([1.0]), tf.constant(1)), lambda: g(x=[1.0], y=2.0)]:
    try:
        print(bad())
    except Exception as e:
        print(type(e).__name__, e)
try:

    @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
    def h(a, b):
        return a + b
    h(1.0, 2.0)
except Exception as e:
    print(type(e).__name__, e)
try:

    @tf.function(input_signature=[1])
    def h2(a):
        return a
    h2(1)
except Exception as e:
    print(type(e).__name__, e)
print(next_collatz.get_concrete_function())
print(next_collatz.input_signature)
print(next_collatz.function_spec if False else '')
