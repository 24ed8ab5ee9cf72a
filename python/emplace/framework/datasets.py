"""`tf.data` in graph programs.

A dataset of a graph is a recipe: the graph's tensors that it needs, and how to make from their values
an eager dataset (`emplace.eager.dataset`), which knows all transformations. `_like` is such a dataset
without elements: it says what elements look like. Functions of elements are traced once; what they
capture of the graph are tensors that the recipe needs, too.
"""

from __future__ import annotations

import glob
import itertools
from typing import Any, Callable, Iterable, Iterator

from emplace.eager import autograph, context, dataset as eager, dataset_files, dataset_mixing, dataset_state, func_graph, nest, optional, tensor_spec
from emplace.eager.dataset_more import INFINITE, UNKNOWN
from emplace.eager.function import ConcreteFunction
from emplace.framework import constant_op, device_scope, dtypes, errors, ops, random_ops

AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY = -1, INFINITE, UNKNOWN


def _of_graph(value: Any) -> bool:
    return isinstance(value, ops.SymbolicTensor) or hasattr(value, "_dense_var_to_tensor")


def _no_elements() -> Any:
    raise AssertionError("a description of a dataset has no elements")


def _like(spec: Any, n: int = UNKNOWN) -> eager.Dataset:
    return eager.Dataset(_no_elements, spec, n)


class _Needs:
    """Collects the tensors that a recipe needs; in a recipe `_Slot(i)` stands for one."""

    def __init__(self, tensors: Iterable[Any] = ()) -> None:
        self.tensors = list(tensors)

    def slot(self, value: Any) -> "_Slot":
        self.tensors.append(ops.convert_to_tensor(value))
        return _Slot(len(self.tensors) - 1, self.tensors[-1])

    def taken(self, structure: Any) -> Any:
        """The structure with slots for the graph's tensors, other leaves as they are."""
        if isinstance(structure, dict):
            return {k: self.taken(v) for k, v in structure.items()}
        if isinstance(structure, tuple) and not hasattr(structure, "_fields"):
            return tuple(self.taken(v) for v in structure)
        if isinstance(structure, list) and any(_of_graph(v) for v in nest.flatten(structure)):
            return self.slot(structure)
        return self.slot(structure) if _of_graph(structure) else structure


class _Slot:
    def __init__(self, index: int, tensor: Any) -> None:
        self.index, self.tensor = index, tensor


def _given(structure: Any, values: list[Any]) -> Any:
    """Slots replaced by their values."""
    if isinstance(structure, dict):
        return {k: _given(v, values) for k, v in structure.items()}
    if isinstance(structure, tuple) and not hasattr(structure, "_fields"):
        return tuple(_given(v, values) for v in structure)
    return values[structure.index] if isinstance(structure, _Slot) else structure


def _shown(structure: Any, default: Any = 1) -> Any:
    """… by numbers that are known, or `default`."""
    if isinstance(structure, tuple):
        return tuple(_shown(v, default) for v in structure)
    if isinstance(structure, dict):
        return {k: _shown(v, default) for k, v in structure.items()}
    if not isinstance(structure, _Slot):
        return structure
    known = constant_op.constant_value(structure.tensor)
    return default if known is None else known


def _source_spec(structure: Any, first: int) -> Any:
    """What elements of these values look like, without their first dimension where `first` is 1."""
    if isinstance(structure, dict):
        return {k: _source_spec(v, first) for k, v in structure.items()}
    if isinstance(structure, tuple) and not hasattr(structure, "_fields"):
        return tuple(_source_spec(v, first) for v in structure)
    value = structure.tensor if isinstance(structure, _Slot) else structure
    shape = value.shape[first:] if value.shape.rank is not None else None
    return tensor_spec.TensorSpec(shape, value.dtype.base_dtype)


class _Traced:
    """A function of elements as a graph of its own. `needs`: what it captures."""

    def __init__(self, function: Any, spec: Any) -> None:
        eager._check_callable(function)
        outer = ops.get_default_graph()
        graph = func_graph.FuncGraph(getattr(function, "__name__", "function"), outer)
        args = spec if isinstance(spec, tuple) else (spec,)
        self._datasets: list[Any] = []  # arguments that are datasets: what they are in a call
        with graph.as_default():
            inner = nest.map_structure(lambda s: self._inner(s) if isinstance(s, optional.DatasetSpec) else graph.argument(s.dtype, s.shape), tuple(args))
            count = len(graph.inputs)
            self.dataset = None
            result = autograph.call(function, inner, {})
            if isinstance(result, Dataset):
                self.dataset, result = result, tuple(result._needs)
            result = _as_tensors(graph, result)
            graph.finish(nest.flatten(result))
        made = iter(graph.outputs)
        structure = nest.map_structure(lambda _: next(made), result)
        self._function = ConcreteFunction(graph, count, structure, None, graph.name)
        self.spec = nest.map_structure(lambda t: tensor_spec.TensorSpec(t.shape, t.dtype), structure)
        self.needs = [outside for outside, _ in graph.captures]

    def _inner(self, spec: Any) -> "Dataset":
        at = len(self._datasets)
        self._datasets.append(None)
        return Dataset([], lambda _: self._datasets[at], _like(spec._element_spec))

    def bound(self, captured: list[Any]) -> Callable[[Any], Any]:
        """As a function of an element, once it is known what was captured."""

        def call(item: Any) -> Any:
            leaves = nest.flatten(item)
            self._datasets[:] = [leaf for leaf in leaves if isinstance(leaf, eager.Dataset)]
            leaves = [leaf for leaf in leaves if not isinstance(leaf, eager.Dataset)]
            with context.eager_mode():
                function = dataset_state.at_its_place(self._function, self)
                flat = function._results(leaves + captured) if self._function.graph.outputs else []
            if self.dataset is not None:
                return self.dataset._build(list(flat))
            return nest.pack_sequence_as(self.spec, list(flat))

        return call


def _as_tensors(graph: Any, result: Any) -> Any:
    """Tuples and dictionaries make a structure; a list is one tensor."""
    if isinstance(result, tuple):
        made = [_as_tensors(graph, r) for r in result]
        return type(result)(*made) if hasattr(result, "_fields") else tuple(made)
    if isinstance(result, dict):
        return {k: _as_tensors(graph, v) for k, v in result.items()}
    return graph.inside(ops.convert_to_tensor(result))


class _Anew:
    """Elements made of some of a source's, one after the other. One that fails is lost with what it
    had taken; the next begins with the rest, as in TensorFlow."""

    def __init__(self, source: eager.Dataset, over: Callable[[eager.Dataset], eager.Dataset]) -> None:
        items = source._make()
        rest = eager.Dataset(lambda: items, source.element_spec, UNKNOWN)
        self._begin = lambda: over(rest)._make()
        self._items = self._begin()

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        try:
            return next(self._items)
        except StopIteration:
            raise
        except Exception:
            self._items = self._begin()
            raise


_ANEW = ("padded_batch", "ragged_batch", "sparse_batch", "unbatch")


class Dataset:
    """Elements that an iterator hands to a graph, one a step."""

    _kind = "DatasetV1Adapter"  # its class in TensorFlow, for printing

    def __init__(self, needs: list[Any], build: Callable[[list[Any]], eager.Dataset], like: eager.Dataset) -> None:
        self._needs, self._build, self._like = needs, build, like
        self._devices = device_scope.blocks(ops.get_default_graph())

    # ---- What elements look like.

    @property
    def element_spec(self) -> Any:
        return self._like.element_spec

    @property
    def output_types(self) -> Any:
        return get_output_types(self)

    @property
    def output_shapes(self) -> Any:
        return get_output_shapes(self)

    @property
    def output_classes(self) -> Any:
        return get_output_classes(self)

    # ---- Sources.

    @staticmethod
    def _source(kind: str, tensors: Any, first: int) -> "Dataset":
        needs = _Needs()
        plan = needs.taken(tensors)
        plan = nest.map_structure(lambda v: v if isinstance(v, _Slot) else eager._tensors(v), plan) if isinstance(plan, (tuple, dict)) else plan
        plan = plan if isinstance(plan, (tuple, dict, _Slot)) else eager._tensors(plan)
        make = getattr(eager.Dataset, kind)
        if not needs.tensors:
            known = make(plan)
            return Dataset([], lambda _: known, known)
        return Dataset(needs.tensors, lambda values: make(_given(plan, values)), _like(_source_spec(plan, first)))

    @staticmethod
    def from_tensors(tensors: Any, name: str | None = None) -> "Dataset":
        return Dataset._source("from_tensors", tensors, 0)

    @staticmethod
    def from_tensor_slices(tensors: Any, name: str | None = None) -> "Dataset":
        return Dataset._source("from_tensor_slices", tensors, 1)

    @staticmethod
    def range(*args: Any, **kwargs: Any) -> "Dataset":
        needs = _Needs()
        plan = needs.taken(tuple(args))
        return Dataset(needs.tensors, lambda values: eager.Dataset.range(*_given(plan, values), **kwargs), eager.Dataset.range(*_shown(plan), **kwargs))

    @staticmethod
    def from_generator(generator: Any, output_types: Any = None, output_shapes: Any = None, args: Any = None, output_signature: Any = None, name: str | None = None) -> "Dataset":
        needs = _Needs()
        plan = needs.taken(tuple(args or ()))
        make = eager.Dataset.from_generator

        def build(values: list[Any]) -> eager.Dataset:
            arrays = [v.numpy() if hasattr(v, "numpy") else v for v in _given(plan, values)]
            return make(generator, output_types, output_shapes, arrays, output_signature)

        return Dataset(needs.tensors, build, make(generator, output_types, output_shapes, None, output_signature))

    @staticmethod
    def zip(*args: Any, datasets: Any = None, name: str | None = None) -> "Dataset":
        structure = args[0] if len(args) == 1 else args if args else datasets
        parts = nest.flatten(structure)
        return _joined(parts, lambda made: eager.Dataset.zip(nest.pack_sequence_as(structure, made)))

    @staticmethod
    def list_files(file_pattern: Any, shuffle: Any = None, seed: Any = None, name: str | None = None) -> "Dataset":
        """The names of the files that match one or more patterns, shuffled unless `shuffle` is False."""
        patterns = [file_pattern] if isinstance(file_pattern, (str, bytes)) else list(file_pattern)
        found = sorted(f for p in patterns for f in glob.glob(p.decode() if isinstance(p, bytes) else p))
        if not found:
            raise errors.InvalidArgumentError(None, None, f"No files matched pattern: {', '.join(map(str, patterns))}")
        made = Dataset.from_tensor_slices(found)
        return made.shuffle(len(found), seed) if shuffle is not False else made

    # ---- Transformations without functions.

    def _same(self, kind: str, *args: Any, **kwargs: Any) -> "Dataset":
        needs = _Needs(self._needs)
        plan, source, count = needs.taken(tuple(args)), self._build, len(self._needs)

        def build(values: list[Any]) -> eager.Dataset:
            below, given = source(values[:count]), _given(plan, values)
            made = getattr(below, kind)(*given, **kwargs)
            if kind in _ANEW:
                made._make = lambda: _Anew(below, lambda rest: getattr(rest, kind)(*given, **kwargs))
            return made

        return Dataset(needs.tensors, build, getattr(self._like, kind)(*_shown(plan), **kwargs))

    def batch(self, batch_size: Any, drop_remainder: Any = False, num_parallel_calls: Any = None, deterministic: Any = None, name: str | None = None) -> "Dataset":
        return self._same("batch", batch_size, drop_remainder)

    def padded_batch(self, batch_size: Any, padded_shapes: Any = None, padding_values: Any = None, drop_remainder: Any = False, name: str | None = None) -> "Dataset":
        made = self._same("padded_batch", batch_size, padded_shapes, padding_values, drop_remainder)
        if padded_shapes is not None:
            made._like = _like(_padded_spec(made.element_spec, padded_shapes), made._like._n)
        return made

    def repeat(self, count: Any = None, name: str | None = None) -> "Dataset":
        return self._same("repeat", count)

    def take(self, count: Any, name: str | None = None) -> "Dataset":
        return self._same("take", count)

    def skip(self, count: Any, name: str | None = None) -> "Dataset":
        return self._same("skip", count)

    def shard(self, num_shards: Any, index: Any, name: str | None = None) -> "Dataset":
        return self._same("shard", num_shards, index)

    def shuffle(self, buffer_size: Any, seed: Any = None, reshuffle_each_iteration: Any = None, name: str | None = None) -> "Dataset":
        a, b = random_ops.get_seed(None if _of_graph(seed) else seed)
        again = True if reshuffle_each_iteration is None else reshuffle_each_iteration
        return self._same("shuffle", buffer_size, seed=None if a is None else a * 2**32 + b, reshuffle_each_iteration=again)

    def prefetch(self, buffer_size: Any, name: str | None = None) -> "Dataset":
        return Dataset(self._needs, self._build, self._like)

    def cache(self, filename: Any = "", name: str | None = None) -> "Dataset":
        return self._same("cache")

    def unique(self, name: str | None = None) -> "Dataset":
        return self._same("unique")

    def rebatch(self, batch_size: Any, drop_remainder: bool = False, name: str | None = None) -> "Dataset":
        return self._same("rebatch", batch_size, drop_remainder)

    def unbatch(self, name: str | None = None) -> "Dataset":
        return self._same("unbatch")

    def enumerate(self, start: Any = 0, name: str | None = None) -> "Dataset":
        return self._same("enumerate", start)

    def concatenate(self, dataset: "Dataset", name: str | None = None) -> "Dataset":
        return _joined([self, dataset], lambda made: made[0].concatenate(made[1]))

    def options(self) -> Any:
        return self._like.options()

    def with_options(self, options: Any, name: str | None = None) -> "Dataset":
        return self._same("with_options", options)

    def apply(self, transformation_func: Any) -> "Dataset":
        made = transformation_func(self)
        if not isinstance(made, Dataset):
            raise TypeError(f"`transformation_func` must return a `tf.data.Dataset` object. Got {type(made)}.")
        return made

    # ---- Transformations by functions.

    def _through(self, function: Any, make: Callable[[eager.Dataset, Callable[[Any], Any]], eager.Dataset], like: Callable[[_Traced], eager.Dataset]) -> "Dataset":
        traced = _Traced(function, self.element_spec)
        source, count, shown = self._build, len(self._needs), like(traced)

        def build(values: list[Any]) -> eager.Dataset:
            made = make(source(values[:count]), traced.bound(values[count:]))
            made.element_spec = shown.element_spec
            return made

        return Dataset([*self._needs, *traced.needs], build, shown)

    def map(self, map_func: Any, num_parallel_calls: Any = None, deterministic: Any = None, name: str | None = None) -> "Dataset":
        """What `map_func` gives for each element, in the order of the elements. The function is traced once; the components of
        a tuple are its arguments."""
        def make(source: eager.Dataset, call: Any) -> eager.Dataset:
            made = eager.Dataset(lambda: map(call, source._make()), None, source._n)  # a generator would end where it fails
            made._mapped = (source, call)
            return made

        return self._through(map_func, make, lambda traced: _like(traced.spec, self._like._n))

    map_with_legacy_function = map

    def filter(self, predicate: Any, name: str | None = None) -> "Dataset":
        def make(source: eager.Dataset, call: Any) -> eager.Dataset:
            return eager.Dataset(lambda: filter(lambda item: bool(call(item)), source._make()), source.element_spec, UNKNOWN)

        def like(traced: _Traced) -> eager.Dataset:
            spec = traced.spec
            if not isinstance(spec, tensor_spec.TensorSpec) or spec.dtype != dtypes.bool or spec.shape.rank not in (0, None):
                raise ValueError(f"Invalid `predicate`. `predicate` must return a `tf.bool` scalar tensor, but its return type is {spec}.")
            return _like(self.element_spec)

        return self._through(predicate, make, like)

    def take_while(self, predicate: Any, name: str | None = None) -> "Dataset":
        def make(source: eager.Dataset, call: Any) -> eager.Dataset:
            return eager.Dataset(lambda: itertools.takewhile(lambda item: bool(call(item)), source), source.element_spec, UNKNOWN)

        return self._through(predicate, make, lambda traced: _like(self.element_spec))

    def cardinality(self, name: str | None = None) -> Any:
        return constant_op.constant(self._like._n, dtypes.int64, name=name or "DatasetCardinality")

    def flat_map(self, map_func: Any, name: str | None = None) -> "Dataset":
        def make(source: eager.Dataset, call: Any) -> eager.Dataset:
            return eager.Dataset(lambda: (x for item in source for x in call(item)), None, UNKNOWN)

        return self._through(map_func, make, _nested)

    def interleave(self, map_func: Any, cycle_length: Any = None, block_length: Any = None, num_parallel_calls: Any = None, deterministic: Any = None, name: str | None = None) -> "Dataset":
        def make(source: eager.Dataset, call: Any) -> eager.Dataset:
            return source.interleave(lambda *item: call(item if len(item) > 1 else item[0]), cycle_length, block_length)

        return self._through(map_func, make, _nested)

    def reduce(self, initial_state: Any, reduce_func: Any, name: str | None = None) -> Any:
        """The state after the last element, as tensors."""
        from emplace.framework import dataset_iterators

        state = nest.map_structure(ops.convert_to_tensor, initial_state)
        spec = nest.map_structure(lambda t: tensor_spec.TensorSpec(t.shape, t.dtype), state)
        traced = _Traced(reduce_func, (spec, self.element_spec))
        return dataset_iterators.reduced(self, state, traced)

    def make_one_shot_iterator(self) -> Any:
        """An iterator that needs no initialization and goes through the dataset once in each session."""
        return make_one_shot_iterator(self)

    def make_initializable_iterator(self, shared_name: str | None = None) -> Any:
        """An iterator whose `initializer` op must run first, and may run again to start anew."""
        return make_initializable_iterator(self, shared_name)

    def __iter__(self) -> Any:
        raise RuntimeError("`tf.data.Dataset` only supports Python-style iteration in eager mode or within tf.function.")

    def __len__(self) -> int:
        raise TypeError("`tf.data.Dataset` only supports `len` in eager mode. Use `tf.data.Dataset.cardinality()` instead.")

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"<{self._kind} element_spec={self.element_spec!r}>"


def _nested(traced: _Traced) -> eager.Dataset:
    if traced.dataset is None:
        raise TypeError(f"The `map_func` argument must return a `Dataset` object. Got {traced.spec!r}.")
    return _like(traced.dataset.element_spec)


def _joined(parts: list[Dataset], make: Callable[[list[eager.Dataset]], eager.Dataset]) -> Dataset:
    for part in parts:
        if not isinstance(part, Dataset):
            raise TypeError(f"Invalid input to `zip`. Inputs are expected to be (nested) structures of `tf.data.Dataset` objects but encountered object of type {type(part)}.")
    needs = [t for p in parts for t in p._needs]

    def build(values: list[Any]) -> eager.Dataset:
        made, at = [], 0
        for p in parts:
            made.append(p._build(values[at : at + len(p._needs)]))
            at += len(p._needs)
        return make(made)

    return Dataset(needs, build, make([p._like for p in parts]))


def _padded_spec(spec: Any, shapes: Any) -> Any:
    """Batches whose other dimensions are as asked for."""
    flat = nest.flatten(spec)
    given = list(shapes.values()) if isinstance(shapes, dict) else list(shapes) if isinstance(shapes, tuple) else [shapes]
    made = []
    for s, shape in zip(flat, given):
        dims = list(getattr(shape, "as_list", lambda shape=shape: shape)() or [])
        dims = [None if d in (None, -1) else int(d) for d in dims]
        made.append(tensor_spec.TensorSpec([s.shape.as_list()[0], *dims] if s.shape.rank is not None else None, s.dtype))
    return nest.pack_sequence_as(spec, made)


class _OfFiles(Dataset):
    """Pieces of files whose names a tensor may give."""

    _eager: Any = None

    def __init__(self, filenames: Any, *args: Any, **kwargs: Any) -> None:
        if isinstance(filenames, Dataset):
            names, source = list(filenames._needs), filenames._build
        else:
            needs = _Needs()
            plan = needs.taken(filenames)
            names, source = needs.tensors, lambda values: _given(plan, values)
        more = _Needs(names)
        rest, named = more.taken(tuple(args)), {k: more.taken(v) for k, v in kwargs.items()}
        count, kind = len(names), self._eager
        self._kind = kind._kind

        def build(values: list[Any]) -> eager.Dataset:
            return kind(source(values[:count]), *_given(rest, values), **_given(named, values))

        super().__init__(more.tensors, build, _like(tensor_spec.TensorSpec([], dtypes.string)))


class TextLineDataset(_OfFiles):
    """The lines of files as strings without their ends; GZIP or ZLIB as `compression_type`."""

    _eager = dataset_files.TextLineDataset


class TFRecordDataset(_OfFiles):
    """The records of TFRecord files as strings; GZIP or ZLIB as `compression_type`."""

    _eager = dataset_files.TFRecordDataset


class FixedLengthRecordDataset(_OfFiles):
    """Pieces of `record_bytes` bytes from files, header and footer left out."""

    _eager = dataset_files.FixedLengthRecordDataset


def get_output_types(dataset_or_iterator: Any) -> Any:
    """The dtypes of an element, in its structure."""
    return nest.map_structure(lambda s: s.dtype, dataset_or_iterator.element_spec)


def get_output_shapes(dataset_or_iterator: Any) -> Any:
    """The shapes of an element, in its structure."""
    return nest.map_structure(lambda s: s.shape, dataset_or_iterator.element_spec)


def get_output_classes(dataset_or_iterator: Any) -> Any:
    """The classes of an element, in its structure."""
    return nest.map_structure(lambda s: ops.Tensor, dataset_or_iterator.element_spec)


def make_one_shot_iterator(dataset: Dataset) -> Any:
    """An iterator that needs no initialization and goes through the dataset once in each session."""
    from emplace.framework import dataset_iterators

    if hasattr(dataset, "_make_one_shot_iterator"):  # a strategy's
        return dataset._make_one_shot_iterator()
    return dataset_iterators.one_shot(dataset)


def make_initializable_iterator(dataset: Dataset, shared_name: str | None = None) -> Any:
    """An iterator whose `initializer` op must run first, and may run again to start anew."""
    from emplace.framework import dataset_iterators

    if hasattr(dataset, "_make_initializable_iterator"):  # a strategy's
        return dataset._make_initializable_iterator(shared_name)
    return dataset_iterators.Iterator(dataset)


import emplace.framework.dataset_transforms  # noqa: E402, F401  (its functions become methods of Dataset)
