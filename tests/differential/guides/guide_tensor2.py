"""Dtypes, broadcasting, ragged and string tensors."""

import os

import numpy as np
import tensorflow as tf

the_f64_tensor = tf.constant([2.2, 3.3, 4.4], dtype=tf.float64)
the_f16_tensor = tf.cast(the_f64_tensor, dtype=tf.float16)
the_u8_tensor = tf.cast(the_f16_tensor, dtype=tf.uint8)
print(the_u8_tensor)
x = tf.constant([1, 2, 3])
y = tf.constant(2)
z = tf.constant([2, 2, 2])
print(tf.multiply(x, 2))
print(x * y)
print(x * z)
x = tf.reshape(x, [3, 1])
y = tf.range(1, 5)
print(x, '\n')
print(y, '\n')
print(tf.multiply(x, y))
print(tf.broadcast_to(tf.constant([1, 2, 3]), [3, 3]))
ragged_list = [[0, 1, 2, 3], [4, 5], [6, 7, 8], [9]]
try:
    tensor = tf.constant(ragged_list)
except Exception as e:
    print(f'{type(e).__name__}: {e}')
ragged_tensor = tf.ragged.constant(ragged_list)
print(ragged_tensor)
print(ragged_tensor.shape)
scalar_string_tensor = tf.constant('Gray wolf')
print(scalar_string_tensor)
tensor_of_strings = tf.constant(['Gray wolf', 'Quick brown fox', 'Lazy dog'])
print(tensor_of_strings)
print(tf.constant('🥳👍'))
print(tf.strings.split(scalar_string_tensor, sep=' '))
print(tf.strings.split(tensor_of_strings))
text = tf.constant('1 10 100')
print(tf.strings.to_number(tf.strings.split(text, ' ')))
byte_strings = tf.strings.bytes_split(tf.constant('Duck'))
byte_ints = tf.io.decode_raw(tf.constant('Duck'), tf.uint8)
print('Byte strings:', byte_strings)
print('Bytes:', byte_ints)
unicode_bytes = tf.constant('アヒル 🦆')
print(tf.strings.unicode_split(unicode_bytes, 'UTF-8'))
print(tf.strings.unicode_decode(unicode_bytes, 'UTF-8'))
print(unicode_bytes)
sparse_tensor = tf.sparse.SparseTensor(indices=[[0, 0], [1, 2]], values=[1, 2], dense_shape=[3, 4])
print(sparse_tensor, '\n')
print(tf.sparse.to_dense(sparse_tensor))
