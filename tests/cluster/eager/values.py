"""Operations on other tasks, and what becomes of their values."""


def run(tf, show):
    print(tf.config.list_logical_devices())
    print(tf.constant(1.0).device)
    with tf.device("/job:worker/task:1"):
        a = tf.constant([[1.0, 2.0], [3.0, 4.0]])
        b = tf.matmul(a, a)
        print(a.device, b.device)
        print(repr(b), b.shape, b.dtype)
        words = tf.constant(["x", "yy"])
        print(words.numpy().tolist(), tf.strings.length(words).numpy().tolist(), words.device)
        print([t.numpy().tolist() for t in tf.unique([1, 1, 2])])
        print(int(tf.constant(5)), bool(tf.constant(True)), tf.zeros([0, 3]).numpy().shape)
        print([x.numpy() for x in tf.constant([1, 2])], tf.constant([1, 2, 3])[1].numpy())
        print(tf.random.uniform([3]).shape)
    print(tf.add(a, b).device, (a + b).numpy().tolist())
    with tf.device("/job:worker/task:0"):
        c = tf.identity(b)
        print(c.device, c.numpy().tolist())
        print((a - c).device, (a - c).numpy().tolist())
    print(tf.device("/job:worker/task:1/cpu:0") is not None)
    with tf.device("/job:worker/task:1/cpu:0"):
        print((a * 2.0).device)
