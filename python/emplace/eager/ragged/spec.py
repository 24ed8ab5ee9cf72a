"""What a ragged tensor looks like."""

from __future__ import annotations

from typing import Any

from emplace.eager import tensor_spec
from emplace.framework import dtypes, tensor_shape


class RaggedTensorSpec(tensor_spec.ShapedSpec):
    """Shape, dtype, and how many of the outer axes are split into rows."""

    def __init__(
        self, shape: Any = None, dtype: Any = dtypes.float32, ragged_rank: int | None = None, row_splits_dtype: Any = dtypes.int64,
        flat_values_spec: Any = None,
    ) -> None:
        self._shape = tensor_shape.as_shape(shape)
        self._dtype = dtypes.as_dtype(dtype)
        self._splits = dtypes.as_dtype(row_splits_dtype)
        rank = self._shape.rank
        if ragged_rank is None:
            if rank is None:
                raise ValueError("Must specify ragged_rank or a shape with a known rank.")
            ragged_rank = rank - 1
        if not isinstance(ragged_rank, int):
            raise TypeError(f"Argument `ragged_rank` must be an int. Received {ragged_rank}.")
        if rank is not None and ragged_rank >= rank:
            raise ValueError(f"Argument `ragged_rank` ({ragged_rank}) must be less than rank ({rank}).")
        self._ragged_rank = ragged_rank

    @classmethod
    def from_value(cls, value: Any) -> "RaggedTensorSpec":
        """The spec of a ragged tensor."""
        return cls(value.shape, value.dtype, value.ragged_rank, value.row_splits.dtype)

    @property
    def ragged_rank(self) -> int:
        return self._ragged_rank

    @property
    def row_splits_dtype(self) -> dtypes.DType:
        return self._splits

    @property
    def flat_values_spec(self) -> Any:
        return None

    @property
    def value_type(self) -> Any:
        from emplace.eager.ragged.tensor import RaggedTensor

        return RaggedTensor if self._ragged_rank else __import__("emplace").Tensor

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether a spec or value has this dtype, ragged rank and a shape that fits."""
        other = spec_or_value if isinstance(spec_or_value, RaggedTensorSpec) else getattr(spec_or_value, "_type_spec", None)
        if not isinstance(other, RaggedTensorSpec):
            return False
        same = (self._dtype, self._ragged_rank, self._splits) == (other._dtype, other._ragged_rank, other._splits)
        return same and self._shape.is_compatible_with(other._shape)

    def _value_of(self, given: Any) -> Any:
        """A Python value made what the spec says."""
        from emplace.eager.ragged import functions
        from emplace.eager.ragged.tensor import RaggedTensor

        if isinstance(given, RaggedTensor):
            return given
        return functions.constant(given, self._dtype, self._ragged_rank, row_splits_dtype=self._splits)

    def __repr__(self) -> str:
        return f"RaggedTensorSpec({self._shape!r}, {self._dtype!r}, {self._ragged_rank}, {self._splits!r})"
