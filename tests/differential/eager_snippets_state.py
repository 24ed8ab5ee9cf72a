"""Eager snippets: variables and the tape."""

import numpy as np

from snippet import Table

snippet = Table()

snippet.one_liners(
    "variable",
    [
        ("float", lambda tf: tf.Variable(3.0)),
        ("named", lambda tf: tf.Variable([1, 2], name="counts")),
        ("dtype", lambda tf: tf.Variable(1, dtype=tf.float64)),
        ("string", lambda tf: tf.Variable("text")),
        ("from_callable", lambda tf: tf.Variable(lambda: tf.ones([2]))),
        (
            "shape",
            lambda tf: [
                (v := tf.Variable([[1.0, 2.0]])).shape,
                v.dtype,
                v.name,
                v.trainable,
                v.device,
            ],
        ),
        ("partly_known_shape", lambda tf: _partly_known(tf)),
        (
            "operators",
            lambda tf: [
                (v := tf.Variable(4.0)) + 1.0,
                2.0 * v,
                v / 8.0,
                -v,
                v > 3.0,
                v**0.5,
                abs(v - 9.0),
                v // 3.0,
                v % 3.0,
            ],
        ),
        ("equal", lambda tf: tf.Variable([1, 2]) == [1, 3]),
        ("index", lambda tf: [(v := tf.Variable([[1, 2], [3, 4]]))[0], v[1, 1], v[:, 0]]),
        (
            "assign",
            lambda tf: [
                (v := tf.Variable(1.0)).assign(2.5),
                v.assign_add(1.0),
                v.assign_sub(0.25),
                v,
                v.numpy(),
            ],
        ),
        ("assign_read_value", lambda tf: tf.Variable(1.0).assign(2.0, read_value=False)),
        ("assign_slice", lambda tf: _assign_slice(tf)),
        (
            "scatter",
            lambda tf: [
                (v := tf.Variable([1.0, 2.0, 3.0])).scatter_nd_update([[0], [2]], [9.0, 8.0]),
                v.scatter_nd_add([[1]], [5.0]),
                v,
            ],
        ),
        (
            "scatter_update",
            lambda tf: [
                (v := tf.Variable([1.0, 2.0])).scatter_update(tf.IndexedSlices([7.0], [1])),
                v,
            ],
        ),
        (
            "read",
            lambda tf: [
                tf.Variable(1.5).read_value(),
                tf.Variable(2.5).value(),
                tf.convert_to_tensor(tf.Variable(3.5)),
            ],
        ),
        (
            "numpy",
            lambda tf: [
                np.array(tf.Variable([1, 2])),
                float(tf.Variable(2.5)),
                int(tf.Variable(3)),
                bool(tf.Variable(True)),
            ],
        ),
        ("iteration", lambda tf: list(tf.Variable([1, 2]))),
        (
            "in_functions",
            lambda tf: [
                tf.add(tf.Variable(1.0), 2.0),
                tf.reduce_sum(tf.Variable([1, 2])),
                tf.matmul(tf.Variable([[2.0]]), [[3.0]]),
            ],
        ),
        ("identity", lambda tf: _identity(tf)),
        ("copies", lambda tf: _copies(tf)),
        ("experimental_ref", lambda tf: (v := tf.Variable(1.0)).ref().deref() is v),
        ("gather", lambda tf: tf.gather(tf.Variable([10, 20, 30]), [2, 0])),
        ("sparse_read", lambda tf: tf.Variable([1, 2, 3]).sparse_read([0, 2])),
        ("count_up", lambda tf: _count_up(tf)),
        ("initial_value", lambda tf: tf.Variable(np.arange(3)).numpy()),
        ("not_trainable", lambda tf: tf.Variable(1, trainable=False).trainable),
    ],
)


def _partly_known(tf):
    v = tf.Variable([1.0], shape=tf.TensorShape([None]))
    v.assign([1.0, 2.0, 3.0])
    return [v.shape, v]


def _assign_slice(tf):
    v = tf.Variable([1, 2, 3, 4])
    v[1:3].assign([8, 9])
    return v


def _identity(tf):
    v = tf.Variable(1.0)
    before = tf.identity(v)
    v.assign(5.0)
    return [before, v.numpy()]


def _copies(tf):
    v = tf.Variable([1.0])
    array = v.numpy()
    v.assign_add([1.0])
    return [array, v.numpy()]


def _count_up(tf):
    v = tf.Variable(0)
    for _ in range(10):
        v.assign_add(2)
    return v


# The tape


def _gradient(function, *at):
    def build(tf):
        points = [tf.constant(a) for a in at]
        with tf.GradientTape() as tape:
            for point in points:
                tape.watch(point)
            y = function(tf, *points)
        return [y, tape.gradient(y, points)]

    return build


X = [0.5, 1.5, 2.0]
M = [[1.0, 2.0], [3.0, 4.0]]

snippet.one_liners(
    "gradient",
    [
        ("square", _gradient(lambda tf, x: x * x, 3.0)),
        ("product", _gradient(lambda tf, x, y: x * y + tf.sin(x), 2.0, 3.0)),
        ("power", _gradient(lambda tf, x: x**3, X)),
        ("division", _gradient(lambda tf, x, y: x / y, X, [1.0, 2.0, 4.0])),
        ("broadcast", _gradient(lambda tf, x, y: x * y, [[1.0], [2.0]], [3.0, 4.0])),
        ("matmul", _gradient(lambda tf, a, b: tf.matmul(a, b), M, M)),
        ("exp_log", _gradient(lambda tf, x: tf.exp(x) + tf.math.log(x), X)),
        ("tanh_sigmoid", _gradient(lambda tf, x: tf.tanh(x) * tf.sigmoid(x), X)),
        ("reduce_sum", _gradient(lambda tf, x: tf.reduce_sum(x * x), M)),
        ("reduce_mean", _gradient(lambda tf, x: tf.reduce_mean(x, axis=0), M)),
        ("reduce_max", _gradient(lambda tf, x: tf.reduce_max(x, axis=1), M)),
        ("reduce_prod", _gradient(lambda tf, x: tf.reduce_prod(x), X)),
        ("relu", _gradient(lambda tf, x: tf.nn.relu(x), [-1.0, 0.0, 2.0])),
        ("softmax", _gradient(lambda tf, x: tf.nn.softmax(x)[0], X)),
        (
            "cross_entropy",
            _gradient(lambda tf, x: tf.nn.sparse_softmax_cross_entropy_with_logits([1], [x]), X),
        ),
        ("slice", _gradient(lambda tf, x: x[1:, 0], M)),
        ("gather", _gradient(lambda tf, x: tf.gather(x, [0, 0, 2]) * 1.0, X)),
        ("concat", _gradient(lambda tf, x, y: tf.concat([x, y], 0) ** 2, X, [4.0])),
        ("stack", _gradient(lambda tf, x, y: tf.stack([x, y])[1], 1.0, 2.0)),
        ("transpose", _gradient(lambda tf, x: tf.transpose(x)[0] * 2.0, M)),
        ("reshape", _gradient(lambda tf, x: tf.reshape(x, [4])[1], M)),
        ("where", _gradient(lambda tf, x: tf.where(x > 1.0, x * 2.0, x * 3.0), X)),
        ("maximum", _gradient(lambda tf, x, y: tf.maximum(x, y), X, [1.0, 1.0, 1.0])),
        ("abs_sign", _gradient(lambda tf, x: tf.abs(x) + tf.sign(x), [-1.0, 2.0])),
        ("sqrt", _gradient(lambda tf, x: tf.sqrt(x) + tf.math.rsqrt(x), X)),
        ("clip", _gradient(lambda tf, x: tf.clip_by_value(x, 1.0, 1.75), X)),
        ("stop", _gradient(lambda tf, x: x * tf.stop_gradient(x), 3.0)),
        (
            "conv2d",
            _gradient(
                lambda tf, x, k: tf.nn.conv2d(
                    tf.reshape(x, [1, 2, 2, 1]), tf.reshape(k, [2, 2, 1, 1]), 1, "SAME"
                ),
                M,
                M,
            ),
        ),
        (
            "max_pool",
            _gradient(lambda tf, x: tf.nn.max_pool(tf.reshape(x, [1, 2, 2, 1]), 2, 1, "VALID"), M),
        ),
        ("cholesky", _gradient(lambda tf, x: tf.linalg.det(x), M)),
        ("inverse", _gradient(lambda tf, x: tf.linalg.inv(x), M)),
        ("einsum", _gradient(lambda tf, a, b: tf.einsum("ij,jk->i", a, b), M, M)),
        ("cumsum", _gradient(lambda tf, x: tf.cumsum(x) ** 2, X)),
        ("unconnected", _gradient(lambda tf, x, y: x * 1.0, 1.0, 2.0)),
        ("rounded", _gradient(lambda tf, x: tf.round(x), 1.6)),
        ("cast", _gradient(lambda tf, x: tf.cast(tf.cast(x, tf.float64) * 2, tf.float32), X)),
        ("complex", _gradient(lambda tf, x: tf.abs(tf.complex(x, x)), [1.0, 2.0])),
    ],
)


@snippet
def tape_of_variables(tf):
    w = tf.Variable([[1.0], [2.0]])
    b = tf.Variable(0.5)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((tf.constant([[3.0, 4.0]]) @ w + b) ** 2)
    return [loss, tape.gradient(loss, [w, b]), [v.name for v in tape.watched_variables()]]


@snippet
def tape_structures(tf):
    a, b = tf.constant(2.0), tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch([a, b])
        y = a * a * b
    return tape.gradient(y, {"a": a, "b": b})


@snippet
def tape_persistent(tf):
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        z = y * y
    return [tape.gradient(z, x), tape.gradient(y, x)]


@snippet
def tape_second_derivative(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = x**3
        first = inner.gradient(y, x)
    return [first, outer.gradient(first, x)]


@snippet
def tape_output_gradients(tf):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = x * 3.0
    return tape.gradient(y, x, output_gradients=tf.constant([10.0, 100.0]))


@snippet
def tape_several_targets(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y, z = x * 3.0, x * x
    return tape.gradient([y, z], x)


@snippet
def tape_zero_for_unconnected(tf):
    x, y = tf.Variable(1.0), tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        z = x * 2.0
    return tape.gradient(z, [x, y], unconnected_gradients=tf.UnconnectedGradients.ZERO)


@snippet
def tape_unwatched(tf):
    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        y = x * 2.0
    return tape.gradient(y, x)


@snippet
def tape_watches_only_what_is_said(tf):
    x, y = tf.Variable(1.0), tf.Variable(2.0)
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(x)
        z = x * y
    return tape.gradient(z, [x, y])


@snippet
def tape_stop_recording(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
        with tape.stop_recording():
            z = x * 100.0
    return [z, tape.gradient(y, x)]


@snippet
def tape_reset(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
        tape.reset()
        y += x * x * x
    return tape.gradient(y, x)


@snippet
def tape_jacobian(tf):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = x * x * [3.0, 4.0] + tf.reduce_sum(x)
    return tape.jacobian(y, x)


@snippet
def tape_batch_jacobian(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    return tape.batch_jacobian(y, x)


@snippet
def tape_through_python_control_flow(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = x
        for i in range(3):
            y = y * x if i % 2 else y + x
    return tape.gradient(y, x)


@snippet
def tape_of_embedding(tf):
    table = tf.Variable([[1.0], [2.0], [3.0]])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.gather(table, [0, 2, 2]) ** 2)
    g = tape.gradient(y, table)
    return [type(g).__name__, tf.convert_to_tensor(g)]


@snippet
def custom_gradient(tf):
    @tf.custom_gradient
    def clipped(x):
        return x * 2.0, lambda dy: tf.clip_by_value(dy, -0.5, 0.5)

    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = clipped(x) * 10.0
    return [y, tape.gradient(y, x)]


@snippet
def forward_accumulator(tf):
    x = tf.constant([2.0, 3.0])
    with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 0.0])) as acc:
        y = tf.reduce_sum(x**2)
    return acc.jvp(y)


@snippet
def gradient_through_function(tf):
    @tf.function
    def f(x):
        return tf.reduce_sum(x**2)

    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = f(x)
    return tape.gradient(y, x)


@snippet
def gradient_inside_function(tf):
    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x**3
        return tape.gradient(y, x)

    return f(tf.constant(2.0))
