"""How tensors print."""

import os

import numpy as np
import tensorflow as tf

for d in [tf.float16, tf.bfloat16, tf.float32, tf.float64, tf.int8, tf.int16, tf.int32, tf.int64, tf.uint8, tf.uint16, tf.uint32, tf.uint64, tf.bool, tf.complex64, tf.complex128]:
    t = tf.cast([0, 1, 3], d)
    print(repr(t))
    print(t)
    print(repr(t[1]))
    print(t[1])
print(repr(tf.constant(['a', b'\xff', 'ü'])))
print(tf.constant('ü'))
print(repr(tf.constant([], tf.string)))
print(repr(tf.zeros([0, 3])))
print(tf.zeros([2, 0]))
print(repr(tf.constant(np.arange(2000))))
print(tf.constant(np.arange(2000).reshape(40, 50) / 7))
