"""Mistakes with functions."""

import os

import numpy as np
import tensorflow as tf

x = None

@tf.function
def leak_function(a):
    global x
    x = a + 1
    return a + 2
correct_a = leak_function(tf.constant(1))
print(correct_a.numpy())
try:
    print(x + 1)
except Exception as e:
    print(type(e).__name__, str(e)[:200])

@tf.function
def f(x):
    v = tf.Variable(1.0)
    return v
try:
    f(1.0)
except ValueError as e:
    print(e)

class Count(tf.Module):

    def __init__(self):
        self.count = None

    @tf.function
    def __call__(self):
        if self.count is None:
            self.count = tf.Variable(0)
        return self.count.assign_add(1)
c = Count()
print(c())
print(c())

@tf.function
def recursive_fn(n):
    if n > 0:
        return recursive_fn(n - 1)
    else:
        return 1
try:
    recursive_fn(tf.constant(5))
except Exception as e:
    print(type(e).__name__)

@tf.function
def rp(n):
    if n > 0:
        print('tracing')
        return rp(n - 1)
    else:
        return 1
print(rp(5))
external_var = tf.Variable(0)

@tf.function
def buggy(it):
    external_var.assign_add(next(it))
    tf.print('Value of external_var:', external_var)
iterator = iter([0, 1, 2, 3])
buggy(iterator)
buggy(iterator)

@tf.function
def side(x):
    print('Traced with', x)
    tf.print('Executed with', x)
side(1)
side(1)
side(2)

@tf.function
def nums(x):
    return (x, [x + 1, {'a': x * 2}], None, 3, 'str')
print(nums(tf.constant(1)))

@tf.function
def kw(a, *args, b=2, **kwargs):
    return (a, args, b, kwargs)
print(kw(1, 2, 3, b=4, c=5))
tf.config.run_functions_eagerly(True)
print(side(1))
tf.config.run_functions_eagerly(False)
try:
    tf.function(lambda: 1 / 0)()
except Exception as e:
    print(type(e).__name__, e)

@tf.function
def bad(x):
    return tf.matmul(x, x)
try:
    bad(tf.ones([2, 3]))
except Exception as e:
    print(type(e).__name__, str(e)[:700])

@tf.function
def badrun(x):
    return tf.gather([1, 2, 3], x)
try:
    badrun(tf.constant(7))
except Exception as e:
    print(type(e).__name__, str(e).split('\n')[0][:200])
print(tf.function(lambda x: x + 1)(2))
print(tf.function(lambda: None)())

@tf.function
def outer(x):

    @tf.function
    def inner(y):
        return y * 2
    return inner(x) + 1
print(outer(3))
