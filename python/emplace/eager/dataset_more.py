"""Further transformations of datasets: windows, groups, padding, interleaving."""

from __future__ import annotations

import itertools
import os
import random as _random
import threading
import weakref
from typing import Any, Iterator

import numpy as np

from emplace.eager import composite, context, dataset_batches, dataset_random, dataset_state, nest, op_errors, structured_values, tensor_spec
from emplace.eager.dataset_options import Options
from emplace.framework import array_ops, dtypes, errors, ops

INFINITE, UNKNOWN = -1, -2
_END = object()


def _call(function: Any, item: Any) -> Any:
    return function(*item) if isinstance(item, tuple) else function(item)


def _tensor(value: Any, dtype: Any = None) -> Any:
    with context.eager_mode():
        return ops.convert_to_tensor(value, dtype)


def _nothing(spec: Any) -> Any:
    """Stands for an element after the last."""
    shape = [] if spec.shape.rank is None else [d or 0 for d in spec.shape.as_list()]
    return np.full(shape, b"", object) if spec.dtype == dtypes.string else np.zeros(shape, spec.dtype.as_numpy_dtype)


class _Running:
    """Sequences that functions go through as they run: a number for each."""

    def __init__(self, spec: Any) -> None:
        self._specs, self._open, self._numbers = nest.flatten(spec), {}, itertools.count()
        self._spec = spec

    def begin(self, items: Iterator[Any]) -> Any:
        at = next(self._numbers)
        self._open[at] = items
        return np.int64(at)

    def take(self, at: Any) -> list[Any]:
        for item in self._open[int(at)]:
            return [True, *nest.flatten(item)]
        del self._open[int(at)]
        return [False, *(_nothing(s) for s in self._specs)]

    def in_graph(self, key: Any) -> tuple[Any, Any]:
        from emplace.eager.functions import flow

        there, *leaves = flow.py_function(self.take, [key], [dtypes.bool, *(s.dtype for s in self._specs)])
        there.set_shape([])
        for t, s in zip(leaves, self._specs):
            t.set_shape(s.shape)
        return there, nest.pack_sequence_as(self._spec, leaves)


class InGraph:
    """A sequence that a loop of a traced function can go through. `_begin()` gives its items."""

    element_spec: Any

    def _begin(self) -> Iterator[Any]:
        raise NotImplementedError

    @property
    def _runs_in_graph(self) -> bool:
        return all(isinstance(s, tensor_spec.TensorSpec) for s in nest.flatten(self.element_spec))

    def _open_in_graph(self) -> tuple[Any, Any, Any]:
        """Is there an element, which, and a function that gives both of the one after."""
        from emplace.eager.functions import flow

        running = _Running(self.element_spec)
        key = flow.py_function(lambda: running.begin(self._begin()), [], dtypes.int64)
        key.set_shape([])
        return *running.in_graph(key), lambda: running.in_graph(key)


def _ended(iterator: Any) -> errors.OpError:
    counts = f"_output_types_{len(nest.flatten(iterator.element_spec))}"
    return op_errors.refused("IteratorGetNext", "End of sequence", counts, kind=errors.OutOfRangeError)


_open: weakref.WeakValueDictionary[int, "OwnedIterator"] = weakref.WeakValueDictionary()  # by what functions know them by
_numbers = itertools.count()


class _AnyIterator(composite.Composite, InGraph):
    """An iterator, known to the functions that are given it by a number, `_key`."""

    _key: Any

    def _parts(self) -> list[Any]:
        return [self._key]

    def _rebuilt(self, parts: list[Any]) -> Any:
        return iterator_of(parts[0], self.element_spec)

    def _outline(self) -> str:
        return f"Iterator {self.element_spec!r}"

    @property
    def _type_spec(self) -> Any:
        from emplace.eager.optional import IteratorSpec

        return IteratorSpec(self.element_spec)

    def __iter__(self) -> Any:
        return self

    def _next_in_graph(self) -> Any:
        from emplace.eager.functions import flow

        specs = nest.flatten(self.element_spec)
        kinds = [k for s in specs for k in structured_values.part_kinds(s)]
        leaves = iter(flow.py_function(_take, [self._key], [k.dtype for k in kinds]))
        values = []
        for s in specs:
            parts = [next(leaves) for _ in structured_values.part_kinds(s)]
            for part, kind in zip(parts, structured_values.part_kinds(s)):
                part.set_shape(kind.shape)
            values.append(structured_values.from_parts(s, parts))
        return nest.pack_sequence_as(self.element_spec, values)

    def _optional_in_graph(self) -> Any:
        from emplace.eager.functions import flow
        from emplace.eager.optional import Optional

        variant = flow.py_function(lambda key: _held(key).get_next_as_optional()._variant, [self._key], dtypes.variant)
        variant.set_shape([])
        return Optional(variant, self.element_spec)


def _held(key: Any) -> "OwnedIterator":
    return _open[int(key)]


def _take(key: Any) -> list[Any]:
    iterator = _held(key)
    for item in iterator._items:
        return nest.flatten(item, True)
    raise _ended(iterator)


_take.speaks_plainly = True  # type: ignore[attr-defined]


class _RunningIterator(_Running):
    """… whose number an iterator has already."""

    def take(self, at: Any) -> list[Any]:
        for item in _held(at)._items:
            return [True, *nest.flatten(item)]
        return [False, *(_nothing(s) for s in self._specs)]


def iterator_of(key: Any, element_spec: Any) -> Any:
    """The iterator of a number; inside a function that is being traced, what stands for it."""
    return _held(key) if hasattr(key, "_numpy_of_eager") else IteratorInGraph(key, element_spec)


class IteratorInGraph(_AnyIterator):
    """An iterator that a function was given."""

    def __init__(self, key: Any, element_spec: Any) -> None:
        self._key, self.element_spec = key, element_spec

    def __next__(self) -> Any:
        return self._next_in_graph()

    def get_next(self) -> Any:
        """The next element; OutOfRangeError at the end."""
        return self._next_in_graph()

    def get_next_as_optional(self) -> Any:
        """The next element as an Optional, empty at the end."""
        return self._optional_in_graph()

    def _open_in_graph(self) -> tuple[Any, Any, Any]:
        running = _RunningIterator(self.element_spec)
        return *running.in_graph(self._key), lambda: running.in_graph(self._key)


class OwnedIterator(_AnyIterator):
    """`iter(dataset)`: `next(it)`, `it.get_next()`."""

    def __init__(self, dataset: Any) -> None:
        self._make, self.element_spec = dataset._make, dataset.element_spec
        self._position: Any = None  # for checkpoints
        self._lock = threading.RLock()  # threads that share the iterator take turns
        self._pass = dataset_state.current()
        number = next(_numbers)
        self._key = _tensor(np.int64(number))
        _open[number] = self
        self._restart(0)

    def _restart(self, taken: int) -> None:
        """As if so many had been taken already."""
        self._taken = taken
        with dataset_state.going(self._pass):
            self._source = itertools.islice(self._make(), taken, None) if taken else self._make()
        self._items = map(self._one, itertools.count())  # a generator would end where an element fails

    @context.as_one
    def _one(self, _: int) -> Any:
        with self._lock, context.on_host(), dataset_state.going(self._pass):  # not while the caller has the element
            item = next(self._source, _END)
            if item is _END:
                raise StopIteration
            self._taken += 1
        return item

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        from emplace.eager import variables

        if self._position is None:
            self._position = variables.Variable(np.int64(0), trainable=False, name="position")
            self._position.assign_hook = self._restart
        variables.Variable.assign(self._position, np.int64(self._taken), hooked=False)
        return {"position": self._position}

    def _begin(self) -> Iterator[Any]:
        return self._items

    def __next__(self) -> Any:
        return next(self._items) if context.outside_graph() else self._next_in_graph()

    def get_next(self) -> Any:
        """The next element; OutOfRangeError at the end."""
        if not context.outside_graph():
            return self._next_in_graph()
        for item in self._items:
            return item
        raise _ended(self)

    def get_next_as_optional(self) -> Any:
        """The next element as an Optional, empty at the end."""
        from emplace.eager.optional import Optional

        if not context.outside_graph():
            return self._optional_in_graph()
        for item in self._items:
            return Optional(Optional.from_value(item)._variant, self.element_spec)
        return Optional.empty(self.element_spec)


class MoreTransformations(InGraph):
    """Mixed into Dataset."""

    element_spec: Any
    _n: int

    def _begin(self) -> Iterator[Any]:
        return iter(self)  # type: ignore[call-overload]

    @classmethod
    def counter(cls, start: Any = 0, step: Any = 1, dtype: Any = dtypes.int64, name: str | None = None) -> Any:
        """The endless numbers `start`, `start + step`, …"""
        dtype = dtypes.as_dtype(dtype)

        def rows() -> Iterator[Any]:
            for i in itertools.count(int(start), int(step)):
                yield _tensor(np.array(i, dtype.as_numpy_dtype))

        return cls(rows, tensor_spec.TensorSpec([], dtype), INFINITE)  # type: ignore[call-arg]

    @classmethod
    def random(cls, seed: Any = None, rerandomize_each_iteration: Any = None, name: str | None = None) -> Any:
        """Endless random int64 numbers; with `rerandomize_each_iteration` other ones for each iterator."""
        rounds = dataset_random.Rounds(seed, bool(rerandomize_each_iteration))
        return cls(lambda: (_tensor(np.int64(word)) for word in rounds.next()), tensor_spec.TensorSpec([], dtypes.int64), INFINITE)  # type: ignore[call-arg]

    def _of(self, make: Any, n: int, spec: Any = None) -> Any:
        return type(self)(make, self.element_spec if spec is None else spec, n)  # type: ignore[call-arg]

    def shard(self, num_shards: Any, index: Any, name: str | None = None) -> Any:
        """Every `num_shards`th element, from the one at `index`: a part for each of several readers."""
        count, at = dataset_batches.count(num_shards), dataset_batches.count(index)
        if count < 1:
            raise op_errors.refused("ShardDataset", f"Number of shards must be greater than zero (currently num_shards = {count}).")
        if not 0 <= at < count:
            raise op_errors.refused("ShardDataset", f"Index must be between 0 and {count - 1} (currently index = {at}).")
        n = self._n if self._n < 0 else len(range(at, self._n, count))
        return self._of(lambda: itertools.islice(iter(self), at, None, count), n)  # type: ignore[call-overload]

    def window(self, size: Any, shift: Any = None, stride: Any = 1, drop_remainder: bool = False, name: str | None = None) -> Any:
        """Datasets of `size` elements each, `stride` apart in the source, that begin `shift` elements after each other."""
        size, stride = dataset_batches.count(size), dataset_batches.count(stride)
        if size <= 0:
            raise op_errors.refused("WindowDataset", "Window size must be greater than zero.")
        shift = size if shift is None else dataset_batches.count(shift)
        reach = (size - 1) * stride + 1

        def rows() -> Iterator[Any]:
            source, held = iter(self), []  # type: ignore[call-overload]
            while True:
                held += itertools.islice(source, reach - len(held))
                if not held or drop_remainder and len(held) < reach:
                    return
                yield self._pieces(held[:reach:stride])
                for _ in itertools.islice(source, max(0, shift - len(held))):
                    pass  # a window further on than this one reaches
                held = held[shift:]

        from emplace.eager import optional

        kinds = self.element_spec
        if isinstance(kinds, tuple):
            return self._of(rows, UNKNOWN, tuple(optional.DatasetSpec(s) for s in kinds))
        return self._of(rows, UNKNOWN, {k: optional.DatasetSpec(s) for k, s in kinds.items()} if isinstance(kinds, dict) else optional.DatasetSpec(kinds))

    def _pieces(self, items: list[Any]) -> Any:
        """A dataset of these items; of structures, a structure of datasets."""
        if isinstance(self.element_spec, tuple):
            return tuple(self._of(lambda i=i: iter([x[i] for x in items]), len(items), s) for i, s in enumerate(self.element_spec))
        if isinstance(self.element_spec, dict):
            return {k: self._of(lambda k=k: iter([x[k] for x in items]), len(items), s) for k, s in self.element_spec.items()}
        return self._of(lambda: iter(items), len(items))

    def interleave(
        self, map_func: Any, cycle_length: Any = None, block_length: Any = None, num_parallel_calls: Any = None,
        deterministic: Any = None, name: str | None = None,
    ) -> Any:
        """Elements of the datasets that `map_func` gives, `block_length` at a time from `cycle_length` of them in turn."""
        cycle = 10 if cycle_length is None else dataset_batches.count(cycle_length)
        block = 1 if block_length is None else dataset_batches.count(block_length)

        def rows() -> Iterator[Any]:
            waiting = iter(self)  # type: ignore[call-overload]
            slots: list[Any] = [iter(_call(map_func, x)) for x in itertools.islice(waiting, cycle)]
            while any(s is not None for s in slots):
                for i, slot in enumerate(slots):
                    if slot is None:
                        continue
                    taken = list(itertools.islice(slot, block))
                    yield from taken
                    if len(taken) < block:
                        following = next(waiting, None)
                        slots[i] = None if following is None else iter(_call(map_func, following))
                        if slots[i] is not None and not taken:
                            yield from itertools.islice(slots[i], block)

        first = next(iter(self), None)  # type: ignore[call-overload]
        spec = self.element_spec if first is None else _call(map_func, first).element_spec
        return self._of(rows, UNKNOWN, spec)

    def padded_batch(
        self, batch_size: Any, padded_shapes: Any = None, padding_values: Any = None, drop_remainder: bool = False, name: str | None = None,
    ) -> Any:
        """Batches of elements that are first padded to `padded_shapes`, or to the largest of the batch, with `padding_values`
        (zeros)."""
        size = dataset_batches.count(batch_size)
        flat_spec = nest.flatten(self.element_spec)
        shapes = [None] * len(flat_spec) if padded_shapes is None else dataset_batches.per_leaf(padded_shapes, len(flat_spec))
        fills = [None] * len(flat_spec) if padding_values is None else dataset_batches.per_leaf(padding_values, len(flat_spec))
        fills = [dataset_batches.fill(f, s.dtype) for f, s in zip(fills, flat_spec)]

        def padded(items: list[Any]) -> Any:
            columns = zip(*(nest.flatten(i) for i in items))
            return nest.pack_sequence_as(items[0], [dataset_batches.padded(c, s, f) for c, s, f in zip(columns, shapes, fills)])

        def rows() -> Iterator[Any]:
            items = iter(self)  # type: ignore[call-overload]
            while chunk := list(itertools.islice(items, size)):
                if len(chunk) < size and drop_remainder:
                    return
                yield padded(chunk)

        lead = size if drop_remainder else None

        def batched(spec: Any, to: Any) -> Any:
            if to is None and spec.shape.rank is None:
                return tensor_spec.TensorSpec(None, spec.dtype)
            known = spec.shape.as_list() if to is None else [None if d in (None, -1) else int(d) for d in dataset_batches.sizes(to)]
            return tensor_spec.TensorSpec([lead, *known], spec.dtype)

        spec = nest.pack_sequence_as(self.element_spec, [batched(s, to) for s, to in zip(flat_spec, shapes)])
        n = self._n if self._n < 0 else self._n // size if drop_remainder else -(-self._n // size)
        return self._of(rows, n, spec)

    def ragged_batch(
        self, batch_size: Any, drop_remainder: bool = False, row_splits_dtype: Any = dtypes.int64, name: str | None = None
    ) -> Any:
        """Elements whose sizes differ, as the rows of ragged tensors."""
        from emplace.eager.ragged import joining
        from emplace.eager.ragged.spec import RaggedTensorSpec

        size = dataset_batches.count(batch_size)
        lead = size if drop_remainder else None

        def one(*parts: Any) -> Any:
            if not parts[0].shape.rank:
                return array_ops.stack(list(parts))
            made = joining.stack(list(parts))
            return made.with_row_splits_dtype(row_splits_dtype)

        def rows() -> Iterator[Any]:
            items = iter(self)  # type: ignore[call-overload]
            while chunk := list(itertools.islice(items, size)):
                if len(chunk) < size and drop_remainder:
                    return
                with context.eager_mode():
                    made = nest.map_structure(one, *chunk)
                yield made

        def spec(s: Any) -> Any:
            if s.shape.rank == 0:
                return dataset_batches.batched_spec(s, lead)
            return RaggedTensorSpec([lead, *s.shape.as_list()], s.dtype, getattr(s, "ragged_rank", 0) + 1, row_splits_dtype)

        n = self._n if self._n < 0 else self._n // size if drop_remainder else -(-self._n // size)
        return self._of(rows, n, nest.map_structure(spec, self.element_spec))

    def bucket_by_sequence_length(
        self, element_length_func: Any, bucket_boundaries: Any, bucket_batch_sizes: Any, padded_shapes: Any = None,
        padding_values: Any = None, pad_to_bucket_boundary: bool = False, no_padding: bool = False, drop_remainder: bool = False,
        name: str | None = None,
    ) -> Any:
        """Batches of elements of like lengths."""
        sizes, edges = [int(s) for s in bucket_batch_sizes], [int(b) for b in bucket_boundaries]
        if len(sizes) != len(edges) + 1:
            raise ValueError(f"`len(bucket_batch_sizes)` must equal `len(bucket_boundaries) + 1` but `len(bucket_batch_sizes)={len(sizes)}` and `len(bucket_boundaries)={len(edges)}`.")

        def whole(bucket: int, group: list[Any]) -> Any:
            made = self._of(lambda: iter(group), len(group))
            if no_padding:
                return made.batch(sizes[bucket], drop_remainder=drop_remainder)
            shapes = padded_shapes
            if pad_to_bucket_boundary:
                shapes = nest.map_structure(lambda s: [edges[bucket] - 1] + s.shape.as_list()[1:], self.element_spec)
            return made.padded_batch(sizes[bucket], shapes, padding_values, drop_remainder)

        def rows() -> Iterator[Any]:
            groups: dict[int, list[Any]] = {}
            for item in self:  # type: ignore[attr-defined]
                bucket = int(np.searchsorted(edges, int(_call(element_length_func, item)), side="right"))
                group = groups.setdefault(bucket, [])
                group.append(item)
                if len(group) == sizes[bucket]:
                    yield from whole(bucket, groups.pop(bucket))
            for bucket in sorted(groups):
                yield from whole(bucket, groups[bucket])

        return self._of(rows, UNKNOWN, self.padded_batch(1).element_spec)

    def rejection_resample(self, class_func: Any, target_dist: Any, initial_dist: Any = None, seed: Any = None, name: str | None = None) -> Any:
        """Elements with their classes, dropped so often that the classes come out as wanted."""
        target = np.asarray(_tensor(target_dist).numpy(), np.float64)
        given = None if initial_dist is None else np.asarray(_tensor(initial_dist).numpy(), np.float64)

        def rows() -> Iterator[Any]:
            order, seen = _random.Random(seed), np.ones(len(target))
            for item in self:  # type: ignore[attr-defined]
                kind = _call(class_func, item)
                seen[int(kind)] += 1
                actual = given if given is not None else seen / seen.sum()
                ratios = np.divide(target, actual, out=np.zeros_like(target), where=actual > 0)
                if order.random() < ratios[int(kind)] / ratios.max():
                    yield _tensor(kind), item

        first = next(iter(self), None)  # type: ignore[call-overload]
        kind = dtypes.int32 if first is None else _tensor(_call(class_func, first)).dtype
        return self._of(rows, UNKNOWN, (tensor_spec.TensorSpec([], kind), self.element_spec))

    def snapshot(self, path: Any, compression: Any = "AUTO", reader_func: Any = None, shard_func: Any = None, name: str | None = None) -> Any:
        """Written once, read from then on."""
        from emplace.eager import dataset_files

        if not os.path.exists(os.path.join(path, dataset_files._SPEC)):
            dataset_files.save(self, path, None)
        read = dataset_files.load(path)
        return self._of(read._make, self._n)

    def sparse_batch(self, batch_size: Any, row_shape: Any, name: str | None = None) -> Any:
        """Elements one below another as a sparse tensor of rows of that shape."""
        from emplace.eager.sparse import functions
        from emplace.eager.sparse.tensor import SparseTensor, SparseTensorSpec

        size, shape = int(batch_size), [None if d in (None, -1) else int(d) for d in row_shape]

        def joined(items: list[Any]) -> Any:
            arrays = [np.asarray(i.numpy()) for i in items]
            dims = [max(a.shape[k] for a in arrays) if d is None else d for k, d in enumerate(shape)]
            places = [np.concatenate([np.full((a.size, 1), n), np.argwhere(np.ones(a.shape))], 1) for n, a in enumerate(arrays)]
            with context.eager_mode():
                return functions.reorder(SparseTensor(np.concatenate(places), np.concatenate([a.reshape(-1) for a in arrays]), [len(arrays), *dims]))

        def rows() -> Iterator[Any]:
            source = iter(self)  # type: ignore[call-overload]
            while items := list(itertools.islice(source, size)):
                yield joined(items)

        n = self._n if self._n < 0 else -(-self._n // size)
        return self._of(rows, n, SparseTensorSpec([None, *shape], self.element_spec.dtype))

    def save(self, path: Any, compression: Any = None, shard_func: Any = None, checkpoint_args: Any = None) -> None:
        """Writes the elements to a folder, for `load`; `shard_func` says to which of several files each goes."""
        from emplace.eager import dataset_files

        dataset_files.save(self, path, compression, shard_func, checkpoint_args)

    @staticmethod
    def load(path: Any, element_spec: Any = None, compression: Any = None, reader_func: Any = None) -> Any:
        """The dataset that `save` wrote to a folder."""
        from emplace.eager import dataset_files

        return dataset_files.load(path, element_spec, compression, reader_func)

    def rebatch(self, batch_size: Any, drop_remainder: bool = False, name: str | None = None) -> Any:
        """The rows of all batches in batches of another size, or of a list of sizes in turn."""
        sizes = np.asarray(batch_size).reshape(-1).tolist()

        def rows() -> Iterator[Any]:
            items, wanted = iter(self.unbatch()), itertools.cycle(sizes)  # type: ignore[attr-defined]
            for size in wanted:
                chunk = list(itertools.islice(items, size))
                if not chunk or len(chunk) < size and drop_remainder:
                    return
                yield dataset_batches.stacked(chunk)

        return self._of(rows, UNKNOWN)

    def group_by_window(self, key_func: Any, reduce_func: Any, window_size: Any = None, window_size_func: Any = None, name: str | None = None) -> Any:
        """Collects elements by the int64 key of `key_func`; each time a key has `window_size` of them, `reduce_func(key,
        dataset)` gives the elements of the result."""
        def size_of(key: Any) -> int:
            return int(window_size_func(key) if window_size is None else window_size)

        def rows() -> Iterator[Any]:
            groups: dict[int, list[Any]] = {}
            for item in self:  # type: ignore[attr-defined]
                key = _call(key_func, item)
                group = groups.setdefault(int(key), [])
                group.append(item)
                if len(group) == size_of(key):
                    yield from reduce_func(key, self._of(lambda g=group: iter(g), len(group)))
                    del groups[int(key)]
            for number, group in sorted(groups.items()):
                yield from reduce_func(_tensor(np.int64(number)), self._of(lambda g=group: iter(g), len(group)))

        return self._of(rows, UNKNOWN)

    def take_while(self, predicate: Any, name: str | None = None) -> Any:
        """The elements up to the first for which `predicate` is false."""
        return self._of(lambda: itertools.takewhile(lambda x: bool(_call(predicate, x)), iter(self)), UNKNOWN)  # type: ignore[call-overload]

    def scan(self, initial_state: Any, scan_func: Any, name: str | None = None) -> Any:
        """`scan_func(state, element)` gives the next state and an element of the result."""
        from emplace.eager import dataset

        first = nest.map_structure(_tensor, initial_state)
        spec = dataset._traced(scan_func, (dataset._spec(first, lambda s: s), self.element_spec))[1]

        def rows() -> Iterator[Any]:
            state = first
            for item in self:  # type: ignore[attr-defined]
                state, result = scan_func(state, item)
                yield nest.map_structure(_tensor, result)

        return self._of(rows, self._n, spec[1] if isinstance(spec, tuple) else None)

    def unique(self, name: str | None = None) -> Any:
        """The elements, scalars or strings, that did not occur before."""
        def rows() -> Iterator[Any]:
            seen = set()
            for item in self:  # type: ignore[attr-defined]
                key = item.numpy().tobytes() if hasattr(item.numpy(), "tobytes") else item.numpy()
                if key not in seen:
                    seen.add(key)
                    yield item

        return self._of(rows, UNKNOWN)

    def ignore_errors(self, log_warning: bool = False, name: str | None = None) -> Any:
        """Passes over elements for which the mapped function fails."""
        source, function = getattr(self, "_mapped", (None, None))

        def rows() -> Iterator[Any]:
            if source is None:
                yield from self  # type: ignore[misc]
                return
            for item in source:
                try:
                    yield function(item)
                except errors.OpError:
                    continue

        return self._of(rows, UNKNOWN)

    def get_single_element(self, name: str | None = None) -> Any:
        """The one element of a dataset; InvalidArgumentError if there are none or more."""
        items = list(itertools.islice(iter(self), 2))  # type: ignore[call-overload]
        if len(items) != 1:
            raise op_errors.refused("DatasetToSingleElement", f"Dataset {'had more than one element' if items else 'was empty'}.", "_output_types_1")
        return items[0]

    def options(self) -> Options:
        """The options of this dataset."""
        return getattr(self, "_options", Options())

    def with_options(self, options: Options, name: str | None = None) -> Any:
        """The same dataset with options merged into its own."""
        made = self._of(lambda: iter(self), self._n)  # type: ignore[call-overload]
        made._options = self.options().merge(options)
        return made
