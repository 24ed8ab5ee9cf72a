"""Functions in one other task and over several."""


def run(tf, show):
    with tf.device("/job:worker/task:1"):
        v = tf.Variable([1.0, 2.0])
    a = tf.constant([[1.0, 2.0], [3.0, 4.0]])

    @tf.function
    def affine(x):
        return tf.matmul(x, x) + v

    with tf.device("/job:worker/task:1"):
        r = affine(a)
        print(r.device, r.numpy().tolist())
    r = affine(a)
    print(r.device, r.numpy().tolist())

    @tf.function
    def counting(n):
        i, t = 0, tf.constant(0)
        while i < n:
            t += i
            i += 1
            if t > 3:
                v.assign_add([10.0, 10.0])
        return t

    for task in (0, 1):
        with tf.device(f"/job:worker/task:{task}"):
            print(counting(tf.constant(4)).numpy(), v.numpy().tolist())
    print(counting(tf.constant(3)).numpy(), v.numpy().tolist())

    @tf.function
    def spread(x):
        with tf.device("/job:worker/task:0"):
            y = x * 2.0
        with tf.device("/job:worker/task:1"):
            z = y + 1.0
        return y, z

    print([(t.device, t.numpy().tolist()) for t in spread(tf.constant([1.0, 2.0]))])

    @tf.function
    def long(x):
        for _ in range(12):
            x = tf.tanh(x) + v
        return x

    with tf.device("/job:worker/task:1"):
        there = long(tf.constant([0.5, 0.25])).numpy()
    here = long(tf.constant([0.5, 0.25])).numpy()
    print(abs(there - here).max() < 1e-5)
    with tf.device("/job:worker/task:1"), tf.GradientTape() as tape:
        y = tf.reduce_sum(affine(a))
    print(tape.gradient(y, v).numpy().tolist())
