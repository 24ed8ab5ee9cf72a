"""`tf.experimental.RowPartition`: how values are cut into rows, without the values."""

from __future__ import annotations

from typing import Any

import numpy as np

from emplace.eager import context
from emplace.eager.ragged.tensor import RaggedTensor
from emplace.framework import dtypes, ops


def _numbers(values: Any, dtype: Any) -> np.ndarray:
    with context.eager_mode():
        given = ops.convert_to_tensor(values, None if isinstance(values, ops.Tensor) else dtype or dtypes.int64)
    return np.asarray(given.numpy())


class RowPartition:
    """Made by its class methods; row `i` holds the values from `row_splits[i]` up to `row_splits[i + 1]`."""

    def __init__(self, rows: RaggedTensor) -> None:
        self._rows = rows

    @classmethod
    def _of(cls, way: str, encoding: Any, count: int, **more: Any) -> "RowPartition":
        values = np.zeros([count], np.bool_)
        with context.eager_mode():
            return cls(getattr(RaggedTensor, way)(ops.convert_to_tensor(values), ops.convert_to_tensor(encoding), **more))

    @classmethod
    def from_row_splits(cls, row_splits: Any, validate: bool = True, dtype: Any = None, dtype_hint: Any = None) -> "RowPartition":
        """Rows from where each begins, and the end of the last."""
        splits = _numbers(row_splits, dtype)
        return cls._of("from_row_splits", splits, int(splits[-1]) if splits.size else 0, validate=validate)

    @classmethod
    def from_row_lengths(cls, row_lengths: Any, validate: bool = True, dtype: Any = None, dtype_hint: Any = None) -> "RowPartition":
        """Rows from their lengths."""
        lengths = _numbers(row_lengths, dtype)
        return cls._of("from_row_lengths", lengths, int(lengths.sum()), validate=validate)

    @classmethod
    def from_row_starts(cls, row_starts: Any, nvals: Any, validate: bool = True, dtype: Any = None, dtype_hint: Any = None) -> "RowPartition":
        """Rows from where each begins, and the number of values."""
        return cls._of("from_row_starts", _numbers(row_starts, dtype), int(nvals), validate=validate)

    @classmethod
    def from_row_limits(cls, row_limits: Any, validate: bool = True, dtype: Any = None, dtype_hint: Any = None) -> "RowPartition":
        """Rows from where each ends."""
        limits = _numbers(row_limits, dtype)
        return cls._of("from_row_limits", limits, int(limits[-1]) if limits.size else 0, validate=validate)

    @classmethod
    def from_value_rowids(cls, value_rowids: Any, nrows: Any = None, validate: bool = True, dtype: Any = None, dtype_hint: Any = None) -> "RowPartition":
        """Rows from the row of each value, in ascending order; `nrows` allows for empty ones at the end."""
        ids = _numbers(value_rowids, dtype)
        more = {} if nrows is None else {"nrows": int(nrows)}
        return cls._of("from_value_rowids", ids, len(ids), validate=validate, **more)

    def row_splits(self) -> Any:
        """Where each row begins, and the end of the last."""
        return self._rows.row_splits

    def row_lengths(self) -> Any:
        """The number of values in each row."""
        return self._rows.row_lengths()

    def row_starts(self) -> Any:
        """Where each row begins."""
        return self._rows.row_starts()

    def row_limits(self) -> Any:
        """Where each row ends."""
        return self._rows.row_limits()

    def value_rowids(self) -> Any:
        """The row of each value."""
        return self._rows.value_rowids()

    def nrows(self) -> Any:
        """The number of rows."""
        return self._rows.nrows()

    def nvals(self) -> Any:
        """The number of values."""
        return self._rows.row_splits[-1]

    @property
    def dtype(self) -> Any:
        return self._rows.row_splits.dtype

    def __repr__(self) -> str:
        return f"tf.RowPartition(row_splits={self._rows.row_splits.numpy()})"
