"""Variables."""

import os

import numpy as np
import tensorflow as tf

my_tensor = tf.constant([[1.0, 2.0], [3.0, 4.0]])
my_variable = tf.Variable(my_tensor)
bool_variable = tf.Variable([False, False, False, True])
complex_variable = tf.Variable([5 + 4j, 6 + 1j])
print('Shape: ', my_variable.shape)
print('DType: ', my_variable.dtype)
print('As NumPy: ', my_variable.numpy())
print('A variable:', my_variable)
print('\nViewed as a tensor:', tf.convert_to_tensor(my_variable))
print('\nIndex of highest value:', tf.math.argmax(my_variable))
print('\nCopying and reshaping: ', tf.reshape(my_variable, [1, 4]))
a = tf.Variable([2.0, 3.0])
a.assign([1, 2])
print(a)
try:
    a.assign([1.0, 2.0, 3.0])
except Exception as e:
    print(f'{type(e).__name__}: {e}')
a = tf.Variable([2.0, 3.0])
b = tf.Variable(a)
a.assign([5, 6])
print(a.numpy())
print(b.numpy())
print(a.assign_add([2, 3]).numpy())
print(a.assign_sub([7, 9]).numpy())
a = tf.Variable(my_tensor, name='Mark')
b = tf.Variable(my_tensor + 1, name='Mark')
print(a == b)
step_counter = tf.Variable(1, trainable=False)
print(step_counter)
with tf.device('CPU:0'):
    a = tf.Variable([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    b = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    c = tf.matmul(a, b)
print(c)
print(a.device, c.device)
for e in ['tf.Variable()', "tf.Variable('a').assign(3)", 'tf.Variable([1,2]).assign([1.5,2])', "tf.Variable(1.).assign('x')", 'hash(tf.Variable(1))', 'tf.Variable(None)', 'tf.Variable(1, dtype=tf.string)', 'tf.Variable([1,2],shape=[3])', 'tf.Variable(1.).assign_add(tf.constant(1))', 'tf.Variable([1,2],shape=tf.TensorShape([None])).assign([1,2,3])', 'tf.Variable(tf.constant(1.),dtype=tf.int32)', 'bool(tf.Variable([1,2]))', 'iter(tf.Variable(1))', 'tf.Variable([1,2,3])[5]']:
    try:
        print(e, eval(e))
    except Exception as x:
        print(e, type(x).__name__, x)
