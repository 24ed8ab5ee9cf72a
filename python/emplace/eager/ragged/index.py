"""`ragged[1:, 0, ..., ::2]`."""

from __future__ import annotations

from typing import Any

from emplace.eager.ragged import rows
from emplace.framework import array_ops, errors, math_ops
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import convert_to_tensor as _convert


def _is_ragged(value: Any) -> bool:
    return hasattr(value, "row_splits")


def getitem(ragged: Any, key: Any) -> Any:
    keys = list(key) if isinstance(key, (list, tuple)) else [key]
    if Ellipsis in [k for k in keys if k is Ellipsis]:
        at = next(i for i, k in enumerate(keys) if k is Ellipsis)
        given = sum(k is not None for k in keys) - 1
        if sum(k is Ellipsis for k in keys) > 1:
            raise ValueError("Only one ellipsis ... is allowed.")
        rank = ragged.shape.rank
        if given > rank:
            raise IndexError(f"Too many indices for a ragged tensor of rank {rank}")
        keys[at : at + 1] = [slice(None)] * (rank - given)
    return _item(ragged, keys)


def _item(value: Any, keys: list[Any]) -> Any:
    if not keys:
        return value
    if not _is_ragged(value):
        return value[tuple(keys)]
    first, rest = keys[0], keys[1:]
    if first is None:
        inner = _item(value, rest)
        return _new_axis(inner)
    if isinstance(first, slice):
        return _inner(_rows(value, first), rest)
    return _item(_row(value, first), rest)


def _new_axis(value: Any) -> Any:
    if not _is_ragged(value):
        return array_ops.expand_dims(value, 0)
    n = value.nrows()
    return type(value)(value, array_ops.stack([_convert(0, n.dtype), n]), value.shape[0])


def _row(value: Any, i: Any) -> Any:
    if isinstance(i, (str, bytes, float)) or getattr(i, "shape", None) is not None and len(i.shape):
        raise TypeError(f"Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 tensors are valid indices, got {i!r}")
    count = value.shape.as_list()[0]
    if isinstance(i, int) and count is not None and not -count <= i < count:
        raise IndexError(f"Row key {i} out of bounds")
    starts, limits = value.row_splits[:-1], value.row_splits[1:]
    return value.values[starts[i] : limits[i]]


def _rows(value: Any, key: slice) -> Any:
    if key == slice(None):
        return value
    starts, limits = value.row_splits[:-1][key], value.row_splits[1:][key]
    return _picked(value, starts, limits - starts)


def _picked(value: Any, starts: Any, lengths: Any) -> Any:
    at = rows.gather_ranges(starts, lengths)
    return type(value)(gather(value.values, at), rows.ends(lengths), value._uniform)


def gather(values: Any, indices: Any) -> Any:
    """Rows of what may be ragged."""
    if not _is_ragged(values):
        return array_ops.gather(values, indices)
    indices = math_ops.cast(indices, values.row_splits.dtype)
    starts = array_ops.gather(values.row_splits, indices)
    return _picked(values, starts, array_ops.gather(values.row_splits, indices + 1) - starts)


def _inner(value: Any, keys: list[Any]) -> Any:
    """The keys behind the first, applied to every row."""
    if not keys:
        return value
    first, rest = keys[0], keys[1:]
    if first is None:
        n = value.nrows()
        inner = _inner(value, rest)
        return type(value)(inner, math_ops.range(n + 1), 1)
    if isinstance(first, slice):
        cut = _columns(value, first)
        return cut if not rest else cut.with_values(_inner_of(cut.values, rest))
    return _item_inner(value, first, rest)


def _inner_of(values: Any, keys: list[Any]) -> Any:
    return _inner(values, keys) if _is_ragged(values) else values[tuple([slice(None), *keys])]


def _item_inner(value: Any, i: Any, rest: list[Any]) -> Any:
    if value._uniform is None:
        raise ValueError("Cannot index into an inner ragged dimension.")
    if value._uniform <= i or i < -value._uniform:
        raise errors.InvalidArgumentError(None, None, f"slice index {i} out of bounds")
    at = (value.row_splits[:-1] + i) if i >= 0 else (value.row_splits[1:] + i)
    picked = gather(value.values, at)
    return _inner_of(picked, rest) if rest else picked


def _columns(value: Any, key: slice) -> Any:
    """`[:, key]`."""
    step = 1 if key.step is None else int(key.step)
    if step == 0:
        raise errors.InvalidArgumentError(None, None, "slice step cannot be zero")
    if key == slice(None):
        return value
    lengths = value.row_lengths()
    none = array_ops.zeros_like(lengths)
    low, high = (none, lengths) if step > 0 else (none - 1, lengths - 1)
    ends = [default if edge is None else _clamped(edge, lengths, low, high) for edge, default in
            ((key.start, low if step > 0 else high), (key.stop, high if step > 0 else low))]  # fmt: skip
    count = math_ops.floordiv(ends[1] - ends[0] + (step - 1 if step > 0 else step + 1), _convert(step, lengths.dtype))
    count = _op("Maximum", [count, none], {})
    splits = rows.ends(count)
    row = rows.ids(splits)
    place = math_ops.range(splits[-1]) - array_ops.gather(splits, row)
    at = array_ops.gather(value.row_splits[:-1] + ends[0], row) + place * step
    uniform = None if value._uniform is None else len(range(value._uniform)[key])
    return type(value)(gather(value.values, at), splits, uniform)


def _clamped(edge: Any, lengths: Any, low: Any, high: Any) -> Any:
    edge = _convert(edge, lengths.dtype) if not hasattr(edge, "dtype") else math_ops.cast(edge, lengths.dtype)
    edge = array_ops.where_v2(edge < 0, edge + lengths, array_ops.zeros_like(lengths) + edge)
    return _op("Minimum", [_op("Maximum", [edge, low], {}), high], {})
