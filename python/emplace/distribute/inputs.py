"""Datasets whose elements have a part for each replica."""

from __future__ import annotations

import enum
import itertools
from typing import Any, Callable, Iterator, NamedTuple

import numpy as np

from emplace.distribute import values
from emplace.eager import composite, context, nest, tensor_spec
from emplace.eager.datasets import dataset
from emplace.eager.datasets.iterators import InGraph
from emplace.eager.optional import IteratorSpec as OfIterator, Optional
from emplace.framework import array_ops, dtypes, gen, math_ops, ops, py_functions


class InputContext:
    """Which input pipeline a dataset is for, and for how many replicas."""

    def __init__(self, num_input_pipelines: int = 1, input_pipeline_id: int = 0, num_replicas_in_sync: int = 1) -> None:
        self._pipelines, self._id, self._replicas = num_input_pipelines, input_pipeline_id, num_replicas_in_sync

    num_replicas_in_sync = property(lambda self: self._replicas)
    input_pipeline_id = property(lambda self: self._id)
    num_input_pipelines = property(lambda self: self._pipelines)

    def get_per_replica_batch_size(self, global_batch_size: int) -> int:
        """The part of a batch that one replica gets."""
        if global_batch_size % self._replicas != 0:
            raise ValueError(f"The `global_batch_size` {global_batch_size!r} is not divisible by `num_replicas_in_sync` {self._replicas!r} ")
        return global_batch_size // self._replicas

    def __str__(self) -> str:
        return f"tf.distribute.InputContext(input pipeline id {self._id}, total: {self._pipelines})"


class InputReplicationMode(enum.Enum):
    """For whom the function of a dataset is called: once a worker, or once a replica."""

    PER_WORKER = "PER_WORKER"
    PER_REPLICA = "PER_REPLICA"


class InputOptions(NamedTuple):
    """How elements are made and brought to the devices of replicas."""

    experimental_fetch_to_device: bool = True
    experimental_replication_mode: InputReplicationMode = InputReplicationMode.PER_WORKER
    experimental_place_dataset_on_device: bool = False
    experimental_per_replica_buffer_size: int = 1


class _Parts(InGraph):
    """Goes over elements that are tuples: one structure for each replica."""

    def __init__(self, source: Any, devices: tuple[str, ...], apart: bool = False) -> None:
        self._source, self._devices = source, devices  # of tuples of parts, or plain where there is one replica …
        self._apart = apart  # … whose elements are still known as one of several

    @property
    def element_spec(self) -> Any:
        spec = self._source.element_spec
        if len(self._devices) == 1:
            return nest.map_structure(values.PerReplicaSpec, spec) if self._apart else spec
        return _regrouped(spec)

    @property
    def _runs_in_graph(self) -> bool:
        return bool(self._source._runs_in_graph)

    def _packed(self, parts: Any) -> Any:
        if len(self._devices) == 1:
            return nest.map_structure(lambda v: values.parts_of_batch([v]), parts) if self._apart else parts
        return values.regroup(list(map(_on_device, parts, self._devices)), values.parts_of_batch)

    def _optionals(self) -> tuple[Any, Any]:
        return self._source._optionals()


class _Packed(Optional):
    """An element with a part for each replica, or none."""

    def __init__(self, parts: Any, owner: _Parts) -> None:
        self._inner, self._owner = parts, owner

    @property
    def element_spec(self) -> Any:
        return self._owner.element_spec

    def has_value(self, name: str | None = None) -> Any:
        """Whether there is one, as a bool tensor."""
        return self._inner.has_value()

    def get_value(self, name: str | None = None) -> Any:
        """The element; InvalidArgumentError if there is none."""
        return self._owner._packed(self._inner.get_value())

    def _parts(self) -> list[Any]:
        return self._inner._parts()

    def _rebuilt(self, parts: list[Any]) -> "_Packed":
        return _Packed(self._inner._rebuilt(parts), self._owner)

    def _outline(self) -> str:
        return f"{self._inner._outline()} in parts"

    def __repr__(self) -> str:
        return f"tf.experimental.Optional({self.element_spec!r})"


class DistributedIterator(_Parts, composite.Composite):
    """Gives elements with a part for each replica. Functions that one was given take another one without being traced anew."""

    def __iter__(self) -> "DistributedIterator":
        return self

    def __next__(self) -> Any:
        return self._packed(next(self._source))

    def get_next(self) -> Any:
        """The next element; OutOfRangeError at the end."""
        return self._packed(self._source.get_next())

    def get_next_as_optional(self) -> Any:
        """The next element as an Optional, empty at the end."""
        return _Packed(self._source.get_next_as_optional(), self)

    def _trackable_children(self) -> dict[str, Any]:
        return self._source._trackable_children()

    # ---- As a value.

    def _parts(self) -> list[Any]:
        return self._source._parts()

    def _rebuilt(self, parts: list[Any]) -> "DistributedIterator":
        return DistributedIterator(self._source._rebuilt(parts), self._devices, self._apart)

    def _outline(self) -> str:
        return f"{self._source._outline()} for {self._devices}"

    @property
    def _type_spec(self) -> Any:
        return IteratorSpec(self)


class IteratorSpec(OfIterator):
    """What an iterator over parts gives."""

    def __init__(self, like: DistributedIterator) -> None:
        super().__init__(like.element_spec)
        self._like = like

    def _from_parts(self, parts: list[Any]) -> DistributedIterator:
        return self._like._rebuilt(parts)


class DistributedDataset(_Parts):
    """A dataset whose batches are divided among the replicas."""

    def __iter__(self) -> DistributedIterator:
        return DistributedIterator(iter(self._source), self._devices, self._apart)

    @property
    def cardinality(self) -> Any:
        return self._source.cardinality().numpy()


class DistributedDatasetsFromFunction(DistributedDataset):
    """A dataset whose elements in a row go to replicas in turn."""


def _regrouped(specs: Any) -> Any:
    flat = zip(*(nest.flatten(s) for s in specs))
    return nest.pack_sequence_as(specs[0], [values.PerReplicaSpec(*row) for row in flat])


def _on_device(part: Any, device: str) -> Any:
    """What a replica works on is brought to its device while the step before may still run; text stays where it is."""
    if not context.outside_graph():
        return part

    def one(t: Any) -> Any:
        if not isinstance(t, ops.Tensor) or t.dtype == dtypes.string or t.device == device:
            return t
        with context.device(device):
            return context.v2(array_ops.identity)(t)

    return nest.map_structure(one, part)


# ---- Dividing batches.


def divided(extended: Any, source: Any) -> DistributedDataset:
    """Of global batches."""
    devices = extended.worker_devices
    if len(devices) == 1:
        return DistributedDataset(source, devices)
    check_batches(source)
    return DistributedDataset(_cut(source, extended._part_sizes, len(devices), extended._unlike), devices)


def check_batches(source: Any) -> None:
    """ValueError where elements are no batches."""
    if any(isinstance(s, tensor_spec.ShapedSpec) and s.shape.rank == 0 for s in nest.flatten(source.element_spec)):
        raise ValueError("The dataset has elements without a batch dimension: call `dataset.batch` before it is distributed.")


def equal_sizes(batch: Any, count: int) -> list[Any]:
    """As many for each as the first one takes, the last ones have less, or nothing: TensorFlow's way. `batch`: a number, or
    the scalar tensor of one."""
    each = -(-batch // count)
    if isinstance(batch, ops.Tensor):
        return [gen.apply("Maximum", [gen.apply("Minimum", [each, batch - i * each], {}), 0], {}) for i in range(count)]
    return [max(0, min(each, batch - i * each)) for i in range(count)]


def even_sizes(batch: Any, count: int) -> list[Any]:
    """The first parts are one larger where it does not come out even."""
    return [(batch + count - 1 - i) // count for i in range(count)]


def _cut(source: Any, sizes: Callable[[Any], list[Any]], count: int, changing: bool = False) -> Any:
    """Each batch as a tuple of parts; `changing`: of other sizes from batch to batch."""
    whole = source.element_spec

    def asked(rows: Any) -> list[Any]:
        made = py_functions.py_func(lambda n: np.asarray(sizes(int(n)), np.int64), [rows], dtypes.int64)
        return [made[i] for i in range(count)]

    measured = asked if changing else None

    def parts(*element: Any) -> tuple[Any, ...]:
        batch = element if isinstance(whole, tuple) else element[0]
        first = nest.flatten(batch)[0]
        rows = first.shape[0] if first.shape.rank and first.shape[0] is not None else _count(first)
        ends = list(itertools.accumulate(measured(rows) if measured else sizes(rows)))
        return tuple(nest.map_structure(lambda t: _rows(t, a, b), batch) for a, b in zip([0, *ends[:-1]], ends))

    made = source.map(parts)
    made._spec = _part_specs(whole, sizes, count)
    return made


def _count(value: Any) -> Any:
    if hasattr(value, "nrows"):
        return math_ops.cast(value.nrows(), dtypes.int32)
    return math_ops.cast(value.dense_shape[0], dtypes.int32) if getattr(value, "_is_sparse", False) else array_ops.shape(value)[0]


def _rows(value: Any, start: Any, end: Any) -> Any:
    if not getattr(value, "_is_sparse", False):
        return value[start:end]
    from emplace.framework import sparse_ops

    start, end = (math_ops.cast(n, dtypes.int64) for n in (start, end))
    size = array_ops.concat([[end - start], value.dense_shape[1:]], 0)
    return sparse_ops.sparse_slice(value, array_ops.concat([[start], array_ops.zeros_like(size[1:])], 0), size)


def _part_specs(spec: Any, sizes: Callable[[int], list[int]], count: int) -> tuple[Any, ...]:
    """Of the parts; how many rows they have is known where all have as many."""
    shaped = [s for s in nest.flatten(spec) if isinstance(s, tensor_spec.TensorSpec)]
    batch = shaped[0].shape.as_list()[0] if shaped and shaped[0].shape.rank else None
    rows = set(sizes(batch)) if batch is not None else {None}
    each = rows.pop() if len(rows) == 1 else None
    return (nest.map_structure(lambda s: _part_spec(s, each), spec),) * count


def _part_spec(spec: Any, rows: int | None) -> Any:
    return tensor_spec.TensorSpec([rows, *spec.shape.as_list()[1:]], spec.dtype) if isinstance(spec, tensor_spec.TensorSpec) else spec


# ---- Elements in turn.


def in_turn(extended: Any, source: Any) -> DistributedDatasetsFromFunction:
    """Of a dataset whose elements go to replicas in turn."""
    devices = extended.worker_devices
    return DistributedDatasetsFromFunction(source if len(devices) == 1 else _in_turn(source, len(devices)), devices)


def _in_turn(source: Any, count: int) -> Any:
    """So many elements in a row as a tuple; where they run out, empty ones."""
    def rows() -> Iterator[Any]:
        items = iter(source)

        while taken := list(itertools.islice(items, count)):
            with context.eager_mode():
                nothing = nest.map_structure(lambda t: t[:0] if t.shape.rank else array_ops.zeros_like(t), taken[0])
            yield tuple(taken + [nothing] * (count - len(taken)))

    n = int(source.cardinality())
    n = n if n < 0 else -(-n // count)
    spec = nest.map_structure(lambda s: _part_spec(s, None) if s.shape.rank else s, source.element_spec)
    return source._of_python(rows, tuple([spec] * count), n)
