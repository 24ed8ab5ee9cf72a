import numpy as np

import emplace.compat.v1 as tf

x = tf.placeholder(tf.float32, shape=[None, 2], name="x")
n = tf.placeholder(tf.int32, shape=[], name="n")
anything = tf.placeholder(tf.float32, name="anything")
total = tf.reduce_sum(x, axis=1, name="total")
middle = tf.multiply(total, 10.0, name="middle")
result = tf.add(middle, tf.cast(n, tf.float32), name="result")
preset = tf.placeholder_with_default([1.0, 2.0], shape=[2], name="preset")


def attempt(fetches, feeds):
    try:
        print(sess.run(fetches, feed_dict=feeds))
    except (TypeError, ValueError, tf.errors.OpError) as error:
        if isinstance(error, tf.errors.OpError):
            unfed = (
                "You must feed a value for placeholder tensor 'x' with dtype float and shape [?,2]"
            )
            print(type(error).__name__, unfed in error.message)
        else:
            print(type(error).__name__, "-", error)


with tf.Session() as sess:
    print(sess.run(result, {x: [[1, 2], [3, 4]], n: 5}))
    print(sess.run(result, {x: np.ones((3, 2)), n: np.int64(7)}))
    print(sess.run(result, {"x:0": np.zeros((1, 2), np.float16), "n:0": 1}))
    print(sess.run(result, {middle: [1.0, 2.0], n: 1}))
    print(sess.run([total, result], {x: [[1.0, 1.0]], total: [9.0], n: 0}))
    print(sess.run(x, {x: [[5, 6]]}))
    print(sess.run(anything * 2, {anything: 21}), sess.run(anything * 2, {anything: [[1], [2]]}))
    print(sess.run(preset), sess.run(preset, {preset: [3, 4]}))
    print(sess.run((x, n), {(x, n): (np.array([[0, 1]]), 2)}))
    print(sess.run(result, {x: np.zeros((0, 2)), n: 3}))
    attempt(result, {n: 5})
    attempt(result, {x: [[1, 2, 3]], n: 5})
    attempt(result, {x: [1, 2], n: 5})
    attempt(result, {x: tf.constant([[1.0, 2.0]]), n: 5})
    attempt(result, {"y:0": 1})
    attempt(result, {object: 1})
    attempt(result, {x: [["a", "b"]], n: 5})
    attempt(result, {x: [[1, 2]], n: 2.5})
    attempt(result, {x: [[1, 2]], n: 2**40})
    attempt(result, [1, 2])
    print(result.graph.is_feedable(x), result.graph.is_feedable(middle))
    result.graph.prevent_feeding(middle)
    attempt(result, {middle: [1.0], n: 1})
