"""Graph snippets that fail: while the graph is built, when it is placed, when it runs."""

import numpy as np

from snippet import Fed, Steps, Table

snippet = Table()


def _x(tf):
    return tf.constant([1.0, 2.0], name="x")


snippet.one_liners(
    "refused",
    [
        ("mixed_dtypes", lambda tf: _x(tf) + tf.constant([1, 2])),
        ("mixed_dtypes_function", lambda tf: tf.multiply(_x(tf), tf.constant([1, 2]))),
        ("float_for_int", lambda tf: tf.constant([1]) + 1.5),
        ("string_for_float", lambda tf: tf.add(_x(tf), "a")),
        ("constant_float_as_int", lambda tf: tf.constant(1.5, dtype=tf.int32)),
        ("constant_string_as_float", lambda tf: tf.constant("a", dtype=tf.float32)),
        ("constant_too_many", lambda tf: tf.constant([1, 2, 3], shape=[2])),
        ("constant_none", lambda tf: tf.constant(None)),
        ("constant_none_inside", lambda tf: tf.constant([1, None])),
        ("matmul_inner", lambda tf: tf.matmul(tf.ones([2, 3]), tf.ones([2, 3]))),
        ("matmul_vectors", lambda tf: tf.matmul(_x(tf), _x(tf))),
        ("matmul_dtypes", lambda tf: tf.matmul(tf.ones([1, 1]), tf.ones([1, 1], tf.int32))),
        ("broadcast", lambda tf: tf.ones([2]) + tf.ones([3])),
        ("reshape", lambda tf: tf.reshape(_x(tf), [3])),
        ("reshape_two_unknown", lambda tf: tf.reshape(_x(tf), [-1, -1])),
        ("concat_sizes", lambda tf: tf.concat([tf.ones([2, 1]), tf.ones([3, 2])], 1)),
        ("concat_nothing", lambda tf: tf.concat([], 0)),
        ("stack_shapes", lambda tf: tf.stack([tf.ones([2]), tf.ones([3])])),
        ("unstack_unknown", lambda tf: tf.unstack(tf.placeholder(tf.float32))),
        ("split_uneven", lambda tf: tf.split(tf.ones([5]), 2)),
        ("squeeze_two", lambda tf: tf.squeeze(_x(tf), [0])),
        ("expand_axis", lambda tf: tf.expand_dims(_x(tf), 4)),
        ("transpose_perm", lambda tf: tf.transpose(tf.ones([2, 2]), [0, 1, 2])),
        ("reduce_axis", lambda tf: tf.reduce_sum(_x(tf), axis=2)),
        ("gather_float_index", lambda tf: tf.gather(_x(tf), 0.5)),
        ("slice_float", lambda tf: _x(tf)[0.5]),
        ("slice_string", lambda tf: _x(tf)["a"]),
        ("slice_too_many", lambda tf: _x(tf)[0, 0]),
        ("slice_beyond", lambda tf: _x(tf)[7]),
        ("slice_zero_step", lambda tf: _x(tf)[::0]),
        ("slice_two_ellipses", lambda tf: tf.ones([2, 2])[..., ...]),
        ("truth", lambda tf: bool(_x(tf) > 0.0)),
        ("iteration", lambda tf: list(_x(tf))),
        ("length", lambda tf: len(_x(tf))),
        ("logical_of_float", lambda tf: tf.logical_and(_x(tf), True)),
        ("bitwise_of_float", lambda tf: _x(tf) & _x(tf)),
        ("bool_addition", lambda tf: tf.constant(True) + tf.constant(True)),
        ("where_condition", lambda tf: tf.where(_x(tf), _x(tf), _x(tf))),
        ("add_n_nothing", lambda tf: tf.add_n([])),
        ("add_n_shapes", lambda tf: tf.add_n([_x(tf), tf.ones([3])])),
        ("add_n_dtypes", lambda tf: tf.add_n([_x(tf), tf.ones([2], tf.int32)])),
        ("placeholder_dtype", lambda tf: tf.placeholder("nothing")),
        ("set_shape", lambda tf: _x(tf).set_shape([3])),
        ("cast_dtype", lambda tf: tf.cast(_x(tf), "nothing")),
        ("op_name", lambda tf: tf.no_op(name="not good")),
        ("op_name_underscore", lambda tf: tf.no_op(name="_x")),
        ("scope_name", lambda tf: tf.name_scope("a b").__enter__()),
        ("tensor_lookup", lambda tf: tf.get_default_graph().get_tensor_by_name("a:0")),
        ("tensor_lookup_form", lambda tf: tf.get_default_graph().get_tensor_by_name("a")),
        ("operation_lookup", lambda tf: tf.get_default_graph().get_operation_by_name("a")),
        ("operation_lookup_form", lambda tf: tf.get_default_graph().get_operation_by_name("a:0")),
        ("element_lookup", lambda tf: tf.get_default_graph().as_graph_element(7)),
        ("attribute", lambda tf: _x(tf).op.get_attr("nothing")),
        ("variable_nothing", lambda tf: tf.Variable()),
        ("variable_unknown_shape", lambda tf: tf.Variable(tf.placeholder(tf.float32))),
        ("variable_dtype", lambda tf: tf.Variable(1.5, dtype=tf.int32)),
        ("assign_shape", lambda tf: tf.assign(tf.Variable([1.0, 2.0]), [1.0])),
        ("assign_dtype", lambda tf: tf.assign(tf.Variable(1.0), tf.constant(1))),
        ("get_variable_no_shape", lambda tf: tf.get_variable("w")),
        ("get_variable_twice", lambda tf: [tf.get_variable("w", [1]), tf.get_variable("w", [1])]),
        (
            "get_variable_shape_and_constant",
            lambda tf: tf.get_variable("w", [2], initializer=tf.constant([1.0, 2.0])),
        ),
        ("reuse_missing", lambda tf: _reuse(tf, "nowhere", [1])),
        ("reuse_shape", lambda tf: _reuse(tf, "w", [5])),
        ("reuse_dtype", lambda tf: _reuse(tf, "w", [1], tf.int32)),
        ("colocate_none", lambda tf: tf.colocate_with(None).__enter__()),
        ("control_dependency_on_number", lambda tf: tf.control_dependencies([3.0]).__enter__()),
        ("group_of_number", lambda tf: tf.group(3.0)),
        ("tuple_of_nothing", lambda tf: tf.tuple([])),
        ("device_name", lambda tf: tf.device("/devise:CPU:0").__enter__()),
        ("device_types", lambda tf: tf.device("/cpu:0/gpu:0").__enter__()),
        ("device_nonsense", lambda tf: tf.device("nonsense").__enter__()),
        ("finalized", lambda tf: [tf.get_default_graph().finalize(), tf.constant(1)]),
        ("other_graph", lambda tf: tf.add(_elsewhere(tf), _x(tf))),
        (
            "conv_depth",
            lambda tf: tf.nn.conv2d(
                tf.ones([1, 4, 4, 2]), tf.ones([2, 2, 3, 1]), strides=[1, 1, 1, 1], padding="SAME"
            ),
        ),
        (
            "conv_padding",
            lambda tf: tf.nn.conv2d(
                tf.ones([1, 4, 4, 1]), tf.ones([2, 2, 1, 1]), strides=[1, 1, 1, 1], padding="ODD"
            ),
        ),
        (
            "softmax_labels",
            lambda tf: tf.nn.sparse_softmax_cross_entropy_with_logits(_x(tf), _x(tf)),
        ),
        ("eval_without_session", lambda tf: _x(tf).eval()),
        ("run_without_session", lambda tf: _x(tf).op.run()),
    ],
    nodes=False,
)


def _elsewhere(tf):
    with tf.Graph().as_default():
        return tf.constant([1.0, 2.0], name="elsewhere")


def _reuse(tf, name, shape, dtype=None):
    with tf.variable_scope("s"):
        tf.get_variable("w", [1])
    with tf.variable_scope("s", reuse=True):
        return tf.get_variable(name, shape, dtype=dtype or tf.float32)


snippet.one_liners(
    "fetch_refused",
    [
        ("none", lambda tf: None if tf.no_op() else 0),
        ("number", lambda tf: [tf.constant(1), 3.5]),
        ("unknown_name", lambda tf: "nothing:0" if tf.no_op() else 0),
        ("unknown_output", lambda tf: "Const:3" if tf.constant(1) is not None else 0),
        ("other_graph", lambda tf: _elsewhere(tf) if tf.no_op() else 0),
        ("dictionary_with_none", lambda tf: {"a": tf.constant(1), "b": None}),
    ],
)


def _p(tf, shape=None, dtype=None):
    return tf.placeholder(dtype or tf.float32, shape, name="p")


snippet.one_liners(
    "feed_refused",
    [
        ("missing", lambda tf: Fed(_p(tf, [2]) + 1.0, {})),
        ("missing_unknown_shape", lambda tf: Fed(_p(tf) + 1.0, {})),
        ("shape", lambda tf: Fed((p := _p(tf, [2])) + 1.0, {p: [1.0, 2.0, 3.0]})),
        ("rank", lambda tf: Fed((p := _p(tf, [None, 2])) + 1.0, {p: [1.0, 2.0]})),
        ("tensor", lambda tf: Fed((p := _p(tf)) + 1.0, {p: tf.constant(1.0)})),
        ("unknown_name", lambda tf: Fed(_p(tf) + 1.0, {"q:0": 1.0})),
        ("key", lambda tf: Fed(_p(tf) + 1.0, {3: 1.0})),
        ("other_graph", lambda tf: Fed(_p(tf, [2]) + 1.0, {_elsewhere(tf): [1.0, 2.0]})),
        ("not_fed", lambda tf: Fed((p := _p(tf, [], tf.int32)) + 1, {p: 2**40})),
    ],
)

snippet.one_liners(
    "run_fails",
    [
        ("reshape", lambda tf: Fed(tf.reshape(p := _p(tf), [2, 2], name="r"), {p: [1.0]})),
        (
            "add",
            lambda tf: Fed(
                (p := _p(tf, [None])) + (q := tf.placeholder(tf.float32, [None])),
                {p: [1.0, 2.0], q: [1.0, 2.0, 3.0]},
            ),
        ),
        ("matmul", lambda tf: Fed(tf.matmul(p := _p(tf, [None, None]), p), {p: [[1.0, 2.0, 3.0]]})),
        ("gather", lambda tf: Fed(tf.gather([1, 2, 3], p := _p(tf, [], tf.int32)), {p: 7})),
        (
            "gather_nd",
            lambda tf: Fed(tf.gather_nd([1, 2, 3], p := _p(tf, [1], tf.int32)), {p: [7]}),
        ),
        ("int_division", lambda tf: Fed(tf.constant(4) // (p := _p(tf, [], tf.int32)), {p: 0})),
        ("int_modulo", lambda tf: Fed(tf.constant(4) % (p := _p(tf, [], tf.int32)), {p: 0})),
        ("assertion", lambda tf: Fed(tf.Assert((p := _p(tf, [])) > 0.0, ["p was", p]), {p: -1.0})),
        (
            "assert_equal",
            lambda tf: Fed(tf.assert_equal(p := _p(tf, []), 2.0, message="not two"), {p: 1.0}),
        ),
        ("check_numerics", lambda tf: Fed(tf.check_numerics(p := _p(tf), "checked"), {p: np.inf})),
        ("slice", lambda tf: Fed(tf.slice(p := _p(tf, [None]), [1], [5]), {p: [1.0, 2.0]})),
        ("index", lambda tf: Fed((p := _p(tf, [None]))[3], {p: [1.0, 2.0]})),
        (
            "concat",
            lambda tf: Fed(
                tf.concat([p := _p(tf, [None, None]), tf.ones([1, 2])], 0), {p: [[1.0, 2.0, 3.0]]}
            ),
        ),
        ("split", lambda tf: Fed(tf.split(p := _p(tf, [None]), 2), {p: [1.0, 2.0, 3.0]})),
        ("squeeze", lambda tf: Fed(tf.squeeze(p := _p(tf), [0]), {p: [1.0, 2.0]})),
        (
            "to_number",
            lambda tf: Fed(tf.string_to_number(p := _p(tf, None, tf.string)), {p: "abc"}),
        ),
        (
            "segment",
            lambda tf: Fed(tf.segment_sum([1.0, 2.0], p := _p(tf, [2], tf.int32)), {p: [1, 0]}),
        ),
        ("range", lambda tf: Fed(tf.range(p := _p(tf, [], tf.int32), 10, 0), {p: 1})),
        ("fill", lambda tf: Fed(tf.fill(p := _p(tf, [1], tf.int32), 1.0), {p: [-2]})),
        ("tile", lambda tf: Fed(tf.tile([1, 2], p := _p(tf, [1], tf.int32)), {p: [-1]})),
        (
            "inverse",
            lambda tf: Fed(tf.matrix_inverse(p := _p(tf, [2, 2])), {p: [[1.0, 1.0], [1.0, 1.0]]}),
        ),
        (
            "sparse_labels",
            lambda tf: Fed(
                tf.nn.sparse_softmax_cross_entropy_with_logits(
                    labels=(p := _p(tf, [1], tf.int32)), logits=[[1.0, 2.0]]
                ),
                {p: [9]},
            ),
        ),
        ("top_k", lambda tf: Fed(tf.nn.top_k(p := _p(tf, [None]), 4), {p: [1.0]})),
    ],
    nodes=False,
)


@snippet(initialize=False)
def run_fails_uninitialized(tf):
    return tf.Variable(1.0, name="v")


@snippet(initialize=False)
def run_fails_uninitialized_add(tf):
    return tf.assign_add(tf.Variable(1.0, name="v"), 1.0)


@snippet
def run_fails_assign_shape(tf):
    v = tf.Variable([1.0, 2.0], name="v")
    p = tf.placeholder(tf.float32)
    return Fed(tf.assign(v, p), {p: [1.0, 2.0, 3.0]})


@snippet
def run_fails_scatter_index(tf):
    v = tf.Variable([1.0, 2.0], name="v")
    return Steps([tf.scatter_update(v, [5], [1.0])])


@snippet
def run_fails_count(tf):
    v = tf.Variable(0, name="v")
    c = tf.count_up_to(v, 2)
    return Steps([c, c, c])


@snippet(words=False, nodes=False)
def run_fails_ensure_shape(tf):
    p = _p(tf)
    return Fed(tf.ensure_shape(p, [3]), {p: [1.0]})


def _on(name):
    def build(tf):
        with tf.device(name):
            return tf.constant(1.0, name="c") + 1.0

    return build


snippet.one_liners(
    "placement_refused",
    [
        ("gpu", _on("/gpu:9")),
        ("cpu", _on("/cpu:9")),
        ("job", _on("/job:nowhere")),
        ("task", _on("/task:4")),
    ],
    words=False,
)
