"""Sums and the like over the rows or columns of ragged tensors."""

from __future__ import annotations

from typing import Any

from emplace.eager.ragged import rows
from emplace.framework import array_ops, dtypes, index_values, math_ops
from emplace.framework.dispatch import execute as _op

NAMES = ("reduce_sum", "reduce_prod", "reduce_max", "reduce_min", "reduce_mean", "reduce_all", "reduce_any")
_SEGMENTS = {"reduce_sum": "UnsortedSegmentSum", "reduce_prod": "UnsortedSegmentProd", "reduce_max": "UnsortedSegmentMax",
             "reduce_min": "UnsortedSegmentMin", "reduce_all": "UnsortedSegmentMin", "reduce_any": "UnsortedSegmentMax"}  # fmt: skip


def reduction(word: str) -> Any:
    def function(input_tensor: Any, axis: Any = None, keepdims: bool = False, separator: Any = None, name: str | None = None) -> Any:
        from emplace.eager.functions import maths
        from emplace.eager.ragged import joining

        if axis is None and word == "reduce_mean" and not keepdims:
            flat = input_tensor.flat_values
            return math_ops.truediv(math_ops.reduce_sum(flat), math_ops.cast(array_ops.size(flat), flat.dtype))
        if axis is None:
            return getattr(maths, word)(input_tensor.flat_values, None, keepdims)
        rank = input_tensor.shape.rank
        axes = sorted({index_values.axis(a, rank) for a in (axis if isinstance(axis, (list, tuple)) else [axis])}, reverse=True)
        result = input_tensor
        for a in axes:
            result = _along(word, result, a)
            if keepdims:
                result = joining.expand_dims(result, a) if hasattr(result, "row_splits") else array_ops.expand_dims(result, a)
        return result

    function.__name__ = word
    return function


def _along(word: str, value: Any, axis: int) -> Any:
    from emplace.eager.functions import maths

    if not hasattr(value, "row_splits"):
        return getattr(maths, word)(value, axis)
    if axis == 0:
        return _columns(word, value)
    if axis == 1:
        return _rows(word, value)
    return value.with_values(_along(word, value.values, axis - 1))


def _segments(word: str, values: Any, ids: Any, n: Any) -> Any:
    n = math_ops.cast(n, dtypes.int32)
    if word == "reduce_mean":
        ones = array_ops.ones_like(values)
        return math_ops.truediv(_segments("reduce_sum", values, ids, n), _segments("reduce_sum", ones, ids, n))
    if word in ("reduce_all", "reduce_any"):
        found = _op(_SEGMENTS[word], [math_ops.cast(values, dtypes.int32), ids, n], {})
        return found > 0  # the least and greatest number stand for "of nothing"
    return _op(_SEGMENTS[word], [values, ids, n], {})


def _rows(word: str, value: Any) -> Any:
    inner = value.values
    if not hasattr(inner, "row_splits"):
        return _segments(word, inner, value.value_rowids(), value.nrows())
    row = value.value_rowids()  # of each inner row
    lengths = inner.row_lengths()
    widths = _op("UnsortedSegmentMax", [lengths, row, math_ops.cast(value.nrows(), dtypes.int32)], {})
    splits = rows.ends(_op("Maximum", [widths, array_ops.zeros_like(widths)], {}))
    at = array_ops.gather(splits, array_ops.gather(row, inner.value_rowids())) + _within(inner)
    return type(value)(_segments(word, inner.values, at, splits[-1]), splits)


def _within(value: Any) -> Any:
    ids = value.value_rowids()
    return math_ops.range(array_ops.shape(ids, out_type=ids.dtype)[0]) - array_ops.gather(value.row_splits, ids)


def _columns(word: str, value: Any) -> Any:
    widest = rows.longest(value.row_lengths(), dtypes.int64)
    if not hasattr(value.values, "row_splits"):
        return _segments(word, value.values, _within(value), widest)
    # The rows of a column, one after another, become the rows of another ragged tensor.
    from emplace.eager.ragged import index

    at = _within(value)
    order = _op("TopKV2", [-at, array_ops.shape(at)[0]], {})[1]
    sorted_rows = index.gather(value.values, order)
    return _rows(word, type(value)(sorted_rows, rows.of_ids(array_ops.gather(at, order), math_ops.cast(widest, dtypes.int32))))
