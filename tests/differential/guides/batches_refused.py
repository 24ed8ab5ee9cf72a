"""Elements that make no batch."""

import tensorflow as tf


def rows():
    yield [1]
    yield [1, 2]


def pairs():
    yield 1, [[1, 2]]
    yield 2, [[1, 2], [3, 4]]


one = tf.data.Dataset.from_generator(rows, output_signature=tf.TensorSpec([None], tf.int32))
two = tf.data.Dataset.from_generator(pairs, output_signature=(tf.TensorSpec([], tf.int32), tf.TensorSpec([None, 2], tf.int32)))
for dataset in (one, two):
    try:
        print(list(dataset.batch(2)))
    except tf.errors.InvalidArgumentError as e:
        print(e)
    print([b for b in dataset.batch(1)])
print(tf.data.Dataset.range(7).window(3, shift=2), tf.data.Dataset.range(4).window(2).flat_map(lambda d: d.batch(2)))
matrix = tf.linalg.LinearOperatorFullMatrix([[4.0, 1.0], [2.0, 3.0]])
print(matrix.is_square, tf.linalg.LinearOperatorFullMatrix(tf.ones([2, 3])).is_square, tf.linalg.LinearOperatorDiag([1.0]).is_square)


def attempt(function, *args, **kwargs):
    try:
        print(function(*args, **kwargs))
    except Exception as e:
        print(type(e).__name__, str(e).splitlines()[0])


whole = tf.data.Dataset
attempt(whole.range)
attempt(whole.range, 1, 5, 0)
attempt(whole.from_generator, rows)
attempt(whole.range(3).apply, lambda d: 5)
attempt(list, whole.from_generator(rows, output_signature=tf.TensorSpec([3], tf.int32)))
