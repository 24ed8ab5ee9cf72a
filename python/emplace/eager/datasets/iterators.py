"""Iterators: a resource of the engine, from which an operation takes the next element."""

from __future__ import annotations

from typing import Any

from emplace import _core
from emplace.eager import composite, nest, op_errors, tensor_spec
from emplace.eager.datasets import options, reports, structure
from emplace.framework import errors, gen, ops


class InGraph:
    """What a loop of a traced function can go through. `_optionals()` gives the first element as an Optional and a function
    that gives the following one."""

    element_spec: Any

    @property
    def _runs_in_graph(self) -> bool:
        return True

    def _optionals(self) -> tuple[Any, Any]:
        items = iter(self)  # type: ignore[call-overload]
        return items.get_next_as_optional(), items.get_next_as_optional


def _as_arrays(element: Any) -> Any:
    def one(value: Any) -> Any:
        if hasattr(value, "_variant_tensor"):
            return NumpyIterator(value)
        return value.numpy() if hasattr(value, "numpy") else value

    return nest.map_structure(one, element)


class NumpyIterator:
    """Goes through a dataset's elements with arrays in the place of tensors."""

    def __init__(self, dataset: Any) -> None:
        for spec in nest.flatten(dataset.element_spec):
            if not isinstance(spec, tensor_spec.ShapedSpec) and not hasattr(spec, "_element_spec") and not isinstance(spec, structure.NoneTensorSpec):
                raise TypeError(f"`tf.data.Dataset.as_numpy_iterator()` is not supported for datasets that produce values of type {type(spec)}.")
        self._items = iter(dataset)

    def __iter__(self) -> "NumpyIterator":
        return self

    def __next__(self) -> Any:
        return _as_arrays(next(self._items))

    def next(self) -> Any:
        """The next element."""
        return self.__next__()

    def save(self) -> Any:
        """Where it is, as a value for `restore`."""
        return self._items.save()

    def restore(self, state: Any) -> None:
        """Goes on from a place that `save` gave."""
        self._items.restore(state)

    # ---- In checkpoints.

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        return {}

    def _serialize_to_tensors(self) -> dict[str, Any]:
        return self._items._serialize_to_tensors()

    def _restore_from_tensors(self, restored_tensors: dict[str, Any]) -> None:
        self._items._restore_from_tensors(restored_tensors)

    def __repr__(self) -> str:
        return f"NumpyIterator(iterator={self._items!r})"


class _AnyIterator(composite.Composite, InGraph):
    """An iterator by its resource."""

    _resource: Any
    element_spec: Any

    def _prepare(self, element_spec: Any) -> None:
        self.element_spec = element_spec
        self._attrs = structure.attributes(element_spec)
        self._single = isinstance(element_spec, tensor_spec.TensorSpec)

    def __iter__(self) -> Any:
        return self

    def _asked(self, op: str) -> Any:
        """The host makes elements, whatever device block their reader is in."""
        resource = self._resource
        if ops._default_graphs.stack or not hasattr(resource, "_numpy_of_eager"):
            return gen.apply(op, [resource], self._attrs)
        try:
            made = _core.execute_call(op, [resource], self._attrs, "")  # no tape follows it
        except errors.OpError as e:
            e._message = op_errors.worded(e._message, gen.definition(op), [resource], self._attrs, e._device)
            raise e from None
        return made if op == "IteratorGetNext" else made[0]

    def _taken(self) -> Any:
        made = self._asked("IteratorGetNext")
        if self._single:
            return made if isinstance(made, ops.Tensor) else made[0]
        return structure.from_tensors(self.element_spec, made)

    def get_next(self) -> Any:
        """The next element; OutOfRangeError at the end."""
        return self._taken()

    def get_next_as_optional(self) -> Any:
        """The next element as an Optional, empty at the end."""
        from emplace.eager.optional import Optional

        return Optional(self._asked("IteratorGetNextAsOptional"), self.element_spec)

    def _optionals(self) -> tuple[Any, Any]:
        return self.get_next_as_optional(), self.get_next_as_optional

    def report(self) -> Any:
        """Where the time goes, a line for each stage."""
        return reports.Report(reports.model_of_iterator(self))

    # ---- As a value.

    def _parts(self) -> list[Any]:
        return [self._resource]

    def _rebuilt(self, parts: list[Any]) -> Any:
        return of_resource(parts[0], self.element_spec)

    def _outline(self) -> str:
        return f"Iterator {self.element_spec!r}"

    @property
    def _type_spec(self) -> Any:
        from emplace.eager.optional import IteratorSpec

        return IteratorSpec(self.element_spec)


class OwnedIterator(_AnyIterator):
    """`iter(dataset)`: `next(it)`, `it.get_next()`. Whoever holds it, or a function that was given it, keeps it alive."""

    def __init__(self, dataset: Any = None) -> None:
        if dataset is None:
            return
        self._dataset = dataset  # its Python functions live as long
        self._prepare(dataset.element_spec)
        self._resource = gen.apply("AnonymousIteratorV3", [], self._attrs)
        gen.apply("MakeIterator", [dataset._variant_tensor, self._resource], {})

    def __next__(self) -> Any:
        if ops._default_graphs.stack:
            return self._taken()
        try:
            return self._taken()
        except errors.OutOfRangeError:
            raise StopIteration from None

    # ---- Where it is, in checkpoints.

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        return {}

    def _serialize_to_tensors(self) -> dict[str, Any]:
        policy = self._dataset.options().experimental_external_state_policy or options.ExternalStatePolicy.FAIL
        return {"_STATE": gen.apply("SerializeIterator", [self._resource], {"external_state_policy": policy.value})}

    def _restore_from_tensors(self, restored_tensors: dict[str, Any]) -> None:
        gen.apply("DeserializeIterator", [self._resource, restored_tensors["_STATE"]], {})

    def save(self) -> Any:
        """Where it is, as a value; what has state outside of the pipeline is left out."""
        return gen.apply("SerializeIterator", [self._resource], {"external_state_policy": options.ExternalStatePolicy.IGNORE.value})

    def restore(self, state: Any) -> None:
        """Goes on from a place that `save` gave."""
        self._restore_from_tensors({"_STATE": state})


def of_resource(resource: Any, element_spec: Any) -> OwnedIterator:
    """The iterator that a handle stands for."""
    made = OwnedIterator()
    made._prepare(element_spec)
    made._resource = resource
    return made


