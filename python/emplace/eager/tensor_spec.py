"""What a tensor looks like: dtype and shape."""

from __future__ import annotations

from typing import Any

from emplace.framework import dtypes, ops, tensor_shape


class TypeSpec:
    """Says which values fit. Specs that print alike are alike."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))


class ShapedSpec(TypeSpec):
    """… by their shape and dtype."""

    _shape: tensor_shape.TensorShape
    _dtype: dtypes.DType

    @property
    def shape(self) -> tensor_shape.TensorShape:
        return self._shape

    @property
    def dtype(self) -> dtypes.DType:
        return self._dtype


class TensorSpec(ShapedSpec):
    """Dtype, shape (None for unknown sizes) and perhaps a name of a tensor yet to come."""

    __slots__ = ("_shape", "_dtype", "_name")

    def __init__(self, shape: Any, dtype: Any = dtypes.float32, name: str | None = None) -> None:
        self._shape = tensor_shape.TensorShape(shape)
        self._dtype = dtypes.as_dtype(dtype)
        self._name = name

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> "TensorSpec":
        """The same spec, perhaps under another name."""
        return cls(spec.shape, spec.dtype, name or spec.name)

    @classmethod
    def from_tensor(cls, tensor: Any, name: str | None = None) -> "TensorSpec":
        """The spec that a tensor fits."""
        if hasattr(tensor, "_numpy_of_eager") or hasattr(tensor, "_is_eager"):
            return cls(tensor.shape, tensor.dtype, name)
        return cls(tensor.shape, tensor.dtype, name or tensor.op.name)

    @property
    def name(self) -> str | None:
        return self._name

    @property
    def value_type(self) -> Any:
        return ops.Tensor

    def is_compatible_with(self, spec_or_tensor: Any) -> bool:
        """Whether a spec or tensor has this dtype and a shape that fits."""
        other = spec_or_tensor
        if not hasattr(other, "dtype") or not hasattr(other, "shape"):
            return False
        return dtypes.as_dtype(other.dtype) == self._dtype and self._shape.is_compatible_with(other.shape)

    def is_subtype_of(self, other: Any) -> bool:
        """Whether all that fits this spec fits the other."""
        return isinstance(other, TensorSpec) and self._dtype == other._dtype and _within(self._shape, other._shape)

    def most_specific_common_supertype(self, others: Any) -> Any:
        """The narrowest spec that this one and the others all fit, or None."""
        return common_supertype([self, *others])

    def __reduce__(self) -> Any:
        return TensorSpec, (self._shape, self._dtype, self._name)

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self._shape}, dtype={self._dtype!r}, name={self._name!r})"


class IndexedSlicesSpec(ShapedSpec):
    """Shape and dtypes of rows that stand for a larger tensor."""

    def __init__(
        self, shape: Any = None, dtype: Any = dtypes.float32, indices_dtype: Any = dtypes.int64, dense_shape_dtype: Any = None,
        indices_shape: Any = None,
    ) -> None:
        self._shape, self._dtype = tensor_shape.as_shape(shape), dtypes.as_dtype(dtype)
        self._indices_dtype = dtypes.as_dtype(indices_dtype)
        self._dense_shape_dtype = None if dense_shape_dtype is None else dtypes.as_dtype(dense_shape_dtype)
        self._indices_shape = tensor_shape.as_shape(indices_shape)

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether a spec or value has this dtype and a shape that fits."""
        other = getattr(spec_or_value, "_type_spec", spec_or_value)
        return isinstance(other, IndexedSlicesSpec) and self._dtype == other._dtype and self._shape.is_compatible_with(other._shape)

    def __repr__(self) -> str:
        return f"IndexedSlicesSpec({self._shape!r}, {self._dtype!r}, {self._indices_dtype!r}, {self._dense_shape_dtype!r}, {self._indices_shape!r})"


def common_supertype(specs: Any) -> Any:
    """The narrowest spec that takes what each of these takes; None where there is none."""
    first, *others = specs
    if any(type(s) is not type(first) for s in others):
        return None
    if not isinstance(first, TensorSpec):
        if hasattr(first, "most_specific_common_supertype"):
            return first.most_specific_common_supertype(others)
        return first if all(s == first for s in others) else None
    if any(s._dtype != first._dtype for s in others):
        return None
    shape = first._shape
    for s in others:
        shape = shape.most_specific_compatible_shape(s._shape)
    return TensorSpec(shape, first._dtype, first._name if all(s._name == first._name for s in others) else None)


def _within(one: Any, other: Any) -> bool:
    if other.rank is None:
        return True
    if one.rank != other.rank:
        return False
    return all(b is None or a == b for a, b in zip(one.as_list(), other.as_list()))


def type_spec_from_value(value: Any) -> Any:
    """The spec of a tensor, ragged tensor, dataset or other value that has one."""
    if hasattr(value, "_type_spec"):  # a composite knows
        return value._type_spec
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return TensorSpec(value.shape, value.dtype)
    if isinstance(value, (bool, int, float, complex, str, bytes, list, tuple)):
        from emplace.framework import constant_op

        array = constant_op.make_array(value)
        return TensorSpec(array.shape, dtypes.string if array.dtype == object else dtypes.as_dtype(array.dtype))
    raise TypeError(f"Could not build a TypeSpec for {value} of unsupported type {type(value)}.")
