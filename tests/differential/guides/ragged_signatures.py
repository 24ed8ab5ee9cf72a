"""Ragged and sparse tensors by signatures, arrays of tensors, loops that change their kind."""

import tensorflow as tf

rows = tf.RaggedTensor.from_row_lengths([3, 1, 4, 1, 5], [2, 0, 3])
print(rows + 1, rows * rows, rows > 2, -rows)


def attempt(function, *args, **kwargs):
    try:
        print(function(*args, **kwargs))
    except Exception as e:
        print(type(e).__name__, e)


@tf.function(input_signature=[tf.RaggedTensorSpec([None, None], tf.int32)])
def doubled(x):
    return x * 2


@tf.function(input_signature=[{"a": tf.RaggedTensorSpec([None, None], tf.int32), "b": tf.TensorSpec([2])}, tf.SparseTensorSpec([None, None], tf.int32)])
def mixed(d, s):
    return tf.reduce_sum(d["a"]), d["b"], tf.sparse.to_dense(s)


print(doubled(rows), doubled.get_concrete_function())
print(mixed({"a": rows, "b": tf.constant([1.0, 2.0])}, tf.sparse.from_dense([[1, 0]])))
attempt(tf.function, lambda x: x, input_signature=[tf.TensorSpec([1]), tf.TensorSpec([1])])
attempt(rows.__getitem__, "a")
attempt(tf.RaggedTensor.from_row_splits, [1, 2], [0, 3])
attempt(tf.RaggedTensor.from_row_splits, [1, 2], [1, 2])
attempt(tf.constant([1, 2]).set_shape, [3])


@tf.function
def changing(n):
    i = tf.constant(0)
    while True:
        i += 1
        if i > n:
            break
    return i


try:
    changing(tf.constant(3))
except NotImplementedError as e:
    print([line.strip() for line in str(e).splitlines() if "while loop" in line])
array = tf.TensorArray(tf.float32, size=2, clear_after_read=False)
array = array.write(0, 1.0)
print(array.element_shape, array.unstack([5.0, 6.0]).element_shape)
attempt(array.write, 0, [1.0])
attempt(array.write, 0, "a")
v = tf.Variable([1, 2])
print(type(v).__name__, tf.Variable.__name__, isinstance(v, tf.Variable))
table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), -1)
print(table.lookup(tf.ragged.constant([["a"], ["z", "b"]])), table.lookup(tf.sparse.from_dense(["a", "", "b"])))
