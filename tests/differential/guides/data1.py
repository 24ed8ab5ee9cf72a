"""Datasets."""

import os

import numpy as np
import tensorflow as tf

dataset = tf.data.Dataset.from_tensor_slices([8, 3, 0, 8, 2, 1])
print(dataset)
for elem in dataset:
    print(elem.numpy())
it = iter(dataset)
print(next(it).numpy())
print(dataset.reduce(0, lambda state, value: state + value).numpy())
d1 = tf.data.Dataset.from_tensor_slices(tf.ones([4, 10]))
print(d1.element_spec)
d2 = tf.data.Dataset.from_tensor_slices((tf.ones([4]), tf.ones([4, 100], dtype=tf.int32)))
print(d2.element_spec)
d3 = tf.data.Dataset.zip((d1, d2))
print(d3.element_spec)
print(d3)
d4 = tf.data.Dataset.from_tensors(tf.SparseTensor(indices=[[0, 0], [1, 2]], values=[1, 2], dense_shape=[3, 4]))
print(d4.element_spec, d4.element_spec.value_type.__name__)

def count(stop):
    i = 0
    while i < stop:
        yield i
        i += 1
ds_counter = tf.data.Dataset.from_generator(count, args=[25], output_types=tf.int32, output_shapes=())
for b in ds_counter.repeat().batch(10).take(3):
    print(b.numpy())

def gen_series():
    i = 0
    while True:
        yield (i, np.ones((i % 4,)) * i)
        i += 1
ds_series = tf.data.Dataset.from_generator(gen_series, output_types=(tf.int32, tf.float32), output_shapes=((), (None,)))
print(ds_series)
for ids, seq in ds_series.padded_batch(4).take(2):
    print(ids.numpy(), seq.numpy())
ds = tf.data.Dataset.range(10)
print(list(ds.filter(lambda x: x % 3 == 0).as_numpy_iterator()), list(ds.skip(7).as_numpy_iterator()), list(ds.take(2).as_numpy_iterator()), list(ds.shard(3, 1).as_numpy_iterator()), list(ds.batch(4, drop_remainder=True).as_numpy_iterator()), list(ds.batch(3).unbatch().as_numpy_iterator()), list(ds.concatenate(ds.take(1)).as_numpy_iterator()), list(ds.enumerate(5).take(2).as_numpy_iterator()), list(ds.window(3).flat_map(lambda w: w.batch(3)).as_numpy_iterator()), list(ds.map(lambda x: (x, x * 2)).take(2).as_numpy_iterator()), list(ds.flat_map(lambda x: tf.data.Dataset.from_tensors(x).repeat(x)).take(5).as_numpy_iterator()), list(ds.interleave(lambda x: tf.data.Dataset.from_tensors(x).repeat(2), cycle_length=2, block_length=1).take(6).as_numpy_iterator()), list(ds.take_while(lambda x: x < 3).as_numpy_iterator()), list(ds.scan(tf.constant(0, tf.int64), lambda s, x: (s + x, s + x)).as_numpy_iterator()), list(ds.cache().prefetch(2).take(1).as_numpy_iterator()), list(tf.data.Dataset.from_tensor_slices([1, 1, 2]).unique().as_numpy_iterator()), ds.cardinality(), len(ds), ds.batch(3).cardinality(), ds.filter(lambda x: True).cardinality(), ds.repeat().cardinality())
try:
    len(ds.repeat())
except Exception as e:
    print(type(e).__name__, e)
try:
    len(ds.filter(lambda x: x > 1))
except Exception as e:
    print(type(e).__name__, e)
print(ds.shuffle(5).element_spec, sorted(ds.shuffle(5).as_numpy_iterator()) == list(range(10)))
print(ds.batch(2), ds.map(lambda x: {'a': x, 'b': [x, x]}), ds.padded_batch(2, []))
print(list(tf.data.Dataset.sample_from_datasets([ds.take(2)], weights=[1.0]).as_numpy_iterator()), list(tf.data.Dataset.choose_from_datasets([ds.take(2), ds.skip(8)], tf.data.Dataset.range(2).repeat(2)).as_numpy_iterator()))
print(ds.get_single_element() if False else tf.data.Dataset.from_tensors(5).get_single_element())
print(list(ds.bucket_by_sequence_length(lambda x: tf.cast(x, tf.int32) + 1, [5], [2, 2]).take(1).as_numpy_iterator()) if False else '')
print(list(ds.group_by_window(lambda x: x % 2, lambda k, w: w.batch(5), 5).as_numpy_iterator()))
print(ds.apply(lambda d: d.take(1)).element_spec)
print(list(ds.ragged_batch(3).take(1))[0] if hasattr(ds, 'ragged_batch') else '')
print(list(ds.rebatch(4).as_numpy_iterator()) if False else '')
print(list(ds.batch(4).rebatch(3).as_numpy_iterator()))
print(ds.options().deterministic)
print(list(ds.with_options(tf.data.Options()).take(1)))
for f in [lambda: tf.data.Dataset.from_tensor_slices(5), lambda: tf.data.Dataset.from_tensor_slices(([1, 2], [1])), lambda: tf.data.Dataset.from_tensor_slices([[1, 2], [3]]), lambda: ds.batch(0), lambda: list(ds.batch(0)), lambda: ds.map(3), lambda: ds.take('a'), lambda: ds.filter(lambda x: x), lambda: ds.concatenate(tf.data.Dataset.from_tensors('a')), lambda: tf.data.Dataset.zip(3), lambda: next(iter(ds.take(0))), lambda: ds.take(0).get_single_element(), lambda: ds.get_single_element(), lambda: ds.shuffle(0), lambda: ds.reduce(0, lambda s, x: 'a'), lambda: ds.window(0), lambda: ds.shard(2, 5)]:
    try:
        print(f())
    except Exception as e:
        print(type(e).__name__, str(e).split('\n')[0][:200])
