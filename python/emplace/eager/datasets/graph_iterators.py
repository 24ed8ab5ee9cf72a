"""Iterators of graph programs: nodes of the graph, of which each session has its own."""

from __future__ import annotations

from typing import Any

from emplace import _core
from emplace.eager import context, func_graph, nest
from emplace.eager.datasets import dataset as datasets, generators, structure
from emplace.eager.func_graph import Body, FuncGraph
from emplace.framework import dtypes, gen, graph_io, ops

_STATEFUL = (
    "A likely cause of this error is that the dataset for which you are calling `make_one_shot_iterator()` captures a stateful object,"
    " such as a `tf.Variable` or `tf.lookup.StaticHashTable`, which is not supported. Use `make_initializable_iterator()` instead."
)


class Iterator:
    """`get_next()` is a tensor, or a structure of them, that has another element in each step."""

    def __init__(self, resource: Any, initializer: Any, spec: Any) -> None:
        self._iterator_resource, self._initializer, self._spec = resource, initializer, spec
        self._attrs = structure.attributes(spec)
        self._string_handle = gen.apply("IteratorToStringHandle", [resource], {})

    @property
    def element_spec(self) -> Any:
        """What an element looks like."""
        return self._spec

    output_types = property(datasets.output_types)
    output_shapes = property(datasets.output_shapes)
    output_classes = property(datasets.output_classes)

    @property
    def initializer(self) -> Any:
        """The operation that puts it at the start."""
        if self._initializer is None:
            raise ValueError("The iterator does not have an initializer. This means it was likely created using `tf.data.Dataset.make_one_shot_iterator()`. For an initializable iterator, use `tf.data.Dataset.make_initializable_iterator()` instead.")
        return self._initializer

    def make_initializer(self, dataset: Any, name: str | None = None) -> Any:
        """An op that puts the iterator at the start of a dataset with elements of this kind."""
        for mine, other in zip(nest.flatten(self._spec), nest.flatten(dataset.element_spec)):
            if mine.dtype != other.dtype:
                raise TypeError(f"Expected output types {self.output_types!r} but got dataset with output types {datasets.output_types(dataset)!r}.")
            if not mine.shape.is_compatible_with(other.shape):
                raise TypeError(f"Expected output shapes compatible with {self.output_shapes!r} but got dataset with output shapes {datasets.output_shapes(dataset)!r}.")
        with ops.colocate_with(self._iterator_resource):
            return gen.apply("MakeIterator", [dataset._variant_tensor, self._iterator_resource], {}, name or "make_initializer")

    def get_next(self, name: str | None = None) -> Any:
        """Tensors of the next element, another each time that they are run; OutOfRangeError at the end."""
        with ops.colocate_with(self._iterator_resource):
            made = gen.apply("IteratorGetNext", [self._iterator_resource], self._attrs, name)
            return structure.from_tensors(self._spec, made)

    def get_next_as_optional(self) -> Any:
        """The next element as an Optional, empty at the end."""
        from emplace.eager.optional import Optional

        with ops.colocate_with(self._iterator_resource):
            return Optional(gen.apply("IteratorGetNextAsOptional", [self._iterator_resource], self._attrs), self._spec)

    def string_handle(self, name: str | None = None) -> Any:
        """A string tensor that stands for this iterator, to be fed to one made by `from_string_handle`."""
        if name is None:
            return self._string_handle
        return gen.apply("IteratorToStringHandle", [self._iterator_resource], {}, name)

    @staticmethod
    def from_structure(output_types: Any, output_shapes: Any = None, shared_name: str | None = None, output_classes: Any = None) -> "Iterator":
        """An iterator without a dataset, for datasets of these types; `make_initializer` gives it one."""
        spec = _spec(output_types, output_shapes, output_classes)
        return Iterator(_resource(spec, shared_name), None, spec)

    @staticmethod
    def from_string_handle(string_handle: Any, output_types: Any, output_shapes: Any = None, output_classes: Any = None) -> "Iterator":
        """An iterator that is whichever one its handle, usually fed, stands for."""
        spec = _spec(output_types, output_shapes, output_classes)
        handle = ops.convert_to_tensor(string_handle, dtypes.string)
        return Iterator(gen.apply("IteratorFromStringHandleV2", [handle], structure.attributes(spec)), None, spec)


def _resource(spec: Any, shared_name: str | None) -> Any:
    return gen.apply("IteratorV2", [], {"container": "", "shared_name": shared_name or "", **structure.attributes(spec)})


def _spec(types: Any, shapes: Any, classes: Any) -> Any:
    """Specs of dtypes, shapes and classes, each in the structure or one for all."""
    specs = generators.of_types(types, shapes)
    if classes is None:
        return specs

    def one(spec: Any, kind: Any) -> Any:
        if kind.__name__ == "SparseTensor":
            from emplace.eager.sparse.tensor import SparseTensorSpec

            return SparseTensorSpec(spec.shape, spec.dtype)
        if kind.__name__ == "RaggedTensor":
            from emplace.eager.ragged.spec import RaggedTensorSpec

            return RaggedTensorSpec(spec.shape, spec.dtype)
        return spec

    return nest.map_structure(one, specs, classes)


# ---- Made of a dataset.


def initializable(dataset: Any, shared_name: str | None = None) -> Any:
    """An iterator whose `initializer` op must run first, and may run again to start anew."""
    if hasattr(dataset, "_make_initializable_iterator"):  # a strategy's
        return dataset._make_initializable_iterator(shared_name)
    if context.executing_eagerly():
        raise RuntimeError("`make_initializable_iterator()` is not supported in eager mode. Use Python-style iteration instead.")
    with ops.colocate_with(dataset._variant_tensor):
        resource = _resource(dataset.element_spec, shared_name)
        initializer = gen.apply("MakeIterator", [dataset._variant_tensor, resource], {})
        return Iterator(resource, initializer, dataset.element_spec)


def one_shot(dataset: Any) -> Any:
    """An iterator that needs no initialization: its operation makes the dataset from what it holds."""
    if hasattr(dataset, "_make_one_shot_iterator"):  # a strategy's
        return dataset._make_one_shot_iterator()
    if hasattr(dataset._variant_tensor, "_numpy_of_eager"):
        return iter(dataset)
    outer = ops.get_default_graph()
    body = _made_by_value(dataset._variant_tensor)
    name = f"_make_dataset_{func_graph.number()}"
    if isinstance(outer, FuncGraph):
        outer.add_body(name, Body(body, body.inputs, body.outputs))
    else:
        func_graph.define_in(outer, name, Body(body, body.inputs, body.outputs))
    attrs = structure.attributes(dataset.element_spec)
    with ops.colocate_with(dataset._variant_tensor):
        resource = gen.apply("OneShotIterator", [], {"dataset_factory": name, "container": "", "shared_name": "", **attrs})
        return Iterator(resource, None, dataset.element_spec)


def _made_by_value(variant: Any) -> FuncGraph:
    """A function without arguments that makes what the graph makes: its nodes, copied."""
    needed: dict[int, Any] = {}
    stack = [variant.op]
    while stack:
        op = stack.pop()
        if op._id not in needed:
            _check_captured(op)
            needed[op._id] = op
            stack += [t.op for t in op.inputs]
    source = variant.graph
    whole = source.as_graph_def()
    names = {op.name for op in needed.values()}
    part = type(whole)()
    part.versions.CopyFrom(whole.versions)
    part.library.CopyFrom(whole.library)
    for node in whole.node:
        if node.name in names:
            kept = part.node.add()
            kept.CopyFrom(node)
            kept.input[:] = [i for i in node.input if not i.startswith("^") or i[1:] in names]
    graph = FuncGraph("_make_dataset", None)
    for inner, body in _bodies_of(source).items():
        graph.add_body(inner, body)
    with graph.as_default():
        (output,) = graph_io.import_internal(part, return_elements=[variant.name], name="", validate_colocation=False)
    graph.outputs, graph.stateful = [output], True
    return graph


def _bodies_of(graph: Any) -> dict[str, Any]:
    return graph._all_bodies() if isinstance(graph, FuncGraph) else {}


def _check_captured(op: Any) -> None:
    if op.type.startswith("Placeholder"):
        raise ValueError(f"Cannot capture a placeholder (name:{op.name}, type:{op.type}) by value.")
    d = _core.find_op(op.type)
    if (d is None or d.stateful) and not op.type.endswith(("Dataset", "DatasetV2", "DatasetV3", "DatasetV4")):
        raise ValueError(f"Cannot capture a stateful node (name:{op.name}, type:{op.type}) by value.: {_STATEFUL}")


