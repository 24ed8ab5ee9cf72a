"""Ragged values of graph programs: what is fed and fetched."""

from __future__ import annotations

from typing import Any

import numpy as np

from emplace.eager.ragged import functions
from emplace.eager.ragged.tensor import RaggedTensor
from emplace.framework import array_ops, dtypes, fetches, ops


class RaggedTensorValue:
    """Arrays, as a RaggedTensor has tensors."""

    def __init__(self, values: Any, row_splits: Any) -> None:
        if not (isinstance(row_splits, (np.ndarray, np.generic)) and row_splits.dtype in (np.int64, np.int32) and row_splits.ndim == 1):
            raise TypeError("row_splits must be a 1D int32 or int64 numpy array")
        if not isinstance(values, (np.ndarray, np.generic, RaggedTensorValue)):
            raise TypeError("values must be a numpy array or a RaggedTensorValue")
        self._values, self._splits = values, row_splits

    values = property(lambda self: self._values)
    row_splits = property(lambda self: self._splits)
    dtype = property(lambda self: self._values.dtype)

    @property
    def flat_values(self) -> Any:
        inner = self._values
        return inner.flat_values if isinstance(inner, RaggedTensorValue) else inner

    @property
    def nested_row_splits(self) -> tuple[Any, ...]:
        return (self._splits, *(self._values.nested_row_splits if isinstance(self._values, RaggedTensorValue) else ()))

    @property
    def ragged_rank(self) -> int:
        return len(self.nested_row_splits)

    @property
    def shape(self) -> tuple[int | None, ...]:
        return (len(self._splits) - 1, None, *self._values.shape[1:])

    def to_list(self) -> list[Any]:
        """The values as nested lists."""
        inner = self._values.to_list() if isinstance(self._values, RaggedTensorValue) else self._values.tolist()
        return [inner[a:b] for a, b in zip(self._splits[:-1], self._splits[1:])]

    def __str__(self) -> str:
        return f"<tf.RaggedTensorValue {self.to_list()}>"

    def __repr__(self) -> str:
        return f"tf.RaggedTensorValue(values={self._values!r}, row_splits={self._splits!r})"


def _value(parts: list[Any]) -> RaggedTensorValue:
    made = parts[0]
    for splits in reversed(parts[1:]):
        made = RaggedTensorValue(made, splits)
    return made


fetches.register_session_run_conversion_functions(
    RaggedTensor,
    lambda fetch: (fetch._parts(), _value),
    lambda feed, value: list(zip(feed._parts(), [value.flat_values, *value.nested_row_splits])),
)


def constant_value(
    pylist: Any, dtype: Any = None, ragged_rank: int | None = None, inner_shape: Any = None, row_splits_dtype: str = "int64"
) -> Any:
    """As `constant`, of arrays."""
    from emplace.eager import context

    kind = None if dtype is None else dtypes.as_dtype(dtype)
    with context.eager_mode():
        made = functions.constant(pylist, kind, ragged_rank, inner_shape, None, dtypes.as_dtype(row_splits_dtype))
        parts = [p.numpy() for p in made._parts()] if isinstance(made, RaggedTensor) else [made.numpy()]
    return _value(parts)


def placeholder(dtype: Any, ragged_rank: int, value_shape: Any = None, name: str | None = None) -> Any:
    """Fed as a RaggedTensorValue."""
    if ragged_rank == 0:
        return array_ops.placeholder(dtype, value_shape, name)
    with ops.name_scope(name, "RaggedPlaceholder", []):
        shape = None if value_shape is None else [None, *value_shape]
        made = array_ops.placeholder(dtype, shape, "flat_values")
        for i in reversed(range(ragged_rank)):
            made = RaggedTensor(made, array_ops.placeholder(dtypes.int64, [None], f"row_splits_{i}"))
        return made
