"""Eager snippets: whole arrays, shapes, dtypes, devices, nests."""

import numpy as np

from snippet import Table

snippet = Table()


def _a(tf):
    return tf.constant([7.0, -3.0, 2.5])


def _i(tf):
    return tf.constant([7, -3, 2])


def _m(tf):
    return tf.constant([[1, 2, 3], [4, 5, 6], [7, 8, 9]])


snippet.one_liners(
    "array",
    [
        ("zeros", lambda tf: tf.zeros([2, 2])),
        ("zeros_string", lambda tf: tf.zeros([2], tf.string)),
        ("ones", lambda tf: tf.ones((2,), tf.int32)),
        ("zeros_like", lambda tf: tf.zeros_like([[1.5, 2.5]])),
        ("ones_like", lambda tf: tf.ones_like(_i(tf), dtype=tf.float32)),
        ("fill", lambda tf: tf.fill([2, 1], "s")),
        ("eye", lambda tf: tf.eye(2, num_columns=3)),
        ("eye_batch", lambda tf: tf.eye(2, batch_shape=[2], dtype=tf.int32)),
        ("range", lambda tf: tf.range(3, 18, 5)),
        ("range_float", lambda tf: tf.range(1.0, 2.0, 0.5)),
        ("range_down", lambda tf: tf.range(3, 0, -1)),
        ("linspace", lambda tf: tf.linspace(0.0, 1.0, 5)),
        ("linspace_axis", lambda tf: tf.linspace([0.0, 10.0], [1.0, 20.0], 3, axis=-1)),
        ("one_hot", lambda tf: tf.one_hot([0, 2, 5], 3)),
        ("one_hot_bool", lambda tf: tf.one_hot([1], 3, on_value=True, off_value=False)),
        ("identity", lambda tf: tf.identity([1, 2])),
        ("shape", lambda tf: tf.shape(_m(tf))),
        ("size", lambda tf: tf.size(_m(tf), out_type=tf.int64)),
        ("rank", lambda tf: tf.rank(_m(tf))),
        ("reshape", lambda tf: tf.reshape(tf.range(6), [3, -1])),
        ("reshape_scalar", lambda tf: tf.reshape([7], [])),
        ("transpose", lambda tf: tf.transpose(_m(tf))),
        ("transpose_perm", lambda tf: tf.transpose(tf.reshape(tf.range(6), [1, 2, 3]), [2, 0, 1])),
        ("transpose_conjugate", lambda tf: tf.transpose([[1 + 1j, 2 - 1j]], conjugate=True)),
        ("expand_dims", lambda tf: tf.expand_dims(_i(tf), -1)),
        ("squeeze", lambda tf: tf.squeeze([[[1], [2]]])),
        ("squeeze_axis", lambda tf: tf.squeeze([[[1], [2]]], axis=0)),
        ("concat", lambda tf: tf.concat([_m(tf), [[0, 0, 0]]], 0)),
        ("concat_negative", lambda tf: tf.concat([[[1], [2]], [[3], [4]]], -1)),
        ("stack", lambda tf: tf.stack([_i(tf), _i(tf)], axis=1)),
        ("unstack", lambda tf: tf.unstack(_m(tf), axis=1)),
        ("split", lambda tf: tf.split(_i(tf), 3)),
        ("split_sizes", lambda tf: tf.split(_m(tf), [1, -1], axis=1)),
        ("tile", lambda tf: tf.tile([1, 2], [3])),
        ("repeat", lambda tf: tf.repeat([1, 2, 3], [1, 0, 2])),
        ("repeat_axis", lambda tf: tf.repeat(_m(tf), 2, axis=1)),
        ("pad", lambda tf: tf.pad(_i(tf), [[1, 2]])),
        ("pad_constant", lambda tf: tf.pad([[1.0]], [[1, 0], [0, 1]], constant_values=-1.0)),
        ("pad_symmetric", lambda tf: tf.pad(_i(tf), [[2, 1]], "SYMMETRIC")),
        ("reverse", lambda tf: tf.reverse(_m(tf), axis=[0, 1])),
        ("roll", lambda tf: tf.roll(_m(tf), shift=[1, -1], axis=[0, 1])),
        ("where", lambda tf: tf.where([True, False, True])),
        ("where_select", lambda tf: tf.where(_a(tf) > 0, _a(tf), 0.0)),
        ("where_broadcast", lambda tf: tf.where([[True], [False]], [1, 2], [[3, 4], [5, 6]])),
        ("broadcast_to", lambda tf: tf.broadcast_to([1, 2], [2, 2])),
        (
            "broadcast_shapes",
            lambda tf: [
                tf.broadcast_static_shape(tf.TensorShape([2, 1]), tf.TensorShape([3])),
                tf.broadcast_dynamic_shape([2, 1], [3]),
            ],
        ),
        ("meshgrid", lambda tf: tf.meshgrid([1, 2], [3, 4, 5], indexing="ij")),
        ("cast", lambda tf: tf.cast(_a(tf), tf.int32)),
        (
            "cast_bool",
            lambda tf: [tf.cast([0.0, 0.5], tf.bool), tf.cast([True, False], tf.float32)],
        ),
        ("cast_complex", lambda tf: tf.cast([1, 2], tf.complex64)),
        ("saturate_cast", lambda tf: tf.saturate_cast([-5, 300], tf.uint8)),
        ("bitcast", lambda tf: tf.bitcast(tf.constant([1.0, -1.0]), tf.uint32)),
        ("unique", lambda tf: tf.unique([3, 1, 3, 2])),
        ("unique_counts", lambda tf: tf.unique_with_counts(["a", "b", "a"])),
        (
            "sort",
            lambda tf: [
                tf.sort(_a(tf)),
                tf.sort(_a(tf), direction="DESCENDING"),
                tf.argsort(_a(tf)),
            ],
        ),
        ("searchsorted", lambda tf: tf.searchsorted([1, 3, 5], [0, 3, 6], side="right")),
        ("sequence_mask", lambda tf: tf.sequence_mask([1, 3, 0])),
        ("dynamic_partition", lambda tf: tf.dynamic_partition(_i(tf), [1, 0, 1], 2)),
        ("dynamic_stitch", lambda tf: tf.dynamic_stitch([[1], [0, 2]], [[10], [20, 30]])),
        ("reverse_sequence", lambda tf: tf.reverse_sequence(_m(tf), [1, 2, 3], seq_axis=1)),
        (
            "space_to_batch",
            lambda tf: tf.space_to_batch([[[[1], [2]], [[3], [4]]]], [2, 2], [[0, 0], [0, 0]]),
        ),
        (
            "batch_to_space",
            lambda tf: tf.batch_to_space(
                tf.reshape(tf.range(4), [4, 1, 1, 1]), [2, 2], [[0, 0], [0, 0]]
            ),
        ),
        ("edit_nothing", lambda tf: tf.ensure_shape(_i(tf), [None])),
        (
            "meta",
            lambda tf: [_m(tf).shape.as_list(), _m(tf).dtype, _m(tf).ndim, _m(tf).get_shape()],
        ),
        ("tensor_to_list", lambda tf: _m(tf).numpy().tolist()),
        (
            "numpy_of_scalar",
            lambda tf: [
                type(tf.constant(1).numpy()).__name__,
                type(tf.constant("a").numpy()).__name__,
                type(_i(tf).numpy()).__name__,
            ],
        ),
        (
            "np_functions",
            lambda tf: [np.sum(_i(tf)), np.asarray(_m(tf)), np.concatenate([_i(tf), _i(tf)])],
        ),
        (
            "histogram",
            lambda tf: tf.histogram_fixed_width([0.0, 1.0, 1.5, 5.0], [0.0, 5.0], nbins=5),
        ),
        ("foldl", lambda tf: tf.foldl(lambda a, x: a + x, _i(tf))),
        ("scan", lambda tf: tf.scan(lambda a, x: a * x, _i(tf))),
        ("map_fn", lambda tf: tf.map_fn(lambda x: x * x, _i(tf))),
        ("vectorized_map", lambda tf: tf.vectorized_map(lambda x: x + 1, _i(tf))),
        (
            "extract_patches",
            lambda tf: tf.image.extract_patches(
                tf.reshape(tf.range(9.0), [1, 3, 3, 1]),
                [1, 2, 2, 1],
                [1, 1, 1, 1],
                [1, 1, 1, 1],
                "VALID",
            ),
        ),
    ],
)

snippet.one_liners(
    "types",
    [
        (
            "tensor_shape",
            lambda tf: [
                tf.TensorShape([2, None])[0],
                tf.TensorShape([2, None])[1],
                len(tf.TensorShape([1, 2])),
                tf.TensorShape([1, 2]) == [1, 2],
            ],
        ),
        (
            "tensor_shape_methods",
            lambda tf: [
                (s := tf.TensorShape([None, 3])).rank,
                s.is_fully_defined(),
                s.is_compatible_with([5, 3]),
                s.merge_with([5, None]),
                s.concatenate([1]),
                s[1:],
            ],
        ),
        (
            "tensor_shape_iteration",
            lambda tf: [
                list(tf.TensorShape([1, None])),
                tf.TensorShape([2, 3]).num_elements(),
                tf.TensorShape([2]) + tf.TensorShape([3]),
            ],
        ),
        (
            "dtype",
            lambda tf: [
                tf.float32.as_numpy_dtype,
                tf.as_dtype("int8"),
                tf.int32.size,
                tf.int16.min,
                tf.uint8.max,
                tf.float16.is_floating,
                tf.string == "string",
                tf.bool.is_bool,
            ],
        ),
        (
            "dtype_of",
            lambda tf: [
                tf.constant(1).dtype,
                tf.constant(1.0).dtype == tf.float32,
                tf.constant(1.0).dtype == np.float32,
                tf.constant("a").dtype,
            ],
        ),
        (
            "spec",
            lambda tf: [
                tf.TensorSpec.from_tensor(_m(tf)),
                tf.TensorSpec([2]).dtype,
                tf.TensorSpec([None]).is_compatible_with(_i(tf)),
            ],
        ),
        (
            "is_tensor",
            lambda tf: [
                tf.is_tensor(_i(tf)),
                tf.is_tensor(1),
                tf.is_tensor(np.ones(1)),
                tf.is_tensor(tf.Variable(1)),
                isinstance(_i(tf), tf.Tensor),
            ],
        ),
        ("is_symbolic", lambda tf: tf.is_symbolic_tensor(_i(tf))),
        (
            "convert",
            lambda tf: [
                tf.convert_to_tensor(1.0),
                tf.convert_to_tensor([1, 2], tf.float64),
                tf.convert_to_tensor(1, dtype_hint=tf.float32),
            ],
        ),
        ("eagerly", lambda tf: [tf.executing_eagerly(), tf.inside_function()]),
        ("nest_flatten", lambda tf: tf.nest.flatten({"b": [1, (2, 3)], "a": 4})),
        (
            "nest_map",
            lambda tf: tf.nest.map_structure(lambda x, y: x + y, {"a": [1, 2]}, {"a": [10, 20]}),
        ),
        ("nest_pack", lambda tf: tf.nest.pack_sequence_as({"a": [0, 0], "b": 0}, [1, 2, 3])),
        (
            "nest_same",
            lambda tf: [
                tf.nest.is_nested([1]),
                tf.nest.is_nested("a"),
                tf.nest.assert_same_structure([1, 2], [3, 4]),
            ],
        ),
        ("get_static_value", lambda tf: tf.get_static_value(_i(tf))),
        ("device", lambda tf: _i(tf).device),
        ("device_scope", lambda tf: _device_scope(tf)),
        (
            "config",
            lambda tf: [
                [d.device_type for d in tf.config.list_physical_devices("CPU")],
                [d.name for d in tf.config.list_logical_devices("CPU")],
                tf.config.list_physical_devices("GPU"),
            ],
        ),
        ("physical_device", lambda tf: tf.config.list_physical_devices("CPU")),
        (
            "indexed_slices",
            lambda tf: tf.convert_to_tensor(
                tf.IndexedSlices(
                    tf.constant([[1.0], [2.0]]), tf.constant([2, 0]), tf.constant([3, 1])
                )
            ),
        ),
        (
            "device_spec",
            lambda tf: [
                tf.DeviceSpec(job="w", task=1, device_type="GPU").to_string(),
                tf.DeviceSpec.from_string("/cpu:0").device_type,
                tf.DeviceSpec(job="a").replace(task=3).to_string(),
            ],
        ),
        ("name_scope", lambda tf: _name_scope(tf)),
        ("graph_inside", lambda tf: _graph_inside(tf)),
        (
            "compat_v1",
            lambda tf: [tf.compat.v1.executing_eagerly(), tf.compat.v1.Graph is not None],
        ),
    ],
)


def _device_scope(tf):
    with tf.device("/cpu:0"):
        a = tf.constant(1) + 1
    with tf.device("CPU:0"):
        return [a, (a * 2).device]


def _name_scope(tf):
    with tf.name_scope("outer") as scope:
        v = tf.Variable(1.0, name="v")
        return [scope, v.name]


def _graph_inside(tf):
    with tf.Graph().as_default():
        return [tf.executing_eagerly(), tf.constant(1.0).name]
