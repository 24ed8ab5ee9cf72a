"""Linear algebra."""

from __future__ import annotations

from typing import Any, TYPE_CHECKING

from emplace.framework import array_ops, dtypes, linalg_ops, math_ops
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import convert_to_tensor as _convert

if TYPE_CHECKING:
    from emplace.framework.tensor import Tensor


def banded_triangular_solve(bands: Any, rhs: Any, lower: bool = True, adjoint: bool = False, name: str | None = None) -> Tensor:
    """Solves systems with triangular matrices given by their bands."""
    return _op("BandedTriangularSolve", [bands, rhs], {"lower": lower, "adjoint": adjoint}, name)


def norm(tensor: Any, ord: Any = "euclidean", axis: Any = None, keepdims: Any = None, name: str | None = None) -> Tensor:  # noqa: A002
    """Norm of vectors or matrices over `axis`: "euclidean", "fro", 1, 2, inf or another positive number."""
    return linalg_ops.norm(tensor, ord, axis, bool(keepdims), name)


def normalize(tensor: Any, ord: Any = "euclidean", axis: Any = None, name: str | None = None) -> tuple[Tensor, Tensor]:  # noqa: A002
    """`tensor` divided by its norm over `axis`, and the norm."""
    tensor = _convert(tensor)
    length = linalg_ops.norm(tensor, ord, axis, True)
    return tensor / length, length


def adjoint(matrix: Any, name: str | None = None) -> Tensor:
    """The conjugate transpose of each innermost matrix."""
    return array_ops.matrix_transpose(_convert(matrix), name or "adjoint", conjugate=True)


def eigh(tensor: Any, name: str | None = None) -> Any:
    """Eigenvalues in ascending order and eigenvectors of symmetric or Hermitian matrices."""
    return linalg_ops.self_adjoint_eig(tensor, name)


def eigvalsh(tensor: Any, name: str | None = None) -> Tensor:
    """Eigenvalues in ascending order of symmetric or Hermitian matrices."""
    return linalg_ops.self_adjoint_eigvals(tensor, name)


def _complex(tensor: Any) -> Any:
    return dtypes.complex64 if tensor.dtype in (dtypes.float32, dtypes.complex64) else dtypes.complex128


def eig(tensor: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Eigenvalues and right eigenvectors of square matrices, complex."""
    tensor = _convert(tensor)
    e, v = _op("Eig", [tensor], {"Tout": _complex(tensor), "compute_v": True}, name)
    return e, v


def eigvals(tensor: Any, name: str | None = None) -> Tensor:
    """Eigenvalues of square matrices, complex."""
    tensor = _convert(tensor)
    return _op("Eig", [tensor], {"Tout": _complex(tensor), "compute_v": False}, name)[0]


def logdet(matrix: Any, name: str | None = None) -> Tensor:
    """Logarithm of the determinant of Hermitian positive definite matrices."""
    chol = _op("Cholesky", [matrix], {})
    diagonal = math_ops.real(array_ops.matrix_diag_part(chol))
    return 2.0 * math_ops.reduce_sum(_op("Log", [diagonal], {}), [-1])


def lstsq(matrix: Any, rhs: Any, l2_regularizer: Any = 0.0, fast: bool = True, name: str | None = None) -> Tensor:
    """The `x` that minimises `|A x - rhs|²`, with `l2_regularizer` times `|x|²` added."""
    matrix, rhs = _convert(matrix), _convert(rhs)
    if not fast:
        return _op("MatrixSolveLs", [matrix, rhs, _convert(l2_regularizer, dtypes.float64)], {"fast": fast}, name)
    tall = matrix.shape[-2] >= matrix.shape[-1]
    left = {"adjoint_a": True} if tall else {"adjoint_b": True}
    gram = math_ops.matmul(matrix, matrix, **left)
    if l2_regularizer:
        gram = gram + array_ops.eye(gram.shape[-1], dtype=gram.dtype) * l2_regularizer
    chol = _op("Cholesky", [gram], {})
    if tall:
        return linalg_ops.cholesky_solve(chol, math_ops.matmul(matrix, rhs, adjoint_a=True))
    return math_ops.matmul(matrix, linalg_ops.cholesky_solve(chol, rhs), adjoint_a=True)


def expm(input: Any, name: str | None = None) -> Tensor:  # noqa: A002
    """Scaling and squaring around a Taylor series of 18 terms."""
    x = _convert(input)
    import math

    import numpy as np

    size = float(np.max(np.abs(x.numpy()).sum(-1))) if hasattr(x, "numpy") and x.shape.num_elements() else 1.0
    squarings = max(0, int(math.ceil(math.log2(size))) + 1) if size > 0 else 0
    x = x / _convert(2.0**squarings, x.dtype)
    term = total = array_ops.eye(x.shape[-1], dtype=x.dtype) + array_ops.zeros_like(x)
    for k in range(1, 19):
        term = math_ops.matmul(term, x) / _convert(float(k), x.dtype)
        total = total + term
    for _ in range(squarings):
        total = math_ops.matmul(total, total)
    return total


def matrix_rank(a: Any, tol: Any = None, validate_args: bool = False, name: str | None = None) -> Tensor:
    """The number of singular values above `tol`."""
    a = _convert(a)
    s = linalg_ops.svd(a, compute_uv=False)
    if tol is None:
        import numpy as np

        eps = float(np.finfo(a.dtype.as_numpy_dtype).eps)
        tol = eps * max(a.shape.as_list()[-2:]) * math_ops.reduce_max(s, axis=-1, keepdims=True)
    return math_ops.reduce_sum(math_ops.cast(s > tol, dtypes.int32), axis=-1)


def pinv(a: Any, rcond: Any = None, validate_args: bool = False, name: str | None = None) -> Tensor:
    """The Moore-Penrose inverse; singular values below `rcond` times the largest count as 0."""
    import numpy as np

    a = _convert(a)
    if rcond is None:
        rcond = 10.0 * max(a.shape.as_list()[-2:]) * float(np.finfo(a.dtype.as_numpy_dtype).eps)
    s, u, v = linalg_ops.svd(a, full_matrices=False, compute_uv=True)
    cut = _convert(rcond, s.dtype) * math_ops.reduce_max(s, axis=-1, keepdims=True)
    inverse = array_ops.where_v2(s > cut, 1.0 / s, array_ops.zeros_like(s))
    return math_ops.matmul(v * array_ops.expand_dims(inverse, -2), u, adjoint_b=True)
