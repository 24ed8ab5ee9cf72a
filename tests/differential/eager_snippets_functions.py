"""Eager snippets: tf.function and control flow."""

import numpy as np

from snippet import Table

snippet = Table()


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

    return [
        f(tf.constant(1)),
        f(tf.constant(2)),
        f(tf.constant(1.5)),
        f(tf.constant([1, 2])),
        traces,
    ]


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
    return [
        concrete(tf.constant([1.0, 2.0])),
        concrete.structured_input_signature[0][0].shape,
        [o.type for o in concrete.graph.get_operations()][:1],
    ]


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
        (
            "cond",
            lambda tf: [
                tf.cond(tf.constant(True), lambda: 1, lambda: 2),
                tf.cond(tf.constant(0) > 1, lambda: [1, 2], lambda: [3, 4]),
            ],
        ),
        (
            "while",
            lambda tf: tf.while_loop(
                lambda i, s: i < 5, lambda i, s: (i + 1, s + i), [tf.constant(0), tf.constant(0)]
            ),
        ),
        (
            "while_limit",
            lambda tf: tf.while_loop(
                lambda i: True, lambda i: [i + 1], [tf.constant(0)], maximum_iterations=3
            ),
        ),
        (
            "case",
            lambda tf: tf.case(
                [(tf.constant(False), lambda: 1), (tf.constant(True), lambda: 2)], default=lambda: 3
            ),
        ),
        (
            "switch_case",
            lambda tf: [
                tf.switch_case(tf.constant(k), [lambda: 10, lambda: 20], default=lambda: -1)
                for k in (0, 1, 7)
            ],
        ),
        ("group", lambda tf: tf.group(tf.constant(1), tf.constant(2))),
        ("tuple", lambda tf: tf.tuple([tf.constant(1), tf.constant(2)])),
        ("control_dependencies", lambda tf: _with_dependencies(tf)),
        (
            "map_fn_structure",
            lambda tf: tf.map_fn(
                lambda t: t[0] + t[1],
                (tf.constant([1, 2]), tf.constant([10, 20])),
                fn_output_signature=tf.int32,
            ),
        ),
        (
            "scan_initializer",
            lambda tf: tf.scan(lambda a, x: a + x, tf.constant([1.0, 2.0]), initializer=10.0),
        ),
        ("tensor_array", lambda tf: _tensor_array(tf)),
        ("no_op", lambda tf: tf.no_op()),
        (
            "py_function",
            lambda tf: tf.py_function(lambda x: x.numpy() * 2, [tf.constant(4)], tf.int32),
        ),
        (
            "numpy_function",
            lambda tf: tf.numpy_function(lambda x: np.sinh(x), [tf.constant(0.0)], tf.float32),
        ),
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
