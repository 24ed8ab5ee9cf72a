"""When a function is traced anew."""

import os

import numpy as np
import tensorflow as tf

@tf.function
def train_one_step():
    pass

@tf.function
def train(num_steps):
    print('Tracing with num_steps = ', num_steps)
    tf.print('Executing with num_steps = ', num_steps)
    for _ in tf.range(num_steps):
        train_one_step()
train(num_steps=10)
train(num_steps=20)
train(num_steps=tf.constant(10))
train(num_steps=tf.constant(20))
print(train.experimental_get_tracing_count())

@tf.function
def f(x):
    print('trace')
    return x
f(1)
f(2)
f(1)
f(True)
f(1.0)
f(None)
f('a')
f([1, 2])
f([1, 3])
f((1, 2))
f({'a': 1})
f(tf.constant([1, 2]))
f(tf.constant([1, 2, 3]))
f(tf.constant([[1]]))
f(np.array([1, 2]))
f(np.float32(1))
f(np.int32(3))
print(f.experimental_get_tracing_count())

@tf.function(reduce_retracing=True)
def r(x):
    print('trace', x.shape)
    return x
r(tf.ones([1]))
r(tf.ones([2]))
r(tf.ones([3]))
r(tf.ones([4, 1]))
r(tf.ones([5, 2]))
r(tf.ones([6, 3]))
print(r.experimental_get_tracing_count())

class Fruit:
    flavor = tf.constant([0.0])

class Apple(Fruit):
    flavor = tf.constant([1.0])

@tf.function
def get_flavor(x):
    print('tracing')
    return x.flavor + 1
a = Apple()
print(get_flavor(a))
print(get_flavor(a))
print(get_flavor(Apple()))
print(f.pretty_printed_concrete_signatures())
print(r.pretty_printed_concrete_signatures())
