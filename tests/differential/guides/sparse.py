"""Sparse tensors."""

import os

import numpy as np
import tensorflow as tf

st1 = tf.sparse.SparseTensor(indices=[[0, 3], [2, 4]], values=[10, 20], dense_shape=[3, 10])
print(st1)
st3 = tf.sparse.from_dense([[1, 0, 0, 8], [0, 0, 0, 0], [0, 0, 3, 0]])
print(st3)
print(tf.sparse.to_dense(st3))
print(tf.sparse.add(st3, st3))
print(tf.sparse.sparse_dense_matmul(tf.cast(st3, tf.float32), tf.ones([4, 2])) if False else '')
mma = tf.sparse.SparseTensor(indices=[[0, 1], [1, 0], [1, 1]], values=[1.0, 1.0, 1.0], dense_shape=[2, 2])
print(tf.sparse.sparse_dense_matmul(mma, tf.constant([[1.0, 2.0], [3.0, 4.0]])))
a = tf.sparse.SparseTensor([[0, 2], [3, 4], [5, 6]], [1, 2, 3], [8, 5] if False else [8, 8])
b = tf.sparse.SparseTensor([[0, 2], [3, 0], [5, 0]], [4, 5, 6], [8, 4])
print(tf.sparse.concat(axis=1, sp_inputs=[a, b]).shape)
print(tf.sparse.slice(a, [2, 2], [4, 4]))
print(tf.sparse.map_values(tf.add, a, 5))
print(tf.sparse.reduce_sum(a))
print(tf.sparse.reduce_sum(a, axis=1))
print(tf.sparse.transpose(a).indices)
print(tf.sparse.reorder(tf.sparse.SparseTensor([[1, 0], [0, 1]], [1, 2], [2, 2])))
print(tf.sparse.reshape(mma, [4]))
print(tf.sparse.retain(mma, [True, False, True]))
print(tf.sparse.expand_dims(mma, 0).shape)
print(tf.sparse.eye(2))
print(tf.sparse.fill_empty_rows(a, 0)[1])
print(tf.sparse.maximum(mma, mma).values)
print(tf.sparse.softmax(mma).values)
print(tf.sparse.split(sp_input=mma, num_split=2, axis=1)[0])
print(tf.sparse.to_indicator(tf.sparse.SparseTensor([[0, 0], [1, 0]], [1, 2], [2, 1]), 3))
print(mma * 2, mma.dtype, mma.shape, mma.get_shape())
try:
    tf.sparse.SparseTensor([[0, 0]], [1, 2], [2, 2])
except Exception as e:
    print(type(e).__name__, e)
try:
    mma + 1
except Exception as e:
    print(type(e).__name__, e)
try:
    tf.add(mma, mma)
except Exception as e:
    print(type(e).__name__, str(e)[:100])
print(tf.abs(mma).values if False else '')
print(repr(mma))
print(mma.with_values([5.0, 6.0, 7.0]).values)
print(tf.sparse.segment_sum(tf.constant([[1.0, 2], [3, 4]]), [0, 1], [0, 0]))
print(tf.sparse.segment_mean(tf.constant([[1.0, 2], [3, 4]]), [0, 1], [0, 0]))
