"""Between ragged and dense tensors."""

from __future__ import annotations

from typing import Any

from emplace.eager import context
from emplace.eager.ragged import rows
from emplace.framework import array_ops, dtypes, math_ops, tensor_shape
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import convert_to_tensor as _convert
from emplace.gradients import common


def _lengths_before_padding(tensor: Any, padding: Any, ragged_rank: int, kind: Any) -> Any:
    padding = _convert(padding, tensor.dtype)
    if padding.shape.rank and padding.shape.rank > tensor.shape.rank - 1 - ragged_rank:
        raise ValueError(f"Shape {padding.shape} of the padding is not that of an element of {tensor.shape}")
    differs = _op("NotEqual", [tensor, padding], {"incompatible_shape_error": True})
    inner = list(range(ragged_rank + 1, tensor.shape.rank))
    differs = math_ops.reduce_any(differs, inner) if inner else differs
    n = array_ops.shape(differs, out_type=kind)[ragged_rank]
    numbers = math_ops.cast(differs, kind) * math_ops.range(_convert(1, kind), n + 1)
    return array_ops.reshape(math_ops.reduce_max(numbers, -1), [-1])


def ragged_of(tensor: Any, lengths: Any, padding: Any, ragged_rank: int, kind: Any) -> Any:
    from emplace.eager.ragged.tensor import RaggedTensor

    if tensor.shape.rank is not None and tensor.shape.rank < 2:
        raise ValueError(f"Shape {tensor.shape} must have rank at least 2")
    if isinstance(lengths, (list, tuple)) and lengths and isinstance(lengths[0], (list, tuple)):
        made = ragged_of(tensor, lengths[0], None, 1, kind)
        for depth, level in enumerate(lengths[1:], 1):
            made = made.with_flat_values(ragged_of(made.flat_values, level, None, 1, kind))
        return made
    if ragged_rank > 1:
        shape = array_ops.shape(tensor)
        flat = array_ops.reshape(tensor, array_ops.concat([[-1], shape[ragged_rank:]], 0))
        given = _lengths_before_padding(tensor, padding, ragged_rank, kind) if padding is not None else lengths
        made = ragged_of(flat, given, None, 1, kind)
        for axis in reversed(range(1, ragged_rank)):
            made = RaggedTensor.from_uniform_row_length(made, int(shape[axis]), nrows=int(math_ops.reduce_prod(shape[:axis])))
        return made
    shape = array_ops.shape(tensor, out_type=kind)
    n, width = shape[0], shape[1]
    if padding is not None:
        lengths = _lengths_before_padding(tensor, padding, 1, kind)
    if lengths is None:
        flat = array_ops.reshape(tensor, array_ops.concat([[-1], math_ops.cast(shape[2:], dtypes.int32)], 0))
        return RaggedTensor(flat, math_ops.range(n + 1) * width, tensor.shape[1])
    lengths = math_ops.cast(_convert(lengths, dtype_hint=kind), kind)
    lengths = _op("Minimum", [_op("Maximum", [lengths, _convert(0, kind)], {}), width], {})
    kept = array_ops.boolean_mask(tensor, array_ops.sequence_mask(lengths, width))
    return RaggedTensor(kept, rows.ends(lengths))


def indices(ragged: Any) -> Any:
    """[n, rank]: where each of the flat values stands."""
    splits = [math_ops.cast(s, dtypes.int64) for s in ragged.nested_row_splits]
    columns: list[Any] = []
    for level in splits:
        row = rows.ids(level)
        within = math_ops.range(array_ops.shape(row, out_type=dtypes.int64)[0]) - array_ops.gather(level, row)
        columns = [array_ops.gather(c, row) for c in columns] if columns else [row]
        columns.append(within)
    flat = ragged.flat_values
    made = array_ops.stack(columns, 1)
    if flat.shape.rank == 1:
        return made
    inner = [int(d) for d in flat.shape.as_list()[1:]]
    grid = array_ops.reshape(array_ops.stack(_grid(inner), -1), [-1, len(inner)])
    k, n = grid.shape[0], array_ops.shape(made)[0]
    left = array_ops.reshape(_op("Tile", [array_ops.expand_dims(made, 1), array_ops.stack([1, k, 1])], {}), [-1, len(columns)])
    right = _op("Tile", [grid, array_ops.stack([n, 1])], {})
    return array_ops.concat([left, right], 1)


def _grid(sizes: list[int]) -> Any:
    return array_ops.meshgrid(*(math_ops.range(s, dtype=dtypes.int64) for s in sizes), indexing="ij")


def _sized(ragged: Any, shape: Any) -> Any:
    """The shape of the result, and which of the given sizes cut something off."""
    bounding = ragged.bounding_shape(out_type=dtypes.int64)
    if shape is None:
        return bounding, []
    wanted = tensor_shape.as_shape(shape) if not hasattr(shape, "dtype") else tensor_shape.TensorShape(shape.numpy().tolist())
    if wanted.rank is None:
        return bounding, []
    sizes = [None if d in (None, -1) else d for d in wanted.as_list()]
    final = array_ops.stack([bounding[i] if d is None else _convert(d, dtypes.int64) for i, d in enumerate(sizes)])
    return final, [i for i, d in enumerate(sizes) if d is not None and i <= ragged.ragged_rank]


def _at_once(ragged: Any, flat: Any) -> Any:
    """By one operation, where nobody asks for its gradient: it has none."""
    levels, level = [], ragged
    while hasattr(level, "row_splits"):
        if level.uniform_row_length is not None:
            return None
        levels.append(level.row_splits)
        level = level.values
    attrs = {"row_partition_types": ["ROW_SPLITS"] * len(levels)}
    return _op("RaggedTensorToTensor", [_convert(-1, dtypes.int64), flat, array_ops.zeros([], flat.dtype), levels], attrs)


def tensor_of(ragged: Any, default: Any, shape: Any) -> Any:
    flat = ragged.flat_values
    if default is None and shape is None and common.is_eager(flat) and not context._state.recorders and not context.current_device():
        made = _at_once(ragged, flat)
        if made is not None:
            return made
    size, cut = _sized(ragged, shape)
    depth = ragged.ragged_rank + 1
    outer = ragged.with_flat_values(math_ops.range(array_ops.shape(flat)[0]))
    where, values = indices(outer), flat
    if cut:
        inside = math_ops.reduce_all(where < size[:depth], 1)
        where, values = array_ops.boolean_mask(where, inside), array_ops.boolean_mask(values, inside)
    if default is None:
        base = array_ops.zeros(size, flat.dtype)
    else:
        base = _op("BroadcastTo", [_convert(default, flat.dtype), size], {})
    return _op("TensorScatterUpdate", [base, where, values], {})
