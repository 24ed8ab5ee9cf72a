"""IndexedSlices made dense, or left as they are."""

from __future__ import annotations

from typing import Any

from emplace.framework import dtypes, ops
from emplace.framework.dispatch import execute as _op


def to_tensor(slices: Any, dtype: Any = None, name: str | None = None) -> Any:
    if dtype is not None and not dtype.is_compatible_with(slices.dtype):
        raise ValueError(f"Tensor conversion requested dtype {dtype.name} for IndexedSlices with dtype {slices.dtype.name}")
    if slices.dense_shape is None:
        raise ValueError(f"Tensor conversion requested for IndexedSlices for argument without a dense_shape: {slices}")
    rows = slices.dense_shape[0]
    return _op("UnsortedSegmentSum", [slices.values, slices.indices, rows], {}, name)


def convert_to_tensor_or_indexed_slices(value: Any, dtype: Any = None, name: str | None = None) -> Any:
    """IndexedSlices as they are, anything else as a tensor."""
    if isinstance(value, ops.IndexedSlices):
        if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(value.dtype):
            raise ValueError(f"Incompatible tensor conversion requested to `dtype` {dtypes.as_dtype(dtype).name} for `value` ({value}) with dtype {value.dtype.name}")
        return value
    return ops.convert_to_tensor(value, dtype, name)
