"""A value that may be missing, and the specs of datasets, their iterators and such values."""

from __future__ import annotations

from typing import Any

from emplace.eager import context, nest, op_errors, tensor_spec
from emplace.framework import ops, tensor_shape


def _tensors(value: Any) -> Any:
    with context.eager_mode():
        return nest.map_structure(lambda v: v if hasattr(v, "_parts") else ops.convert_to_tensor(v), value)


class Optional:
    """`has_value()` says whether `get_value()` gives something."""

    def __init__(self, value: Any, spec: Any, there: bool) -> None:
        self._value, self.element_spec, self._there = value, spec, there

    @staticmethod
    def from_value(value: Any) -> "Optional":
        """An Optional that holds a value."""
        value = _tensors(value)
        return Optional(value, nest.map_structure(tensor_spec.type_spec_from_value, value), True)

    @staticmethod
    def empty(element_spec: Any) -> "Optional":
        """An Optional without a value; the spec says what it might have held."""
        return Optional(None, element_spec, False)

    def has_value(self, name: str | None = None) -> Any:
        """Whether there is a value, as a bool tensor."""
        with context.eager_mode():
            return ops.convert_to_tensor(self._there)

    def get_value(self, name: str | None = None) -> Any:
        """The value; InvalidArgumentError if there is none."""
        if not self._there:
            raise op_errors.refused("OptionalGetValue", "The given optional does not have a value.")
        return self._value

    def __repr__(self) -> str:
        return f"tf.experimental.Optional({self._value!r})" if self._there else "tf.experimental.Optional.empty()"


class _Spec(tensor_spec.TypeSpec):
    def __init__(self, element_spec: Any) -> None:
        self._element_spec = element_spec

    @property
    def element_spec(self) -> Any:
        return self._element_spec

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether a spec or value has elements of the same kind."""
        other = getattr(spec_or_value, "element_spec", None)
        return other is not None and nest.flatten(other) == nest.flatten(self._element_spec)

    @classmethod
    def from_value(cls, value: Any) -> Any:
        """The spec of a value."""
        return cls(value.element_spec)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._element_spec!r})"


class OptionalSpec(_Spec):
    """What an optional value looks like."""


class IteratorSpec(_Spec):
    """What an iterator gives."""


class DatasetSpec(_Spec):
    """What the elements of a dataset look like; `dataset_shape` is that of a tensor of datasets."""

    def __init__(self, element_spec: Any, dataset_shape: Any = ()) -> None:
        super().__init__(element_spec)
        self._shape = tensor_shape.as_shape(dataset_shape)

    def __repr__(self) -> str:
        return f"DatasetSpec({self._element_spec!r}, {self._shape!r})"
