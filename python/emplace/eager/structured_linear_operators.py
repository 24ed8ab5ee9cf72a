"""Linear operators made of others, or of few numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from emplace.eager import composite
from emplace.eager.linear_operators import LinearOperator, _eager
from emplace.framework import array_ops, dtypes, math_ops
from emplace.framework.dispatch import execute as _op


def _turned(matrix: Any) -> Any:
    return array_ops.matrix_transpose(matrix, conjugate=matrix.dtype.is_complex)


@composite.at_once
class LinearOperatorAdjoint(LinearOperator):
    """The conjugate transpose of another operator."""

    def __init__(self, operator: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.operator = operator

    def _dense(self) -> Any:
        return _turned(self.operator._dense())


@composite.at_once
class LinearOperatorInversion(LinearOperator):
    """The inverse of another operator."""

    def __init__(self, operator: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.operator = operator

    def _dense(self) -> Any:
        return _op("MatrixInverse", [self.operator._dense()], {})


@composite.at_once
class LinearOperatorComposition(LinearOperator):
    """The last of the operators is applied first."""

    def __init__(self, operators: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.operators = list(operators)
        if not self.operators:
            raise ValueError("Expected a non-empty list of operators. Found: []")

    def _dense(self) -> Any:
        whole = self.operators[0]._dense()
        for o in self.operators[1:]:
            whole = math_ops.matmul(whole, o._dense())
        return whole


@composite.at_once
class LinearOperatorKronecker(LinearOperator):
    """Blocks of the second, scaled by the elements of the first, and so on."""

    def __init__(self, operators: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.operators = list(operators)

    def _dense(self) -> Any:
        whole = self.operators[0]._dense()
        for o in self.operators[1:]:
            part = o._dense()
            rows, columns = whole.shape[-2] * part.shape[-2], whole.shape[-1] * part.shape[-1]
            cells = whole[..., :, None, :, None] * part[..., None, :, None, :]
            whole = array_ops.reshape(cells, [*cells.shape.as_list()[:-4], rows, columns])
        return whole


@composite.at_once
class LinearOperatorLowRankUpdate(LinearOperator):
    """base + u · diag · vᴴ."""

    def __init__(self, base_operator: Any, u: Any, diag_update: Any = None, v: Any = None, **kwargs: Any) -> None:
        super().__init__(**{k: a for k, a in kwargs.items() if k != "is_diag_update_positive"})
        self.base_operator, self.u = base_operator, _eager(u)
        self.v = self.u if v is None else _eager(v)
        self.diag_update = None if diag_update is None else _eager(diag_update)

    def _dense(self) -> Any:
        left = self.u if self.diag_update is None else self.u * array_ops.expand_dims(self.diag_update, -2)
        return self.base_operator._dense() + math_ops.matmul(left, self.v, adjoint_b=True)


@composite.at_once
class LinearOperatorZeros(LinearOperator):
    """An operator of zeros, not necessarily square."""

    def __init__(self, num_rows: Any, num_columns: Any = None, batch_shape: Any = None, dtype: Any = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._sizes = [*(batch_shape or ()), int(num_rows), int(num_rows if num_columns is None else num_columns)]
        self._kind = dtypes.as_dtype(dtype or dtypes.float32)

    def _dense(self) -> Any:
        return array_ops.zeros(self._sizes, self._kind)


@composite.at_once
class LinearOperatorPermutation(LinearOperator):
    """Row i of the result is row `perm[i]`."""

    def __init__(self, perm: Any, dtype: Any = dtypes.float32, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.perm, self._kind = _eager(perm), dtypes.as_dtype(dtype)

    def _dense(self) -> Any:
        return array_ops.one_hot(self.perm, self.perm.shape[-1], dtype=self._kind)


@composite.at_once
class LinearOperatorHouseholder(LinearOperator):
    """The reflection at the plane across an axis."""

    def __init__(self, reflection_axis: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.reflection_axis = _eager(reflection_axis)

    def _dense(self) -> Any:
        axis = self.reflection_axis
        column = array_ops.expand_dims(axis, -1)
        length = math_ops.reduce_sum(axis * math_ops.conj(axis) if axis.dtype.is_complex else axis * axis, -1)
        square = array_ops.expand_dims(array_ops.expand_dims(length, -1), -1)
        return array_ops.eye(axis.shape[-1], dtype=axis.dtype) - 2 * math_ops.matmul(column, column, adjoint_b=True) / square


@composite.at_once
class LinearOperatorToeplitz(LinearOperator):
    """The same number along each diagonal: the first column and the first row say which."""

    def __init__(self, col: Any, row: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.col, self.row = _eager(col), _eager(row)

    def _dense(self) -> Any:
        n, m = self.col.shape[-1], self.row.shape[-1]
        numbers = array_ops.concat([_op("ReverseV2", [self.row[..., 1:], [-1]], {}), self.col], -1)
        at = np.arange(n)[:, None] - np.arange(m)[None, :] + m - 1
        return array_ops.gather(numbers, at.astype(np.int32), axis=-1)


@composite.at_once
class LinearOperatorCirculant(LinearOperator):
    """A Toeplitz matrix that wraps around: its eigenvalues are the spectrum."""

    def __init__(self, spectrum: Any, input_output_dtype: Any = dtypes.complex64, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.spectrum, self._kind = _eager(spectrum), dtypes.as_dtype(input_output_dtype)

    def _dense(self) -> Any:
        n = self.spectrum.shape[-1]
        column = _op("IFFT", [math_ops.cast(self.spectrum, dtypes.complex64)], {})
        column = column if self._kind.is_complex else math_ops.real(column)
        at = (np.arange(n)[:, None] - np.arange(n)[None, :]) % n
        return array_ops.gather(math_ops.cast(column, self._kind), at.astype(np.int32), axis=-1)
