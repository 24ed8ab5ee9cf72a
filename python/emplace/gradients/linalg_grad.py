"""Gradients of linear algebra."""

from __future__ import annotations

from typing import Any

from emplace.framework import array_ops, math_ops
from emplace.framework.dispatch import execute as _op
from emplace.gradients.registry import gradient


@gradient("MatrixInverse")
def _inverse(op: Any, grad: Any) -> Any:
    y = op.outputs[0]
    adjoint = not op.get_attr("adjoint")
    return -math_ops.matmul(y, math_ops.matmul(grad, y, adjoint_b=adjoint), adjoint_a=adjoint)


@gradient("MatrixDeterminant")
def _determinant(op: Any, grad: Any) -> Any:
    inverse = _op("MatrixInverse", [op.inputs[0]], {"adjoint": True})
    factor = array_ops.expand_dims(array_ops.expand_dims(grad * op.outputs[0], -1), -1)
    return factor * inverse


@gradient("LogMatrixDeterminant")
def _log_determinant(op: Any, _: Any, grad: Any) -> Any:
    inverse = _op("MatrixInverse", [op.inputs[0]], {"adjoint": True})
    return array_ops.expand_dims(array_ops.expand_dims(grad, -1), -1) * inverse


@gradient("MatrixSolve")
def _solve(op: Any, grad: Any) -> Any:
    a, x = op.inputs[0], op.outputs[0]
    adjoint = op.get_attr("adjoint")
    gb = _op("MatrixSolve", [a, grad], {"adjoint": not adjoint})
    ga = -math_ops.matmul(x, gb, adjoint_b=True) if adjoint else -math_ops.matmul(gb, x, adjoint_b=True)
    return ga, gb


@gradient("Cholesky")
def _cholesky(op: Any, grad: Any) -> Any:
    lower = op.outputs[0]
    inverse = _op("MatrixInverse", [lower], {})
    middle = math_ops.matmul(lower, grad, adjoint_a=True)
    middle = array_ops.matrix_set_diag(middle, 0.5 * array_ops.matrix_diag_part(middle))
    middle = _op("MatrixBandPart", [middle, -1, 0], {})
    full = math_ops.matmul(math_ops.matmul(inverse, middle, adjoint_a=True), inverse)
    return 0.5 * (full + array_ops.matrix_transpose(full, conjugate=True))


@gradient("Einsum")
def _einsum(op: Any, grad: Any) -> Any:
    equation = op.get_attr("equation")
    equation = equation.decode() if isinstance(equation, bytes) else equation
    left, _, out = equation.partition("->")
    parts = left.split(",")
    if "." in equation:
        raise LookupError("gradient of Einsum with an ellipsis")
    return [_of_operand(op, parts, out, i, grad) for i in range(len(parts))]


def _of_operand(op: Any, parts: list[str], out: str, i: int, grad: Any) -> Any:
    if len(set(parts[i])) != len(parts[i]):
        raise LookupError("gradient of Einsum with a repeated index")
    others = [(p, op.inputs[j]) for j, p in enumerate(parts) if j != i]
    known = set(out).union(*(p for p, _ in others)) if others else set(out)
    wanted = "".join(c for c in parts[i] if c in known)
    terms = [out] + [p for p, _ in others]
    g = _op("Einsum", [[grad] + [math_ops.conj(x) for _, x in others]], {"equation": ",".join(terms) + "->" + wanted})
    if wanted != parts[i]:  # indices summed away: spread again
        x = op.inputs[i]
        sizes = [d if c in known else 1 for c, d in zip(parts[i], x.shape.as_list())]
        g = _op("BroadcastTo", [array_ops.reshape(g, sizes), array_ops.shape(x)], {})
    return g
