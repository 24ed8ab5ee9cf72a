"""Graphs with branches and loops, built by TensorFlow 1's API; each returns feeds and fetches.

What stands behind `init` runs first; `fetch` is run `steps` times.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass
class Program:
    fetch: Any
    feed: dict[Any, Any] = field(default_factory=dict)
    steps: int = 1


GRAPHS: dict[str, Callable[[Any], Program]] = {}


def graph(build: Callable[[Any], Program]) -> Callable[[Any], Program]:
    GRAPHS[build.__name__] = build
    return build


@graph
def cond_true(tf: Any) -> Program:
    x = tf.placeholder(tf.float32, [])
    return Program(tf.cond(x > 1.0, lambda: x * 2.0, lambda: x - 1.0), {x: 3.0})


@graph
def cond_false(tf: Any) -> Program:
    x = tf.placeholder(tf.float32, [])
    return Program(tf.cond(x > 1.0, lambda: x * 2.0, lambda: x - 1.0), {x: 0.5})


@graph
def cond_of_constants(tf: Any) -> Program:
    p = tf.placeholder(tf.bool, [])
    return Program(tf.cond(p, lambda: [tf.constant(1), 2.0], lambda: [tf.constant(5), 7.0]), {p: False})


@graph
def cond_nested(tf: Any) -> Program:
    x = tf.placeholder(tf.float32, [3])
    s = tf.reduce_sum(x)

    def inner() -> Any:
        return tf.cond(s > 10.0, lambda: x * 10.0, lambda: tf.cond(s > 5.0, lambda: x + 0.5, lambda: -x))

    return Program(tf.cond(s > 0.0, inner, lambda: x * 0.0), {x: [1.0, 2.0, 4.0]})


@graph
def cond_same_predicate_nested(tf: Any) -> Program:
    p = tf.placeholder(tf.bool, [])
    x = tf.constant([1.0, 2.0])

    def then() -> Any:
        return tf.cond(p, lambda: x + 1.0, lambda: x + 2.0) * 3.0

    return Program(tf.cond(p, then, lambda: x), {p: True})


@graph
def cond_of_other_shapes(tf: Any) -> Program:
    p = tf.placeholder(tf.bool, [])
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    return Program(tf.shape(tf.cond(p, lambda: x, lambda: tf.concat([x, x], 0))), {p: False})


@graph
def cond_gradient(tf: Any) -> Program:
    x = tf.placeholder(tf.float32, [2])
    y = tf.cond(tf.reduce_sum(x) > 0.0, lambda: x * x * 3.0, lambda: tf.sin(x))
    return Program([y, tf.gradients(y, x)], {x: [1.0, 2.0]})


@graph
def cond_gradient_other_branch(tf: Any) -> Program:
    x = tf.placeholder(tf.float32, [2])
    w = tf.constant([2.0, 3.0])
    y = tf.cond(tf.reduce_sum(x) > 0.0, lambda: x * w, lambda: tf.sin(x))
    return Program([y, tf.gradients(y, [x, w])], {x: [-1.0, -2.0]})


@graph
def cond_gradient_nested(tf: Any) -> Program:
    x = tf.placeholder(tf.float32, [])
    y = tf.cond(x > 0.0, lambda: tf.cond(x > 5.0, lambda: x * x, lambda: x * x * x), lambda: -x)
    return Program([y, tf.gradients(y, x)], {x: 2.0})


@graph
def cond_assigns(tf: Any) -> Program:
    v = tf.get_variable("v", initializer=tf.constant(1.0), use_resource=False)
    p = tf.placeholder(tf.bool, [])
    r = tf.cond(p, lambda: tf.assign_add(v, 10.0), lambda: tf.assign_sub(v, 1.0))
    return Program(r, {p: True}, 3)


@graph
def cond_assigns_resource(tf: Any) -> Program:
    v = tf.get_variable("v", initializer=tf.constant([1.0, 2.0]), use_resource=True)
    p = tf.placeholder(tf.bool, [])

    def add() -> Any:
        with tf.control_dependencies([v.assign_add([1.0, 1.0])]):
            return v.read_value()

    r = tf.cond(p, add, lambda: v * 2.0)
    with tf.control_dependencies([r]):
        after = v.read_value()
    return Program([r, after], {p: True}, 3)


@graph
def cond_group_only(tf: Any) -> Program:
    v = tf.get_variable("v", initializer=tf.constant(0), use_resource=False)
    p = tf.placeholder(tf.bool, [])
    op = tf.cond(p, lambda: tf.group(tf.assign(v, 5)), lambda: tf.no_op())
    with tf.control_dependencies([op]):
        return Program(tf.identity(v.read_value()), {p: True})


@graph
def assert_that_holds(tf: Any) -> Program:
    x = tf.placeholder(tf.float32, [3])
    with tf.control_dependencies([tf.Assert(tf.reduce_all(x > 0.0), [x])]):
        return Program(x * 2.0, {x: [1.0, 2.0, 3.0]})


@graph
def assert_that_fails(tf: Any) -> Program:
    x = tf.placeholder(tf.float32, [3])
    with tf.control_dependencies([tf.Assert(tf.reduce_all(x > 0.0), [x])]):
        return Program(x * 2.0, {x: [1.0, -2.0, 3.0]})


@graph
def dead_tensor_fetched(tf: Any) -> Program:
    p = tf.placeholder(tf.bool, [])
    return Program(tf.identity(tf.raw_ops.Switch(data=tf.constant(1.0), pred=p)[1]), {p: False})


@graph
def switch_and_merge(tf: Any) -> Program:
    p = tf.placeholder(tf.bool, [])
    false, true = tf.raw_ops.Switch(data=tf.constant([1.0, 2.0]), pred=p)
    merged, index = tf.raw_ops.Merge(inputs=[false + 1.0, true * 10.0])
    return Program([merged, index], {p: True})


@graph
def case_of_four(tf: Any) -> Program:
    x = tf.placeholder(tf.int32, [])
    r = tf.case(
        [(x < 0, lambda: tf.constant(-1)), (x < 5, lambda: x * 2), (x < 10, lambda: x * 3)],
        default=lambda: tf.constant(99),
    )
    return Program(r, {x: 7})


@graph
def while_counts(tf: Any) -> Program:
    n = tf.placeholder(tf.int32, [])
    return Program(tf.while_loop(lambda i: i < n, lambda i: i + 1, [0]), {n: 10})


@graph
def while_never(tf: Any) -> Program:
    n = tf.placeholder(tf.int32, [])
    x = tf.constant([1.0, 2.0])
    return Program(tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a * 2.0), [0, x]), {n: 0})


@graph
def while_two_variables(tf: Any) -> Program:
    x = tf.placeholder(tf.float32, [2, 2])
    w = tf.constant([[0.5, 0.25], [0.1, 0.9]])
    return Program(
        tf.while_loop(lambda i, a: i < 5, lambda i, a: (i + 1, tf.matmul(a, w)), [0, x]),
        {x: [[1.0, 2.0], [3.0, 4.0]]},
    )


@graph
def while_swaps(tf: Any) -> Program:
    a, b = tf.constant([1.0, 2.0]), tf.constant([3.0, 5.0])
    n = tf.placeholder(tf.int32, [])
    return Program(
        tf.while_loop(lambda i, a, b: i < n, lambda i, a, b: (i + 1, b, a + 0.0), [0, a, b]), {n: 7}
    )


@graph
def while_shift_register(tf: Any) -> Program:
    n = tf.placeholder(tf.int32, [])
    return Program(
        tf.while_loop(lambda i, a, b: i < n, lambda i, a, b: (i + 1, a + b, tf.identity(a)), [0, 1, 1]),
        {n: 20},
    )


@graph
def while_growing(tf: Any) -> Program:
    x = tf.constant([[1.0, 2.0]])
    r = tf.while_loop(
        lambda i, a: i < 4,
        lambda i, a: (i + 1, tf.concat([a, a[:1] * tf.cast(i, tf.float32)], 0)),
        [0, x],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, 2])],
    )
    return Program(r)


@graph
def while_nested(tf: Any) -> Program:
    def outer(i: Any, total: Any) -> Any:
        _, row = tf.while_loop(lambda j, s: j < i, lambda j, s: (j + 1, s + j * i), [0, 0])
        return i + 1, total + row

    n = tf.placeholder(tf.int32, [])
    return Program(tf.while_loop(lambda i, t: i < n, outer, [0, 0]), {n: 8})


@graph
def while_with_cond(tf: Any) -> Program:
    def body(i: Any, a: Any) -> Any:
        return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: a * 2.0, lambda: a - 1.0)

    return Program(tf.while_loop(lambda i, a: i < 7, body, [0, tf.constant([1.0, 3.0])]))


@graph
def cond_with_while(tf: Any) -> Program:
    n = tf.placeholder(tf.int32, [])
    loop = lambda: tf.while_loop(lambda i: i < n, lambda i: i + 3, [0])  # noqa: E731
    return Program(tf.cond(n > 5, loop, lambda: n * 100), {n: 20})


@graph
def cond_without_while(tf: Any) -> Program:
    n = tf.placeholder(tf.int32, [])
    loop = lambda: tf.while_loop(lambda i: i < n, lambda i: i + 3, [0])  # noqa: E731
    return Program(tf.cond(n > 5, loop, lambda: n * 100), {n: 2})


@graph
def while_updates_variable(tf: Any) -> Program:
    v = tf.get_variable("v", initializer=tf.constant(1.0), use_resource=False)

    def body(i: Any) -> Any:
        with tf.control_dependencies([tf.assign_add(v, tf.cast(i, tf.float32))]):
            return i + 1

    done = tf.while_loop(lambda i: i < 6, body, [0], parallel_iterations=1)
    with tf.control_dependencies([done]):
        return Program(tf.identity(v.read_value()), steps=2)


@graph
def while_updates_resource(tf: Any) -> Program:
    v = tf.get_variable("v", initializer=tf.constant([1.0, 1.0]), use_resource=True)

    def body(i: Any, s: Any) -> Any:
        with tf.control_dependencies([v.assign_add([0.5, 1.0])]):
            return i + 1, s + v.read_value()

    r = tf.while_loop(lambda i, s: i < 6, body, [0, tf.zeros([2])], parallel_iterations=1)
    with tf.control_dependencies(r):
        return Program([r, v.read_value()], steps=2)


@graph
def while_gradient(tf: Any) -> Program:
    x = tf.placeholder(tf.float32, [2])
    w = tf.constant([1.5, 0.5])
    _, y = tf.while_loop(lambda i, a: i < 4, lambda i, a: (i + 1, a * a * w), [0, x])
    return Program([y, tf.gradients(y, [x, w])], {x: [0.9, 1.1]})


@graph
def while_gradient_known_count(tf: Any) -> Program:
    x = tf.placeholder(tf.float32, [2])
    y = tf.while_loop(lambda a: tf.reduce_sum(a) < 100.0, lambda a: tf.sin(a) + a * 1.7, [x])
    return Program([y, tf.gradients(y, x)], {x: [0.9, 1.1]})


@graph
def while_gradient_nested(tf: Any) -> Program:
    x = tf.placeholder(tf.float32, [])

    def outer(i: Any, a: Any) -> Any:
        _, b = tf.while_loop(lambda j, b: j < 3, lambda j, b: (j + 1, b * x + a), [0, a])
        return i + 1, b

    _, y = tf.while_loop(lambda i, a: i < 2, outer, [0, x * 0.5])
    return Program([y, tf.gradients(y, x)], {x: 1.3})


@graph
def while_gradient_with_cond(tf: Any) -> Program:
    x = tf.placeholder(tf.float32, [])

    def body(i: Any, a: Any) -> Any:
        return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: a * a, lambda: a * x + tf.sin(a))

    _, y = tf.while_loop(lambda i, a: i < 5, body, [0, x])
    return Program([y, tf.gradients(y, x)], {x: 1.1})


@graph
def while_gradient_swaps_memory(tf: Any) -> Program:
    x = tf.placeholder(tf.float32, [2, 2])
    _, y = tf.while_loop(
        lambda i, a: i < 3, lambda i, a: (i + 1, tf.matmul(a, a)), [0, x], swap_memory=True
    )
    return Program([y, tf.gradients(y, x)], {x: [[0.1, 0.4], [0.3, 0.2]]})


@graph
def cond_gradient_with_while(tf: Any) -> Program:
    x = tf.placeholder(tf.float32, [])

    def loop() -> Any:
        return tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * x), [0, x])[1]

    y = tf.cond(x > 0.0, loop, lambda: x * 7.0)
    return Program([y, tf.gradients(y, x)], {x: 1.2})


@graph
def tensor_array_unstack_loop_stack(tf: Any) -> Program:
    x = tf.placeholder(tf.float32, [4, 2])
    source = tf.TensorArray(tf.float32, size=4).unstack(x)
    result = tf.TensorArray(tf.float32, size=4)

    def body(i: Any, a: Any, out: Any) -> Any:
        a = a + source.read(i)
        return i + 1, a, out.write(i, a)

    _, last, out = tf.while_loop(lambda i, a, o: i < 4, body, [0, tf.zeros([2]), result])
    y = out.stack()
    return Program([last, y, tf.gradients(y * y, x)], {x: np.arange(8.0).reshape(4, 2)})


@graph
def tensor_array_concat_split(tf: Any) -> Program:
    x = tf.placeholder(tf.float32, [6, 2])
    array = tf.TensorArray(tf.float32, size=3, infer_shape=False).split(x, [1, 2, 3])
    return Program([array.concat(), array.size(), array.read(1)], {x: np.arange(12.0).reshape(6, 2)})


@graph
def tensor_array_dynamic(tf: Any) -> Program:
    array = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
    _, array = tf.while_loop(
        lambda i, a: i < 6, lambda i, a: (i + 1, a.write(i, i * i)), [0, array]
    )
    return Program([array.stack(), array.gather([1, 3])])


@graph
def lstm_by_hand(tf: Any) -> Program:
    rng = np.random.RandomState(1)
    x = tf.placeholder(tf.float32, [5, 2, 3])
    w = tf.constant(rng.randn(3 + 4, 16).astype(np.float32) * 0.3)
    inputs = tf.TensorArray(tf.float32, size=5).unstack(x)

    def body(t: Any, c: Any, h: Any, out: Any) -> Any:
        gates = tf.matmul(tf.concat([inputs.read(t), h], 1), w)
        i, j, f, o = tf.split(gates, 4, 1)
        c = c * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(j)
        h = tf.tanh(c) * tf.sigmoid(o)
        return t + 1, c, h, out.write(t, h)

    zero = tf.zeros([2, 4])
    out = tf.TensorArray(tf.float32, size=5)
    _, _, h, out = tf.while_loop(lambda t, c, h, o: t < 5, body, [0, zero, zero, out])
    y = out.stack()
    loss = tf.reduce_sum(y * y) + tf.reduce_sum(h)
    return Program([loss, y, tf.gradients(loss, [x, w])], {x: rng.randn(5, 2, 3)})


@graph
def map_fn(tf: Any) -> Program:
    x = tf.placeholder(tf.float32, [4, 2])
    y = tf.map_fn(lambda row: row * row + 1.0, x)
    return Program([y, tf.gradients(y, x)], {x: np.arange(8.0).reshape(4, 2)})


@graph
def scan_sum(tf: Any) -> Program:
    x = tf.placeholder(tf.float32, [5])
    y = tf.scan(lambda a, b: a * 0.5 + b, x)
    return Program([y, tf.gradients(y, x)], {x: np.arange(5.0)})


@graph
def foldl_product(tf: Any) -> Program:
    x = tf.placeholder(tf.float32, [5])
    return Program(tf.foldl(lambda a, b: a * b, x), {x: np.arange(1.0, 6.0)})


@graph
def error_inside_a_loop(tf: Any) -> Program:
    x = tf.placeholder(tf.float32, [3])

    def body(i: Any, s: Any) -> Any:
        return i + 1, s + tf.gather(x, i, name="taken")

    return Program(tf.while_loop(lambda i, s: i < 5, body, [0, 0.0]), {x: [1.0, 2.0, 3.0]})


@graph
def stack_by_hand(tf: Any) -> Program:
    s = tf.raw_ops.StackV2(max_size=5, elem_type=tf.float32, stack_name="s")
    a = tf.raw_ops.StackPushV2(handle=s, elem=tf.constant(1.0))
    with tf.control_dependencies([a]):
        b = tf.raw_ops.StackPushV2(handle=s, elem=tf.constant([2.0, 3.0]))
    with tf.control_dependencies([b]):
        return Program(tf.raw_ops.StackPopV2(handle=s, elem_type=tf.float32))


@graph
def while_in_v2_form(tf: Any) -> Program:
    tf.enable_control_flow_v2()
    try:
        x = tf.placeholder(tf.float32, [2])
        _, y = tf.while_loop(lambda i, a: i < 4, lambda i, a: (i + 1, a * a + 1.0), [0, x])
        return Program([y, tf.gradients(y, x)], {x: [0.3, 0.2]})
    finally:
        tf.disable_control_flow_v2()


@graph
def cond_in_v2_form(tf: Any) -> Program:
    tf.enable_control_flow_v2()
    try:
        x = tf.placeholder(tf.float32, [2])
        y = tf.cond(x[0] > 0.0, lambda: x * x, lambda: x - 1.0)
        return Program([y, tf.gradients(y, x)], {x: [0.3, 0.2]})
    finally:
        tf.disable_control_flow_v2()


@graph
def nested_in_v2_form(tf: Any) -> Program:
    tf.enable_control_flow_v2()
    try:
        x = tf.placeholder(tf.float32, [])

        def body(i: Any, a: Any) -> Any:
            return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: a * a, lambda: a * x + tf.sin(a))

        _, y = tf.while_loop(lambda i, a: i < 5, body, [0, x])
        return Program([y, tf.gradients(y, x)], {x: 1.1})
    finally:
        tf.disable_control_flow_v2()


@graph
def switch_case_in_v2_form(tf: Any) -> Program:
    tf.enable_control_flow_v2()
    try:
        k = tf.placeholder(tf.int32, [])
        x = tf.constant([2.0, 3.0])
        r = tf.switch_case(k, [lambda: x, lambda: x * 2.0, lambda: x * 3.0])
        return Program(r, {k: 9})
    finally:
        tf.disable_control_flow_v2()


@graph
def tensor_list_round_trip(tf: Any) -> Program:
    x = tf.placeholder(tf.float32, [3, 2])
    ops = tf.raw_ops
    shape = tf.constant([2])
    a = ops.TensorListFromTensor(tensor=x, element_shape=shape)
    a = ops.TensorListPushBack(input_handle=a, tensor=tf.constant([9.0, 8.0]))
    a = ops.TensorListSetItem(input_handle=a, index=1, item=tf.constant([5.0, 5.0]))
    b, last = ops.TensorListPopBack(input_handle=a, element_shape=shape, element_dtype=tf.float32)
    stacked = ops.TensorListStack(input_handle=b, element_shape=shape, element_dtype=tf.float32)
    length = ops.TensorListLength(input_handle=a)
    some = ops.TensorListGather(
        input_handle=a, indices=[3, 0], element_shape=shape, element_dtype=tf.float32
    )
    item = ops.TensorListGetItem(
        input_handle=a, index=2, element_shape=shape, element_dtype=tf.float32
    )
    both = ops.TensorListConcatLists(input_a=a, input_b=b, element_dtype=tf.float32)
    return Program(
        [last, stacked, length, some, item, ops.TensorListLength(input_handle=both)],
        {x: np.arange(6.0).reshape(3, 2)},
    )


@graph
def tensor_list_reserved(tf: Any) -> Program:
    ops = tf.raw_ops
    a = ops.TensorListReserve(element_shape=[2], num_elements=3, element_dtype=tf.float32)
    a = ops.TensorListSetItem(input_handle=a, index=1, item=tf.constant([5.0, 6.0]))
    a = ops.TensorListResize(input_handle=a, size=4)
    stacked = ops.TensorListStack(input_handle=a, element_shape=[2], element_dtype=tf.float32)
    shape = ops.TensorListElementShape(input_handle=a, shape_type=tf.int32)
    item = ops.TensorListGetItem(
        input_handle=a, index=0, element_shape=[2], element_dtype=tf.float32
    )
    return Program([stacked, shape, item])


@graph
def tensor_list_split_concat(tf: Any) -> Program:
    x = tf.placeholder(tf.float32, [6, 2])
    ops = tf.raw_ops
    a = ops.TensorListSplit(tensor=x, element_shape=[-1, 2], lengths=tf.constant([1, 2, 3], tf.int64))
    value, lengths = ops.TensorListConcatV2(
        input_handle=a, element_shape=[-1, 2], leading_dims=tf.constant([], tf.int64),
        element_dtype=tf.float32,
    )
    b = ops.TensorListScatterV2(
        tensor=x, indices=[2, 0, 1, 3, 5, 4], element_shape=[2], num_elements=8
    )
    return Program(
        [value, lengths, ops.TensorListStack(input_handle=b, element_shape=[2], element_dtype=tf.float32)],
        {x: np.arange(12.0).reshape(6, 2)},
    )
