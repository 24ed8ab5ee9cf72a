"""Sizes, axes and places beyond 32 bits are widened or refused, never cut; constants are refused as TensorFlow does."""

import numpy as np
import pytest

import emplace as tf

B = 2**32
GENERATOR = tf.random.Generator.from_seed(1)
WIDENED = {
    "zeros": lambda: tf.zeros([B + 4, 0]),
    "ones_of_array": lambda: tf.ones(np.array([B + 4, 0])),
    "fill": lambda: tf.fill([B + 4, 0], 1.0),
    "fill_of_shape": lambda: tf.fill(tf.TensorShape([B + 4, 0]), 1.0),
    "reshape": lambda: tf.reshape(tf.zeros([0]), [B + 4, 0]),
    "broadcast_to": lambda: tf.broadcast_to(tf.zeros([1, 0]), [B + 4, 0]),
    "tile": lambda: tf.tile(tf.zeros([1, 0]), [B + 4, 1]),
    "pad": lambda: tf.pad(tf.zeros([1, 0]), [[B + 3, 0], [0, 0]]),
    "random": lambda: tf.random.normal([B + 4, 0]),
    "stateless": lambda: tf.random.stateless_uniform([B + 4, 0], [1, 2]),
    "generator": lambda: GENERATOR.normal([B + 4, 0]),
    "poisson": lambda: tf.random.poisson([B + 4, 0], 1.0),
    "eye": lambda: tf.eye(1, batch_shape=[B + 4, 0])[..., 0, 0],
    "like": lambda: tf.zeros_like(tf.zeros([B + 4, 0])),
    "repeat": lambda: tf.repeat(tf.zeros([1, 0]), B + 4, axis=0),
    "repeat_list": lambda: tf.repeat(tf.zeros([1, 0]), [B + 4], axis=0),
    "repeat_tensor": lambda: tf.repeat(tf.zeros([1, 0]), tf.constant(B + 4, tf.int64), axis=0),
    "image": lambda: tf.image.resize_with_crop_or_pad(tf.zeros([1, 1, 0]), B + 4, 1)[:, 0],
}
REFUSED = {
    "zeros_of_half": lambda: tf.zeros([1.5]),
    "ones_of_text": lambda: tf.ones(["2"]),
    "eye_of_half": lambda: tf.eye(1.5),
    "repeat_each": lambda: tf.repeat([1, 2], [1, B * 1024]),
    "mask": lambda: tf.sequence_mask([B + 3], 4),
    "mask_of_array": lambda: tf.sequence_mask(np.array([B + 3]), 4),
    "labels": lambda: tf.nn.ctc_loss([[1 + B]], tf.zeros([3, 1, 4]), [1], [3], blank_index=0),
    "label_length": lambda: tf.nn.ctc_loss([[1]], tf.zeros([3, 1, 4]), [B + 1], [3], blank_index=0),
    "frames": lambda: tf.nn.ctc_loss([[1]], tf.zeros([3, 1, 4]), [1], [B + 3], blank_index=0),
    "bincount_of_tensor": lambda: tf.math.bincount(tf.constant([1 << 50], tf.int64)),
    "repeat_half": lambda: tf.repeat([1, 2], 1.5),
    "dataset_to_half": lambda: tf.data.Dataset.range(1.5),
    "array_of_half": lambda: tf.TensorArray(tf.int32, size=1.5),
    "frames_of_half": lambda: tf.signal.frame(tf.zeros([8]), 1.5, 1),
    "window_of_half": lambda: tf.signal.hann_window(4.5),
    "transform_of_half": lambda: tf.signal.dct(tf.zeros([4]), n=2.5),
    "reshape": lambda: tf.reshape(tf.range(4), [B + 4]),
    "reshape_by_array": lambda: tf.reshape(tf.range(4), np.array([B + 4])),
    "reshape_by_shape": lambda: tf.reshape(tf.range(4), tf.TensorShape([B + 4])),
    "reshape_by_number": lambda: tf.reshape(tf.range(4), B + 4),
    "reshape_by_both": lambda: tf.reshape(tf.range(4), [tf.constant(4), B + 1]),
    "zeros_too_large": lambda: tf.zeros([1 << 40, 1 << 10]),
    "zeros_beyond_64_bits": lambda: tf.zeros([1 << 40, 1 << 30]),
    "sum": lambda: tf.reduce_sum([[1, 2]], axis=B),
    "sum_of_list": lambda: tf.reduce_sum([[1, 2]], axis=[B + 1]),
    "mean": lambda: tf.reduce_mean([[1.0, 2]], axis=-B),
    "all": lambda: tf.reduce_all([[True]], axis=B),
    "logsumexp": lambda: tf.reduce_logsumexp([1.0], axis=B),
    "variance": lambda: tf.math.reduce_variance([1.0], axis=B),
    "count_nonzero": lambda: tf.math.count_nonzero([1.0], axis=B),
    "l2_normalize": lambda: tf.math.l2_normalize([1.0], axis=B),
    "argmax": lambda: tf.argmax([[1, 2]], axis=B),
    "concat": lambda: tf.concat([[1], [2]], axis=B),
    "concat_one": lambda: tf.concat([[1]], axis=B),
    "split": lambda: tf.split([1, 2], 2, axis=B),
    "split_sizes": lambda: tf.split([1, 2], [B + 1, 1]),
    "expand_dims": lambda: tf.expand_dims([1], B),
    "squeeze": lambda: tf.squeeze([[1]], B),
    "transpose": lambda: tf.transpose([[1, 2]], [B + 1, B]),
    "reverse": lambda: tf.reverse([1, 2], [B]),
    "gather": lambda: tf.gather([1, 2], [B]),
    "gather_axis": lambda: tf.gather([1, 2], [0], axis=B),
    "one_hot": lambda: tf.one_hot([0, 1], B + 3),
    "slice": lambda: tf.slice([1, 2, 3], [0], [B + 1]),
    "strided_slice": lambda: tf.range(4)[B],
    "cumsum": lambda: tf.cumsum([1, 2], axis=B),
    "repeat_axis": lambda: tf.repeat([1, 2], 2, axis=B),
    "softmax": lambda: tf.nn.softmax([[1.0]], axis=B),
    "log_softmax": lambda: tf.nn.log_softmax([[1.0]], axis=B),
    "top_k": lambda: tf.math.top_k([1, 2, 3], B + 1),
    "gamma": lambda: tf.random.gamma([B + 1, 1 << 40], 1.0),
    "categorical": lambda: tf.random.categorical([[1.0, 1.0]], B + 1),
    "uniform_ints": lambda: tf.random.uniform([2], 0, B + 3, dtype=tf.int32),
    "scatter_nd": lambda: tf.scatter_nd(tf.constant([[0]]), [1], [B + 3]),
    "bincount": lambda: tf.math.bincount([1], minlength=B + 1),
    "bincount_values": lambda: tf.math.bincount([B]),
    "segments": lambda: tf.math.unsorted_segment_sum([1, 2], tf.constant([0, 1]), 1 << 50),
    "resize": lambda: tf.image.resize(tf.zeros([1, 1, 1, 1]), [B + 1, 1]),
    "diag": lambda: tf.linalg.diag([1, 2], k=B),
    "diag_part": lambda: tf.linalg.diag_part([[1, 2], [3, 4]], k=B),
    "space_to_batch": lambda: tf.space_to_batch([[[[1]]]], [B + 1, 1], [[0, 0], [0, 0]]),
    "batch_to_space": lambda: tf.batch_to_space([[[[1]]]], [B + 1, 1], [[0, 0], [0, 0]]),
    "linspace": lambda: tf.linspace(0.0, 1.0, 1 << 60),
    "rfft": lambda: tf.signal.rfft([1.0, 2.0], [B + 2]),
    "sparse_sum": lambda: tf.sparse.reduce_sum(tf.sparse.from_dense([1]), axis=B),
    "bits": lambda: tf.quantization.fake_quant_with_min_max_args([1.0], num_bits=B + 8),
    "shape": lambda: tf.shape(tf.zeros([B, 0])),
    "shape_n": lambda: tf.shape_n([tf.zeros([B, 0])]),
    "seed": lambda: tf.random.stateless_uniform([2], [B + 1, 2**63]),
    "range": lambda: tf.data.Dataset.range(2**63),
    "range_number": lambda: tf.range(2**63 - 1) if tf.executing_eagerly() else tf.range(2**63),
    "range_from": lambda: tf.range(2**63, 2**63 + 2),
    "range_of_int32": lambda: tf.range(2**40, dtype=tf.int32),
    "range_of_uint64": lambda: tf.range(tf.constant(2**63, tf.uint64)),
    "numpy_axes": lambda: tf.experimental.numpy.moveaxis([[1, 2]], B, 1),
    "polyval": lambda: tf.math.polyval([1, B], 2),
    "bins": lambda: tf.histogram_fixed_width_bins([1.0], [0.0, 2.0], nbins=B + 2),
    "stitch": lambda: tf.dynamic_stitch([[0], [B + 1]], [[1], [2]]),
    "generator_ints": lambda: GENERATOR.uniform([2], 0, B + 2, tf.int32),
    "row_lengths": lambda: tf.RaggedTensor.from_row_lengths([1, 2], [1, B + 1]),
    "row_splits": lambda: tf.RaggedTensor.from_row_splits([1, 2], [0, B + 2]),
    "row_splits_that_fall": lambda: tf.RaggedTensor.from_row_splits([1, 2], [0, 3, 1, 2]),
    "rows": lambda: tf.RaggedTensor.from_value_rowids([1, 2], [0, 0], nrows=B + 1),
    "padding": lambda: tf.data.Dataset.from_tensors([1]).padded_batch(1, [2], padding_values=B + 1),
    "repeat": lambda: tf.data.Dataset.range(2).repeat(2**64 + 1),
    "prefetch": lambda: tf.data.Dataset.range(2).prefetch(2**64),
    "window": lambda: tf.data.Dataset.range(2).window(2**64 + 2),
    "returned_number": lambda: tf.py_function(lambda: 2**63, [], tf.int64),
    "shape_as_int32": lambda: tf.convert_to_tensor(tf.TensorShape([B + 4]), tf.int32),
}
CONSTANTS = {
    "large": lambda: tf.constant(1e40),
    "large_in_list": lambda: tf.constant([1.0, -1e40]),
    "large_nested": lambda: tf.constant([[1e40]]),
    "just_too_large": lambda: tf.constant(3.4028236e38),
    "whole": lambda: tf.constant(2**63),
    "whole_in_list": lambda: tf.constant([1, 2**63]),
    "whole_first": lambda: tf.constant([2**63, 2.5]),
    "beyond_64_bits": lambda: tf.constant([2**64]),
    "numpy_in_list": lambda: tf.constant([np.uint64(2**63)]),
    "variable": lambda: tf.Variable(2**63),
    "filled": lambda: tf.fill([2], 1e40),
    "cast": lambda: tf.cast(2**63, tf.int64),
    "beside_a_tensor": lambda: tf.constant(1, tf.int64) + 2**63,
}


@pytest.mark.parametrize("name", WIDENED)
def test_sizes_beyond_32_bits_stay_whole(name: str) -> None:
    assert WIDENED[name]().shape.as_list() == [B + 4, 0]
    assert tf.function(WIDENED[name])().shape.as_list() == [B + 4, 0]


@pytest.mark.parametrize("name", REFUSED)
def test_numbers_that_do_not_fit_are_refused(name: str) -> None:
    refusals = (ValueError, TypeError, tf.errors.InvalidArgumentError, tf.errors.ResourceExhaustedError)
    with pytest.raises(refusals):
        REFUSED[name]()
    with pytest.raises(refusals):
        tf.function(REFUSED[name])()


@pytest.mark.parametrize("name", CONSTANTS)
def test_constants_without_a_dtype_that_holds_them_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="out.of.range"):
        CONSTANTS[name]()


def test_constants_with_a_dtype_are_what_it_makes_of_them() -> None:
    assert tf.constant(1e40, tf.float32).numpy() == np.inf
    assert tf.constant(1e40, tf.float64).numpy() == 1e40
    assert tf.constant(float("inf")).numpy() == np.inf
    assert tf.constant(2**63, tf.uint64).numpy() == 2**63
    assert tf.constant(2**63, tf.float32).numpy() == np.float32(2**63)
    assert tf.constant([1, 2.5, 2**63]).dtype == tf.float32
    assert tf.constant(np.uint64(2**63)).dtype == tf.uint64


@pytest.mark.parametrize(
    ("value", "kind", "target", "wanted"),
    [
        (1e30, "float32", "int32", 2**31 - 128), (-1e30, "float32", "int32", -(2**31)), (1e30, "float32", "int64", 2**63 - 2**39),
        (1e30, "float64", "uint64", 2**64 - 2**11), (6e4, "float16", "int16", 2**15 - 16), (1e30, "bfloat16", "int32", 2**31 - 2**23),
        (300, "int32", "uint8", 255), (-1, "int64", "uint64", 0), (2**64 - 1, "uint64", "int64", 2**63 - 1),
    ],
)  # fmt: skip
def test_saturating_stays_on_the_right_side(value: float, kind: str, target: str, wanted: int) -> None:
    assert int(tf.saturate_cast(tf.constant(value, kind), target)) == wanted
    assert int(tf.function(lambda: tf.saturate_cast(tf.constant(value, kind), target))()) == wanted


def test_saturating_complex_numbers() -> None:
    beyond = tf.constant(1e300 - 1e300j, tf.complex128)
    assert tf.saturate_cast(beyond, tf.complex64).numpy() == np.complex64(tf.float32.max - 1j * tf.float32.max)
    assert tf.saturate_cast(beyond, tf.uint8).numpy() == 255


def test_counts_in_tensors_are_not_cut() -> None:
    wide = tf.constant(B + 2, tf.int64)
    f = tf.function(lambda n: tf.while_loop(lambda i: i < 9, lambda i: (i + 1,), [tf.constant(0)], maximum_iterations=n)[0])
    assert int(f(wide)) == 9
    assert tf.sequence_mask([wide], tf.constant(3)).numpy().all()
    with pytest.raises(ValueError, match="out-of-range"):
        tf.function(lambda: f(0) + tf.while_loop(lambda i: i < 9, lambda i: (i + 1,), [tf.constant(0)], maximum_iterations=B + 2)[0])()


def test_long_seeds_count_whole() -> None:
    states = [tf.random.create_rng_state(seed, "philox").numpy().tolist() for seed in (2**64 + 7, -1, 2**63, [1, 2, 3, 4])]
    assert states == [[7, 1, 0], [-1, -1, -1], [-(2**63), 0, 0], [1, 2, 3]]


def test_parts_of_a_sparse_tensor_end_where_it_does() -> None:
    three = tf.sparse.SparseTensor([[0]], [1], [3])
    assert len(tf.sparse.split(three, num_split=3, axis=0)) == 3
    for parts in (0, -1, 4, B):
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.sparse.split(three, num_split=parts, axis=0)


def test_shapes_are_wide_where_they_must_be() -> None:
    assert tf.convert_to_tensor(tf.TensorShape([B + 4])).dtype == tf.int64
    assert tf.shape(tf.zeros([B, 0]), out_type=tf.int64).numpy().tolist() == [B, 0]
    assert tf.strided_slice([1, 2, 3], [0], [B]).numpy().tolist() == [1, 2, 3]
    assert tf.roll([1, 2, 3], B + 1, axis=0).numpy().tolist() == [2, 3, 1]
    with pytest.raises(tf.errors.InvalidArgumentError, match="32-bit but dim 0 is 4294967296"):
        tf.shape(tf.zeros([B, 0]))
