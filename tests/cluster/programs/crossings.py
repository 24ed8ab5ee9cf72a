"""Loops, branches and arrays that go over several tasks."""

def run(tf, cluster):
    D = tf.device
    t = cluster.target("worker", 0)
    def err(name, f):
        try: print(name, f())
        except Exception as e: print(name, type(e).__name__, cluster.words(e))
    n = tf.placeholder(tf.int32, [])
    with D("/job:ps/task:0"): acc = tf.Variable(0, name="acc")
    def body(i, s):
        with D("/job:worker/task:1"): a = i * 2
        with D("/job:ps/task:1"): b = s + a
        return i + 1, b
    with D("/job:worker/task:0"):
        loop = tf.while_loop(lambda i, s: i < n, body, [0, 0])
    g = tf.placeholder(tf.float32, [])
    with D("/job:ps/task:1"): w = tf.Variable(2.0, name="w")
    def step(i, y):
        with D("/job:worker/task:1"): return i + 1, y * w
    with D("/job:ps/task:0"): _, y = tf.while_loop(lambda i, y: i < 3, step, [0, g])
    grad = tf.gradients(y, [w, g])
    def cond(p):
        with D("/job:worker/task:0"):
            def yes():
                with D("/job:ps/task:0"): return tf.assign_add(acc, 10)
            def no():
                with D("/job:worker/task:1"): return tf.constant(-1)
            return tf.cond(p, yes, no)
    p = tf.placeholder(tf.bool, [])
    c = cond(p)
    case = tf.case([(n < 3, lambda: tf.constant("small")), (n < 6, lambda: tf.constant("mid"))], default=lambda: tf.constant("large"))
    with D("/job:ps/task:1"):
        ta = tf.TensorArray(tf.int32, 0, dynamic_size=True, clear_after_read=False)
        def put(i, ta): return i + 1, ta.write(i, i * i)
        _, ta = tf.while_loop(lambda i, *_: i < n, put, [0, ta])
        st = ta.stack()
    m = tf.map_fn(lambda x: x * 2 + 1, tf.range(n))
    sc = tf.scan(lambda a, x: a + x, tf.range(1, 5))
    with D("/job:worker/task:1"): f = tf.foldl(lambda a, x: a * x, tf.range(1, n))
    with tf.Session(t) as s:
        s.run(tf.global_variables_initializer())
        err("loop", lambda: s.run(loop, {n: 5}))
        err("loop0", lambda: s.run(loop, {n: 0}))
        err("grad", lambda: s.run([y] + grad, {g: 3.0}))
        err("cond", lambda: [s.run(c, {p: v}) for v in (True, False, True)])
        err("acc", lambda: s.run(acc))
        err("case", lambda: [s.run(case, {n: v}) for v in (1, 4, 9)])
        err("ta", lambda: s.run(st, {n: 4}).tolist())
        err("map", lambda: s.run([m, sc, f], {n: 4}))
        bad = tf.while_loop(lambda i: i < n, lambda i: i + tf.clip_by_value(tf.floordiv(10, 2 - i), 1, 1), [0])
        err("bad", lambda: s.run(bad, {n: 100}))
        dead = tf.cond(p, lambda: tf.gather([1, 2], 5), lambda: 0)
        err("dead", lambda: s.run(dead, {p: False}))
        err("alive", lambda: s.run(dead, {p: True}))
        with tf.control_dependencies([tf.assert_less(n, 3, message="n is large")]): ok = tf.identity(n)
        err("assert ok", lambda: s.run(ok, {n: 2}))
        err("assert", lambda: s.run(ok, {n: 4}))
        pr = tf.print("hello", n)
        err("print", lambda: s.run(pr, {n: 1}))
