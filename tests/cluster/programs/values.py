"""Every kind of value on its way from task to task."""

import numpy as np


def run(tf, cluster):
    with tf.Session(cluster.target("worker", 0)) as sess:
        for dtype in ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128", "string"):
            kind = tf.as_dtype(dtype)
            for shape in ([], [0], [3], [2, 0, 3], [2, 3]):
                count = int(np.prod(shape))
                base = np.array([str(i) * i for i in range(count)], object) if dtype == "string" else (np.arange(count) % 7)
                with tf.device("/job:ps/task:0"):
                    x = tf.placeholder_with_default(tf.reshape(tf.constant(base, tf.string if dtype == "string" else tf.int64), shape), shape)
                    x = x if dtype == "string" else tf.cast(x, kind)
                with tf.device("/job:worker/task:1"):
                    y = tf.identity(x)
                with tf.device("/job:worker/task:0"):
                    z = tf.stack([y, y])
                got = sess.run(z)
                print(dtype, got.dtype, got.shape, got.ravel()[:4].tolist())
        with tf.device("/job:ps/task:0"):
            sparse = tf.SparseTensor([[0, 1], [2, 0]], [1.0, 2.0], [3, 2])
            ragged = tf.ragged.constant([[1, 2], [], [3]])
            quantized = tf.quantize([0.0, 1.0, 2.0], 0.0, 2.0, tf.quint8)
        with tf.device("/job:worker/task:1"):
            print(sess.run(tf.sparse.to_dense(sparse)).tolist())
            print(sess.run(ragged * 2).to_list())
            print(np.round(sess.run(tf.dequantize(quantized[0], quantized[1], quantized[2])), 2).tolist())
        with tf.device("/job:ps/task:0"):
            big = tf.reshape(tf.range(3_000_000), [3, -1]) + tf.placeholder_with_default(1, [])
        with tf.device("/job:worker/task:1"):
            total = tf.reduce_sum(tf.cast(big, tf.int64))
        print(sess.run(total), sess.run(big[2, -3:]).tolist(), sess.run(big).shape)
