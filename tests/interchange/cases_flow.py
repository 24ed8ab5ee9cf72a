"""Conditions and loops in both forms, functions, control dependencies."""

import contextlib

import numpy as np

from case import Case, case


@contextlib.contextmanager
def _form(tf, second):
    """TensorFlow 1's nodes (Switch, Merge, …) or TensorFlow 2's functions (If, While)."""
    was = tf.control_flow_v2_enabled()
    (tf.enable_control_flow_v2 if second else tf.disable_control_flow_v2)()
    try:
        yield
    finally:
        (tf.enable_control_flow_v2 if was else tf.disable_control_flow_v2)()


def both(build):
    """Each case in both forms."""

    def first(tf):
        with _form(tf, False):
            return build(tf)

    def second(tf):
        with _form(tf, True):
            return build(tf)

    first.__name__, second.__name__ = f"flow_v1_{build.__name__}", f"flow_v2_{build.__name__}"
    case(first)
    case(second)
    return build


@both
def cond_true(tf):
    x = tf.placeholder(tf.float32, [])
    return Case([tf.cond(x > 0, lambda: x * 2, lambda: x - 1)], {x: np.float32(3)})


@both
def cond_false(tf):
    x = tf.placeholder(tf.float32, [])
    return Case([tf.cond(x > 0, lambda: x * 2, lambda: x - 1)], {x: np.float32(-3)})


@both
def cond_two_outputs(tf):
    x = tf.placeholder(tf.float32, [2])
    return Case(list(tf.cond(x[0] > 0, lambda: (x, x + 1), lambda: (x * 0, x))), {x: np.float32([1, 2])})


@both
def cond_nested(tf):
    x = tf.placeholder(tf.int32, [])
    inner = lambda: tf.cond(x > 10, lambda: tf.constant(2), lambda: tf.constant(1))  # noqa: E731
    return Case([tf.cond(x > 0, inner, lambda: tf.constant(0))], {x: np.int32(5)})


@both
def cond_gradient(tf):
    x = tf.placeholder(tf.float32, [])
    return Case(tf.gradients(tf.cond(x > 0, lambda: x * x, lambda: 3.0 * x), x), {x: np.float32(4)})


@both
def while_counter(tf):
    return list(tf.while_loop(lambda i, a: i < 10, lambda i, a: (i + 1, a + tf.cast(i, tf.float32)), [0, 0.5]))


@both
def while_zero_iterations(tf):
    return tf.while_loop(lambda i: i < 0, lambda i: i + 1, [7])


@both
def while_matrix(tf):
    m = tf.constant([[0.5, 0.1], [0.2, 0.4]])
    return tf.while_loop(lambda i, a: i < 5, lambda i, a: (i + 1, tf.matmul(a, m)), [0, tf.eye(2)])[1]


@both
def while_nested(tf):
    def outer(i, total):
        _, inner = tf.while_loop(lambda j, t: j < i, lambda j, t: (j + 1, t + j * i), [0, total])
        return i + 1, inner

    return list(tf.while_loop(lambda i, t: i < 5, outer, [0, 0]))


@both
def while_gradient(tf):
    x = tf.placeholder(tf.float32, [])
    y = tf.while_loop(lambda i, a: i < 4, lambda i, a: (i + 1, a * x), [0, x])[1]
    return Case(tf.gradients(y, x), {x: np.float32(1.5)})


@both
def while_nested_gradient(tf):
    x = tf.placeholder(tf.float32, [])

    def outer(i, a):
        return i + 1, tf.while_loop(lambda j, b: j < 2, lambda j, b: (j + 1, b * x), [0, a])[1]

    y = tf.while_loop(lambda i, a: i < 3, outer, [0, x])[1]
    return Case(tf.gradients(y, x), {x: np.float32(1.1)})


@both
def while_with_cond(tf):
    body = lambda i, a: (i + 1, tf.cond(tf.equal(i % 2, 0), lambda: a + 1.0, lambda: a * 2.0))  # noqa: E731
    return tf.while_loop(lambda i, a: i < 6, body, [0, 1.0])[1]


@both
def while_growing_shape(tf):
    shapes = [tf.TensorShape([]), tf.TensorShape([None])]
    return tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, tf.concat([a, [i]], 0)), [0, tf.constant([9])], shape_invariants=shapes)[1]


@both
def while_tensor_array(tf):
    array = tf.TensorArray(tf.float32, 5)
    array = tf.while_loop(lambda i, a: i < 5, lambda i, a: (i + 1, a.write(i, tf.cast(i * i, tf.float32))), [0, array])[1]
    return array.stack()


@both
def map_fn(tf):
    return tf.map_fn(lambda v: v * v + 1, tf.constant([1.0, 2.0, 3.0]))


@both
def scan(tf):
    return tf.scan(lambda a, v: a + v, tf.constant([1.0, 2.0, 3.0]))


@both
def case_of_three(tf):
    x = tf.placeholder(tf.int32, [])
    return Case([tf.case([(x < 0, lambda: tf.constant(-1)), (x > 9, lambda: tf.constant(9))], default=lambda: x)], {x: np.int32(4)})


# ---- Functions.


@case
def function_called_twice(tf):
    import tensorflow

    @tensorflow.function
    def f(x, y):
        return x * y + 1.0

    return [f(tf.constant(2.0), tf.constant(3.0)), f(tf.constant(4.0), tf.constant(5.0))]


@case
def function_of_functions(tf):
    import tensorflow

    @tensorflow.function
    def inner(x):
        return x * x

    @tensorflow.function
    def outer(x):
        return inner(x) + inner(x + 1.0)

    return outer(tf.constant([1.0, 2.0]))


@case
def function_gradient(tf):
    import tensorflow

    @tensorflow.function
    def f(x):
        return tf.reduce_sum(tf.sin(x) * x)

    x = tf.constant([0.5, 1.5])
    return tf.gradients(f(x), x)


@case
def function_with_while(tf):
    import tensorflow

    @tensorflow.function
    def f(n):
        total = tf.constant(0)
        for i in tf.range(n):
            total += i
        return total

    return f(tf.constant(6))


@case
def defun_by_name(tf):
    from tensorflow.python.framework import function

    @function.Defun(tf.float32)
    def double_it(x):
        return x + x

    return [double_it(tf.constant(4.0)), double_it(tf.constant([1.0]))]


# ---- Order.


@case
def control_dependencies_order_updates(tf):
    v = tf.get_variable("v", initializer=1.0, use_resource=False)
    init = v.initializer
    add = tf.assign_add(v, 2.0)
    with tf.control_dependencies([add]):
        multiply = tf.assign(v, v.read_value() * 10.0)
    with tf.control_dependencies([multiply]):
        return Case([v.read_value()], {}, [init])


@case
def control_group_and_tuple(tf):
    a, b = tf.tuple([tf.constant(1.0) + 1, tf.constant(2.0) * 3])
    with tf.control_dependencies([tf.group(a.op, b.op)]):
        return tf.identity(a) + b


@case
def control_assert_holds(tf):
    x = tf.constant([1.0, 2.0])
    with tf.control_dependencies([tf.assert_positive(x)]):
        return tf.identity(x)


@case
def identity_n(tf):
    return tf.identity_n([tf.constant(1), tf.constant("s")])


@case
def stop_gradient(tf):
    x = tf.constant(3.0)
    return tf.gradients(x * tf.stop_gradient(x), x)
