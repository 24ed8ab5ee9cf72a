import emplace.compat.v1 as tf

tf.disable_v2_behavior()
tf.disable_eager_execution()
tf.logging.set_verbosity(tf.logging.ERROR)
print(tf.executing_eagerly())
tf.reset_default_graph()
hello = tf.constant("Hello, world!")
a = tf.constant(10)
b = tf.constant(32)
with tf.Session() as sess:
    print(sess.run(hello))
    print(sess.run(a + b))
    print(sess.run(hello).decode())
    print(sess.run(tf.constant(["a", "bc"])), sess.run(tf.constant(["a", "bc"])).dtype)
    print(sess.run(tf.constant([[True, False]])))
    print(sess.run(tf.constant(1 + 2j)))
    print(
        sess.run(tf.zeros([2, 3], tf.int32)).tolist(),
        sess.run(tf.ones([2])),
        sess.run(tf.fill([2], "x")),
    )
    print(sess.run(tf.range(3, 9, 2)), sess.run(tf.linspace(0.0, 1.0, 3)), sess.run(tf.eye(2)))
print(
    isinstance(tf.__version__, str),
    tf.test.is_gpu_available(),
    tf.test.is_built_with_cuda() in (True, False),
)
print(isinstance(a, tf.Tensor), isinstance(a.op, tf.Operation), tf.is_tensor(a))
