"""Branches and loops in TensorFlow 1's form: Switch, Merge, Enter, Exit, NextIteration, LoopCond."""

from typing import Any

import numpy as np
from snippet import Fed, Steps, Table, Told

snippet = Table()


def flag(tf: Any) -> Any:
    return tf.placeholder(tf.bool, [], name="flag")


def both(p: Any, fetches: Any) -> Any:
    return Steps([Fed(fetches, {p: True}), Fed(fetches, {p: False})])


@snippet
def cond_plain(tf: Any) -> Any:
    p, x = flag(tf), tf.constant([1.0, 2.0], name="x")
    return both(p, tf.cond(p, lambda: x + 1.0, lambda: x * 3.0))


@snippet
def cond_several(tf: Any) -> Any:
    p, x, y = flag(tf), tf.constant(1.0, name="x"), tf.constant(2.0, name="y")
    return both(p, tf.cond(p, lambda: (x + y, y), lambda: (x - y, x), name="choice"))


@snippet
def cond_nested(tf: Any) -> Any:
    p, x = flag(tf), tf.constant(3.0, name="x")
    inner = lambda: tf.cond(x > 2.0, lambda: x * 10.0, lambda: x * 20.0)  # noqa: E731
    return both(p, tf.cond(p, inner, lambda: -x))


@snippet
def cond_operations(tf: Any) -> Any:
    p, v = flag(tf), tf.Variable(1.0, name="v")
    chosen = tf.cond(p, lambda: v.assign_add(1.0).op, lambda: tf.no_op())
    return Steps([Fed(chosen, {p: True}), v, Fed(chosen, {p: False}), v])


@snippet
def cond_with_variable(tf: Any) -> Any:
    p, v = flag(tf), tf.Variable(1.0, name="v")
    return both(p, tf.cond(p, lambda: v.assign(5.0), lambda: tf.identity(v)))


@snippet
def cond_constants(tf: Any) -> Any:
    p = flag(tf)
    return both(p, tf.cond(p, lambda: tf.constant(1), lambda: tf.constant(2)))


@snippet
def cond_under_dependencies(tf: Any) -> Any:
    p, x = flag(tf), tf.constant(1.0)
    with tf.control_dependencies([tf.no_op(name="before")]):
        return both(p, tf.cond(p, lambda: x + 1.0, lambda: tf.constant(0.0)))


@snippet
def cond_dict(tf: Any) -> Any:
    p, x = flag(tf), tf.constant(1.0)
    return both(p, tf.cond(p, lambda: {"a": x, "b": x + 1.0}, lambda: {"a": -x, "b": x}))


@snippet
def cond_gradient(tf: Any) -> Any:
    p, x = flag(tf), tf.constant(3.0, name="x")
    return both(p, tf.gradients(tf.cond(p, lambda: x * x, lambda: 5.0 * x), x))


@snippet
def cond_gradient_one_side(tf: Any) -> Any:
    p, x, y = flag(tf), tf.constant(3.0, name="x"), tf.constant(2.0, name="y")
    return both(p, tf.gradients(tf.cond(p, lambda: x * y, lambda: tf.exp(y)), [x, y]))


@snippet
def cond_gradient_variable(tf: Any) -> Any:
    p, v = flag(tf), tf.Variable([1.0, 2.0], name="v")
    return both(p, tf.gradients(tf.cond(p, lambda: tf.reduce_sum(v * v), lambda: tf.reduce_sum(v)), v))


@snippet
def cond_static(tf: Any) -> Any:
    x = tf.constant(1.0)
    return [tf.cond(tf.constant(True), lambda: x + 1.0, lambda: x), tf.case([(x > 0.0, lambda: x * 2.0)], default=lambda: x)]


@snippet
def case_several(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [], name="x")
    chosen = tf.case([(x < 1.0, lambda: tf.constant(1)), (x < 2.0, lambda: tf.constant(2))], default=lambda: tf.constant(3))
    return Steps([Fed(chosen, {x: v}) for v in (0.5, 1.5, 2.5)])


@snippet
def case_exclusive(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [], name="x")
    chosen = tf.case([(x < 1.0, lambda: tf.constant(1)), (x > 2.0, lambda: tf.constant(2))], default=lambda: tf.constant(3), exclusive=True)
    return Steps([Fed(chosen, {x: v}) for v in (0.5, 1.5, 2.5)])


@snippet
def switch_case_plain(tf: Any) -> Any:
    i = tf.placeholder(tf.int32, [], name="i")
    chosen = tf.switch_case(i, [lambda: tf.constant(1.0), lambda: tf.constant(2.0), lambda: tf.constant(3.0)])
    return Steps([Fed(chosen, {i: v}) for v in (0, 1, 2, 7)])


@snippet
def cond_snippets_contexts(tf: Any) -> Any:
    p, x = flag(tf), tf.constant(1.0)
    tf.cond(p, lambda: x + 1.0, lambda: x)
    return Told(len(tf.get_collection(tf.GraphKeys.COND_CONTEXT)))


# ---- Loops.


@snippet
def while_counts(tf: Any) -> Any:
    return tf.while_loop(lambda i: i < 10, lambda i: i + 1, [tf.constant(0)])


@snippet
def while_two(tf: Any) -> Any:
    return tf.while_loop(lambda i, x: i < 5, lambda i, x: (i + 1, x * 2.0), [tf.constant(0), tf.constant([1.0, 2.0])], name="loop")


@snippet
def while_captures(tf: Any) -> Any:
    n, y = tf.placeholder(tf.int32, [], name="n"), tf.constant(3.0, name="y")
    out = tf.while_loop(lambda i, x: i < n, lambda i, x: (i + 1, x + y), [0, 0.0])
    return Steps([Fed(out, {n: 4}), Fed(out, {n: 0})])


@snippet
def while_maximum(tf: Any) -> Any:
    return tf.while_loop(lambda i: True, lambda i: i + 1, [tf.constant(0)], maximum_iterations=7)


@snippet
def while_shapes(tf: Any) -> Any:
    x = tf.ones([1, 2])
    return tf.while_loop(
        lambda i, x: i < 3, lambda i, x: (i + 1, tf.concat([x, x], 0)), [0, x],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, 2])],
    )


@snippet
def while_nested(tf: Any) -> Any:
    def body(i: Any, total: Any) -> Any:
        inner = tf.while_loop(lambda j, t: j < i, lambda j, t: (j + 1, t + 1), [tf.constant(0), total])
        return i + 1, inner[1]

    return tf.while_loop(lambda i, t: i < 4, body, [tf.constant(0), tf.constant(0)])


@snippet
def while_with_cond(tf: Any) -> Any:
    def body(i: Any, x: Any) -> Any:
        return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: x + 1.0, lambda: x * 2.0)

    return tf.while_loop(lambda i, x: i < 5, body, [tf.constant(0), tf.constant(1.0)])


@snippet
def while_structures(tf: Any) -> Any:
    start = {"i": tf.constant(0), "pair": (tf.constant(1.0), [tf.constant(2.0)])}
    body = lambda s: {"i": s["i"] + 1, "pair": (s["pair"][1][0], [s["pair"][0] + 1.0])}  # noqa: E731
    return tf.while_loop(lambda s: s["i"] < 3, lambda s: [body(s)], [start])


@snippet
def while_updates_a_variable(tf: Any) -> Any:
    v = tf.Variable(0.0, name="v")

    def body(i: Any) -> Any:
        with tf.control_dependencies([v.assign_add(2.0)]):
            return i + 1

    loop = tf.while_loop(lambda i: i < 3, body, [tf.constant(0)], parallel_iterations=1)
    return Steps([loop, v])


@snippet
def while_gradient(tf: Any) -> Any:
    x = tf.constant(2.0, name="x")
    out = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), [0, x])[1]
    return [out, *tf.gradients(out, x)]


@snippet
def while_gradient_square(tf: Any) -> Any:
    x = tf.constant([1.1, 1.2], name="x")
    out = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * y), [0, x])[1]
    return tf.gradients(out, x)


@snippet
def while_gradient_captured_matrix(tf: Any) -> Any:
    w = tf.Variable([[0.5, 0.1], [0.2, 0.3]], name="w")
    x = tf.constant([[1.0, 2.0]], name="x")
    out = tf.while_loop(lambda i, h: i < 4, lambda i, h: (i + 1, tf.tanh(tf.matmul(h, w))), [0, x])[1]
    return tf.gradients(tf.reduce_sum(out), [w, x])


@snippet
def while_gradient_with_cond(tf: Any) -> Any:
    x = tf.constant(1.5, name="x")

    def body(i: Any, y: Any) -> Any:
        return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: y * x, lambda: y + x)

    out = tf.while_loop(lambda i, y: i < 4, body, [0, x])[1]
    return tf.gradients(out, x)


@snippet
def while_gradient_nested(tf: Any) -> Any:
    x = tf.constant(1.1, name="x")

    def body(i: Any, y: Any) -> Any:
        return i + 1, tf.while_loop(lambda j, z: j < 2, lambda j, z: (j + 1, z * x), [0, y])[1]

    out = tf.while_loop(lambda i, y: i < 3, body, [0, x])[1]
    return tf.gradients(out, x)


# ---- Functional programs.


@snippet
def functional_map(tf: Any) -> Any:
    return tf.map_fn(lambda x: x * x, tf.constant([1.0, 2.0, 3.0]))


@snippet
def functional_map_gradient(tf: Any) -> Any:
    x = tf.constant([1.0, 2.0, 3.0])
    return tf.gradients(tf.map_fn(lambda v: v * v * v, x), x)


@snippet
def functional_map_types(tf: Any) -> Any:
    return tf.map_fn(lambda x: (x[0] + x[1], x[0]), (tf.constant([1, 2]), tf.constant([3, 4])), dtype=(tf.int32, tf.int32))


@snippet
def functional_fold(tf: Any) -> Any:
    x = tf.constant([1, 2, 3, 4])
    return [tf.foldl(lambda a, v: a * 2 + v, x), tf.foldr(lambda a, v: a * 2 + v, x, initializer=10)]


@snippet
def functional_scan(tf: Any) -> Any:
    x = tf.constant([1.0, 2.0, 3.0])
    return [tf.scan(lambda a, v: a + v, x), tf.scan(lambda a, v: a * v, x, initializer=2.0, reverse=True)]


# ---- Arrays of tensors.


@snippet
def tensor_array_writes(tf: Any) -> Any:
    array = tf.TensorArray(tf.float32, 3, clear_after_read=False)  # read twice, in any order
    for i in range(3):
        array = array.write(i, [1.0 * i, 2.0])
    return [array.stack(), array.read(1), array.size()]


@snippet
def tensor_array_unstack(tf: Any) -> Any:
    array = tf.TensorArray(tf.float32, size=0, dynamic_size=True, clear_after_read=False).unstack(np.arange(6, dtype=np.float32).reshape(3, 2))
    return [array.gather([2, 0]), array.concat(), array.read(0)]


@snippet
def tensor_array_gradient(tf: Any) -> Any:
    x = tf.constant([1.0, 2.0, 3.0], name="x")
    array = tf.TensorArray(tf.float32, 3).unstack(x)
    return tf.gradients(array.read(0) * array.read(2), x)


@snippet
def tensor_array_in_loop(tf: Any) -> Any:
    x = tf.constant([1.0, 2.0, 3.0], name="x")
    inputs = tf.TensorArray(tf.float32, 3).unstack(x)
    outputs = tf.TensorArray(tf.float32, 3)
    body = lambda i, out: (i + 1, out.write(i, inputs.read(i) * 2.0))  # noqa: E731
    out = tf.while_loop(lambda i, _: i < 3, body, [0, outputs])[1].stack()
    return [out, *tf.gradients(out * out, x)]
