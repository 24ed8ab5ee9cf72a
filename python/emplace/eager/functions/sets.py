"""Sets in the last dimension: dense rows, or sparse tensors whose rows need not be equally long."""

from __future__ import annotations

from typing import Any, TYPE_CHECKING

from emplace.eager.sparse.tensor import SparseTensor
from emplace.framework import dtypes
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import convert_to_tensor as _convert

if TYPE_CHECKING:
    from emplace.framework.tensor import Tensor

_ALLOWED = ("int8", "int16", "int32", "int64", "uint8", "uint16", "string")


def _set(value: Any, what: str) -> Any:
    if not isinstance(value, SparseTensor):
        value = _convert(value, name=what)
    if value.dtype.base_dtype.name not in _ALLOWED:
        allowed = frozenset(dtypes.as_dtype(n) for n in _ALLOWED)
        raise TypeError(f"'{what}' has invalid dtype `{value.dtype}` not in supported dtypes: `{allowed}`.")
    return value


def size(a: Any, validate_indices: bool = True) -> Tensor:
    """How many different elements each row has."""
    if not isinstance(a, SparseTensor):
        raise TypeError(f"Expected `SparseTensor`, got {_convert(a)}.")
    return _op("SetSize", [a.indices, _set(a, "a").values, a.dense_shape], {"validate_indices": validate_indices})


def _combined(a: Any, b: Any, how: str, validate_indices: bool) -> SparseTensor:
    attrs = {"set_operation": how, "validate_indices": validate_indices}
    if isinstance(a, SparseTensor):
        op, parts = "SparseToSparseSetOperation", [a.indices, a.values, a.dense_shape, b.indices, b.values, b.dense_shape]
    elif isinstance(b, SparseTensor):
        op, parts = "DenseToSparseSetOperation", [a, b.indices, b.values, b.dense_shape]
    else:
        op, parts = "DenseToDenseSetOperation", [a, b]
    return SparseTensor(*_op(op, parts, attrs))


def _pair(a: Any, b: Any) -> tuple[Any, Any, bool]:
    """Both as sets; the kernels want the dense one first."""
    a, b = _set(a, "a"), _set(b, "b")
    if a.dtype.base_dtype != b.dtype.base_dtype:
        raise TypeError(f"Types don't match, {b.dtype} vs {a.dtype}.")
    if isinstance(a, SparseTensor) and not isinstance(b, SparseTensor):
        return b, a, True
    return a, b, False


def intersection(a: Any, b: Any, validate_indices: bool = True) -> SparseTensor:
    """What rows of `a` and `b` have in common, sets along the last dimension, as a sparse tensor."""
    a, b, _ = _pair(a, b)
    return _combined(a, b, "intersection", validate_indices)


def union(a: Any, b: Any, validate_indices: bool = True) -> SparseTensor:
    """What is in rows of `a` or `b`, sets along the last dimension, as a sparse tensor."""
    a, b, _ = _pair(a, b)
    return _combined(a, b, "union", validate_indices)


def difference(a: Any, b: Any, aminusb: bool = True, validate_indices: bool = True) -> SparseTensor:
    """What rows of `a` have and those of `b` have not (the reverse if not `aminusb`), as a sparse tensor."""
    a, b, turned = _pair(a, b)
    return _combined(a, b, "a-b" if aminusb != turned else "b-a", validate_indices)
