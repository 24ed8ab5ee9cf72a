"""Graph snippets: constants, operators, slicing, whole arrays."""

import numpy as np

from snippet import Fed, Table, Told

snippet = Table()

snippet.one_liners(
    "constant",
    [
        ("float", lambda tf: tf.constant(3.5)),
        ("int", lambda tf: tf.constant(7, name="seven")),
        ("list", lambda tf: tf.constant([[1, 2], [3, 4]])),
        ("dtype", lambda tf: tf.constant([1, 2], dtype=tf.float64)),
        ("shape_fills", lambda tf: tf.constant(5.0, shape=[2, 3])),
        ("shape_reshapes", lambda tf: tf.constant([1, 2, 3, 4, 5, 6], shape=[2, 3])),
        ("numpy", lambda tf: tf.constant(np.arange(4, dtype=np.int16))),
        ("numpy_float64", lambda tf: tf.constant(np.ones(2))),
        ("bool", lambda tf: tf.constant([True, False])),
        ("string", lambda tf: tf.constant(["a", "bc", ""])),
        ("complex", lambda tf: tf.constant([1 + 2j])),
        ("empty", lambda tf: tf.constant([])),
        ("empty_int", lambda tf: tf.constant([], dtype=tf.int32, shape=[0, 3])),
        ("half", lambda tf: tf.constant([0.5, 1.5], dtype=tf.float16)),
        ("big_int", lambda tf: tf.constant(2**40, dtype=tf.int64)),
        ("mixed_numbers", lambda tf: tf.constant([1, 2.5])),
        ("nested_tuples", lambda tf: tf.constant(((1.0, 2.0), (3.0, 4.0)))),
        ("of_tensors", lambda tf: tf.convert_to_tensor([tf.constant(1.0), 2.0])),
    ],
)

snippet.one_liners(
    "make",
    [
        ("zeros", lambda tf: tf.zeros([2, 3])),
        ("zeros_int", lambda tf: tf.zeros([2], tf.int32)),
        ("ones", lambda tf: tf.ones([3], tf.float64)),
        ("zeros_like", lambda tf: tf.zeros_like(tf.constant([1, 2]))),
        ("ones_like", lambda tf: tf.ones_like(tf.constant([1.5]))),
        ("fill", lambda tf: tf.fill([2, 2], 9)),
        ("range", lambda tf: tf.range(5)),
        ("range_step", lambda tf: tf.range(10, 0, -3)),
        ("range_float", lambda tf: tf.range(0.0, 1.0, 0.25)),
        ("linspace", lambda tf: tf.linspace(0.0, 10.0, 5)),
        ("linspace_one", lambda tf: tf.lin_space(0.0, 10.0, 1, name="spaced")),
        ("linspace_integers", lambda tf: tf.linspace(0, 10, 5)),
        ("linspace_rows", lambda tf: tf.linspace([0.0, 1.0], [2.0, 4.0], 3, axis=-1)),
        ("linspace_spread", lambda tf: tf.linspace(tf.constant([0.0, 1.0]), 5.0, tf.constant(4))),
        ("ones_by_length", lambda tf: [tf.ones(3), tf.zeros(2, tf.int32)]),
        ("reshape_to_number", lambda tf: tf.reshape(tf.constant([2.0]), [])),
        ("sum_along_nothing", lambda tf: tf.reduce_sum(tf.constant([[1.0, 2.0]]), [])),
        ("concat_of_mixed", lambda tf: tf.concat([tf.constant([1, 2]), [tf.constant(3, tf.int64)]], 0)),
        ("eye", lambda tf: tf.eye(2, 3)),
        ("one_hot", lambda tf: tf.one_hot([0, 2, -1], 3)),
        (
            "one_hot_values",
            lambda tf: tf.one_hot([1], 2, on_value=5, off_value=-5, dtype=tf.int32, axis=0),
        ),
        ("no_op", lambda tf: tf.no_op()),
        ("identity", lambda tf: tf.identity([1.0, 2.0])),
        ("identity_n", lambda tf: tf.identity_n([tf.constant(1), tf.constant("s")])),
        ("stop_gradient", lambda tf: tf.stop_gradient(1.5)),
    ],
)


def _x(tf):
    return tf.constant([7.0, -3.0, 2.5], name="x")


def _m(tf):
    return tf.constant([[1, 2, 3], [4, 5, 6], [7, 8, 9]], name="m")


snippet.one_liners(
    "operator",
    [
        ("add", lambda tf: _x(tf) + 2.0),
        ("radd", lambda tf: 2 + _x(tf)),
        ("sub", lambda tf: _x(tf) - np.float32(1.0)),
        ("rsub", lambda tf: 1.0 - _x(tf)),
        ("mul", lambda tf: _x(tf) * _x(tf)),
        ("div", lambda tf: _x(tf) / 2.0),
        ("int_div", lambda tf: _m(tf) / 2),
        ("floordiv", lambda tf: _m(tf) // -2),
        ("mod", lambda tf: _x(tf) % 2.0),
        ("pow", lambda tf: _x(tf) ** 2.0),
        ("neg", lambda tf: -_x(tf)),
        ("abs", lambda tf: abs(_x(tf))),
        ("matmul", lambda tf: tf.ones([2, 3]) @ tf.ones([3, 2])),
        ("less", lambda tf: _x(tf) < 1.0),
        ("less_equal", lambda tf: _x(tf) <= -3.0),
        ("greater", lambda tf: _m(tf) > 4),
        ("greater_equal", lambda tf: 4 >= _m(tf)),
        ("logical", lambda tf: (_x(tf) > 0.0) & (_x(tf) < 5.0) | ~(_x(tf) > 3.0)),
        ("xor", lambda tf: (_x(tf) > 0.0) ^ True),
        ("bits", lambda tf: (_m(tf) & 3) | (_m(tf) ^ 1)),
        ("numpy_left", lambda tf: np.array([1.0, 2.0, 3.0], np.float32) * _x(tf)),
        ("chain", lambda tf: (_x(tf) + 1.0) * 2.0 - 3.0 / _x(tf)),
        ("identity_equality", lambda tf: Told([(x := _x(tf)) == x, x == tf.constant(1.0), x is x])),
    ],
)

snippet.one_liners(
    "slice",
    [
        ("row", lambda tf: _m(tf)[1]),
        ("element", lambda tf: _m(tf)[1, -1]),
        ("column", lambda tf: _m(tf)[:, 0]),
        ("range", lambda tf: _m(tf)[0:2, 1:]),
        ("steps", lambda tf: _m(tf)[::2, ::-1]),
        ("ellipsis", lambda tf: _m(tf)[..., 1]),
        ("newaxis", lambda tf: _m(tf)[:, tf.newaxis, 1]),
        ("tensor_index", lambda tf: _m(tf)[tf.constant(2)]),
        ("tensor_bounds", lambda tf: _m(tf)[tf.constant(0) : tf.constant(2)]),
        ("beyond", lambda tf: _m(tf)[5:, :]),
        ("function", lambda tf: tf.slice(_m(tf), [1, 0], [2, -1])),
        ("strided", lambda tf: tf.strided_slice(_m(tf), [0, 2], [3, 0], [2, -1])),
        ("shrink", lambda tf: tf.strided_slice(_m(tf), [1, 0], [2, 3], shrink_axis_mask=1)),
        (
            "unknown_rows",
            lambda tf: Fed(
                (p := tf.placeholder(tf.float32, [None, 4]))[1:3, 2], {p: np.ones([5, 4])}
            ),
        ),
        ("unknown_rank", lambda tf: Fed((p := tf.placeholder(tf.float32))[0], {p: [[1.0, 2.0]]})),
    ],
)

snippet.one_liners(
    "array",
    [
        ("reshape", lambda tf: tf.reshape(_m(tf), [-1])),
        (
            "reshape_unknown",
            lambda tf: Fed(
                tf.reshape(p := tf.placeholder(tf.int32, [None, 2]), [2, -1]), {p: [[1, 2], [3, 4]]}
            ),
        ),
        ("shape", lambda tf: tf.shape(_m(tf))),
        ("shape_int64", lambda tf: tf.shape(_m(tf), out_type=tf.int64)),
        (
            "shape_dynamic",
            lambda tf: Fed(
                tf.shape(p := tf.placeholder(tf.float32, [None, 3])), {p: np.zeros([4, 3])}
            ),
        ),
        ("size", lambda tf: tf.size(_m(tf))),
        ("rank", lambda tf: tf.rank(_m(tf))),
        ("expand", lambda tf: tf.expand_dims(_x(tf), 0)),
        ("expand_last", lambda tf: tf.expand_dims(_x(tf), -1)),
        ("squeeze", lambda tf: tf.squeeze(tf.zeros([1, 2, 1]))),
        ("squeeze_axis", lambda tf: tf.squeeze(tf.zeros([1, 2, 1]), axis=[2])),
        ("transpose", lambda tf: tf.transpose(_m(tf))),
        ("transpose_perm", lambda tf: tf.transpose(tf.zeros([2, 3, 4]), [2, 0, 1])),
        ("concat", lambda tf: tf.concat([_m(tf), _m(tf)], axis=1)),
        (
            "concat_unknown",
            lambda tf: Fed(
                tf.concat([p := tf.placeholder(tf.float32, [None, 2]), tf.ones([1, 2])], 0),
                {p: [[5, 6]]},
            ),
        ),
        ("concat_one", lambda tf: tf.concat([_x(tf)], 0)),
        ("stack", lambda tf: tf.stack([_x(tf), _x(tf)], axis=1)),
        ("unstack", lambda tf: tf.unstack(_m(tf), axis=1)),
        ("split", lambda tf: tf.split(_m(tf), 3, axis=1)),
        ("split_sizes", lambda tf: tf.split(_x(tf), [1, 2])),
        ("tile", lambda tf: tf.tile([[1, 2]], [2, 2])),
        ("pad", lambda tf: tf.pad([[1, 2]], [[1, 0], [0, 1]])),
        ("pad_value", lambda tf: tf.pad([1.0], [[1, 1]], constant_values=9.0)),
        ("pad_reflect", lambda tf: tf.pad([1, 2, 3], [[2, 0]], mode="REFLECT")),
        ("reverse", lambda tf: tf.reverse(_m(tf), [1])),
        ("roll", lambda tf: tf.roll(_x(tf), 1, 0)),
        ("gather", lambda tf: tf.gather(_m(tf), [2, 0])),
        ("gather_axis", lambda tf: tf.gather(_m(tf), [2, 0], axis=1)),
        ("gather_nd", lambda tf: tf.gather_nd(_m(tf), [[0, 1], [2, 2]])),
        ("scatter_nd", lambda tf: tf.scatter_nd([[1], [3]], [5.0, 6.0], [5])),
        ("where", lambda tf: tf.where(_x(tf) > 0.0)),
        ("select", lambda tf: tf.where(_x(tf) > 0.0, _x(tf), tf.zeros([3]))),
        ("select_v2", lambda tf: tf.where_v2(_x(tf) > 0.0, _x(tf), 0.0)),
        ("broadcast_to", lambda tf: tf.broadcast_to([1, 2], [3, 2])),
        ("cast", lambda tf: tf.cast(_x(tf), tf.int32)),
        ("cast_same", lambda tf: Told((x := _x(tf)) is tf.cast(x, tf.float32))),
        ("to_float", lambda tf: tf.cast(_m(tf), tf.float32, name="floats")),
        ("bitcast", lambda tf: tf.bitcast(_x(tf), tf.int32)),
        ("diag", lambda tf: tf.diag([1, 2])),
        ("matrix_diag", lambda tf: tf.matrix_diag([[1, 2], [3, 4]])),
        ("diag_part", lambda tf: tf.diag_part(_m(tf))),
        ("band_part", lambda tf: tf.matrix_band_part(_m(tf), 0, -1)),
        ("sequence_mask", lambda tf: tf.sequence_mask([1, 3], 4)),
        ("boolean_mask", lambda tf: tf.boolean_mask(_x(tf), [True, False, True])),
        ("meshgrid", lambda tf: tf.meshgrid([1, 2], [3, 4, 5])),
        ("top_k", lambda tf: tf.nn.top_k(_x(tf), 2)),
        ("unique", lambda tf: tf.unique([4, 4, 1, 2, 1])),
        ("setdiff", lambda tf: tf.setdiff1d([1, 2, 3, 4], [2, 4])),
        ("argmax", lambda tf: tf.argmax(_m(tf), 1)),
        ("argmin", lambda tf: tf.arg_min(_x(tf), 0)),
        ("cumsum", lambda tf: tf.cumsum(_x(tf), exclusive=True, reverse=True)),
        ("dynamic_partition", lambda tf: tf.dynamic_partition([1, 2, 3, 4], [0, 1, 0, 1], 2)),
        ("dynamic_stitch", lambda tf: tf.dynamic_stitch([[0, 2], [1]], [[1.0, 3.0], [2.0]])),
        ("space_to_depth", lambda tf: tf.space_to_depth(tf.reshape(tf.range(16), [1, 4, 4, 1]), 2)),
        ("invert_permutation", lambda tf: tf.invert_permutation([2, 0, 1])),
        (
            "reverse_sequence",
            lambda tf: tf.reverse_sequence(_m(tf), [1, 2, 3], seq_axis=1, batch_axis=0),
        ),
        (
            "ensure_shape",
            lambda tf: Fed(
                tf.ensure_shape(p := tf.placeholder(tf.float32, [None]), [2]), {p: [1, 2]}
            ),
        ),
    ],
)
