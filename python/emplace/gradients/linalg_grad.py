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


@gradient("MatrixTriangularSolve")
def _triangular_solve(op: Any, grad: Any) -> Any:
    """As of a full solve; only the triangle that was read has a gradient."""
    a, x = op.inputs[0], op.outputs[0]
    lower, adjoint = bool(op.get_attr("lower")), bool(op.get_attr("adjoint"))
    gb = _op("MatrixTriangularSolve", [a, grad], {"lower": lower, "adjoint": not adjoint})
    ga = -math_ops.matmul(x, gb, adjoint_b=True) if adjoint else -math_ops.matmul(gb, x, adjoint_b=True)
    return _op("MatrixBandPart", [ga, -1, 0] if lower else [ga, 0, -1], {}), gb


@gradient("SelfAdjointEigV2")
def _self_adjoint_eig(op: Any, of_values: Any, of_vectors: Any) -> Any:
    """Back in the basis of the eigenvectors; the lower triangle alone was read."""
    if op.get_attr("compute_v"):
        e, v = op.outputs
        apart = array_ops.expand_dims(e, -2) - array_ops.expand_dims(e, -1)
        zeros = array_ops.zeros_like(e)
        factor = array_ops.matrix_set_diag(_op("Reciprocal", [array_ops.matrix_set_diag(apart, zeros + 1)], {}), zeros)
        inner = factor * math_ops.matmul(v, of_vectors, adjoint_a=True)
        inner = array_ops.matrix_set_diag(inner, array_ops.matrix_diag_part(inner) + of_values)
    else:
        v = _op("SelfAdjointEigV2", [op.inputs[0]], {"compute_v": True})[1]
        inner = array_ops.matrix_diag(of_values)
    whole = math_ops.matmul(v, math_ops.matmul(inner, v, adjoint_b=True))
    both = _op("MatrixBandPart", [whole + array_ops.matrix_transpose(whole, conjugate=True), -1, 0], {})
    return array_ops.matrix_set_diag(both, 0.5 * array_ops.matrix_diag_part(both))
