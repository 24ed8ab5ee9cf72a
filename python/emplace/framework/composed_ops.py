"""TensorFlow 1's functions that are made of other functions."""

from __future__ import annotations

import sys
from typing import Any, TYPE_CHECKING

from emplace.framework import array_ops, constant_op, control_flow_ops, dtypes, index_values, math_ops, ops, random_ops, sparse_tensor, tensor_shape
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import convert_to_tensor as _convert
from emplace.framework.ops import name_scope

if TYPE_CHECKING:
    from emplace.framework.tensor import Tensor


def _within(scope: str, module: str, attribute: str, said: str) -> Any:
    """A function of the TensorFlow 2 surface, loaded when called, its nodes below a scope named like it."""
    def function(*args: Any, name: str | None = None, **kwargs: Any) -> Any:
        import importlib

        with name_scope(name, scope):
            return getattr(importlib.import_module(f"emplace.eager.functions.{module}"), attribute)(*args, **kwargs)

    function.__name__ = function.__qualname__ = attribute
    function.__doc__ = said
    return function


sort = _within("sort", "array", "sort", "`values` sorted along `axis`; `direction` is ASCENDING or DESCENDING.")
argsort = _within("argsort", "array", "argsort", "Indices that sort `values` along `axis`; `direction` is ASCENDING or DESCENDING.")
repeat = _within("Repeat", "array", "repeat", "Repeats elements `repeats` times along `axis`; without it the tensor is flattened first.")
is_non_decreasing = _within("is_non_decreasing", "maths", "is_non_decreasing", "Whether no element is less than the one before it.")
is_strictly_increasing = _within("is_strictly_increasing", "maths", "is_strictly_increasing", "Whether each element is greater than the one before it.")
lbeta = _within("lbeta", "maths", "lbeta", "Logarithm of the absolute value of the Beta function over the last dimension.")
polyval = _within("polyval", "maths", "polyval", "Value of the polynomial with the listed coefficients, the highest power first.")
bessel_i0 = _within("bessel_i0", "maths", "bessel_i0", "Modified Bessel function of the first kind and order 0.")
bessel_i1 = _within("bessel_i1", "maths", "bessel_i1", "Modified Bessel function of the first kind and order 1.")
erfinv = _within("erfinv", "maths", "erfinv", "Inverse of the error function, element by element.")
erfcinv = _within("erfcinv", "maths", "erfcinv", "Inverse of the complementary error function, element by element.")
reciprocal_no_nan = _within("reciprocal_no_nan", "maths", "reciprocal_no_nan", "`1 / x` of each element, 0 where it is 0.")
sufficient_statistics = _within("sufficient_statistics", "nn", "sufficient_statistics", "Count, sum, sum of squares and shift over `axes`, from which moments follow.")
normalize_moments = _within("normalize", "nn", "normalize_moments", "Mean and variance from sufficient statistics.")


def cumulative_logsumexp(x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None) -> Tensor:
    """`log(cumsum(exp(x)))` along `axis` without overflow."""
    with name_scope(name, "CumulativeLogsumexp", [x]) as scope:
        x = _convert(x, name="x")
        return _op("CumulativeLogsumexp", [x, axis], {"exclusive": exclusive, "reverse": reverse}, scope)


def histogram_fixed_width(values: Any, value_range: Any, nbins: Any = 100, dtype: Any = dtypes.int32, name: str | None = None) -> Tensor:
    """How many values fall in each of `nbins` equal bins of `value_range`; outer bins take what lies beyond."""
    with name_scope(name, "histogram_fixed_width", [values, value_range, nbins]) as scope:
        return _op("HistogramFixedWidth", [values, value_range, nbins], {"dtype": dtype}, scope)


def _segment_counts(data: Any, segment_ids: Any, num_segments: Any) -> Any:
    """How many rows each segment has, at least one, broadcastable against the rows."""
    num_segments = _convert(num_segments)
    known = segment_ids.shape.as_list() if segment_ids.shape.is_fully_defined() else None
    sizes = array_ops.shape(segment_ids) if known is None else index_values.tensor(known, "Shape/shape_as_tensor", wide=True)
    counts = _op("UnsortedSegmentSum", [array_ops.ones(sizes, data.dtype), segment_ids, num_segments], {})
    first = num_segments[None]
    rank = array_ops.rank(data) - array_ops.rank(segment_ids)
    shape = array_ops.concat([first, array_ops.ones([rank], num_segments.dtype)], 0)
    return _op("Maximum", [array_ops.reshape(counts, shape), 1], {})


def unsorted_segment_mean(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Tensor:
    """Mean of the rows of each segment; `segment_ids` in any order, empty segments give 0."""
    with name_scope(name, "UnsortedSegmentMean"):
        data, segment_ids = _convert(data), _convert(segment_ids)
        counts = _segment_counts(data, segment_ids, num_segments)
        return _op("UnsortedSegmentSum", [data, segment_ids, num_segments], {}) / counts


def unsorted_segment_sqrt_n(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Tensor:
    """Sum of the rows of each segment over the square root of their number; empty segments give 0."""
    with name_scope(name, "UnsortedSegmentSqrtN"):
        data, segment_ids = _convert(data), _convert(segment_ids)
        counts = _segment_counts(data, segment_ids, num_segments)
        return _op("UnsortedSegmentSum", [data, segment_ids, num_segments], {}) / math_ops.sqrt(counts)


def _sparse_segment(op: str) -> Any:
    def function(data: Any, indices: Any, segment_ids: Any, name: str | None = None, num_segments: Any = None) -> Any:
        if num_segments is not None:
            return _op(f"{op}WithNumSegments", [data, indices, segment_ids, num_segments], {}, name)
        return _op(op, [data, indices, segment_ids], {}, name)

    what = {"SparseSegmentSum": "Sum", "SparseSegmentMean": "Mean", "SparseSegmentSqrtN": "Sum over the root of the number"}[op]
    function.__doc__ = f"{what} of the rows of `data` at `indices`, segment by segment; `segment_ids` in ascending order."
    function.__name__ = function.__qualname__ = "sparse_segment_" + {"Sum": "sum", "Mean": "mean"}.get(what, "sqrt_n")
    return function


sparse_segment_sum = _sparse_segment("SparseSegmentSum")
sparse_segment_mean = _sparse_segment("SparseSegmentMean")
sparse_segment_sqrt_n = _sparse_segment("SparseSegmentSqrtN")


def confusion_matrix(labels: Any, predictions: Any, num_classes: Any = None, dtype: Any = dtypes.int32, name: str | None = None, weights: Any = None) -> Tensor:
    """Matrix whose entry [i, j] counts (or sums the weights of) examples with label i and prediction j."""
    from emplace.eager.functions import maths

    with name_scope(name, "confusion_matrix", [predictions, labels]):
        return maths.confusion_matrix(labels, predictions, num_classes, weights, dtype)


def verify_tensor_all_finite(t: Any = None, msg: Any = None, name: str | None = None, x: Any = None, message: Any = None) -> Any:
    """The tensor itself; InvalidArgumentError with the message if an element is infinite or NaN."""
    value, text = t if x is None else x, msg if message is None else message
    with name_scope(name, "VerifyFinite", [value]):
        value = _convert(value, name="x")
        with ops.colocate_with(value):
            checked = _op("CheckNumerics", [value], {"message": text})
            return control_flow_ops.with_dependencies([checked], value)


def add_check_numerics_ops() -> Any:
    """One operation that looks at every floating-point tensor of the graph for NaN and infinity."""
    checks: list[Any] = []
    if any(op.type in ("Switch", "Merge", "Enter", "Exit", "NextIteration", "LoopCond") for op in ops.get_default_graph().get_operations()):
        raise ValueError(
            "`tf.add_check_numerics_ops() is not compatible with TensorFlow control flow operations such as `tf.cond()` or `tf.while_loop()`."
        )
    for op in ops.get_default_graph().get_operations():
        for output in op.outputs:
            if output.dtype in (dtypes.float16, dtypes.float32, dtypes.float64):
                with ops.control_dependencies(checks):
                    checks = [_op("CheckNumerics", [output], {"message": f"{op.name}:{output.value_index}"})]
    return control_flow_ops.group(*checks)


def random_crop(value: Any, size: Any, seed: Any = None, name: str | None = None) -> Tensor:
    """A part of this size from a random place."""
    with name_scope(name, "random_crop", [value, size]) as scope:
        value = _convert(value, name="value")
        size = index_values.tensor(size, "size")
        shape = array_ops.shape(value)
        check = control_flow_ops.Assert(
            math_ops.reduce_all(shape >= size), ["Need value.shape >= size, got ", shape, size], summarize=1000
        )
        limit = control_flow_ops.with_dependencies([check], shape) - size + 1
        offset = random_ops.random_uniform(array_ops.shape(shape), dtype=size.dtype, maxval=size.dtype.max, seed=seed) % limit
        return array_ops.slice(value, offset, size, name=scope)


def decode_raw(input_bytes: Any = None, out_type: Any = None, little_endian: bool = True, name: str | None = None, bytes: Any = None) -> Tensor:  # noqa: A002
    """The bytes of each string as numbers of dtype `out_type`."""
    given = input_bytes if bytes is None else bytes
    return _op("DecodeRaw", [given], {"out_type": out_type, "little_endian": little_endian}, name)


def extract_image_patches(images: Any, ksizes: Any = None, strides: Any = None, rates: Any = None, padding: Any = None, name: str | None = None, sizes: Any = None) -> Tensor:
    """Windows of images, the pixels of each side by side in the last dimension; lists are [1, height, width, 1]."""
    attrs = {"ksizes": ksizes if sizes is None else sizes, "strides": strides, "rates": rates, "padding": padding}
    return _op("ExtractImagePatches", [images], attrs, name)


def batch_gather(params: Any, indices: Any, name: str | None = None) -> Tensor:
    """Slices of `params` at `indices`, of which all leading dimensions are batches."""
    with name_scope(name, "BatchGather", [params, indices]):
        indices, params = _convert(indices, name="indices"), _convert(params, name="params")
        if indices.shape.rank is None:
            raise ValueError("batch_gather does not allow indices with unknown shape.")
        return array_ops.gather(params, indices, batch_dims=indices.shape.rank - 1, axis=indices.shape.rank - 1)


def space_to_batch(input: Any, paddings: Any, block_size: int | None = None, name: str | None = None, block_shape: Any = None) -> Tensor:  # noqa: A002
    """Pads the spatial dimensions and moves blocks of them into the batch dimension."""
    block = [block_size] * 2 if block_shape is None else block_shape
    return _op("SpaceToBatchND", [input, block, paddings], {}, name)


def batch_to_space(input: Any, crops: Any, block_size: int, name: str | None = None, block_shape: Any = None) -> Tensor:  # noqa: A002
    """Moves blocks of the batch dimension back into the spatial ones, then cuts `crops` off the edges."""
    block = [block_size] * 2 if block_shape is None else block_shape
    return _op("BatchToSpaceND", [input, block, crops], {}, name)


def clip_by_average_norm(t: Any, clip_norm: Any, name: str | None = None) -> Tensor:
    """Scaled so that the norm per element is at most `clip_norm`."""
    with name_scope(name, "clip_by_average_norm", [t, clip_norm]) as scope:
        t = _convert(t, name="t")
        count = math_ops.cast(array_ops.size(t), dtypes.float32)
        inverse = math_ops.rsqrt(math_ops.reduce_sum(t * t, math_ops.range(array_ops.rank(t))))
        scaled = t * clip_norm
        least = _op("Minimum", [inverse * count, constant_op.constant(1.0) / clip_norm], {})
        return array_ops.identity(scaled * least, name=scope)


def matrix_solve_ls(matrix: Any, rhs: Any, l2_regularizer: Any = 0.0, fast: bool = True, name: str | None = None) -> Tensor:
    """The `x` that minimises `|A x - rhs|²`, with `l2_regularizer` times `|x|²` added."""
    from emplace.eager.functions import linalg

    with name_scope(name, "matrix_solve_ls"):
        return linalg.lstsq(matrix, rhs, l2_regularizer, fast)


def dimension_at_index(shape: Any, index: int) -> tensor_shape.Dimension:
    """The dimension at an index as a Dimension, unknown where the rank is."""
    return tensor_shape.Dimension(None) if shape.rank is None else shape.dims[index]


def tables_initializer(name: str = "init_all_tables") -> Any:
    """An op that initializes all lookup tables of the graph."""
    return control_flow_ops.group(*ops.get_collection(ops.GraphKeys.TABLE_INITIALIZERS), name=name)


# ---- tf.print.


def print_v2(*inputs: Any, **kwargs: Any) -> Any:
    """An operation that prints when it runs: text as it is, tensors as arrays."""
    stream = kwargs.pop("output_stream", "stderr")
    end, sep, summarize, name = (kwargs.pop(k, d) for k, d in (("end", "\n"), ("sep", " "), ("summarize", 3), ("name", None)))
    if kwargs:
        raise ValueError(f"Unrecognized keyword arguments for tf.print: {kwargs}")
    target = {sys.stdout: "stdout", sys.stderr: "stderr"}.get(stream, stream) if not isinstance(stream, str) else stream
    if not isinstance(target, str):
        raise ValueError(f"Unsupported output stream, logging level, or file.{stream}. Supported streams are sys.stdout, sys.stderr, tf.logging.[info, warning, error].")
    if len(inputs) == 1 and ops.is_tensor(inputs[0]) and inputs[0].dtype == dtypes.string and inputs[0].shape.rank == 0:
        return _op("PrintV2", [inputs[0]], {"output_stream": target, "end": end}, name)
    from emplace.framework import string_ops

    tensors: list[Any] = []
    template = sep.join(_template(value, tensors, True) for value in inputs)
    text = string_ops.string_format(template, tensors, placeholder=_PLACE, summarize=summarize)
    return _op("PrintV2", [text], {"output_stream": target, "end": end}, name)


_PLACE = "{}"


def _template(value: Any, tensors: list[Any], outermost: bool = False) -> str:
    if ops.is_tensor(value) or hasattr(value, "_dense_var_to_tensor"):
        tensors.append(value)
        return _PLACE
    if isinstance(value, sparse_tensor.SparseTensor):  # TensorFlow quotes it
        tensors += [value.indices, value.values, value.dense_shape]
        return f"'SparseTensor(indices={_PLACE}, values={_PLACE}, shape={_PLACE})'"
    if isinstance(value, str):
        return value if outermost else repr(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k!r}: {_template(v, tensors)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        inner = ", ".join(_template(v, tensors) for v in value)
        return f"[{inner}]" if isinstance(value, list) else f"({inner}{',' * (len(value) == 1)})"
    return str(value)


