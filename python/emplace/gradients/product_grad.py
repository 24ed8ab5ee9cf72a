"""Gradients of products of matrices and sums over indices."""

from __future__ import annotations

from typing import Any

from emplace.framework import array_ops, math_ops
from emplace.framework.dispatch import execute as _op
from emplace.gradients.common import conj, text, to_shape, is_eager
from emplace.gradients.registry import gradient


def _mm(a: Any, b: Any, ta: bool, tb: bool) -> Any:
    return _op("MatMul", [a, b], {"transpose_a": ta, "transpose_b": tb})


@gradient("MatMul")
def _matmul(op: Any, grad: Any) -> Any:
    ta, tb = bool(op.get_attr("transpose_a")), bool(op.get_attr("transpose_b"))
    a, b = (conj(v) for v in op.inputs)
    ga = _mm(b, grad, tb, True) if ta else _mm(grad, b, False, not tb)
    gb = _mm(grad, a, True, ta) if tb else _mm(a, grad, not ta, False)
    return ga, gb


@gradient("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3")
def _batch_matmul(op: Any, grad: Any) -> Any:
    x, y = op.inputs
    ax, ay = bool(op.get_attr("adj_x")), bool(op.get_attr("adj_y"))

    def product(a: Any, b: Any, adjoint_a: bool, adjoint_b: bool) -> Any:
        return math_ops.matmul(a, b, adjoint_a=adjoint_a, adjoint_b=adjoint_b)

    gx = product(y, grad, ay, True) if ax else product(grad, y, False, not ay)
    gy = product(grad, x, True, ax) if ay else product(x, grad, not ax, False)
    if op.type == "BatchMatMul":
        return gx, gy
    if is_eager(x):
        return to_shape(gx, x), to_shape(gy, y)
    ranks = x.shape.rank, y.shape.rank
    batches = x.shape[:-2], y.shape[:-2]
    flat = all(r is not None and r <= 2 for r in ranks)
    alike = all(b.is_fully_defined() for b in batches) and batches[0] == batches[1]
    if flat or alike:
        return gx, gy
    sx, sy = array_ops.shape(x), array_ops.shape(y)
    rx, ry = _op("BroadcastGradientArgs", [sx[:-2], sy[:-2]], {})
    gx = array_ops.reshape(math_ops.reduce_sum(gx, rx), sx)
    return gx, array_ops.reshape(math_ops.reduce_sum(gy, ry), sy)


@gradient("SparseMatMul")
def _sparse_matmul(op: Any, grad: Any) -> Any:
    ga, gb = _matmul(op, grad)
    return math_ops.cast(ga, op.inputs[0].dtype), math_ops.cast(gb, op.inputs[1].dtype)


@gradient("Einsum")
def _einsum(op: Any, grad: Any) -> Any:
    equation = text(op.get_attr("equation"))
    left, _, out = equation.partition("->")
    parts = left.split(",")
    if "." in equation:
        raise LookupError("gradient of Einsum with an ellipsis")
    shapes = [array_ops.shape(x) for x in op.inputs]
    return [_of_operand(op, parts, out, i, grad, shapes[i]) for i in range(len(parts))]


def _of_operand(op: Any, parts: list[str], out: str, i: int, grad: Any, shape: Any) -> Any:
    mine = parts[i]
    if len(set(mine)) != len(mine):
        raise LookupError("gradient of Einsum with a repeated index")
    others = [(p, op.inputs[j]) for j, p in enumerate(parts) if j != i]
    present = set(out).union(*(p for p, _ in others))
    wanted = "".join(c for c in mine if c in present)
    terms = [out, *(p for p, _ in others)]
    g = _op("Einsum", [[grad, *(conj(x) for _, x in others)]], {"equation": ",".join(terms) + "->" + wanted})
    if wanted == mine:
        return g
    # Indices that were summed away: their axes come back, and the gradient is the same along them.
    lost = [j for j, c in enumerate(mine) if c not in present]
    sizes = op.inputs[i].shape.as_list() if op.inputs[i].shape.rank is not None else None
    if sizes is not None and None not in sizes:
        ones: Any = [1 if j in lost else d for j, d in enumerate(sizes)]
    else:
        ones = array_ops.stack([1 if j in lost else shape[j] for j in range(len(mine))])
    return _op("BroadcastTo", [array_ops.reshape(g, ones), shape], {})
