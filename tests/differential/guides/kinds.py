"""What functions take: hints, methods, ragged and sparse tensors, datasets."""

import os

import numpy as np
import tensorflow as tf

@tf.function(experimental_follow_type_hints=True)
def f(x: tf.Tensor):
    print('trace')
    return x
print(f(1), f(2))

@tf.function
def g(x: tf.Tensor):
    print('trace g')
    return x
g(1)
g(2)

@tf.function(jit_compile=True)
def h(x):
    return x + 1
print(h(1))

@tf.function(autograph=False)
def k(x):
    return tf.cond(x > 0, lambda: x, lambda: -x)
print(k(tf.constant(-2)))

@tf.function(autograph=False)
def k2(x):
    if x > 0:
        return x
    return -x
try:
    k2(tf.constant(1))
except Exception as e:
    print(type(e).__name__, e)

class M:

    @tf.function
    def m(self, x):
        print('trace m')
        return x
a, b = (M(), M())
a.m(1)
a.m(1)
b.m(1)
print(a.m(tf.constant(2)))
import functools
p = tf.function(functools.partial(lambda x, y: x + y, 1))
print(p(2))
print(tf.function(tf.matmul)([[1.0]], [[2.0]]))
f2 = tf.function(lambda x: x * 2)
print(f2(3), f2.get_concrete_function(3)())
print(tf.autograph.to_code(lambda x: x)[:10] if False else '')

@tf.autograph.experimental.do_not_convert
def nc(x):
    return x + 1
print(tf.function(nc)(1))

@tf.function
def tw(x):
    y = tf.ones([1])
    for i in tf.range(3):
        tf.autograph.experimental.set_loop_options(shape_invariants=[(y, tf.TensorShape([None]))])
        y = tf.concat([y, y], 0)
    return y
print(tw(1))

@tf.function
def rag(rt):
    print('trace')
    return (tf.reduce_sum(rt, axis=1), rt + 1)
print(rag(tf.ragged.constant([[1, 2], [3]])))
print(rag(tf.ragged.constant([[1], [3, 4]])))

@tf.function
def sp(s):
    return (tf.sparse.to_dense(s), s)
print(sp(tf.sparse.from_dense([0, 1])))

@tf.function
def dsf(ds):
    s = tf.constant(0, tf.int64)
    for v in ds:
        s += v
    return s
print(dsf(tf.data.Dataset.range(5)))

@tf.function
def itf(it):
    return next(it) + 1
it = iter(tf.data.Dataset.range(5))
print(itf(it), itf(it))

@tf.function
def va(v, x):
    print('trace va')
    return v.assign_add(x)
v1, v2 = (tf.Variable(1.0), tf.Variable(10.0))
print(va(v1, 1.0))
with tf.GradientTape() as t:
    y = tf.function(lambda v: v * v)(v1)
print(t.gradient(y, v1))
