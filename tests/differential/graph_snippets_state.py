"""Graph snippets: variables, scopes of variables, assignment, scattering, optimizers, queues."""

import numpy as np

from snippet import Fed, Steps, Table, Told

snippet = Table()

snippet.one_liners(
    "variable",
    [
        ("float", lambda tf: tf.Variable(3.0, name="a")),
        ("unnamed", lambda tf: [tf.Variable(1), tf.Variable(2)]),
        ("list", lambda tf: tf.Variable([[1, 2], [3, 4]])),
        ("dtype", lambda tf: tf.Variable(3, dtype=tf.float64)),
        ("numpy", lambda tf: tf.Variable(np.arange(3))),
        ("from_tensor", lambda tf: tf.Variable(tf.zeros([2, 2]), name="z")),
        ("from_callable", lambda tf: tf.Variable(lambda: tf.ones([2]), dtype=tf.float32)),
        ("string", lambda tf: tf.Variable("text")),
        ("bool", lambda tf: tf.Variable([True])),
        ("read", lambda tf: tf.Variable(1.0).read_value()),
        ("value", lambda tf: tf.Variable(1.0).value()),
        ("identity", lambda tf: tf.identity(tf.Variable(1.0))),
        ("in_scope", lambda tf: _in_name_scope(tf)),
        ("plus", lambda tf: tf.Variable(1.0) + 2.0),
        ("minus", lambda tf: 5.0 - tf.Variable(1.0)),
        ("slice", lambda tf: tf.Variable([1.0, 2.0, 3.0])[1:]),
        ("matmul", lambda tf: tf.Variable([[1.0, 2.0]]) @ tf.Variable([[3.0], [4.0]])),
        ("compare", lambda tf: tf.Variable(1.0) > 0.5),
        ("negative", lambda tf: -tf.Variable([1.0])),
        ("power", lambda tf: tf.Variable(3.0) ** 2.0),
        ("as_argument", lambda tf: tf.add_n([tf.Variable(1.0), tf.Variable(2.0)])),
        (
            "initialized_value",
            lambda tf: tf.Variable(tf.Variable(2.0, name="w").initialized_value() * 3.0, name="x"),
        ),
        ("shape", lambda tf: tf.shape(tf.Variable(tf.zeros([3, 2])))),
        ("is_initialized", lambda tf: tf.is_variable_initialized(tf.Variable(1.0))),
        ("initializer_run", lambda tf: tf.Variable(1.0).initializer),
        ("count_up_to", lambda tf: tf.count_up_to(tf.Variable(0), 3)),
    ],
)


def _in_name_scope(tf):
    with tf.name_scope("s"):
        return tf.Variable(1.0, name="v")


@snippet
def variable_properties(tf):
    v = tf.Variable([1.0, 2.0], name="v", trainable=False)
    return Told(
        [
            v.name,
            v.op.name,
            v.dtype.name,
            str(v.shape),
            v.initializer.name,
            v.initial_value.name,
            v.device,
            v.trainable,
            v.value().name,
            repr(v),
            v.op.colocation_groups(),
            str(v.get_shape()),
        ]
    )


@snippet(initialize=False)
def uninitialized_variables(tf):
    v = tf.Variable(1.0, name="v")
    tf.Variable(1.0, name="w")
    return Steps(
        [
            tf.is_variable_initialized(v),
            tf.report_uninitialized_variables(),
            v.initializer,
            tf.is_variable_initialized(v),
            tf.report_uninitialized_variables(),
        ]
    )


@snippet
def assign(tf):
    v = tf.Variable([1.0, 2.0], name="v")
    return Steps([tf.assign(v, [5.0, 6.0]), v, v.assign([7.0, 8.0]), v])


@snippet
def assign_add_and_sub(tf):
    v = tf.Variable(10, name="v")
    return Steps([tf.assign_add(v, 5), tf.assign_sub(v, 1), v.assign_add(2), v.assign_sub(3), v])


@snippet
def assign_new_shape(tf):
    v = tf.Variable([1.0], name="v", validate_shape=False)
    return Steps([tf.assign(v, [1.0, 2.0, 3.0], validate_shape=False), v])


@snippet
def assign_gives_a_reference(tf):
    v = tf.Variable(1.0, name="v")
    a = tf.assign_add(v, 1.0)
    return Told(
        [
            a.dtype.name,
            a.op.type,
            a.op.get_attr("use_locking"),
            a.op.inputs[0].dtype.name,
            v.value().dtype.name,
        ]
    )


@snippet
def assign_chain(tf):
    v = tf.Variable(1.0, name="v")
    return Steps([tf.assign_add(tf.assign(v, 4.0), 1.0), v])


@snippet
def scatter_operations(tf):
    v = tf.Variable(tf.zeros([4, 2]), name="v")
    return Steps(
        [
            tf.scatter_update(v, [1, 3], [[1.0, 1.0], [3.0, 3.0]]),
            tf.scatter_add(v, [1, 1], [[1.0, 0.0], [1.0, 0.0]]),
            tf.scatter_sub(v, [0], [[1.0, 2.0]]),
            v,
        ]
    )


def _scattered_by_methods(tf, resource):
    v = tf.get_variable("v", initializer=[1.0, 2.0, 3.0, 4.0], use_resource=resource)
    delta = lambda at, by: tf.IndexedSlices(tf.constant([by]), tf.constant([at]))  # noqa: E731
    return Steps([
        v.scatter_max(delta(0, 5.0)), v.scatter_min(delta(1, 0.5)), v.scatter_mul(delta(2, 2.0)), v.scatter_div(delta(3, 8.0)), v,
        v.scatter_nd_add([[0]], [1.0]), v.scatter_nd_sub([[1]], [1.0]), v.scatter_nd_update([[2]], [7.0]), v, v[1:3].assign([8.0, 9.0]), v,
    ])  # fmt: skip


@snippet
def scattered_by_methods(tf):
    return _scattered_by_methods(tf, False)


@snippet
def scattered_by_methods_of_a_resource(tf):
    return _scattered_by_methods(tf, True)


@snippet
def scatter_nd_update(tf):
    v = tf.Variable([1, 2, 3, 4], name="v")
    return Steps([tf.scatter_nd_update(v, [[0], [2]], [9, 8]), v])


@snippet
def slice_assignment(tf):
    v = tf.Variable([1, 2, 3, 4], name="v")
    return Steps([v[1:3].assign([8, 9]), v])


@snippet
def get_variable_basic(tf):
    return tf.get_variable("w", [2, 3], initializer=tf.zeros_initializer())


@snippet
def get_variable_initializer_tensor(tf):
    return tf.get_variable("w", initializer=tf.constant([1.0, 2.0]))


@snippet
def get_variable_constant_initializer(tf):
    return tf.get_variable("w", [2], tf.int32, initializer=tf.constant_initializer(7))


@snippet
def get_variable_default_initializer(tf):
    tf.set_random_seed(3)
    return tf.get_variable("w", [3, 2])


@snippet
def get_variable_int_default(tf):
    return tf.get_variable("w", [3], dtype=tf.int32)


@snippet
def get_variable_random_initializers(tf):
    tf.set_random_seed(5)
    return [
        tf.get_variable("a", [2, 2], initializer=tf.random_normal_initializer(seed=1)),
        tf.get_variable("b", [2, 2], initializer=tf.random_uniform_initializer(-1.0, 1.0, seed=2)),
        tf.get_variable("c", [2, 2], initializer=tf.truncated_normal_initializer(stddev=0.1)),
        tf.get_variable("d", [2, 2], initializer=tf.glorot_normal_initializer()),
        tf.get_variable("e", [2, 2], initializer=tf.variance_scaling_initializer()),
        tf.get_variable("f", [2, 2], initializer=tf.ones_initializer()),
    ]


@snippet
def variable_scope_nested(tf):
    with tf.variable_scope("a"):
        with tf.variable_scope("b"):
            w = tf.get_variable("w", [1], initializer=tf.ones_initializer())
            x = w * 2.0
    return x


@snippet
def variable_scope_reuse(tf):
    with tf.variable_scope("a"):
        w = tf.get_variable("w", [1], initializer=tf.ones_initializer())
    with tf.variable_scope("a", reuse=True):
        u = tf.get_variable("w", [1])
        x = u + 1.0
    return Told([w is u, x.name])


@snippet
def variable_scope_auto_reuse(tf):
    made = []
    for _ in range(2):
        with tf.variable_scope("a", reuse=tf.AUTO_REUSE):
            made.append(tf.get_variable("w", [1], initializer=tf.ones_initializer()))
            tf.identity(made[-1], name="i")
    return Told([made[0] is made[1], [o.name for o in tf.get_default_graph().get_operations()]])


@snippet
def variable_scope_default_name(tf):
    names = []
    for _ in range(2):
        with tf.variable_scope(None, default_name="layer"):
            names.append(tf.get_variable("w", [1]).name)
    return Told(names)


@snippet
def variable_scope_object(tf):
    with tf.variable_scope("a") as scope:
        tf.get_variable("w", [1])
    with tf.variable_scope("other"):
        with tf.variable_scope(scope, reuse=True):
            v = tf.get_variable("w", [1])
            c = tf.constant(1, name="c")
    return Told([v.name, c.name, scope.name, scope.reuse, scope.original_name_scope])


@snippet
def variable_scope_reuse_variables(tf):
    with tf.variable_scope("a") as scope:
        v = tf.get_variable("w", [1])
        scope.reuse_variables()
        return Told(tf.get_variable("w", [1]) is v)


@snippet
def variable_scope_initializer(tf):
    with tf.variable_scope("a", initializer=tf.constant_initializer(4.0)):
        return tf.get_variable("w", [2])


@snippet
def variable_scope_op_scope_counts(tf):
    names = []
    for _ in range(3):
        with tf.variable_scope("a", reuse=tf.AUTO_REUSE):
            names.append(tf.constant(1).name)
    return Told(names)


@snippet
def initializer_ops(tf):
    tf.Variable(1.0, name="a")
    tf.Variable(2.0, name="b")
    init = tf.global_variables_initializer()
    some = tf.variables_initializer([tf.global_variables()[0]], name="some")
    none = tf.variables_initializer([], name="none")
    local = tf.local_variables_initializer()
    return Told(
        [
            [op.name, op.type, [c.name for c in op.control_inputs]]
            for op in (init, some, none, local)
        ]
    )


@snippet
def local_variables(tf):
    v = tf.get_variable(
        "v", [], initializer=tf.zeros_initializer(), collections=[tf.GraphKeys.LOCAL_VARIABLES]
    )
    return Told(
        [[x.name for x in tf.local_variables()], [x.name for x in tf.global_variables()], v.name]
    )


@snippet
def variable_control_dependencies_do_not_reach_the_initial_value(tf):
    a = tf.constant(1, name="a")
    with tf.control_dependencies([a]):
        return tf.Variable(2.0, name="v")


@snippet
def variable_inside_device_and_colocation(tf):
    with tf.device("/cpu:0"):
        v = tf.Variable(tf.ones([2]), name="v")
        w = tf.Variable(v.initialized_value(), name="w")
    return [v, w]


@snippet
def global_step(tf):
    step = tf.train.get_or_create_global_step()
    return Steps([tf.assign_add(step, 1), step])


# Training


def _loss(tf):
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    w = tf.Variable([[1.0], [2.0]], name="w")
    b = tf.Variable([0.5], name="b")
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b))
    return loss, {x: [[1.0, 2.0], [3.0, -1.0]]}, [w, b]


def _train(optimizer):
    def build(tf):
        loss, feeds, variables = _loss(tf)
        step = optimizer(tf).minimize(loss)
        return Steps([Fed(step, feeds), Fed(step, feeds), variables, Fed(loss, feeds)])

    return build


snippet.one_liners(
    "optimizer",
    [
        ("sgd", _train(lambda tf: tf.train.GradientDescentOptimizer(0.1))),
        ("momentum", _train(lambda tf: tf.train.MomentumOptimizer(0.1, 0.9))),
        ("nesterov", _train(lambda tf: tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True))),
        ("adam", _train(lambda tf: tf.train.AdamOptimizer(0.1))),
        ("adagrad", _train(lambda tf: tf.train.AdagradOptimizer(0.1))),
        ("rmsprop", _train(lambda tf: tf.train.RMSPropOptimizer(0.1))),
        ("ftrl", _train(lambda tf: tf.train.FtrlOptimizer(0.1))),
        ("adadelta", _train(lambda tf: tf.train.AdadeltaOptimizer(0.1))),
    ],
)


@snippet
def gradients_and_clipping(tf):
    loss, feeds, variables = _loss(tf)
    clipped, norm = tf.clip_by_global_norm(tf.gradients(loss, variables), 1.0)
    return Fed([clipped, norm], feeds)


@snippet
def compute_gradients(tf):
    loss, feeds, _ = _loss(tf)
    pairs = tf.train.GradientDescentOptimizer(0.1).compute_gradients(loss)
    return Fed([g for g, _ in pairs], feeds)


@snippet
def learning_rate_decay(tf):
    step = tf.Variable(10, name="step")
    return [
        tf.train.exponential_decay(0.1, step, 5, 0.5),
        tf.train.exponential_decay(0.1, step, 4, 0.5, staircase=True),
        tf.train.polynomial_decay(0.1, step, 20, 0.01),
        tf.train.piecewise_constant(step, [5, 15], [1.0, 0.5, 0.1]),
    ]


@snippet
def moving_average(tf):
    v = tf.Variable(2.0, name="v")
    average = tf.train.ExponentialMovingAverage(0.9)
    update = average.apply([v])
    with tf.control_dependencies([tf.assign(v, 12.0)]):
        later = tf.identity(v.read_value())
    return Steps([later, update, average.average(v)])


@snippet
def losses(tf):
    a, b = tf.constant([[1.0, 2.0]]), tf.constant([[0.0, 4.0]])
    return [
        tf.losses.mean_squared_error(a, b),
        tf.losses.absolute_difference(a, b),
        tf.losses.get_total_loss(),
    ]


@snippet
def fifo_queue(tf):
    q = tf.FIFOQueue(4, [tf.float32, tf.int32], shapes=[[], [2]], name="q")
    return Steps(
        [
            q.enqueue((1.0, [1, 2])),
            q.enqueue_many(([2.0, 3.0], [[3, 4], [5, 6]])),
            q.size(),
            q.dequeue(),
            q.dequeue_many(2),
            q.size(),
            q.close(),
        ]
    )


@snippet
def fetched_variable_keeps_its_value(tf):
    v = tf.Variable([1.0, 1.0], name="v")
    return Steps([v, tf.assign_add(v, [1.0, 1.0]), v, [v, v]])
