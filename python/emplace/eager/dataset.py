"""`tf.data.Dataset`, in its everyday part: elements computed as they are asked for."""

from __future__ import annotations

import random as _random
from typing import Any, Callable, Iterator

import numpy as np

from emplace.eager import context, nest, tensor_spec
from emplace.eager.dataset_more import INFINITE, UNKNOWN, MoreTransformations, OwnedIterator, _stacked
from emplace.framework import dtypes, errors, ops

AUTOTUNE = -1


def _tensors(structure: Any) -> Any:
    """Lists are values here: only tuples and dictionaries make a structure."""
    if isinstance(structure, tuple) and not hasattr(structure, "_fields"):
        return tuple(_tensors(s) for s in structure)
    if isinstance(structure, dict):
        return {k: _tensors(v) for k, v in structure.items()}
    if isinstance(structure, Dataset):
        return structure
    with context.eager_mode():
        return ops.convert_to_tensor(structure)


def _spec(structure: Any, leading: Callable[[Any], Any]) -> Any:
    def one(t: Any) -> Any:
        return t.element_spec if isinstance(t, Dataset) else tensor_spec.TensorSpec(leading(t.shape), t.dtype)

    return nest.map_structure(one, structure)


class Dataset(MoreTransformations):
    """A sequence of elements that can be gone through again and again."""

    def __init__(self, make: Callable[[], Iterator[Any]], spec: Any, cardinality: int) -> None:
        self._make, self.element_spec, self._n = make, spec, cardinality

    # ---- Sources.

    @staticmethod
    def from_tensors(tensors: Any, name: str | None = None) -> "Dataset":
        value = _tensors(tensors)
        return Dataset(lambda: iter([value]), _spec(value, lambda s: s), 1)

    @staticmethod
    def from_tensor_slices(tensors: Any, name: str | None = None) -> "Dataset":
        value = _tensors(tensors)
        leaves = nest.flatten(value)
        if any(t.shape.rank == 0 for t in leaves):
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        n = leaves[0].shape[0]
        for t in leaves:
            if t.shape[0] != n:
                raise ValueError(f"Dimensions {n} and {t.shape[0]} are not compatible")

        def rows() -> Iterator[Any]:
            for i in range(n):
                yield nest.map_structure(lambda t: t[i], value)

        return Dataset(rows, _spec(value, lambda s: s[1:]), n)

    @staticmethod
    def range(*args: Any, **kwargs: Any) -> "Dataset":
        numbers = range(*(int(a) for a in args))
        dtype = dtypes.as_dtype(kwargs.get("output_type", dtypes.int64))

        def rows() -> Iterator[Any]:
            for i in numbers:
                with context.eager_mode():
                    value = ops.convert_to_tensor(np.array(i, dtype.as_numpy_dtype))
                yield value

        return Dataset(rows, tensor_spec.TensorSpec([], dtype), len(numbers))

    @staticmethod
    def from_generator(
        generator: Any, output_types: Any = None, output_shapes: Any = None, args: Any = None, output_signature: Any = None, name: str | None = None
    ) -> "Dataset":
        if not callable(generator):
            raise TypeError("`generator` must be a Python callable.")
        if output_signature is None:
            if output_types is None:
                raise TypeError("Either `output_signature` or `output_types` must be specified.")
            output_signature = nest.map_structure(lambda t: tensor_spec.TensorSpec(None, t), output_types)

        def rows() -> Iterator[Any]:
            for item in generator(*(args or ())):
                with context.eager_mode():
                    item = nest.map_structure(lambda s, v: ops.convert_to_tensor(v, s.dtype), output_signature, item)
                yield item

        return Dataset(rows, output_signature, UNKNOWN)

    @staticmethod
    def zip(*args: Any, datasets: Any = None, name: str | None = None) -> "Dataset":
        structure = args[0] if len(args) == 1 else args if args else datasets
        parts = nest.flatten(structure)
        finite = [p._n for p in parts if p._n != INFINITE]
        n = INFINITE if not finite else UNKNOWN if UNKNOWN in finite else min(finite)

        def rows() -> Iterator[Any]:
            for items in zip(*parts):
                rest = iter(items)
                yield nest.map_structure(lambda _: next(rest), structure)

        return Dataset(rows, nest.map_structure(lambda d: d.element_spec, structure), n)

    # ---- Going through.

    def __iter__(self) -> Iterator[Any]:
        return OwnedIterator(self)

    def __len__(self) -> int:
        if self._n == INFINITE:
            raise TypeError("The dataset is infinite.")
        if self._n == UNKNOWN:
            raise TypeError("The dataset length is unknown.")
        return self._n

    def __bool__(self) -> bool:
        return True

    def as_numpy_iterator(self) -> Iterator[Any]:
        for item in self:
            yield nest.map_structure(lambda t: t.numpy(), item)

    def cardinality(self, name: str | None = None) -> Any:
        with context.eager_mode():
            return ops.convert_to_tensor(np.int64(self._n))

    def _with(self, make: Callable[[], Iterator[Any]], n: int, spec: Any = None) -> "Dataset":
        return Dataset(make, self.element_spec if spec is None else spec, n)

    # ---- Changing.

    def map(self, map_func: Any, num_parallel_calls: Any = None, deterministic: Any = None, **_: Any) -> "Dataset":
        def call(item: Any) -> Any:
            result = map_func(*item) if isinstance(item, tuple) else map_func(item)
            return _tensors(result)

        source = self
        first = next(iter(self), None)
        try:
            spec = self.element_spec if first is None else _spec(call(first), lambda s: s)
        except errors.OpError:  # shows again when that element is asked for
            spec = self.element_spec
        made = self._with(lambda: (call(item) for item in source), self._n, spec)
        made._mapped = (source, call)
        return made

    def filter(self, predicate: Any, name: str | None = None) -> "Dataset":
        def keep(item: Any) -> bool:
            return bool(predicate(*item) if isinstance(item, tuple) else predicate(item))

        return self._with(lambda: (item for item in self if keep(item)), UNKNOWN)

    def batch(self, batch_size: Any, drop_remainder: bool = False, num_parallel_calls: Any = None, deterministic: Any = None, name: str | None = None) -> "Dataset":
        size = int(batch_size)
        if size <= 0:
            raise errors.InvalidArgumentError(None, None, f"Batch size must be greater than zero, but got {size}. [Op:BatchDatasetV2]")

        def rows() -> Iterator[Any]:
            pending: list[Any] = []
            for item in self:
                pending.append(item)
                if len(pending) == size:
                    yield _stacked(pending)
                    pending = []
            if pending and not drop_remainder:
                yield _stacked(pending)

        n = self._n if self._n < 0 else self._n // size if drop_remainder else -(-self._n // size)
        lead = size if drop_remainder else None
        spec = nest.map_structure(lambda s: tensor_spec.TensorSpec([lead, *s.shape.as_list()] if s.shape.rank is not None else None, s.dtype), self.element_spec)
        return self._with(rows, n, spec)

    def unbatch(self, name: str | None = None) -> "Dataset":
        def rows() -> Iterator[Any]:
            for item in self:
                yield from Dataset.from_tensor_slices(item)

        spec = nest.map_structure(lambda s: tensor_spec.TensorSpec(s.shape[1:], s.dtype), self.element_spec)
        return self._with(rows, UNKNOWN, spec)

    def repeat(self, count: Any = None, name: str | None = None) -> "Dataset":
        times = -1 if count is None else int(count)

        def rows() -> Iterator[Any]:
            done = 0
            while times < 0 or done < times:
                yield from self
                done += 1

        n = INFINITE if times < 0 or self._n == INFINITE else UNKNOWN if self._n < 0 else self._n * times
        return self._with(rows, n)

    def take(self, count: Any, name: str | None = None) -> "Dataset":
        limit = int(count)

        def rows() -> Iterator[Any]:
            for i, item in enumerate(self) if limit else ():
                if 0 <= limit <= i:
                    return
                yield item
                if i + 1 == limit:
                    return

        n = self._n if limit < 0 else limit if self._n == INFINITE else UNKNOWN if self._n < 0 else min(self._n, limit)
        return self._with(rows, n)

    def skip(self, count: Any, name: str | None = None) -> "Dataset":
        first = int(count)
        n = self._n if self._n < 0 else 0 if first < 0 else max(0, self._n - first)
        return self._with(lambda: (item for i, item in enumerate(self) if 0 <= first <= i), n)

    def shuffle(self, buffer_size: Any, seed: Any = None, reshuffle_each_iteration: Any = True, name: str | None = None) -> "Dataset":
        size = int(buffer_size)
        order = _random.Random(seed)

        def rows() -> Iterator[Any]:
            if reshuffle_each_iteration is False and seed is not None:
                order.seed(seed)
            buffer: list[Any] = []
            for item in self:
                if len(buffer) < size:
                    buffer.append(item)
                    continue
                i = order.randrange(size)
                yield buffer[i]
                buffer[i] = item
            order.shuffle(buffer)
            yield from buffer

        return self._with(rows, self._n)

    def prefetch(self, buffer_size: Any, name: str | None = None) -> "Dataset":
        return self

    def cache(self, filename: str = "", name: str | None = None) -> "Dataset":
        kept: list[Any] = []

        def rows() -> Iterator[Any]:
            if not kept:
                kept.extend(self)
            return iter(kept)

        return self._with(rows, self._n)

    def concatenate(self, dataset: "Dataset", name: str | None = None) -> "Dataset":
        def rows() -> Iterator[Any]:
            yield from self
            yield from dataset

        n = INFINITE if INFINITE in (self._n, dataset._n) else UNKNOWN if UNKNOWN in (self._n, dataset._n) else self._n + dataset._n
        return self._with(rows, n)

    def enumerate(self, start: int = 0, name: str | None = None) -> "Dataset":
        def rows() -> Iterator[Any]:
            for i, item in enumerate(self, start):
                with context.eager_mode():
                    number = ops.convert_to_tensor(np.int64(i))
                yield number, item

        return self._with(rows, self._n, (tensor_spec.TensorSpec([], dtypes.int64), self.element_spec))

    def reduce(self, initial_state: Any, reduce_func: Any, name: str | None = None) -> Any:
        state = _tensors(initial_state)
        for item in self:
            state = _tensors(reduce_func(state, item))
        return state

    def flat_map(self, map_func: Any, name: str | None = None) -> "Dataset":
        def rows() -> Iterator[Any]:
            for item in self:
                yield from map_func(*item) if isinstance(item, tuple) else map_func(item)

        return self._with(rows, UNKNOWN)

    def apply(self, transformation_func: Any) -> "Dataset":
        return transformation_func(self)

    def __repr__(self) -> str:
        return f"<_Dataset element_spec={self.element_spec!r}>"


counter = Dataset.counter
