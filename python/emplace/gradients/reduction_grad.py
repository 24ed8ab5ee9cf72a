"""Gradients of reductions, scans and segments."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from emplace.framework import array_ops, constant_op, dtypes, math_ops, ops
from emplace.framework.dispatch import execute as _op
from emplace.gradients.common import conj, dims, fully_known, is_eager, kept_shape, known, number
from emplace.gradients.registry import gradient, no_gradient

for _name in "ArgMax ArgMin All Any Range LinSpace Bincount DenseBincount".split():
    no_gradient(_name)


def _f(op: str, *args: Any) -> Any:
    return _op(op, list(args), {})


# ---- Sums.


@gradient("Sum")
def _sum(op: Any, grad: Any) -> Any:
    return _spread(op, grad), None


def _spread(op: Any, grad: Any) -> Any:
    """`grad` repeated along the axes that were summed."""
    x = op.inputs[0]
    sizes, axes = dims(x), known(op.inputs[1])
    if sizes is not None and axes is not None:
        if np.array_equal(axes, np.arange(len(sizes))):
            grad = array_ops.reshape(grad, [1] * len(sizes))
            shape = constant_op.constant(sizes, dtype=dtypes.int32) if None not in sizes and not is_eager(x) else array_ops.shape(x)
            return _f("Tile", grad, shape)
        if None not in sizes and not is_eager(x):
            kept, times = _tiling(sizes, tuple(int(a) for a in axes.reshape(-1)))
            return _f("Tile", array_ops.reshape(grad, kept), times)
    if sizes is not None and None not in sizes and axes is not None:
        kept = [1 if i in {int(a) % len(sizes) for a in axes.reshape(-1)} else d for i, d in enumerate(sizes)]
        return _f("BroadcastTo", array_ops.reshape(grad, kept), array_ops.shape(x))
    shape = array_ops.shape(x)
    if not op.get_attr("keep_dims"):
        with ops.colocate_with(shape):
            kept = kept_shape(shape, op.inputs[1])
        grad = array_ops.reshape(grad, kept)
    return _f("BroadcastTo", grad, shape)


def _tiling(sizes: tuple[int, ...], axes: tuple[int, ...]) -> Any:
    """The kept shape and the repetitions. Found once a graph, where TensorFlow leaves the nodes of
    a division that nobody reads; they are left here too, so that names stay the same."""
    found = ops.get_default_graph()._extra.setdefault("reduced_shapes", {})
    if (sizes, axes) not in found:
        kept = list(sizes)
        for a in axes:
            kept[a] = 1
        at_least_one = _f("Maximum", kept, 1)
        math_ops.floordiv(list(sizes), at_least_one)
        found[sizes, axes] = kept, [s // max(k, 1) for s, k in zip(sizes, kept)]
    return found[sizes, axes]


@gradient("Mean")
def _mean(op: Any, grad: Any) -> Any:
    x, y = op.inputs[0], op.outputs[0]
    spread = _spread(op, grad)
    if fully_known(x, y):
        factor: Any = number(x.shape.num_elements() // max(y.shape.num_elements(), 1), spread)
    else:
        shape = array_ops.shape(x)
        rank = array_ops.size(shape)
        axes = (math_ops.cast(op.inputs[1], rank.dtype) + rank) % rank
        factor = math_ops.reduce_prod(array_ops.gather(shape, axes))
    return math_ops.truediv(spread, math_ops.cast(factor, spread.dtype)), None


@gradient("Max", "Min")
def _max(op: Any, grad: Any) -> Any:
    """Shared by all that are the extreme."""
    x, y = op.inputs[0], op.outputs[0]
    shape = array_ops.shape(x)
    if op.get_attr("keep_dims"):
        kept = array_ops.shape(y)
    else:
        kept = kept_shape(shape, op.inputs[1])
        y = array_ops.reshape(y, kept)
        grad = array_ops.reshape(grad, kept)
    chosen = math_ops.cast(math_ops.equal(y, x), grad.dtype)
    count = array_ops.reshape(math_ops.reduce_sum(chosen, op.inputs[1]), kept)
    return chosen / count * grad, None


@gradient("EuclideanNorm")
def _euclidean(op: Any, grad: Any) -> Any:
    x, y = op.inputs[0], op.outputs[0]
    if not op.get_attr("keep_dims"):
        kept = kept_shape(array_ops.shape(x), op.inputs[1])
        y = array_ops.reshape(y, kept)
        grad = array_ops.reshape(grad, kept)
    return math_ops.truediv(x, y / grad), None


@gradient("Prod")
def _prod(op: Any, grad: Any) -> Any:
    """The product of all others, from products of those before and of those after."""
    x = op.inputs[0]
    if is_eager(x):
        return _prod_eager(op, grad), None
    shape = array_ops.shape(x)
    axes = array_ops.reshape(op.inputs[1], [-1])
    if not op.get_attr("keep_dims"):
        grad = array_ops.reshape(grad, kept_shape(shape, op.inputs[1]))
    grad = _f("BroadcastTo", grad, shape)
    with ops.device("/cpu:0"):
        rank = array_ops.rank(x)
        axes = (math_ops.cast(axes, rank.dtype) + rank) % rank
        others = _op("ListDiff", [math_ops.range(0, rank), axes], {"out_idx": axes.dtype})[0]
        order = array_ops.concat([axes, others], 0)
        reduced = math_ops.reduce_prod(array_ops.gather(shape, axes))
        kept = math_ops.reduce_prod(array_ops.gather(shape, others))
    moved = array_ops.transpose(x, order)
    moved_shape = array_ops.shape(moved)
    flat = array_ops.reshape(moved, (reduced, kept))
    before = math_ops.cumprod(flat, axis=0, exclusive=True)
    behind = math_ops.cumprod(flat, axis=0, exclusive=True, reverse=True)
    rest = array_ops.reshape(conj(before) * conj(behind), moved_shape)
    out = grad * array_ops.transpose(rest, _f("InvertPermutation", order))
    return array_ops.reshape(out, shape), None


def _prod_eager(op: Any, grad: Any) -> Any:
    x = op.inputs[0]
    rank, sizes = x.shape.rank, x.shape.as_list()
    axes = sorted({int(a) % max(rank, 1) for a in known(op.inputs[1]).reshape(-1)})
    order = axes + [i for i in range(rank) if i not in axes]
    grad = array_ops.reshape(grad, [1 if i in axes else d for i, d in enumerate(sizes)])
    moved = array_ops.transpose(x, order)
    flat = array_ops.reshape(moved, [math.prod(sizes[a] for a in axes), *(sizes[i] for i in order[len(axes) :])])
    before = math_ops.cumprod(flat, axis=0, exclusive=True)
    behind = math_ops.cumprod(flat, axis=0, exclusive=True, reverse=True)
    rest = array_ops.reshape(conj(before) * conj(behind), moved.shape.as_list())
    return grad * array_ops.transpose(rest, [order.index(i) for i in range(rank)])


# ---- Scans.


@gradient("Cumsum")
def _cumsum(op: Any, grad: Any) -> Any:
    exclusive, reverse = op.get_attr("exclusive"), op.get_attr("reverse")
    return math_ops.cumsum(grad, op.inputs[1], exclusive=exclusive, reverse=not reverse), None


@gradient("Cumprod")
def _cumprod(op: Any, grad: Any) -> Any:
    x, axis = op.inputs
    exclusive, reverse = op.get_attr("exclusive"), op.get_attr("reverse")
    product = math_ops.cumprod(x, axis, exclusive=exclusive, reverse=reverse)
    out = math_ops.cumsum(product * grad, axis, exclusive=exclusive, reverse=not reverse)
    return math_ops.div_no_nan(out, x), None


@gradient("CumulativeLogsumexp")
def _cumulative_logsumexp(op: Any, grad: Any) -> Any:
    """In logarithms, separately for the gradients above and below zero."""
    x, axis = op.inputs
    attrs = {"exclusive": op.get_attr("exclusive"), "reverse": not op.get_attr("reverse")}
    lowest = grad.dtype.min
    above = _f("SelectV2", _f("Greater", grad, 0), _f("Log", grad), lowest)
    below = _f("SelectV2", _f("Less", grad, 0), _f("Log", -grad), lowest)
    parts = [_f("Exp", _op("CumulativeLogsumexp", [part - op.outputs[0], axis], attrs) + x) for part in (above, below)]
    return parts[0] - parts[1], None


# ---- Segments.


@gradient("SegmentSum")
def _segment_sum(op: Any, grad: Any) -> Any:
    return array_ops.gather(grad, op.inputs[1]), None


@gradient("SegmentMean")
def _segment_mean(op: Any, grad: Any) -> Any:
    rank = array_ops.rank(op.inputs[0])
    shape = array_ops.shape(op.inputs[1])
    inner = array_ops.ones(array_ops.expand_dims(rank - 1, 0), dtype=shape.dtype)
    ones = array_ops.ones(array_ops.concat([shape, inner], 0), dtype=grad.dtype)
    scaled = grad / _f("SegmentSum", ones, op.inputs[1])
    return array_ops.gather(scaled, op.inputs[1]), None


@gradient("SegmentMax", "SegmentMin")
def _segment_extreme(op: Any, grad: Any) -> Any:
    x, ids = op.inputs
    zeros = array_ops.zeros_like(x, dtype=x.dtype)
    chosen = math_ops.equal(x, array_ops.gather(op.outputs[0], ids))
    count = _f("SegmentSum", math_ops.cast(chosen, grad.dtype), ids)
    shared = array_ops.gather(grad / count, ids)
    return _f("SelectV2", chosen, shared, zeros), None


def _without_zeros(op: Any, grad: Any, total: Any, product: Any) -> tuple[Any, Any, Any, Any]:
    """Where products have zeros: which elements are, the gradient unless two are, the data with ones
    for zeros, and the products of that."""
    x = op.inputs[0]
    zero = math_ops.equal(x, 0)
    count = total(math_ops.cast(zero, dtypes.int32))
    grad = _f("SelectV2", _f("Greater", count, 1), array_ops.zeros_like(grad), grad)
    data = _f("SelectV2", zero, array_ops.ones_like(x), x)
    return zero, grad, data, product(data)


@gradient("SegmentProd")
def _segment_prod(op: Any, grad: Any) -> Any:
    ids = op.inputs[1]
    zero, grad, data, product = _without_zeros(op, grad, lambda v: _f("SegmentSum", v, ids), lambda v: _f("SegmentProd", v, ids))
    whole = array_ops.gather(op.outputs[0], ids)
    others = array_ops.gather(product, ids)
    slope = _f("SelectV2", zero, others, whole / data)
    return array_ops.gather(grad, ids) * slope, None


class _Picked:
    """Rows by segment number; rows of zeros for negative numbers."""

    def __init__(self, ids: Any) -> None:
        self.ids = ids
        self.safe = _f("Maximum", ids, array_ops.zeros_like(ids))
        self.valid: Any = None

    def __call__(self, params: Any) -> Any:
        rows = array_ops.gather(params, self.safe)
        return self.only_valid(rows)

    def only_valid(self, rows: Any) -> Any:
        if self.valid is None:
            valid = _f("GreaterEqual", self.ids, 0)
            shape = array_ops.shape(valid)
            inner = array_ops.ones([array_ops.rank(rows) - array_ops.rank(valid)], dtype=shape.dtype)
            valid = array_ops.reshape(valid, array_ops.concat([shape, inner], 0))
            self.valid = valid & array_ops.ones_like(rows, dtype=dtypes.bool)
        return _f("SelectV2", self.valid, rows, array_ops.zeros_like(rows))


@gradient("UnsortedSegmentSum")
def _unsorted_segment_sum(op: Any, grad: Any) -> Any:
    return _Picked(op.inputs[1])(grad), None, None


@gradient("UnsortedSegmentMax", "UnsortedSegmentMin")
def _unsorted_segment_extreme(op: Any, grad: Any) -> Any:
    x, ids, count = op.inputs
    picked = _Picked(ids)
    best = picked(op.outputs[0])
    chosen = math_ops.logical_and(math_ops.equal(x, best), picked.valid)
    sharing = _f("UnsortedSegmentSum", math_ops.cast(chosen, grad.dtype), ids, count)
    shared = picked(grad / sharing)
    return _f("SelectV2", chosen, shared, array_ops.zeros_like(shared)), None, None


@gradient("UnsortedSegmentProd")
def _unsorted_segment_prod(op: Any, grad: Any) -> Any:
    x, ids, count = op.inputs
    zero, grad, data, product = _without_zeros(
        op, grad, lambda v: _f("UnsortedSegmentSum", v, ids, count), lambda v: _f("UnsortedSegmentProd", v, ids, count)
    )
    picked = _Picked(ids)
    whole = array_ops.gather(op.outputs[0], picked.safe)
    others = array_ops.gather(product, picked.safe)
    slope = _f("SelectV2", zero, others, whole / x)
    return picked(grad) * slope, None, None


def _sparse_segment(op_type: str) -> None:
    def function(op: Any, grad: Any) -> Any:
        first = array_ops.shape(op.inputs[0])[0]
        rows = _f(f"{op_type}Grad", grad, op.inputs[1], op.inputs[2], first)
        return [rows] + [None] * (len(op.inputs) - 1)

    gradient(op_type, f"{op_type}WithNumSegments")(function)


for _name in ("SparseSegmentSum", "SparseSegmentMean", "SparseSegmentSqrtN"):
    _sparse_segment(_name)
