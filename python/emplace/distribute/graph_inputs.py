"""Datasets in graphs that a session runs: an iterator's next batch is cut there, a part for each replica."""

from __future__ import annotations

from typing import Any

from emplace.distribute import contexts, inputs, values
from emplace.eager import nest, tensor_spec
from emplace.eager.datasets import dataset as datasets, graph_iterators
from emplace.framework import array_ops, math_ops, ops, sparse_ops, sparse_tensor, tensor_shape


class ReplicaDataset:
    """A dataset whose elements have a part for each replica: of each batch, or elements in a row (`in_turn`)."""

    def __init__(self, dataset: Any, extended: Any, in_turn: bool) -> None:
        self._dataset, self._extended, self._in_turn = dataset, extended, in_turn

    @property
    def element_spec(self) -> Any:
        spec = self._dataset.element_spec
        count = len(self._extended.worker_devices)
        if count == 1:
            return spec
        return nest.map_structure(lambda s: values.PerReplicaSpec(*[_part_spec(s, count, self._in_turn)] * count), spec)

    def _make_initializable_iterator(self, shared_name: str | None = None) -> Any:
        """An iterator that its `initializer` puts at the start."""
        return ReplicaIterator(self)

    def _make_one_shot_iterator(self) -> Any:
        """An iterator that begins by itself."""
        return ReplicaIterator(self, one_shot=True)


    def __iter__(self) -> Any:
        raise RuntimeError("__iter__() is only supported inside of tf.function or when eager execution is enabled.")


def _part_spec(spec: Any, count: int, whole: bool) -> Any:
    if whole or not isinstance(spec, tensor_spec.TensorSpec):
        return spec
    rows = spec.shape.as_list()[0]
    each = rows // count if rows is not None and rows % count == 0 else None
    return tensor_spec.TensorSpec([each, *spec.shape.as_list()[1:]], spec.dtype)


class ReplicaIterator:
    """`get_next()` has another element in each step, with a part for each replica on its device."""

    def __init__(self, dataset: Any, one_shot: bool = False) -> None:
        self._dataset, self._extended = dataset, getattr(dataset, "_extended", None)
        if self._extended is None:  # no graph is being built
            self._iterator = iter(dataset)
            return
        make = graph_iterators.one_shot if one_shot else graph_iterators.initializable
        with contexts.building(self._extended._strategy):
            self._iterator = make(dataset._dataset)

    @property
    def element_spec(self) -> Any:
        return self._dataset.element_spec

    @property
    def output_types(self) -> Any:
        return nest.map_structure(lambda s: s.dtype, self._plain_spec())

    @property
    def output_shapes(self) -> Any:
        return nest.map_structure(lambda s: s.shape, self._plain_spec())

    @property
    def output_classes(self) -> Any:
        return nest.map_structure(lambda s: s.value_type, self._plain_spec())

    def _plain_spec(self) -> Any:
        return nest.map_structure(lambda s: s._value_specs[0] if isinstance(s, values.PerReplicaSpec) else s, self.element_spec)

    def initialize(self) -> Any:
        """What puts it at the start: operations in a graph, else it is done at once."""
        if self._extended is not None:
            return [self._iterator.initializer]
        self._iterator = iter(self._dataset)
        return []

    @property
    def initializer(self) -> Any:
        return self.initialize()

    def get_next(self, name: str | None = None) -> Any:
        """The next element; OutOfRangeError at the end."""
        if self._extended is None:
            return self._iterator.get_next()
        devices = self._extended.worker_devices
        with contexts.building(self._extended._strategy), ops.device("/cpu:0"):
            if self._dataset._in_turn:
                parts = _in_turn(self._iterator, len(devices))
            else:
                whole = self._iterator.get_next()
                parts = [whole] if len(devices) == 1 else _cut(whole, len(devices))
            made = [_on_device(p, d) for p, d in zip(parts, devices)]
            return made[0] if len(made) == 1 else values.regroup(made, values.parts_of_batch)


def _in_turn(iterator: Any, count: int) -> list[Any]:
    """One element after the other."""
    made: list[Any] = []
    for _ in range(count):
        with ops.control_dependencies([nest.flatten(made[-1])[0].op] if made else []):
            made.append(iterator.get_next())
    return made


def _cut(batch: Any, count: int) -> list[Any]:
    """Parts as large as the first one, the last ones smaller or empty."""
    first = nest.flatten(batch)[0]
    if isinstance(first, ops.Tensor) and first.shape.rank == 0:
        raise ValueError("The dataset has elements without a batch dimension: call `dataset.batch` before it is distributed.")
    known = first.shape.as_list()[0] if isinstance(first, ops.Tensor) and first.shape.rank else None
    if known is not None:
        sizes = inputs.equal_sizes(known, count)
        ends = [sum(sizes[: i + 1]) for i in range(count)]
        return [nest.map_structure(lambda t: _rows(t, b - n, b, n), batch) for b, n in zip(ends, sizes)]
    rows = array_ops.shape(first)[0] if isinstance(first, ops.Tensor) else math_ops.cast(first.dense_shape[0], "int32")
    each = (rows + (count - 1)) // count
    return [nest.map_structure(lambda t: _rows(t, each * i, each * (i + 1), None), batch) for i in range(count)]


def _rows(value: Any, begin: Any, end: Any, count: int | None) -> Any:
    if isinstance(value, sparse_tensor.SparseTensor):
        from_first = array_ops.concat([[begin], array_ops.zeros_like(value.dense_shape[1:])], 0)
        size = array_ops.concat([[end - begin], value.dense_shape[1:]], 0)
        return sparse_ops.sparse_slice(value, from_first, size)
    made = value[begin:end]
    if isinstance(made, ops.Tensor):
        made.set_shape(tensor_shape.TensorShape([count]).concatenate(value.shape[1:]) if value.shape.rank else None)
    return made


def _on_device(part: Any, device: str) -> Any:
    def one(t: Any) -> Any:
        if not isinstance(t, ops.Tensor) or t.dtype.name == "string":
            return t
        with ops.device(device):
            return array_ops.identity(t)

    return nest.map_structure(one, part)


def of_arrays(strategy: Any, arrays: Any) -> Any:
    """A dataset of the rows of arrays."""
    with contexts.building(strategy):
        if contexts.in_session_graph():
            return datasets.DatasetV1.from_tensor_slices(arrays)
    return inputs.dataset.Dataset.from_tensor_slices(arrays)
