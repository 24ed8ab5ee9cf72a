import os
import pathlib
import tempfile
import numpy as np
import tensorflow as tf

# tf.data as the guide uses it, and what surrounds it.
np.set_printoptions(precision=4)
dataset = tf.data.Dataset.from_tensor_slices([8, 3, 0, 8, 2, 1])
print(dataset, [e.numpy() for e in dataset], next(iter(dataset)).numpy())
print(dataset.reduce(0, lambda state, value: state + value).numpy())
d1 = tf.data.Dataset.from_tensor_slices(tf.random.stateless_uniform([4, 10], [1, 1], 1, 10, tf.int32))
d2 = tf.data.Dataset.from_tensor_slices((tf.random.stateless_uniform([4], [2, 1]), tf.zeros([4, 100], tf.int32)))
d3 = tf.data.Dataset.zip((d1, d2))
print(d1.element_spec, d2.element_spec, d3.element_spec)
for a, (b, c) in d3:
    print("shapes: {a.shape}, {b.shape}, {c.shape}".format(a=a, b=b, c=c))
d4 = tf.data.Dataset.from_tensors(tf.SparseTensor(indices=[[0, 0], [1, 2]], values=[1, 2], dense_shape=[3, 4]))
print(d4.element_spec, d4.element_spec.value_type.__name__)


def count(stop):
    i = 0
    while i < stop:
        yield i
        i += 1


ds_counter = tf.data.Dataset.from_generator(count, args=[25], output_types=tf.int32, output_shapes=())
for batch in ds_counter.repeat().batch(10).take(3):
    print(batch.numpy())


def gen_series():
    rng = np.random.RandomState(0)
    for i in range(4):
        yield i, rng.normal(size=(rng.randint(0, 5),))


ds_series = tf.data.Dataset.from_generator(gen_series, output_types=(tf.int32, tf.float32), output_shapes=((), (None,)))
ids, seq = next(iter(ds_series.padded_batch(4)))
print(ds_series, ids.numpy(), seq.numpy())
sig = tf.data.Dataset.from_generator(gen_series, output_signature=(tf.TensorSpec((), tf.int32), tf.TensorSpec((None,), tf.float32)))
print(sig.element_spec)
folder = tempfile.mkdtemp()
for i in range(3):
    pathlib.Path(folder, f"part{i}.txt").write_text("".join(f"{i}:{j}\n" for j in range(4)))
files = tf.data.Dataset.list_files(folder + "/*.txt", shuffle=False)
lines = files.interleave(tf.data.TextLineDataset, cycle_length=3)
print([os.path.basename(f.numpy()).decode() for f in files], [l.numpy().decode() for l in lines][:7])
print([l.numpy() for l in tf.data.TextLineDataset(folder + "/part1.txt").skip(1).filter(lambda s: tf.not_equal(tf.strings.substr(s, 2, 1), "2"))])
pathlib.Path(folder, "t.csv").write_text("survived,sex,age\n0,male,22.0\n1,female,38.0\n1,female,\n")
for feature_batch in tf.data.experimental.make_csv_dataset(folder + "/t.csv", batch_size=3, label_name="survived", shuffle=False, num_epochs=1):
    print({k: v.numpy().tolist() for k, v in feature_batch[0].items()}, feature_batch[1].numpy())
print([[t.numpy() for t in row] for row in tf.data.experimental.CsvDataset(folder + "/t.csv", [0, "x", 999.0], header=True)])
inc = tf.data.Dataset.range(100)
dec = tf.data.Dataset.range(0, -100, -1)
batched = tf.data.Dataset.zip((inc, dec)).batch(4)
print([[a.numpy() for a in arr] for arr in batched.take(2)], batched, inc.batch(7, drop_remainder=True))
pad = tf.data.Dataset.range(100).map(lambda x: tf.fill([tf.cast(x, tf.int32)], x)).padded_batch(4, padded_shapes=(None,))
for b in pad.take(2):
    print(b.numpy())
print(list(inc.shuffle(10, seed=3, reshuffle_each_iteration=False).take(5).as_numpy_iterator()))
print(list(inc.window(3, shift=2, drop_remainder=True).flat_map(lambda w: w.batch(3)).take(2).as_numpy_iterator()))
print(list(tf.data.Dataset.range(5).enumerate(start=10).as_numpy_iterator()), list(inc.shard(4, 1).take(3).as_numpy_iterator()))
print(list(inc.concatenate(dec).skip(98).take(4).as_numpy_iterator()), inc.cardinality().numpy(), inc.repeat().cardinality() == tf.data.INFINITE_CARDINALITY)
print(list(inc.take_while(lambda x: x < 4).as_numpy_iterator()), list(inc.scan(tf.constant(0, tf.int64), lambda s, x: (s + x, s)).take(5).as_numpy_iterator()))
print(list(tf.data.Dataset.from_tensor_slices([1, 1, 2, 3, 2]).unique().as_numpy_iterator()), [g.numpy() for g in inc.take(6).batch(4).unbatch()])
print(list(inc.take(7).group_by_window(lambda x: x % 2, lambda k, w: w.batch(4), 4).as_numpy_iterator()))
print([b.numpy().shape for b in tf.data.Dataset.from_tensor_slices([1, 5, 2, 8]).map(lambda n: tf.range(n)).apply(
    tf.data.experimental.dense_to_ragged_batch(2)).map(lambda r: r.to_tensor())])
print([x.numpy() for x in tf.data.Dataset.choose_from_datasets([inc.take(2), dec.take(2)], tf.data.Dataset.from_tensor_slices([0, 1, 1, 0]).map(lambda v: tf.cast(v, tf.int64)))])
options = tf.data.Options()
options.deterministic = True
options.experimental_optimization.map_parallelization = True
print(inc.with_options(options).options().deterministic, inc.map(lambda x: x + 1, num_parallel_calls=tf.data.AUTOTUNE, deterministic=True).cache().prefetch(1).take(2).get_single_element() if False else "")
it = iter(inc)
ck = tf.train.Checkpoint(step=tf.Variable(0), iterator=it)
print([next(it).numpy() for _ in range(3)])
path = ck.save(folder + "/it/ckpt")
print([next(it).numpy() for _ in range(2)])
ck.restore(path)
print([next(it).numpy() for _ in range(2)], it.get_next(), it.get_next_as_optional().has_value())
try:
    next(iter(tf.data.Dataset.from_tensor_slices([1.0]).map(lambda x: tf.debugging.check_numerics(tf.math.log(x - 1), "bad"))))
except tf.errors.InvalidArgumentError as e:
    print("InvalidArgumentError", "bad" in str(e))
print(list(tf.data.Dataset.from_tensor_slices({"a": [1, 2], "b": [3, 4]}).map(lambda d: {**d, "c": d["a"] + d["b"]}).as_numpy_iterator()))
print(tf.data.Dataset.from_tensor_slices([[1, 2], [3, 4]]).bucket_by_sequence_length(lambda e: tf.shape(e)[0], [3], [2, 2]).element_spec, inc.rejection_resample if False else "")
print(list(tf.data.Dataset.random(seed=4).take(2).as_numpy_iterator()), list(tf.data.Dataset.sample_from_datasets([inc, dec], [0.5, 0.5], seed=1).take(5).as_numpy_iterator()))
