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

    _told: tensor_shape.TensorShape | None = None  # of the shape, where a graph knows more than its tensors say

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
        if hasattr(self._dense_shape, "numpy"):
            return tensor_shape.TensorShape([int(d) for d in self._dense_shape.numpy()])
        found = _sizes(self._dense_shape)
        return found if self._told is None else found.merge_with(self._told)

    def get_shape(self) -> tensor_shape.TensorShape:
        """The static shape."""
        return self.shape

    def set_shape(self, shape: Any) -> None:
        """ValueError unless the shape fits."""
        if not self.shape.is_compatible_with(shape):
            raise ValueError(f"Tensor's shape {self.shape} is not compatible with supplied shape {shape}")
        self._told = self.shape.merge_with(shape)

    def with_values(self, new_values: Any) -> "SparseTensor":
        """The same indices with other values."""
        return self._rebuilt([self._indices, new_values, self._dense_shape])

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
        made = SparseTensor(*parts)
        if not hasattr(made._dense_shape, "numpy"):
            made._told = self._outside_rows()
        return made

    def _outline(self) -> str:
        return f"SparseTensor{self._outside_rows()}"

    def _outside_rows(self) -> tensor_shape.TensorShape:
        """The shape without how many rows there are: what a trace knows of it."""
        known = self.shape
        return known if known.rank is None else tensor_shape.TensorShape([None, *known.as_list()[1:]][: known.rank])

    def __mul__(self, y: Any) -> Any:
        return _scaled(self, y, lambda a, b: a * b)

    def __rmul__(self, y: Any) -> Any:
        return self * y if isinstance(y, ops.Tensor) else NotImplemented

    def __truediv__(self, y: Any) -> Any:
        return _scaled(self, y, lambda a, b: a / b)

    @staticmethod
    def _function(name: str, plain: Any) -> Any:
        from emplace.eager.sparse import functions

        return functions.of_tensors(name, plain)


def _sizes(dense_shape: Any) -> tensor_shape.TensorShape:
    """What is known of a shape while a graph is built: all of it, or some of the sizes it is put together from."""
    made = dense_shape.op
    if made.type == "PlaceholderWithDefault":  # what is known of a fed shape
        dense_shape = made.inputs[0]
    known = ops.constant_value(dense_shape)
    if known is not None:
        return tensor_shape.TensorShape([None if d == -1 else int(d) for d in known])
    while made.type == "Cast":
        made = made.inputs[0].op
    if made.type != "Pack":
        return tensor_shape.TensorShape([None] * dense_shape.shape[0] if dense_shape.shape[0] is not None else None)
    parts = [ops.constant_value(part) for part in made.inputs]
    return tensor_shape.TensorShape([None if part is None else int(part) for part in parts])


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

    def _from_parts(self, parts: list[Any]) -> SparseTensor:
        made = SparseTensor(*parts)
        if not hasattr(made.dense_shape, "numpy") and self._shape.rank is not None:
            made.set_shape(self._shape)
        return made

    def __repr__(self) -> str:
        return f"SparseTensorSpec({self._shape!r}, {self._dtype!r})"
