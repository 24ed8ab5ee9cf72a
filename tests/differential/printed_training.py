"""Programs that train."""

from typing import Any


def train_loop(tf: Any, np: Any, say: Any, fails: Any) -> None:
    tf.set_random_seed(1)
    x = tf.placeholder(tf.float32, [None, 1])
    y = tf.placeholder(tf.float32, [None, 1])
    W = tf.Variable(tf.zeros([1, 1]), name="W")
    b = tf.Variable(tf.zeros([1]), name="b")
    p = tf.matmul(x, W) + b
    loss = tf.reduce_mean(tf.square(p - y))
    gs = tf.train.get_or_create_global_step()
    opt = tf.train.GradientDescentOptimizer(0.1)
    gv = opt.compute_gradients(loss)
    say(gv)
    step = opt.apply_gradients(gv, global_step=gs)
    say(step)
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        for i in range(20):
            s.run(step, {x: [[1.0], [2.0]], y: [[3.0], [5.0]]})
        say(s.run([W, b, gs]), tf.train.global_step(s, gs))
    say(tf.train.get_global_step(), [v.name for v in tf.trainable_variables()])
    fails(opt.minimize, tf.constant(1.0))
    fails(opt.apply_gradients, [])
    fails(opt.apply_gradients, [(None, W)])
    say(opt.get_name(), opt.get_slot_names(), opt.get_slot(W, "m"))


def optimizers(tf: Any, np: Any, say: Any, fails: Any) -> None:
    for o in [
        tf.train.MomentumOptimizer(0.1, 0.9),
        tf.train.AdamOptimizer(0.1),
        tf.train.AdagradOptimizer(0.1),
        tf.train.RMSPropOptimizer(0.1),
        tf.train.AdadeltaOptimizer(0.1),
        tf.train.FtrlOptimizer(0.1),
        tf.train.ProximalGradientDescentOptimizer(0.1),
    ]:
        with tf.Graph().as_default():
            v = tf.Variable([1.0, 2.0], name="v")
            t = o.minimize(tf.reduce_sum(v * v))
            say(
                type(o).__name__,
                t.name,
                [q.name for q in tf.global_variables()],
                [q.op.type for q in tf.global_variables()],
                o.get_slot_names(),
                [x.name for x in o.variables()],
            )
            with tf.Session() as s:
                s.run(tf.global_variables_initializer())
                s.run(t)
                say(s.run(v))


def decay(tf: Any, np: Any, say: Any, fails: Any) -> None:
    gs = tf.Variable(5, trainable=False, name="gs")
    a = [
        tf.train.exponential_decay(0.1, gs, 10, 0.5),
        tf.train.exponential_decay(0.1, gs, 10, 0.5, staircase=True),
        tf.train.piecewise_constant(gs, [3, 6], [1.0, 0.5, 0.1]),
        tf.train.polynomial_decay(0.1, gs, 10),
        tf.train.inverse_time_decay(0.1, gs, 10, 0.5),
        tf.train.natural_exp_decay(0.1, gs, 10, 0.5),
        tf.train.cosine_decay(0.1, gs, 10),
    ]
    say(a)
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        say(s.run(a))


def seeds(tf: Any, np: Any, say: Any, fails: Any) -> None:
    tf.set_random_seed(1234)
    a = tf.random_uniform([1])
    b = tf.random_normal([1])
    c = tf.random_uniform([1], seed=7)
    d = tf.truncated_normal([2])
    e = tf.random_shuffle([1, 2, 3, 4])
    f = tf.random_uniform([2], maxval=10, dtype=tf.int32)
    g = tf.multinomial([[1.0, 2.0]], 3)
    for i in range(2):
        with tf.Session() as s:
            say(s.run([a, b, c, d, e, f, g]))
            say(s.run([a, c]))
    say(tf.get_seed(None), tf.get_seed(3), tf.get_default_graph().seed)
    fails(tf.random_uniform, [1], dtype=tf.int32)
    fails(tf.random_uniform, [1], 1, dtype=tf.string)
    say(tf.random_crop(tf.reshape(tf.range(9), [3, 3]), [2, 2], seed=1))


def inits(tf: Any, np: Any, say: Any, fails: Any) -> None:
    tf.set_random_seed(3)
    I = [
        tf.zeros_initializer(),
        tf.ones_initializer(),
        tf.constant_initializer([1, 2]),
        tf.random_uniform_initializer(-1, 1),
        tf.random_normal_initializer(stddev=0.1),
        tf.truncated_normal_initializer(),
        tf.glorot_uniform_initializer(),
        tf.glorot_normal_initializer(),
        tf.variance_scaling_initializer(),
        tf.orthogonal_initializer(),
        tf.uniform_unit_scaling_initializer(),
        tf.initializers.he_normal(),
        tf.initializers.lecun_uniform(),
        tf.initializers.identity(),
    ]
    vs = [
        tf.get_variable("v%d" % i, [2, 2] if i != 2 else [2], initializer=x)
        for i, x in enumerate(I)
    ]
    for x in I:
        say(type(x).__name__, sorted(((k, str(v)) for k, v in x.get_config().items())))
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        for i, v in enumerate(vs):
            if i != 9:
                say(i, s.run(v).tolist())
    fails(tf.get_variable, "q", [3], initializer=tf.constant_initializer([1, 2]))
    say(tf.constant_initializer(3)([2]), tf.zeros_initializer()([2], tf.int32))
    fails(tf.orthogonal_initializer(), [2])
    fails(tf.glorot_uniform_initializer(), [])
    say(
        tf.get_variable(
            "iv",
            [2],
            initializer=tf.initializers.get("zeros") if hasattr(tf.initializers, "get") else None,
        )
    )


def regularizers(tf: Any, np: Any, say: Any, fails: Any) -> None:
    v = tf.get_variable("v", [2], initializer=tf.ones_initializer(), regularizer=tf.nn.l2_loss)
    tf.losses.add_loss(tf.constant(2.0))
    tf.losses.mean_squared_error([1.0], [2.0])
    say(
        len(tf.losses.get_losses()),
        tf.losses.get_losses(),
        tf.losses.get_total_loss(),
        tf.losses.get_regularization_loss(),
    )
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        say(
            s.run(
                [
                    tf.losses.get_total_loss(),
                    tf.losses.get_regularization_loss(),
                    tf.losses.absolute_difference([1.0], [3.0]),
                    tf.losses.softmax_cross_entropy([[0, 1.0]], [[1.0, 2.0]]),
                    tf.losses.sparse_softmax_cross_entropy([1], [[1.0, 2.0]]),
                    tf.losses.sigmoid_cross_entropy([[1.0]], [[2.0]]),
                    tf.losses.huber_loss([1.0], [3.0]),
                    tf.losses.log_loss([1.0], [0.5]),
                    tf.losses.hinge_loss([1.0], [0.5]),
                    tf.losses.cosine_distance([[1.0, 0.0]], [[0.0, 1.0]], axis=1),
                    tf.losses.compute_weighted_loss([1.0, 2.0], weights=[1.0, 0.0]),
                ]
            )
        )


def variables(tf: Any, np: Any, say: Any, fails: Any) -> None:
    v = tf.Variable([1.0, 2.0], name="v")
    say(
        v,
        repr(v),
        str(v),
        v.op,
        v.name,
        v.shape,
        v.dtype,
        v.device,
        v.graph is tf.get_default_graph(),
        v.initial_value,
        v.trainable,
        v.value(),
        v.read_value(),
        v.initialized_value(),
        v.constraint,
        v.get_shape(),
        v._shared_name,
        v.synchronization,
        v.aggregation,
    )
    say(
        v.assign([3.0, 4.0]),
        v.assign_add([1.0, 1.0]),
        v.assign_sub([1.0, 1.0]),
        v + 1,
        v[0],
        v * v,
        -v,
        v.op.type,
        v.to_proto(),
    )
    fails(v.assign, [1.0, 2.0, 3.0])
    fails(v.assign, ["a", "b"])
    fails(tf.Variable)
    fails(tf.Variable, lambda: tf.constant(1.0))
    fails(tf.Variable, tf.placeholder(tf.float32))
    fails(bool, v)
    fails(iter, v)
    fails(lambda: [x for x in v])
    fails(v.eval)
    fails(tf.Variable, 3, trainable=True, collections="abc")
    say(tf.Variable(tf.placeholder(tf.float32), validate_shape=False))
    say(tf.Variable(lambda: tf.constant(2.0), name="lam", dtype=tf.float32))
    with tf.Session() as s:
        s.run(v.initializer)
        say(s.run(v))
        v.load([5.0, 6.0], s)
        say(v.eval(s))
        fails(v.load, [1.0], s)
        say(s.run(v.assign(v * 2)))
        say(
            s.run(tf.assign(v, [0.0, 1.0])),
            s.run(tf.assign_add(v, [1.0, 1.0])),
            (
                s.run(v.scatter_update(tf.IndexedSlices([9.0], [0])))
                if hasattr(v, "scatter_update")
                else ""
            ),
            s.run(tf.scatter_add(v, [0], [1.0])),
            "",
        )
        u = tf.Variable(1.0, name="u")
        fails(s.run, u)
        fails(s.run, u + 1)
        say(s.run(tf.report_uninitialized_variables()))
        s.run(tf.variables_initializer([u]))
        say(s.run(u))
        fails(s.run, tf.constant(1))


def ema(tf: Any, np: Any, say: Any, fails: Any) -> None:
    v = tf.Variable(1.0, name="v")
    e = tf.train.ExponentialMovingAverage(0.9)
    op = e.apply([v])
    say(op.name, e.average(v), e.average_name(v), e.variables_to_restore())
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        s.run(v.assign(2.0))
        s.run(op)
        say(s.run(e.average(v)))


def cond_while(tf: Any, np: Any, say: Any, fails: Any) -> None:
    a = tf.constant(1)
    c = tf.cond(a < 2, lambda: a + 1, lambda: a - 1)
    w = tf.while_loop(lambda i, s: i < 5, lambda i, s: (i + 1, s + i), [0, 0])
    k = tf.case(
        [(a > 3, lambda: tf.constant(1)), (a < 3, lambda: tf.constant(2))],
        default=lambda: tf.constant(3),
    )
    say(c, w, k)
    with tf.Session() as s:
        say(s.run([c, w, k]))
    fails(tf.cond, True, lambda: 1, lambda: "a")
    fails(tf.cond, a < 1, lambda: (a, a), lambda: a)
    fails(tf.while_loop, lambda i: i < 2, lambda i: tf.constant([1, 2]), [a])
    fails(tf.while_loop, 1, lambda i: i, [a])
    fails(tf.while_loop, lambda i: i < 2, lambda i: i, [])
    fails(tf.cond, a < 1, 1, 2)
    say(tf.cond(tf.constant(True), lambda: tf.no_op(), lambda: tf.no_op()))


def gradients(tf: Any, np: Any, say: Any, fails: Any) -> None:
    x = tf.constant(3.0)
    y = x**2
    z = tf.constant(1.0)
    fails(tf.gradients, y, "a")
    fails(tf.gradients, tf.constant(1), x)
    fails(tf.gradients, y, [x], grad_ys=[1.0, 2.0])
    with tf.Session() as s:
        say(s.run(tf.gradients(y, x)), s.run(tf.hessians(y, x)))
    say(tf.gradients(tf.cast(x, tf.int32), x))
    cl, n = tf.clip_by_global_norm([x, z], 1.0)
    say(cl, n)
    say(tf.global_norm([x]), tf.clip_by_value(x, 0, 1), tf.clip_by_norm(x, 1.0))

    @tf.custom_gradient
    def f(x):
        return (x * 2, lambda dy: dy * 10)

    with tf.Session() as s:
        say(s.run(tf.gradients(f(x), x)))


def mnist_softmax(tf: Any, np: Any, say: Any, fails: Any) -> None:
    tf.set_random_seed(0)
    rs = np.random.RandomState(0)
    X = rs.rand(64, 8).astype(np.float32)
    Y = np.eye(3, dtype=np.float32)[rs.randint(0, 3, 64)]
    x = tf.placeholder(tf.float32, [None, 8])
    y_ = tf.placeholder(tf.float32, [None, 3])
    with tf.variable_scope("layer1"):
        W = tf.get_variable("W", [8, 16])
        b = tf.get_variable("b", [16], initializer=tf.zeros_initializer())
        h = tf.nn.relu(tf.nn.xw_plus_b(x, W, b))
    with tf.variable_scope("out"):
        logits = tf.layers.dense(h, 3, name="d")
    loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2(labels=y_, logits=logits))
    acc = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), tf.argmax(y_, 1)), tf.float32))
    train = tf.train.AdamOptimizer(0.01).minimize(loss)
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        for i in range(30):
            s.run(train, {x: X, y_: Y})
        l, a = s.run([loss, acc], {x: X, y_: Y})
        say("%.4f %.4f" % (l, a))
    say([v.name for v in tf.global_variables()])


def layers(tf: Any, np: Any, say: Any, fails: Any) -> None:
    tf.set_random_seed(1)
    x = tf.ones([2, 8, 8, 3])
    y = tf.layers.conv2d(x, 4, 3, padding="same", activation=tf.nn.relu)
    z = tf.layers.max_pooling2d(y, 2, 2)
    f = tf.layers.flatten(z)
    d = tf.layers.dense(f, 5, use_bias=False, kernel_initializer=tf.ones_initializer())
    o = tf.layers.dropout(d, 0.5, training=False)
    b = tf.layers.batch_normalization(d, training=True)
    say(y, z, f, d, o, b)
    say([v.name for v in tf.global_variables()])
    say(tf.get_collection(tf.GraphKeys.UPDATE_OPS))
