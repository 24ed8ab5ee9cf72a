import numpy as np
import tensorflow as tf

# What the guide to tensors does, and then some.
rank_0 = tf.constant(4)
rank_2 = tf.constant([[1, 2], [3, 4], [5, 6]], dtype=tf.float16)
print(rank_0, rank_2)
rank_4 = tf.zeros([3, 2, 4, 5])
print("Type of every element:", rank_4.dtype, "ndim", rank_4.ndim, rank_4.shape, rank_4.shape[-1], tf.size(rank_4).numpy())
print(tf.rank(rank_4), tf.shape(rank_4))
a, b = tf.constant([[1, 2], [3, 4]]), tf.ones([2, 2], dtype=tf.int32)
print(a + b, a * b, a @ b, a // 2, a % 2, -a, a**2, a / 2, abs(-a), 2 - a, 1 / a, 7 // a, a == b, a != b, a > 2, a & b, a | 4, a ^ b, ~a)
print(tf.reduce_max(a), tf.math.argmax(a), tf.nn.softmax(tf.cast(a, tf.float32)))
print(tf.convert_to_tensor([1, 2, 3]), tf.reduce_max([1, 5, 2]), tf.reduce_max(np.array([1.5, 7.25])))
r1 = tf.constant([0, 1, 1, 2, 3, 5, 8, 13, 21, 34])
print(r1[0], r1[:4], r1[4:], r1[2:7], r1[::2], r1[::-1], r1[-3:], r1[tf.constant(3)])
r3 = tf.reshape(tf.range(30), [3, 2, 5])
print(r3[:, :, 4], r3[..., -1, 2:4], r3[1, tf.newaxis, 0], r3[0, :, ::-2])
print(tf.reshape(r3, [3 * 2, 5]).shape, tf.reshape(r3, [3, -1]), tf.transpose(r3, [2, 0, 1]).shape)
try:
    tf.reshape(r3, [7, -1])
except Exception as e:
    print(f"{type(e).__name__}: {e}")
f64 = tf.constant([2.2, 3.3, 4.4], dtype=tf.float64)
f16 = tf.cast(f64, dtype=tf.float16)
print(f16, tf.cast(f16, dtype=tf.uint8))
x, y = tf.constant([1, 2, 3]), tf.reshape(tf.range(1, 5), [1, 4])
print(tf.reshape(x, [3, 1]) * y, tf.broadcast_to(x, [3, 3]))
ragged = tf.ragged.constant([[0, 1, 2, 3], [4, 5], [6, 7, 8], [9]])
print(ragged, ragged.shape, ragged[1], ragged[:, :2])
s = tf.constant(["Gray wolf", "Quick brown fox", "Lazy dog"])
print(s, tf.strings.split(s, sep=" "), tf.strings.to_number(tf.strings.split("1 10 100", " ")), tf.strings.length(s))
print(tf.io.decode_raw(tf.constant("Duck"), tf.uint8), tf.strings.bytes_split("Duck"), tf.strings.unicode_decode("アヒル 🦆", "utf-8"))
for t in (rank_0, a, f16, s):
    print(repr(t), t.device.rpartition("/")[2], isinstance(t, tf.Tensor), tf.is_tensor(t))
print(len(a), [int(v) for v in a[0]], float(f64[1]), bool(tf.constant(True)), int(rank_0), list(map(int, r1[:3])), rank_0.__index__())
try:
    if a > 2:
        print("never")
except Exception as e:
    print(f"{type(e).__name__}: {e}")
try:
    a[0, 0] = 5
except Exception as e:
    print(f"{type(e).__name__}: {e}")
try:
    a + 1.5
except Exception as e:
    print(f"{type(e).__name__}: {e}")
try:
    tf.constant([[1, 2], [3]])
except Exception as e:
    print(f"{type(e).__name__}: {e}")
print(np.add(a, 1), np.sum(a), np.array(a).dtype, a.numpy().tolist(), f"{rank_0:03d} {f64[0]:.1f}", hash(a.ref()) == hash(a.ref()))
print(tf.Tensor.__name__, type(a).__name__, a.get_shape(), a.shape.as_list(), a.shape.rank, a.shape.num_elements(), tf.TensorShape([None, 3]))
print(tf.experimental.numpy.array([1, 2]).dtype, tf.math.reduce_euclidean_norm(f64), tf.constant(3, shape=[2, 2]), tf.constant(0.0, tf.bfloat16))
print(tf.stack([x, x]), tf.unstack(a), tf.concat([a, b], 1), tf.tile(x, [2]), tf.repeat(x, [1, 2, 0]), tf.one_hot(x, 4, on_value=9, off_value=1))
