"""`tf.ragged.*`."""

from __future__ import annotations

from typing import Any, TYPE_CHECKING

import numpy as np

from emplace.eager.ragged import elementwise, joining, rows
from emplace.eager.ragged.tensor import RaggedTensor
from emplace.framework import array_ops, dtypes, math_ops, ops
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import convert_to_tensor as _convert

if TYPE_CHECKING:
    from emplace.framework.tensor import Tensor


_MAX_RAGGED_RANK = 1000  # each is a level of Python's calls


def _depth(value: Any) -> int:
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value.ndim
    if not isinstance(value, (list, tuple, np.ndarray)):
        return 0
    return 1 + max((_depth(v) for v in value), default=0)


def _scalar_depth(value: Any) -> int | None:
    """How deep the scalars lie; all of them must lie as deep."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value.ndim if value.size else None
    if not isinstance(value, (list, tuple, np.ndarray)):
        return 0
    depths = {d for d in map(_scalar_depth, value) if d is not None}
    if len(depths) > 1:
        raise ValueError("all scalar values must have the same nesting depth")
    return 1 + depths.pop() if depths else None


def constant(
    pylist: Any, dtype: Any = None, ragged_rank: int | None = None, inner_shape: Any = None, name: str | None = None,
    row_splits_dtype: Any = dtypes.int64,
) -> Any:
    """A ragged tensor of nested lists, whose inner lists may differ in length."""
    kind = dtypes.as_dtype(row_splits_dtype)
    if ragged_rank is not None and ragged_rank > _MAX_RAGGED_RANK:
        raise ValueError(f"ragged_rank={ragged_rank} is beyond {_MAX_RAGGED_RANK}")
    depth, scalars = _depth(pylist), _scalar_depth(pylist)
    if scalars is not None and scalars < depth:
        raise ValueError(f"Invalid pylist={pylist}: empty list nesting is greater than scalar value nesting")
    if not depth or ragged_rank == 0 or ragged_rank is None and depth == 1:
        if ragged_rank or inner_shape and not depth:
            raise ValueError(f"Invalid pylist={pylist}: incompatible with ragged_rank={ragged_rank}")
        return _convert(np.zeros(inner_shape or [0], np.float32) if pylist in ([], ()) else pylist, dtype)
    if inner_shape is not None:
        inner_shape = tuple(inner_shape)
    if ragged_rank is None:
        ragged_rank = max(1, depth - 1 - len(inner_shape or ()))
    if ragged_rank >= depth and scalars is not None:
        raise ValueError(f"Invalid pylist={pylist}: incompatible with ragged_rank={ragged_rank}")
    levels, flat = [], pylist
    while len(levels) < ragged_rank:
        lengths = [len(v) for v in flat]
        levels.append(np.cumsum([0, *lengths]))
        flat = [item for v in flat for item in v]
    with ops.name_scope(name, "RaggedConstant", []):
        return _assembled(flat, levels, depth - ragged_rank, dtype, inner_shape, kind)


def _assembled(flat: list[Any], levels: list[Any], inner_depth: int, dtype: Any, inner_shape: Any, kind: Any) -> Any:
    if flat and all(isinstance(v, np.generic) for v in flat) and dtype is None:
        dtype = dtypes.as_dtype(np.asarray(flat).dtype) if np.asarray(flat).dtype.kind not in "SU" else dtypes.string
    if flat:
        values = _convert([v.tolist() if isinstance(v, (np.ndarray, np.generic)) else v for v in flat], dtype, name="values")
    else:
        values = array_ops.zeros([0, *(inner_shape or [0] * (inner_depth - 1))], dtypes.float32 if dtype is None else dtypes.as_dtype(dtype))
    if flat and inner_shape is not None and tuple(values.shape.as_list()[1:]) != inner_shape:
        raise ValueError(f"inner_shape {inner_shape} does not fit the values")
    for ends in reversed(levels):
        values = RaggedTensor(values, _convert(ends, kind))
    return values


def range(starts: Any, limits: Any = None, deltas: Any = 1, dtype: Any = None, name: str | None = None, row_splits_dtype: Any = dtypes.int64) -> Any:  # noqa: A001
    """A ragged row of numbers for each start, limit and step, as Python's `range` gives them."""
    if limits is None:
        starts, limits = 0, starts
    starts, limits, deltas = _same_kind(starts, limits, deltas, dtype)
    total = starts + limits + deltas
    if total.shape.rank == 0:
        total = array_ops.reshape(total, [1])
    zero = array_ops.zeros_like(total)
    starts, limits, deltas = starts + zero, limits + zero, deltas + zero
    kind = dtypes.as_dtype(row_splits_dtype)
    counts = math_ops.ceil(math_ops.cast(limits - starts, dtypes.float64) / math_ops.cast(deltas, dtypes.float64))
    counts = math_ops.cast(_op("Maximum", [counts, array_ops.zeros_like(counts)], {}), kind)
    splits = rows.ends(counts)
    row = rows.ids(splits)
    within = math_ops.range(array_ops.shape(row, out_type=kind)[0]) - array_ops.gather(splits, row)
    values = array_ops.gather(starts, row) + math_ops.cast(within, starts.dtype) * array_ops.gather(deltas, row)
    return RaggedTensor(values, splits)


def _same_kind(starts: Any, limits: Any, deltas: Any, dtype: Any) -> Any:
    if dtype is None:
        kinds = [_convert(v).dtype for v in (starts, limits, deltas)]
        order = [dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64]
        dtype = max(kinds, key=order.index)
    return [math_ops.cast(_convert(v), dtype) for v in (starts, limits, deltas)]


def map_flat_values(op: Any, *args: Any, **kwargs: Any) -> Any:
    """`op` on the flat values of its ragged arguments, which must have the same rows."""
    given = [a for a in (*args, *kwargs.values()) if isinstance(a, RaggedTensor)]
    if not given:
        return op(*args, **kwargs)
    for other in given[1:]:
        elementwise.check_rows(given[0], other)
    flat = [a.flat_values if isinstance(a, RaggedTensor) else a for a in args]
    named = {k: a.flat_values if isinstance(a, RaggedTensor) else a for k, a in kwargs.items()}
    result = _convert(op(*flat, **named))
    if result.shape.rank == 0 or result.shape[0] != given[0].flat_values.shape[0]:
        raise ValueError(f"tf.ragged.map_flat_values requires that the output of `op` have the same outer-dimension size as flat_values of any ragged inputs. (output shape: {result.shape}; expected outer dimension: {given[0].flat_values.shape[0]})")
    return given[0].with_flat_values(result)


def boolean_mask(data: Any, mask: Any, name: str | None = None) -> Any:
    """What the mask keeps; rows of a mask of two axes stay rows."""
    data = data if isinstance(data, RaggedTensor) else _convert(data)
    mask = mask if isinstance(mask, RaggedTensor) else _convert(mask, dtypes.bool)
    if mask.dtype != dtypes.bool:
        raise TypeError("mask must have dtype bool")
    if not isinstance(mask, RaggedTensor):
        if mask.shape.rank == 0:
            raise ValueError("mask cannot be scalar.")
        if mask.shape.rank == 1:
            return elementwise.gather(data, array_ops.reshape(array_ops.where_v2(mask), [-1]))
        mask = RaggedTensor.from_tensor(mask, ragged_rank=mask.shape.rank - 1)
    if not isinstance(data, RaggedTensor):
        data = RaggedTensor.from_tensor(data, ragged_rank=mask.ragged_rank)
    elementwise.check_rows(mask, data, mask.ragged_rank)
    inner = boolean_mask(data.values, mask.values)
    kept = math_ops.cast(mask.values, dtypes.int64) if not isinstance(mask.values, RaggedTensor) else None
    if kept is None:  # deeper rows stay, however few of their elements do
        return RaggedTensor(inner, data.row_splits)
    total = rows.ends(kept)
    return RaggedTensor(inner, array_ops.gather(total, mask.row_splits))


def cross(inputs: Any, name: str | None = None) -> Any:
    """Each row's values, one of every input, joined in all ways."""
    from emplace.eager.sparse import counting

    return RaggedTensor(*counting.ragged_cross(inputs, None, name))


def cross_hashed(inputs: Any, num_buckets: Any = 0, hash_key: Any = None, name: str | None = None) -> Any:
    """The crosses of `cross`, as numbers of buckets."""
    from emplace.eager.sparse import counting

    return RaggedTensor(*counting.ragged_cross(inputs, counting.hashed(num_buckets, hash_key), name))


def stack(values: Any, axis: int = 0, name: str | None = None) -> Any:
    """Tensors, ragged or not, put together along a new dimension."""
    return joining.stack(values, axis)


def row_splits_to_segment_ids(splits: Any, name: str | None = None, out_type: Any = None) -> Tensor:
    """For each value the number of its row, from where rows begin and end."""
    splits = rows.of_splits(splits)
    return math_ops.cast(rows.ids(splits), out_type or splits.dtype)


def segment_ids_to_row_splits(segment_ids: Any, num_segments: Any = None, out_type: Any = None, name: str | None = None) -> Tensor:
    """Where rows begin and end, from the row of each value in ascending order."""
    ids = rows.of_splits(segment_ids)
    return math_ops.cast(rows.of_ids(ids, num_segments), out_type or dtypes.int64)


def stack_dynamic_partitions(data: Any, partitions: Any, num_partitions: int, name: str | None = None) -> Any:
    """The rows of `data` sorted into `num_partitions` rows by their number in `partitions`."""
    data = data if isinstance(data, RaggedTensor) else _convert(data)
    partitions = _convert(partitions)
    order = np.argsort(partitions.numpy().reshape(-1), kind="stable")
    flat = array_ops.reshape(data, [-1, *data.shape.as_list()[partitions.shape.rank :]]) if isinstance(data, ops.Tensor) else data
    ids = array_ops.gather(array_ops.reshape(partitions, [-1]), order)
    return RaggedTensor.from_value_rowids(elementwise.gather(flat, _convert(order)), math_ops.cast(ids, dtypes.int64), int(num_partitions))
