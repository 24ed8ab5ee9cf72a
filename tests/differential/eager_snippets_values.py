"""Eager snippets: making and printing tensors, operators, indexing."""

import numpy as np

from snippet import Table

snippet = Table()

snippet.one_liners(
    "constant",
    [
        ("int", lambda tf: tf.constant(1)),
        ("float", lambda tf: tf.constant(2.5)),
        ("negative", lambda tf: tf.constant([-1.5, 0.0, 3.25])),
        ("matrix", lambda tf: tf.constant([[1, 2], [3, 4]])),
        ("cube", lambda tf: tf.constant(np.arange(12).reshape(2, 3, 2))),
        ("bool", lambda tf: tf.constant([True, False])),
        ("string", lambda tf: tf.constant("hello")),
        ("strings", lambda tf: tf.constant([["a", "bc"], ["", "déjà"]])),
        ("bytes", lambda tf: tf.constant(b"\x00\xff")),
        ("complex", lambda tf: tf.constant(1 + 2j)),
        ("complex64", lambda tf: tf.constant([1 + 2j, 3.5], tf.complex64)),
        ("half", lambda tf: tf.constant([0.1, 65504.0], tf.float16)),
        ("bfloat16", lambda tf: tf.constant([1.5, -2.0], tf.bfloat16)),
        ("double", lambda tf: tf.constant([0.1, 1e300], tf.float64)),
        ("uint8", lambda tf: tf.constant([0, 255], tf.uint8)),
        ("int64", lambda tf: tf.constant(2**40, tf.int64)),
        ("empty", lambda tf: tf.constant([])),
        ("empty_matrix", lambda tf: tf.zeros([0, 3])),
        ("special", lambda tf: tf.constant([np.nan, np.inf, -np.inf, -0.0])),
        ("tiny_and_huge", lambda tf: tf.constant([1e-20, 1e20])),
        ("long", lambda tf: tf.range(2000)),
        ("wide", lambda tf: tf.ones([2, 600])),
        ("fraction", lambda tf: tf.constant([1 / 3, 2 / 3])),
        ("shape", lambda tf: tf.constant(7, shape=[2, 2])),
        ("reshaped", lambda tf: tf.constant([1, 2, 3, 4], shape=(2, 2))),
        ("numpy_float64", lambda tf: tf.constant(np.array([1.0, 2.0]))),
        ("numpy_int8", lambda tf: tf.constant(np.int8([1, 2]))),
        ("numpy_scalar", lambda tf: tf.constant(np.float32(1.5))),
        ("mixed", lambda tf: tf.constant([1, 2.5, True])),
        ("of_tensors", lambda tf: tf.convert_to_tensor([tf.constant(1), 2, np.int32(3)])),
        ("range_list", lambda tf: tf.constant(list(range(10)), tf.float32)),
    ],
)

snippet.one_liners(
    "print",
    [
        ("scalar", lambda tf: str(tf.constant(1))),
        ("vector", lambda tf: str(tf.constant([1.0, 2.5]))),
        ("matrix", lambda tf: str(tf.constant([[1.0, 2.0], [3.0, 4.0]]))),
        ("string", lambda tf: str(tf.constant(["a"]))),
        ("repr_matrix", lambda tf: repr(tf.constant([[1, 2], [3, 4]]))),
        ("repr_bool", lambda tf: repr(tf.constant(True))),
        ("repr_cube", lambda tf: repr(tf.zeros([2, 1, 2]))),
        ("format", lambda tf: f"{tf.constant(2)} and {tf.constant([1.5])}"),
        ("format_spec", lambda tf: "%d %.2f" % (tf.constant(3), tf.constant(1.239))),
        ("list_of_tensors", lambda tf: repr([tf.constant(1), tf.constant([2.0])])),
        ("dtype", lambda tf: [str(tf.float32), repr(tf.int64), tf.string.name]),
        (
            "shape",
            lambda tf: [
                str(tf.ones([2, 3]).shape),
                repr(tf.TensorShape([None, 2])),
                str(tf.TensorShape(None)),
            ],
        ),
        ("spec", lambda tf: repr(tf.TensorSpec([None, 3], tf.float32, name="x"))),
        ("variable", lambda tf: repr(tf.Variable([1.0, 2.0], name="v"))),
        ("variable_str", lambda tf: str(tf.Variable(3, name="n"))),
    ],
)


def _a(tf):
    return tf.constant([7.0, -3.0, 2.5])


def _i(tf):
    return tf.constant([7, -3, 2])


def _m(tf):
    return tf.constant([[1, 2, 3], [4, 5, 6], [7, 8, 9]])


snippet.one_liners(
    "operator",
    [
        ("add", lambda tf: _a(tf) + _a(tf)),
        ("add_number", lambda tf: _a(tf) + 1),
        ("number_add", lambda tf: 1.5 + _a(tf)),
        ("add_list", lambda tf: _a(tf) + [1.0, 2.0, 3.0]),
        ("add_numpy", lambda tf: _a(tf) + np.float32([1, 2, 3])),
        ("numpy_add", lambda tf: np.float32([1, 2, 3]) + _a(tf)),
        ("sub", lambda tf: _a(tf) - 1.0),
        ("rsub", lambda tf: 1.0 - _a(tf)),
        ("mul", lambda tf: _i(tf) * 3),
        ("div", lambda tf: _a(tf) / 2.0),
        ("rdiv", lambda tf: 1.0 / tf.constant([2.0, 4.0])),
        ("int_div", lambda tf: _i(tf) / 2),
        ("floordiv", lambda tf: _i(tf) // 2),
        ("floordiv_float", lambda tf: _a(tf) // 2.0),
        ("mod", lambda tf: _i(tf) % 4),
        ("mod_float", lambda tf: _a(tf) % 2.0),
        ("pow", lambda tf: _a(tf) ** 2),
        ("rpow", lambda tf: 2.0 ** tf.constant([1.0, 3.0])),
        ("neg", lambda tf: -_a(tf)),
        ("abs", lambda tf: abs(_a(tf))),
        ("matmul", lambda tf: _m(tf) @ _m(tf)),
        ("and", lambda tf: tf.constant([True, False]) & tf.constant([True, True])),
        ("or", lambda tf: tf.constant([True, False]) | False),
        ("xor", lambda tf: tf.constant([True, False]) ^ True),
        ("invert", lambda tf: ~tf.constant([True, False])),
        ("bits", lambda tf: [_i(tf) & 3, _i(tf) | 8, _i(tf) ^ 1, ~_i(tf)]),
        ("less", lambda tf: _a(tf) < 1.0),
        ("less_equal", lambda tf: _a(tf) <= -3.0),
        ("greater", lambda tf: 0.0 > _a(tf)),
        ("greater_equal", lambda tf: _i(tf) >= 2),
        ("equal", lambda tf: _i(tf) == [7, 0, 2]),
        ("not_equal", lambda tf: _i(tf) != 7),
        ("equal_none", lambda tf: _i(tf) == None),  # noqa: E711
        ("equal_incompatible", lambda tf: _i(tf) == tf.constant([1, 2])),
        (
            "truth",
            lambda tf: [bool(tf.constant(1)), bool(tf.constant([0.0])), not tf.constant(False)],
        ),
        (
            "number_of",
            lambda tf: [
                int(tf.constant(3)),
                float(tf.constant(2.5)),
                complex(tf.constant(1.0)),
                int(tf.constant(2.9)),
            ],
        ),
        ("index_of", lambda tf: list(range(5))[tf.constant(2)]),
        ("length", lambda tf: len(_m(tf))),
        ("iteration", lambda tf: [x for x in _i(tf)]),
        ("iteration_rows", lambda tf: [r for r in _m(tf)]),
        ("unpacking", lambda tf: (lambda x, y, z: [z, y, x])(*_a(tf))),
        ("sum_builtin", lambda tf: sum(_i(tf))),
        ("max_builtin", lambda tf: max(_a(tf))),
        ("in_place", lambda tf: _in_place(tf)),
        ("broadcast", lambda tf: tf.ones([3, 1], tf.int32) * _m(tf)[0]),
        ("broadcast_empty", lambda tf: tf.zeros([0, 1]) + tf.ones([1, 3])),
        ("uint8_wraps", lambda tf: tf.constant([250], tf.uint8) + tf.constant([10], tf.uint8)),
        ("int32_wraps", lambda tf: tf.constant(2**31 - 1) + 1),
        ("strings", lambda tf: tf.constant("a") + "b"),
        ("division_by_zero", lambda tf: tf.constant([1.0, -1.0, 0.0]) / 0.0),
        ("half", lambda tf: tf.constant([1.5], tf.float16) * 2),
        ("bfloat16", lambda tf: tf.constant([1.5], tf.bfloat16) + 1),
        ("complex", lambda tf: tf.constant([1 + 1j]) * (2 - 1j)),
    ],
)


def _in_place(tf):
    x = y = tf.constant([1, 2])
    x += 1
    return [x, y]


snippet.one_liners(
    "index",
    [
        ("row", lambda tf: _m(tf)[0]),
        ("negative", lambda tf: _m(tf)[-1, -2]),
        ("slice", lambda tf: _m(tf)[1:, :2]),
        ("step", lambda tf: _m(tf)[::2]),
        ("reverse", lambda tf: _m(tf)[::-1, ::-1]),
        ("ellipsis", lambda tf: _m(tf)[..., 0]),
        ("newaxis", lambda tf: _m(tf)[tf.newaxis, :, 1, tf.newaxis]),
        ("tensor", lambda tf: _m(tf)[tf.constant(1)]),
        ("tensor_slice", lambda tf: _m(tf)[tf.constant(1) :]),
        ("numpy_int", lambda tf: _m(tf)[np.int64(1)]),
        ("beyond", lambda tf: _m(tf)[5:]),
        ("mask", lambda tf: _a(tf)[_a(tf) > 0.0]),
        ("bool_mask_function", lambda tf: tf.boolean_mask(_m(tf), [True, False, True])),
        ("gather", lambda tf: tf.gather(_m(tf), [2, 0], axis=1)),
        ("gather_batch", lambda tf: tf.gather(_m(tf), [[0, 1], [2, 2], [1, 0]], batch_dims=1)),
        ("gather_nd", lambda tf: tf.gather_nd(_m(tf), [[0, 0], [1, 2]])),
        ("slice_function", lambda tf: tf.slice(_m(tf), [0, 1], [2, 2])),
        ("strided", lambda tf: tf.strided_slice(_m(tf), [0, 0], [3, 3], [2, 2])),
        ("scatter_nd", lambda tf: tf.scatter_nd([[0], [3]], [9, 8], [5])),
        ("tensor_scatter_update", lambda tf: tf.tensor_scatter_nd_update(_i(tf), [[1]], [100])),
        ("tensor_scatter_add", lambda tf: tf.tensor_scatter_nd_add(_i(tf), [[0], [0]], [1, 2])),
        ("tensor_scatter_max", lambda tf: tf.tensor_scatter_nd_max(_i(tf), [[1], [2]], [0, 0])),
        ("string_row", lambda tf: tf.constant(["x", "y"])[1]),
    ],
)
