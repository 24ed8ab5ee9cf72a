"""Eager snippets: which operations a trace is made of, in the graph and in the functions it calls."""

from collections import Counter

from snippet import Table

snippet = Table()


def _types(tf, f, *specs):
    graph = tf.function(f).get_concrete_function(*specs).graph.as_graph_def()
    return dict(sorted(Counter(n.op for n in graph.node).items()))


def _bodies(tf, f, *specs):
    """… and those of the functions, each as the sorted list of its operations."""
    graph = tf.function(f).get_concrete_function(*specs).graph.as_graph_def()
    inside = sorted(sorted(n.op for n in g.node_def) for g in graph.library.function)
    return [dict(sorted(Counter(n.op for n in graph.node).items())), inside]


def _float(tf, *shape):
    return tf.TensorSpec(list(shape), tf.float32)


def _int(tf):
    return tf.TensorSpec([], tf.int32)


def _with_gradient(tf, f):
    def g(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, x)

    return g


@snippet
def graph_of_sum(tf):
    return _bodies(tf, lambda x: x + 1.0, _float(tf, 2))


@snippet
def graph_of_variable(tf):
    v = tf.Variable(2.0)

    def f(x):
        v.assign_add(x)
        return v * x

    return _bodies(tf, f, _float(tf))


@snippet
def graph_of_captured_tensors(tf):
    small, large = tf.constant([1.0, 2.0]), tf.ones([200])
    return _types(tf, lambda x: tf.reduce_sum(x * large) + small, _float(tf, 200))


@snippet
def graph_of_cond(tf):
    return _bodies(tf, lambda x: tf.cond(x > 0, lambda: x * x, lambda: x - 1.0), _float(tf))


@snippet
def graph_of_cond_with_variable(tf):
    v = tf.Variable(2.0)
    return _bodies(tf, lambda x: tf.cond(x > 0, lambda: x * v, lambda: x - 1.0), _float(tf))


@snippet
def graph_of_nested_cond(tf):
    def f(x):
        return tf.cond(x > 0, lambda: tf.cond(x > 1, lambda: x, lambda: x * x), lambda: -x)

    return _bodies(tf, f, _float(tf))


@snippet
def graph_of_cond_of_two(tf):
    def f(x):
        return tf.cond(x > 0, lambda: (x, {"a": x + 1.0}), lambda: (x * x, {"a": x}))

    return _bodies(tf, f, _float(tf))


@snippet
def graph_of_while_loop(tf):
    def f(x):
        return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), [0, x])

    return _bodies(tf, f, _float(tf))


@snippet
def graph_of_while_loop_limited(tf):
    def f(x):
        return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), [0, x], maximum_iterations=5)

    return _bodies(tf, f, _float(tf))


@snippet
def graph_of_switch_case(tf):
    def f(i, x):
        return tf.switch_case(i, [lambda: x, lambda: x * 2.0, lambda: x * 3.0])

    return _bodies(tf, f, _int(tf), _float(tf))


@snippet
def graph_of_case(tf):
    def f(x):
        return tf.case([(x > 0, lambda: x), (x > 1, lambda: x * 2.0)], default=lambda: -x)

    return _bodies(tf, f, _float(tf))


@snippet
def graph_of_python_if(tf):
    def f(x):
        if x > 0:
            y = x * x
        else:
            y = -x
        return y

    return _bodies(tf, f, _float(tf))


@snippet
def graph_of_python_while(tf):
    def f(x):
        while x < 100.0:
            x = x * 2.0
        return x

    return _bodies(tf, f, _float(tf))


@snippet
def graph_of_python_range(tf):
    def f(n, x):
        for i in tf.range(n):
            x += tf.cast(i, tf.float32)
        return x

    return _bodies(tf, f, _int(tf), _float(tf))


@snippet
def graph_of_python_for(tf):
    def f(xs):
        total = 0.0
        for x in xs:
            total += x
        return total

    return _types(tf, f, _float(tf, 4))


@snippet
def graph_of_tensor_array(tf):
    def f(n):
        array = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
        for i in tf.range(n):
            array = array.write(i, tf.cast(i, tf.float32))
        return array.stack()

    return _bodies(tf, f, _int(tf))


@snippet
def graph_of_map_fn(tf):
    return _bodies(tf, lambda x: tf.map_fn(lambda v: v * 2.0, x), _float(tf, 3))


@snippet
def graph_of_gradient(tf):
    return _types(tf, _with_gradient(tf, lambda x: tf.sin(x) * x), _float(tf, 2))


@snippet
def graph_of_cond_gradient(tf):
    f = _with_gradient(tf, lambda x: tf.cond(x > 0, lambda: x * x, lambda: x - 1.0))
    return _types(tf, f, _float(tf))


@snippet
def graph_of_cond_gradient_with_intermediates(tf):
    f = _with_gradient(tf, lambda x: tf.cond(x > 0, lambda: tf.sin(tf.exp(x)), lambda: tf.cos(x * x)))
    return _types(tf, f, _float(tf))


@snippet
def graph_of_while_gradient(tf):
    f = _with_gradient(
        tf, lambda x: tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), [0, x])[1]
    )
    return list(_types(tf, f, _float(tf)))


@snippet
def graph_of_call(tf):
    inner = tf.function(lambda x: x * x)
    return _bodies(tf, lambda x: inner(x) + 1.0, _float(tf))


@snippet
def graph_of_call_with_state(tf):
    v = tf.Variable(1.0)
    inner = tf.function(lambda x: v.assign_add(x))
    return _bodies(tf, lambda x: inner(x) + 1.0, _float(tf))
