"""Eager snippets: variables, the tape, tf.function, control flow, modules, data, training."""

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
        ("shape", lambda tf: [(v := tf.Variable([[1.0, 2.0]])).shape, v.dtype, v.name, v.trainable, v.device]),
        ("partly_known_shape", lambda tf: _partly_known(tf)),
        ("operators", lambda tf: [(v := tf.Variable(4.0)) + 1.0, 2.0 * v, v / 8.0, -v, v > 3.0, v**0.5, abs(v - 9.0), v // 3.0, v % 3.0]),
        ("equal", lambda tf: tf.Variable([1, 2]) == [1, 3]),
        ("index", lambda tf: [(v := tf.Variable([[1, 2], [3, 4]]))[0], v[1, 1], v[:, 0]]),
        ("assign", lambda tf: [(v := tf.Variable(1.0)).assign(2.5), v.assign_add(1.0), v.assign_sub(0.25), v, v.numpy()]),
        ("assign_read_value", lambda tf: tf.Variable(1.0).assign(2.0, read_value=False)),
        ("assign_slice", lambda tf: _assign_slice(tf)),
        ("scatter", lambda tf: [(v := tf.Variable([1.0, 2.0, 3.0])).scatter_nd_update([[0], [2]], [9.0, 8.0]), v.scatter_nd_add([[1]], [5.0]), v]),
        ("scatter_update", lambda tf: [(v := tf.Variable([1.0, 2.0])).scatter_update(tf.IndexedSlices([7.0], [1])), v]),
        ("read", lambda tf: [tf.Variable(1.5).read_value(), tf.Variable(2.5).value(), tf.convert_to_tensor(tf.Variable(3.5))]),
        ("numpy", lambda tf: [np.array(tf.Variable([1, 2])), float(tf.Variable(2.5)), int(tf.Variable(3)), bool(tf.Variable(True))]),
        ("iteration", lambda tf: list(tf.Variable([1, 2]))),
        ("in_functions", lambda tf: [tf.add(tf.Variable(1.0), 2.0), tf.reduce_sum(tf.Variable([1, 2])), tf.matmul(tf.Variable([[2.0]]), [[3.0]])]),
        ("identity", lambda tf: _identity(tf)),
        ("copies", lambda tf: _copies(tf)),
        ("experimental_ref", lambda tf: (v := tf.Variable(1.0)).ref().deref() is v),
        ("gather", lambda tf: tf.gather(tf.Variable([10, 20, 30]), [2, 0])),
        ("batch_scatter", lambda tf: (v := tf.Variable([1, 2, 3])).sparse_read([0, 2])),
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
        ("cross_entropy", _gradient(lambda tf, x: tf.nn.sparse_softmax_cross_entropy_with_logits([1], [x]), X)),
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
        ("conv2d", _gradient(lambda tf, x, k: tf.nn.conv2d(tf.reshape(x, [1, 2, 2, 1]), tf.reshape(k, [2, 2, 1, 1]), 1, "SAME"), M, M)),
        ("max_pool", _gradient(lambda tf, x: tf.nn.max_pool(tf.reshape(x, [1, 2, 2, 1]), 2, 1, "VALID"), M)),
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


# Functions


@snippet
def function_basic(tf):
    @tf.function
    def f(x, y):
        return x**2 + y

    return f(tf.constant([2.0, 3.0]), tf.constant([3.0, -2.0]))


@snippet
def function_called_as_wrapper(tf):
    return tf.function(lambda x: x * 2)(tf.constant(4))


@snippet
def function_traces_once_a_signature(tf):
    traces = []

    @tf.function
    def f(x):
        traces.append(str(x.dtype) + str(x.shape))
        return x + x

    return [f(tf.constant(1)), f(tf.constant(2)), f(tf.constant(1.5)), f(tf.constant([1, 2])), traces]


@snippet
def function_python_arguments(tf):
    traces = []

    @tf.function
    def f(x, n):
        traces.append(n)
        return x * n

    return [f(tf.constant(2), 3), f(tf.constant(2), 3), f(tf.constant(2), n=4), traces]


@snippet
def function_input_signature(tf):
    traces = []

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def f(x):
        traces.append(str(x.shape))
        return tf.reduce_sum(x)

    return [f(tf.constant([1.0])), f(tf.constant([1.0, 2.0])), f([5.0]), traces]


@snippet
def function_reduce_retracing(tf):
    @tf.function(reduce_retracing=True)
    def f(x):
        return tf.size(x)

    return [f(tf.zeros([1])), f(tf.zeros([2])), f(tf.zeros([3]))]


@snippet
def function_structures(tf):
    @tf.function
    def f(d, pair):
        return {"sum": d["a"] + d["b"], "pair": pair[::-1]}

    return f({"a": tf.constant(1), "b": tf.constant(2)}, (tf.constant(3), tf.constant(4)))


@snippet
def function_with_variable(tf):
    v = tf.Variable(1.0)

    @tf.function
    def f(x):
        v.assign_add(x)
        return v * 2.0

    return [f(tf.constant(1.0)), f(tf.constant(2.0)), v]


@snippet
def function_makes_variable_once(tf):
    class Counter:
        def __init__(self):
            self.v = None

        @tf.function
        def __call__(self):
            if self.v is None:
                self.v = tf.Variable(10)
            return self.v.assign_add(1)

    c = Counter()
    return [c(), c()]


@snippet
def function_if_on_tensor(tf):
    @tf.function
    def f(x):
        if x > 0:
            return x * 2
        else:
            return -x

    return [f(tf.constant(3)), f(tf.constant(-4))]


@snippet
def function_while_on_tensor(tf):
    @tf.function
    def f(n):
        i = tf.constant(0)
        total = tf.constant(0)
        while i < n:
            total += i
            i += 1
        return total

    return [f(tf.constant(5)), f(tf.constant(0))]


@snippet
def function_for_over_range(tf):
    @tf.function
    def f(n):
        x = tf.constant(1)
        for i in tf.range(n):
            if i % 2 == 0:
                continue
            x *= i
        return x

    return f(tf.constant(8))


@snippet
def function_nested(tf):
    @tf.function
    def inner(x):
        return x + 1

    @tf.function
    def outer(x):
        return inner(x) * inner(x + 1)

    return outer(tf.constant(2))


@snippet
def function_concrete(tf):
    @tf.function
    def f(x):
        return x + 1.0

    concrete = f.get_concrete_function(tf.TensorSpec([None], tf.float32))
    return [concrete(tf.constant([1.0, 2.0])), concrete.structured_input_signature[0][0].shape, [o.type for o in concrete.graph.get_operations()][:1]]


@snippet
def function_no_result(tf):
    v = tf.Variable(0)

    @tf.function
    def f():
        v.assign(7)

    return [f(), v]


@snippet
def function_order_of_effects(tf):
    v = tf.Variable(1.0)

    @tf.function
    def f():
        v.assign(v * 2.0)
        a = v.read_value()
        v.assign(v + 3.0)
        return a, v.read_value()

    return f()


@snippet
def function_of_numpy(tf):
    return tf.function(lambda x: x * 2)(np.array([1.0, 2.0], np.float32))


@snippet
def function_default_arguments(tf):
    @tf.function
    def f(x, scale=2.0, *, offset=1.0):
        return x * scale + offset

    return [f(1.0), f(tf.constant(1.0), 3.0), f(tf.constant(1.0), offset=0.0)]


@snippet
def function_method(tf):
    class Model(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable(3.0)

        @tf.function
        def __call__(self, x):
            return self.w * x

    return Model()(tf.constant(2.0))


@snippet
def run_functions_eagerly(tf):
    seen = []

    @tf.function
    def f(x):
        seen.append(tf.executing_eagerly())
        return x

    tf.config.run_functions_eagerly(True)
    try:
        f(tf.constant(1))
    finally:
        tf.config.run_functions_eagerly(False)
    return seen


# Control flow

snippet.one_liners(
    "flow",
    [
        ("cond", lambda tf: [tf.cond(tf.constant(True), lambda: 1, lambda: 2), tf.cond(tf.constant(0) > 1, lambda: [1, 2], lambda: [3, 4])]),
        ("while", lambda tf: tf.while_loop(lambda i, s: i < 5, lambda i, s: (i + 1, s + i), [tf.constant(0), tf.constant(0)])),
        ("while_limit", lambda tf: tf.while_loop(lambda i: True, lambda i: [i + 1], [tf.constant(0)], maximum_iterations=3)),
        ("case", lambda tf: tf.case([(tf.constant(False), lambda: 1), (tf.constant(True), lambda: 2)], default=lambda: 3)),
        ("switch_case", lambda tf: [tf.switch_case(tf.constant(k), [lambda: 10, lambda: 20], default=lambda: -1) for k in (0, 1, 7)]),
        ("group", lambda tf: tf.group(tf.constant(1), tf.constant(2))),
        ("tuple", lambda tf: tf.tuple([tf.constant(1), tf.constant(2)])),
        ("control_dependencies", lambda tf: _with_dependencies(tf)),
        ("map_fn_structure", lambda tf: tf.map_fn(lambda t: t[0] + t[1], (tf.constant([1, 2]), tf.constant([10, 20])), fn_output_signature=tf.int32)),
        ("scan_initializer", lambda tf: tf.scan(lambda a, x: a + x, tf.constant([1.0, 2.0]), initializer=10.0)),
        ("tensor_array", lambda tf: _tensor_array(tf)),
        ("no_op", lambda tf: tf.no_op()),
        ("py_function", lambda tf: tf.py_function(lambda x: x.numpy() * 2, [tf.constant(4)], tf.int32)),
        ("numpy_function", lambda tf: tf.numpy_function(lambda x: np.sinh(x), [tf.constant(0.0)], tf.float32)),
    ],
)


def _with_dependencies(tf):
    with tf.control_dependencies([tf.constant(1)]):
        return tf.constant(2)


def _tensor_array(tf):
    array = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
    for i in range(3):
        array = array.write(i, i * i)
    return [array.stack(), array.read(1), array.size()]


# Modules, data, training


@snippet
def module(tf):
    class Dense(tf.Module):
        def __init__(self, n, name=None):
            super().__init__(name=name)
            self.w = tf.Variable(tf.ones([n, 1]), name="w")
            self.b = tf.Variable(0.0, name="b", trainable=False)

        @tf.Module.with_name_scope
        def __call__(self, x):
            return x @ self.w + self.b

    class Two(tf.Module):
        def __init__(self):
            super().__init__(name="two")
            self.layers = [Dense(2, name="first"), Dense(1)]

        def __call__(self, x):
            for layer in self.layers:
                x = layer(x)
            return x

    m = Two()
    return [m(tf.ones([1, 2])), [v.name for v in m.variables], len(m.trainable_variables), [s.name for s in m.submodules], m.name]


def _dataset(tf):
    return tf.data.Dataset.from_tensor_slices([1, 2, 3, 4, 5])


snippet.one_liners(
    "data",
    [
        ("slices", lambda tf: [x for x in _dataset(tf)]),
        ("numpy", lambda tf: list(_dataset(tf).as_numpy_iterator())),
        ("range", lambda tf: [list(tf.data.Dataset.range(*a).as_numpy_iterator()) for a in ((5,), (2, 5), (1, 9, 3))]),
        ("map", lambda tf: list(_dataset(tf).map(lambda x: x * x).as_numpy_iterator())),
        ("filter", lambda tf: list(_dataset(tf).filter(lambda x: x % 2 == 1).as_numpy_iterator())),
        ("batch", lambda tf: [b for b in _dataset(tf).batch(2)]),
        ("batch_drop", lambda tf: [b for b in _dataset(tf).batch(2, drop_remainder=True)]),
        ("repeat_take_skip", lambda tf: list(_dataset(tf).repeat(2).skip(3).take(4).as_numpy_iterator())),
        ("zip", lambda tf: [(a, b) for a, b in tf.data.Dataset.zip((_dataset(tf), tf.data.Dataset.range(3)))]),
        ("dictionary", lambda tf: [d for d in tf.data.Dataset.from_tensor_slices({"a": [1, 2], "b": ["x", "y"]})]),
        ("prefetch", lambda tf: list(_dataset(tf).prefetch(2).as_numpy_iterator())),
        ("shuffle_keeps_elements", lambda tf: sorted(_dataset(tf).shuffle(5, seed=1).as_numpy_iterator())),
        ("reduce", lambda tf: _dataset(tf).reduce(0, lambda s, x: s + x)),
        ("enumerate", lambda tf: [(i, x) for i, x in _dataset(tf).take(2).enumerate()]),
        ("concatenate", lambda tf: list(_dataset(tf).take(1).concatenate(_dataset(tf).skip(4)).as_numpy_iterator())),
        ("element_spec", lambda tf: [_dataset(tf).element_spec, _dataset(tf).batch(2).element_spec]),
        ("cardinality", lambda tf: [_dataset(tf).cardinality(), len(_dataset(tf))]),
        ("from_tensors", lambda tf: [x for x in tf.data.Dataset.from_tensors([1, 2])]),
        ("generator", lambda tf: list(tf.data.Dataset.from_generator(lambda: iter([1, 2]), output_signature=tf.TensorSpec([], tf.int32)).as_numpy_iterator())),
    ],
)


def _train(make):
    def build(tf):
        optimizer = make(tf)
        w = tf.Variable([1.0, -2.0])
        for _ in range(3):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(w**2)
            optimizer.apply_gradients([(tape.gradient(loss, w), w)])
        return w.numpy()

    return build


snippet.one_liners(
    "optimizer",
    [
        ("sgd", _train(lambda tf: tf.optimizers.SGD(0.1))),
        ("momentum", _train(lambda tf: tf.optimizers.SGD(0.1, momentum=0.9))),
        ("nesterov", _train(lambda tf: tf.optimizers.SGD(0.1, momentum=0.9, nesterov=True))),
        ("adam", _train(lambda tf: tf.optimizers.Adam(0.1))),
        ("adagrad", _train(lambda tf: tf.optimizers.Adagrad(0.1))),
        ("rmsprop", _train(lambda tf: tf.optimizers.RMSprop(0.1))),
    ],
)

snippet.one_liners(
    "loss",
    [
        ("mean_squared", lambda tf: tf.losses.MeanSquaredError()([[0.0, 1.0]], [[1.0, 1.0]])),
        ("mean_absolute", lambda tf: tf.losses.MeanAbsoluteError()([[0.0, 1.0]], [[1.0, 1.5]])),
        ("sparse", lambda tf: tf.losses.SparseCategoricalCrossentropy(from_logits=True)(tf.constant([1]), tf.constant([[1.0, 2.0]]))),
        ("binary", lambda tf: tf.losses.BinaryCrossentropy(from_logits=True)([[0.0, 1.0]], [[0.5, 0.25]])),
        ("initializers", lambda tf: [tf.initializers.Zeros()([2]), tf.initializers.Ones()([1, 2]), tf.initializers.Constant(3.0)([2])]),
    ],
)
