"""Rarer transformations of a graph program's datasets: windows, states that go along, groups, choices between datasets.

They become methods of `datasets.Dataset` when this module is loaded.
"""

from __future__ import annotations

from typing import Any, Callable

from emplace.eager import dataset as eager, dataset_mixing, nest, optional, tensor_spec
from emplace.framework import dtypes, ops
from emplace.framework.datasets import Dataset, _given, _joined, _like, _Needs, _nested, _Traced


def known(made: eager.Dataset) -> Dataset:
    """A dataset that needs nothing of a graph."""
    result = Dataset([], lambda _: made, made)
    result._kind = made._kind
    return result


def _by(
    self: Dataset, functions: list[_Traced], given: Any, make: Callable[[eager.Dataset, list[Any], Any], eager.Dataset], like: eager.Dataset
) -> Dataset:
    """A dataset of functions of elements and of values of the graph."""
    needs = _Needs(self._needs)
    plan = needs.taken(given)
    source, first = self._build, len(self._needs)
    middle = len(needs.tensors)

    def build(values: list[Any]) -> eager.Dataset:
        at, bound = middle, []
        for f in functions:
            bound.append(f.bound(values[at : at + len(f.needs)]))
            at += len(f.needs)
        made = make(source(values[:first]), bound, _given(plan, values))
        made.element_spec = like.element_spec
        return made

    return Dataset([*needs.tensors, *(t for f in functions for t in f.needs)], build, like)


def _of_items(call: Callable[[Any], Any]) -> Callable[..., Any]:
    """A function of an element as a function of its parts."""
    return lambda *item: call(item if len(item) > 1 else item[0])


def window(self: Dataset, size: Any, shift: Any = None, stride: Any = 1, drop_remainder: Any = False, name: str | None = None) -> Dataset:
    return self._same("window", size, shift, stride, drop_remainder)


def scan(self: Dataset, initial_state: Any, scan_func: Any, name: str | None = None) -> Dataset:
    state = nest.map_structure(ops.convert_to_tensor, initial_state)
    spec = nest.map_structure(lambda t: tensor_spec.TensorSpec(t.shape, t.dtype), state)
    traced = _Traced(scan_func, (spec, self.element_spec))
    if not isinstance(traced.spec, tuple) or len(traced.spec) != 2:
        raise TypeError(f"Invalid `scan_func`. `scan_func` should return a pair consisting of new state and the output value but its return type is {traced.spec}.")
    return _by(self, [traced], state, lambda d, f, first: d.scan(first, lambda *pair: f[0](pair)), _like(traced.spec[1], self._like._n))


def group_by_window(self: Dataset, key_func: Any, reduce_func: Any, window_size: Any = None, window_size_func: Any = None, name: str | None = None) -> Dataset:
    if (window_size is None) == (window_size_func is None):
        raise ValueError("Either the `window_size` argument or the `window_size_func` argument must be specified.")
    key_spec = tensor_spec.TensorSpec([], dtypes.int64)
    keys, groups = _Traced(key_func, self.element_spec), _Traced(reduce_func, (key_spec, optional.DatasetSpec(self.element_spec)))
    functions = [keys, groups] if window_size_func is None else [keys, groups, _Traced(window_size_func, key_spec)]

    def make(source: eager.Dataset, f: list[Any], size: Any) -> eager.Dataset:
        return source.group_by_window(_of_items(f[0]), lambda key, group: f[1]((key, group)), size, f[2] if len(f) > 2 else None)

    return _by(self, functions, window_size, make, _nested(groups))


def bucket_by_sequence_length(
    self: Dataset, element_length_func: Any, bucket_boundaries: Any, bucket_batch_sizes: Any, padded_shapes: Any = None,
    padding_values: Any = None, pad_to_bucket_boundary: bool = False, no_padding: bool = False, drop_remainder: bool = False,
    name: str | None = None,
) -> Dataset:
    """Batches of elements of like length: `bucket_boundaries` part the lengths, each bucket has its batch size."""
    lengths = _Traced(element_length_func, self.element_spec)
    rest = (bucket_boundaries, bucket_batch_sizes, padded_shapes, padding_values, pad_to_bucket_boundary, no_padding, drop_remainder)
    like = self._like.bucket_by_sequence_length(_of_items(lambda item: item), bucket_boundaries, bucket_batch_sizes, padded_shapes)
    return _by(self, [lengths], padding_values, lambda d, f, fill: d.bucket_by_sequence_length(_of_items(f[0]), *rest[:3], fill, *rest[4:]), like)


def rejection_resample(self: Dataset, class_func: Any, target_dist: Any, initial_dist: Any = None, seed: Any = None, name: str | None = None) -> Dataset:
    """Drops elements at random so that classes, as `class_func` gives them, occur as in `target_dist`; gives pairs of class
    and element."""
    classes = _Traced(class_func, self.element_spec)
    like = _like((tensor_spec.TensorSpec([], classes.spec.dtype), self.element_spec))
    return _by(self, [classes], (target_dist, initial_dist), lambda d, f, to: d.rejection_resample(_of_items(f[0]), *to, seed=seed), like)


def ignore_errors(self: Dataset, log_warning: bool = False, name: str | None = None) -> Dataset:
    return self._same("ignore_errors", log_warning)


def ragged_batch(self: Dataset, batch_size: Any, drop_remainder: Any = False, row_splits_dtype: Any = dtypes.int64, name: str | None = None) -> Dataset:
    """Batches of tensors of unequal shape as ragged tensors."""
    return self._same("ragged_batch", batch_size, drop_remainder, row_splits_dtype)


def sparse_batch(self: Dataset, batch_size: Any, row_shape: Any, name: str | None = None) -> Dataset:
    """Batches of tensors of unequal shape, up to `row_shape`, as sparse tensors."""
    return self._same("sparse_batch", batch_size, row_shape)


def snapshot(self: Dataset, path: Any, compression: Any = "AUTO", reader_func: Any = None, shard_func: Any = None, name: str | None = None) -> Dataset:
    """Keeps the elements in files at `path`: written the first time, read from then on."""
    return self._same("snapshot", path, compression)


def get_single_element(self: Dataset, name: str | None = None) -> Any:
    """The only element, as tensors."""
    from emplace.framework import dataset_iterators

    return dataset_iterators.single(self)


def choose_from_datasets(datasets: Any, choice_dataset: Dataset, stop_on_empty_dataset: bool = True) -> Dataset:
    """Elements of several datasets in turn, as the numbers (int64 scalars) in `choice_dataset` say."""
    def make(made: list[eager.Dataset]) -> eager.Dataset:
        return dataset_mixing.choose_from_datasets(made[:-1], made[-1], stop_on_empty_dataset)

    return _joined([*datasets, choice_dataset], make)


def sample_from_datasets(
    datasets: Any, weights: Any = None, seed: Any = None, stop_on_empty_dataset: bool = False, rerandomize_each_iteration: Any = None
) -> Dataset:
    """Elements of several datasets at random, by `weights`."""
    return _joined(list(datasets), lambda made: dataset_mixing.sample_from_datasets(made, weights, seed, stop_on_empty_dataset))


def counter(start: Any = 0, step: Any = 1, dtype: Any = dtypes.int64, name: str | None = None) -> Dataset:
    return known(eager.Dataset.counter(start, step, dtype))


def random(seed: Any = None, rerandomize_each_iteration: Any = None, name: str | None = None) -> Dataset:
    return known(eager.Dataset.random(seed, rerandomize_each_iteration))


_METHODS = (window, scan, group_by_window, bucket_by_sequence_length, rejection_resample, ignore_errors, ragged_batch, sparse_batch, snapshot, get_single_element)
_SOURCES = (choose_from_datasets, sample_from_datasets, counter, random)


for _method in _METHODS:
    setattr(Dataset, _method.__name__, _method)
for _source in _SOURCES:
    setattr(Dataset, _source.__name__, staticmethod(_source))
dataset_mixing.name_results(Dataset)
for _name, _member in vars(Dataset).items():  # what an eager dataset has too is described there
    _function = getattr(_member, "__func__", _member)
    if not _name.startswith("_") and callable(_function) and not _function.__doc__:
        _function.__doc__ = getattr(getattr(eager.Dataset, _name, None), "__doc__", None)
