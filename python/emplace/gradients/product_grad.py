"""Gradients of products of matrices and sums over indices."""

from __future__ import annotations

from typing import Any

from emplace.framework import array_ops, constant_op, dtypes, math_ops
from emplace.framework.dispatch import execute as _op
from emplace.gradients.common import conj, is_eager, kept_shape, text, to_shape
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
    left, _, out = text(op.get_attr("equation")).partition("->")
    parts = left.split(",")
    shapes = [array_ops.shape(x) for x in op.inputs]
    if len(parts) == 1:
        return _unsummed(grad, out, parts[0], shapes[0], _lost(parts[0], out))
    if "..." in out:
        parts = [p if "..." in p else p + "..." for p in parts]
    found = [_of_operand(op, parts, out, i, grad, shapes[i]) for i in range(len(parts))]
    return _unspread(op.inputs, parts, found, shapes) if "..." in out and len(parts) == 2 else found


def _lost(part: str, others: str) -> str:
    """The indices of `part` that were summed away."""
    return "".join(sorted(set(part) - set(others) - {"."}))


def _of_operand(op: Any, parts: list[str], out: str, i: int, grad: Any, shape: Any) -> Any:
    mine = parts[i]
    others = [(p, op.inputs[j]) for j, p in enumerate(parts) if j != i]
    lost = _lost(mine, out + "".join(p for p, _ in others))
    wanted = "".join(c for c in mine if c not in lost)
    terms = [out, *(p for p, _ in others)]
    g = _op("Einsum", [[grad, *(conj(x) for _, x in others)]], {"equation": ",".join(terms) + "->" + wanted})
    return _unsummed(g, wanted, mine, shape, lost) if lost else g


def _unsummed(grad: Any, have: str, want: str, shape: Any, lost: str) -> Any:
    """From indices `have` to `want`: the axes of those that are `lost` come back, and the gradient is
    the same along them."""
    if not lost:
        return _op("Einsum", [[grad]], {"equation": have + "->" + want})
    at = [_axis(want, label) for label in lost]
    sizes = array_ops.stack([shape[i] for i in at])
    if len(set(want)) == len(want) and have == "".join(c for c in want if c not in lost):
        kept = kept_shape(shape, at if is_eager(grad) else constant_op.constant(at))
        return _op("BroadcastTo", [array_ops.reshape(grad, kept), shape], {})
    wide = array_ops.concat([sizes, array_ops.shape(grad)], 0)
    narrow = array_ops.concat([array_ops.ones(len(lost), dtype=dtypes.int32), array_ops.shape(grad)], 0)
    spread = _op("BroadcastTo", [array_ops.reshape(grad, narrow), wide], {})
    return _op("Einsum", [[spread]], {"equation": lost + have + "->" + want})


def _axis(labels: str, label: str) -> int:
    """Where an index stands; from the back, if it stands behind the dots."""
    dots, at = labels.find("..."), labels.index(label)
    return at if dots < 0 or at < dots else at - len(labels)


def _unspread(inputs: Any, parts: list[str], found: list[Any], shapes: list[Any]) -> list[Any]:
    """What the dots stand for was spread: it is summed again."""
    bounds = [(p.index("..."), len(p.partition("...")[2])) for p in parts]
    static = [x.shape[first : -behind or None] for x, (first, behind) in zip(inputs, bounds)]
    if all(s.rank is not None and s.is_fully_defined() for s in static) and static[0] == static[1]:
        return found
    axes = _op("BroadcastGradientArgs", [s[first : -behind or None] for s, (first, behind) in zip(shapes, bounds)], {})
    return [array_ops.reshape(math_ops.reduce_sum(g, first + a), s) for g, a, s, (first, _) in zip(found, axes, shapes, bounds)]
