"""Ragged tensors side by side."""

from __future__ import annotations

from typing import Any

from emplace.eager.ragged import index, rows
from emplace.eager.ragged.tensor import RaggedTensor
from emplace.framework import array_ops, constant_op, dtypes, index_values, math_ops
from emplace.framework.ops import convert_to_tensor as _convert


def _as_ragged(value: Any, rank: int, kind: Any) -> Any:
    if isinstance(value, RaggedTensor):
        return value.with_row_splits_dtype(kind)
    value = _convert(value)
    return value if value.shape.rank < 2 else RaggedTensor.from_tensor(value, ragged_rank=max(1, min(rank, value.shape.rank - 1)), row_splits_dtype=kind)


def concat(values: Any, axis: int, name: str | None = None) -> Any:
    if not isinstance(values, (list, tuple)):
        values = [values]
    if len(values) == 1:
        return values[0]
    ragged = [v for v in values if isinstance(v, RaggedTensor)]
    rank, kind = max(v.ragged_rank for v in ragged), ragged[0].row_splits.dtype
    axis = index_values.axis(axis, ragged[0].shape.rank)
    parts = [_as_ragged(v, rank, kind) for v in values]
    if any(p.shape.rank != parts[0].shape.rank for p in parts):
        raise ValueError(f"Shapes {parts[0].shape} and {parts[-1].shape} must have the same rank")
    return _joined(parts, axis)


def _joined(parts: list[Any], axis: int) -> Any:
    if not any(isinstance(p, RaggedTensor) for p in parts):
        return array_ops.concat(parts, axis)
    if axis > 1:
        return parts[0].with_values(_joined([p.values for p in parts], axis - 1))
    if axis == 0:
        lengths = array_ops.concat([p.row_lengths() for p in parts], 0)
        return RaggedTensor(_joined([p.values for p in parts], 0), rows.ends(lengths))
    whole = _joined(parts, 0)
    # Row r of part p is row p * n + r of the whole: taken in the order r, p.
    n = parts[0].nrows()
    grid = array_ops.reshape(math_ops.range(n * len(parts)), [len(parts), -1])
    picked = index.gather(whole, array_ops.reshape(array_ops.transpose(grid), [-1]))
    lengths = math_ops.add_n([p.row_lengths() for p in parts])
    return RaggedTensor(picked.values, rows.ends(lengths))


def expand_dims(input: Any, axis: int, name: str | None = None) -> Any:  # noqa: A002
    if not isinstance(input, RaggedTensor):
        return array_ops.expand_dims(input, axis)
    axis = index_values.axis(axis, input.shape.rank + 1)
    n = input.nrows()
    if axis == 0:
        return RaggedTensor(input, array_ops.stack([_convert(0, n.dtype), n]), input.shape[0])
    if axis == 1:
        return RaggedTensor(input, math_ops.range(n + 1), 1)
    return input.with_values(expand_dims(input.values, axis - 1))


def stack(values: Any, axis: int = 0, name: str | None = None) -> Any:
    if not isinstance(values, (list, tuple)):
        values = [values]
    given = [v if isinstance(v, RaggedTensor) else _convert(v) for v in values]
    rank = given[0].shape.rank
    if rank == 0:
        return array_ops.stack(given)
    axis = index_values.axis(axis, rank + 1)
    if axis == 0:
        if rank == 1:  # vectors become rows
            lengths = array_ops.stack([array_ops.shape(v, out_type=dtypes.int64)[0] for v in given])
            return RaggedTensor(array_ops.concat(given, 0), rows.ends(lengths))
        parts = [_as_ragged(v, 1, dtypes.int64) for v in given]
        return RaggedTensor(_joined(parts, 0), rows.ends(array_ops.stack([p.nrows() for p in parts])))
    parts = [_as_ragged(v, 1, dtypes.int64) for v in given]
    if rank == 1:
        return RaggedTensor.from_tensor(array_ops.stack(given, axis))
    return concat([expand_dims(p, axis) for p in parts], axis)


def tile(input: Any, multiples: Any, name: str | None = None) -> Any:  # noqa: A002
    result = input
    multiples = _convert(multiples)
    known = multiples.numpy() if hasattr(multiples, "numpy") else constant_op.constant_value(multiples)
    if known is None:
        raise NotImplementedError("tf.tile of a ragged tensor takes multiples that are known when the function is traced")
    for axis, times in enumerate(int(m) for m in known):
        if times != 1:
            result = concat([result] * times, axis) if times else result[tuple([slice(None)] * axis + [slice(0, 0)])]
    return result


def reverse(tensor: Any, axis: Any, name: str | None = None) -> Any:
    axes = [index_values.axis(a, tensor.shape.rank) for a in (axis if isinstance(axis, (list, tuple)) else [axis])]
    return tensor[tuple(slice(None, None, -1) if a in axes else slice(None) for a in range(max(axes) + 1))]
