"""`tf.SparseTensor` and what it looks like."""

from __future__ import annotations

from typing import Any

from emplace.eager import composite, context, tensor_spec
from emplace.framework import dtypes, ops, tensor_shape
from emplace.framework.ops import convert_to_tensor as _convert


@composite.at_once
class SparseTensor(composite.Composite):
    """`values[i]` stands at `indices[i]` of a tensor of `dense_shape`; zeros stand elsewhere."""

    _is_tensor = _is_sparse = True

    def __init__(self, indices: Any, values: Any, dense_shape: Any) -> None:
        context._state.eager += 1
        try:
            self._indices = _convert(indices, dtypes.int64, name="indices")
            self._values = _convert(values, name="values")
            self._dense_shape = _convert(dense_shape, dtypes.int64, name="dense_shape")
        finally:
            context._state.eager -= 1
        self._indices.shape.assert_has_rank(2)
        self._values.shape.assert_has_rank(1)
        self._dense_shape.shape.assert_has_rank(1)
        if not self._indices.shape[:1].is_compatible_with(self._values.shape[:1]):
            raise ValueError(f"Dimensions {self._indices.shape[0]} and {self._values.shape[0]} are not compatible")
        if not self._indices.shape[1:2].is_compatible_with(self._dense_shape.shape[:1]):
            raise ValueError(f"Dimensions {self._indices.shape[1]} and {self._dense_shape.shape[0]} are not compatible")

    @classmethod
    def from_value(cls, sparse_tensor_value: Any) -> "SparseTensor":
        """A sparse tensor from anything with indices, values and dense_shape."""
        if not hasattr(sparse_tensor_value, "dense_shape"):
            raise TypeError(f"Argument sparse_tensor_value={sparse_tensor_value} is neither a SparseTensor nor SparseTensorValue.")
        return cls(sparse_tensor_value.indices, sparse_tensor_value.values, sparse_tensor_value.dense_shape)

    @property
    def indices(self) -> Any:
        return self._indices

    @property
    def values(self) -> Any:
        return self._values

    @property
    def dense_shape(self) -> Any:
        return self._dense_shape

    @property
    def dtype(self) -> dtypes.DType:
        return self._values.dtype

    @property
    def shape(self) -> tensor_shape.TensorShape:
        known = ops.constant_value(self._dense_shape) if not hasattr(self._dense_shape, "numpy") else self._dense_shape.numpy()
        if known is None:
            return tensor_shape.TensorShape([None] * self._dense_shape.shape[0])
        return tensor_shape.TensorShape([int(d) for d in known])

    def get_shape(self) -> tensor_shape.TensorShape:
        """The static shape."""
        return self.shape

    def set_shape(self, shape: Any) -> None:
        """ValueError unless the shape fits."""
        if not self.shape.is_compatible_with(shape):
            raise ValueError(f"Tensor's shape {self.shape} is not compatible with supplied shape {shape}")

    def with_values(self, new_values: Any) -> "SparseTensor":
        """The same indices with other values."""
        return SparseTensor(self._indices, new_values, self._dense_shape)

    @property
    def graph(self) -> Any:
        return self._indices.graph

    def __repr__(self) -> str:
        return f"SparseTensor(indices={self._indices!s}, values={self._values!s}, dense_shape={self._dense_shape!s})"

    @property
    def _type_spec(self) -> Any:
        return SparseTensorSpec(self.shape, self.dtype)

    def _parts(self) -> list[Any]:
        return [self._indices, self._values, self._dense_shape]

    def _rebuilt(self, parts: list[Any]) -> Any:
        return SparseTensor(*parts)

    def __mul__(self, y: Any) -> Any:
        return _scaled(self, y, lambda a, b: a * b)

    def __truediv__(self, y: Any) -> Any:
        return _scaled(self, y, lambda a, b: a / b)

    @staticmethod
    def _function(name: str, plain: Any) -> Any:
        from emplace.eager.sparse import functions

        return functions.of_tensors(name, plain)


def _scaled(sparse: SparseTensor, y: Any, change: Any) -> SparseTensor:
    """Only where there are values."""
    from emplace.framework import array_ops
    from emplace.framework.dispatch import execute as op

    y = _convert(y, sparse.dtype)
    if y.shape.rank:
        y = array_ops.gather_nd(op("BroadcastTo", [y, sparse.dense_shape], {}), sparse.indices)
    return sparse.with_values(change(sparse.values, y))


class SparseTensorSpec(tensor_spec.ShapedSpec):
    """Shape and dtype of a sparse tensor."""

    def __init__(self, shape: Any = None, dtype: Any = dtypes.float32) -> None:
        self._shape = tensor_shape.as_shape(shape)
        self._dtype = dtypes.as_dtype(dtype)

    @property
    def value_type(self) -> Any:
        return SparseTensor

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether a spec or value has this dtype and a shape that fits."""
        other = getattr(spec_or_value, "_type_spec", spec_or_value)
        same = isinstance(other, SparseTensorSpec) and self._dtype == other._dtype
        return same and self._shape.is_compatible_with(other._shape)

    def _value_of(self, given: Any) -> Any:
        return given

    def __repr__(self) -> str:
        return f"SparseTensorSpec({self._shape!r}, {self._dtype!r})"
