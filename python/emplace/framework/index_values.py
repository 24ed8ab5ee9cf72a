"""Sizes, axes and places given as Python's numbers: widened or refused where 32 bits don't hold them, never cut."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from emplace.framework import constant_op, dtypes, ops, tensor_shape

TYPES = frozenset({dtypes.int16._enum, dtypes.int32._enum, dtypes.int64._enum})


def beyond(values: Any, dtype: dtypes.DType) -> bool:
    """Whether a whole number among `values` is one that `dtype` does not hold."""
    if isinstance(values, (list, tuple)):
        return any(beyond(v, dtype) for v in values)
    if isinstance(values, (np.ndarray, np.generic)):
        within = values.dtype.kind not in "iu" or not values.size or values.dtype.itemsize < dtype.size
        return not within and (beyond(int(values.min()), dtype) or beyond(int(values.max()), dtype))
    if isinstance(values, tensor_shape.TensorShape):
        return values.rank is not None and beyond(values.as_list(), dtype)
    number = tensor_shape.dimension_value(values)
    return isinstance(number, int) and not dtype.min <= number <= dtype.max


def check(values: Any, dtype: dtypes.DType) -> None:
    if dtype._enum in TYPES and beyond(values, dtype):
        raise constant_op.out_of_range(values, dtype)


def tensor(values: Any, name: str | None = None, wide: bool = False) -> Any:
    """`values` as a tensor of int32; `wide`: of int64 where a number needs it."""
    dtype = dtypes.int64 if wide and beyond(values, dtypes.int32) else dtypes.int32
    check(values, dtype)
    return constant_op.convert_to_tensor(values, dtype, name)


def narrow(values: Any, name: str | None = None) -> Any:
    """Counts and places as a tensor of int32. A number that it does not hold is refused; in a tensor, of which a graph knows nothing
    yet, it becomes the nearest that int32 holds: as far beyond all that there is."""
    from emplace.framework import math_ops

    check(values, dtypes.int32)
    found = constant_op.convert_to_tensor(values, name=name)
    return math_ops.saturate_cast(found, dtypes.int32) if found.dtype.is_integer and found.dtype.max > dtypes.int32.max else math_ops.cast(found, dtypes.int32)


def whole(value: Any, dtype: dtypes.DType = dtypes.int32) -> int:
    """A size or a count: what is no whole number is refused, not cut."""
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"Cannot convert {value} to EagerTensor of dtype {dtype.name}") from None


def axis(given: Any, rank: int) -> int:
    """An axis of `rank`, counted from the front."""
    if not -rank <= given < rank:
        raise ValueError(f"axis={given} out of bounds: expected {-rank}<=axis<{rank}")
    return int(given) % rank


def wide_attrs(d: Any, inputs: Any, known: Any) -> list[str]:
    """Type attributes of indices that are still open and whose numbers, of one argument or another, need int64."""
    pairs = zip(d.inputs, inputs)
    return [
        a.type_attr for a, v in pairs
        if a.is_index and a.type_attr and a.type_attr not in known and not isinstance(v, ops.Tensor) and beyond(v, dtypes.int32)
    ]
