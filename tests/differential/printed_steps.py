"""Training loops, losses, metrics, summaries, sessions that watch over a run."""

import os
import tempfile
from typing import Any


def sparse_updates(tf: Any, np: Any, say: Any, fails: Any) -> None:
    emb = tf.get_variable("emb", initializer=np.linspace(0, 1, 12).reshape(6, 2).astype(np.float32))
    ids = tf.placeholder(tf.int32, [None])
    e = tf.nn.embedding_lookup(emb, ids)
    loss = tf.reduce_sum(tf.square(e))
    g = tf.gradients(loss, emb)[0]
    say(type(g).__name__, g.values.name, g.indices.name, g.dense_shape.name)
    step = tf.train.get_or_create_global_step()
    for name, opt in [("mom", tf.train.MomentumOptimizer(0.1, 0.9)), ("ada", tf.train.AdagradOptimizer(0.1)), ("adam", tf.train.AdamOptimizer(0.1)), ("ftrl", tf.train.FtrlOptimizer(0.1))]:
        train = opt.minimize(loss, global_step=step)
        say(name, train.name, opt.get_slot_names(), [opt.get_slot(emb, n).name for n in opt.get_slot_names()])
        with tf.Session() as s:
            s.run(tf.global_variables_initializer())
            for _ in range(2):
                s.run(train, {ids: [1, 3, 1]})
            say(np.round(s.run(emb), 4).tolist(), s.run(step))
    clipped, norm = tf.clip_by_global_norm([g], 0.5)
    say(type(clipped[0]).__name__, norm.name)
    sp = tf.SparseTensor([[0, 0], [1, 1], [1, 2]], tf.constant([1, 2, 4], tf.int64), [2, 3])
    out = tf.nn.embedding_lookup_sparse(emb, sp, None, combiner="mean")
    wts = tf.nn.embedding_lookup_sparse([emb], sp, tf.SparseTensor(sp.indices, [1.0, 2.0, 3.0], [2, 3]), combiner="sqrtn")
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        say(s.run(out), np.round(s.run(wts), 5))
        say(np.round(s.run(norm, {ids: [0, 5]}), 5))


def learning_rates(tf: Any, np: Any, say: Any, fails: Any) -> None:
    gs = tf.Variable(0, trainable=False, name="gs")
    up = tf.assign_add(gs, 1)
    rates = [
        tf.train.exponential_decay(0.1, gs, 3, 0.9),
        tf.train.exponential_decay(0.1, gs, 3, 0.9, staircase=True, name="st"),
        tf.train.piecewise_constant(gs, [2, 4], [1.0, 0.5, 0.1]),
        tf.train.polynomial_decay(0.1, gs, 5, 0.01, power=2.0, cycle=True),
        tf.train.natural_exp_decay(0.1, gs, 2, 0.5),
        tf.train.inverse_time_decay(0.1, gs, 2, 0.5, staircase=True),
        tf.train.cosine_decay(0.1, gs, 5, alpha=0.1),
        tf.train.cosine_decay_restarts(0.1, gs, 3),
        tf.train.linear_cosine_decay(0.1, gs, 5),
    ]
    say([r.name for r in rates])
    with tf.Session() as s:
        s.run(gs.initializer)
        for _ in range(6):
            say([float("%.5f" % v) for v in s.run(rates)], s.run(up))
    fails(tf.train.exponential_decay, 0.1, None, 3, 0.9)
    fails(tf.train.piecewise_constant, gs, [2, 4], [1.0, 0.5])
    fails(tf.train.polynomial_decay, 0.1, None, 5)


def losses_all(tf: Any, np: Any, say: Any, fails: Any) -> None:
    y = tf.constant([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
    p = tf.constant([[0.2, 0.7, 0.1], [0.3, 0.3, 0.4]])
    w = tf.constant([[1.0], [0.5]])
    R = tf.losses.Reduction
    made = [
        tf.losses.mean_squared_error(y, p),
        tf.losses.absolute_difference(y, p, weights=w),
        tf.losses.sigmoid_cross_entropy(y, p, label_smoothing=0.1),
        tf.losses.softmax_cross_entropy(y, p, weights=[1.0, 2.0]),
        tf.losses.sparse_softmax_cross_entropy([1, 0], p, reduction=R.SUM),
        tf.losses.hinge_loss(y, p),
        tf.losses.huber_loss(y, p, delta=0.3, scope="hub"),
        tf.losses.log_loss(y, p, reduction=R.MEAN),
        tf.losses.cosine_distance(y, p, axis=1),
        tf.losses.mean_pairwise_squared_error(y, p),
        tf.losses.mean_squared_error(y, p, loss_collection=None),
        tf.losses.compute_weighted_loss(tf.square(p), 2.0),
        tf.losses.mean_squared_error(y, p, reduction=R.NONE),
    ]
    say([m.name for m in made], len(tf.losses.get_losses()))
    say([l.name for l in tf.losses.get_losses("hub")])
    fails(tf.losses.mean_squared_error, y, p[:, :2])
    fails(tf.losses.mean_squared_error, y, p, weights=tf.ones([3, 1]))
    fails(tf.losses.mean_squared_error, None, p)
    fails(tf.losses.mean_squared_error, y, p, reduction="bogus")
    tf.losses.add_loss(tf.constant(3.0))
    with tf.Session() as s:
        say([np.round(v, 4).tolist() for v in s.run(made)])
        fails(tf.losses.get_total_loss)
    say(R.all(), R.SUM_BY_NONZERO_WEIGHTS)


def metrics_all(tf: Any, np: Any, say: Any, fails: Any) -> None:
    lab = tf.placeholder(tf.int64, [None])
    pred = tf.placeholder(tf.float32, [None])
    cls = tf.cast(pred > 0.5, tf.int64)
    m = {
        "accuracy": tf.metrics.accuracy(lab, cls),
        "precision": tf.metrics.precision(lab, cls),
        "recall": tf.metrics.recall(lab, cls),
        "auc": tf.metrics.auc(lab, pred, num_thresholds=20),
        "pr": tf.metrics.auc(lab, pred, curve="PR", num_thresholds=20, summation_method="careful_interpolation"),
        "mean": tf.metrics.mean(pred),
        "mae": tf.metrics.mean_absolute_error(tf.cast(lab, tf.float32), pred),
        "rmse": tf.metrics.root_mean_squared_error(tf.cast(lab, tf.float32), pred),
        "iou": tf.metrics.mean_iou(lab, cls, 2),
        "fn": tf.metrics.false_negatives(lab, cls),
        "tp_at": tf.metrics.true_positives_at_thresholds(lab, pred, [0.3, 0.6]),
        "prt": tf.metrics.precision_at_thresholds(lab, pred, [0.3, 0.6]),
        "per_class": tf.metrics.mean_per_class_accuracy(lab, cls, 2),
        "pct": tf.metrics.percentage_below(pred, 0.5),
        "rel": tf.metrics.mean_relative_error(tf.cast(lab, tf.float32), pred, tf.ones_like(pred)),
        "sas": tf.metrics.sensitivity_at_specificity(lab, pred, 0.6, num_thresholds=20),
        "sps": tf.metrics.specificity_at_sensitivity(lab, pred, 0.6, num_thresholds=20),
        "tensor": tf.metrics.mean_tensor(tf.stack([tf.reduce_max(pred), tf.reduce_min(pred)])),
        "cos": tf.metrics.mean_cosine_distance(tf.nn.l2_normalize(tf.reshape(pred, [1, -1]), 1), tf.nn.l2_normalize(tf.reshape(pred, [1, -1]), 1), 1),
    }
    say([(k, v.name, u.name) for k, (v, u) in m.items()])
    say([v.name for v in tf.local_variables()])
    with tf.Session() as s:
        s.run(tf.local_variables_initializer())
        for l, p in (([1, 0, 1, 0], [0.9, 0.1, 0.4, 0.6]), ([1, 1], [0.8, 0.2])):
            s.run([u for _, u in m.values()], {lab: l, pred: p})
            say({k: np.round(s.run(v), 4).tolist() for k, (v, _) in m.items()})


def metrics_at_k(tf: Any, np: Any, say: Any, fails: Any) -> None:
    lab = tf.constant([[0], [2], [1]], tf.int64)
    pr = tf.constant([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7]])
    m = [tf.metrics.recall_at_k(lab, pr, 2), tf.metrics.precision_at_k(lab, pr, 1), tf.metrics.average_precision_at_k(lab, pr, 2)]
    say([(a.name, b.name) for a, b in m])
    top = tf.nn.in_top_k(pr, [0, 2, 1], 2)
    with tf.Session() as s:
        s.run(tf.local_variables_initializer())
        say(np.round(s.run([b for _, b in m]), 4), np.round(s.run([a for a, _ in m]), 4), s.run(top))


def summaries_everywhere(tf: Any, np: Any, say: Any, fails: Any) -> None:
    d = tempfile.mkdtemp()
    x = tf.placeholder(tf.float32, [None], name="x")
    with tf.name_scope("stats"):
        tf.summary.scalar("mean", tf.reduce_mean(x))
        tf.summary.histogram("hist", x)
        tf.summary.scalar("mean", tf.reduce_max(x), collections=["mine"], family="fam")
    t = tf.summary.text("words", tf.constant("hello"))
    i = tf.summary.image("pic", tf.reshape(x, [1, 2, 2, 1]), max_outputs=1)
    merged = tf.summary.merge_all()
    mine = tf.summary.merge_all("mine")
    say(merged.name, mine.name, t.name, i.name, tf.summary.merge_all("nothing"))
    say(tf.get_collection(tf.GraphKeys.SUMMARIES))
    bad = tf.summary.scalar("name with spaces", tf.constant(1.0))
    say(bad.name)
    fails(tf.Session().run, tf.summary.scalar("vec", tf.constant([1.0, 2.0])))
    with tf.Session() as s, tf.summary.FileWriter(d, s.graph) as w:
        for step in range(2):
            out = s.run(merged, {x: [1.0 * step, 2, 3, 4]})
            w.add_summary(out, step)
        w.add_summary(tf.Summary(value=[tf.Summary.Value(tag="manual", simple_value=0.25)]), 7)
        parsed = tf.Summary.FromString(s.run(mine, {x: [1, 2, 3, 9]}))
        say([(v.tag, v.simple_value) for v in parsed.value])
        w.flush()
    f = [os.path.join(d, n) for n in os.listdir(d)]
    say(len(f), "events.out.tfevents" in f[0])
    for e in tf.train.summary_iterator(f[0]):
        say(e.step, e.WhichOneof("what"), [(v.tag, v.WhichOneof("value")) for v in e.summary.value])


def monitored_everything(tf: Any, np: Any, say: Any, fails: Any) -> None:
    d = tempfile.mkdtemp()
    x = tf.placeholder_with_default(np.float32(2.0), [])
    w = tf.get_variable("w", [], initializer=tf.ones_initializer())
    gs = tf.train.get_or_create_global_step()
    loss = tf.square(w * x - 1.0, name="loss")
    train = tf.train.GradientDescentOptimizer(0.05).minimize(loss, global_step=gs)

    class Watch(tf.train.SessionRunHook):  # type: ignore[misc]
        def begin(self) -> None:
            say("begin")

        def after_create_session(self, session: Any, coord: Any) -> None:
            say("created", coord.should_stop())

        def before_run(self, run_context: Any) -> Any:
            return tf.train.SessionRunArgs([loss, gs])

        def after_run(self, run_context: Any, run_values: Any) -> None:
            l, g = run_values.results
            say("step", g, round(float(l), 4), run_context.stop_requested)

        def end(self, session: Any) -> None:
            say("end", session.run(gs))

    with tf.train.MonitoredTrainingSession(
        checkpoint_dir=d, hooks=[Watch(), tf.train.StopAtStepHook(last_step=3), tf.train.NanTensorHook(loss)], save_checkpoint_secs=None, save_checkpoint_steps=2, log_step_count_steps=None,
    ) as sess:
        while not sess.should_stop():
            sess.run(train)
    say(sorted(f for f in os.listdir(d) if f.startswith("model") and f.endswith("index")))
    with tf.train.MonitoredTrainingSession(checkpoint_dir=d, hooks=[tf.train.StopAtStepHook(num_steps=1)], log_step_count_steps=None) as sess:
        say(sess.run(gs))
        sess.run(train)
        say(sess.should_stop())
        fails(sess.run, train)
    fails(tf.train.StopAtStepHook)
    fails(tf.train.StopAtStepHook, 1, 2)
    nan = tf.log(w * 0 - 1.0)
    with tf.train.SingularMonitoredSession(hooks=[tf.train.NanTensorHook(nan)]) as sess:
        fails(sess.run, nan)
    try:
        with tf.train.MonitoredSession() as sess:
            raise KeyError("mine")
    except KeyError as e:
        say("propagated", e)
    with tf.train.MonitoredSession(session_creator=tf.train.ChiefSessionCreator(scaffold=tf.train.Scaffold(init_op=w.assign(5.0), ready_op=tf.constant([], tf.string), ready_for_local_init_op=tf.constant([], tf.string)))) as sess:
        say(sess.run(w), sess.run_step_fn(lambda step_context: step_context.session.run(w) + 1))
    feeds = tf.train.FeedFnHook(lambda: {x: 10.0})
    final = tf.train.FinalOpsHook(w + 1)
    product = w * x
    with tf.train.MonitoredSession(hooks=[feeds, final]) as sess:
        say(sess.run(product))
    say(final.final_ops_values)


def optimizer_details(tf: Any, np: Any, say: Any, fails: Any) -> None:
    a = tf.Variable([1.0, 2.0], name="a")
    b = tf.Variable(3.0, name="b")
    n = tf.Variable(1, name="n", trainable=False)
    loss = tf.reduce_sum(a * a)
    opt = tf.train.AdamOptimizer(0.1, name="MyAdam")
    gv = opt.compute_gradients(loss)
    say([(g if g is None else g.name, v.name) for g, v in gv])
    fails(opt.apply_gradients, [])
    fails(opt.apply_gradients, [(None, a)])
    fails(opt.minimize, tf.constant(1.0))
    fails(opt.minimize, loss, var_list=[n])
    fails(opt.minimize, loss, var_list=[b])
    fails(tf.train.GradientDescentOptimizer("x").minimize, loss)
    capped = [(tf.clip_by_value(g, -1.0, 1.0), v) for g, v in gv if g is not None]
    t = opt.apply_gradients(capped, name="train_it")
    say(t.name, t.type, [v.name for v in opt.variables()], opt.get_slot_names(), opt.get_slot(a, "m"), opt.get_slot(b, "m"))
    sgd = tf.train.GradientDescentOptimizer(tf.constant(0.5), use_locking=True)
    t2 = sgd.minimize(loss, var_list=[a], gate_gradients=sgd.GATE_GRAPH, aggregation_method=tf.AggregationMethod.ADD_N, colocate_gradients_with_ops=True, grad_loss=tf.constant(2.0))
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        s.run(t)
        say(np.round(s.run(a), 5))
        s.run(t2)
        say(np.round(s.run(a), 5))
    rms = tf.train.RMSPropOptimizer(0.01, centered=True)
    rms.minimize(loss)
    say(sorted(v.name for v in tf.global_variables()))


def clipping(tf: Any, np: Any, say: Any, fails: Any) -> None:
    t = tf.constant([[3.0, 4.0], [0.0, -5.0]])
    outs = [
        tf.clip_by_value(t, -1.0, 2.0), tf.clip_by_norm(t, 1.0), tf.clip_by_norm(t, 1.0, axes=[1]), tf.clip_by_average_norm(t, 0.5),
        tf.global_norm([t, None, t]), *tf.clip_by_global_norm([t, t * 2], 1.0)[0], tf.verify_tensor_all_finite(t, "bad"), tf.check_numerics(t, "m"),
    ]
    say([o.name for o in outs])
    with tf.Session() as s:
        for o in s.run(outs):
            say(np.round(o, 4).tolist())
        fails(s.run, tf.check_numerics(t / 0.0, "found"))
        fails(s.run, tf.verify_tensor_all_finite(tf.log(-t), "also"))
    fails(tf.clip_by_value, t, "a", 1.0)


def batch_norm_training(tf: Any, np: Any, say: Any, fails: Any) -> None:
    tf.set_random_seed(1)
    x = tf.placeholder(tf.float32, [None, 3])
    training = tf.placeholder(tf.bool, [])
    h = tf.layers.dense(x, 4, activation=tf.nn.relu, kernel_initializer=tf.ones_initializer(), name="fc")
    h = tf.layers.batch_normalization(h, training=training, momentum=0.5, name="bn")
    h = tf.layers.dropout(h, rate=0.0, training=training)
    loss = tf.reduce_mean(tf.square(h - 1))
    ups = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    say(len(ups), [v.name for v in tf.trainable_variables()], [v.name for v in tf.global_variables()])
    with tf.control_dependencies(ups):
        t = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        data = np.arange(12).reshape(4, 3) / 6.0
        for _ in range(3):
            s.run(t, {x: data, training: True})
        mean, var = [v for v in tf.global_variables() if "moving" in v.name]
        say(np.round(s.run([mean, var]), 4), np.round(s.run(loss, {x: data, training: False}), 4))


def gradient_checks(tf: Any, np: Any, say: Any, fails: Any) -> None:
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    y = tf.reduce_sum(tf.sigmoid(x) * x)
    with tf.Session():
        say(tf.test.compute_gradient_error(x, [2, 2], y, []) < 1e-2)
        a, b = tf.test.compute_gradient(x, [2, 2], y, [], x_init_value=np.ones((2, 2), np.float32))
        say(a.shape, b.shape, np.allclose(a, b, atol=1e-2))
    fails(tf.gradients, y, "x")
    say(tf.gradients(y, tf.constant(1.0)), tf.gradients(y, [x, x])[1].name)
    fails(tf.gradients, y, x, grad_ys=[1.0, 2.0])
    say(tf.gradients(tf.argmax(x), x))
    say(tf.gradients(y, tf.constant(1.0), unconnected_gradients="zero"))
    fails(tf.gradients, y, x, unconnected_gradients="bogus")
    h = tf.hessians(tf.reduce_sum(x**3), x)[0]
    with tf.Session() as s:
        say(s.run(h).reshape(4, 4))

    @tf.custom_gradient
    def log1pexp(z: Any) -> Any:
        e = tf.exp(z)

        def grad(dy: Any) -> Any:
            return dy * (1 - 1 / (1 + e))

        return tf.log(1 + e), grad

    z = tf.constant(100.0)
    out = log1pexp(z)
    say(out.name, tf.gradients(out, z)[0].name)
    with tf.Session() as s:
        say(s.run(tf.gradients(log1pexp(z), z)))

    @tf.RegisterGradient("TriplePrinted%d" % id(tf))
    def _triple(op: Any, g: Any) -> Any:
        return 3.0 * g

    with tf.get_default_graph().gradient_override_map({"Identity": "TriplePrinted%d" % id(tf)}):
        i = tf.identity(x)
    with tf.Session() as s:
        say(s.run(tf.gradients(i, x)[0]))
    stop = tf.stop_gradient(x) * x
    with tf.Session() as s:
        say(s.run(tf.gradients(stop, x)[0]), s.run(tf.gradients(x * x * x, x, stop_gradients=[x])[0]))


def options_of_hooks(tf: Any, np: Any, say: Any, fails: Any) -> None:
    class Asks(tf.train.SessionRunHook):
        def __init__(self, options: Any = None, feeds: Any = None) -> None:
            self._asked = tf.train.SessionRunArgs(None, feeds, options=options)

        def before_run(self, run_context: Any) -> Any:
            return self._asked

        def after_run(self, run_context: Any, run_values: Any) -> None:
            o, metadata = run_values.options, run_values.run_metadata
            say(o.trace_level, o.timeout_in_ms, o.output_partition_graphs, len(metadata.step_stats.dev_stats) > 0)

    x = tf.placeholder_with_default(1.0, [])
    y = x + 1.0
    traced, timed = Asks(tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)), Asks(tf.RunOptions(timeout_in_ms=50000, trace_level=1))
    for hooks in ([], [Asks()], [traced, timed], [Asks(feeds={x: 2.0})], [Asks(feeds={x: 2.0}), Asks(feeds={x: 3.0})]):
        with tf.train.MonitoredSession(hooks=hooks) as sess:
            fails(lambda: say(sess.run(y)))
            fails(sess.run, y, {x: 4.0})
            own, metadata = tf.RunOptions(timeout_in_ms=90000), tf.RunMetadata()
            fails(sess.run, y, options=own, run_metadata=metadata)
            say(own.timeout_in_ms, own.trace_level, len(metadata.step_stats.dev_stats) > 0)
