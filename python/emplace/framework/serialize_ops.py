"""Tensors as bytes."""

from __future__ import annotations

from typing import Any, TYPE_CHECKING

from emplace.framework import dtypes
from emplace.framework.dispatch import execute as _op
from emplace.framework.set_ops import parts_of_sparse

if TYPE_CHECKING:
    from emplace.framework.tensor import Tensor


def serialize_tensor(tensor: Any, name: str | None = None) -> Tensor:
    """The tensor as a serialized TensorProto, for `parse_tensor`."""
    return _op("SerializeTensor", [tensor], {}, name)


def serialize_sparse(sp_input: Any, name: str | None = None, out_type: Any = dtypes.string) -> Tensor:
    """A sparse tensor as a vector of three serialized tensors: indices, values and shape."""
    return _op("SerializeSparse", parts_of_sparse(sp_input, "Input"), {"out_type": out_type}, name)


def serialize_many_sparse(sp_input: Any, name: str | None = None, out_type: Any = dtypes.string) -> Tensor:
    """Each row of a sparse tensor as three serialized tensors."""
    return _op("SerializeManySparse", parts_of_sparse(sp_input, "Input"), {"out_type": out_type}, name)


def serialize_sparse_v2(sp_input: Any, out_type: Any = dtypes.string, name: str | None = None) -> Any:
    """A sparse tensor as a vector of three serialized tensors: indices, values and shape."""
    return serialize_sparse(sp_input, name, out_type)


def serialize_many_sparse_v2(sp_input: Any, out_type: Any = dtypes.string, name: str | None = None) -> Any:
    """Each row of a sparse tensor as three serialized tensors."""
    return serialize_many_sparse(sp_input, name, out_type)
