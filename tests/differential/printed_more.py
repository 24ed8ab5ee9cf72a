"""Further programs: steps in pieces, pictures, branches, parts of tables, saved graphs, loops, losses."""

import tempfile
from typing import Any


def layers_more(tf: Any, np: Any, say: Any, fails: Any) -> None:
    tf.set_random_seed(2)
    x1, x2, x3 = (tf.ones([2, 6, 3]), tf.ones([2, 6, 6, 3]), tf.ones([1, 4, 4, 4, 2]))
    one = tf.ones_initializer()
    outs = [
        tf.layers.conv1d(x1, 2, 3, kernel_initializer=one),
        tf.layers.conv2d_transpose(x2, 2, 3, 2, padding="same", kernel_initializer=one),
        tf.layers.separable_conv2d(x2, 2, 3, depthwise_initializer=one, pointwise_initializer=one),
        tf.layers.conv3d(x3, 2, 2, kernel_initializer=one),
        tf.layers.max_pooling1d(x1, 2, 2),
        tf.layers.average_pooling1d(x1, 2, 2),
        tf.layers.average_pooling2d(x2, 2, 2),
        tf.layers.max_pooling3d(x3, 2, 2),
        tf.layers.average_pooling3d(x3, 2, 2),
        tf.layers.conv3d_transpose(x3, 1, 2, kernel_initializer=one),
        tf.layers.separable_conv1d(x1, 2, 3, depthwise_initializer=one, pointwise_initializer=one),
    ]
    say([(o.name, o.shape.as_list()) for o in outs])
    say([(v.name, v.shape.as_list()) for v in tf.global_variables()])
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        say([float(np.round(s.run(o).mean(), 3)) for o in outs])
    d = tf.layers.Dense(3, activation=tf.nn.relu, name="dd")
    y = d(tf.ones([2, 4]))
    say(y, d.kernel, d.bias, d.variables, d.trainable_weights, d.name, d.units)
    say(d.apply(tf.ones([1, 4])), d.losses, d.updates)
    fails(d, tf.ones([2, 5]))
    c = tf.layers.Conv2D(2, (3, 3), (1, 1), name="cc")
    say(c(x2), c.kernel.shape)


def optim_all(tf: Any, np: Any, say: Any, fails: Any) -> None:
    for o in (
        tf.train.GradientDescentOptimizer(0.1),
        tf.train.MomentumOptimizer(0.1, 0.9),
        tf.train.AdamOptimizer(0.1),
        tf.train.AdagradOptimizer(0.1),
        tf.train.RMSPropOptimizer(0.1, momentum=0.5, centered=True),
        tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.01),
        tf.train.AdadeltaOptimizer(1.0),
        tf.train.ProximalAdagradOptimizer(0.1),
    ):
        with tf.Graph().as_default():
            v = tf.Variable([1.0, -2.0], name="v")
            e = tf.Variable(tf.ones([3, 2]), name="e")
            loss = tf.reduce_sum(v * v) + tf.reduce_sum(tf.nn.embedding_lookup(e, [0, 2, 0]))
            t = o.minimize(loss)
            with tf.Session() as s:
                s.run(tf.global_variables_initializer())
                [s.run(t) for _ in range(3)]
                say(
                    o.get_name(),
                    np.round(s.run(v), 4),
                    np.round(s.run(e), 4).tolist(),
                    o.get_slot_names(),
                )


def misc_math(tf: Any, np: Any, say: Any, fails: Any) -> None:
    with tf.Session() as s:
        x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
        for t in (
            tf.matrix_determinant(x),
            tf.trace(x),
            tf.cumsum(x, 1),
            tf.reduce_logsumexp(x),
            tf.nn.top_k(x, 1),
            tf.unique([1, 1, 2]),
            tf.setdiff1d([1, 2, 3], [2]),
            tf.nn.l2_normalize(x, 1),
            tf.norm(x),
            tf.einsum("ij,jk->ik", x, x),
            tf.tensordot(x, x, 1),
            tf.meshgrid([1, 2], [3, 4]),
            tf.linspace(0.0, 1.0, 3),
            tf.nn.moments(x, [0]),
            tf.segment_sum([1, 2, 3], [0, 0, 1]),
            tf.dynamic_partition([1, 2, 3], [0, 1, 0], 2),
            tf.reverse(x, [0]),
            tf.pad(x, [[1, 0], [0, 1]]),
            tf.where(x > 2),
            tf.boolean_mask(x, [True, False]),
            tf.one_hot([0, 2], 3),
            tf.squared_difference(x, 1.0),
            tf.bincount([1, 1, 2]),
            tf.confusion_matrix([0, 1], [1, 1]),
            tf.broadcast_to([1, 2], [2, 2]),
            tf.strings.join(["a", "b"]),
            tf.string_split(["a b", "c"]),
            tf.as_string(3),
            tf.string_to_number("2.5"),
            tf.no_op(),
        ):
            r = s.run(t)
            say(r if not isinstance(r, float) else round(r, 4))


def losses_api(tf: Any, np: Any, say: Any, fails: Any) -> None:
    l, p = (tf.constant([[1.0, 0.0], [0.0, 1.0]]), tf.constant([[0.8, 0.1], [0.3, 0.6]]))
    w = tf.constant([[1.0], [0.5]])
    L = tf.losses
    for f, a in (
        (L.mean_squared_error, (l, p)),
        (L.absolute_difference, (l, p)),
        (L.log_loss, (l, p)),
        (L.huber_loss, (l, p)),
        (L.hinge_loss, (l, p)),
        (L.cosine_distance, (l, p)),
        (L.sigmoid_cross_entropy, (l, p)),
        (L.softmax_cross_entropy, (l, p)),
        (L.mean_pairwise_squared_error, (l, p)),
    ):
        kw = {"axis": 1} if f is L.cosine_distance else {}
        for r in (
            (
                L.Reduction.NONE,
                L.Reduction.SUM,
                L.Reduction.MEAN,
                L.Reduction.SUM_BY_NONZERO_WEIGHTS,
            )
            if f is not L.mean_pairwise_squared_error
            else (None,)
        ):
            x = f(*a, **kw, **{"reduction": r} if r else {})
            with tf.Session() as s:
                say(f.__name__, r, x.name, np.round(s.run(x), 4).tolist())
    say(len(L.get_losses()))
    x = L.mean_squared_error(l, p, weights=w, scope="sc", loss_collection=None)
    with tf.Session() as s:
        say(
            x.name,
            s.run(x),
            s.run(L.compute_weighted_loss([1.0, 2.0], 0.5)),
            s.run(L.softmax_cross_entropy(l, p, label_smoothing=0.1)),
        )
    fails(L.mean_squared_error, l, tf.ones([3]))
    fails(L.mean_squared_error, None, l)
    fails(L.absolute_difference, l, p, weights=tf.ones([3, 3, 3]))


def partial_chain(tf: Any, np: Any, say: Any, fails: Any) -> None:
    a = tf.placeholder(tf.float32, [], name="a")
    b = tf.placeholder(tf.float32, [], name="b")
    v = tf.Variable(0.0)
    inc = v.assign_add(a)
    y = inc * 2.0
    z = y + b
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        h = s.partial_run_setup([y, z], [a, b])
        say(s.partial_run(h, y, {a: 3.0}))
        say(s.partial_run(h, z, {b: 1.0}))
        say(s.run(v))
        h = s.partial_run_setup([z], [a, b])


def image_pipeline(tf: Any, np: Any, say: Any, fails: Any) -> None:
    tf.set_random_seed(1)
    img = tf.constant(np.arange(48, dtype=np.float32).reshape(4, 4, 3) / 48)
    outs = [
        tf.image.resize_images(img, [2, 2]),
        tf.image.per_image_standardization(img),
        tf.image.flip_left_right(img),
        tf.image.adjust_brightness(img, 0.1),
        tf.image.rgb_to_grayscale(img),
        tf.image.central_crop(img, 0.5),
        tf.image.resize_image_with_crop_or_pad(img, 6, 3),
        tf.image.random_flip_left_right(img, seed=1),
        tf.random_crop(img, [2, 2, 3], seed=2),
        tf.image.convert_image_dtype(img, tf.uint8),
        tf.image.random_brightness(img, 0.3, seed=3),
        tf.image.random_contrast(img, 0.2, 1.8, seed=4),
        tf.image.adjust_hue(img, 0.1),
        tf.image.adjust_saturation(img, 2.0),
        tf.image.pad_to_bounding_box(img, 1, 1, 6, 6),
        tf.image.total_variation(img),
        tf.image.rot90(img),
    ]
    with tf.Session() as s:
        for o in outs:
            r = s.run(o)
            say(o.shape, np.round(r.astype(np.float64).sum(), 2))


def tf_print_and_cond(tf: Any, np: Any, say: Any, fails: Any) -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    y = tf.cond(x > 0, lambda: x * 2, lambda: -x)
    z = tf.case(
        [(x > 10, lambda: tf.constant(1)), (x > 5, lambda: tf.constant(2))],
        default=lambda: tf.constant(3),
    )
    g = tf.gradients(y, x)
    c = tf.case({x > 1: lambda: tf.constant(1.0)}, default=lambda: tf.constant(0.0), exclusive=True)
    with tf.Session() as s:
        say([s.run([y, z, g[0], c], {x: v}) for v in (-3.0, 7.0, 20.0)])
    fails(tf.cond, x > 0, lambda: x, lambda: tf.constant(1))
    fails(tf.cond, x, lambda: x, lambda: x)
    fails(tf.cond, x > 0, x, lambda: x)
    say(tf.cond(tf.constant(True), lambda: x, lambda: x).name, y.name)


def lr_schedule_and_clip(tf: Any, np: Any, say: Any, fails: Any) -> None:
    w = tf.Variable([3.0, 4.0])
    gs = tf.Variable(0, trainable=False)
    lr = tf.train.polynomial_decay(0.5, gs, 4, 0.1)
    loss = tf.reduce_sum(w**2)
    o = tf.train.MomentumOptimizer(lr, 0.5)
    gv = [(tf.clip_by_norm(g, 2.0), v) for g, v in o.compute_gradients(loss)]
    t = o.apply_gradients(gv, gs)
    say(tf.clip_by_average_norm(w, 1.0).shape, tf.global_norm([w, w]).name)
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        for _ in range(5):
            s.run(t)
            say(np.round(s.run([lr, loss]), 4), np.round(s.run(w), 4))


def embeddings_partitioned(tf: Any, np: Any, say: Any, fails: Any) -> None:
    with tf.variable_scope("e", partitioner=tf.min_max_variable_partitioner(3, min_slice_size=8)):
        e = tf.get_variable("emb", [6, 2], initializer=tf.constant_initializer(0.5))
    say(
        [p.name for p in e],
        [p.shape.as_list() for p in e],
        [p._get_save_slice_info().spec for p in e],
    )
    r = tf.nn.embedding_lookup(e, [0, 5, 3], partition_strategy="div")
    m = tf.nn.embedding_lookup(list(e), [[0, 1]], max_norm=1.0)
    d = tempfile.mkdtemp()
    sv = tf.train.Saver()
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        say(s.run(r), np.round(s.run(m), 3))
        sv.save(s, d + "/m")
        say(tf.train.list_variables(d + "/m"))
    g = tf.gradients(tf.reduce_sum(r), list(e))
    say([type(x).__name__ for x in g])


def batch_norm_eval(tf: Any, np: Any, say: Any, fails: Any) -> None:
    x = tf.placeholder(tf.float32, [None, 3])
    m, v = tf.nn.moments(x, [0])
    ema = tf.train.ExponentialMovingAverage(0.5)
    t = tf.placeholder(tf.bool, [])

    def upd():
        with tf.control_dependencies([ema.apply([m, v])]):
            return (tf.identity(m), tf.identity(v))

    mean, var = tf.cond(t, upd, lambda: (ema.average(m), ema.average(v)))
    y = tf.nn.batch_normalization(x, mean, var, None, None, 0.001)
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        d = np.arange(6.0).reshape(2, 3)
        for k in (True, True, False):
            say(np.round(s.run(y, {x: d, t: k}), 3).tolist())
    say([q.name for q in tf.global_variables()])


def metagraph(tf: Any, np: Any, say: Any, fails: Any) -> None:
    d = tempfile.mkdtemp()
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    w = tf.get_variable("w", [2, 1], initializer=tf.ones_initializer())
    y = tf.matmul(x, w, name="y")
    tf.add_to_collection("out", y)
    sv = tf.train.Saver()
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        sv.save(s, d + "/m", global_step=3)
        tf.saved_model.simple_save(s, d + "/sm", {"x": x}, {"y": y})
    with tf.Graph().as_default(), tf.Session() as s:
        n = tf.train.import_meta_graph(d + "/m-3.meta")
        n.restore(s, tf.train.latest_checkpoint(d))
        say(
            s.run(tf.get_collection("out")[0], {"x:0": [[1, 2]]}),
            [v.name for v in tf.trainable_variables()],
        )
    with tf.Graph().as_default(), tf.Session() as s:
        mg = tf.saved_model.loader.load(s, ["serve"], d + "/sm")
        sig = mg.signature_def["serving_default"]
        say(
            sig.inputs["x"].name,
            sig.method_name,
            s.run(sig.outputs["y"].name, {sig.inputs["x"].name: [[3, 4]]}),
        )


def global_norm_training(tf: Any, np: Any, say: Any, fails: Any) -> None:
    tf.set_random_seed(11)
    x = tf.random_normal([8, 4], seed=1)
    y = tf.cast(tf.reduce_sum(x, 1) > 0, tf.int32)
    h = tf.nn.relu(
        tf.matmul(x, tf.get_variable("w1", [4, 6], initializer=tf.initializers.he_normal(seed=2)))
        + tf.get_variable("b1", [6], initializer=tf.zeros_initializer())
    )
    logits = tf.matmul(
        h, tf.get_variable("w2", [6, 2], initializer=tf.initializers.lecun_uniform(seed=3))
    )
    loss = tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
    ) + 0.001 * tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables()])
    acc, up = tf.metrics.accuracy(y, tf.argmax(logits, 1))
    opt = tf.train.FtrlOptimizer(0.1)
    train = opt.minimize(loss)
    top = tf.nn.in_top_k(logits, y, 1)
    with tf.Session() as s:
        s.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        for _ in range(4):
            say(np.round(s.run([loss, train])[0], 4))
        s.run(up)
        say(np.round(s.run(acc), 3), s.run(top).shape)


def string_things(tf: Any, np: Any, say: Any, fails: Any) -> None:
    s_ = tf.constant(["Hello World", "a b c"])
    with tf.Session() as s:
        say(
            s.run(tf.strings.length(s_)),
            s.run(tf.strings.lower(s_)),
            s.run(tf.strings.substr(s_, 0, 3)),
            s.run(tf.strings.regex_replace(s_, "o", "0")),
            s.run(tf.string_split(s_)).values,
            s.run(tf.reduce_join([["a", "b"]], 1)),
            s.run(tf.string_to_hash_bucket_fast(s_, 10)),
            s.run(tf.strings.to_number(["1.5"])),
            s.run(tf.strings.join(["a", tf.constant("b")], "-")),
            s.run(tf.as_string([1.5, 2.25])),
            s.run(tf.strings.split(s_)).values,
            s.run(tf.decode_raw(tf.constant(b"\x01\x02"), tf.uint8)),
            s.run(tf.encode_base64("hi")),
            s.run(tf.strings.format("x={}", tf.constant([1, 2]))),
        )


def rnn_cells(tf: Any, np: Any, say: Any, fails: Any) -> None:
    tf.set_random_seed(2)
    x = tf.ones([2, 3])
    C = tf.nn.rnn_cell
    for c in (
        C.BasicRNNCell(4),
        C.GRUCell(4),
        C.BasicLSTMCell(4, forget_bias=0.5),
        C.LSTMCell(4, use_peepholes=True, num_proj=2),
        C.MultiRNNCell([C.GRUCell(3), C.GRUCell(2)]),
        C.ResidualWrapper(C.GRUCell(3)),
        C.DropoutWrapper(C.GRUCell(3), 0.9, seed=1),
        C.DeviceWrapper(C.GRUCell(3), "/cpu:0"),
    ):
        with tf.variable_scope("s%d" % len(tf.global_variables())):
            o, st = c(x, c.zero_state(2, tf.float32))
            say(type(c).__name__, o.shape, c.state_size, c.output_size)
    outs, st = tf.nn.static_rnn(C.BasicRNNCell(2), [x, x], dtype=tf.float32)
    say(len(outs), outs[0].name)
    fails(tf.nn.dynamic_rnn, C.GRUCell(2), tf.ones([2, 3, 4]))
    say([v.name for v in tf.trainable_variables()])


def scan_and_friends(tf: Any, np: Any, say: Any, fails: Any) -> None:
    x = tf.constant([1.0, 2.0, 3.0])
    a = tf.scan(lambda c, e: c * e, x, initializer=tf.constant(2.0))
    b = tf.map_fn(lambda t: (t[0] + t[1], t[0] * t[1]), (x, x), dtype=(tf.float32, tf.float32))
    c = tf.foldr(lambda c, e: c - e, x)
    d = tf.scan(lambda s, e: (s[0] + e, s[1] * e), x, (0.0, 1.0))
    g = tf.gradients(a[-1], x)[0]
    m = tf.gradients(tf.map_fn(tf.square, x), x)[0]
    with tf.Session() as s:
        say(s.run([a, c, g, m]), s.run(b), s.run(d))
    fails(tf.scan, lambda a, b: a, x, initializer=(1.0, 2.0))


def session_conf(tf: Any, np: Any, say: Any, fails: Any) -> None:
    c = tf.ConfigProto(
        allow_soft_placement=True, log_device_placement=False, device_count={"GPU": 0}
    )
    c.gpu_options.allow_growth = True
    c.gpu_options.per_process_gpu_memory_fraction = 0.4
    c.graph_options.optimizer_options.opt_level = tf.OptimizerOptions.L0
    c.intra_op_parallelism_threads = 2
    say(c)
    with tf.Session(config=c) as s:
        say([d.device_type for d in s.list_devices()], s.run(tf.constant(1)))
    fails(tf.ConfigProto, nope=1)
    fails(setattr, c, "nope", 3)
    fails(tf.Session, config=3)
    fails(tf.Session, graph=3)
    d = tf.ConfigProto()
    d.CopyFrom(c)
    say(d == c, d.gpu_options.allow_growth)
    o = tf.RunOptions(timeout_in_ms=50)
    q = tf.FIFOQueue(1, tf.int32)
    with tf.Session() as s:
        fails(s.run, q.dequeue(), options=o)


def word_count_while(tf: Any, np: Any, say: Any, fails: Any) -> None:
    n = tf.placeholder(tf.int32, [])
    i = tf.constant(0)
    ta = tf.TensorArray(tf.float32, size=n, clear_after_read=False, element_shape=[])
    _, ta = tf.while_loop(
        lambda i, t: i < n,
        lambda i, t: (i + 1, t.write(i, tf.cast(i * i, tf.float32))),
        (i, ta),
        maximum_iterations=10,
        swap_memory=True,
        back_prop=False,
    )
    r = ta.stack()
    u = ta.read(1)
    k = ta.gather([0, 1])
    c = ta.size()
    say(r.shape, u.shape)
    with tf.Session() as s:
        say(s.run([r, u, k, c], {n: 4}))
    nested = tf.while_loop(
        lambda a, b: a < 3,
        lambda a, b: (
            a + 1,
            tf.while_loop(lambda p, q: p < a, lambda p, q: (p + 1, q + p), [0, b])[1],
        ),
        [0, 0],
    )
    with tf.Session() as s:
        say(s.run(nested))
