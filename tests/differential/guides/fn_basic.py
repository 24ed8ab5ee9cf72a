"""Functions, their traces and signatures."""

import os

import numpy as np
import tensorflow as tf

@tf.function
def add(a, b):
    return a + b
print(add(tf.ones([2, 2]), tf.ones([2, 2])))
v = tf.Variable(1.0)
with tf.GradientTape() as tape:
    result = add(v, 1.0)
print(tape.gradient(result, v))

@tf.function
def double(a):
    print('Tracing with', a)
    return a + a
print(double(tf.constant(1)))
print()
print(double(tf.constant(1.1)))
print()
print(double(tf.constant('a')))
print()
print(double(tf.constant('b')))
print(double.pretty_printed_concrete_signatures())
dv = double.get_concrete_function(tf.constant('a'))
print(dv(tf.constant('a')))
print(dv(a=tf.constant('b')))
double_strings_from_inputspec = double.get_concrete_function(tf.TensorSpec(shape=[], dtype=tf.string))
print(double_strings_from_inputspec(tf.constant('c')))
print(dv)
print(dv.structured_input_signature)
print(dv.structured_outputs)
try:
    dv(tf.constant(1))
except Exception as e:
    print(type(e).__name__, e)

@tf.function
def pow(a, b):
    return a ** b
square = pow.get_concrete_function(a=tf.TensorSpec(None, tf.float32), b=2)
print(square)
print(square(tf.constant(10.0)))
try:
    square(tf.constant(10.0), b=3)
except Exception as e:
    print(type(e).__name__, e)
graph = dv.graph
for node in graph.as_graph_def().node:
    print(f'{node.input} -> {node.name}')
