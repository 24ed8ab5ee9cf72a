"""Eager snippets that fail: the class of the error is compared."""

import numpy as np

from snippet import Table

snippet = Table()

snippet.one_liners(
    "refused",
    [
        ("mixed_dtypes", lambda tf: tf.constant(1.0) + tf.constant(1)),
        ("mixed_floats", lambda tf: tf.constant(1.0) * tf.constant(1.0, tf.float64)),
        ("float_for_int", lambda tf: tf.constant(1) + 1.5),
        ("string_for_number", lambda tf: tf.constant(1) + "a"),
        ("constant_dtype", lambda tf: tf.constant(1.5, tf.int32)),
        ("constant_string", lambda tf: tf.constant("a", tf.float32)),
        ("constant_ragged", lambda tf: tf.constant([[1, 2], [3]])),
        ("constant_none", lambda tf: tf.constant(None)),
        ("constant_none_inside", lambda tf: tf.constant([1.0, None])),
        ("constant_mixed", lambda tf: tf.constant([1, "a"])),
        ("constant_shape", lambda tf: tf.constant([1, 2, 3], shape=[2])),
        ("constant_object", lambda tf: tf.constant(object())),
        ("constant_large", lambda tf: tf.constant(2**70)),
        ("broadcast", lambda tf: tf.ones([2]) + tf.ones([3])),
        ("matmul_inner", lambda tf: tf.ones([2, 3]) @ tf.ones([2, 3])),
        ("matmul_vectors", lambda tf: tf.matmul([1.0], [1.0])),
        ("matmul_dtypes", lambda tf: tf.matmul(tf.ones([1, 1]), tf.ones([1, 1], tf.int32))),
        ("reshape", lambda tf: tf.reshape([1, 2, 3], [2, 2])),
        ("reshape_two_unknown", lambda tf: tf.reshape([1, 2], [-1, -1])),
        ("reshape_negative", lambda tf: tf.reshape([1, 2], [-2])),
        ("concat", lambda tf: tf.concat([tf.ones([1, 2]), tf.ones([1, 3])], 0)),
        ("concat_axis", lambda tf: tf.concat([[1], [2]], 3)),
        ("stack", lambda tf: tf.stack([[1], [2, 3]])),
        ("split", lambda tf: tf.split([1, 2, 3], 2)),
        ("squeeze", lambda tf: tf.squeeze([1, 2], 0)),
        ("expand_dims", lambda tf: tf.expand_dims([1, 2], 7)),
        ("transpose", lambda tf: tf.transpose(tf.ones([2, 2]), [0, 0])),
        ("tile", lambda tf: tf.tile([1, 2], [1, 2])),
        ("pad", lambda tf: tf.pad([1, 2], [[-1, 0]])),
        ("fill_negative", lambda tf: tf.fill([-1], 0)),
        ("zeros_negative", lambda tf: tf.zeros([-1])),
        ("range_zero_step", lambda tf: tf.range(0, 5, 0)),
        ("index_out", lambda tf: tf.constant([1, 2])[5]),
        ("index_type", lambda tf: tf.constant([1, 2])["a"]),
        ("index_float", lambda tf: tf.constant([1, 2])[0.5]),
        ("index_many", lambda tf: tf.constant([1, 2])[0, 0]),
        ("index_zero_step", lambda tf: tf.constant([1, 2])[::0]),
        ("gather", lambda tf: tf.gather([1, 2], [5])),
        ("gather_nd", lambda tf: tf.gather_nd([1, 2], [[5]])),
        ("scatter_nd", lambda tf: tf.scatter_nd([[9]], [1], [3])),
        ("one_hot", lambda tf: tf.one_hot([1], -1)),
        ("reduce_axis", lambda tf: tf.reduce_sum([1, 2], axis=4)),
        ("argmax_axis", lambda tf: tf.argmax([1, 2], axis=4)),
        ("cumsum_axis", lambda tf: tf.cumsum([1, 2], axis=4)),
        ("int_division", lambda tf: tf.constant(1) // 0),
        ("int_modulo", lambda tf: tf.constant(1) % 0),
        ("logical_type", lambda tf: tf.logical_and(1, 2)),
        ("bitwise_type", lambda tf: tf.constant(1.0) & tf.constant(2.0)),
        ("bool_add", lambda tf: tf.constant(True) + tf.constant(True)),
        ("string_multiply", lambda tf: tf.constant("a") * tf.constant("b")),
        ("cast_string", lambda tf: tf.cast(["a"], tf.int32)),
        ("cast_dtype", lambda tf: tf.cast([1], "nothing")),
        ("truth_of_many", lambda tf: bool(tf.constant([1, 2]))),
        ("int_of_many", lambda tf: int(tf.constant([1, 2]))),
        ("length_of_scalar", lambda tf: len(tf.constant(1))),
        ("iteration_of_scalar", lambda tf: list(tf.constant(1))),
        ("hash", lambda tf: hash(tf.constant(1))),
        ("item_assignment", lambda tf: tf.constant([1, 2]).__setitem__(0, 5)),
        ("attribute", lambda tf: tf.constant(1).nothing),
        ("numpy_methods", lambda tf: tf.constant([1]).astype("int32")),
        ("name_of_eager", lambda tf: tf.constant(1).name),
        ("op_of_eager", lambda tf: tf.constant(1).op),
        ("graph_of_eager", lambda tf: tf.constant(1).graph),
        ("convert_dtype", lambda tf: tf.convert_to_tensor(tf.constant(1), tf.float32)),
        ("ensure_shape", lambda tf: tf.ensure_shape([1, 2], [3])),
        ("assert_equal", lambda tf: tf.debugging.assert_equal(1, 2)),
        ("assert_positive", lambda tf: tf.debugging.assert_positive([-1.0])),
        ("assert_shapes", lambda tf: tf.debugging.assert_rank([1], 2)),
        ("assert_function", lambda tf: tf.debugging.Assert(False, ["no"])),
        ("check_numerics", lambda tf: tf.debugging.check_numerics([np.nan], "found")),
        ("to_number", lambda tf: tf.strings.to_number("abc")),
        ("substr", lambda tf: tf.strings.substr("abc", 9, 1)),
        ("inverse", lambda tf: tf.linalg.inv([[1.0, 1.0], [1.0, 1.0]])),
        ("cholesky_shape", lambda tf: tf.linalg.cholesky([[1.0, 2.0, 3.0]])),
        (
            "conv_depth",
            lambda tf: tf.nn.conv2d(tf.ones([1, 3, 3, 2]), tf.ones([1, 1, 3, 1]), 1, "SAME"),
        ),
        (
            "conv_padding",
            lambda tf: tf.nn.conv2d(tf.ones([1, 3, 3, 1]), tf.ones([1, 1, 1, 1]), 1, "ODD"),
        ),
        ("pool_size", lambda tf: tf.nn.max_pool(tf.ones([1, 3, 3, 1]), 0, 1, "SAME")),
        ("bias_shape", lambda tf: tf.nn.bias_add(tf.ones([2, 3]), [1.0])),
        ("labels", lambda tf: tf.nn.sparse_softmax_cross_entropy_with_logits([5], [[1.0, 2.0]])),
        (
            "logits_shape",
            lambda tf: tf.nn.softmax_cross_entropy_with_logits([[1.0, 0.0]], [[1.0, 2.0, 3.0]]),
        ),
        ("top_k", lambda tf: tf.math.top_k([1, 2], 5)),
        ("segment", lambda tf: tf.math.segment_sum([1, 2], [1, 0])),
        ("bincount_negative", lambda tf: tf.math.bincount([-1])),
        ("einsum", lambda tf: tf.einsum("ij,jk->ik", tf.ones([2, 3]), tf.ones([2, 3]))),
        ("einsum_equation", lambda tf: tf.einsum("ij->k", tf.ones([2, 3]))),
        ("random_shape", lambda tf: tf.random.uniform([-1])),
        ("random_int_range", lambda tf: tf.random.uniform([1], 5, 5, tf.int32)),
        ("variable_shape", lambda tf: tf.Variable([1.0, 2.0]).assign([1.0])),
        ("variable_dtype", lambda tf: tf.Variable(1).assign(1.5)),
        ("variable_none", lambda tf: tf.Variable(None)),
        ("variable_index_assignment", lambda tf: tf.Variable([1, 2]).__setitem__(0, 5)),
        ("tape_twice", lambda tf: _tape_twice(tf)),
        ("tape_watch", lambda tf: _tape_watch(tf)),
        ("tape_target", lambda tf: _tape_target(tf)),
        ("device_unknown_name", lambda tf: _device(tf, "/nonsense:0")),
        ("device_of_another_job", lambda tf: _softly(tf, "/job:foo/cpu:0")),
        ("device_of_another_task", lambda tf: _softly(tf, "/task:3/gpu:*")),
        (
            "function_signature",
            lambda tf: tf.function(lambda x: x, input_signature=[tf.TensorSpec([2], tf.int32)])(
                tf.constant([1.5])
            ),
        ),
        ("function_arguments", lambda tf: tf.function(lambda x: x)()),
        (
            "function_error_inside",
            lambda tf: tf.function(lambda x: tf.reshape(x, [3, 3]))(tf.constant([1])),
        ),
        ("function_raises", lambda tf: tf.function(_raises)(tf.constant([1]))),
        (
            "while_shapes",
            lambda tf: tf.function(
                lambda: tf.while_loop(
                    lambda x: tf.size(x) < 9, lambda x: [tf.concat([x, x], 0)], [tf.constant([1])]
                )
            )(),
        ),
        ("nest_structure", lambda tf: tf.nest.assert_same_structure([1], [1, 2])),
        ("shape_merge", lambda tf: tf.TensorShape([1, 2]).merge_with([1, 3])),
        ("shape_rank", lambda tf: tf.TensorShape([1, 2]).with_rank(3)),
        ("shape_unknown_list", lambda tf: tf.TensorShape(None).as_list()),
        ("shape_value", lambda tf: tf.TensorShape([-3])),
        ("dtype", lambda tf: tf.as_dtype("float17")),
        ("dataset_shapes", lambda tf: tf.data.Dataset.from_tensor_slices(([1, 2], [1, 2, 3]))),
        ("dataset_batch", lambda tf: list(tf.data.Dataset.range(3).batch(0))),
        ("placeholder_in_eager", lambda tf: tf.compat.v1.placeholder(tf.float32)),
        ("session_without_graph", lambda tf: tf.compat.v1.Session().run(tf.constant(1))),
        ("unknown_function", lambda tf: tf.nothing_of_the_kind(1)),
        ("unknown_argument", lambda tf: tf.reduce_sum([1], axes=[0])),
        ("positional", lambda tf: tf.constant()),
    ],
)


def _raises(x):
    raise KeyError("from inside")


def _device(tf, name):
    with tf.device(name):
        return tf.constant(1.0)


def _softly(tf, name):
    one, before = tf.constant(1.0), tf.config.get_soft_device_placement()
    tf.config.set_soft_device_placement(True)
    try:
        with tf.device(name):
            return one + one
    finally:
        tf.config.set_soft_device_placement(before)


def _tape_twice(tf):
    x = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = x * x
    tape.gradient(y, x)
    return tape.gradient(y, x)


def _tape_watch(tf):
    with tf.GradientTape() as tape:
        tape.watch("text")


def _tape_target(tf):
    x = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = x * x
        with tape:
            pass
    return tape.gradient(y, x)
