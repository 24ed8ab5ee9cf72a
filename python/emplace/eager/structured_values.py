"""Structures of specs and plain values as SavedModels hold them."""

from __future__ import annotations

import collections
from typing import Any

from emplace.eager import tensor_spec
from emplace.framework import dtypes, graph_io, tensor_shape

_SPARSE, _RAGGED = 1, 3


def decoded(value: Any) -> Any:
    """What a StructuredValue stands for."""
    kind = value.WhichOneof("kind")
    if kind is None or kind == "none_value":
        return None
    inner = getattr(value, kind)
    if kind in ("float64_value", "int64_value", "string_value", "bool_value"):
        return inner
    return _DECODERS[kind](inner)


def _shape(proto: Any) -> tensor_shape.TensorShape:
    return tensor_shape.TensorShape(proto)


def _tensor_spec(proto: Any) -> tensor_spec.TensorSpec:
    return tensor_spec.TensorSpec(_shape(proto.shape), dtypes.as_dtype(proto.dtype), proto.name or None)


def _named_tuple(proto: Any) -> Any:
    return collections.namedtuple(proto.name, [p.key for p in proto.values])(*(decoded(p.value) for p in proto.values))  # type: ignore[misc]


def _type_spec(proto: Any) -> Any:
    state = decoded(proto.type_state)
    if proto.type_spec_class == _RAGGED:
        from emplace.eager.ragged.spec import RaggedTensorSpec

        return RaggedTensorSpec(*state[:4])
    if proto.type_spec_class == _SPARSE:
        from emplace.eager.sparse.tensor import SparseTensorSpec

        return SparseTensorSpec(*state[:2])
    raise NotImplementedError(f"values of type {proto.type_spec_class_name or proto.type_spec_class} in a SavedModel")


_DECODERS: dict[str, Any] = {
    "tensor_shape_value": _shape,
    "tensor_dtype_value": dtypes.as_dtype,
    "tensor_spec_value": _tensor_spec,
    "bounded_tensor_spec_value": _tensor_spec,
    "type_spec_value": _type_spec,
    "list_value": lambda v: [decoded(x) for x in v.values],
    "tuple_value": lambda v: tuple(decoded(x) for x in v.values),
    "dict_value": lambda v: {k: decoded(v.fields[k]) for k in sorted(v.fields)},
    "named_tuple_value": _named_tuple,
    "tensor_value": graph_io.make_ndarray,
    "numpy_value": graph_io.make_ndarray,
}


def part_kinds(spec: Any) -> list[Any]:
    """A TensorSpec for each tensor that a value of this spec is made of."""
    if isinstance(spec, tensor_spec.TensorSpec):
        return [spec]
    return spec._part_specs() if hasattr(spec, "_part_specs") else _Awaited(spec)._parts()


def num_parts(spec: Any) -> int:
    """Tensors that a value of this spec is made of."""
    return len(part_kinds(spec))


class _Awaited:
    """A ragged or sparse tensor of which only the spec is known: it stands for its tensors' specs."""

    def __init__(self, spec: Any) -> None:
        self._type_spec = spec
        if type(spec).__name__ == "SparseTensorSpec":
            self.dense_shape = spec.shape

    def _outline(self) -> str:
        return type(self).__name__

    def _parts(self) -> list[Any]:
        spec = self._type_spec
        if hasattr(self, "dense_shape"):
            kinds = ([None, spec.shape.rank], dtypes.int64), ([None], spec.dtype), ([spec.shape.rank], dtypes.int64)
            return [tensor_spec.TensorSpec(*k) for k in kinds]
        inner = spec.shape.as_list()[spec.ragged_rank + 1 :]
        return [tensor_spec.TensorSpec([None, *inner], spec.dtype), *[tensor_spec.TensorSpec([None], spec.row_splits_dtype)] * spec.ragged_rank]

    def _rebuilt(self, parts: list[Any]) -> Any:
        return from_parts(self._type_spec, parts)


def awaited(leaf: Any) -> Any:
    if hasattr(leaf, "_awaited"):
        return leaf._awaited()
    return _Awaited(leaf) if hasattr(leaf, "_value_of") else leaf


def from_parts(spec: Any, parts: list[Any]) -> Any:
    if isinstance(spec, tensor_spec.TensorSpec):
        return parts[0]
    if hasattr(spec, "_from_parts"):
        return spec._from_parts(parts)
    from emplace.eager.ragged.tensor import RaggedTensor

    value = parts[0]
    for splits in reversed(parts[1:]):
        value = RaggedTensor.from_row_splits(value, splits, validate=False)
    return value


# ---- The other way.


def encoded(value: Any, out: Any) -> Any:
    """Writes the value into the StructuredValue `out`; NotImplementedError where there is no form for it."""
    if value is None:
        out.none_value.SetInParent()
    elif isinstance(value, bool):
        out.bool_value = value
    elif isinstance(value, int):
        out.int64_value = value
    elif isinstance(value, float):
        out.float64_value = value
    elif isinstance(value, str):
        out.string_value = value
    elif isinstance(value, dtypes.DType):
        out.tensor_dtype_value = value.as_datatype_enum
    elif isinstance(value, tensor_shape.TensorShape):
        out.tensor_shape_value.CopyFrom(value.as_proto())
    elif isinstance(value, tensor_spec.TensorSpec):
        spec = out.tensor_spec_value
        spec.shape.CopyFrom(value.shape.as_proto())
        spec.dtype, spec.name = value.dtype.as_datatype_enum, value.name or ""
    elif type(value).__name__ in _SPECS:
        _encoded_spec(value, out.type_spec_value)
    elif isinstance(value, dict):
        out.dict_value.SetInParent()
        for key, inner in value.items():
            encoded(inner, out.dict_value.fields[key])
    elif hasattr(value, "_fields"):
        out.named_tuple_value.name = type(value).__name__
        for key in value._fields:
            encoded(getattr(value, key), _pair(out.named_tuple_value.values.add(), key))
    elif isinstance(value, (list, tuple)):
        kind = out.list_value if isinstance(value, list) else out.tuple_value
        kind.SetInParent()
        for inner in value:
            encoded(inner, kind.values.add())
    else:
        raise NotImplementedError(f"{value!r} in the signature of a function that is saved")
    return out


_SPECS = {"RaggedTensorSpec": _RAGGED, "SparseTensorSpec": _SPARSE}


def _encoded_spec(spec: Any, out: Any) -> None:
    out.type_spec_class, out.type_spec_class_name = _SPECS[type(spec).__name__], type(spec).__name__
    state = (spec.shape, spec.dtype, spec.ragged_rank, spec.row_splits_dtype) if hasattr(spec, "ragged_rank") else (spec.shape, spec.dtype)
    encoded(state, out.type_state)


def _pair(pair: Any, key: str) -> Any:
    pair.key = key
    return pair.value
