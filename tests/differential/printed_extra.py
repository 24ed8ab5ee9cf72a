"""Further habits: datasets, control edges, small models, collections, random numbers, what things print as."""

import os
import tempfile
import threading
from typing import Any


def inputs_by_dataset(tf: Any, np: Any, say: Any, fails: Any) -> None:
    ds = tf.data.Dataset.from_tensor_slices((np.arange(6).astype(np.float32), np.arange(6))).map(lambda a, b: (a * 2, b)).batch(4).repeat(2)
    it = ds.make_one_shot_iterator()
    x, y = it.get_next()
    say(x.shape, y.dtype)
    with tf.Session() as s:
        try:
            while True:
                say(s.run([x, y]))
        except tf.errors.OutOfRangeError:
            say("end")


def control_edges(tf: Any, np: Any, say: Any, fails: Any) -> None:
    v = tf.Variable(0)
    with tf.control_dependencies([tf.assign_add(v, 1)]):
        a = tf.no_op(name="a")
        with tf.control_dependencies([tf.constant(2, name="k")]):
            b = tf.identity(tf.constant(3), name="b")
            with tf.control_dependencies(None):
                c = tf.constant(4, name="c")
    say([o.name for o in a.control_inputs], [o.name for o in b.op.control_inputs], c.op.control_inputs)
    g = tf.group(a, b, name="g")
    say(g.type, sorted(o.name for o in g.control_inputs))
    t = tf.tuple([b, None, c], name="t", control_inputs=[a])
    say([x.name if x is not None else None for x in t])
    fails(tf.group, "x")
    fails(tf.tuple, [None])
    with tf.Session() as s:
        s.run(v.initializer)
        s.run(g)
        say(s.run(v))
        say(s.run(t[0]), s.run(v))


def layered_model(tf: Any, np: Any, say: Any, fails: Any) -> None:
    tf.set_random_seed(42)

    def fc(x: Any, n: int, name: str) -> Any:
        with tf.variable_scope(name):
            w = tf.get_variable("w", [x.shape[-1].value, n], initializer=tf.truncated_normal_initializer(stddev=0.1, seed=1))
            b = tf.get_variable("b", [n], initializer=tf.constant_initializer(0.1))
            tf.add_to_collection("weights", w)
            return tf.nn.xw_plus_b(x, w, b)

    x = tf.placeholder(tf.float32, [None, 4])
    y = tf.placeholder(tf.int64, [None])
    keep = tf.placeholder_with_default(1.0, [])
    h = tf.nn.dropout(tf.nn.relu(fc(x, 8, "h1")), keep_prob=keep)
    logits = fc(h, 3, "out")
    xe = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
    l2 = tf.add_n([tf.nn.l2_loss(w) for w in tf.get_collection("weights")]) * 1e-3
    acc = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), y), tf.float32))
    opt = tf.train.AdamOptimizer(0.05)
    grads, vs = zip(*opt.compute_gradients(xe + l2))
    grads, norm = tf.clip_by_global_norm(grads, 1.0)
    train = opt.apply_gradients(zip(grads, vs))
    rng = np.random.RandomState(0)
    X = rng.randn(60, 4).astype(np.float32)
    Y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0)
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        for i in range(30):
            _, l, n = s.run([train, xe, norm], {x: X, y: Y})
            if i % 10 == 0:
                say(i, "%.4f %.4f" % (l, n))
        say("%.3f" % s.run(acc, {x: X, y: Y}))
        say([v.name for v in tf.global_variables() if "Adam" in v.name])


def conv_model(tf: Any, np: Any, say: Any, fails: Any) -> None:
    tf.set_random_seed(1)
    x = tf.placeholder(tf.float32, [None, 8, 8, 1])
    k = tf.get_variable("k", [3, 3, 1, 4], initializer=tf.glorot_uniform_initializer(seed=3))
    c = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, k, [1, 1, 1, 1], "SAME"), tf.zeros([4])))
    p = tf.nn.max_pool(c, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    n = tf.nn.lrn(p, 2, bias=1.0, alpha=0.001, beta=0.75)
    d = tf.nn.separable_conv2d(n, tf.ones([2, 2, 4, 1]), tf.ones([1, 1, 4, 2]), [1, 1, 1, 1], "VALID")
    u = tf.nn.conv2d_transpose(d, tf.ones([2, 2, 1, 2]), tf.stack([tf.shape(x)[0], 6, 6, 1]), [1, 2, 2, 1], "VALID")
    m, v = tf.nn.moments(u, [0, 1, 2])
    g = tf.gradients(tf.reduce_sum(u), [x, k])
    say([t.name for t in (c, p, n, d, u, m, v, *g)], u.shape)
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        X = np.linspace(0, 1, 128).reshape(2, 8, 8, 1)
        for t in (c, p, n, d, u, m, v, *g):
            r = s.run(t, {x: X})
            say(r.shape, "%.4f" % r.sum())


def graph_collections_and_keys(tf: Any, np: Any, say: Any, fails: Any) -> None:
    tf.add_to_collection("c", 1)
    tf.add_to_collections(["c", "d"], 2)
    g = tf.get_default_graph()
    say(tf.get_collection("c"), g.get_collection("d"), g.get_all_collection_keys(), tf.get_collection_ref("c") is tf.get_collection_ref("c"))
    g.clear_collection("c")
    say(tf.get_collection("c"), tf.GraphKeys.TRAINABLE_VARIABLES, tf.GraphKeys.UPDATE_OPS)
    with tf.name_scope("s"):
        tf.add_to_collection("t", tf.constant(1.0, name="x"))
    say(tf.get_collection("t", scope="s"), tf.get_collection("t", scope="q"))


def random_numbers(tf: Any, np: Any, say: Any, fails: Any) -> None:
    tf.set_random_seed(7)
    a = [tf.random_uniform([2], seed=1), tf.random_normal([2]), tf.truncated_normal([2], seed=3), tf.random_uniform([2], 0, 10, tf.int32), tf.random_shuffle([1, 2, 3], seed=4), tf.multinomial([[1.0, 2.0]], 3, seed=5), tf.random_gamma([2], 1.0, seed=6), tf.random_poisson(2.0, [2], seed=1)]
    with tf.Session() as s:
        for t in a:
            say(s.run(t), s.run(t))
    with tf.Session() as s:
        say(s.run(a[0]), s.run(a[1]))


def saved_and_served(tf: Any, np: Any, say: Any, fails: Any) -> None:
    d = os.path.join(tempfile.mkdtemp(), "m")
    x = tf.placeholder(tf.float32, [None], name="x")
    w = tf.Variable(3.0, name="w")
    y = tf.multiply(x, w, name="y")
    with tf.Session() as s:
        s.run(w.initializer)
        tf.saved_model.simple_save(s, d, {"x": x}, {"y": y})
    say(sorted(os.listdir(d)), tf.saved_model.loader.maybe_saved_model_directory(d))
    with tf.Graph().as_default(), tf.Session() as s:
        m = tf.saved_model.loader.load(s, [tf.saved_model.tag_constants.SERVING], d)
        sig = m.signature_def["serving_default"]
        say(sig.inputs["x"].name, sig.outputs["y"].name, sig.method_name)
        say(s.run(sig.outputs["y"].name, {sig.inputs["x"].name: [1, 2]}))
        fails(tf.saved_model.loader.load, s, ["nope"], d)


def printing_things(tf: Any, np: Any, say: Any, fails: Any) -> None:
    t = tf.constant([[1.0, 2.0]])
    v = tf.Variable(t, name="v")
    p = tf.placeholder(tf.int32)
    for o in (t, v, p, t.op, tf.float32, tf.TensorShape([None, 2]), tf.Dimension(3), tf.TensorShape(None), p.shape, tf.DeviceSpec(job="a"), tf.get_variable_scope().name, t.shape[1], t.dtype.as_numpy_dtype, tf.int32.max, tf.as_dtype("half"), tf.string):
        say(o, repr(o))
    say(t.op.node_def)
    say(tf.GraphKeys.GLOBAL_STEP, tf.VERSION.split(".")[0] in "12", tf.newaxis)
    say(hash(t) == hash(t), t == t, {t: 1}[t])


def nested_device_towers_named(tf: Any, np: Any, say: Any, fails: Any) -> None:
    outs = []
    for d in ["/cpu:0", "/device:CPU:0"]:
        with tf.device(d), tf.name_scope("tower") as s:
            a = tf.constant(np.ones((2, 2)), tf.float32, name="a")
            outs.append(tf.matmul(a, a, name="mm"))
            say(s, a.name, a.device, outs[-1].op.device)
    with tf.device("/cpu:0"):
        total = tf.add_n(outs, name="sum")
    with tf.Session() as s:
        say(s.run(total))


def saver_with_resource_and_partial(tf: Any, np: Any, say: Any, fails: Any) -> None:
    d = tempfile.mkdtemp()
    v = tf.get_variable("v", [3], use_resource=True, initializer=tf.ones_initializer())
    w = tf.get_variable("w", [2], initializer=tf.zeros_initializer())
    sv = tf.train.Saver(var_list={"v0": v, "w0": w}, keep_checkpoint_every_n_hours=1)
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        p = sv.save(s, d + "/x", global_step=3)
        s.run([v.assign([5, 5, 5]), w.assign([1, 1])])
        sv.restore(s, p)
        say(s.run([v, w]))
    say(tf.train.list_variables(p))
    tf.train.init_from_checkpoint(p, {"v0": "v"})
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        say(s.run(v))


def metrics_in_streams(tf: Any, np: Any, say: Any, fails: Any) -> None:
    x = tf.placeholder(tf.float32, [None])
    m, u = tf.metrics.mean(x, metrics_collections=["mc"], updates_collections="uc", name="mm")
    say(tf.get_collection("mc"), tf.get_collection("uc"))
    reset = tf.variables_initializer(tf.get_collection(tf.GraphKeys.METRIC_VARIABLES))
    with tf.Session() as s:
        s.run(reset)
        say(s.run(u, {x: [1, 2]}), s.run(u, {x: [6]}), s.run(m))
        s.run(reset)
        say(s.run(m))


def lookup_and_embedding(tf: Any, np: Any, say: Any, fails: Any) -> None:
    words = tf.constant([["a", "b"], ["zz", "c"]])
    t = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(tf.constant(["a", "b", "c"]), tf.constant([0, 1, 2], tf.int64)), 3)
    ids = t.lookup(words)
    E = tf.get_variable("E", initializer=tf.constant(np.eye(4), tf.float32))
    e = tf.nn.embedding_lookup(E, ids)
    mean = tf.reduce_mean(e, 1)
    train = tf.train.AdagradOptimizer(0.5).minimize(tf.reduce_sum(tf.square(mean - 1)))
    with tf.Session() as s:
        s.run([tf.global_variables_initializer(), tf.tables_initializer()])
        s.run(train)
        say(np.round(s.run(E), 4), s.run(ids))


def while_with_vars_and_arrays(tf: Any, np: Any, say: Any, fails: Any) -> None:
    v = tf.get_variable("v", [], initializer=tf.zeros_initializer())
    ta = tf.TensorArray(tf.float32, 4, clear_after_read=False)

    def body(i: Any, ta: Any) -> Any:
        with tf.control_dependencies([v.assign_add(tf.cast(i, tf.float32))]):
            return i + 1, ta.write(i, v.read_value() + 0.0)

    _, ta = tf.while_loop(lambda i, _: i < 4, body, (0, ta), parallel_iterations=1)
    out = ta.stack()
    with tf.Session() as s:
        s.run(v.initializer)
        say(s.run(out), s.run(v))
        say(s.run(out), s.run(v))


def interactive_use(tf: Any, np: Any, say: Any, fails: Any) -> None:
    s = tf.InteractiveSession()
    a = tf.placeholder(tf.float32, [])
    b = a * 2
    say(b.eval({a: 3}), b.eval(feed_dict={a: 4}), tf.get_default_session() is s)
    v = tf.Variable(2.0)
    v.initializer.run()
    say(v.eval(), (v + 1).eval())
    s.close()
    say(tf.get_default_session())
    fails(b.eval, {a: 1})


def shapes_inferred(tf: Any, np: Any, say: Any, fails: Any) -> None:
    x = tf.placeholder(tf.float32, [None, 3, None])
    say(x.shape.as_list(), tf.reshape(x, [-1, 3]).shape, tf.transpose(x, [2, 0, 1]).shape, tf.reduce_sum(x, 1, keepdims=True).shape, x[:, 1].shape, x[..., tf.newaxis].shape)
    say(tf.concat([x, x], 0).shape, tf.stack([x, x], 1).shape, tf.tile(x, [2, 2, 1]).shape, tf.pad(x, [[1, 1], [0, 2], [0, 0]]).shape)
    y = tf.placeholder(tf.float32)
    y.set_shape([None, 2])
    say(y.shape, y.get_shape().ndims)
    fails(y.set_shape, [3])
    fails(y.shape.assert_is_compatible_with, tf.TensorShape([1, 3]))
    fails(tf.TensorShape(None).as_list)
    say(tf.TensorShape([1, None]).merge_with([None, 4]), tf.TensorShape([1]).concatenate([2]), tf.TensorShape([2, 3]).num_elements(), tf.TensorShape([2, None]).is_fully_defined(), tf.broadcast_static_shape(tf.TensorShape([2, 1]), tf.TensorShape([3])))


def arg_scopes_and_templates(tf: Any, np: Any, say: Any, fails: Any) -> None:
    def f(x: Any, n: int) -> Any:
        w = tf.get_variable("w", [n], initializer=tf.ones_initializer())
        return x * w

    t = tf.make_template("t", f, n=2)
    a, b = t(1.0), t(2.0)
    say(a.name, b.name, [v.name for v in tf.global_variables()], t.name, t.variables)
    with tf.variable_scope("outer", reuse=tf.AUTO_REUSE):
        for _ in range(2):
            c = f(3.0, 2)
            say(c.name)
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        say(s.run([a, b, c]))


def errors_printed(tf: Any, np: Any, say: Any, fails: Any) -> None:
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    v = tf.get_variable("v", [2, 2])
    with tf.Session() as s:
        for op, f in ((v, None), (tf.matmul(x, v), {x: [[1.0, 2.0]]}), (x * 2, None), (tf.log(-1.0), None)):
            try:
                say(s.run(op, f))
            except tf.errors.FailedPreconditionError as e:
                say("FP", e.error_code)
            except tf.errors.InvalidArgumentError as e:
                say("IA", e.error_code, e.op.name)
        for cls in (tf.errors.AbortedError, tf.errors.AlreadyExistsError, tf.errors.CancelledError, tf.errors.DataLossError, tf.errors.DeadlineExceededError, tf.errors.UnavailableError, tf.errors.UnimplementedError, tf.errors.UnknownError):
            e = cls(None, None, "m")
            say(cls.__name__, e.error_code, e.message, e.op, isinstance(e, tf.OpError), str(e))
    say(tf.errors.exception_type_from_error_code(3).__name__, tf.errors.error_code_from_exception_type(tf.errors.NotFoundError))


def sessions_in_threads(tf: Any, np: Any, say: Any, fails: Any) -> None:
    g = tf.Graph()
    with g.as_default():
        x = tf.placeholder(tf.float32, [])
        y = x * x
    s = tf.Session(graph=g)
    out: list[Any] = [None] * 8

    def work(i: int) -> None:
        out[i] = float(s.run(y, {x: i}))

    ts = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    [t.start() for t in ts]
    [t.join() for t in ts]
    say(out, tf.get_default_graph() is g)
    s.close()
    fails(s.run, y, {x: 1})


def ema_and_saver(tf: Any, np: Any, say: Any, fails: Any) -> None:
    d = tempfile.mkdtemp()
    w = tf.Variable(1.0, name="w")
    ema = tf.train.ExponentialMovingAverage(0.5, zero_debias=False)
    op = ema.apply([w])
    names = ema.variables_to_restore()
    say(sorted(names), ema.average_name(w), ema.average(w).name)
    up = w.assign_add(1.0)
    sv = tf.train.Saver()
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        for _ in range(3):
            s.run(up)
            s.run(op)
        say(s.run([w, ema.average(w)]))
        p = sv.save(s, d + "/e")
    r = tf.train.Saver(names)
    with tf.Session() as s:
        r.restore(s, p)
        say(s.run(w))


def gradient_corner_cases(tf: Any, np: Any, say: Any, fails: Any) -> None:
    x = tf.constant([1.0, 2.0, 3.0])
    i = tf.constant([0, 2])
    cases = [tf.gather(x, i), tf.boolean_mask(x, [True, False, True]), tf.dynamic_partition(x, [0, 1, 0], 2)[0], tf.reduce_max(x), tf.sort(x), tf.cumsum(x), tf.where(x > 1.5, x, -x), tf.nn.top_k(x, 2)[0], tf.segment_sum(x, [0, 0, 1]), tf.tile(x, [2]), tf.pad(x, [[1, 0]]), tf.reverse(x, [0]), tf.norm(x), tf.reduce_prod(x), tf.cast(x, tf.float64), tf.abs(x - 2.0), tf.maximum(x, 2.0), tf.nn.softmax(x), tf.nn.l2_normalize(x), tf.einsum("i,i->", x, x), tf.tensordot(x, x, 1), tf.reshape(x, [3, 1]), tf.squeeze(x[None]), tf.stack([x, x]), tf.unstack(x)[1], tf.split(x, 3)[2], tf.concat([x, x], 0), tf.slice(x, [1], [2]), x[::2], tf.one_hot(i, 3) @ x[:, None], tf.clip_by_value(x, 1.5, 2.5), tf.nn.dropout(x, keep_prob=1.0), tf.real(tf.complex(x, x)), tf.matrix_diag(x), tf.cross(x, x * 2 + 1), tf.nn.relu6(x * 3), tf.nn.elu(-x), tf.nn.softplus(x), tf.reduce_logsumexp(x), tf.atan2(x, x + 1), tf.lgamma(x), tf.erf(x), tf.floor(x), tf.square(x) / x]
    with tf.Session() as s:
        for c in cases:
            g = tf.gradients(c, x)[0]
            if g is None:
                say(c.name, None)
                continue
            g = tf.convert_to_tensor(g)
            say(c.name, np.round(s.run(g), 4).tolist())
