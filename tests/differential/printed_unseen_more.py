"""More programs of TensorFlow 1's days: pictures, clusters of points, factors, walks, sessions in pieces, readers, metrics."""

import os
import tempfile
from typing import Any


def mandelbrot_session(tf: Any, np: Any, say: Any, fails: Any) -> None:
    y, x = np.mgrid[-1.3:1.3:0.26, -2:1:0.2]
    xs = tf.constant((x + 1j * y).astype(np.complex64))
    zs = tf.Variable(xs)
    ns = tf.Variable(tf.zeros_like(xs, tf.float32))
    sess = tf.InteractiveSession()
    tf.global_variables_initializer().run()
    zs_ = zs * zs + xs
    not_diverged = tf.abs(zs_) < 4
    step = tf.group(zs.assign(zs_), ns.assign_add(tf.cast(not_diverged, tf.float32)))
    for _ in range(15):
        step.run()
    for row in ns.eval():
        say("".join("%x" % int(v) for v in row))
    say(zs.dtype, ns.eval().sum(), step.type, zs.op.type)
    sess.close()


def raindrops(tf: Any, np: Any, say: Any, fails: Any) -> None:
    def make_kernel(a: Any) -> Any:
        a = np.asarray(a)
        return tf.constant(a.reshape(list(a.shape) + [1, 1]), dtype=1)

    def simple_conv(x: Any, k: Any) -> Any:
        x = tf.expand_dims(tf.expand_dims(x, 0), -1)
        return tf.nn.depthwise_conv2d(x, k, [1, 1, 1, 1], padding="SAME")[0, :, :, 0]

    laplace = lambda t: simple_conv(t, make_kernel([[0.5, 1.0, 0.5], [1.0, -6.0, 1.0], [0.5, 1.0, 0.5]]))
    u0 = np.zeros([10, 10], dtype=np.float32)
    u0[3, 4], u0[7, 2] = 0.8, -0.3
    eps, damping = tf.placeholder(tf.float32, shape=()), tf.placeholder(tf.float32, shape=())
    u, ut = tf.Variable(u0), tf.Variable(np.zeros_like(u0))
    step = tf.group(u.assign(u + eps * ut), ut.assign(ut + eps * (laplace(u) - damping * ut)))
    with tf.Session() as sess:
        tf.initialize_all_variables().run()
        for i in range(50):
            step.run({eps: 0.03, damping: 0.04})
        say(u.eval().shape, np.isfinite(ut.eval()).all(), u.eval()[3, 4] < 0.8)
        fails(step.run, {eps: 0.03})
        fails(step.run, {eps: [0.03], damping: 0.04})


def kmeans_graph(tf: Any, np: Any, say: Any, fails: Any) -> None:
    rng = np.random.RandomState(0)
    data = np.concatenate([rng.randn(15, 2) + c for c in ((0, 0), (7, 7), (-6, 6))]).astype(np.float32)
    points = tf.constant(data)
    centroids = tf.Variable(tf.slice(points, [0, 0], [3, -1]))
    start = tf.assign(centroids, tf.gather(points, [0, 16, 31]))
    distances = tf.reduce_sum(tf.square(tf.subtract(tf.expand_dims(points, 0), tf.expand_dims(centroids, 1))), 2)
    assignments = tf.argmin(distances, 0)
    means = tf.concat([tf.reduce_mean(tf.gather(points, tf.reshape(tf.where(tf.equal(assignments, c)), [1, -1])), axis=[1]) for c in range(3)], 0)
    update = tf.assign(centroids, means)
    say(distances, assignments, means)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(start)
        for _ in range(4):
            _, c, a = sess.run([update, centroids, assignments])
        say(sess.run(centroids).round(3).tolist(), np.bincount(a).tolist())
        sums = tf.unsorted_segment_sum(points, assignments, 3)
        counts = tf.unsorted_segment_sum(tf.ones_like(assignments), assignments, 3)
        say(sess.run(sums / tf.cast(tf.expand_dims(counts, 1), tf.float32)).round(3).tolist(), sess.run(tf.unique_with_counts(assignments)).count.tolist())


def factor_and_solve(tf: Any, np: Any, say: Any, fails: Any) -> None:
    a = np.array([[4.0, 2.0, 0.6], [2.0, 5.0, 1.0], [0.6, 1.0, 3.0]])
    m = tf.constant(a)
    b = tf.constant([[1.0], [2.0], [3.0]], tf.float64)
    parts = [
        tf.matrix_inverse(m), tf.matrix_determinant(m), tf.cholesky(m), tf.matrix_solve(m, b), tf.matrix_triangular_solve(tf.cholesky(m), b),
        tf.self_adjoint_eigvals(m), tf.svd(m, compute_uv=False), tf.qr(m)[1], tf.matrix_solve_ls(m, b), tf.trace(m), tf.matrix_diag_part(m),
        tf.matrix_band_part(m, 0, -1), tf.norm(m), tf.norm(m, ord=1, axis=[0, 1]), tf.linalg.logdet(m), tf.cholesky_solve(tf.cholesky(m), b),
        tf.einsum("ij,jk->ik", m, b), tf.tensordot(m, b, [[1], [0]]), tf.matrix_transpose(m), tf.diag([1, 2]), tf.eye(2),
    ]
    gradient = tf.gradients(tf.reduce_sum(tf.matrix_inverse(m)) + tf.linalg.logdet(m), m)[0]
    say([p.op.type for p in parts], [p.shape.as_list() for p in parts], gradient)
    with tf.Session() as sess:
        for p, v in zip(parts, sess.run(parts)):
            say(p.op.type, np.abs(np.round(v, 4)).tolist())
        say(sess.run(gradient).round(4).tolist())
        fails(sess.run, tf.cholesky(-m))
        fails(sess.run, tf.matrix_inverse(tf.zeros([2, 2])))
    fails(tf.matmul, m, tf.ones([2, 2], tf.float64))


def input_pipeline(tf: Any, np: Any, say: Any, fails: Any) -> None:
    folder = tempfile.mkdtemp()
    for i in range(2):
        with open(os.path.join(folder, f"f{i}.csv"), "w") as f:
            f.writelines(f"{i * 3 + j},{j}.5,name{j}\n" for j in range(3))
    names = [os.path.join(folder, f"f{i}.csv") for i in range(2)]
    queue = tf.train.string_input_producer(names, num_epochs=1, shuffle=False)
    key, value = tf.TextLineReader().read(queue)
    a, b, c = tf.decode_csv(value, record_defaults=[[0], [0.0], [""]])
    batch = tf.train.batch([a, b, c], batch_size=4, allow_smaller_final_batch=True)
    say(queue.name, value, a, b, batch)
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(coord=coord)
        try:
            while not coord.should_stop():
                x, y, z = sess.run(batch)
                say(x.tolist(), y.tolist(), z.tolist())
        except tf.errors.OutOfRangeError as e:
            say("Done training -- epoch limit reached", type(e).__name__)
        finally:
            coord.request_stop()
        coord.join(threads)
    path = os.path.join(folder, "r.tfrecords")
    with tf.python_io.TFRecordWriter(path) as writer:
        for i in range(3):
            raw = tf.train.Feature(bytes_list=tf.train.BytesList(value=[bytes([i, i + 1])]))
            feature = {"label": tf.train.Feature(int64_list=tf.train.Int64List(value=[i])), "raw": raw}
            writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())
    dataset = tf.data.TFRecordDataset(path)

    def parse(record: Any) -> Any:
        p = tf.parse_single_example(record, {"label": tf.FixedLenFeature([], tf.int64), "raw": tf.FixedLenFeature([], tf.string)})
        return tf.decode_raw(p["raw"], tf.uint8), tf.cast(p["label"], tf.int32)

    iterator = dataset.map(parse).repeat(2).batch(4).make_initializable_iterator() if hasattr(dataset, "make_initializable_iterator") else None
    iterator = iterator or tf.data.make_initializable_iterator(dataset.map(parse).repeat(2).batch(4))
    raw, label = iterator.get_next()
    say(raw, label, len(list(tf.python_io.tf_record_iterator(path))))
    with tf.Session() as sess:
        for _ in range(2):
            sess.run(iterator.initializer)
            while True:
                try:
                    r, l = sess.run([raw, label])
                    say(r.tolist(), l.tolist())
                except tf.errors.OutOfRangeError:
                    say("end")
                    break


def metrics_and_losses(tf: Any, np: Any, say: Any, fails: Any) -> None:
    labels, predictions = tf.placeholder(tf.int64, [None]), tf.placeholder(tf.int64, [None])
    accuracy, update = tf.metrics.accuracy(labels, predictions)
    precision = tf.metrics.precision(labels, predictions)
    recall = tf.metrics.recall(labels, predictions)
    mean = tf.metrics.mean(tf.cast(predictions, tf.float32))
    auc = tf.metrics.auc(labels, tf.cast(predictions, tf.float32) * 0.5 + 0.25)
    iou = tf.metrics.mean_iou(labels, predictions, 2)
    say(accuracy, update, [v.name for v in tf.local_variables()][:4])
    logits, truth = tf.constant([[2.0, 1.0], [0.5, 3.0]]), tf.constant([[1.0, 0.0], [1.0, 0.0]])
    losses = [
        tf.losses.mean_squared_error(truth, logits), tf.losses.softmax_cross_entropy(truth, logits), tf.losses.sigmoid_cross_entropy(truth, logits),
        tf.losses.hinge_loss(truth, logits), tf.losses.huber_loss(truth, logits), tf.losses.absolute_difference(truth, logits, weights=0.5),
        tf.losses.log_loss(truth, tf.sigmoid(logits)), tf.losses.cosine_distance(truth, logits, axis=1), tf.losses.sparse_softmax_cross_entropy([0, 1], logits),
    ]
    total = tf.losses.get_total_loss()
    confusion = tf.confusion_matrix([0, 1, 1], [0, 0, 1])
    say(total, [t.name for t in losses][:3], len(tf.losses.get_losses()))
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        for l, p in (([1, 0, 1], [1, 1, 1]), ([0, 0], [0, 1])):
            sess.run([update, precision[1], recall[1], mean[1], auc[1], iou[1]], {labels: l, predictions: p})
        say([np.round(v, 4) for v in sess.run([accuracy, precision[0], recall[0], mean[0], auc[0], iou[0]])])
        say([float(np.round(v, 4)) for v in sess.run(losses)], sess.run(total).round(4), sess.run(confusion).tolist())
        k = tf.nn.in_top_k(logits, [0, 0], 1)
        say(sess.run([k, tf.nn.top_k(logits, 1), tf.nn.l2_loss(logits), tf.nn.zero_fraction(truth), tf.nn.moments(logits, [0])]))
    fails(tf.losses.mean_squared_error, truth, tf.ones([3, 3]))


def optimizers_in_turn(tf: Any, np: Any, say: Any, fails: Any) -> None:
    for name, make in (
        ("sgd", lambda: tf.train.GradientDescentOptimizer(0.1)), ("momentum", lambda: tf.train.MomentumOptimizer(0.1, 0.9)),
        ("adam", lambda: tf.train.AdamOptimizer(0.1)), ("rms", lambda: tf.train.RMSPropOptimizer(0.1)), ("adagrad", lambda: tf.train.AdagradOptimizer(0.1)),
        ("ftrl", lambda: tf.train.FtrlOptimizer(0.1)), ("adadelta", lambda: tf.train.AdadeltaOptimizer(1.0)),
        ("proximal", lambda: tf.train.ProximalGradientDescentOptimizer(0.1)),
    ):
        with tf.Graph().as_default():
            x = tf.Variable([5.0, -3.0], name="x")
            scale = tf.Variable(1.0, trainable=False, name="scale")
            loss = tf.reduce_sum(tf.square(x - [1.0, 2.0])) * scale
            opt = make()
            step = tf.Variable(0, trainable=False, name="global_step")
            pairs = opt.compute_gradients(loss, var_list=[x])
            train = opt.apply_gradients([(tf.clip_by_norm(g, 4.0), v) for g, v in pairs], global_step=step, name="train")
            with tf.Session() as sess:
                sess.run(tf.global_variables_initializer())
                for _ in range(5):
                    sess.run(train)
                say(name, sess.run(x).round(4).tolist(), sess.run([step, loss])[0], opt.get_slot_names(), train.name)
                say([v.op.name for v in tf.global_variables()][3:])
    with tf.Graph().as_default():
        x = tf.Variable(1.0)
        fails(tf.train.GradientDescentOptimizer(0.1).minimize, tf.constant(1.0))
        fails(tf.train.GradientDescentOptimizer(0.1).apply_gradients, [(None, x)])
        fails(tf.train.GradientDescentOptimizer(0.1).minimize, tf.cast(x, tf.int32))


def sessions_and_graphs(tf: Any, np: Any, say: Any, fails: Any) -> None:
    g1, g2 = tf.Graph(), tf.Graph()
    with g1.as_default():
        a = tf.constant(1, name="a")
    with g2.as_default(), g2.name_scope("outer"):
        b = tf.constant(2, name="b")
        with g2.name_scope("inner"), g2.control_dependencies([b.op]):
            c = tf.placeholder(tf.int32, [2], name="c")
            d = tf.add(c, b, name="d")
    say(a.graph is g1, d.name, d.op.control_inputs, g2.as_graph_def().node[0].name, [n.name for n in g2.as_graph_def().node], g1 is not g2)
    s1, s2 = tf.Session(graph=g1), tf.Session(graph=g2)
    say(s1.run(a), s2.run(d, {c: [1, 2]}), s2.run("outer/inner/d:0", {"outer/inner/c:0": [3, 4]}), s1.graph is g1)
    fails(s1.run, b)
    fails(s1.run, "nothing:0")
    fails(s1.run, "a")
    say(s1.run(g1.get_operation_by_name("a")))
    s1.close()
    fails(s1.run, a)
    with s2.as_default():
        say(d.eval({c: [0, 0]}), tf.get_default_session() is s2)
    nested = s2.run({"x": [d, (b,)], "y": b}, {c: [5, 6]})
    say(nested, type(nested["x"]), s2.run([], {}), s2.run([[], {"k": b}]))
    with g2.as_default():
        fails(tf.add, a, b)
        fails(tf.constant, [1, "x"])
        fails(tf.placeholder(tf.float32).eval)
        g2.finalize()
        fails(tf.constant, 3)
        say(g2.finalized, g2.version > 0, len(g2.get_operations()))
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    meta = tf.RunMetadata()
    s2.run(d, {c: [1, 1]}, options=options, run_metadata=meta)
    say(len(meta.step_stats.dev_stats) > 0, type(meta).__name__)
    tf.reset_default_graph() if False else None
    s2.close()


def autodiff_graph(tf: Any, np: Any, say: Any, fails: Any) -> None:
    x = tf.placeholder(tf.float32, [3], name="x")
    y = tf.reduce_sum(x**3) + tf.reduce_prod(x)
    g = tf.gradients(y, x)[0]
    h = tf.hessians(y, x)[0]
    two = tf.gradients([y, 2 * y], [x], grad_ys=[1.0, 3.0])[0]
    stop = tf.gradients(x * tf.stop_gradient(x), x)[0]
    none = tf.gradients(tf.constant(1.0), x)
    w = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    e = tf.nn.embedding_lookup(w, [0, 0, 1])
    sparse = tf.gradients(e, w)[0]

    @tf.custom_gradient
    def clipped(v: Any) -> Any:
        return tf.identity(v), lambda dy: tf.clip_by_value(dy, -1.0, 1.0)

    c = tf.gradients(clipped(x) * 5.0, x)[0]

    @tf.RegisterGradient("UnseenSquare")
    def _grad(op: Any, grad: Any) -> Any:
        return grad * 100.0

    with tf.get_default_graph().gradient_override_map({"Square": "UnseenSquare"}):
        s = tf.square(x)
    o = tf.gradients(s, x)[0]
    v = tf.ones([3])
    hv = tf.gradients(tf.reduce_sum(g * tf.stop_gradient(v)), x)[0]
    say(g, h, none, type(sparse).__name__, sparse.values, sparse.dense_shape, o)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        feed = {x: [1.0, 2.0, 3.0]}
        for t in (g, h, two, stop, c, o, hv, tf.convert_to_tensor(sparse)):
            say(sess.run(t, feed).tolist())
        norm = tf.global_norm([g, h])
        (cg, ch), n = tf.clip_by_global_norm([g, h], 5.0)
        start = np.array([1.0, 2.0, 3.0], np.float32)
        say(sess.run([norm, n], feed), sess.run(cg, feed).round(4), tf.test.compute_gradient_error(x, [3], y, [], x_init_value=start) < 0.1)
    fails(tf.gradients, y, "x")
    fails(tf.gradients, tf.cast(x, tf.int32), x, tf.constant([1, 1, 1]))


def monitored_training(tf: Any, np: Any, say: Any, fails: Any) -> None:
    folder = tempfile.mkdtemp()
    step = tf.train.get_or_create_global_step()
    w = tf.get_variable("w", [], initializer=tf.zeros_initializer())
    loss = tf.square(w - 3.0)
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=step)
    seen: list[Any] = []

    class Watch(tf.train.SessionRunHook):
        def begin(self) -> None:
            seen.append("begin")

        def after_create_session(self, session: Any, coord: Any) -> None:
            seen.append("created")

        def before_run(self, run_context: Any) -> Any:
            return tf.train.SessionRunArgs([loss, step])

        def after_run(self, run_context: Any, run_values: Any) -> None:
            seen.append((float(np.round(run_values.results[0], 4)), int(run_values.results[1])))
            if run_values.results[1] >= 6:
                run_context.request_stop()

        def end(self, session: Any) -> None:
            seen.append("end")

    hooks = [tf.train.StopAtStepHook(last_step=20), Watch(), tf.train.NanTensorHook(loss), tf.train.CheckpointSaverHook(folder, save_steps=3)]
    with tf.train.MonitoredTrainingSession(hooks=hooks) as sess:
        while not sess.should_stop():
            sess.run(train)
    say(seen, sorted(f for f in os.listdir(folder) if f.endswith(".index")))
    with tf.train.SingularMonitoredSession(hooks=[tf.train.StopAtStepHook(num_steps=2)], checkpoint_dir=folder) as sess:
        say(sess.run(step) > 0, sess.run(w) > 0)
        while not sess.should_stop():
            sess.run(train)
    scaffold = tf.train.Scaffold(init_op=tf.global_variables_initializer())
    with tf.train.MonitoredSession(tf.train.ChiefSessionCreator(scaffold=scaffold)) as sess:
        say(sess.run(w), sess.run([step, loss]))
    sv = tf.train.Supervisor(logdir=None, global_step=step) if False else None
    say(sv)
