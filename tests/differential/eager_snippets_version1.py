"""Eager snippets: version 1's names, `tf.compat.v1.…`, give values in an eager program."""

from snippet import Table

snippet = Table()

_X = [[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]]


def _v1(call):
    """A snippet of version 1's names, a matrix and all names."""
    return lambda tf: call(tf.compat.v1, tf.constant(_X), tf)


snippet.one_liners(
    "version1",
    [
        (name, _v1(call))
        for name, call in {
            "depthwise_conv2d": lambda v1, x, tf: v1.nn.depthwise_conv2d(tf.ones([1, 3, 3, 1]), tf.ones([2, 2, 1, 1]), [1, 1, 1, 1], "VALID"),
            "separable_conv2d": lambda v1, x, tf: v1.nn.separable_conv2d(tf.ones([1, 3, 3, 2]), tf.ones([2, 2, 2, 1]), tf.ones([1, 1, 2, 3]), [1, 1, 1, 1], "VALID"),
            "conv2d": lambda v1, x, tf: v1.nn.conv2d(tf.ones([1, 3, 3, 1]), tf.ones([2, 2, 1, 1]), strides=[1, 1, 1, 1], padding="VALID"),
            "conv2d_transpose": lambda v1, x, tf: v1.nn.conv2d_transpose(tf.ones([1, 2, 2, 1]), tf.ones([2, 2, 1, 1]), [1, 3, 3, 1], [1, 1, 1, 1], "VALID"),
            "pools": lambda v1, x, tf: [f(tf.reshape(tf.range(16.0), [1, 4, 4, 1]), [1, 2, 2, 1], [1, 2, 2, 1], "VALID") for f in (v1.nn.max_pool, v1.nn.avg_pool)],
            "reduce_sum": lambda v1, x, tf: [v1.reduce_sum(x, 1, keep_dims=True), v1.reduce_mean(x, reduction_indices=[0]), v1.reduce_logsumexp(x)],
            "argmax": lambda v1, x, tf: [v1.argmax(x, 1), v1.argmin(x, dimension=0)],
            "softmax": lambda v1, x, tf: [v1.nn.softmax(x, dim=0), v1.nn.log_softmax(x), v1.nn.l2_normalize(x, dim=1)],
            "cross_entropies": lambda v1, x, tf: [
                v1.nn.softmax_cross_entropy_with_logits_v2(labels=tf.nn.softmax(x), logits=x),
                v1.nn.softmax_cross_entropy_with_logits(labels=tf.nn.softmax(x), logits=x),
                v1.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 2], logits=x),
                v1.nn.sigmoid_cross_entropy_with_logits(labels=tf.sigmoid(x), logits=x),
                v1.nn.weighted_cross_entropy_with_logits(labels=tf.sigmoid(x), logits=x, pos_weight=2.0),
            ],
            "dropout": lambda v1, x, tf: [v1.nn.dropout(x, keep_prob=1.0), v1.nn.dropout(x, rate=0.0)],
            "moments": lambda v1, x, tf: v1.nn.moments(x, [0], keep_dims=True),
            "batch_normalization": lambda v1, x, tf: v1.nn.batch_normalization(x, 1.0, 4.0, 0.5, 2.0, 0.0),
            "fused_batch_norm": lambda v1, x, tf: v1.nn.fused_batch_norm(tf.reshape(tf.range(8.0), [1, 2, 2, 2]), [1.0, 1.0], [0.0, 0.0])[0],
            "embedding_lookup": lambda v1, x, tf: v1.nn.embedding_lookup(x, [1, 0, 1]),
            "losses": lambda v1, x, tf: [
                v1.losses.mean_squared_error(x, x * 2),
                v1.losses.absolute_difference(x, x * 2, weights=0.5),
                v1.losses.huber_loss(x, x * 2),
                v1.losses.log_loss(tf.sigmoid(x), tf.sigmoid(-x)),
                v1.losses.hinge_loss(tf.cast(x > 0, tf.float32), x),
                v1.losses.cosine_distance(x, x, axis=1),
                v1.losses.sigmoid_cross_entropy(tf.sigmoid(x), x),
                v1.losses.softmax_cross_entropy(tf.nn.softmax(x), x, label_smoothing=0.1),
                v1.losses.sparse_softmax_cross_entropy([0, 1], x),
            ],
            "math": lambda v1, x, tf: [v1.div(x, 2.0), v1.log1p(tf.abs(x)), v1.to_int32(x), v1.cumsum(x, 1), v1.count_nonzero(x, keep_dims=True), v1.mod(7, 3)],
            "arrays": lambda v1, x, tf: [
                v1.expand_dims(x, dim=0).shape, v1.squeeze(x[None], squeeze_dims=[0]), v1.concat([x, x], 0), v1.where(x > 0, x, -x), v1.where(x > 0),
                v1.transpose(x), v1.pad(x, [[0, 0], [1, 1]]), v1.boolean_mask(x, [True, False]), v1.gather(x, [1]), v1.shape(x), v1.size(x), v1.rank(x),
                v1.split(x, 3, axis=1), v1.unstack(x), v1.tile(x, [1, 2]), v1.one_hot([0, 1], 3), v1.placeholder_with_default(x, [None, 3]),
            ],
            "strings": lambda v1, x, tf: [v1.as_string(x), v1.string_to_number(["1.5"]), v1.substr("abc", 1, 2), v1.reduce_join(["a", "b"]), v1.string_split(["a b"]).values],
            "sparse": lambda v1, x, tf: [v1.sparse_to_dense([[0, 1]], [2, 2], [5]), v1.sparse_reduce_sum(tf.sparse.from_dense(x), 1), v1.sparse_tensor_to_dense(tf.sparse.from_dense(x))],
            "asserts": lambda v1, x, tf: [v1.assert_equal(x, x), v1.assert_rank(x, 2), v1.assert_positive(tf.abs(x)), v1.assert_less(x, 9.0)],
            "flow": lambda v1, x, tf: [
                v1.cond(True, lambda: x, lambda: -x), v1.while_loop(lambda i: i < 3, lambda i: i + 1, [0]), v1.case([(tf.constant(True), lambda: x)], lambda: -x),
                v1.map_fn(lambda r: r * 2, x), v1.scan(lambda a, r: a + r, x), v1.foldl(lambda a, r: a + r, x), v1.group(x), v1.tuple([x]), v1.no_op(),
            ],
            "control_dependencies": lambda v1, x, tf: _after(v1, x),
            "name_scopes": lambda v1, x, tf: _scoped(v1),
            "get_variable": lambda v1, x, tf: _got(v1),
            "get_variable_kinds": lambda v1, x, tf: [type(v1.get_variable("k", [2], initializer=v1.zeros_initializer())).__name__, v1.get_variable("l", initializer=x)],
            "variables": lambda v1, x, tf: _changed(v1),
            "initializers": lambda v1, x, tf: [v1.zeros_initializer()([2]), v1.constant_initializer(3.0)([2]), v1.ones_initializer()([1]), v1.orthogonal_initializer()([2, 2]).shape],
            "lists": lambda v1, x, tf: [v1.global_variables(), v1.trainable_variables(), v1.get_collection(v1.GraphKeys.LOSSES), v1.losses.get_losses()],
            "global_step": lambda v1, x, tf: [v1.train.get_or_create_global_step() is not None],
            "decays": lambda v1, x, tf: [
                v1.train.exponential_decay(0.1, 3, 2, 0.5)(), v1.train.piecewise_constant(2, [1], [0.1, 0.2])(), v1.train.polynomial_decay(0.1, 3, 10)(), v1.train.cosine_decay(0.1, 3, 10)(),
            ],
            "clips": lambda v1, x, tf: [v1.clip_by_value(x, -1.0, 1.0), v1.clip_by_norm(x, 1.0), v1.clip_by_global_norm([x], 1.0), v1.global_norm([x])],
            "linalg": lambda v1, x, tf: [v1.matmul(x, x, transpose_b=True), v1.norm(x, ord=1), v1.einsum("ij,kj->ik", x, x), v1.matrix_diag([1.0, 2.0]), v1.tensordot(x, x, [[1], [1]])],
            "image": lambda v1, x, tf: [v1.image.resize_images(tf.reshape(tf.range(4.0), [1, 2, 2, 1]), [4, 4]), v1.image.resize_bilinear(tf.ones([1, 2, 2, 1]), [3, 3], align_corners=True)],
            "random": lambda v1, x, tf: [v1.random_uniform([2]).shape, v1.random_normal([2]).shape, v1.truncated_normal([2]).shape, v1.random_shuffle(x).shape],
            "data": lambda v1, x, tf: [list(v1.data.Dataset.range(3)), [v for v in v1.data.make_one_shot_iterator(tf.data.Dataset.range(2))]],
            "confusion_matrix": lambda v1, x, tf: v1.confusion_matrix([0, 1, 1], [0, 1, 0]),
            "bincount": lambda v1, x, tf: v1.bincount([1, 1, 3]),
            "strided": lambda v1, x, tf: [v1.strided_slice(x, [0, 0], [2, 2]), v1.slice(x, [0, 1], [2, 2]), v1.reverse(x, [1])],
            "range": lambda v1, x, tf: [v1.range(3), v1.linspace(0.0, 1.0, 3), v1.zeros([2]), v1.ones_like(x), v1.fill([2], 1), v1.eye(2), v1.zeros_like(x)],
            "modes": lambda v1, x, tf: [v1.executing_eagerly(), v1.executing_eagerly_outside_functions()],
        }.items()
    ],
)  # fmt: skip

snippet.one_liners(
    "refused_version1",
    [
        (name, _v1(call))
        for name, call in {
            "placeholder": lambda v1, x, tf: v1.placeholder(tf.float32),
            "gradients": lambda v1, x, tf: v1.gradients(x * x, x),

            "saver": lambda v1, x, tf: v1.train.Saver().save(None, "x"),
            "metrics": lambda v1, x, tf: v1.metrics.mean(x),
            "minimize": lambda v1, x, tf: v1.train.GradientDescentOptimizer(0.1).minimize(x),
            "queue_runner": lambda v1, x, tf: v1.train.string_input_producer(["a"]),
            "one_shot_iterator": lambda v1, x, tf: v1.data.make_initializable_iterator(tf.data.Dataset.range(2)),
        }.items()
    ],
)  # fmt: skip


def _after(v1, x):
    with v1.control_dependencies([x, None, v1.no_op()]):
        return v1.identity(x)


def _scoped(v1):
    with v1.name_scope("a", "b", [1]) as one, v1.variable_scope("v") as scope:
        return [one, scope.name, v1.get_variable("w", [1], initializer=v1.ones_initializer()).name]


def _got(v1):
    made = []
    for _ in range(2):
        with v1.variable_scope("same", reuse=v1.AUTO_REUSE):
            made.append(v1.get_variable("w", [2], initializer=v1.ones_initializer()))
    return [made[0] is made[1], made[0], made[0].trainable, v1.get_variable_scope().name]


def _changed(v1):
    v = v1.Variable([1.0, 2.0])
    return [v1.assign(v, [3.0, 4.0]), v1.assign_add(v, [1.0, 1.0]), v1.assign_sub(v, [1.0, 0.0]), v1.scatter_update(v, [0], [9.0]), v.read_value(), v1.is_variable_initialized(v)]


@snippet
def version1_optimizers_change_variables(tf):
    v1, found = tf.compat.v1, []
    for make in (
        lambda: v1.train.GradientDescentOptimizer(0.1), lambda: v1.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True), lambda: v1.train.AdamOptimizer(0.1),
        lambda: v1.train.AdagradOptimizer(0.1), lambda: v1.train.RMSPropOptimizer(0.1), lambda: v1.train.FtrlOptimizer(0.1), lambda: v1.train.AdadeltaOptimizer(0.1),
    ):  # fmt: skip
        v, optimizer = tf.Variable([1.0, 2.0]), make()
        optimizer.minimize(lambda: tf.reduce_sum(v * v), var_list=[v])
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(v * v)
        optimizer.apply_gradients([(tape.gradient(loss, v), v)])
        found += [v.numpy(), [s.numpy() for s in optimizer.variables()]]
    return found


@snippet
def version1_moving_averages(tf):
    v = tf.Variable(1.0)
    averages = tf.compat.v1.train.ExponentialMovingAverage(0.5)
    averages.apply([v])
    v.assign(3.0)
    averages.apply([v])
    return averages.average(v)


@snippet
def version1_graphs_beside_it(tf):
    v1 = tf.compat.v1
    with v1.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [2])
        w = v1.get_variable("w", [2], initializer=v1.ones_initializer())
        y = v1.reduce_sum(x * w)
        session.run(v1.global_variables_initializer())
        return [session.run([y, v1.gradients(y, w)[0]], {x: [1.0, 2.0]}), v1.executing_eagerly(), type(y).__name__, w.name]


@snippet
def version1_in_a_function(tf):
    @tf.function
    def f(x):
        with tf.compat.v1.name_scope("n"):
            return tf.compat.v1.reduce_sum(tf.compat.v1.nn.softmax(x), keep_dims=True), tf.compat.v1.executing_eagerly()

    return f(tf.constant(_X))


@snippet
def version1_optimizer_in_a_function(tf):
    v, optimizer = tf.Variable([1.0, 2.0]), tf.compat.v1.train.AdamOptimizer(tf.compat.v1.train.exponential_decay(0.1, 3, 2, 0.5))
    step = tf.compat.v1.train.get_or_create_global_step()
    before = step.numpy()

    @tf.function
    def train():
        optimizer.minimize(lambda: tf.reduce_sum(v * v), global_step=step, var_list=[v])

    train()
    train()
    return [v.numpy(), step.numpy() - before, len(optimizer.variables()), optimizer.get_slot(v, "m").numpy()]


@snippet
def version1_sparse_gradients(tf):
    found = []
    for make in (lambda: tf.compat.v1.train.GradientDescentOptimizer(0.1), lambda: tf.compat.v1.train.AdamOptimizer(0.1), lambda: tf.compat.v1.train.MomentumOptimizer(0.1, 0.5)):
        v, optimizer = tf.Variable([[1.0], [2.0], [3.0]]), make()
        optimizer.minimize(lambda: tf.reduce_sum(tf.gather(v, [0, 2, 0]) ** 2.0), var_list=[v])
        found.append(v.numpy())
    return found
