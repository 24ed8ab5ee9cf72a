"""`tf.data.Dataset`, in its everyday part: elements computed as they are asked for."""

from __future__ import annotations

import itertools
from typing import Any, Callable, Iterator

import numpy as np

from emplace.eager import context, dataset_batches, dataset_random, dataset_state, nest, op_errors, tensor_spec
from emplace.eager.dataset_more import INFINITE, UNKNOWN, MoreTransformations, OwnedIterator
from emplace.eager.functions.flow import _row
from emplace.framework import dtypes, errors, index_values, ops, signals, tensor_shape

AUTOTUNE = -1


def _tensors(structure: Any) -> Any:
    """Lists are values here: only tuples and dictionaries make a structure."""
    if isinstance(structure, tuple) and not hasattr(structure, "_fields"):
        return tuple(_tensors(s) for s in structure)
    if isinstance(structure, dict):
        made = {k: _tensors(v) for k, v in structure.items()}
        return made if type(structure) is dict else type(structure)(made)
    if isinstance(structure, Dataset) or hasattr(structure, "_parts"):
        return structure
    with context.eager_mode():
        return ops.convert_to_tensor(structure)


def _spec(structure: Any, leading: Callable[[Any], Any]) -> Any:
    def one(t: Any) -> Any:
        if isinstance(t, Dataset):
            return t.element_spec
        return _composite_spec(t, leading) if hasattr(t, "_parts") else tensor_spec.TensorSpec(leading(t.shape), t.dtype)

    return nest.map_structure(one, structure)


def _composite_spec(value: Any, leading: Callable[[Any], Any]) -> Any:
    from emplace.eager.ragged.spec import RaggedTensorSpec
    from emplace.eager.sparse.tensor import SparseTensorSpec

    if hasattr(value, "_part_specs"):  # whole, or a row of it
        return value._type_spec if leading(tensor_shape.TensorShape([None])).rank else value._type_spec._unbatch()
    shape = leading(value.shape)
    if not hasattr(value, "row_splits"):
        return SparseTensorSpec(shape, value.dtype)
    depth = value.ragged_rank - (value.shape.rank - shape.rank)
    if not shape.rank:
        return tensor_spec.TensorSpec(shape, value.dtype)
    return RaggedTensorSpec(shape, value.dtype, max(depth, 0), value.row_splits.dtype)


def _traced(map_func: Any, spec: Any) -> tuple[Any, Any]:
    """A function of elements as a graph, and what it gives. What can't be one is called as it is; then
    nothing is known of its results."""
    from emplace.eager.function import function

    if context.outside_graph() and all(type(s) is tensor_spec.TensorSpec or hasattr(s, "_part_specs") for s in nest.flatten(spec)):
        try:
            made = function(lambda *args: map_func(*args)).get_concrete_function(*(spec if isinstance(spec, tuple) else (spec,)))
            if _plain(made.structured_outputs):
                return dataset_state.by_pass(made, map_func), _spec(made.structured_outputs, lambda s: s)
        except Exception as e:  # noqa: BLE001  (shows again when it is called)
            if signals.raised_by_handler(e):
                raise
            return _saying(map_func, e), None
    return map_func, None


def _saying(map_func: Any, untraceable: Exception) -> Any:
    """The function; if its first call fails, too, then for the reason it could not be traced."""
    called = False

    def call(*args: Any) -> Any:
        nonlocal called
        first, called = not called, True
        try:
            return map_func(*args)
        except Exception:
            if first and type(untraceable) in (TypeError, ValueError):
                raise untraceable from None
            raise

    return call


def _check_callable(function: Any) -> None:
    if not callable(function):
        raise ValueError(f"Argument `func` must be a callable. Received func={function} (of type {type(function)})")


def _plain(outputs: Any) -> bool:
    """Tensors in tuples and dictionaries; a list would have to become a tensor."""
    if isinstance(outputs, (tuple, dict)):
        return all(_plain(o) for o in (outputs.values() if isinstance(outputs, dict) else outputs))
    return isinstance(outputs, ops.Tensor) or hasattr(outputs, "_part_specs")


def _num_rows(t: Any) -> int:
    if t.shape.rank == 0:
        raise ValueError("Unbatching a tensor is only supported for rank >= 1")
    return t.shape.as_list()[0]


def _generated(spec: Any, value: Any) -> Any:
    """What a generator gave, as its signature says."""
    if isinstance(spec, (tuple, list)):
        if not isinstance(value, (tuple, list)) or len(value) != len(spec):
            raise TypeError(f"`generator` yielded an element that did not match the expected structure. The expected structure was {spec}, but the yielded element was {value}.")
        return tuple(_generated(s, v) for s, v in zip(spec, value))
    if isinstance(spec, dict):
        return {k: _generated(s, value[k]) for k, s in spec.items()}
    with context.eager_mode():
        try:
            made = spec._value_of(value) if hasattr(spec, "_value_of") else ops.convert_to_tensor(value, spec.dtype)
        except (TypeError, ValueError):
            said = f"The expected type was {spec.dtype.name}, but the yielded element was {value}."
            raise op_errors.refused(
                "IteratorGetNext", f"TypeError: `generator` yielded an element that could not be converted to the expected type. {said}", "_output_types_1"
            ) from None
    if not spec.shape.is_compatible_with(made.shape):
        said = f"`generator` yielded an element of shape {made.shape} where an element of shape {spec.shape} was expected."
        raise op_errors.refused("IteratorGetNext", f"TypeError: {said}\n", "_output_types_1")
    return made


class _Round:
    """Going through a dataset once. `began`: it gave an element, or failed to."""

    def __init__(self, items: Iterator[Any]) -> None:
        self._items, self.began = items, False

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        before, self.began = self.began, True
        try:
            return next(self._items)
        except StopIteration:
            self.began = before
            raise


def _rounds(dataset: "Dataset", times: Any) -> Iterator[Iterator[Any]]:
    """Rounds until one has nothing to give: no other would."""
    for _ in times:
        made = _Round(iter(dataset))
        yield made
        if not made.began:
            return


class DatasetV2:
    """What datasets are known by to those who look at the names of classes (`posing/guise.py`)."""


class Dataset(MoreTransformations, DatasetV2):
    """A sequence of elements that can be gone through again and again."""

    _kind = "_Dataset"  # its class in TensorFlow, for printing

    def __init__(self, make: Callable[[], Iterator[Any]], spec: Any, cardinality: int) -> None:
        self._make, self.element_spec, self._n = make, spec, cardinality

    # ---- Sources.

    @staticmethod
    def from_tensors(tensors: Any, name: str | None = None) -> "Dataset":
        """A dataset of one element: all of `tensors` as it is."""
        value = _tensors(tensors)
        return Dataset(lambda: iter([value]), _spec(value, lambda s: s), 1)

    @staticmethod
    def from_tensor_slices(tensors: Any, name: str | None = None) -> "Dataset":
        """A dataset of the rows of tensors, which must be as many in each of the structure."""
        value = _tensors(tensors)
        counts = [t._num_rows() if hasattr(t, "_num_rows") else _num_rows(t) for t in nest.flatten(value)]
        n = counts[0]
        for rows_of in counts:
            if rows_of != n:
                raise ValueError(f"Dimensions {n} and {rows_of} are not compatible")

        def rows() -> Iterator[Any]:
            for i in range(n):
                with context.eager_mode():
                    item = nest.map_structure(lambda t: _row(t, i), value)
                yield item

        return Dataset(rows, _spec(value, lambda s: s[1:]), n)

    @staticmethod
    def range(*args: Any, **kwargs: Any) -> "Dataset":
        """The int64 numbers of Python's `range`, with the same one to three arguments; `output_type` gives another dtype."""
        if not 1 <= len(args) <= 3:
            raise ValueError(f"Invalid `args`. The length of `args` should be between 1 and 3 but was {len(args)}.")
        ends = [index_values.whole(a, dtypes.int64) for a in args]
        if len(ends) == 3 and ends[2] == 0:
            raise op_errors.refused("RangeDataset", "step must be a non-zero integer.")
        index_values.check(ends, dtypes.int64)
        numbers = range(*ends)
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
        """A dataset of what `generator(*args)` yields, started anew by each iterator. `output_signature`, specs in the
        structure of an element, says what to expect."""
        if not callable(generator):
            raise TypeError("`generator` must be a Python callable.")
        if output_signature is None:
            if output_types is None:
                raise TypeError("To specify the output signature you need to provide either the `output_signature` argument or the `output_types` argument.")
            shapes = output_shapes if isinstance(output_types, (tuple, dict)) and output_shapes is not None else None
            kinds = nest.flatten(output_types)
            flat = [output_shapes] * len(kinds) if shapes is None else list(shapes.values() if isinstance(shapes, dict) else shapes)
            output_signature = nest.pack_sequence_as(output_types, [tensor_spec.TensorSpec(s, t) for s, t in zip(flat, kinds)])

        def rows() -> Iterator[Any]:
            for item in generator(*(args or ())):
                yield _generated(output_signature, item)

        return Dataset(rows, output_signature, UNKNOWN)

    @staticmethod
    def zip(*args: Any, datasets: Any = None, name: str | None = None) -> "Dataset":
        """Datasets side by side: an element is the structure with one element of each; ends with the shortest."""
        structure = args[0] if len(args) == 1 else args if args else datasets
        parts = nest.flatten(structure)
        for p in parts:
            if not isinstance(p, Dataset):
                raise TypeError(f"Invalid input to `zip`. Inputs are expected to be (nested) structures of `tf.data.Dataset` objects but encountered object of type {type(p)}.")
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
        """An iterator of the elements with arrays in the place of tensors."""
        return map(lambda item: nest.map_structure(lambda t: t.numpy(), item), self)  # no generator: threads may share it

    def cardinality(self, name: str | None = None) -> Any:
        """The number of elements as an int64 tensor, -1 for endless and -2 for unknown."""
        with context.eager_mode():
            return ops.convert_to_tensor(np.int64(self._n))

    def _with(self, make: Callable[[], Iterator[Any]], n: int, spec: Any = None) -> "Dataset":
        return Dataset(make, self.element_spec if spec is None else spec, n)

    # ---- Changing.

    def map(self, map_func: Any, num_parallel_calls: Any = None, deterministic: Any = None, **_: Any) -> "Dataset":
        """What `map_func` gives for each element, in the order of the elements. The function is traced once; the components of
        a tuple are its arguments."""
        _check_callable(map_func)
        function, spec = _traced(map_func, self.element_spec)

        def call(item: Any) -> Any:
            result = function(*item) if isinstance(item, tuple) else function(item)
            return _tensors(result)

        source = self
        if spec is None:
            try:
                first = next(iter(self), None)
                spec = self.element_spec if first is None else _spec(call(first), lambda s: s)
            except errors.OpError:  # shows again when that element is asked for
                spec = self.element_spec
        made = self._with(lambda: map(call, source), self._n, spec)  # unlike a generator it goes on after a failure
        made._mapped = (source, call)
        return made

    def filter(self, predicate: Any, name: str | None = None) -> "Dataset":
        """The elements for which `predicate` gives a true bool scalar."""
        _check_callable(predicate)
        traced, spec = _traced(predicate, self.element_spec)
        if spec is not None and (not isinstance(spec, tensor_spec.TensorSpec) or spec.dtype != dtypes.bool or spec.shape.rank not in (0, None)):
            raise ValueError(f"Invalid `predicate`. `predicate` must return a `tf.bool` scalar tensor, but its return type is {spec}.")
        function = traced if dataset_state.is_by_pass(traced) else predicate

        def keep(item: Any) -> bool:
            return bool(function(*item) if isinstance(item, tuple) else function(item))

        return self._with(lambda: filter(keep, self), UNKNOWN)

    def batch(self, batch_size: Any, drop_remainder: bool = False, num_parallel_calls: Any = None, deterministic: Any = None, name: str | None = None) -> "Dataset":
        """Stacks `batch_size` elements in a row into one with a new first dimension; a smaller rest stays unless
        `drop_remainder`."""
        size = dataset_batches.count(batch_size)
        if size <= 0:
            raise op_errors.refused("BatchDatasetV2", "Batch size must be greater than zero.")

        def rows() -> Iterator[Any]:
            items = iter(self)

            def one(_: int) -> Any:  # what a batch had when an element failed is lost
                pending = list(itertools.islice(items, size))
                if not pending or drop_remainder and len(pending) < size:
                    raise StopIteration
                return dataset_batches.stacked(pending, self.element_spec)

            return map(one, itertools.count())

        n = self._n if self._n < 0 else self._n // size if drop_remainder else -(-self._n // size)
        lead = size if drop_remainder else None
        return self._with(rows, n, nest.map_structure(lambda s: dataset_batches.batched_spec(s, lead), self.element_spec))

    def unbatch(self, name: str | None = None) -> "Dataset":
        """The rows of each element as elements of their own: the reverse of `batch`."""
        def rows() -> Iterator[Any]:
            for item in self:
                yield from Dataset.from_tensor_slices(item)

        def row(s: Any) -> Any:
            return s._unbatch() if hasattr(s, "_unbatch") else tensor_spec.TensorSpec(s.shape[1:] if s.shape.rank is not None else None, s.dtype)

        return self._with(rows, UNKNOWN, nest.map_structure(row, self.element_spec))

    def repeat(self, count: Any = None, name: str | None = None) -> "Dataset":
        """The dataset `count` times, or without end."""
        times = -1 if count is None else dataset_batches.count(count)

        def rows() -> Iterator[Any]:
            return itertools.chain.from_iterable(_rounds(self, itertools.count() if times < 0 else range(times)))

        n = 0 if self._n == 0 else INFINITE if times < 0 or self._n == INFINITE else UNKNOWN if self._n < 0 else self._n * times
        return self._with(rows, n)

    def take(self, count: Any, name: str | None = None) -> "Dataset":
        """The first `count` elements at most, all for -1."""
        limit = dataset_batches.count(count)

        def rows() -> Iterator[Any]:
            items, given = iter(self), 0

            def one(_: int) -> Any:  # those that fail do not count
                nonlocal given
                if given == limit:
                    raise StopIteration
                item = next(items)
                given += 1
                return item

            return map(one, itertools.count())

        n = self._n if limit < 0 else limit if self._n == INFINITE else UNKNOWN if self._n < 0 else min(self._n, limit)
        return self._with(rows, n)

    def skip(self, count: Any, name: str | None = None) -> "Dataset":
        """All but the first `count` elements, none for -1."""
        first = dataset_batches.count(count)
        n = self._n if self._n < 0 else 0 if first < 0 else max(0, self._n - first)
        return self._with(lambda: (item for i, item in enumerate(self) if 0 <= first <= i), n)

    def shuffle(self, buffer_size: Any, seed: Any = None, reshuffle_each_iteration: Any = True, name: str | None = None) -> "Dataset":
        """Elements drawn at random from a buffer of the next `buffer_size`; with `reshuffle_each_iteration` in another order
        for each iterator."""
        size = dataset_batches.count(buffer_size)
        if size <= 0 and size != UNKNOWN:
            raise op_errors.refused("ShuffleDatasetV3", "buffer_size must be greater than zero or UNKNOWN_CARDINALITY")
        size = size if size > 0 else max(self._n, 1)
        rounds = dataset_random.Rounds(seed, reshuffle_each_iteration is None or bool(reshuffle_each_iteration))
        return self._with(lambda: dataset_random.shuffled(self, size, rounds.next()), self._n)

    def prefetch(self, buffer_size: Any, name: str | None = None) -> "Dataset":
        """Lets up to `buffer_size` elements be made ahead; elements and order stay as they are."""
        dataset_batches.count(buffer_size)
        return self

    def cache(self, filename: str = "", name: str | None = None) -> "Dataset":
        """Keeps the elements once they were all read, so that later iterators need not make them again."""
        kept: list[Any] = []

        def rows() -> Iterator[Any]:
            if not kept:
                kept.extend(self)
            return iter(kept)

        return self._with(rows, self._n)

    def concatenate(self, dataset: "Dataset", name: str | None = None) -> "Dataset":
        """The elements of this dataset, then those of another with the same dtypes."""
        ours, theirs = ([getattr(s, "dtype", s) for s in nest.flatten(d.element_spec)] for d in (self, dataset))
        if ours != theirs:
            raise TypeError(f"Incompatible dataset elements:\n  {self.element_spec} vs.   {dataset.element_spec}")

        def rows() -> Iterator[Any]:
            return itertools.chain(self, dataset)

        n = INFINITE if INFINITE in (self._n, dataset._n) else UNKNOWN if UNKNOWN in (self._n, dataset._n) else self._n + dataset._n
        pairs = zip(nest.flatten(self.element_spec), nest.flatten(dataset.element_spec))
        return self._with(rows, n, nest.pack_sequence_as(self.element_spec, [tensor_spec.common_supertype(pair) or pair[0] for pair in pairs]))

    def enumerate(self, start: int = 0, name: str | None = None) -> "Dataset":
        """Pairs of a running int64 number, from `start`, and an element."""
        first = dataset_batches.count(start)

        def rows() -> Iterator[Any]:
            items = iter(self)

            def one(i: int) -> Any:
                with context.eager_mode():
                    return ops.convert_to_tensor(np.int64(i)), next(items)

            return map(one, itertools.count(first))

        return self._with(rows, self._n, (tensor_spec.TensorSpec([], dtypes.int64), self.element_spec))

    @context.as_one
    def reduce(self, initial_state: Any, reduce_func: Any, name: str | None = None) -> Any:
        """Folds the elements into one state: `reduce_func(state, element)` gives the next, the last is returned."""
        with context.on_host():
            state = _tensors(initial_state)
            kinds = [t.dtype for t in nest.flatten(state)]
            for item in self:
                state = _tensors(reduce_func(state, item))
                for kind, t in zip(kinds, nest.flatten(state)):
                    if t.dtype != kind:
                        raise TypeError(f"The element types for the new state must match the initial state. Expected {kind} but got {t.dtype}.")
            return state

    def flat_map(self, map_func: Any, name: str | None = None) -> "Dataset":
        """The elements of the datasets that `map_func` gives for each element, one after another."""
        _check_callable(map_func)

        def inner(item: Any) -> Any:
            made = map_func(*item) if isinstance(item, tuple) else map_func(item)
            if not isinstance(made, Dataset):
                raise TypeError(f"The `map_func` argument must return a `Dataset` object. Got {type(made)}.")
            return made

        def rows() -> Iterator[Any]:
            for item in self:
                yield from inner(item)

        first = next(iter(self), None)
        return self._with(rows, UNKNOWN, self.element_spec if first is None else inner(first).element_spec)

    def apply(self, transformation_func: Any) -> "Dataset":
        """The dataset that `transformation_func(self)` gives: lets a function stand in a chain of methods."""
        made = transformation_func(self)
        if not isinstance(made, Dataset):
            raise TypeError(f"`transformation_func` must return a `tf.data.Dataset` object. Got {type(made)}.")
        return made

    def __repr__(self) -> str:
        return f"<{self._kind} element_spec={self.element_spec!r}>"


counter = Dataset.counter
