"""Eager snippets: tapes, forward accumulators and Jacobians, plain, in functions, through branches
and loops."""

from snippet import Table

snippet = Table()


def _watched(tf, f, *xs, **how):
    xs = [tf.constant(x) for x in xs]
    with tf.GradientTape(**how) as tape:
        for x in xs:
            tape.watch(x)
        y = f(*xs)
    return tape, y, xs


def _grad(tf, f, *xs):
    tape, y, xs = _watched(tf, f, *xs)
    return [y, *tape.gradient(y, xs)]


FLOWS = {
    "cond": lambda tf: lambda x: tf.cond(tf.reduce_sum(x) > 0, lambda: x * tf.exp(x), lambda: -x),
    "cond_keeps": lambda tf: lambda x: tf.cond(
        tf.reduce_sum(x) > 0, lambda: tf.sin(tf.exp(x)) * x, lambda: tf.cos(x * x)
    ),
    "nested_cond": lambda tf: lambda x: tf.cond(
        tf.reduce_sum(x) > 0,
        lambda: tf.cond(x[0] > 1.0, lambda: x**3, lambda: tf.sin(x) * x),
        lambda: x,
    ),
    "while": lambda tf: lambda x: tf.while_loop(
        lambda i, y: i < 3, lambda i, y: (i + 1, tf.sin(y) * x), [0, x]
    )[1],
    "while_limited": lambda tf: lambda x: tf.while_loop(
        lambda i, y: i < 10, lambda i, y: (i + 1, y * x), [0, x], maximum_iterations=2
    )[1],
    "while_in_cond": lambda tf: lambda x: tf.cond(
        tf.reduce_sum(x) > 0,
        lambda: tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, y * y), [0, x])[1],
        lambda: x,
    ),
    "cond_in_while": lambda tf: lambda x: tf.while_loop(
        lambda i, y: i < 4,
        lambda i, y: (i + 1, tf.cond(i % 2 == 0, lambda: tf.exp(y) * x, lambda: y - x)),
        [0, x],
    )[1],
    "nested_while": lambda tf: lambda x: tf.while_loop(
        lambda i, y: i < 2,
        lambda i, y: (
            i + 1,
            tf.while_loop(lambda j, z: j < 2, lambda j, z: (j + 1, tf.sin(z) * x), [0, y])[1],
        ),
        [0, x],
    )[1],
    "switch_case": lambda tf: lambda x: tf.switch_case(
        tf.cast(x[0], tf.int32), [lambda: x, lambda: x * x, lambda: tf.exp(x) * x]
    ),
    "map_fn": lambda tf: lambda x: tf.map_fn(lambda v: v * v * v, x),
    "scan": lambda tf: lambda x: tf.scan(lambda a, v: a * v + v, x),
    "foldl": lambda tf: lambda x: tf.foldl(lambda a, v: a * v + v, x),
    "array": lambda tf: lambda x: _array(tf, x),
}


def _array(tf, x):
    array = tf.TensorArray(tf.float32, size=3)
    i = tf.constant(0)
    _, array = tf.while_loop(
        lambda i, a: i < 3, lambda i, a: (i + 1, a.write(i, tf.cast(i + 1, tf.float32) * x * x)), [i, array]
    )
    return array.stack()


for _name, _make in FLOWS.items():

    def _outside(tf, make=_make):
        return _grad(tf, tf.function(make(tf)), [1.5, 0.5])

    def _inside(tf, make=_make):
        f = make(tf)

        @tf.function
        def g(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x)
            return y, tape.gradient(y, x)

        return g(tf.constant([1.5, 0.5]))

    def _twice(tf, make=_make):
        f = tf.function(make(tf))
        x = tf.constant([1.5, 0.5])
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = f(x)
            first = inner.gradient(y, x)
        return first, outer.gradient(first, x)

    def _twice_inside(tf, make=_make):
        f = make(tf)

        @tf.function
        def g(x):
            with tf.GradientTape() as outer:
                outer.watch(x)
                with tf.GradientTape() as inner:
                    inner.watch(x)
                    y = f(x)
                first = inner.gradient(y, x)
            return first, outer.gradient(first, x)

        return g(tf.constant([1.5, 0.5]))

    snippet.put(f"tape_around_function_{_name}", _outside)
    snippet.put(f"tape_in_function_{_name}", _inside)
    snippet.put(f"tapes_around_function_{_name}", _twice)
    snippet.put(f"tapes_in_function_{_name}", _twice_inside)


# ---- Variables.


@snippet
def tape_variable_in_branch(tf):
    v = tf.Variable(3.0)

    @tf.function
    def f(x):
        return tf.cond(x > 0, lambda: x * v * v, lambda: x)

    results = []
    for value in (2.0, -2.0):
        x = tf.constant(value)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        results.append([y, *tape.gradient(y, [x, v])])
    return results


@snippet
def tape_variable_in_loop(tf):
    v = tf.Variable(1.5)

    @tf.function
    def f(x):
        return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * v + x), [0, x])[1]

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return [y, *tape.gradient(y, [x, v])]


@snippet
def train_step_in_function(tf):
    w, b = tf.Variable([[0.5], [-0.5]]), tf.Variable([0.1])

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.matmul(x, w) + b - y) ** 2)
        for v, g in zip([w, b], tape.gradient(loss, [w, b])):
            v.assign_sub(0.1 * g)
        return loss

    x, y = tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([[1.0], [2.0]])
    return [step(x, y) for _ in range(5)] + [w.value(), b.value()]


@snippet
def function_calls_function_under_tape(tf):
    v = tf.Variable(2.0)
    inner = tf.function(lambda x: tf.sin(x) * v)
    outer = tf.function(lambda x: inner(x) * inner(2.0 * x))
    x = tf.constant(0.7)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = outer(x)
    return [y, *tape.gradient(y, [x, v])]


@snippet
def function_calls_function_tape_inside(tf):
    inner = tf.function(lambda x: tf.sin(x) * tf.exp(x))

    @tf.function
    def outer(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = inner(x) * x
        return tape.gradient(y, x)

    return outer(tf.constant(0.7))


# ---- What a tape follows.


@snippet
def tape_unwatched_in_function(tf):
    seen = []

    @tf.function
    def f(x, w):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(w)
            y = x * w
            z = x * x
        seen.extend([tape.gradient(y, x) is None, tape.gradient(y + z, z) is None])
        return tape.gradient(y, w)

    return f(tf.constant(2.0), tf.constant(3.0)), seen


@snippet
def tape_persistent_in_function(tf):
    @tf.function
    def f(x):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = x * x
            z = y * y
        return tape.gradient(z, x), tape.gradient(y, x), tape.gradient(z, y)

    return f(tf.constant(3.0))


@snippet
def tape_stop_recording_in_function(tf):
    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
            with tape.stop_recording():
                z = y * y
            w = y + z
        return tape.gradient(w, x)

    return f(tf.constant(3.0))


@snippet
def tape_unconnected(tf):
    x, w = tf.constant([3.0, 1.0]), tf.constant(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, w])
        y = x * 2.0
    zero = tf.UnconnectedGradients.ZERO
    return tape.gradient(y, w), tape.gradient(y, w, unconnected_gradients=zero), tape.gradient(y, [x, w], unconnected_gradients="zero")


@snippet
def tape_watch_accessed_variables_false(tf):
    a, b = tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(a)
        y = a * b
    return [*tape.gradient(y, [a, b]), len(tape.watched_variables())]


@snippet
def refused_tape_used_twice(tf):
    tape, y, (x,) = _watched(tf, lambda x: x * x, 1.0)
    tape.gradient(y, x)
    tape.gradient(y, x)


@snippet
def tape_gradient_within(tf):
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x * x
        first = tape.gradient(y, x)
    return first, tape.gradient(first, x)


# ---- Jacobians.


@snippet
def jacobian_of_vector(tf):
    tape, y, (x,) = _watched(tf, lambda x: tf.stack([x[0] * x[1], tf.sin(x[2]), x[0] ** 3]), [1.0, 2.0, 3.0])
    return tape.jacobian(y, x)


@snippet
def jacobian_of_matrix_product(tf):
    tape, y, xs = _watched(tf, tf.matmul, [[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]])
    return tape.jacobian(y, xs)


@snippet
def jacobian_through_function(tf):
    f = tf.function(lambda x: tf.cond(x[0] > 0, lambda: tf.sin(x) * x, lambda: x))
    tape, y, (x,) = _watched(tf, f, [1.0, 2.0])
    return tape.jacobian(y, x)


@snippet
def jacobian_in_function(tf):
    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x[::-1]
        return tape.jacobian(y, x)

    return f(tf.constant([1.0, 2.0]))


@snippet
def jacobian_unconnected(tf):
    x, w = tf.constant([1.0, 2.0]), tf.constant([3.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, w])
        y = x * x
    return tape.jacobian(y, w), tape.jacobian(y, w, unconnected_gradients="zero")


@snippet
def jacobian_of_scalar_by_variable(tf):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(v * v)
    return tape.jacobian(y, v)


@snippet
def batch_jacobian(tf):
    tape, y, (x,) = _watched(tf, lambda x: x * x, [[1.0, 2.0], [3.0, 4.0]])
    return tape.batch_jacobian(y, x)


@snippet
def batch_jacobian_wide(tf):
    w = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    tape, y, (x,) = _watched(tf, lambda x: tf.tanh(tf.matmul(x, w)), [[0.1, 0.2], [0.3, -0.2], [0.1, -0.1]])
    return tape.batch_jacobian(y, x)


@snippet
def batch_jacobian_in_function(tf):
    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.sin(x) * x
        return tape.batch_jacobian(y, x)

    return f(tf.constant([[1.0, 2.0], [3.0, 4.0]]))


@snippet
def refused_batch_jacobian_of_unlike_batches(tf):
    tape, y, (x,) = _watched(tf, lambda x: tf.concat([x, x], 0), [[1.0, 2.0]])
    return tape.batch_jacobian(y, x)


@snippet
def hessian_by_jacobian(tf):
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x[0] ** 3 * x[1] ** 2
        g = inner.gradient(y, x)
    return outer.jacobian(g, x)


# ---- Forward.


def _forward(tf, f, x, t):
    x = tf.constant(x)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(t)) as acc:
        y = f(x)
    return y, acc.jvp(y)


@snippet
def forward_elementwise(tf):
    return _forward(tf, lambda x: tf.sin(x) * x, [1.0, 2.0], [1.0, 0.5])


@snippet
def forward_matmul(tf):
    w = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    return _forward(tf, lambda x: tf.tanh(tf.matmul(x, w)), [[0.5, -0.5]], [[1.0, 2.0]])


@snippet
def forward_reduction(tf):
    return _forward(tf, lambda x: tf.reduce_sum(x * x), [1.0, 2.0], [1.0, 1.0])


@snippet
def forward_function(tf):
    return _forward(tf, tf.function(lambda x: tf.exp(x) * x), [1.0, 2.0], [1.0, 0.5])


@snippet
def forward_cond(tf):
    return _forward(tf, tf.function(lambda x: tf.cond(x[0] > 0, lambda: x * x, lambda: x)), [1.0, 2.0], [1.0, 0.5])


@snippet
def forward_variable(tf):
    v = tf.Variable([1.0, 2.0])
    with tf.autodiff.ForwardAccumulator(v, tf.constant([1.0, 3.0])) as acc:
        y = v * v
    return acc.jvp(y)


@snippet
def forward_unconnected(tf):
    x, w = tf.constant(1.0), tf.constant(2.0)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as acc:
        y = w * w
    return acc.jvp(y), acc.jvp(y, unconnected_gradients=tf.UnconnectedGradients.ZERO)


@snippet
def forward_over_backward(tf):
    x = tf.constant([1.0, 2.0])
    with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 0.0])) as acc:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_prod(x) * x[0]
        g = tape.gradient(y, x)
    return g, acc.jvp(g)


@snippet
def backward_over_forward(tf):
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 0.5])) as acc:
            y = x * x * x
        j = acc.jvp(y)
    return j, tape.gradient(j, x)


@snippet
def forward_of_forward(tf):
    x = tf.constant(1.1)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as outer:
        with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as inner:
            y = tf.sin(x) * x
        first = inner.jvp(y)
    return first, outer.jvp(first)


@snippet
def forward_two_primals(tf):
    x, y = tf.constant(2.0), tf.constant(3.0)
    with tf.autodiff.ForwardAccumulator([x, y], [tf.constant(1.0), tf.constant(10.0)]) as acc:
        z = {"p": x * y, "q": x / y}
    return acc.jvp(z)


# ---- Gradients of one's own.


@snippet
def custom_gradient_in_function(tf):
    @tf.custom_gradient
    def f(x):
        return tf.exp(x), lambda g: g * 100.0

    g = tf.function(lambda x: f(x) * 2.0)
    return _grad(tf, g, 1.0)


@snippet
def custom_gradient_in_branch(tf):
    @tf.custom_gradient
    def f(x):
        return x * x, lambda g: g * 7.0

    return _grad(tf, tf.function(lambda x: tf.cond(x > 0, lambda: f(x), lambda: x)), 1.0)


@snippet
def custom_gradient_tape_inside(tf):
    @tf.custom_gradient
    def f(x, y):
        return x * y, lambda g: (g * 2.0, g * 3.0)

    @tf.function
    def g(x, y):
        with tf.GradientTape() as tape:
            tape.watch([x, y])
            z = f(x, y)
        return tape.gradient(z, [x, y])

    return g(tf.constant(4.0), tf.constant(5.0))


@snippet
def stop_gradient_in_function(tf):
    return _grad(tf, tf.function(lambda x: tf.stop_gradient(x) * x), 3.0)


@snippet
def recompute_grad(tf):
    f = tf.recompute_grad(lambda x: tf.sin(x) * x)
    return _grad(tf, f, 1.0)


@snippet
def grad_pass_through(tf):
    return _grad(tf, tf.grad_pass_through(tf.round), 1.7)


@snippet
def grad_pass_through_of_variables(tf):
    v = tf.Variable(5.0)

    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.grad_pass_through(lambda x: x * x * v)(x)
        return [y, *tape.gradient(y, [x, v], unconnected_gradients="zero")]

    return [*f(tf.constant(3.0)), *tf.function(f)(tf.constant(3.0))]


@snippet
def gradients_in_function(tf):
    @tf.function
    def f(x):
        y = tf.cond(x > 0, lambda: x * x * x, lambda: x)
        return tf.gradients(y, x)

    return f(tf.constant(2.0))


@snippet
def indexed_slices_through_function(tf):
    table = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])

    @tf.function
    def f(i):
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.gather(table, i) ** 2)
        return tf.convert_to_tensor(tape.gradient(y, table))

    return f(tf.constant([0, 2, 0]))
