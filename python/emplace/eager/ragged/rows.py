"""Where rows end: splits, lengths, row numbers, and what follows from them."""

from __future__ import annotations

from typing import Any

from emplace.framework import array_ops, control_flow_ops, dtypes, errors, index_values, math_ops
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import convert_to_tensor as _convert


def of_splits(value: Any) -> Any:
    """int32 and int64 stay what they are; Python numbers become int64."""
    given = _convert(value, dtype_hint=dtypes.int64)
    if given.dtype not in (dtypes.int32, dtypes.int64):
        raise ValueError(f"row_splits must have dtype int32 or int64; got {given.dtype.name}")
    return given


def length(values: Any) -> Any:
    return values.nrows() if hasattr(values, "nrows") else array_ops.shape(values, out_type=dtypes.int64)[0]


def check(splits: Any, n: Any) -> Any:
    """`splits`, if they are those of rows of `n` values; in a graph it is seen when that runs."""
    if not hasattr(splits, "_numpy_of_eager"):
        return _checked_later(splits, math_ops.cast(n, splits.dtype))
    ends = splits.numpy()
    if ends[0] != 0:
        raise _unequal("Arguments to from_row_splits do not form a valid RaggedTensor:zero", ends[0], 0)
    if (ends[1:] < ends[:-1]).any():
        raise errors.InvalidArgumentError(None, None, "Arguments to from_row_splits do not form a valid RaggedTensor:monotonic")
    if hasattr(n, "_numpy_of_eager") and ends[-1] != int(n):
        raise _unequal("Arguments to _from_row_partition do not form a valid RaggedTensor", ends[-1], int(n))
    return splits


def _checked_later(splits: Any, n: Any) -> Any:
    right = _op("LogicalAnd", [math_ops.equal(splits[0], 0), math_ops.reduce_all(splits[1:] >= splits[:-1])], {})
    right = _op("LogicalAnd", [right, math_ops.equal(splits[-1], n)], {})
    said = "Arguments do not form a valid RaggedTensor: row splits begin with 0, ascend and end with the number of values. Splits, values:"
    holds = _op("Assert", [right, [said, splits, n]], {})
    return control_flow_ops.with_dependencies([holds], splits)


def _unequal(said: str, x: int, y: int) -> errors.OpError:
    return errors.InvalidArgumentError(
        None, None, f"{said}\nCondition x == y did not hold.\nFirst 1 elements of x:\n[{x}]\nFirst 1 elements of y:\n[{y}]"
    )


def ends(lengths: Any) -> Any:
    return array_ops.concat([_convert([0], lengths.dtype), math_ops.cumsum(lengths)], 0)


def of_ids(ids: Any, nrows: Any) -> Any:
    if nrows is None:
        n = array_ops.shape(ids)[0]
        nrows = math_ops.cast(ids[-1] + 1, dtypes.int32) if ids.shape[0] else n
    counts = _op("UnsortedSegmentSum", [array_ops.ones_like(ids), ids, nrows if hasattr(nrows, "dtype") else index_values.tensor(nrows, wide=True)], {})
    return ends(counts)


def ids(splits: Any) -> Any:
    """The number of the row that each value stands in."""
    numbers = math_ops.range(splits[-1])
    return array_ops.searchsorted(splits[1:], numbers, side="right", out_type=splits.dtype)


def longest(lengths: Any, dtype: Any) -> Any:
    if lengths.shape[0] == 0:
        return _convert(0, dtype)
    return math_ops.cast(math_ops.reduce_max(lengths), dtype)


def gather_ranges(starts: Any, lengths: Any) -> Any:
    """The numbers of `starts[i] … starts[i] + lengths[i] - 1`, one range after another."""
    splits = ends(lengths)
    return math_ops.range(splits[-1]) + array_ops.gather(starts - splits[:-1], ids(splits))


def merged(ragged: Any, axis: int) -> Any:
    """Axes `axis` and `axis + 1` made one."""
    values = ragged.values
    if axis == 0:
        return values
    if not hasattr(values, "row_splits"):  # uniform axes of the values
        shape = array_ops.shape(values)
        if axis > 1:
            wide = shape[axis - 1] * shape[axis]
            size = array_ops.concat([shape[: axis - 1], array_ops.reshape(wide, [1]), shape[axis + 1 :]], 0)
            return ragged.with_values(array_ops.reshape(values, size))
        flat = array_ops.reshape(values, array_ops.concat([array_ops.reshape(shape[0] * shape[1], [1]), shape[2:]], 0))
        splits = ragged.row_splits * math_ops.cast(shape[1], ragged.row_splits.dtype)
        return type(ragged)(flat, splits)
    if axis > 1:
        return ragged.with_values(merged(values, axis - 1))
    return type(ragged)(values.values, array_ops.gather(values.row_splits, ragged.row_splits))
