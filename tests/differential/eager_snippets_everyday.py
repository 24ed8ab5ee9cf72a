"""Eager snippets: what everyday programs do with indexing, shapes, text, datasets, images, tapes."""

import pathlib
import tempfile

import numpy as np

from snippet import Table

snippet = Table()


def _grid(tf):
    return tf.reshape(tf.range(24), [2, 3, 4])


def _ragged(tf):
    return tf.ragged.constant([[1, 2, 3], [], [4, 5]])


def _sparse(tf):
    return tf.SparseTensor([[0, 1], [1, 0], [2, 2]], [1.0, 2.0, 3.0], [3, 3])


def _printed(tf, *values, **kwargs):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "printed"
        tf.print(*values, output_stream=f"file://{file}", **kwargs)
        return file.read_text()


snippet.one_liners(
    "everyday_index",
    [
        ("ellipsis_last", lambda tf: _grid(tf)[..., -1]),
        ("ellipsis_middle", lambda tf: _grid(tf)[0, ..., 1:3]),
        ("newaxis_first", lambda tf: _grid(tf)[tf.newaxis, 0].shape),
        ("newaxis_between", lambda tf: _grid(tf)[:, None, :, None].shape),
        ("negative_step", lambda tf: _grid(tf)[:, ::-1, ::2]),
        ("beyond_the_end", lambda tf: _grid(tf)[:, 1:100]),
        ("empty", lambda tf: _grid(tf)[:, 3:1]),
        ("numpy_integer", lambda tf: _grid(tf)[np.int64(1), 2]),
        ("tensor_index", lambda tf: _grid(tf)[tf.constant(1)]),
        ("tensor_bounds", lambda tf: _grid(tf)[0, tf.constant(1) : tf.constant(3)]),
        ("bool_mask", lambda tf: _grid(tf)[_grid(tf) % 5 == 0]),
        ("bool_rows", lambda tf: tf.boolean_mask(_grid(tf), [True, False])),
        ("bool_axis", lambda tf: tf.boolean_mask(_grid(tf), [True, False, True], axis=1)),
        ("iterate", lambda tf: [int(r[0, 0]) for r in _grid(tf)]),
        ("unpack", lambda tf: [r.shape for r in _grid(tf)]),
        ("gather_axis", lambda tf: tf.gather(_grid(tf), [2, 0], axis=1)),
        ("gather_batch", lambda tf: tf.gather(_grid(tf), [[0, 2], [1, 1]], batch_dims=1)),
        ("gather_batch_axis", lambda tf: tf.gather(_grid(tf), [[3], [0]], axis=2, batch_dims=1)),
        ("gather_nd", lambda tf: tf.gather_nd(_grid(tf), [[0, 1], [1, 2]])),
        ("gather_nd_batch", lambda tf: tf.gather_nd(_grid(tf), [[[1]], [[2]]], batch_dims=1)),
        ("scatter_update", lambda tf: tf.tensor_scatter_nd_update(tf.zeros([4], tf.int32), [[1], [3]], [9, 8])),
        ("scatter_rows", lambda tf: tf.tensor_scatter_nd_update(tf.zeros([3, 2]), [[2], [0]], [[1.0, 2.0], [3.0, 4.0]])),
        ("scatter_add", lambda tf: tf.tensor_scatter_nd_add(tf.ones([4]), [[1], [1], [2]], [1.0, 2.0, 3.0])),
        ("scatter_max", lambda tf: tf.tensor_scatter_nd_max(tf.ones([3]), [[0], [2]], [5.0, -1.0])),
        ("scatter_nd", lambda tf: tf.scatter_nd([[0], [2]], [[1, 1], [2, 2]], [3, 2])),
        ("where_places", lambda tf: tf.where([[True, False], [False, True]])),
        ("where_broadcast", lambda tf: tf.where([[True], [False]], [1.0, 2.0], 0.0)),
        ("where_nothing", lambda tf: tf.where([False, False])),
        ("slice", lambda tf: tf.slice(_grid(tf), [0, 1, 0], [2, -1, 2])),
        ("strided_slice", lambda tf: tf.strided_slice(_grid(tf), [0, 0, 3], [2, 3, 0], [1, 2, -1])),
    ],
)

snippet.one_liners(
    "everyday_shape",
    [
        ("broadcast_outer", lambda tf: tf.constant([[1], [2]]) * tf.constant([10, 20, 30])),
        ("broadcast_to", lambda tf: tf.broadcast_to([[1], [2]], [2, 3])),
        ("broadcast_static", lambda tf: tf.broadcast_static_shape(tf.TensorShape([2, 1]), tf.TensorShape([3]))),
        ("einsum_trace", lambda tf: tf.einsum("ii->i", tf.constant([[1.0, 2.0], [3.0, 4.0]]))),
        ("einsum_batch", lambda tf: tf.einsum("bij,bjk->bik", tf.ones([2, 3, 4]), tf.ones([2, 4, 1]))),
        ("einsum_ellipsis", lambda tf: tf.einsum("...ij,...jk->...ik", tf.ones([2, 1, 3, 4]), tf.ones([5, 4, 2])).shape),
        ("einsum_outer", lambda tf: tf.einsum("i,j->ij", tf.constant([1, 2]), tf.constant([3, 4]))),
        ("einsum_implicit", lambda tf: tf.einsum("ij,jk", tf.ones([2, 3]), tf.ones([3, 2]))),
        ("tensordot", lambda tf: tf.tensordot(tf.ones([2, 3, 4]), tf.ones([4, 3, 5]), [[1, 2], [1, 0]])),
        ("reshape_minus_one", lambda tf: tf.reshape(_grid(tf), [4, -1])),
        ("squeeze_axis", lambda tf: tf.squeeze(tf.zeros([1, 2, 1]), axis=[2]).shape),
        ("stack_axis", lambda tf: tf.stack([[1, 2], [3, 4]], axis=1)),
        ("unstack_axis", lambda tf: tf.unstack(_grid(tf)[0], axis=1)),
        ("split_sizes", lambda tf: tf.split(tf.range(6), [1, 2, 3])),
        ("split_axis", lambda tf: [p.shape for p in tf.split(_grid(tf), 2, axis=-1)]),
        ("concat_negative", lambda tf: tf.concat([[[1], [2]], [[3], [4]]], -1)),
        ("tile", lambda tf: tf.tile([[1, 2]], [2, 2])),
        ("repeat_each", lambda tf: tf.repeat([3, 4, 5], [0, 2, 1])),
        ("repeat_axis", lambda tf: tf.repeat([[1, 2], [3, 4]], 2, axis=1)),
        ("repeat_one_of_int64", lambda tf: tf.repeat([7], np.array([3]))),
        ("roll", lambda tf: tf.roll(tf.range(5), shift=[2], axis=[0])),
        ("reverse", lambda tf: tf.reverse([[1, 2], [3, 4]], axis=[0, 1])),
        ("pad_reflect", lambda tf: tf.pad([[1, 2, 3]], [[0, 0], [2, 2]], "REFLECT")),
        ("pad_value", lambda tf: tf.pad([1, 2], [[1, 0]], constant_values=9)),
        ("meshgrid", lambda tf: tf.meshgrid([1, 2], [3, 4, 5], indexing="ij")),
        ("one_hot_axis", lambda tf: tf.one_hot([0, 2, -1], 3, on_value=5, off_value=-5, axis=0)),
        ("sequence_mask", lambda tf: tf.sequence_mask([1, 3, 0], 4, dtype=tf.int32)),
        ("transpose_perm", lambda tf: tf.transpose(_grid(tf), [2, 0, 1]).shape),
        ("shape_ops", lambda tf: [tf.shape(_grid(tf)), tf.size(_grid(tf)), tf.rank(_grid(tf))]),
        ("shape_slices", lambda tf: [_grid(tf).shape[1:], _grid(tf).shape[-1], _grid(tf).shape.as_list()]),
        ("shape_compare", lambda tf: [_grid(tf).shape == (2, 3, 4), _grid(tf).shape == [2, 3], tf.TensorShape(None) == None]),  # noqa: E711
        ("shape_text", lambda tf: [str(tf.TensorShape([None, 3])), repr(tf.TensorShape(None)), str(tf.TensorShape([]))]),
        ("shape_join", lambda tf: tf.TensorShape([1]) + [None, 2]),
        ("ensure_shape", lambda tf: tf.ensure_shape([[1, 2]], [None, 2])),
        ("unique_counts", lambda tf: list(tf.unique_with_counts([1, 1, 5, 3, 5]))),
        ("searchsorted", lambda tf: tf.searchsorted([1, 3, 5], [0, 3, 9], side="right")),
        ("sort_argsort", lambda tf: [tf.sort([3, 1, 2], direction="DESCENDING"), tf.argsort([3.0, 1.0, 2.0])]),
        ("cumsum", lambda tf: tf.cumsum([[1, 2, 3]], axis=1, exclusive=True, reverse=True)),
        ("linspace", lambda tf: tf.linspace(0.0, 1.0, 5)),
        ("range_float", lambda tf: tf.range(0.0, 1.0, 0.25)),
        ("eye_batch", lambda tf: tf.eye(2, 3, batch_shape=[2])),
    ],
)

snippet.one_liners(
    "everyday_text",
    [
        ("float_scalar", lambda tf: str(tf.constant(0.1))),
        ("float_many", lambda tf: str(tf.constant([1e-8, 1.0, 1e8]))),
        ("half_scalar", lambda tf: repr(tf.constant(0.1, tf.float16))),
        ("bfloat16_scalar", lambda tf: repr(tf.constant(0.1, tf.bfloat16))),
        ("double_scalar", lambda tf: repr(tf.constant(0.1, tf.float64))),
        ("complex_scalar", lambda tf: repr(tf.constant(1 - 2j))),
        ("complex_many", lambda tf: str(tf.constant([1 + 0j, 2.5 - 1j], tf.complex64))),
        ("bool_scalar", lambda tf: repr(tf.constant(True))),
        ("bools", lambda tf: str(tf.constant([[True], [False]]))),
        ("string_quotes", lambda tf: repr(tf.constant(["it's", 'say "x"', "line\n"]))),
        ("string_unicode", lambda tf: str(tf.constant("naïve ☃"))),
        ("uint8", lambda tf: repr(tf.constant([[1, 20], [255, 3]], tf.uint8))),
        ("large", lambda tf: repr(tf.reshape(tf.range(2000), [40, 50]))),
        ("cube", lambda tf: repr(tf.zeros([2, 2, 2]))),
        ("empty", lambda tf: repr(tf.zeros([2, 0, 3]))),
        ("variable", lambda tf: repr(tf.Variable([[1.0, 2.0]], name="w"))),
        ("variable_scalar", lambda tf: repr(tf.Variable(3, name="n"))),
        ("variable_string", lambda tf: repr(tf.Variable("s", name="s"))),
        ("dtype", lambda tf: [str(tf.float32), repr(tf.float32), tf.float32.name, str(tf.string)]),
        ("spec", lambda tf: repr(tf.TensorSpec([None, 2], tf.int64, name="x"))),
        ("format_number", lambda tf: f"{tf.constant(3.14159):.2f} {tf.constant(7):03d}"),
        ("format_tensor", lambda tf: f"{tf.constant([1, 2])}"),
        ("percent", lambda tf: "%.1f %d" % (tf.constant(2.25), tf.constant(3))),
        ("list_of_tensors", lambda tf: str([tf.constant(1), tf.constant([2.0])])),
        ("dict_of_tensors", lambda tf: str({"a": tf.constant("x")})),
        ("ragged", lambda tf: [str(_ragged(tf)), repr(tf.ragged.constant([["a"], []]))]),
        ("ragged_floats", lambda tf: str(tf.ragged.constant([[1.5], [2.0, 1e10]]))),
        ("sparse", lambda tf: str(_sparse(tf))),
        ("indexed_slices", lambda tf: str(tf.IndexedSlices(tf.constant([1.0]), tf.constant([0])))),
        ("print_mixed", lambda tf: _printed(tf, "a", 1, 2.5, True, None, tf.constant([1.5, 2.0]))),
        ("print_nested", lambda tf: _printed(tf, [tf.constant(1), "x"], {"k": tf.constant([2])}, (3,))),
        ("print_long", lambda tf: _printed(tf, tf.range(10))),
        ("print_summarize", lambda tf: _printed(tf, tf.range(10), summarize=-1)),
        ("print_matrix", lambda tf: _printed(tf, tf.reshape(tf.range(64), [8, 8]))),
        ("print_strings", lambda tf: _printed(tf, tf.constant(["a", "b c"]), tf.constant("d"))),
        ("print_sep_end", lambda tf: _printed(tf, 1, 2, sep="-", end="!\n")),
        ("print_bools", lambda tf: _printed(tf, tf.constant([True, False]))),
        ("print_floats", lambda tf: _printed(tf, tf.constant([0.1, 1e-8, 1e20, np.nan, np.inf]))),
        ("string_format", lambda tf: tf.strings.format("x={} y={}", (tf.constant([1.5, 2]), tf.constant("s")))),
    ],
)

snippet.one_liners(
    "everyday_dtype",
    [
        ("python_number", lambda tf: [(tf.constant([1, 2]) + 1).dtype, (tf.constant([1.0]) * 2).dtype]),
        ("true_divide_ints", lambda tf: tf.constant([7, 8]) / 2),
        ("floor_divide", lambda tf: [tf.constant([-7, 7]) // 2, tf.constant([-7.5]) // 2.0]),
        ("modulo", lambda tf: [tf.constant([-7, 7]) % 3, tf.constant([-7.5]) % 2.0]),
        ("power", lambda tf: [tf.constant([2, 3]) ** 2, tf.constant([4.0]) ** 0.5, 2.0 ** tf.constant([1.0, 2.0])]),
        ("numpy_right", lambda tf: tf.constant([1.0, 2.0]) + np.array([1.0, 2.0], np.float32)),
        ("numpy_left", lambda tf: np.array([1.0, 2.0], np.float32) + tf.constant([1.0, 2.0])),
        ("cast_truncates", lambda tf: tf.cast([1.9, -1.9], tf.int32)),
        ("cast_bool", lambda tf: tf.cast([0.0, 0.5, -1.0], tf.bool)),
        ("cast_wraps", lambda tf: tf.cast([300, -1], tf.uint8)),
        ("saturate", lambda tf: tf.saturate_cast([300, -1], tf.uint8)),
        ("int_overflow", lambda tf: tf.constant([2**31 - 1]) + 1),
        ("compare_mixed", lambda tf: [tf.constant([1, 2]) == 1, tf.constant([1, 2]) != [1, 3], tf.constant(1) == None]),  # noqa: E711
        ("bitwise", lambda tf: [tf.constant([5, 6]) & 3, tf.constant([True]) | False, ~tf.constant([True, False])]),
        ("bitcast", lambda tf: tf.bitcast(tf.constant([1.0, -2.0]), tf.int32)),
        ("reduce_mean_ints", lambda tf: tf.reduce_mean([1, 2, 4])),
        ("reduce_std", lambda tf: tf.math.reduce_std([1.0, 2.0, 4.0])),
        ("argmax_dtype", lambda tf: tf.argmax([[1, 5, 2]], axis=1, output_type=tf.int32)),
        ("float_of_scalar", lambda tf: [float(tf.constant(2.5)), int(tf.constant(7)), bool(tf.constant(0.0)), complex(tf.constant(1 + 2j))]),
        ("as_dtype", lambda tf: [tf.as_dtype("float32"), tf.as_dtype(np.int8), tf.as_dtype(bool)]),
        ("limits", lambda tf: [tf.int8.min, tf.uint16.max, float(tf.float32.max), tf.bool.is_bool]),
    ],
)

snippet.one_liners(
    "everyday_data",
    [
        ("batch_remainder", lambda tf: list(tf.data.Dataset.range(7).batch(3).as_numpy_iterator())),
        ("batch_spec", lambda tf: repr(tf.data.Dataset.range(7).batch(3, drop_remainder=True).element_spec)),
        ("map_spec", lambda tf: repr(tf.data.Dataset.range(3).map(lambda x: (x, tf.cast(x, tf.float32) / 2)).element_spec)),
        ("dict", lambda tf: list(tf.data.Dataset.from_tensor_slices({"a": [1, 2], "b": ["x", "y"]}))),
        ("tuple_map", lambda tf: list(tf.data.Dataset.from_tensor_slices(([1, 2], [3, 4])).map(lambda a, b: a * b))),
        ("zip", lambda tf: list(tf.data.Dataset.zip((tf.data.Dataset.range(2), tf.data.Dataset.range(5, 9))).as_numpy_iterator())),
        ("filter", lambda tf: list(tf.data.Dataset.range(10).filter(lambda x: x % 3 == 0))),
        ("flat_map", lambda tf: list(tf.data.Dataset.range(3).flat_map(lambda n: tf.data.Dataset.range(n)))),
        ("window", lambda tf: [[int(v) for v in w] for w in tf.data.Dataset.range(7).window(3, 2, 1, True)]),
        ("window_batch", lambda tf: list(tf.data.Dataset.range(6).window(3, shift=1, drop_remainder=True).flat_map(lambda w: w.batch(3)))),
        ("padded", lambda tf: list(tf.data.Dataset.range(1, 4).map(lambda n: tf.fill([n], n)).padded_batch(3, padding_values=tf.constant(-1, tf.int64)))),
        ("reduce", lambda tf: tf.data.Dataset.range(5).reduce(np.int64(0), lambda a, b: a + b)),
        ("scan", lambda tf: list(tf.data.Dataset.range(4).scan(tf.constant(0, tf.int64), lambda s, x: (s + x, s + x)))),
        ("enumerate", lambda tf: list(tf.data.Dataset.from_tensor_slices(["a", "b"]).enumerate(5).as_numpy_iterator())),
        ("take_skip", lambda tf: list(tf.data.Dataset.range(9).skip(2).take(3))),
        ("repeat_concat", lambda tf: list(tf.data.Dataset.range(2).repeat(2).concatenate(tf.data.Dataset.range(1)))),
        ("cardinality", lambda tf: [tf.data.Dataset.range(5).batch(2).cardinality(), len(tf.data.Dataset.range(5).batch(2))]),
        ("interleave", lambda tf: list(tf.data.Dataset.range(1, 4).interleave(lambda x: tf.data.Dataset.from_tensors(x).repeat(3), cycle_length=2, block_length=2))),
        ("group_by_window", lambda tf: list(tf.data.Dataset.range(6).group_by_window(lambda x: x % 2, lambda k, w: w.batch(3), 3))),
        ("generator", lambda tf: list(tf.data.Dataset.from_generator(lambda: iter([(1, "a"), (2, "b")]), output_signature=(tf.TensorSpec([], tf.int32), tf.TensorSpec([], tf.string))))),
        ("ragged_batch", lambda tf: [r.to_list() for r in tf.data.Dataset.range(4).map(tf.range).ragged_batch(2)]),
        ("ragged_slices", lambda tf: [r.numpy().tolist() for r in tf.data.Dataset.from_tensor_slices(_ragged(tf))]),
        ("unbatch", lambda tf: list(tf.data.Dataset.from_tensors([[1, 2], [3, 4]]).unbatch())),
        ("shard", lambda tf: list(tf.data.Dataset.range(10).shard(3, 1))),
        ("unique", lambda tf: list(tf.data.Dataset.from_tensor_slices([1, 37, 2, 37, 1]).unique())),
        ("optional", lambda tf: (lambda it: [it.get_next_as_optional().has_value() for _ in range(2)])(iter(tf.data.Dataset.range(1)))),
        ("spec_of_dataset", lambda tf: repr(tf.data.DatasetSpec.from_value(tf.data.Dataset.range(1)))),
        ("map_traced", lambda tf: _calls_of_map(tf)),
    ],
)


def _calls_of_map(tf):
    seen = []
    list(tf.data.Dataset.range(3).map(lambda x: (seen.append(tf.executing_eagerly()), x)[1]))
    return seen


_PICTURE = np.arange(48, dtype=np.float32).reshape(4, 4, 3) / 48

snippet.one_liners(
    "everyday_image",
    [
        ("flip", lambda tf: tf.image.flip_left_right(_PICTURE)),
        ("rot90", lambda tf: tf.image.rot90(_PICTURE, k=3)),
        ("resize", lambda tf: tf.image.resize(_PICTURE, [2, 6])),
        ("resize_nearest", lambda tf: tf.image.resize(_PICTURE, [2, 2], method="nearest")),
        ("resize_antialias", lambda tf: tf.image.resize(_PICTURE, [2, 3], antialias=True)),
        ("resize_bicubic_antialias", lambda tf: tf.image.resize(_PICTURE, [3, 2], method="bicubic", antialias=True)),
        ("resize_lanczos", lambda tf: tf.image.resize(_PICTURE, [6, 3], method="lanczos3")),
        ("resize_gaussian", lambda tf: tf.image.resize(_PICTURE, [2, 5], method="gaussian", antialias=True)),
        ("resize_mitchell", lambda tf: tf.image.resize(_PICTURE, [3, 3], method="mitchellcubic")),
        ("crop", lambda tf: tf.image.central_crop(_PICTURE, 0.5)),
        ("pad", lambda tf: tf.image.resize_with_crop_or_pad(_PICTURE, 2, 6)),
        ("gray", lambda tf: tf.image.rgb_to_grayscale(_PICTURE)),
        ("standardize", lambda tf: tf.image.per_image_standardization(_PICTURE)),
        ("convert", lambda tf: tf.image.convert_image_dtype(_PICTURE, tf.uint8)),
        ("brightness", lambda tf: tf.image.adjust_brightness(_PICTURE, 0.1)),
        ("hsv", lambda tf: tf.image.rgb_to_hsv(_PICTURE)),
        ("boxes", lambda tf: tf.image.draw_bounding_boxes(tf.zeros([1, 5, 6, 3]), [[[0.1, 0.2, 0.8, 0.9], [0.0, 0.0, 0.5, 2.0]]], [[1.0, 0.5, 0.0]])),
        ("boxes_colors", lambda tf: tf.image.draw_bounding_boxes(tf.zeros([1, 4, 4, 4]), [[[0.0, 0.0, 1.0, 1.0]] * 2], None)),
        ("glimpse", lambda tf: tf.image.extract_glimpse(_PICTURE[None], [2, 2], [[0.0, 0.0]], noise="zero")),
    ],
)


def _tape(tf, f, *points):
    points = [tf.constant(p) for p in points]
    with tf.GradientTape() as tape:
        tape.watch(points)
        y = f(*points)
    return tape.gradient(y, points)


snippet.one_liners(
    "everyday_tape",
    [
        ("where", lambda tf: _tape(tf, lambda x: tf.where(x > 0, x * x, -x), [-1.0, 2.0])),
        ("gather", lambda tf: [tf.convert_to_tensor(g) for g in _tape(tf, lambda x: tf.gather(x, [0, 0, 2]), [1.0, 2.0, 3.0])]),
        ("max", lambda tf: _tape(tf, tf.reduce_max, [1.0, 3.0, 3.0])),
        ("norm", lambda tf: _tape(tf, tf.norm, [3.0, 4.0])),
        ("matmul", lambda tf: _tape(tf, tf.matmul, [[1.0, 2.0]], [[3.0], [4.0]])),
        ("softmax", lambda tf: _tape(tf, lambda x: tf.nn.softmax(x)[0], [1.0, 2.0])),
        ("broadcast", lambda tf: _tape(tf, lambda a, b: a * b, [[1.0], [2.0]], [3.0, 4.0])),
        ("slice_assign", lambda tf: _sliced_variable(tf)),
        ("second", lambda tf: _second(tf)),
        ("ragged", lambda tf: _ragged_gradient(tf)),
        ("ctc", lambda tf: _ctc(tf)),
        ("unconnected", lambda tf: _tape(tf, lambda a, b: a * 2.0, 1.0, 2.0)),
        ("integer", lambda tf: _tape(tf, lambda a: tf.cast(a, tf.float32) * 2.0, 3)),
        ("constant_of_tensor", lambda tf: _tape(tf, lambda a: tf.constant(a * 3.0), 2.0)),
    ],
)


def _sliced_variable(tf):
    v = tf.Variable([[1, 2, 3], [4, 5, 6]])
    v[0, 1:].assign([20, 30])
    v[:, 0].assign([7, 8])
    return [v.numpy(), v[1], v[..., -1]]


def _second(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = x**3
        first = inner.gradient(y, x)
    return [first, outer.gradient(first, x)]


def _ragged_gradient(tf):
    x = tf.ragged.constant([[1.0, 2.0], [3.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_mean(x * x, axis=1)
    return [y, tape.gradient(y, x).to_list()]


def _ctc(tf):
    logits = tf.constant(np.sin(np.arange(60, dtype=np.float32)).reshape(5, 3, 4))
    with tf.GradientTape() as tape:
        tape.watch(logits)
        loss = tf.nn.ctc_loss([[1, 2], [3, 3], [2, 0]], logits, [2, 2, 1], [5, 5, 4], blank_index=0)
    with_blanks = tf.nn.ctc_loss([[1, 0, 2], [1, 2, 0], [0, 0, 0]], logits, [3, 3, 1], [5, 5, 4], blank_index=0)
    return [loss, tape.gradient(loss, logits), with_blanks]


def _sparse_in_functions(tf):
    """What is known of a sparse tensor's shape in functions and datasets."""
    shapes = []

    @tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
    def made(n):
        shapes.append(str(tf.SparseTensor(tf.zeros([0, 2], tf.int64), tf.zeros([0]), (n, 3)).shape))
        return n

    @tf.function
    def over(data):
        for x in data:
            shapes.append(str(x.shape))
        shapes.append(str(next(iter(data)).shape))
        return iter(data).get_next_as_optional().get_value().values

    made(2)
    data = tf.data.Dataset.range(2).map(lambda i: tf.SparseTensor(tf.zeros([0, 2], tf.int64), tf.zeros([0]), (i, 3)))
    over(data)
    return [shapes, str(data.element_spec)]


snippet.one_liners(
    "everyday_composite",
    [
        ("sparse_in_functions", _sparse_in_functions),
        ("ragged_arithmetic", lambda tf: [(_ragged(tf) * 2 + 1).to_list(), (10 - _ragged(tf)).to_list(), (_ragged(tf) > 2).to_list()]),
        ("ragged_reduce", lambda tf: [tf.reduce_sum(_ragged(tf), axis=1), tf.reduce_max(_ragged(tf), axis=0), tf.reduce_mean(_ragged(tf))]),
        ("ragged_join", lambda tf: [tf.concat([_ragged(tf)] * 2, 1).to_list(), tf.stack([_ragged(tf)] * 2).to_list()]),
        ("ragged_index", lambda tf: [_ragged(tf)[0], _ragged(tf)[:, :1].to_list(), _ragged(tf)[1:].to_list(), _ragged(tf)[2, 1]]),
        ("ragged_dense", lambda tf: [_ragged(tf).to_tensor(), _ragged(tf).to_tensor(-1, shape=[None, 2])]),
        ("ragged_parts", lambda tf: [_ragged(tf).values, _ragged(tf).row_splits, _ragged(tf).row_lengths(), _ragged(tf).shape]),
        ("ragged_mask", lambda tf: tf.ragged.boolean_mask(_ragged(tf), _ragged(tf) > 1).to_list()),
        ("ragged_gather", lambda tf: tf.gather(_ragged(tf), [2, 0]).to_list()),
        ("ragged_map", lambda tf: tf.map_fn(tf.reduce_sum, _ragged(tf), fn_output_signature=tf.int32)),
        ("ragged_spec", lambda tf: repr(tf.type_spec_from_value(_ragged(tf)))),
        ("ragged_deep", lambda tf: [tf.ragged.constant([[[1], [2, 3]], []]).shape, tf.ragged.constant([[[1], [2, 3]], []]).to_tensor()]),
        ("split_words", lambda tf: tf.strings.split(["a b", "", "c d e"]).to_list()),
        ("split_comma", lambda tf: tf.strings.split("a,b,,c", sep=",", maxsplit=2)),
        ("unicode", lambda tf: [tf.strings.unicode_decode("né", "UTF-8"), tf.strings.unicode_split(["né", "x"], "UTF-8").to_list()]),
        ("ngrams", lambda tf: [tf.strings.ngrams(["a", "b", "c"], 2), tf.strings.ngrams(["a", "b"], [1, 3], pad_values=("<", ">"))]),
        ("reduce_join", lambda tf: [tf.strings.reduce_join([["a", "b"], ["c", "d"]]), tf.strings.reduce_join([["a", "b"]], 0, separator="-")]),
        ("sparse_dense", lambda tf: [tf.sparse.to_dense(_sparse(tf)), tf.sparse.from_dense([[0, 5], [6, 0]]).indices]),
        ("sparse_dense_kinds", lambda tf: [tf.sparse.to_dense(tf.SparseTensor([[1]], [v], [3])) for v in ("a", True, 2, 3.0, 1 + 2j)]),
        ("sparse_dense_default", lambda tf: tf.sparse.to_dense(tf.SparseTensor([[1]], ["a"], [3]), "x")),
        ("sparse_dense_unchecked", lambda tf: tf.sparse.to_dense(tf.SparseTensor([[1], [0], [0]], [1, 2, 3], [3]), validate_indices=False)),
        ("sparse_matmul", lambda tf: tf.sparse.sparse_dense_matmul(_sparse(tf), tf.ones([3, 2]))),
        ("sparse_add", lambda tf: [tf.sparse.to_dense(tf.sparse.add(_sparse(tf), _sparse(tf))), tf.sparse.reduce_sum(_sparse(tf), 1)]),
        ("sparse_transpose", lambda tf: tf.sparse.to_dense(tf.sparse.transpose(_sparse(tf)))),
        ("bincount_rows", lambda tf: tf.math.bincount([[1, 1, 0], [2, 2, 2]], axis=-1)),
        ("bincount_binary", lambda tf: tf.math.bincount([[1, 1, 0], [2, 2, 2]], axis=-1, binary_output=True, minlength=5)),
        ("edit_distance", lambda tf: tf.edit_distance(tf.sparse.from_dense([["a", "b"]]), tf.sparse.from_dense([["b", "b"]]))),
        ("table", lambda tf: tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), -1).lookup(tf.constant([["b"], ["z"]]))),
        ("vocabulary", lambda tf: tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer(["a"], np.int64([0])), 3)[tf.constant(["a", "b", "c"])]),
        ("serialize", lambda tf: [tf.io.serialize_tensor([1, 1, 1]), tf.io.serialize_tensor("ab"), tf.io.parse_tensor(tf.io.serialize_tensor([[2.0]]), tf.float32)]),
        ("isotonic", lambda tf: list(tf.nn.isotonic_regression([[3.0, 1.0, 2.0, 5.0]]))),
        ("frames", lambda tf: tf.signal.frame(tf.range(7), 3, 2, pad_end=True)),
        ("overlap", lambda tf: tf.signal.overlap_and_add(tf.ones([3, 4]), 2)),
        ("windows", lambda tf: [tf.signal.hann_window(5), tf.signal.hamming_window(4), tf.signal.vorbis_window(4)]),
        ("windows_whole", lambda tf: [tf.signal.hann_window(5, periodic=False), tf.signal.hann_window(4, periodic=False), tf.signal.kaiser_window(4)]),
        ("dct", lambda tf: [tf.signal.dct([1.0, 2.0, 4.0, 3.0], t) for t in (2, 3, 4)]),
        ("dct_ortho", lambda tf: [tf.signal.dct([1.0, 2.0, 4.0, 3.0], t, norm="ortho") for t in (2, 3, 4)]),
        ("dct_odd", lambda tf: [tf.signal.dct([1.0, 2.0, 4.0, 3.0, -1.0], t, norm=n) for t in (2, 3, 4) for n in (None, "ortho")]),
        ("dct_of_type_1", lambda tf: [tf.signal.dct(tf.constant([1.0, 2.0, 4.0, 3.0, -1.0])[:n], 1) for n in (2, 4, 5)]),
        ("dct_of_one_value", lambda tf: [tf.signal.dct([3.0], t) for t in (2, 3, 4)]),
        (
            "dct_of_unknown_length",
            lambda tf: [
                tf.function(lambda x, t=t: tf.signal.dct(x, t, norm="ortho"), input_signature=[tf.TensorSpec([None])])(tf.constant(v))
                for t in (2, 3, 4)
                for v in ([1.0, 2.0, 4.0], [1.0, 2.0, 4.0, 3.0])
            ],
        ),
        ("mdct", lambda tf: tf.signal.mdct(tf.range(16, dtype=tf.float32), 8)),
        ("operator", lambda tf: [tf.linalg.LinearOperatorDiag([2.0, 3.0]).matmul([[1.0], [2.0]]), tf.linalg.LinearOperatorLowerTriangular([[2.0, 9.0], [1.0, 4.0]]).solve([[2.0], [5.0]])]),
        ("embedding_bags", lambda tf: tf.nn.embedding_lookup_sparse(tf.eye(4), tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [1, 3, 2], [2, 2]), None, "mean")),
        ("nest_composites", lambda tf: tf.nest.flatten({"r": _ragged(tf)}, expand_composites=True)),
    ],
)

snippet.one_liners(
    "refused_everyday",
    [
        ("dtype_mix", lambda tf: tf.constant([1]) + tf.constant([1.0])),
        ("float_to_int", lambda tf: tf.constant([1]) + 1.5),
        ("shape_mix", lambda tf: tf.ones([2]) + tf.ones([3])),
        ("matmul_shapes", lambda tf: tf.matmul(tf.ones([2, 3]), tf.ones([2, 3]))),
        ("reshape_count", lambda tf: tf.reshape(tf.range(5), [2, 3])),
        ("index_out", lambda tf: tf.constant([1, 2])[5]),
        ("index_float", lambda tf: tf.constant([1, 2])[1.0]),
        ("index_string", lambda tf: tf.constant([1, 2])["a"]),
        ("too_many_indices", lambda tf: tf.constant([1, 2])[0, 0]),
        ("gather_out", lambda tf: tf.gather([1, 2], [3])),
        ("scatter_out", lambda tf: tf.tensor_scatter_nd_update([1, 2], [[5]], [1])),
        ("concat_shapes", lambda tf: tf.concat([tf.ones([2, 2]), tf.ones([3, 3])], 0)),
        ("stack_shapes", lambda tf: tf.stack([tf.ones([2]), tf.ones([3])])),
        ("bool_of_many", lambda tf: bool(tf.constant([1, 2]))),
        ("iterate_scalar", lambda tf: list(tf.constant(1))),
        ("len_scalar", lambda tf: len(tf.constant(1))),
        ("item_assignment", lambda tf: _assign(tf)),
        ("hash", lambda tf: hash(tf.constant(1))),
        ("none", lambda tf: tf.constant(None)),
        ("jagged", lambda tf: tf.constant([[1], [2, 3]])),
        ("mixed_list", lambda tf: tf.constant([1, "a"])),
        ("string_number", lambda tf: tf.constant("a", tf.int32)),
        ("too_large", lambda tf: tf.constant(2**70)),
        ("variable_shape", lambda tf: tf.Variable([1, 2]).assign([1, 2, 3])),
        ("variable_dtype", lambda tf: tf.Variable([1, 2]).assign([1.5, 2.5])),
        ("squeeze", lambda tf: tf.squeeze(tf.ones([2]), axis=0)),
        ("split_uneven", lambda tf: tf.split(tf.range(5), 2)),
        ("einsum_words", lambda tf: tf.einsum("ij,jk->il", tf.ones([2, 2]), tf.ones([2, 2]))),
        ("einsum_twice", lambda tf: tf.einsum("ij->ii", tf.ones([2, 2]))),
        ("einsum_inputs", lambda tf: tf.einsum("ij->i", tf.ones([2, 2]), tf.ones([2]))),
        ("print_stream", lambda tf: tf.print(1, output_stream="nowhere")),
        ("to_number", lambda tf: tf.strings.to_number("abc")),
        ("bitcast_sizes", lambda tf: tf.bitcast([1.0, 2.0, 3.0], tf.complex128)),
        ("dataset_shapes", lambda tf: tf.data.Dataset.from_tensor_slices(([1, 2], [1]))),
        ("dataset_batch", lambda tf: list(tf.data.Dataset.range(3).map(lambda n: tf.range(n)).batch(3))),
        ("ragged_as_tensor", lambda tf: tf.convert_to_tensor(_ragged(tf))),
        ("ragged_rows", lambda tf: _ragged(tf)[7]),
        ("ragged_splits", lambda tf: tf.RaggedTensor.from_row_splits([1, 2], [0, 1])),
        ("sparse_dense_outside", lambda tf: tf.sparse.to_dense(tf.SparseTensor([[1], [5]], [1, 2], [3]), validate_indices=False)),
        ("sparse_order", lambda tf: tf.sparse.to_dense(tf.SparseTensor([[1, 0], [0, 0]], [1, 2], [2, 2]))),
        ("sparse_ranks", lambda tf: tf.SparseTensor([[0]], [1], [2, 2])),
        ("assert_equal", lambda tf: tf.debugging.assert_equal([1, 2], [1, 3])),
        ("assert_shapes", lambda tf: tf.debugging.assert_shapes([(tf.ones([2, 3]), ("N", 2))])),
        ("check_numerics", lambda tf: tf.debugging.check_numerics([np.nan], "bad")),
        ("unknown_name", lambda tf: tf.no_such_function),
        ("numpy_of_symbol", lambda tf: tf.function(lambda x: x.numpy())(tf.constant(1))),
        ("tape_twice", lambda tf: _twice(tf)),
    ],
)


def _assign(tf):
    x = tf.constant([1, 2])
    x[0] = 3


def _twice(tf):
    x = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = x * x
    tape.gradient(y, x)
    return tape.gradient(y, x)
