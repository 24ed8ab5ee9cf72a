"""A value that may be missing, and the specs of datasets, their iterators and such values."""

from __future__ import annotations

from typing import Any

from emplace.eager import composite, context, nest, structured_values, tensor_spec
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
        value = nest.map_structure(lambda v: v if hasattr(v, "_parts") else ops.convert_to_tensor(v), value)
        parts = [ops.convert_to_tensor(p) for p in nest.flatten(value, True)]
        variant = gen.apply("OptionalFromValue", [parts], {"Toutput_types": [p.dtype for p in parts]})
        return Optional(variant, nest.map_structure(tensor_spec.type_spec_from_value, value))

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
        specs = nest.flatten(self._element_spec)
        kinds = [p for s in specs for p in structured_values.part_kinds(s)]
        attrs = {"output_types": [k.dtype for k in kinds], "output_shapes": [k.shape for k in kinds]}
        made = gen.apply("OptionalGetValue", [self._variant], attrs, name) if kinds else []
        rest = iter(made if isinstance(made, (list, tuple)) else [made])
        values = [structured_values.from_parts(s, [next(rest) for _ in structured_values.part_kinds(s)]) for s in specs]
        return nest.pack_sequence_as(self._element_spec, values)

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
        return [tensor_spec.TensorSpec([], dtypes.int64)]

    def _from_parts(self, parts: list[Any]) -> Any:
        from emplace.eager import dataset_more

        return dataset_more.iterator_of(parts[0], self._element_spec)


class DatasetSpec(_Spec):
    """What the elements of a dataset look like; `dataset_shape` is that of a tensor of datasets."""

    def __init__(self, element_spec: Any, dataset_shape: Any = ()) -> None:
        super().__init__(element_spec)
        self._shape = tensor_shape.as_shape(dataset_shape)

    def __repr__(self) -> str:
        return f"DatasetSpec({self._element_spec!r}, {self._shape!r})"
