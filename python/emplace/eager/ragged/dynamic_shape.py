"""The shape of a ragged tensor, as `tf.shape` gives it: some lengths are one number, some one for each row."""

from __future__ import annotations

from typing import Any

from emplace.framework import array_ops, ops


class DynamicRaggedShape:
    """Rows, then the dimensions that are split into rows, then those of the values."""

    def __init__(self, ragged: Any, dtype: Any) -> None:
        self._splits = ragged.nested_row_splits
        self._rows = array_ops.shape(self._splits[0], out_type=dtype)[0] - 1
        self._inner = array_ops.shape(ragged.flat_values, out_type=dtype)

    @property
    def num_row_partitions(self) -> int:
        return len(self._splits)

    @property
    def inner_shape(self) -> Any:
        return self._inner

    @property
    def dtype(self) -> Any:
        return self._inner.dtype

    @property
    def rank(self) -> int | None:
        inner = self._inner.shape.as_list()[0]
        return None if inner is None else inner + len(self._splits)

    def __getitem__(self, index: Any) -> Any:
        if not isinstance(index, int):
            raise TypeError("Only integers index the shape of a ragged tensor.")
        index = index + self.rank if index < 0 and self.rank is not None else index
        if index == 0:
            return self._rows
        if index <= len(self._splits):
            raise ValueError(f"Index {index} is not uniform")
        return self._inner[index - len(self._splits)]

    def __repr__(self) -> str:
        return f"<DynamicRaggedShape lengths=[{', '.join(map(self._length, range(self.rank or 0)))}] num_row_partitions={len(self._splits)}>"

    def _length(self, axis: int) -> str:
        if axis == 0 or axis > len(self._splits):
            length = self[axis]
            return str(length.numpy()) if hasattr(length, "numpy") else "None"
        splits = self._splits[axis - 1]
        rows = splits[1:] - splits[:-1]
        return str(tuple(rows.numpy().tolist())) if isinstance(rows, ops.Tensor) and hasattr(rows, "numpy") else "None"
