"""What is done with factors of matrices, and with the diagonals of tridiagonal ones."""

from __future__ import annotations

from typing import Any, TYPE_CHECKING

import numpy as np

from emplace.eager.functions import array
from emplace.framework import array_ops, dtypes, linalg_ops, math_ops
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import convert_to_tensor as _convert

if TYPE_CHECKING:
    from emplace.framework.tensor import Tensor


def lu_reconstruct(lower_upper: Any, perm: Any, validate_args: bool = False, name: str | None = None) -> Tensor:
    """The matrix whose factors they are."""
    both, perm = _convert(lower_upper), _convert(perm, preferred_dtype=dtypes.int32)
    ones = array_ops.ones(both.shape.as_list()[:-1], both.dtype)
    lower = array_ops.matrix_set_diag(_op("MatrixBandPart", [both, -1, 0], {}), ones)
    product = math_ops.matmul(lower, _op("MatrixBandPart", [both, 0, -1], {}))
    return array_ops.gather(product, array.argsort(perm), axis=-2, batch_dims=both.shape.rank - 2)


def lu_solve(lower_upper: Any, perm: Any, rhs: Any, validate_args: bool = False, name: str | None = None) -> Tensor:
    """Solves systems from the LU decomposition of their matrices."""
    both, perm = _convert(lower_upper), _convert(perm, preferred_dtype=dtypes.int32)
    rhs = _convert(rhs, both.dtype)
    outer = np.broadcast_shapes(tuple(both.shape.as_list()[:-2]), tuple(rhs.shape.as_list()[:-2]))
    n = both.shape[-1]
    both = _op("BroadcastTo", [both, [*outer, n, n]], {})
    perm = _op("BroadcastTo", [perm, [*outer, n]], {})
    rhs = _op("BroadcastTo", [rhs, [*outer, *rhs.shape.as_list()[-2:]]], {})
    ordered = array_ops.gather(rhs, perm, axis=-2, batch_dims=len(outer))
    lower = array_ops.matrix_set_diag(_op("MatrixBandPart", [both, -1, 0], {}), array_ops.ones([*outer, n], both.dtype))
    return linalg_ops.matrix_triangular_solve(both, linalg_ops.matrix_triangular_solve(lower, ordered), lower=False)


def lu_matrix_inverse(lower_upper: Any, perm: Any, validate_args: bool = False, name: str | None = None) -> Tensor:
    """The inverse of matrices from their LU decomposition."""
    both = _convert(lower_upper)
    return lu_solve(both, perm, array_ops.eye(both.shape[-1], batch_shape=both.shape.as_list()[:-2], dtype=both.dtype))


# ---- Tridiagonal matrices.


def _diagonals(diagonals: Any, form: str) -> Any:
    """[..., 3, n]: above, on and below the main diagonal, each as long as the matrix."""
    if form == "compact":
        return _convert(diagonals)
    if form == "sequence":
        above, on, below = (_convert(d) for d in diagonals)
        n = on.shape[-1]
        if above.shape[-1] == n - 1:
            above = array_ops.pad(above, [[0, 0]] * (above.shape.rank - 1) + [[0, 1]])
        if below.shape[-1] == n - 1:
            below = array_ops.pad(below, [[0, 0]] * (below.shape.rank - 1) + [[1, 0]])
        return array_ops.stack([above, on, below], -2)
    if form == "matrix":
        return array_ops.matrix_diag_part(_convert(diagonals), k=(-1, 1), align="LEFT_RIGHT")
    raise ValueError(f"Unrecognized diagonals format: {form}")


def tridiagonal_solve(
    diagonals: Any, rhs: Any, diagonals_format: str = "compact", transpose_rhs: bool = False, conjugate_rhs: bool = False,
    name: str | None = None, partial_pivoting: bool = True, perturb_singular: bool = False,
) -> Tensor:
    """Solves systems with tridiagonal matrices, given by their diagonals."""
    if perturb_singular and not partial_pivoting:
        raise ValueError("partial_pivoting must be True if perturb_singular is True.")
    rows = _diagonals(diagonals, diagonals_format)
    rhs = _convert(rhs, rows.dtype)
    vector = rhs.shape.rank == rows.shape.rank - 1
    if conjugate_rhs:
        rhs = math_ops.conj(rhs)
    if vector:
        rhs = array_ops.expand_dims(rhs, -1)
    elif transpose_rhs:
        rhs = array_ops.matrix_transpose(rhs)
    attrs = {"partial_pivoting": partial_pivoting, "perturb_singular": perturb_singular}
    found = _op("TridiagonalSolve", [rows, rhs], attrs, name)
    if vector:
        return array_ops.squeeze(found, [-1])
    return array_ops.matrix_transpose(found) if transpose_rhs else found


def tridiagonal_matmul(diagonals: Any, rhs: Any, diagonals_format: str = "compact", name: str | None = None) -> Tensor:
    """Product of tridiagonal matrices, given by their diagonals, and `rhs`."""
    rows = _diagonals(diagonals, diagonals_format)
    parts = [array_ops.expand_dims(rows[..., i, :], -2) for i in range(3)]
    return _op("TridiagonalMatMul", [*parts, _convert(rhs, rows.dtype)], {}, name)


def eigh_tridiagonal(
    alpha: Any, beta: Any, eigvals_only: bool = True, select: str = "a", select_range: Any = None, tol: Any = None, name: str | None = None
) -> Any:
    """Eigenvalues, ascending, of the Hermitian matrix with `alpha` on and `beta` beside the diagonal."""
    alpha, beta = _convert(alpha), _convert(beta)
    rows = array_ops.matrix_diag(beta, k=1, num_rows=alpha.shape[-1], num_cols=alpha.shape[-1])
    matrix = array_ops.matrix_diag(alpha) + rows + array_ops.matrix_transpose(rows, conjugate=alpha.dtype.is_complex)
    if not eigvals_only:
        raise NotImplementedError("eigvals_only=False is not yet implemented.")
    values = math_ops.real(linalg_ops.self_adjoint_eigvals(matrix))
    if select == "a":
        return values
    first, last = select_range
    if select == "i":
        return values[..., int(first) : int(last) + 1]
    if select == "v":
        return array_ops.boolean_mask(values, (values > first) & (values <= last))
    raise ValueError("'select must have a value in {'a', 'i', 'v'}.")
