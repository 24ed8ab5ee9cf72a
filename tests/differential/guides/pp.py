"""Signatures as they are printed."""

import os

import numpy as np
import tensorflow as tf

import collections
P = collections.namedtuple('P', 'x y')

@tf.function
def f(a, b=2, *args, c=3, **kw):
    return {'r': a, 'l': [a, (b,)]}
f(1)
f(tf.constant([1.0]), 's', (1, tf.constant(2)), c=[1, {'k': None}], d=P(1, tf.constant(2.0)), e=object)
f(1.5)
f(np.zeros([2]))
f(b'a')
f(tf.RaggedTensor.from_row_lengths([1, 2], [1, 1]))
f([])
f({})
print(f.pretty_printed_concrete_signatures())
v = tf.Variable([1.0, 2.0])

@tf.function
def g(x):
    return x * v
c = g.get_concrete_function(tf.TensorSpec([None], tf.float32, name='inp'))
print(c)
print(repr(c))
print(c.pretty_printed_signature())
print(c.structured_input_signature, c.structured_outputs)
print(c.output_dtypes, c.output_shapes)
print(c.variables)
print(c.function_type)

def t(fn):
    try:
        print(fn())
    except Exception as e:
        print(type(e).__name__, e)
t(lambda: c(tf.constant([1.0, 2.0])))
t(lambda: c([1.0, 2.0]))
t(lambda: c())
t(lambda: c(tf.constant([1.0]), 2))
t(lambda: c(x=tf.constant([1.0, 2.0])))
t(lambda: c(y=1))
t(lambda: c(tf.constant([[1.0]])))
t(lambda: c(inp=tf.constant([1.0, 2.0])))

@tf.function
def pw(a, b):
    return a ** b
s = pw.get_concrete_function(a=tf.TensorSpec(None, tf.float32), b=2)
t(lambda: s(tf.constant(3.0)))
t(lambda: s(tf.constant(3.0), 2))
t(lambda: s(tf.constant(3.0), b=3))
t(lambda: s(a=tf.constant(3.0)))
print(g.name, g.python_function.__name__, f.__name__)
t(lambda: g.get_concrete_function())
t(lambda: g.get_concrete_function(1, 2))
t(lambda: g())
t(lambda: g(1, 2))
t(lambda: g(y=1))
