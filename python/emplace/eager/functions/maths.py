"""Arithmetic, reductions, special functions."""

from __future__ import annotations

from typing import Any, TYPE_CHECKING

from emplace.framework import array_ops, dtypes, index_values, math_ops, nn_ops
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import convert_to_tensor as _convert

if TYPE_CHECKING:
    from emplace.framework.gen import Outputs
    from emplace.framework.tensor import Tensor


def _reduction(name: str) -> Any:
    inner = getattr(math_ops, name)

    def function(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Tensor:
        return inner(input_tensor, axis, bool(keepdims), name)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = inner.__doc__
    return function


reduce_sum = _reduction("reduce_sum")
reduce_mean = _reduction("reduce_mean")
reduce_max = _reduction("reduce_max")
reduce_min = _reduction("reduce_min")
reduce_prod = _reduction("reduce_prod")
reduce_all = _reduction("reduce_all")
reduce_any = _reduction("reduce_any")
reduce_logsumexp = _reduction("reduce_logsumexp")


def argmax(input: Any, axis: Any = None, output_type: Any = dtypes.int64, name: str | None = None) -> Tensor:  # noqa: A002
    """Index of the largest value along `axis`, of dtype `output_type`; the first one among equals."""
    return _op("ArgMax", [input, 0 if axis is None else axis], {"output_type": output_type}, name)


def argmin(input: Any, axis: Any = None, output_type: Any = dtypes.int64, name: str | None = None) -> Tensor:  # noqa: A002
    """Index of the smallest value along `axis`, of dtype `output_type`; the first one among equals."""
    return _op("ArgMin", [input, 0 if axis is None else axis], {"output_type": output_type}, name)


def count_nonzero(input: Any, axis: Any = None, keepdims: Any = None, dtype: Any = dtypes.int64, name: str | None = None) -> Tensor:  # noqa: A002
    """Number of elements that are not zero (or not empty) over `axis`, of dtype int64 unless another is asked for."""
    return math_ops.count_nonzero(input, axis, bool(keepdims), dtype, name)


def divide_no_nan(x: Any, y: Any, name: str | None = None) -> Tensor:
    """`x / y` element by element, 0 where `y` is 0."""
    return math_ops.div_no_nan(x, y, name)


def reciprocal_no_nan(x: Any, name: str | None = None) -> Tensor:
    """`1 / x` of each element, 0 where it is 0."""
    x = _convert(x)
    return _op("DivNoNan", [_convert(1, dtype=x.dtype.base_dtype), x], {}, name)


def erfinv(x: Any, name: str | None = None) -> Tensor:
    """Inverse of the error function, element by element."""
    return _op("Erfinv", [x], {}, name)


def erfcinv(x: Any, name: str | None = None) -> Tensor:
    """Inverse of the complementary error function, element by element."""
    x = _convert(x)
    return -math_ops.ndtri(0.5 * x) * (0.5**0.5)


def bessel_i0(x: Any, name: str | None = None) -> Tensor:
    """Modified Bessel function of the first kind and order 0, element by element."""
    return _op("BesselI0", [x], {}, name)


def bessel_i1(x: Any, name: str | None = None) -> Tensor:
    """Modified Bessel function of the first kind and order 1, element by element."""
    return _op("BesselI1", [x], {}, name)


def bincount(
    arr: Any, weights: Any = None, minlength: Any = None, maxlength: Any = None, dtype: Any = dtypes.int32,
    name: str | None = None, axis: Any = None, binary_output: bool = False,
) -> Any:
    """How often each integer from 0 occurs, or the sum of its `weights`; `minlength` and `maxlength` bound the result, `axis` counts
    row by row."""
    index_values.check(arr, dtypes.int32)
    arr = _convert(arr, name="arr", dtype_hint=dtypes.int32)
    if axis not in (None, 0, -1):
        raise ValueError(f"Unsupported value for argument axis={axis}. Only 0 and -1 are currently supported.")
    if axis == -1 and arr.shape.rank == 2 or binary_output:
        return _rows_counted(arr, weights, minlength, maxlength, dtypes.as_dtype(dtype), axis, binary_output)
    flat = index_values.narrow(array_ops.reshape(arr, [-1]))
    nonempty = math_ops.reduce_prod(array_ops.shape(flat)) > 0
    length = math_ops.cast(nonempty, dtypes.int32) * (math_ops.reduce_max(flat) + 1 if flat.shape.num_elements() != 0 else _convert(0))
    if minlength is not None:
        length = _op("Maximum", [index_values.tensor(minlength), length], {})
    if maxlength is not None:
        length = _op("Minimum", [index_values.tensor(maxlength), length], {})
    found = _convert([], dtype) if weights is None else array_ops.reshape(_convert(weights), [-1])
    return _op("DenseBincount", [flat, length, found], {}, name)


def _rows_counted(arr: Any, weights: Any, minlength: Any, maxlength: Any, dtype: Any, axis: Any, binary: bool) -> Any:
    """A row of counts for each row."""
    arr = index_values.narrow(arr if axis == -1 else array_ops.reshape(arr, [-1]))
    size = math_ops.reduce_max(arr) + 1 if arr.shape.num_elements() != 0 else _convert(0)
    if minlength is not None:
        size = _op("Maximum", [index_values.tensor(minlength), size], {})
    if maxlength is not None:
        size = _op("Minimum", [index_values.tensor(maxlength), size], {})
    found = _convert([], dtype) if weights is None else _convert(weights)
    return _op("DenseBincount", [arr, size, found], {"binary_output": binary})


def top_k(input: Any, k: Any = 1, sorted: bool = True, index_type: Any = dtypes.int32, name: str | None = None) -> Outputs["TopKV2"]:  # noqa: A002
    """The `k` largest values along the last dimension and their indices; in descending order if `sorted`."""
    found = nn_ops.top_k(input, k, sorted, name)
    kind = dtypes.as_dtype(index_type)
    return found if kind is dtypes.int32 else type(found)(found[0], math_ops.cast(found[1], kind))


def approx_max_k(
    operand: Any, k: int, reduction_dimension: int = -1, recall_target: float = 0.95, reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True, name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """The k largest; no approximation is needed where it would gain nothing."""
    return _extremes(_convert(operand), int(k), reduction_dimension, True)


def approx_min_k(
    operand: Any, k: int, reduction_dimension: int = -1, recall_target: float = 0.95, reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True, name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """The `k` smallest values along a dimension and their indices; here exact."""
    return _extremes(_convert(operand), int(k), reduction_dimension, False)


def _extremes(x: Any, k: int, axis: int, largest: bool) -> Any:
    last = list(range(x.shape.rank))
    last[axis], last[-1] = last[-1], last[axis]
    turned = array_ops.transpose(x if largest else -x, last)
    values, indices = _op("TopKV2", [turned, k], {})
    return array_ops.transpose(values if largest else -values, last), array_ops.transpose(indices, last)


def confusion_matrix(
    labels: Any, predictions: Any, num_classes: Any = None, weights: Any = None, dtype: Any = dtypes.int32, name: str | None = None
) -> Tensor:
    """Matrix whose entry [i, j] counts (or sums the weights of) examples with label i and prediction j."""
    labels = math_ops.cast(_convert(labels), dtypes.int64)
    predictions = math_ops.cast(_convert(predictions), dtypes.int64)
    if num_classes is None:
        num_classes = _op("Maximum", [math_ops.reduce_max(predictions), math_ops.reduce_max(labels)], {}) + 1
    n = math_ops.cast(num_classes, dtypes.int64)
    values = array_ops.ones_like(predictions, dtype) if weights is None else math_ops.cast(weights, dtype)
    return _op("ScatterNd", [array_ops.stack([labels, predictions], axis=1), values, array_ops.stack([n, n])], {}, name)


def in_top_k(targets: Any, predictions: Any, k: Any, name: str | None = None) -> Tensor:
    """Whether the target class of each row is among its `k` largest predictions."""
    return nn_ops.in_top_k(predictions, targets, k, name)


def cumulative_logsumexp(x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None) -> Tensor:
    """`log(cumsum(exp(x)))` along `axis` without overflow."""
    return _op("CumulativeLogsumexp", [x, axis], {"exclusive": exclusive, "reverse": reverse}, name)


def _differences(x: Any) -> Any:
    flat = array_ops.reshape(_convert(x), [-1])
    return flat[1:] - flat[:-1]


def is_non_decreasing(x: Any, name: str | None = None) -> Tensor:
    """Whether no element is less than the one before it, as a bool scalar."""
    d = _differences(x)
    return math_ops.reduce_all(_op("LessEqual", [_convert(0, d.dtype), d], {}))


def is_strictly_increasing(x: Any, name: str | None = None) -> Tensor:
    """Whether each element is greater than the one before it, as a bool scalar."""
    d = _differences(x)
    return math_ops.reduce_all(_op("Less", [_convert(0, d.dtype), d], {}))


def lbeta(x: Any, name: str | None = None) -> Tensor:
    """Logarithm of the absolute value of the Beta function over the last dimension."""
    x = _convert(x)
    parts = math_ops.reduce_sum(_op("Lgamma", [x], {}), -1)
    return parts - _op("Lgamma", [math_ops.reduce_sum(x, -1)], {})


def polyval(coeffs: Any, x: Any, name: str | None = None) -> Tensor:
    """Value of the polynomial with the listed coefficients, the highest power first, at `x`."""
    if not isinstance(coeffs, list):
        raise ValueError(f"Argument coeffs must be list type. Received type {type(coeffs)}.")
    x = _convert(x)
    if not coeffs:
        return array_ops.zeros_like(x)
    total = _convert(coeffs[0], dtype_hint=x.dtype)
    for c in coeffs[1:]:
        index_values.check(c, total.dtype)
        total = c + total * x
    return total


def _segment_count(data: Any, segment_ids: Any, num_segments: Any) -> Any:
    ones = array_ops.ones_like(segment_ids, dtype=data.dtype)
    n = _op("UnsortedSegmentSum", [ones, segment_ids, num_segments], {})
    extra = data.shape.rank - _convert(segment_ids).shape.rank
    n = array_ops.reshape(n, n.shape.as_list() + [1] * extra)
    return _op("Maximum", [n, _convert(1, data.dtype)], {})


def unsorted_segment_mean(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Tensor:
    """Mean of the rows of each segment; `segment_ids` in any order, empty segments give 0."""
    data = _convert(data)
    return _op("UnsortedSegmentSum", [data, segment_ids, num_segments], {}) / _segment_count(data, segment_ids, num_segments)


def unsorted_segment_sqrt_n(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Tensor:
    """Sum of the rows of each segment over the square root of their number; empty segments give 0."""
    data = _convert(data)
    n = _segment_count(data, segment_ids, num_segments)
    return _op("UnsortedSegmentSum", [data, segment_ids, num_segments], {}) / math_ops.sqrt(n)


def sobol_sample(dim: Any, num_results: Any, skip: Any = 0, dtype: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """Points of the Sobol sequence in the unit cube, a row each, after `skip` of them."""
    return _op("SobolSample", [dim, num_results, skip], {"dtype": dtype}, name)


def softmax(logits: Any, axis: Any = None, name: str | None = None) -> Tensor:
    """`exp(x) / sum(exp(x))` along `axis`: values that add up to 1."""
    return nn_ops.softmax(logits, axis, name)


def log_softmax(logits: Any, axis: Any = None, name: str | None = None) -> Tensor:
    """`x - log(sum(exp(x)))` along `axis`: the logarithm of softmax."""
    return nn_ops.log_softmax(logits, axis, name)
