"""Input pipelines: sources, maps, batches, windows, iterators, structures."""
import numpy as np
import tensorflow as tf

ds = tf.data.Dataset.from_tensor_slices({"a": [1, 2, 3, 4], "b": (["w", "x", "y", "z"], [0.1, 0.2, 0.3, 0.4])})
print(ds, ds.element_spec, len(ds), ds.cardinality())
for e in ds.take(2):
    print(e)
for e in ds.batch(3):
    print(e["a"], e["b"][0].numpy())
print(list(tf.data.Dataset.range(2, 20, 5).as_numpy_iterator()), list(tf.data.Dataset.range(5).skip(2).repeat(2).as_numpy_iterator()))


def gen():
    for i in range(3):
        yield i, [i] * i


ragged = tf.data.Dataset.from_generator(gen, output_signature=(tf.TensorSpec([], tf.int32), tf.TensorSpec([None], tf.int64)))
for n, row in ragged.padded_batch(2, padded_shapes=([], [None]), padding_values=(0, tf.constant(-1, tf.int64))):
    print(n.numpy(), row.numpy())
print([x.numpy().tolist() for x in tf.data.Dataset.range(7).batch(3, drop_remainder=True)])
print([[int(i) for i in w] for w in tf.data.Dataset.range(7).window(3, shift=2, drop_remainder=True)])
print([w.numpy().tolist() for w in tf.data.Dataset.range(6).window(3, 1, 1, True).flat_map(lambda w: w.batch(3))])
print(list(tf.data.Dataset.zip((tf.data.Dataset.range(3), tf.data.Dataset.range(5, 9))).as_numpy_iterator()))
print(list(tf.data.Dataset.range(3).concatenate(tf.data.Dataset.range(8, 10)).as_numpy_iterator()))
print(list(tf.data.Dataset.range(10).filter(lambda x: x % 3 == 1).map(lambda x: x * 10, num_parallel_calls=tf.data.AUTOTUNE).as_numpy_iterator()))
print(tf.data.Dataset.range(5).reduce(np.int64(0), lambda s, x: s + x), tf.data.Dataset.range(5).reduce((0.0, 0), lambda s, x: (s[0] + tf.cast(x, tf.float32), s[1] + 1)))
print(list(tf.data.Dataset.range(4).interleave(lambda x: tf.data.Dataset.from_tensors(x).repeat(3), cycle_length=2, block_length=2).as_numpy_iterator()))
print(list(tf.data.Dataset.range(5).enumerate(start=5).as_numpy_iterator()))
print(list(tf.data.Dataset.range(10).shard(3, 1).as_numpy_iterator()), list(tf.data.Dataset.range(5).scan(np.int64(0), lambda s, x: (s + x, s * x)).as_numpy_iterator()))
print(list(tf.data.Dataset.range(10).take_while(lambda x: x < 4).as_numpy_iterator()), list(tf.data.Dataset.from_tensor_slices([1, 2, 1, 3]).unique().as_numpy_iterator()))
print([x.numpy().tolist() for x in tf.data.Dataset.range(8).group_by_window(key_func=lambda x: x % 2, reduce_func=lambda k, d: d.batch(2), window_size=2)])
print([x.numpy().tolist() for x in tf.data.Dataset.from_tensor_slices([[1, 2], [3, 4]]).unbatch()], [x.numpy().tolist() for x in tf.data.Dataset.range(5).batch(2).rebatch(3)])
it = iter(tf.data.Dataset.range(2))
print(next(it), it.get_next(), it.element_spec)
try:
    it.get_next()
except tf.errors.OutOfRangeError as e:
    print(type(e).__name__, e)
try:
    next(it)
except StopIteration:
    print("stopped")
opt = iter(tf.data.Dataset.range(1)).get_next_as_optional()
print(opt.has_value(), opt.get_value())
calls = []


def double(x):
    calls.append(x)
    return x * 2


doubled = tf.data.Dataset.range(4).map(double)
print(list(doubled.as_numpy_iterator()), len(calls), calls[0].shape)
cached = doubled.cache()
print(list(cached.as_numpy_iterator()), list(cached.as_numpy_iterator()))
print(tf.data.Dataset.from_tensors([[1, 2], [3, 4]]), tf.data.Dataset.from_tensor_slices(np.ones([2, 3])).batch(2).element_spec)
print(tf.data.experimental.cardinality(tf.data.Dataset.range(3).repeat()), tf.data.Dataset.range(3).filter(lambda x: True).cardinality())
for bad in (lambda: tf.data.Dataset.from_tensor_slices(([1, 2], [1, 2, 3])), lambda: list(tf.data.Dataset.range(3).batch(0)), lambda: len(tf.data.Dataset.range(3).repeat()), lambda: tf.data.Dataset.from_tensor_slices(5), lambda: tf.data.Dataset.range(3).map(3)):
    try:
        print(bad())
    except Exception as e:
        print(type(e).__name__, e)


@tf.function
def total(ds):
    s = tf.constant(0, tf.int64)
    for x in ds:
        if x == 3:
            continue
        s += x
    return s


print(total(tf.data.Dataset.range(6)))
text = tf.data.Dataset.from_tensor_slices(["the cat", "sat on", "the mat"]).map(tf.strings.split).unbatch() if False else None
words = tf.data.Dataset.from_tensor_slices(["the cat", "sat on", "the mat"]).flat_map(lambda s: tf.data.Dataset.from_tensor_slices(tf.strings.split(s)))
print([w.numpy().decode() for w in words])
print([w.numpy().tolist() for w in tf.data.Dataset.from_tensor_slices(["a,1", "b,2"]).map(lambda s: tf.strings.split(s, ",")).batch(2)])
lengths = tf.data.Dataset.from_tensor_slices([1, 4, 2, 6, 3]).map(lambda n: tf.ones([n], tf.int32))
for batch in lengths.bucket_by_sequence_length(lambda e: tf.shape(e)[0], bucket_boundaries=[3, 5], bucket_batch_sizes=[2, 2, 2]):
    print(batch.shape)
for a, b in tf.data.Dataset.zip((tf.data.Dataset.range(3), tf.data.Dataset.from_tensor_slices(["p", "q", "r"]))).shuffle(3, seed=5).batch(2).prefetch(1):
    print(a, b)
print(next(iter(tf.data.Dataset.from_tensor_slices(tf.ragged.constant([[1], [2, 3]])))), tf.data.Dataset.from_tensor_slices(tf.ragged.constant([[1], [2, 3]])).element_spec)
print([x.numpy() for x in tf.data.Dataset.counter(start=3, step=2).take(3)], tf.data.Dataset.range(10).apply(lambda d: d.take(2)).cardinality().numpy())
