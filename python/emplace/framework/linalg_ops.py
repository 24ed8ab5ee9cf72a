"""Linear algebra: functions that TensorFlow writes by hand."""

from __future__ import annotations

import re
from typing import Any, TYPE_CHECKING

import numpy as np

from emplace.framework import array_ops, math_ops
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import convert_to_tensor as _convert
from emplace.framework.ops import name_scope

if TYPE_CHECKING:
    from emplace.framework.gen import Outputs
    from emplace.framework.tensor import Tensor


def norm(tensor: Any, ord: Any = "euclidean", axis: Any = None, keepdims: Any = None, name: str | None = None, keep_dims: Any = None) -> Tensor:  # noqa: A002
    """Norm of vectors or matrices over `axis`: "euclidean", "fro", 1, 2, inf or another positive number."""
    keep = bool(keepdims if keepdims is not None else keep_dims or False)
    matrix = isinstance(axis, (list, tuple)) and len(axis) == 2
    if matrix and ord not in ("euclidean", "fro", 1, np.inf, 2):
        raise ValueError(f"'ord' must be a supported matrix norm, got {ord}")
    if not matrix and (isinstance(ord, str) and ord != "euclidean" or not isinstance(ord, str) and ord <= 0):
        raise ValueError(f"'ord' must be a supported vector norm, got {ord}")
    with name_scope(name, "norm", [tensor]):
        tensor = _convert(tensor)
        if ord in ("fro", "euclidean") or ord == 2 and not matrix:
            result = math_ops.sqrt(math_ops.reduce_sum(tensor * math_ops.conj(tensor), axis, keepdims=True))
        else:
            result = math_ops.abs(tensor)
            if ord == 1:
                result = math_ops.reduce_sum(result, axis[0] if matrix else axis, keepdims=True)
                if matrix:
                    result = math_ops.reduce_max(result, axis[-1], keepdims=True)
            elif ord == np.inf:
                if matrix:
                    result = math_ops.reduce_sum(result, axis[1], keepdims=True)
                result = math_ops.reduce_max(result, axis[0] if matrix else axis, keepdims=True)
            else:
                result = math_ops.pow(math_ops.reduce_sum(math_ops.pow(result, ord), axis, keepdims=True), 1.0 / ord)
        return result if keep else array_ops.squeeze(result, axis)


def cholesky_solve(chol: Any, rhs: Any, name: str | None = None) -> Tensor:
    """Solves `A x = rhs` with the Cholesky factor of `A`."""
    with name_scope(name, "cholesky_solve", [chol, rhs]):
        first = _op("MatrixTriangularSolve", [chol, rhs], {"adjoint": False, "lower": True})
        return _op("MatrixTriangularSolve", [chol, first], {"adjoint": True, "lower": True})


def matrix_triangular_solve(matrix: Any, rhs: Any, lower: bool = True, adjoint: bool = False, name: str | None = None) -> Tensor:
    """Solves systems with triangular matrices; `lower` names the half that counts."""
    with name_scope(name, "triangular_solve", [matrix, rhs]):
        return _op("MatrixTriangularSolve", [matrix, rhs], {"lower": lower, "adjoint": adjoint})


def self_adjoint_eig(tensor: Any, name: str | None = None) -> Outputs["SelfAdjointEigV2"]:
    """Eigenvalues in ascending order and eigenvectors of symmetric or Hermitian matrices."""
    return _op("SelfAdjointEigV2", [tensor], {"compute_v": True}, name)


def self_adjoint_eigvals(tensor: Any, name: str | None = None) -> Tensor:
    """Eigenvalues in ascending order of symmetric or Hermitian matrices."""
    return _op("SelfAdjointEigV2", [tensor], {"compute_v": False}, name)[0]


def svd(tensor: Any, full_matrices: bool = False, compute_uv: bool = True, name: str | None = None) -> Any:
    """Singular values, and unless `compute_uv` is false the left and right singular vectors, of each matrix."""
    s, u, v = _op("Svd", [tensor], {"compute_uv": compute_uv, "full_matrices": full_matrices}, name)
    return (s, u, v) if compute_uv else s


def einsum(equation: str, *inputs: Any, **kwargs: Any) -> Tensor:
    """Sums of products in Einstein's notation: `einsum("ij,jk->ik", a, b)`; `...` stands for further dimensions."""
    name = kwargs.pop("name", None)
    kwargs.pop("optimize", None)
    with name_scope(name, "einsum", inputs):
        tensors = [_convert(i) for i in inputs]
        resolved = _resolve(equation.replace(" ", ""))
        _check_labels(resolved, len(tensors))
        if len(tensors) <= 2:
            return _op("Einsum", [tensors], {"equation": resolved})
        # Two at a time, left to right, keeping the letters still needed.
        left, _, out = resolved.partition("->")
        terms = left.split(",")
        result, term = tensors[0], terms[0]
        for i in range(1, len(tensors)):
            rest = "".join(terms[i + 1 :]) + out
            kept = out if i == len(tensors) - 1 else "".join(sorted(c for c in set(term + terms[i]) if c in rest))
            result = _op("Einsum", [[result, tensors[i]]], {"equation": f"{term},{terms[i]}->{kept}"})
            term = kept
        return result


def _check_labels(equation: str, inputs: int) -> None:
    if not re.fullmatch(r"(?:[a-zA-Z]|\.\.\.|,)*->(?:[a-zA-Z]|\.\.\.)*", equation):
        raise ValueError(f"Subscripts have incorrect format: {equation}")
    left, _, out = equation.partition("->")
    if inputs != left.count(",") + 1:
        raise ValueError(f'Got {inputs} inputs for equation "{equation}", expecting {left.count(",") + 1}')
    for label in out.replace("...", ""):
        if label not in left:
            raise ValueError(f"Output subscripts contain the label {label} not present in the input subscripts.")
        if out.count(label) > 1:
            raise ValueError(f"Output subscripts contain a label appearing more than once: {equation}")


def _resolve(equation: str) -> str:
    if "->" in equation:
        return equation
    letters = equation.replace(",", "").replace("...", "")
    ellipsis = "..." if "..." in equation else ""
    return equation + "->" + ellipsis + "".join(sorted(c for c in set(letters) if letters.count(c) == 1))


