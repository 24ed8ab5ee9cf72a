"""Device blocks inside one another, with and without a slash."""

import tensorflow as tf

with tf.device("/CPU:0"):
    a = tf.constant([1.0, 2.0])
    with tf.device("CPU:0"):
        b = a * 2
        with tf.device("cpu:0"):
            c = tf.identity(b)
for t in (a, b, c):
    print(t.device)
for name in ("cpu:x", "/FOO:0", "/cpu:0/gpu:1"):
    try:
        with tf.device(name):
            tf.constant(1)
    except Exception as e:
        print(type(e).__name__, e)
spec = tf.DeviceSpec(job="w", replica=0, task=1, device_type="GPU", device_index=2)
print(spec, repr(spec.replace(job="z")), spec.make_merged_spec(tf.DeviceSpec(task=9)))
ragged = tf.ragged.constant([[1], [2, 3]])
try:
    hash(ragged)
except TypeError as e:
    print(e)
print(hash(tf.sparse.from_dense([0, 1])) != 0)
print(tf.data.Dataset.range(3).cache(), tf.data.TextLineDataset("a"), tf.data.TFRecordDataset("a"), tf.data.FixedLengthRecordDataset("a", 1))
