"""Specs, shapes, dtypes, nests and what Python does with tensors."""

import os

import numpy as np
import tensorflow as tf

s = tf.TensorSpec([None, 2], tf.float32, name='x')
print(s, s.shape, s.dtype, s.name, s.is_compatible_with(tf.zeros([3, 2])), s == tf.TensorSpec([None, 2]), tf.TensorSpec.from_tensor(tf.constant(1)), tf.RaggedTensorSpec([2, None]), tf.SparseTensorSpec([2]))
print(tf.TensorShape([1, None, 3]), repr(tf.TensorShape([1, None])), tf.TensorShape(None), tf.TensorShape([1, 2])[1], tf.TensorShape([2, 3]).num_elements(), tf.TensorShape([None]).is_fully_defined(), tf.TensorShape([1, 2]) == [1, 2], tf.TensorShape([1]).concatenate([2]), tf.TensorShape([None, 2]).merge_with([3, None]), tf.TensorShape([1, 2]).rank, len(tf.TensorShape([1, 2])), list(tf.TensorShape([1, 2])), tf.TensorShape([4, 5])[1:], 2 * [tf.TensorShape([])])
for f in [lambda: tf.TensorShape([1]).merge_with([2]), lambda: tf.TensorShape([1, 2]).assert_is_compatible_with([1]), lambda: len(tf.TensorShape(None)), lambda: tf.TensorShape([-1]), lambda: tf.TensorShape(None).as_list(), lambda: tf.TensorShape([1])[3], lambda: tf.TensorShape([1.5]), lambda: tf.TensorShape(None)[0], lambda: tf.TensorShape([1]).with_rank(2)]:
    try:
        print(f())
    except Exception as e:
        print(type(e).__name__, e)
print(tf.float32, repr(tf.float32), tf.float32.name, tf.float32.as_numpy_dtype, tf.float32.size, tf.int8.min, tf.int8.max, tf.float32.is_floating, tf.as_dtype('float32') == tf.float32, tf.float32 == np.float32, tf.bfloat16, tf.string, tf.dtypes.as_dtype(np.bool_), tf.float16.limits, tf.complex64.real_dtype, hash(tf.int32) == hash(tf.int32), tf.int32 in [tf.int32], tf.dtypes.float32 is tf.float32)
print(tf.nest.flatten({'b': [1, 2], 'a': (3,)}), tf.nest.map_structure(lambda x: x * 2, {'a': [1, (2,)]}), tf.nest.pack_sequence_as([1, [2]], [5, 6]), tf.nest.is_nested([1]))
for f in [lambda: tf.nest.pack_sequence_as([1, [2]], [5]), lambda: tf.nest.assert_same_structure([1], [1, 2]), lambda: tf.nest.map_structure(lambda a, b: a, [1], {'a': 1}), lambda: tf.nest.assert_same_structure({'a': 1}, {'b': 1})]:
    try:
        print(f())
    except Exception as e:
        print(type(e).__name__, str(e)[:300])
a = tf.constant([1.0, 2.0])
b = a
print(a is b, a.ref() == b.ref(), a.ref() in {b.ref()}, a == b, (a == b).numpy().all(), tf.reduce_all(a == b))
print(f'{tf.constant(3.14159):.2f}', '%d' % tf.constant(3), '{}'.format(tf.constant([1, 2])), str(tf.constant('s')), int(tf.constant(3)), float(tf.constant(2)), bool(tf.constant(0)), complex(tf.constant(1.0)), tf.constant(3).__index__(), [10, 20, 30][tf.constant(1)], list(range(tf.constant(3))), tf.constant(5) // 2, 5 - tf.constant(2), 2 ** tf.constant(3), divmod(7, 3), -tf.constant(1), abs(tf.constant(-1)), ~tf.constant(True), tf.constant(True) & False, tf.constant(6) ^ 3, tf.constant(7) % 4, 1 / tf.constant(2), tf.constant([1, 2]) @ tf.constant([[1], [2]]) if False else '')
import pickle, copy
t = tf.constant([1, 2])
print(pickle.loads(pickle.dumps(t)), copy.deepcopy(t), copy.copy(t))
v = tf.Variable([1.0])
w = copy.deepcopy(v)
w.assign([5.0])
print(v, w)
x = np.array([[1, 2], [3, 4]], np.float32)
t = tf.constant(x)
x[0, 0] = 9
print(t)
n = t.numpy()
print(np.add(t, 1), np.sum(t), np.mean(tf.constant([1, 2])), np.array(t).dtype, t.numpy() is t.numpy(), np.asarray(tf.Variable([1, 2])), x @ t, t @ x, x + t, t + x, np.float32(2) * t, t * np.float32(2), np.concatenate([t, t]).shape, isinstance(t, tf.Tensor), tf.is_tensor(t), tf.is_tensor(x), tf.rank(x), tf.shape(x), tf.size(x))
print(tf.unstack(t), [r for r in t], [i.numpy() for i in tf.range(3)], dict(zip('ab', t)), max(tf.constant([1, 3, 2])), sorted(tf.constant([3, 1]).numpy()), sum(tf.constant([1, 2])), any(tf.constant([False, True])), tf.constant([1, 2]) in [tf.constant([1, 2])] if False else '', 2 in tf.constant([1, 2]) if False else '')
try:
    2 in tf.constant([1, 2])
    print('in ok')
except Exception as e:
    print(type(e).__name__, e)
try:
    if tf.constant([1, 2]):
        pass
except Exception as e:
    print(type(e).__name__, e)
try:
    t[0] = 1
except Exception as e:
    print(type(e).__name__, e)
try:
    t[0, 0].assign(1)
except Exception as e:
    print(type(e).__name__, str(e)[:60])
try:
    {t: 1}
except Exception as e:
    print(type(e).__name__, e)
try:
    tf.constant(1).shape = 2
except Exception as e:
    print(type(e).__name__, str(e)[:80])
print(tf.version.VERSION[:2] if hasattr(tf, 'version') else '', tf.__version__[:1] if False else '')
print(tf.executing_eagerly(), tf.inside_function(), tf.function(lambda: tf.constant(tf.executing_eagerly()))(), tf.function(lambda: tf.constant(tf.inside_function()))())
