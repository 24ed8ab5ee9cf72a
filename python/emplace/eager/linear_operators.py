"""`tf.linalg.LinearOperator…`: matrices known by their structure; what has no short cut goes through
the dense matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from emplace.eager import composite
from emplace.framework import array_ops, dtypes, linalg_ops, math_ops, tensor_shape
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import convert_to_tensor as _convert


class _Operator:
    """`_dense()` is the matrix, or a batch of them; `_solve` and `_determinant` may know a better way."""

    def __init__(
        self, is_non_singular: Any = None, is_self_adjoint: Any = None, is_positive_definite: Any = None, is_square: Any = None,
        name: str | None = None,
    ) -> None:
        self.is_non_singular, self.is_self_adjoint = is_non_singular, is_self_adjoint
        self.is_positive_definite, self._is_square, self.name = is_positive_definite, is_square, name or type(self).__name__

    @property
    def is_square(self) -> Any:
        """What was said of it, else what its shape says."""
        if self._is_square is None and None not in (sizes := self.shape.as_list()[-2:]):
            return sizes[0] == sizes[1]
        return self._is_square

    def _dense(self) -> Any:
        raise NotImplementedError

    @property
    def shape(self) -> tensor_shape.TensorShape:
        return self._dense().shape

    @property
    def dtype(self) -> dtypes.DType:
        return self._dense().dtype

    @property
    def batch_shape(self) -> tensor_shape.TensorShape:
        return self.shape[:-2]

    @property
    def domain_dimension(self) -> Any:
        return self.shape[-1]

    @property
    def range_dimension(self) -> Any:
        return self.shape[-2]

    @property
    def tensor_rank(self) -> Any:
        return self.shape.rank

    def to_dense(self, name: str = "to_dense") -> Any:
        """The matrices, or a batch of them, as a tensor."""
        return self._dense()

    def matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "matmul") -> Any:
        """The operator times matrices, or another operator; `adjoint` and `adjoint_arg` take the conjugate transpose of either."""
        if isinstance(x, _Operator):
            return LinearOperatorFullMatrix(math_ops.matmul(self._dense(), x._dense(), adjoint_a=adjoint, adjoint_b=adjoint_arg))
        return _product(self._dense(), _convert(x), adjoint, adjoint_arg)

    def matvec(self, x: Any, adjoint: bool = False, name: str = "matvec") -> Any:
        """The operator times vectors along the last dimension."""
        return array_ops.squeeze(self.matmul(array_ops.expand_dims(_convert(x), -1), adjoint), [-1])

    def solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "solve") -> Any:
        """The `x` for which the operator times `x` is `rhs`, matrices."""
        rhs = _convert(rhs)
        rhs = array_ops.matrix_transpose(rhs, conjugate=True) if adjoint_arg else rhs
        matrix, rhs = _same_batch(self._dense(), rhs)
        return self._solve(matrix, rhs, adjoint)

    def _solve(self, matrix: Any, rhs: Any, adjoint: bool) -> Any:
        return _op("MatrixSolve", [matrix, rhs], {"adjoint": adjoint})

    def solvevec(self, rhs: Any, adjoint: bool = False, name: str = "solve") -> Any:
        """The `x` for which the operator times `x` is `rhs`, vectors along the last dimension."""
        return array_ops.squeeze(self.solve(array_ops.expand_dims(_convert(rhs), -1), adjoint), [-1])

    def determinant(self, name: str = "det") -> Any:
        """The determinant of each matrix."""
        return _op("MatrixDeterminant", [self._dense()], {})

    def log_abs_determinant(self, name: str = "log_abs_det") -> Any:
        """The logarithm of the absolute value of each determinant."""
        return _op("LogMatrixDeterminant", [self._dense()], {})[1]

    def trace(self, name: str = "trace") -> Any:
        """The sum of the diagonal of each matrix."""
        return math_ops.reduce_sum(self.diag_part(), -1)

    def diag_part(self, name: str = "diag_part") -> Any:
        """The diagonal of each matrix."""
        return array_ops.matrix_diag_part(self._dense())

    def add_to_tensor(self, x: Any, name: str = "add_to_tensor") -> Any:
        """The operator's matrices plus `x`, as a tensor."""
        return self._dense() + _convert(x)

    def adjoint(self, name: str = "adjoint") -> Any:
        """The operator of the conjugate transpose."""
        return LinearOperatorFullMatrix(array_ops.matrix_transpose(self._dense(), conjugate=self.dtype.is_complex))

    H = property(adjoint)

    def inverse(self, name: str = "inverse") -> Any:
        """The operator of the inverse."""
        return LinearOperatorFullMatrix(_op("MatrixInverse", [self._dense()], {}))

    def cholesky(self, name: str = "cholesky") -> Any:
        """The Cholesky factor of positive definite matrices, as a lower triangular operator."""
        return LinearOperatorLowerTriangular(_op("Cholesky", [self._dense()], {}))

    def eigvals(self, name: str = "eigvals") -> Any:
        """The eigenvalues of self-adjoint matrices, in ascending order."""
        return linalg_ops.self_adjoint_eigvals(self._dense())

    def cond(self, name: str = "cond") -> Any:
        """The greatest singular value over the smallest."""
        values = linalg_ops.svd(self._dense(), compute_uv=False)
        return math_ops.reduce_max(values, -1) / math_ops.reduce_min(values, -1)

    def __matmul__(self, other: Any) -> Any:
        return self.matmul(other)


def _same_batch(a: Any, b: Any) -> tuple[Any, Any]:
    outer = np.broadcast_shapes(tuple(a.shape.as_list()[:-2]), tuple(b.shape.as_list()[:-2]))
    return tuple(_op("BroadcastTo", [m, [*outer, *m.shape.as_list()[-2:]]], {}) if tuple(m.shape.as_list()[:-2]) != outer else m for m in (a, b))


def _product(matrix: Any, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
    return math_ops.matmul(matrix, x, adjoint_a=adjoint, adjoint_b=adjoint_arg)


@composite.at_once
class LinearOperatorFullMatrix(_Operator):
    """An operator of any matrix or batch of them, kept as it is."""

    def __init__(self, matrix: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._matrix = _eager(matrix)

    def _dense(self) -> Any:
        return self._matrix


@composite.at_once
class LinearOperatorLowerTriangular(_Operator):
    """The upper part of what is given counts as zero."""

    def __init__(self, tril: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._tril = _eager(tril)

    def _dense(self) -> Any:
        return _op("MatrixBandPart", [self._tril, -1, 0], {})

    def _solve(self, matrix: Any, rhs: Any, adjoint: bool) -> Any:
        return linalg_ops.matrix_triangular_solve(matrix, rhs, lower=True, adjoint=adjoint)

    def determinant(self, name: str = "det") -> Any:
        return math_ops.reduce_prod(self.diag_part(), -1)

    def log_abs_determinant(self, name: str = "log_abs_det") -> Any:
        return math_ops.reduce_sum(_op("Log", [math_ops.abs(self.diag_part())], {}), -1)


@composite.at_once
class LinearOperatorDiag(_Operator):
    """An operator of diagonal matrices: keeps only the diagonal and works on it alone."""

    def __init__(self, diag: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.diag = _eager(diag)

    def _dense(self) -> Any:
        return array_ops.matrix_diag(self.diag)

    def matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "matmul") -> Any:
        if isinstance(x, _Operator) or adjoint_arg:
            return _Operator.matmul(self, x, adjoint, adjoint_arg)
        return array_ops.expand_dims(self.diag, -1) * _convert(x)

    def _solve(self, matrix: Any, rhs: Any, adjoint: bool) -> Any:
        return rhs / array_ops.expand_dims(self.diag, -1)

    def determinant(self, name: str = "det") -> Any:
        return math_ops.reduce_prod(self.diag, -1)

    def log_abs_determinant(self, name: str = "log_abs_det") -> Any:
        return math_ops.reduce_sum(_op("Log", [math_ops.abs(self.diag)], {}), -1)


@composite.at_once
class LinearOperatorIdentity(LinearOperatorDiag):
    """The operator that changes nothing, of `num_rows` rows."""

    def __init__(self, num_rows: Any, batch_shape: Any = None, dtype: Any = dtypes.float32, **kwargs: Any) -> None:
        size = [*(batch_shape or ()), int(num_rows)]
        super().__init__(np.ones(size, dtypes.as_dtype(dtype or dtypes.float32).as_numpy_dtype), **kwargs)


@composite.at_once
class LinearOperatorScaledIdentity(LinearOperatorDiag):
    """The operator that multiplies by a number, or by one for each of a batch."""

    def __init__(self, num_rows: Any, multiplier: Any, **kwargs: Any) -> None:
        self.multiplier = _eager(multiplier)
        ones = np.ones(int(num_rows), self.multiplier.dtype.as_numpy_dtype)
        super().__init__(array_ops.expand_dims(self.multiplier, -1) * ones, **kwargs)


@composite.at_once
class LinearOperatorTridiag(_Operator):
    """Three diagonals: one after another, as one tensor, or as they lie in a matrix."""

    def __init__(self, diagonals: Any, diagonals_format: str = "compact", **kwargs: Any) -> None:
        if diagonals_format not in ("compact", "matrix", "sequence"):
            raise ValueError(f"Argument `diagonals_format` must be one of compact, matrix, or sequence, got {diagonals_format}")
        super().__init__(**kwargs)
        self.diagonals_format = diagonals_format
        self.diagonals = [_eager(d) for d in diagonals] if diagonals_format == "sequence" else _eager(diagonals)

    def _dense(self) -> Any:
        if self.diagonals_format == "matrix":
            return _op("MatrixBandPart", [self.diagonals, 1, 1], {})
        rows = array_ops.stack(self.diagonals, -2) if self.diagonals_format == "sequence" else self.diagonals
        return array_ops.matrix_diag(rows, k=(-1, 1), align="LEFT_RIGHT")


@composite.at_once
class LinearOperatorBlockDiag(_Operator):
    """Operators along the diagonal of a greater matrix; takes a list of vectors, one for each block, too."""

    def __init__(self, operators: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.operators = list(operators)

    def _blocks(self) -> list[list[Any]]:
        return [[None] * i + [o] for i, o in enumerate(self.operators)]

    def _dense(self) -> Any:
        return _assembled(self._blocks(), [o.shape[-1] for o in self.operators])

    def _sizes(self) -> list[int]:
        return [row[-1].shape[-1] for row in self._blocks()]

    def matvec(self, x: Any, adjoint: bool = False, name: str = "matvec") -> Any:
        if not isinstance(x, (list, tuple)) or np.ndim(x[0]) == 0:
            return _Operator.matvec(self, x, adjoint)
        outer = np.broadcast_shapes(*(tuple(_convert(p).shape.as_list()[:-1]) for p in x))
        whole = array_ops.concat([_op("BroadcastTo", [_convert(p), [*outer, _convert(p).shape[-1]]], {}) for p in x], -1)
        return array_ops.split(_Operator.matvec(self, whole, adjoint), self._sizes(), -1)


@composite.at_once
class LinearOperatorBlockLowerTriangular(LinearOperatorBlockDiag):
    """Rows of operators, each one longer than the one before."""

    def __init__(self, operators: Any, **kwargs: Any) -> None:
        for i, row in enumerate(operators):
            if len(row) != i + 1:
                raise ValueError(f"Argument `operators` must be lower-triangular: row {i} has {len(row)} operators")
        super().__init__(operators, **kwargs)

    def _blocks(self) -> list[list[Any]]:
        return [list(row) for row in self.operators]

    def _dense(self) -> Any:
        return _assembled(self._blocks(), [row[-1].shape[-1] for row in self.operators])


def _assembled(blocks: list[list[Any]], sizes: list[int]) -> Any:
    """The dense matrix of blocks; zeros stand for those that are missing."""
    parts = [[None if b is None else b._dense() for b in row] for row in blocks]
    given = [p for row in parts for p in row if p is not None]
    outer = np.broadcast_shapes(*(tuple(p.shape.as_list()[:-2]) for p in given))
    rows = []
    for i, row in enumerate(parts):
        height = row[-1].shape[-2]
        whole = [*row, *[None] * (len(sizes) - len(row))]
        cells = [array_ops.zeros([*outer, height, sizes[j]], given[0].dtype) if p is None else _op("BroadcastTo", [p, [*outer, height, sizes[j]]], {}) for j, p in enumerate(whole)]
        rows.append(array_ops.concat(cells, -1))
    return array_ops.concat(rows, -2)


def _eager(value: Any) -> Any:
    from emplace.eager import context

    return context.v2(_convert)(value)


composite.at_once(_Operator)
LinearOperator = _Operator
