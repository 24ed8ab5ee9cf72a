"""Random numbers."""

import os

import numpy as np
import tensorflow as tf

tf.random.set_seed(1)
print(tf.random.uniform([2]))
print(tf.random.normal([2]))
print(tf.random.uniform([3], maxval=10, dtype=tf.int32))
print(tf.random.shuffle([1, 2, 3, 4]))
print(tf.random.truncated_normal([2]))
print(tf.random.categorical([[1.0, 2.0]], 3))
print(tf.random.gamma([2], 1.0))
print(tf.random.poisson([2], 3.0))
tf.random.set_seed(1)
print(tf.random.uniform([2], seed=5))
print(tf.random.uniform([2], seed=5))
print(tf.random.stateless_uniform([2], [1, 2]))
print(tf.random.stateless_normal([2], [1, 2]))
print(tf.random.stateless_uniform([2], [1, 2], 0, 10, tf.int32))
print(tf.random.stateless_truncated_normal([2], [1, 2]))
print(tf.random.stateless_categorical([[1.0, 2.0]], 3, [1, 2]))
g = tf.random.Generator.from_seed(1)
print(g.normal([3]))
print(g.uniform([2]))
print(g.state)
print(g.algorithm)
print(g.key)
g2 = g.split(2)
print(len(g2), g2[0].normal([1]))
print(g.make_seeds(2))
g.reset_from_seed(3)
print(g.normal([1]))
g.skip(3)
print(g.uniform([1], maxval=5, dtype=tf.int32))
print(g.truncated_normal([2]))
print(g.uniform_full_int([1]))
g = tf.random.Generator.from_state([1, 2, 3], alg='philox')
print(g.normal([1]))
g = tf.random.Generator.from_key_counter(1, [0, 0], 'philox')
print(g.normal([1]))
tf.random.set_global_generator(tf.random.Generator.from_seed(7))
print(tf.random.get_global_generator().normal([1]))
print(tf.random.create_rng_state(1, 'philox'))
print(tf.random.split([1, 2], 2))
print(tf.random.fold_in([1, 2], 3))
print(tf.random.Algorithm.PHILOX if hasattr(tf.random, 'Algorithm') else '')

@tf.function
def f():
    return g.normal([1])
print(f(), f())
print(tf.random.stateless_gamma([2], [1, 2], alpha=[1.0, 2.0]))
tf.random.set_seed(3)

@tf.function
def h():
    return (tf.random.uniform([1]), tf.random.normal([1], seed=2))
print(h(), h())
