"""Layers, losses, training with every optimizer, recurrent nets, embeddings."""

import numpy as np

from case import Case, case, table

IMAGES = np.linspace(-1, 1, 2 * 8 * 8 * 3, dtype=np.float32).reshape(2, 8, 8, 3)
KERNEL = np.linspace(-0.5, 0.5, 3 * 3 * 3 * 4, dtype=np.float32).reshape(3, 3, 3, 4)


def _image(function):
    def build(tf):
        x = tf.placeholder(tf.float32, [None, 8, 8, 3])
        made = function(tf, x)
        return Case(list(made) if isinstance(made, (list, tuple)) else [made], {x: IMAGES})

    return build


table("layer", [
    ("conv_same", _image(lambda tf, x: tf.nn.conv2d(x, KERNEL, strides=[1, 1, 1, 1], padding="SAME"))),
    ("conv_valid_strided", _image(lambda tf, x: tf.nn.conv2d(x, KERNEL, strides=[1, 2, 2, 1], padding="VALID"))),
    ("conv_dilated", _image(lambda tf, x: tf.nn.conv2d(x, KERNEL, strides=1, padding="SAME", dilations=2))),
    ("depthwise", _image(lambda tf, x: tf.nn.depthwise_conv2d(x, KERNEL[..., :2], [1, 1, 1, 1], "SAME"))),
    ("max_pool", _image(lambda tf, x: tf.nn.max_pool2d(x, 2, 2, "VALID"))), ("avg_pool", _image(lambda tf, x: tf.nn.avg_pool2d(x, 3, 2, "SAME"))),
    ("bias_add", _image(lambda tf, x: tf.nn.bias_add(x, [1.0, 2.0, 3.0]))),
    ("batch_norm", _image(lambda tf, x: tf.nn.batch_normalization(x, 0.1, 0.9, 0.5, 1.5, 1e-3))),
    ("fused_batch_norm", _image(lambda tf, x: list(tf.nn.fused_batch_norm(x, [1.0] * 3, [0.5] * 3))[:3])),
    ("fused_batch_norm_inference", _image(lambda tf, x: tf.nn.fused_batch_norm(x, [1.0] * 3, [0.5] * 3, [0.1] * 3, [0.9] * 3, is_training=False)[0])),
    ("lrn", _image(lambda tf, x: tf.nn.local_response_normalization(x))), ("resize_bilinear", _image(lambda tf, x: tf.image.resize_bilinear(x, [4, 4]))),
    ("conv_transpose", _image(lambda tf, x: tf.nn.conv2d_transpose(x, np.ones([3, 3, 5, 3], np.float32), [2, 16, 16, 5], 2))),
    ("conv_gradient", _image(lambda tf, x: tf.gradients(tf.reduce_sum(tf.nn.conv2d(x, KERNEL, strides=1, padding="SAME") ** 2), x))),
    ("pool_gradient", _image(lambda tf, x: tf.gradients(tf.reduce_sum(tf.nn.max_pool2d(x, 2, 2, "SAME") ** 2), x))),
])

LOGITS = np.array([[2.0, -1.0, 0.5], [0.1, 0.2, 3.0]], np.float32)
table("loss", [
    ("softmax", lambda tf: tf.nn.softmax_cross_entropy_with_logits_v2(labels=[[1.0, 0.0, 0.0], [0.0, 0.5, 0.5]], logits=LOGITS)),
    ("sparse_softmax", lambda tf: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 2], logits=LOGITS)),
    ("sigmoid", lambda tf: tf.nn.sigmoid_cross_entropy_with_logits(labels=np.float32([[1, 0, 1], [0, 0, 1]]), logits=LOGITS)),
    ("mean_squared", lambda tf: tf.losses.mean_squared_error([1.0, 2.0], [1.5, 1.0])), ("l2", lambda tf: tf.nn.l2_loss(LOGITS)),
    ("huber", lambda tf: tf.losses.huber_loss([1.0, 5.0], [1.5, 1.0])), ("in_top_k", lambda tf: tf.math.in_top_k(LOGITS, [0, 1], 1)),
])

# ---- Training.
DATA = np.array([[1.0, 2.0], [0.5, -1.0], [3.0, 0.2]], np.float32)
LABELS = np.array([[3.0], [-0.5], [3.2]], np.float32)
OPTIMIZERS = {
    "sgd": lambda t: t.GradientDescentOptimizer(0.05), "momentum": lambda t: t.MomentumOptimizer(0.05, 0.9),
    "nesterov": lambda t: t.MomentumOptimizer(0.05, 0.9, use_nesterov=True), "adam": lambda t: t.AdamOptimizer(0.05),
    "adagrad": lambda t: t.AdagradOptimizer(0.1), "adadelta": lambda t: t.AdadeltaOptimizer(1.0), "rmsprop": lambda t: t.RMSPropOptimizer(0.02),
    "rmsprop_centered": lambda t: t.RMSPropOptimizer(0.02, centered=True, momentum=0.5), "ftrl": lambda t: t.FtrlOptimizer(0.1),
    "proximal_sgd": lambda t: t.ProximalGradientDescentOptimizer(0.05, l1_regularization_strength=0.01),
    "proximal_adagrad": lambda t: t.ProximalAdagradOptimizer(0.1), "adagrad_da": lambda t: None,
}


def _training(make, resource, sparse=False):
    def build(tf):
        optimizer = make(tf.train) or tf.train.AdagradDAOptimizer(0.1, tf.train.get_or_create_global_step())
        x, y = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.float32, [None, 1])
        w = tf.get_variable("w", initializer=[[0.1], [0.2]], use_resource=resource)
        b = tf.get_variable("b", initializer=[0.5], use_resource=resource)
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - y))
        train = optimizer.minimize(loss)
        init = tf.global_variables_initializer()
        read = [w.read_value(), b.read_value(), loss]
        return Case(read, {x: DATA, y: LABELS}, [init, train, train, train])

    return build


table("train", [(n, _training(m, False)) for n, m in OPTIMIZERS.items()])
table("train_resource", [(n, _training(m, True)) for n, m in OPTIMIZERS.items() if n in ("sgd", "momentum", "adam", "adagrad", "rmsprop")])


def _embedding(resource):
    def build(tf):
        ids = tf.placeholder(tf.int32, [None])
        table_ = tf.get_variable("table", initializer=np.linspace(0, 1, 12, dtype=np.float32).reshape(6, 2), use_resource=resource)
        loss = tf.reduce_sum(tf.square(tf.nn.embedding_lookup(table_, ids)))
        train = tf.train.AdagradOptimizer(0.5).minimize(loss)
        return Case([table_.read_value(), loss], {ids: np.int32([1, 4, 1])}, [tf.global_variables_initializer(), train, train])

    return build


table("embedding", [("ref", _embedding(False)), ("resource", _embedding(True))])


@case
def embedding_sparse_gradient(tf):
    table_ = tf.constant(np.eye(4, dtype=np.float32))
    rows = tf.gather(table_, [0, 2, 2])
    return tf.convert_to_tensor(tf.gradients(tf.reduce_sum(rows * 3.0), table_)[0])


def _mlp(tf, x):
    w1, w2 = tf.get_variable("w1", [2, 8], initializer=tf.glorot_uniform_initializer(seed=1)), tf.get_variable("w2", [8, 1], initializer=tf.glorot_uniform_initializer(seed=2))
    return tf.matmul(tf.nn.relu(tf.matmul(x, w1)), w2)


@case
def train_mlp_with_decay_and_clipping(tf):
    x, y = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.float32, [None, 1])
    loss = tf.reduce_mean(tf.square(_mlp(tf, x) - y))
    step = tf.train.get_or_create_global_step()
    rate = tf.train.exponential_decay(0.1, step, 2, 0.5, staircase=True)
    pairs = tf.train.AdamOptimizer(rate).compute_gradients(loss)
    clipped, _ = tf.clip_by_global_norm([g for g, _ in pairs], 1.0)
    optimizer = tf.train.AdamOptimizer(rate)
    train = optimizer.apply_gradients(zip(clipped, [v for _, v in pairs]), global_step=step)
    return Case([loss, step.read_value()], {x: DATA, y: LABELS}, [tf.global_variables_initializer(), train, train, train, train])


@case
def train_exponential_moving_average(tf):
    v = tf.get_variable("v", initializer=1.0, use_resource=False)
    average = tf.train.ExponentialMovingAverage(0.9)
    keep = average.apply([v])
    bump = tf.assign_add(v, 2.0).op
    init = tf.global_variables_initializer()
    return Case([average.average(v).read_value(), v.read_value()], {}, [v.initializer, init, bump, keep, bump, keep])


# ---- Recurrent nets, cell by cell.
def _lstm(tf, x, state, output, weights):
    gates = tf.matmul(tf.concat([x, output], 1), weights)
    i, j, f, o = tf.split(gates, 4, axis=1)
    state = state * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(j)
    return state, tf.tanh(state) * tf.sigmoid(o)


SEQUENCE = np.linspace(-1, 1, 4 * 2 * 3, dtype=np.float32).reshape(4, 2, 3)
WEIGHTS = np.linspace(-0.4, 0.6, (3 + 5) * 20, dtype=np.float32).reshape(8, 20)


@case
def lstm_unrolled(tf):
    xs = tf.placeholder(tf.float32, [4, 2, 3])
    state = output = tf.zeros([2, 5])
    for x in tf.unstack(xs):
        state, output = _lstm(tf, x, state, output, WEIGHTS)
    return Case([state, output], {xs: SEQUENCE})


@case
def lstm_unrolled_gradient(tf):
    xs, w = tf.placeholder(tf.float32, [4, 2, 3]), tf.constant(WEIGHTS)
    state = output = tf.zeros([2, 5])
    for x in tf.unstack(xs):
        state, output = _lstm(tf, x, state, output, w)
    return Case(tf.gradients(tf.reduce_sum(output**2), w), {xs: SEQUENCE})


def _lstm_loop(tf, gradient):
    xs, w = tf.placeholder(tf.float32, [4, 2, 3]), tf.constant(WEIGHTS)
    zero = tf.zeros([2, 5])

    def body(i, state, output):
        return (i + 1, *_lstm(tf, tf.gather(xs, i), state, output, w))

    _, _, output = tf.while_loop(lambda i, *_: i < 4, body, [0, zero, zero])
    return Case(tf.gradients(tf.reduce_sum(output**2), w) if gradient else [output], {xs: SEQUENCE})


@case
def lstm_in_a_loop(tf):
    return _lstm_loop(tf, False)


@case
def lstm_in_a_loop_gradient(tf):
    return _lstm_loop(tf, True)


def _convolution(tf, x, filters, stride=1):
    kernel = tf.get_variable(f"k{len(tf.global_variables())}", [3, 3, x.shape[-1], filters], initializer=tf.glorot_uniform_initializer(seed=len(tf.global_variables())))
    x = tf.nn.conv2d(x, kernel, strides=stride, padding="SAME")
    ones, zeros = tf.ones([filters]), tf.zeros([filters])
    return tf.nn.relu(tf.nn.fused_batch_norm(x, ones, zeros, zeros + 0.1, ones * 0.8, is_training=False)[0])


def _residual_net(tf, x):
    x = tf.nn.max_pool2d(_convolution(tf, x, 8), 2, 2, "SAME")
    for _ in range(2):
        x = x + _convolution(tf, _convolution(tf, x, 8), 8)
    x = tf.reduce_mean(_convolution(tf, x, 16, stride=2), [1, 2])
    return tf.nn.softmax(tf.matmul(x, tf.get_variable("head", [16, 5], initializer=tf.glorot_uniform_initializer(seed=99))))


@case
def net_residual(tf):
    x = tf.placeholder(tf.float32, [None, 8, 8, 3])
    y = _residual_net(tf, x)
    return Case([y], {x: IMAGES}, [tf.global_variables_initializer()])


@case
def net_residual_frozen(tf):
    """Variables made constants, as models are handed on."""
    x = tf.placeholder(tf.float32, [None, 8, 8, 3], name="image")
    y = tf.identity(_residual_net(tf, x), name="scores")
    graph = tf.get_default_graph()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        frozen = tf.graph_util.convert_variables_to_constants(session, graph.as_graph_def(), ["scores"])
    graph.as_graph_def = lambda *_, **__: frozen
    return Case([y], {x: IMAGES})


@case
def net_residual_training(tf):
    x, labels = tf.placeholder(tf.float32, [None, 8, 8, 3]), tf.constant([1, 3])
    y = _residual_net(tf, x)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=tf.math.log(y)))
    train = tf.train.MomentumOptimizer(0.05, 0.9).minimize(loss)
    return Case([loss, y], {x: IMAGES}, [tf.global_variables_initializer(), train, train], float_tolerance=1e-4)


@case
def net_attention(tf):
    x = tf.placeholder(tf.float32, [None, 3, 4])
    q, k, v = (tf.matmul(x, np.linspace(-1, 1, 16, dtype=np.float32).reshape(1, 4, 4) * (i + 1) + tf.zeros([2, 1, 1])) for i in range(3))
    weights = tf.nn.softmax(tf.matmul(q, k, transpose_b=True) / 2.0)
    out = tf.matmul(weights, v)
    mean, variance = tf.nn.moments(out, [-1], keepdims=True)
    return Case([(out - mean) * tf.rsqrt(variance + 1e-6)], {x: np.linspace(-1, 1, 24, dtype=np.float32).reshape(2, 3, 4)}, float_tolerance=1e-4)
