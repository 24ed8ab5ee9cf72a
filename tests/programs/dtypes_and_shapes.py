import numpy as np

import emplace.compat.v1 as tf

for d in (
    tf.float32,
    tf.float64,
    tf.float16,
    tf.bfloat16,
    tf.int32,
    tf.uint8,
    tf.int64,
    tf.bool,
    tf.string,
    tf.complex64,
    tf.resource,
):
    print(
        repr(d),
        d.name,
        d.size,
        d.is_floating,
        d.is_integer,
        d.is_complex,
        d.is_unsigned,
        d.as_datatype_enum,
    )
print(tf.float32.as_numpy_dtype, tf.string.as_numpy_dtype, tf.int64.as_numpy_dtype is np.int64)
print(
    tf.float32 == np.float32,
    tf.float32 == "float32",
    tf.as_dtype("int32") is tf.int32,
    tf.as_dtype(np.float64),
    tf.as_dtype(float),
    tf.as_dtype(bool),
    tf.float32 != tf.float64,
    tf.Variable(1.0).dtype.base_dtype,
)
print(
    tf.int8.min,
    tf.int8.max,
    tf.uint16.max,
    tf.float16.max,
    tf.float32.limits,
    tf.int32.is_compatible_with(tf.Variable(1).dtype),
)
print(tf.as_dtype(1), tf.dtypes.as_dtype("half"), hash(tf.int32) == hash(tf.as_dtype("int32")))
for bad in ("nonsense", object, 999):
    try:
        print(tf.as_dtype(bad))
    except TypeError as error:
        print("TypeError -", error)
shapes = [
    tf.TensorShape(None),
    tf.TensorShape([]),
    tf.TensorShape([None, 3]),
    tf.TensorShape([2, 3]),
    tf.TensorShape(5),
]
for s in shapes:
    print(repr(s), s, s.ndims, s.is_fully_defined(), s.num_elements())
a, b = shapes[2], shapes[3]
print(
    a.is_compatible_with(b),
    a.merge_with(b),
    a.concatenate(b),
    b[1],
    b[0].value,
    a[0].value,
    a[1:],
    b.as_list(),
    len(b),
)
print(a == b, b == [2, 3], a == tf.TensorShape([None, 3]), b != a, list(b), b.dims)
print(
    tf.TensorShape([1, None]).assert_is_compatible_with([1, 4]),
    a.with_rank(2),
    tf.TensorShape([2]) + [3],
)
for bad in (
    lambda: a.with_rank(3),
    lambda: b.merge_with([2, 4]),
    lambda: shapes[0].as_list(),
    lambda: len(shapes[0]),
    lambda: tf.TensorShape([-2]),
    lambda: b.assert_has_rank(1),
    lambda: tf.TensorShape([1.5]),
    lambda: b.assert_is_compatible_with([2]),
):
    try:
        print(bad())
    except (TypeError, ValueError) as error:
        print(type(error).__name__, "-", error)
d = tf.Dimension(3)
print(
    d + 1,
    d * tf.Dimension(None),
    d == 3,
    d > 2,
    int(d),
    repr(d),
    d // 2,
    d.is_compatible_with(None),
)
p = tf.placeholder(tf.float32, [None, 4])
print(p.shape, p.get_shape().as_list(), p.shape[0], p.shape[1], p.shape.ndims)
q = tf.placeholder(tf.float32)
q.set_shape([None, 2])
print(q.shape)
try:
    q.set_shape([3, 3])
except ValueError as error:
    print("ValueError -", error)
