"""What operations on another task say when they fail."""

def run(tf, cluster):
    t = cluster.target("worker", 0)
    s = tf.Session(t)
    D = lambda d: tf.device(d)
    def err(name, f, feed=None):
        try: print(name, s.run(f, feed))
        except Exception as e:
            print(name, type(e).__name__, getattr(e, "error_code", None), cluster.words(e), "|", e.op.name if getattr(e, "op", None) is not None else None, e.op.device if getattr(e, "op", None) is not None else None)
    with D("/job:worker/task:1"):
        p = tf.placeholder(tf.int32, [], name="p")
        v = tf.Variable([1.0, 2.0], name="v")
        rv = tf.get_variable("rv", [2], use_resource=True)
        s.run(tf.global_variables_initializer())
        err("div", tf.floordiv(3, p, name="divide"), {p: 0})
        err("gather", tf.gather(v, p, name="g"), {p: 7})
        err("assert", tf.Assert(p > 3, ["p is", p], name="ass"), {p: 1})
        err("check", tf.check_numerics(tf.constant([1.0]) / tf.cast(p, tf.float32), "bad numbers", name="cn"), {p: 0})

        err("mat", tf.matmul(tf.ones([2, p]), tf.ones([3, 2]), name="mm"), {p: 2})
        err("ph", p + 1)
        err("feed", p + 1, {p: "x"})
        err("decode", tf.decode_raw(tf.constant(["abc"]), tf.int32, name="dr"))
        err("read", tf.read_file("/nonexistent/file", name="rf"))
        err("str", tf.string_to_number("abc", name="sn"))
        err("slice", tf.slice(v, [p], [5], name="sl"), {p: 1})
        err("assign", tf.assign(v, tf.ones([3]), validate_shape=True) if False else tf.scatter_update(v, [p], [1.0]), {p: 9})
        err("range", tf.range(0, 5, p, name="rg"), {p: 0})
        err("unique", tf.while_loop(lambda i: i < 5, lambda i: tf.floordiv(10, 3 - i), [p]), {p: 0})
        err("py", tf.py_func(lambda: 1, [], tf.int64))
        err("cond", tf.cond(p > 0, lambda: tf.floordiv(1, p - 1), lambda: p), {p: 1})
    with D("/job:ps/task:0"):
        y = tf.identity(tf.floordiv(3, p) + 1)
    err("across", y, {p: 0})
    with D("/job:ps/task:1"): z = tf.reduce_sum(tf.gather(v, [p]))
    err("across2", z, {p: 5})
    err("ok", z, {p: 1})
    for bad in ("grpc://localhost:1", "grpc://nohost.invalid:22", "http://localhost", "grpc://"):
        try:
            with tf.Session(bad, config=tf.ConfigProto(operation_timeout_in_ms=1500)) as b: print(b.run(z))
        except Exception as e: print(bad, type(e).__name__, cluster.words(e)[:70])
