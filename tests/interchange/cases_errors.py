"""Graphs that TensorFlow rejects, when they are read or when they run."""

import numpy as np

from case import Case, table


def _fed(function, shape, value, dtype="float32"):
    def build(tf):
        x = tf.placeholder(dtype, shape)
        return Case([function(tf, x)], {x: np.asarray(value, dtype)})

    return build


def _uninitialised(tf):
    return tf.get_variable("v", initializer=1.0, use_resource=False) + 1.0


def _uninitialised_resource(tf):
    return tf.get_variable("v", initializer=1.0, use_resource=True).read_value()


def _used_before_it_has_a_value(use, resource):
    def build(tf):
        v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=resource)
        return Case([tf.constant(0)], {}, [use(tf, v).op])

    return build


def _trained(optimizer, sparse):
    """A step of an optimizer; of the variable or of what the optimizer keeps nothing is initialised."""

    def train(tf, v):
        gradient = tf.IndexedSlices(tf.constant([1.0]), tf.constant([0])) if sparse else tf.constant([1.0, 1.0])
        with tf.control_dependencies([optimizer(tf).apply_gradients([(gradient, v)])]):
            return tf.constant(0)

    return train


USES = {
    "assign_add": lambda tf, v: tf.assign_add(v, [1.0, 1.0]), "assign_sub": lambda tf, v: tf.assign_sub(v, [1.0, 1.0]),
    "gather": lambda tf, v: tf.gather(v, [0]), "gather_nd": lambda tf, v: tf.gather_nd(v, [[0]]),
    "scatter_add": lambda tf, v: tf.scatter_add(v, [0], [1.0]), "scatter_nd_update": lambda tf, v: tf.scatter_nd_update(v, [[0]], [1.0]),
    "strided_assign": lambda tf, v: v[1:].assign([3.0]), "shape": lambda tf, v: tf.shape(v),
    **{f"{name}_{'sparse' if sparse else 'dense'}": _trained(optimizer, sparse) for sparse in (False, True) for name, optimizer in {
        "descent": lambda tf: tf.train.GradientDescentOptimizer(0.1), "momentum": lambda tf: tf.train.MomentumOptimizer(0.1, 0.9),
        "adagrad": lambda tf: tf.train.AdagradOptimizer(0.1), "rmsprop": lambda tf: tf.train.RMSPropOptimizer(0.1), "ftrl": lambda tf: tf.train.FtrlOptimizer(0.1)}.items()},
}
table("error_uninitialised_ref", [(name, _used_before_it_has_a_value(use, False)) for name, use in USES.items()])
table("error_uninitialised_resource", [(name, _used_before_it_has_a_value(use, True)) for name, use in USES.items()])


def _not_fed(tf):
    return tf.placeholder(tf.float32, [2]) * 2.0


def _edit(function, change):
    """A graph spoiled after it was made."""

    def build(tf):
        made = function(tf)

        graph = tf.get_default_graph()
        original = graph.as_graph_def

        def spoiled(*args, **kwargs):
            message = original(*args, **kwargs)
            change(message)
            return message

        graph.as_graph_def = spoiled
        return made

    return build


def _sum(tf):
    return tf.add(tf.constant(1.0, name="a"), tf.constant(2.0, name="b"), name="sum")


def _node(message, name):
    return next(n for n in message.node if n.name == name)


def _unknown_op(m):
    _node(m, "sum").op = "NoSuchOperation"


def _unknown_input(m):
    _node(m, "sum").input[0] = "nowhere"


def _bad_output(m):
    _node(m, "sum").input[0] = "a:3"


def _cycle(m):
    _node(m, "sum").input[0] = "sum"


def _two_names(m):
    m.node.add().CopyFrom(_node(m, "a"))


def _missing_attr(m):
    del _node(m, "sum").attr["T"]


def _wrong_type(m):
    _node(m, "sum").attr["T"].type = 3


def _bad_name(m):
    _node(m, "a").name = "not a name"


def _too_many_inputs(m):
    _node(m, "sum").input.append("a")


def _control_before_data(m):
    _node(m, "sum").input[:] = ["^a", "a", "b"]


def _bad_device(m):
    _node(m, "sum").device = "/not-a-device"


def _newer(m):
    m.versions.min_consumer = 10**6


def _short_tensor(m):
    _node(m, "a").attr["value"].tensor.tensor_content = b"xy"


def _huge_tensor(m):
    shape = _node(m, "a").attr["value"].tensor.tensor_shape
    for _ in range(3):
        shape.dim.add(size=10**6)


table("error", [
    ("matmul_shapes", _fed(lambda tf, x: tf.matmul(x, tf.ones([3, 1])), None, [[1.0, 2.0]])), ("reshape", _fed(lambda tf, x: tf.reshape(x, [2, 2]), [None], [1.0, 2.0, 3.0])),
    ("gather_range", _fed(lambda tf, x: tf.gather([1.0, 2.0], x), [None], [5], "int32")), ("division_by_zero", _fed(lambda tf, x: 1 // x, [None], [0], "int32")),
    ("concat", _fed(lambda tf, x: tf.concat([x, tf.ones([2, 2])], 0), None, [[1.0, 2.0, 3.0]])), ("check_numerics", _fed(lambda tf, x: tf.check_numerics(x, "bad"), [None], [np.nan])),
    ("assert", _fed(lambda tf, x: _asserted(tf, x), [None], [-1.0])),
    ("string_to_number", lambda tf: tf.strings.to_number(["x"])), ("uninitialised", _uninitialised), ("uninitialised_resource", _uninitialised_resource),
    ("not_fed", _not_fed), ("one_hot_depth", _fed(lambda tf, x: tf.one_hot([0], x), [], -1, "int32")), ("negative_fill", _fed(lambda tf, x: tf.fill(x, 1.0), [1], [-1], "int32")),
    ("split", _fed(lambda tf, x: tf.split(x, 2)[0], None, [1.0, 2.0, 3.0])),
    ("unknown_op", _edit(_sum, _unknown_op)), ("unknown_input", _edit(_sum, _unknown_input)), ("bad_output", _edit(_sum, _bad_output)), ("cycle", _edit(_sum, _cycle)),
    ("two_names", _edit(_sum, _two_names)), ("missing_attr", _edit(_sum, _missing_attr)), ("wrong_type", _edit(_sum, _wrong_type)), ("bad_name", _edit(_sum, _bad_name)),
    ("too_many_inputs", _edit(_sum, _too_many_inputs)), ("control_before_data", _edit(_sum, _control_before_data)), ("bad_device", _edit(_sum, _bad_device)),
    ("newer_consumer", _edit(_sum, _newer)), ("short_tensor", _edit(_sum, _short_tensor)), ("huge_tensor", _edit(_sum, _huge_tensor)),
    ("loop_invariant", lambda tf: tf.while_loop(lambda i: i < 3, lambda i: tf.check_numerics(i / 0.0, "in the loop"), [1.0])),
    ("restore_missing_file", lambda tf: tf.raw_ops.RestoreV2(prefix="/nowhere/at/all", tensor_names=["a"], shape_and_slices=[""], dtypes=[tf.float32])[0]),
])


def _asserted(tf, x):
    with tf.control_dependencies([tf.assert_positive(x)]):
        return tf.identity(x)
