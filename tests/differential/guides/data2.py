"""Datasets of dictionaries, records, text and tables."""

import os

import numpy as np
import tensorflow as tf

ds = tf.data.Dataset.from_tensor_slices({'a': [1, 2, 3], 'b': ['x', 'y', 'z']})
for e in ds:
    print(e)
print(next(iter(ds.batch(2))))
print(list(ds.as_numpy_iterator()))
print(ds)

@tf.function
def total(ds):
    t = tf.constant(0)
    for e in ds:
        t += e['a']
    return t
print(total(ds))

def parse(x):
    print('traced', x)
    return x + 1
print(list(tf.data.Dataset.range(3).map(parse).as_numpy_iterator()))

def py(x):
    return x.numpy() * 2
print(list(tf.data.Dataset.range(3).map(lambda x: tf.py_function(py, [x], tf.int64)).as_numpy_iterator()))
import tempfile
p = tempfile.mkdtemp()
with tf.io.TFRecordWriter(p + '/a.tfrecord') as w:
    for i in range(3):
        ex = tf.train.Example(features=tf.train.Features(feature={'i': tf.train.Feature(int64_list=tf.train.Int64List(value=[i])), 's': tf.train.Feature(bytes_list=tf.train.BytesList(value=[b'v%d' % i])), 'f': tf.train.Feature(float_list=tf.train.FloatList(value=[0.5, i]))}))
        w.write(ex.SerializeToString())
spec = {'i': tf.io.FixedLenFeature([], tf.int64), 's': tf.io.FixedLenFeature([], tf.string), 'f': tf.io.FixedLenFeature([2], tf.float32)}
for e in tf.data.TFRecordDataset(p + '/a.tfrecord').map(lambda r: tf.io.parse_single_example(r, spec)):
    print(e)
open(p + '/t.txt', 'w').write('l1\nl2\nl3\n')
print(list(tf.data.TextLineDataset(p + '/t.txt').skip(1).as_numpy_iterator()))
open(p + '/c.csv', 'w').write('a,b,c\n1,2.5,x\n3,4.5,y\n')
for e in tf.data.experimental.CsvDataset(p + '/c.csv', [tf.int32, tf.float32, tf.string], header=True):
    print(e)
print(tf.io.decode_csv(['1,2.5,x', '3,,y'], [tf.constant([0]), tf.constant([9.0]), tf.constant([], tf.string)]))
for b in tf.data.experimental.make_csv_dataset(p + '/c.csv', batch_size=2, label_name='a', num_epochs=1, shuffle=False):
    print(b)
print(sorted((os.path.basename(f) for f in tf.data.Dataset.list_files(p + '/*.t*').as_numpy_iterator())))
l = tf.data.Dataset.list_files(p + '/*', shuffle=False)
print([os.path.basename(x) for x in l.as_numpy_iterator()])
it = iter(tf.data.Dataset.range(5))
ck = tf.train.Checkpoint(step=tf.Variable(0), iterator=it)
next(it)
next(it)
path = ck.save(p + '/ck')
print(next(it))
ck.restore(path)
print(next(it))
m = tf.train.CheckpointManager(ck, p + '/m', max_to_keep=2)
m.save()
m.save()
m.save()
print([os.path.basename(c) for c in m.checkpoints], os.path.basename(m.latest_checkpoint), os.path.basename(tf.train.latest_checkpoint(p + '/m')))
print(tf.data.experimental.cardinality(tf.data.Dataset.range(3)), tf.data.AUTOTUNE, tf.data.INFINITE_CARDINALITY)
print(list(tf.data.Dataset.range(4).snapshot(p + '/snap').as_numpy_iterator()) if hasattr(tf.data.Dataset, 'snapshot') else '')
print(list(tf.data.Dataset.range(6).rejection_resample(lambda x: tf.cast(x % 2, tf.int32), [0.0, 1.0], seed=1).map(lambda c, x: x % 2).take(2).as_numpy_iterator()))
print(tf.data.Dataset.counter(3, 2).take(2).get_single_element() if False else list(tf.data.Dataset.counter(3, 2).take(2).as_numpy_iterator()))
print(list(tf.data.Dataset.random(seed=1).take(1).element_spec.shape))
