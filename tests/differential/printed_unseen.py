"""Programs of TensorFlow 1 tutorials: regressions, nets, words, queues, saved and imported graphs."""

import os
import tempfile
from typing import Any


def linear_regression(tf: Any, np: Any, say: Any, fails: Any) -> None:
    train_x = np.asarray([3.3, 4.4, 5.5, 6.71, 6.93, 4.168, 9.779, 6.182, 7.59, 2.167, 7.042, 10.791, 5.313])
    train_y = np.asarray([1.7, 2.76, 2.09, 3.19, 1.694, 1.573, 3.366, 2.596, 2.53, 1.221, 2.827, 3.465, 1.65])
    n = train_x.shape[0]
    x, y = tf.placeholder("float"), tf.placeholder("float")
    w, b = tf.Variable(0.5, name="weight"), tf.Variable(-0.25, name="bias")
    pred = tf.add(tf.multiply(x, w), b)
    cost = tf.reduce_sum(tf.pow(pred - y, 2)) / (2 * n)
    optimizer = tf.train.GradientDescentOptimizer(0.01).minimize(cost)
    init = tf.global_variables_initializer()
    say(x, w, pred, cost, optimizer.name)
    with tf.Session() as sess:
        sess.run(init)
        for epoch in range(40):
            for a, c in zip(train_x, train_y):
                sess.run(optimizer, feed_dict={x: a, y: c})
            if (epoch + 1) % 20 == 0:
                c = sess.run(cost, feed_dict={x: train_x, y: train_y})
                say("Epoch: %04d" % (epoch + 1), "cost={:.5f}".format(c), "W= %.4f" % sess.run(w), "b= %.4f" % sess.run(b))
        say("%.5f" % sess.run(cost, {x: train_x, y: train_y}), sess.run(pred, {x: 2.0}).round(4))


def logistic_regression(tf: Any, np: Any, say: Any, fails: Any) -> None:
    rng = np.random.RandomState(1)
    data = rng.rand(50, 4).astype(np.float32)
    labels = np.eye(3, dtype=np.float32)[(data[:, 0] * 3).astype(int)]
    x, y = tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.float32, [None, 3])
    w, b = tf.Variable(tf.zeros([4, 3])), tf.Variable(tf.zeros([3]))
    pred = tf.nn.softmax(tf.matmul(x, w) + b)
    cost = tf.reduce_mean(-tf.reduce_sum(y * tf.log(pred), reduction_indices=1))
    train = tf.train.GradientDescentOptimizer(0.5).minimize(cost)
    correct = tf.equal(tf.argmax(pred, 1), tf.argmax(y, 1))
    accuracy = tf.reduce_mean(tf.cast(correct, tf.float32))
    with tf.Session() as sess:
        tf.global_variables_initializer().run()
        for epoch in range(5):
            avg = 0.0
            for i in range(5):
                _, c = sess.run([train, cost], feed_dict={x: data[i * 10 : i * 10 + 10], y: labels[i * 10 : i * 10 + 10]})
                avg += c / 5
            say("Epoch:", "%04d" % (epoch + 1), "cost=", "{:.5f}".format(avg))
        say("Accuracy:", accuracy.eval({x: data, y: labels}))
        say(sess.run(correct, {x: data[:4], y: labels[:4]}), [op.type for op in tf.get_default_graph().get_operations()][:8])


def multilayer_perceptron(tf: Any, np: Any, say: Any, fails: Any) -> None:
    tf.set_random_seed(7)
    x, y = tf.placeholder("float", [None, 6], name="x"), tf.placeholder("float", [None, 2], name="y")
    keep = tf.placeholder_with_default(1.0, shape=(), name="keep_prob")
    weights = {"h1": tf.Variable(tf.random_normal([6, 8], seed=1)), "out": tf.Variable(tf.random_normal([8, 2], seed=2))}
    biases = {"b1": tf.Variable(tf.random_normal([8], seed=3)), "out": tf.Variable(tf.constant(0.1, shape=[2]))}

    def net(inputs: Any) -> Any:
        layer = tf.nn.relu(tf.nn.xw_plus_b(inputs, weights["h1"], biases["b1"]))
        layer = tf.nn.dropout(layer, keep)
        return tf.matmul(layer, weights["out"]) + biases["out"]

    logits = net(x)
    loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(logits=logits, labels=y))
    train = tf.train.AdamOptimizer(learning_rate=0.05).minimize(loss)
    data = np.random.RandomState(0).rand(12, 6)
    labels = np.eye(2)[(data.sum(1) > 3).astype(int)]
    say(logits, keep, train.type, [v.op.name for v in tf.trainable_variables()])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for i in range(30):
            _, l = sess.run((train, loss), {x: data, y: labels})
            if i % 10 == 0:
                say(i, "%.4f" % l)
        say(sess.run(tf.argmax(logits, 1), {x: data}).tolist(), [v.name for v in tf.global_variables()][-3:])
        say(sess.run({"loss": loss, "parts": [logits[0], keep]}, {x: data[:1], y: labels[:1], keep: 1.0})["parts"][1])


def word2vec_nce(tf: Any, np: Any, say: Any, fails: Any) -> None:
    words = "the quick brown fox jumped over the lazy dog the fox was quick".split()
    count = sorted(set(words))
    ids = [count.index(w) for w in words]
    batch = np.array([ids[i] for i in range(1, len(ids) - 1) for _ in range(2)])
    labels = np.array([[ids[i + d]] for i in range(1, len(ids) - 1) for d in (-1, 1)])
    graph = tf.Graph()
    with graph.as_default():
        with tf.name_scope("inputs"):
            train_inputs = tf.placeholder(tf.int32, shape=[len(batch)])
            train_labels = tf.placeholder(tf.int32, shape=[len(batch), 1])
            valid = tf.constant([0, 3], dtype=tf.int32)
        with tf.device("/cpu:0"):
            with tf.name_scope("embeddings"):
                embeddings = tf.Variable(tf.random_uniform([len(count), 5], -1.0, 1.0, seed=11))
                embed = tf.nn.embedding_lookup(embeddings, train_inputs)
            with tf.name_scope("weights"):
                nce_w = tf.Variable(tf.truncated_normal([len(count), 5], stddev=0.4, seed=12))
            with tf.name_scope("biases"):
                nce_b = tf.Variable(tf.zeros([len(count)]))
        with tf.name_scope("loss"):
            sampled = tf.nn.uniform_candidate_sampler(tf.cast(train_labels, tf.int64), 1, 4, True, len(count), seed=9)
            loss = tf.reduce_mean(
                tf.nn.nce_loss(weights=nce_w, biases=nce_b, labels=train_labels, inputs=embed, num_sampled=4, num_classes=len(count), sampled_values=sampled)
            )
        tf.summary.scalar("loss", loss)
        with tf.name_scope("optimizer"):
            optimizer = tf.train.GradientDescentOptimizer(1.0).minimize(loss)
        norm = tf.sqrt(tf.reduce_sum(tf.square(embeddings), 1, keepdims=True))
        normalized = embeddings / norm
        similarity = tf.matmul(tf.nn.embedding_lookup(normalized, valid), normalized, transpose_b=True)
        merged = tf.summary.merge_all()
        init = tf.global_variables_initializer()
    say(embed, nce_w, loss, similarity, optimizer.name)
    with tf.Session(graph=graph) as session:
        init.run()
        for step in range(4):
            _, summary, l = session.run([optimizer, merged, loss], feed_dict={train_inputs: batch, train_labels: labels})
            say(step, "%.4f" % l, len(summary))
        sim = similarity.eval()
        say(sim.shape, [count[k] for k in (-sim[0, :]).argsort()[1:3]])


def convnet_steps(tf: Any, np: Any, say: Any, fails: Any) -> None:
    def weight(shape: Any, seed: int) -> Any:
        return tf.Variable(tf.truncated_normal(shape, stddev=0.1, seed=seed))

    x = tf.placeholder(tf.float32, shape=[None, 64])
    y_ = tf.placeholder(tf.float32, shape=[None, 3])
    image = tf.reshape(x, [-1, 8, 8, 1])
    h = tf.nn.relu(tf.nn.conv2d(image, weight([3, 3, 1, 4], 1), strides=[1, 1, 1, 1], padding="SAME") + tf.Variable(tf.constant(0.1, shape=[4])))
    h = tf.nn.max_pool(h, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME")
    h = tf.nn.lrn(h, 4, bias=1.0, alpha=0.001 / 9.0, beta=0.75)
    flat = tf.reshape(h, [-1, 4 * 4 * 4])
    keep_prob = tf.placeholder(tf.float32)
    drop = tf.nn.dropout(flat, keep_prob)
    y = tf.matmul(drop, weight([64, 3], 2)) + tf.Variable(tf.constant(0.1, shape=[3]))
    cross_entropy = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2(labels=y_, logits=y))
    train_step = tf.train.AdamOptimizer(1e-2).minimize(cross_entropy)
    correct = tf.equal(tf.argmax(y, 1), tf.argmax(y_, 1))
    accuracy = tf.reduce_mean(tf.cast(correct, tf.float32))
    rng = np.random.RandomState(4)
    data, classes = rng.rand(30, 64), np.eye(3)[rng.randint(0, 3, 30)]
    sess = tf.InteractiveSession()
    sess.run(tf.global_variables_initializer())
    for i in range(12):
        if i % 4 == 0:
            say("step %d, loss %.4f" % (i, cross_entropy.eval(feed_dict={x: data, y_: classes, keep_prob: 1.0})))
        train_step.run(feed_dict={x: data, y_: classes, keep_prob: 1.0})
    say(accuracy.eval({x: data, y_: classes, keep_prob: 1.0}) > 0.3, h, y, flat.get_shape().as_list())
    fails(accuracy.eval, {x: data, y_: classes})
    fails(accuracy.eval, {x: data[:, :60], y_: classes, keep_prob: 1.0})
    sess.close()


def queue_and_coordinator(tf: Any, np: Any, say: Any, fails: Any) -> None:
    queue = tf.FIFOQueue(capacity=20, dtypes=[tf.float32, tf.int32], shapes=[[2], []], name="examples")
    counter = tf.Variable(0, name="counter", trainable=False)
    with tf.control_dependencies([tf.assign_add(counter, 1)]):
        value = tf.identity(counter)
    enqueue = queue.enqueue([tf.fill([2], tf.cast(value, tf.float32)), value])
    qr = tf.train.QueueRunner(queue, [enqueue])
    tf.train.add_queue_runner(qr)
    xs, ys = queue.dequeue_many(4)
    say(queue.name, queue.dtypes, queue.names, qr.name, xs, ys)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess=sess, coord=coord)
        got = []
        try:
            while not coord.should_stop() and len(got) < 3:
                a, b = sess.run([xs, ys])
                got.append((a.shape, b.shape))
        except tf.errors.OutOfRangeError:
            say("done")
        finally:
            coord.request_stop()
        sess.run(queue.close(cancel_pending_enqueues=True))
        coord.join(threads)
        say(got, len(threads), coord.should_stop(), coord.joined)
    rq = tf.RandomShuffleQueue(10, 2, tf.int32, shapes=[()], seed=3)
    pq = tf.PriorityQueue(10, tf.string, shapes=[()])
    fill = rq.enqueue_many([list(range(6))])
    pfill = pq.enqueue_many(([3, 1, 2], ["c", "a", "b"]))
    with tf.Session() as sess:
        sess.run([fill, pfill])
        say(sess.run(rq.size()), [sess.run(pq.dequeue()) for _ in range(3)], sess.run(rq.dequeue_up_to(2)).shape)
        sess.run(rq.close())
        say(sorted(sess.run(rq.dequeue_many(2)).tolist())[:0], sess.run(rq.is_closed()))
        fails(sess.run, rq.dequeue_many(9))
        fails(sess.run, fill)


def print_and_assert(tf: Any, np: Any, say: Any, fails: Any) -> None:
    a = tf.constant([1.0, 2.0])
    p = tf.Print(a, [a, tf.shape(a)], message="a is: ", summarize=2, first_n=1)
    check = tf.Assert(tf.reduce_all(a > 5), [a], name="check")
    with tf.control_dependencies([check]):
        guarded = a * 2
    ok = tf.assert_equal(a, [1.0, 2.0])
    with tf.control_dependencies([ok, tf.assert_positive(a), tf.assert_rank(a, 1), tf.assert_less(a, 9.0)]):
        fine = tf.identity(a)
    say(p, guarded, ok if ok is None else ok.type)
    with tf.Session() as sess:
        say(sess.run(p + 1), sess.run(fine))
        fails(sess.run, guarded)
        fails(sess.run, tf.verify_tensor_all_finite(tf.log(a - 1), "not finite"))
        fails(sess.run, tf.check_numerics(a / 0.0, "inf"))
    fails(tf.assert_rank, a, 2)
    fails(tf.assert_type, a, tf.int32)
    fails(tf.assert_scalar, a)
    say(tf.is_numeric_tensor(a), tf.is_non_decreasing(a), tf.is_strictly_increasing(a))


def partial_steps(tf: Any, np: Any, say: Any, fails: Any) -> None:
    a, b, c = (tf.placeholder(tf.float32, shape=[], name=n) for n in "abc")
    r1 = tf.add(a, b)
    r2 = tf.multiply(r1, c)
    with tf.Session() as sess:
        h = sess.partial_run_setup([r1, r2], [a, b, c])
        res = sess.partial_run(h, r1, feed_dict={a: 1, b: 2})
        say(res, sess.partial_run(h, r2, feed_dict={c: res * 10}))
        fails(sess.partial_run, h, r2, {c: 1})
        fails(sess.run, r2, {a: 1, b: 2})
        add = sess.make_callable(r2, [a, b, c])
        say(add(1, 2, 3))


def device_functions(tf: Any, np: Any, say: Any, fails: Any) -> None:
    def matmul_on_gpu(n: Any) -> str:
        return "/gpu:0" if n.type == "MatMul" else "/cpu:0"

    with tf.device(matmul_on_gpu):
        a = tf.constant([[1.0, 2.0]], name="a")
        m = tf.matmul(a, a, transpose_b=True, name="m")
        with tf.device("/job:worker/task:1"):
            v = tf.Variable(tf.zeros([2]), name="v")
            with tf.device(None):
                free = tf.identity(a, name="free")
        with tf.device("/device:CPU:0"), tf.colocate_with(v):
            near = tf.add(v, 1.0, name="near")
    say([(o.name, o.device, o.colocation_groups()) for o in tf.get_default_graph().get_operations()])
    setter = tf.train.replica_device_setter(cluster=tf.train.ClusterSpec({"ps": ["h:1", "h:2"], "worker": ["h:3"]}))
    with tf.Graph().as_default(), tf.device(setter):
        vs = [tf.Variable(tf.zeros([1]), name=f"p{i}") for i in range(3)]
        out = tf.add_n(vs)
        say([x.device for x in vs], out.device, near.device, free.op.device)
    with tf.Session(config=tf.ConfigProto(allow_soft_placement=True, log_device_placement=False)) as sess:
        say(sess.run(m))
    say(tf.DeviceSpec.from_string("/job:ps/task:2/gpu:1").to_string(), tf.DeviceSpec(job="w", device_type="CPU", device_index=0).to_string())


def scopes_reused(tf: Any, np: Any, say: Any, fails: Any) -> None:
    def conv_relu(inputs: Any, kernel: Any) -> Any:
        w = tf.get_variable("weights", kernel, initializer=tf.constant_initializer(0.5))
        b = tf.get_variable("biases", kernel[-1:], initializer=tf.zeros_initializer())
        return tf.nn.relu(tf.nn.conv2d(inputs, w, [1, 1, 1, 1], "SAME") + b)

    def filter_twice(images: Any) -> Any:
        with tf.variable_scope("conv1"):
            images = conv_relu(images, [3, 3, 1, 2])
        with tf.variable_scope("conv2"):
            return conv_relu(images, [3, 3, 2, 1])

    one, two = tf.ones([1, 4, 4, 1]), tf.zeros([1, 4, 4, 1])
    with tf.variable_scope("image_filters") as scope:
        r1 = filter_twice(one)
        fails(filter_twice, two)
        scope.reuse_variables()
        r2 = filter_twice(two)
    say(r1, r2, [v.name for v in tf.global_variables()])
    with tf.variable_scope("foo", reuse=tf.AUTO_REUSE, initializer=tf.constant_initializer(0.4), regularizer=lambda t: tf.reduce_sum(t) * 0.1):
        v = tf.get_variable("v", [1])
        w = tf.get_variable("w", [1], initializer=tf.constant_initializer(0.3))
        with tf.variable_scope("bar"):
            u = tf.get_variable("v", [1], dtype=tf.float32)
        say(tf.get_variable("v", [1]) is v, tf.get_variable_scope().name, tf.get_variable_scope().reuse)
    with tf.variable_scope("foo", reuse=True):
        fails(tf.get_variable, "absent", [1])
        fails(tf.get_variable, "v", [2])
        fails(tf.get_variable, "v", [1], tf.int32)
    with tf.variable_scope("a") as sa, tf.name_scope("ns"):
        y = tf.get_variable("y", []) + 1.0
    with tf.variable_scope(sa, reuse=True), tf.name_scope("other"):
        z = tf.get_variable("y", []) * 2.0
    with tf.variable_scope("", reuse=True):
        say(tf.get_variable("foo/bar/v").name)
    with tf.variable_scope(None, default_name="layer"), tf.variable_scope(None, default_name="layer"):
        say(tf.get_variable("k", [2]).name)
    say(y.name, z.name, sa.name, sa.original_name_scope, len(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)))
    template = tf.make_template("shared", lambda t: t * tf.get_variable("s", [], initializer=tf.ones_initializer()))
    say(template(1.0), template(2.0), [t.name for t in tf.global_variables("shared")], [q.name for q in (u, w)])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        say(sess.run([tf.reduce_sum(r1), tf.reduce_sum(r2), v, w, u]), sess.run(tf.losses.get_regularization_loss()).round(4))


def ordered_assigns(tf: Any, np: Any, say: Any, fails: Any) -> None:
    x = tf.Variable(10, name="x")
    y = tf.Variable(0, name="y")
    up = tf.assign_add(x, 5)
    with tf.control_dependencies([up]):
        read = x.read_value()
        copied = tf.assign(y, x * 2)
    group = tf.group(up, copied, name="both")
    counter = tf.Variable(0, name="c")
    step = tf.count_up_to(counter, 3)
    table = tf.Variable(tf.zeros([4], tf.int32), name="t")
    ops = [tf.scatter_update(table, [1, 3], [7, 8]), tf.scatter_add(table, [1, 1], [1, 1]), tf.scatter_sub(table, 0, 2)]
    ops.append(tf.scatter_nd_update(table, [[2]], [5]))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        say(sess.run(read), sess.run(copied), sess.run(group), sess.run([x, y]))
        say([sess.run(step) for _ in range(3)], [sess.run(o).tolist() for o in ops])
        fails(sess.run, step)
        x.load(3, sess)
        say(x.eval(), sess.run(tf.tuple([up, copied])), sess.run(tf.is_variable_initialized(x)))
        say(sess.run(tf.report_uninitialized_variables()), [v.op.type for v in tf.global_variables()])
        w = tf.Variable(x.initialized_value() + 1, name="w")
        fails(sess.run, w)
        sess.run(w.initializer)
        say(w.eval(), w.initial_value, w.op.name, w.device, w.dtype, w.shape, w.graph is tf.get_default_graph())


def moving_averages(tf: Any, np: Any, say: Any, fails: Any) -> None:
    step = tf.train.get_or_create_global_step()
    w = tf.Variable([1.0, 2.0], name="w")
    loss = tf.reduce_sum(tf.square(w))
    rates = [
        tf.train.exponential_decay(0.1, step, 2, 0.5, staircase=True),
        tf.train.piecewise_constant(step, [1, 3], [1.0, 0.5, 0.1]),
        tf.train.polynomial_decay(0.1, step, 5, 0.01, power=0.5, cycle=True),
        tf.train.natural_exp_decay(0.1, step, 2, 0.5),
        tf.train.inverse_time_decay(0.1, step, 2, 0.5),
        tf.train.cosine_decay(0.1, step, 6),
        tf.train.linear_cosine_decay(0.1, step, 6),
        tf.train.cosine_decay_restarts(0.1, step, 2),
        tf.train.noisy_linear_cosine_decay(0.1, step, 6, initial_variance=0.0),
    ]
    opt = tf.train.MomentumOptimizer(rates[0], 0.9, use_nesterov=True)
    grads = opt.compute_gradients(loss)
    clipped = [(tf.clip_by_value(g, -1.0, 1.0), v) for g, v in grads]
    apply = opt.apply_gradients(clipped, global_step=step)
    ema = tf.train.ExponentialMovingAverage(0.9, num_updates=step)
    with tf.control_dependencies([apply]):
        train = ema.apply([w])
    say(ema.average_name(w), ema.average(w), sorted(ema.variables_to_restore()), [v.name for v in tf.moving_average_variables()], opt.get_slot_names())
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(4):
            sess.run(train)
            say(tf.train.global_step(sess, step), [round(float(r), 5) for r in sess.run(rates)], sess.run([w, ema.average(w)]))
        say(sess.run(opt.get_slot(w, "momentum")).round(4), opt.variables())


def save_and_import(tf: Any, np: Any, say: Any, fails: Any) -> None:
    folder = tempfile.mkdtemp()
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    w = tf.get_variable("w", initializer=[[1.0], [2.0]])
    b = tf.get_variable("b", initializer=[0.5])
    y = tf.add(tf.matmul(x, w), b, name="y")
    tf.add_to_collection("outputs", y)
    saver = tf.train.Saver({"weights": w, "b": b}, max_to_keep=2)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        paths = [saver.save(sess, folder + "/model", global_step=i, write_meta_graph=i == 3) for i in (1, 2, 3)]
        say([os.path.basename(p) for p in paths], [os.path.basename(p) for p in saver.last_checkpoints], sorted(os.listdir(folder)))
        sess.run([w.assign([[0.0], [0.0]])])
        saver.restore(sess, tf.train.latest_checkpoint(folder))
        say(sess.run(y, {x: [[1.0, 1.0]]}), tf.train.list_variables(folder), tf.train.checkpoint_exists(paths[-1]))
        frozen = tf.graph_util.convert_variables_to_constants(sess, sess.graph_def, ["y"])
        fails(saver.restore, sess, "/nowhere/nothing")
    say([n.op for n in frozen.node])
    tf.train.write_graph(frozen, folder, "g.pbtxt")
    with tf.Graph().as_default() as g:
        definition = tf.GraphDef()
        definition.ParseFromString(frozen.SerializeToString())
        (out,) = tf.import_graph_def(definition, return_elements=["y:0"], name="imported")
        doubled, = tf.import_graph_def(definition, {"x": tf.ones([1, 2])}, ["y"], name="again")
        say(out, doubled.type, g.get_tensor_by_name("imported/x:0"), len(g.get_operations()))
        with tf.Session() as sess:
            say(sess.run(out, {"imported/x:0": [[3.0, 4.0]]}), sess.run("again/y:0"))
        fails(g.get_tensor_by_name, "imported/q:0")
        fails(g.get_operation_by_name, "q")
        fails(tf.import_graph_def, definition, {"nope": tf.ones([1, 2])})
    with tf.Graph().as_default(), tf.Session() as sess:
        restored = tf.train.import_meta_graph(paths[-1] + ".meta")
        restored.restore(sess, paths[-1])
        say(sess.run("y:0", {"x:0": [[2.0, 0.0]]}), tf.get_collection("outputs"), [v.name for v in tf.global_variables()])


def summaries_written(tf: Any, np: Any, say: Any, fails: Any) -> None:
    folder = tempfile.mkdtemp()
    v = tf.Variable(0.0, name="v")
    up = v.assign_add(1.5)
    with tf.name_scope("stats"):
        s = tf.summary.scalar("value", v)
        tf.summary.histogram("hist", tf.stack([v, v * 2]))
        tf.summary.scalar("bad name!", v)
    tf.summary.image("picture", tf.zeros([1, 2, 2, 3]), max_outputs=1)
    tf.summary.text("words", tf.constant("hello"))
    merged = tf.summary.merge_all()
    with tf.Session() as sess:
        writer = tf.summary.FileWriter(folder, sess.graph)
        sess.run(tf.global_variables_initializer())
        for i in range(2):
            _, text = sess.run([up, merged])
            writer.add_summary(text, i)
        extra = tf.Summary(value=[tf.Summary.Value(tag="by_hand", simple_value=2.5)])
        writer.add_summary(extra, 9)
        writer.flush()
        writer.close()
        summary = tf.Summary()
        summary.ParseFromString(sess.run(s))
        say(summary.value[0].tag, summary.value[0].simple_value)
    (name,) = os.listdir(folder)
    seen = [(e.step, [x.tag for x in e.summary.value], e.WhichOneof("what")) for e in tf.train.summary_iterator(os.path.join(folder, name))]
    say(seen, s, merged, len(tf.get_collection(tf.GraphKeys.SUMMARIES)))


def while_and_arrays(tf: Any, np: Any, say: Any, fails: Any) -> None:
    i, total = tf.while_loop(lambda i, t: i < 10, lambda i, t: [i + 1, t + i * i], [tf.constant(0), 0], parallel_iterations=1)
    ta = tf.TensorArray(tf.float32, size=5, clear_after_read=False)

    def body(k: Any, arr: Any) -> Any:
        return k + 1, arr.write(k, tf.cast(k, tf.float32) ** 2)

    _, done = tf.while_loop(lambda k, _: k < 5, body, [0, ta])
    x = tf.constant(3.0)
    powers = tf.while_loop(lambda n, a: n < 4, lambda n, a: (n + 1, a * x), [0, 1.0])[1]
    grad = tf.gradients(powers, x)[0]
    grow = tf.while_loop(lambda v: tf.shape(v)[0] < 5, lambda v: tf.concat([v, v[-1:] * 2], 0), [tf.constant([1])], shape_invariants=[tf.TensorShape([None])])
    pick = tf.case([(x < 1, lambda: tf.constant(1)), (x > 2, lambda: tf.constant(2))], default=lambda: tf.constant(3), exclusive=True)
    branch = tf.cond(x > 2.0, lambda: x * 10, lambda: x - 1, name="branch")
    say(i, total, grad, grow, pick, branch)
    with tf.Session() as sess:
        say(sess.run([i, total, done.stack(), done.read(2), powers, grad, grow, pick, branch, tf.gradients(branch, x)[0]]))
        mapped = tf.map_fn(lambda r: (tf.reduce_sum(r), r[0]), tf.ones([3, 2]), dtype=(tf.float32, tf.float32))
        say(sess.run([mapped, tf.scan(lambda a, e: a + e, tf.range(5)), tf.foldl(lambda a, e: a * e, tf.constant([1, 2, 3, 4]))]))
    fails(tf.while_loop, lambda v: True, lambda v: tf.concat([v, v], 0), [tf.constant([1])])
    fails(tf.cond, 3, lambda: 1, lambda: 2)


def lstm_unrolled(tf: Any, np: Any, say: Any, fails: Any) -> None:
    tf.set_random_seed(3)
    x = tf.placeholder(tf.float32, [None, 4, 3])
    lengths = tf.placeholder(tf.int32, [None])
    lower = tf.nn.rnn_cell.LSTMCell(5, initializer=tf.constant_initializer(0.1))
    cell = tf.nn.rnn_cell.MultiRNNCell([lower, tf.nn.rnn_cell.GRUCell(4, kernel_initializer=tf.constant_initializer(0.2))])
    outputs, state = tf.nn.dynamic_rnn(cell, x, sequence_length=lengths, dtype=tf.float32)
    say(outputs, state, [v.name for v in tf.trainable_variables()])
    steps = tf.unstack(x, axis=1)
    with tf.variable_scope("static"):
        basic = tf.nn.rnn_cell.BasicLSTMCell(3, forget_bias=0.5)
        outs, last = tf.nn.static_rnn(basic, steps, dtype=tf.float32)
    logits = tf.layers.dense(outs[-1], 2, kernel_initializer=tf.ones_initializer())
    loss = tf.losses.sparse_softmax_cross_entropy(labels=[0, 1], logits=logits)
    train = tf.train.RMSPropOptimizer(0.01).minimize(loss)
    data = np.linspace(-1, 1, 24).reshape(2, 4, 3)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        o, s = sess.run([outputs, state], {x: data, lengths: [4, 2]})
        say(o.shape, o[1, 2:].any(), o[0, -1].round(4), s[0].h.shape, type(s[0]).__name__, s[1].round(3).tolist())
        sess.run(train, {x: data})
        say(sess.run(loss, {x: data}) > 0, last, len(outs))
