"""A value that may be missing, and the specs of datasets, their iterators and such values."""

from __future__ import annotations

from typing import Any

from emplace.eager import composite, context, nest, tensor_spec
from emplace.eager.datasets import structure
from emplace.framework import dtypes, gen, ops, tensor_shape


class Optional(composite.Composite):
    """A value that may be missing: `has_value()` says whether `get_value()` gives something."""

    def __init__(self, variant: Any, spec: Any) -> None:
        self._variant, self._element_spec = variant, spec

    @property
    def element_spec(self) -> Any:
        """What its value looks like."""
        return self._element_spec

    @staticmethod
    @context.v2
    def from_value(value: Any) -> "Optional":
        """An Optional that holds a value."""
        value = structure.normalized(value)
        spec = structure.spec_of(value)
        return Optional(gen.apply("OptionalFromValue", [structure.to_tensors(spec, value)], {}), spec)

    @staticmethod
    @context.v2
    def empty(element_spec: Any) -> "Optional":
        """An Optional without a value; the spec says what it might have held."""
        return Optional(gen.apply("OptionalNone", [], {}), element_spec)

    @context.v2
    def has_value(self, name: str | None = None) -> Any:
        """Whether there is a value, as a bool tensor."""
        return gen.apply("OptionalHasValue", [self._variant], {}, name)

    @context.v2
    def get_value(self, name: str | None = None) -> Any:
        """The value; InvalidArgumentError if there is none."""
        attrs = structure.attributes(self._element_spec)
        made = gen.apply("OptionalGetValue", [self._variant], attrs, name) if attrs["output_types"] else []
        return structure.from_tensors(self._element_spec, made)

    def _parts(self) -> list[Any]:
        return [self._variant]

    def _rebuilt(self, parts: list[Any]) -> "Optional":
        return Optional(parts[0], self._element_spec)

    def _outline(self) -> str:
        return f"Optional {self._element_spec!r}"

    @property
    def _type_spec(self) -> "OptionalSpec":
        return OptionalSpec(self._element_spec)

    def __repr__(self) -> str:
        if hasattr(self._variant, "_numpy_of_eager"):
            return f"tf.experimental.Optional({self.get_value()!r})" if self.has_value() else "tf.experimental.Optional.empty()"
        return f"<tf.experimental.Optional {self._element_spec!r}>"


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

    def _part_specs(self) -> list[Any]:
        return [tensor_spec.TensorSpec([], dtypes.variant)]

    def _from_parts(self, parts: list[Any]) -> Optional:
        return Optional(parts[0], self._element_spec)


class IteratorSpec(_Spec):
    """What an iterator gives."""

    def _part_specs(self) -> list[Any]:
        return [tensor_spec.TensorSpec([], dtypes.resource)]

    def _from_parts(self, parts: list[Any]) -> Any:
        from emplace.eager.datasets import iterators

        return iterators.of_resource(parts[0], self._element_spec)


class DatasetSpec(_Spec):
    """What the elements of a dataset look like; `dataset_shape` is that of a tensor of datasets."""

    def __init__(self, element_spec: Any, dataset_shape: Any = ()) -> None:
        super().__init__(element_spec)
        self._shape = tensor_shape.as_shape(dataset_shape)

    @property
    def shape(self) -> tensor_shape.TensorShape:
        """Of the tensor of datasets."""
        return self._shape

    dtype = dtypes.variant

    @property
    def value_type(self) -> Any:
        """The class of its values."""
        from emplace.eager.datasets.dataset import Dataset

        return Dataset

    def _part_specs(self) -> list[Any]:
        return [tensor_spec.TensorSpec(self._shape, dtypes.variant)]

    def _from_parts(self, parts: list[Any]) -> Any:
        from emplace.eager.datasets.dataset import Dataset

        return Dataset._of(parts[0], self._element_spec)

    def _batch(self, batch_size: Any) -> "DatasetSpec":
        return DatasetSpec(self._element_spec, tensor_shape.TensorShape([batch_size]).concatenate(self._shape))

    def _unbatch(self) -> "DatasetSpec":
        if self._shape.rank == 0:
            raise ValueError("Slicing dataset elements is not supported for rank 0.")
        return DatasetSpec(self._element_spec, self._shape[1:])

    def __repr__(self) -> str:
        return f"DatasetSpec({self._element_spec!r}, {self._shape!r})"
