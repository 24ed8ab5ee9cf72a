"""Gradients of picking rows and of putting them back."""

from __future__ import annotations

from typing import Any

from emplace.framework import array_ops, constant_op, dtypes, math_ops, ops
from emplace.framework.dispatch import execute as _op
from emplace.gradients.common import is_eager, known
from emplace.gradients.registry import gradient


@gradient("GatherV2")
def _gather(op: Any, grad: Any) -> Any:
    x, indices, axis = op.inputs
    at = known(axis)
    batch = int(op.get_attr("batch_dims"))
    if at is not None and int(at) == 0 and not batch:
        return _rows(x, indices, grad, lambda: _shape_with(x)), None, None
    if is_eager(x):
        return _gather_batches(x, indices, grad, int(at) % x.shape.rank, batch), None, None
    return _gather_along(op, grad, batch), None, None


def _gather_along(op: Any, grad: Any, batch: int) -> Any:
    """The picked axes go to the front, are summed by row, and the rows go back to their place; the
    ranks may be unknown."""
    x, indices, axis = op.inputs
    shape = _shape_with(x)
    if batch < 0:
        batch += indices.shape.rank
    size = array_ops.size(indices)
    count = array_ops.expand_dims(size, 0)
    outer = shape[:axis]
    inner = shape[axis:][1:]
    picked = -1 if batch else known(size)
    flat = array_ops.concat([outer, count if picked is None else [int(picked)], inner], 0)
    rank, at = array_ops.size(flat), array_ops.size(outer)
    batches = math_ops.range(batch)
    before = math_ops.range(batch, at)
    behind = math_ops.range(at + 1, rank)
    values = array_ops.reshape(grad, flat)
    order = array_ops.concat([batches, [at], before, behind], 0)
    moved = array_ops.transpose(values, order)
    moved_shape = array_ops.gather(shape, order)
    rows = shape[axis]
    count = array_ops.expand_dims(array_ops.size(indices), 0)
    if batch:
        total = _summed_by_batch(moved, moved_shape, indices, batch, rows, count)
    else:
        total = _op("UnsortedSegmentSum", [moved, array_ops.reshape(indices, count), rows], {})
    back = array_ops.concat([batches, before + 1, [batch], behind], 0)
    out = array_ops.transpose(total, back)
    return array_ops.reshape(out, array_ops.shape(x))


def _summed_by_batch(values: Any, shape: Any, indices: Any, batch: int, rows: Any, count: Any) -> Any:
    """Sums by row, the rows of each batch being numbered apart; `shape` is that of the result."""
    sizes = array_ops.shape(values)
    outer = sizes[:batch]
    inner = sizes[batch:][1:]
    batches = _op("Prod", [outer, [0]], {})
    flat = array_ops.concat([[-1], inner], 0)
    total = rows * batches
    indices = _numbered_apart(shape, indices, batch)
    summed = _op("UnsortedSegmentSum", [array_ops.reshape(values, flat), array_ops.reshape(indices, count), total], {})
    return array_ops.reshape(summed, array_ops.concat([outer, flat], 0))


def _numbered_apart(shape: Any, indices: Any, batch: int) -> Any:
    """Indices into the rows of all batches, one batch behind the other."""
    kind = indices.dtype.base_dtype
    shape = math_ops.cast(shape, kind)
    step = array_ops.ones((), dtype=kind)
    for i in reversed(range(batch)):
        size, step = shape[i], step * shape[i + 1]
        first = math_ops.range(array_ops.zeros((), dtype=kind), size, array_ops.ones((), dtype=kind)) * step
        before = _op("Tile", [[1], [i]], {})
        behind = _op("Tile", [[1], [array_ops.rank(indices) - (i + 1)]], {})
        axes = array_ops.concat([before, [size], behind], 0)
        indices += array_ops.reshape(first, axes)
    return indices


def _shape_with(x: Any) -> Any:
    if is_eager(x):
        return array_ops.shape(x)
    with ops.colocate_with(x):
        return array_ops.shape(x)


def _rows(x: Any, indices: Any, grad: Any, shape_of: Any) -> Any:
    """The gradient of picked rows, as rows."""
    shape = shape_of()
    count = array_ops.expand_dims(array_ops.size(indices), 0)
    values = array_ops.reshape(grad, array_ops.concat([count, shape[1:]], 0))
    return ops.IndexedSlices(values, array_ops.reshape(indices, count), shape)


def _gather_batches(x: Any, indices: Any, grad: Any, at: int, batch: int) -> Any:
    """Each batch's rows are numbered apart; then the picked axes go to the front, are summed by
    row, and the rows go back to their place."""
    rank, inner = x.shape.rank, indices.shape.rank - batch
    shape = array_ops.shape(x)
    if batch:
        sizes = array_ops.shape(indices)
        count = math_ops.reduce_prod(shape[:batch])
        offsets = math_ops.range(count) * shape[at]
        ones = array_ops.ones([inner], dtype=dtypes.int32)
        offsets = array_ops.reshape(offsets, array_ops.concat([sizes[:batch], ones], 0))
        indices = indices + math_ops.cast(offsets, indices.dtype)
    picked = [*range(batch), *range(at, at + inner)]
    rest = [i for i in range(rank + inner - 1) if i not in picked]
    moved = array_ops.transpose(grad, picked + rest)
    kept = [i for i in range(rank) if i >= batch and i != at]
    inner_shape = array_ops.stack([shape[i] for i in kept]) if kept else array_ops.zeros([0], dtype=dtypes.int32)
    flat = array_ops.reshape(moved, array_ops.concat([[-1], inner_shape], 0))
    rows = math_ops.reduce_prod(array_ops.stack([shape[i] for i in [*range(batch), at]]))
    total = _op("UnsortedSegmentSum", [flat, array_ops.reshape(indices, [-1]), rows], {})
    leading = array_ops.stack([shape[i] for i in [*range(batch), at]])
    spread = array_ops.reshape(total, array_ops.concat([leading, inner_shape], 0))
    order = [*range(batch), at, *kept]
    return array_ops.transpose(spread, [order.index(i) for i in range(rank)])


@gradient("ResourceGather")
def _resource_gather(op: Any, grad: Any) -> Any:
    handle, indices = op.inputs
    return _rows(handle, indices, grad, lambda: variable_shape(handle)), None


def variable_shape(handle: Any) -> Any:
    """A constant where the variable's maker says it."""
    maker = None if is_eager(handle) else getattr(handle, "op", None)
    if maker is not None and maker.type == "VarHandleOp":
        sizes = maker._node.attr("shape")
        if sizes is not None and None not in list(sizes):
            return constant_op.constant(list(sizes), dtype=dtypes.int32)
    return _op("VariableShape", [handle], {})


@gradient("Gather")
def _gather_v1(op: Any, grad: Any) -> Any:
    x, indices = op.inputs
    return _rows(x, indices, grad, lambda: _shape_with(x)), None


@gradient("ResourceGatherNd")
def _resource_gather_nd(op: Any, grad: Any) -> Any:
    handle, indices = op.inputs
    shape = _op("VariableShape", [handle], {"out_type": indices.dtype.base_dtype})
    if indices.shape.rank == 2 and indices.shape.as_list()[-1] == 1:
        return ops.IndexedSlices(grad, array_ops.squeeze(indices, axis=-1), shape), None
    return _op("ScatterNd", [indices, grad, shape], {}), None


@gradient("GatherNd")
def _gather_nd(op: Any, grad: Any) -> Any:
    x, indices = op.inputs
    shape = array_ops.shape(x, out_type=indices.dtype)
    if indices.shape.rank == 2 and indices.shape.as_list()[-1] == 1:
        return ops.IndexedSlices(grad, array_ops.squeeze(indices, axis=-1), shape), None
    return _op("ScatterNd", [indices, grad, shape], {}), None


@gradient("ScatterNd")
def _scatter_nd(op: Any, grad: Any) -> Any:
    return None, array_ops.gather_nd(grad, op.inputs[0]), None


@gradient("TensorScatterAdd", "ScatterNdNonAliasingAdd")
def _tensor_scatter_add(op: Any, grad: Any) -> Any:
    picked = array_ops.gather_nd(grad, op.inputs[1])
    return array_ops.identity(grad), None, picked


@gradient("TensorScatterSub")
def _tensor_scatter_sub(op: Any, grad: Any) -> Any:
    picked = array_ops.gather_nd(grad, op.inputs[1])
    return array_ops.identity(grad), None, -picked


@gradient("TensorScatterMax", "TensorScatterMin")
def _tensor_scatter_extreme(op: Any, grad: Any) -> Any:
    """Shared by the element and the updates that are the extreme."""
    x, indices, updates = op.inputs
    y = op.outputs[0]
    from_x = math_ops.cast(math_ops.equal(x, y), x.dtype)
    from_updates = math_ops.cast(math_ops.equal(updates, array_ops.gather_nd(y, indices)), x.dtype)
    hits = _op("ScatterNd", [indices, from_updates, array_ops.shape(x, out_type=indices.dtype)], {})
    sharing = from_x + hits
    return grad * from_x / sharing, None, array_ops.gather_nd(grad / sharing, indices) * from_updates


@gradient("TensorScatterUpdate")
def _tensor_scatter_update(op: Any, grad: Any) -> Any:
    _, indices, updates = op.inputs
    picked = array_ops.gather_nd(grad, indices)
    whole = array_ops.identity(grad)
    return _op("TensorScatterUpdate", [whole, indices, array_ops.zeros_like(updates, dtype=grad.dtype)], {}), None, picked
