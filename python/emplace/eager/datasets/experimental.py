"""`tf.data.experimental`: older names of what datasets do now, and what only stands there."""

from __future__ import annotations

import inspect
from typing import Any

from emplace.eager import context, nest
from emplace.eager.datasets.building import AUTOTUNE
from emplace.eager.datasets.dataset import Dataset, DatasetV1
from emplace.framework import dtypes, gen, ops

SHARD_HINT = -1
Counter, RandomDataset = Dataset.counter, Dataset.random


def cardinality(dataset: Any) -> Any:
    """The number of elements as an int64 tensor, -1 for endless and -2 for unknown."""
    return dataset.cardinality()


def get_structure(dataset_or_iterator: Any) -> Any:
    """The specs (dtype and shape) of the elements of a dataset or an iterator."""
    if not hasattr(dataset_or_iterator, "element_spec"):
        raise TypeError(f"`dataset_or_iterator` must be a tf.data.Dataset or tf.data.Iterator, but got {type(dataset_or_iterator)}.")
    return dataset_or_iterator.element_spec


def from_list(elements: Any, name: str | None = None) -> Any:
    """A dataset of the elements of a list, which all have one structure."""
    return context.v2(Dataset._of_list)(elements, name)


def to_variant(dataset: Any) -> Any:
    """The variant tensor that stands for a dataset in operations."""
    return dataset._variant_tensor


def from_variant(variant: Any, structure: Any) -> Any:
    """The dataset that a variant tensor stands for, with elements of these specs."""
    return Dataset._of(variant, structure)


def assert_cardinality(expected_cardinality: Any) -> Any:
    """For `Dataset.apply`: says how many elements there are, and fails with FailedPreconditionError if there are not."""
    return lambda dataset: dataset._asserting(expected_cardinality)


def dense_to_ragged_batch(batch_size: Any, drop_remainder: bool = False, row_splits_dtype: Any = dtypes.int64) -> Any:
    """For `Dataset.apply`: batches of tensors of unequal shape as ragged tensors."""
    return lambda dataset: dataset.ragged_batch(batch_size, drop_remainder, row_splits_dtype)


def shuffle_and_repeat(buffer_size: Any, count: Any = None, seed: Any = None) -> Any:
    """For `Dataset.apply`: shuffles, then repeats, in another order each time."""
    return lambda dataset: dataset._in_mode(lambda: dataset._shuffled_and_repeated(buffer_size, count, seed))


def save(dataset: Any, path: Any, compression: Any = None, shard_func: Any = None, checkpoint_args: Any = None) -> Any:
    """Writes the elements of a dataset to a folder, for `load`."""
    return dataset.save(path, compression, shard_func, checkpoint_args)


def load(path: Any, element_spec: Any = None, compression: Any = None, reader_func: Any = None) -> Any:
    """The dataset that `save` wrote."""
    return Dataset.load(path, element_spec, compression, reader_func)


def table_from_dataset(
    dataset: Any = None, num_oov_buckets: int = 0, vocab_size: Any = None, default_value: Any = None, hasher_spec: Any = None,
    key_dtype: Any = dtypes.string, name: str | None = None,
) -> Any:
    """A lookup table of a dataset of (key, value) pairs; `num_oov_buckets` gives unknown keys numbers behind them."""
    from emplace.eager import lookup

    made = lookup.DatasetInitializer(dataset)
    if num_oov_buckets:
        return lookup.StaticVocabularyTable(made, num_oov_buckets)
    return lookup.StaticHashTable(made, -1 if default_value is None else default_value)


def index_table_from_dataset(
    dataset: Any = None, num_oov_buckets: int = 0, vocab_size: Any = None, default_value: Any = -1, hasher_spec: Any = None,
    key_dtype: Any = dtypes.string, name: str | None = None,
) -> Any:
    """A lookup table that gives the keys of a dataset their numbers in order."""
    pairs = dataset.enumerate().map(lambda number, key: (key, number))
    return table_from_dataset(pairs, num_oov_buckets, vocab_size, default_value, hasher_spec, key_dtype, name)


def copy_to_device(target_device: Any, source_device: Any = "/cpu:0") -> Any:
    """For `Dataset.apply`: elements copied to a device as they are asked for."""
    from emplace.eager.datasets import devices

    return lambda dataset: dataset._in_mode(lambda: devices.copied(dataset, target_device))


def prefetch_to_device(device: Any, buffer_size: Any = None) -> Any:
    """For `Dataset.apply`: elements brought to a device ahead of their use."""
    from emplace.eager.datasets import devices

    size = AUTOTUNE if buffer_size is None else buffer_size
    return lambda dataset: dataset._in_mode(lambda: devices.copied(dataset, device).prefetch(size))


def pad_to_cardinality(cardinality: Any, mask_key: str = "valid") -> Any:
    """For `Dataset.apply`: so many elements by empty ones behind; `mask_key` says of each whether it was there."""

    def apply(dataset: Any) -> Any:
        if not isinstance(dataset.element_spec, dict):
            raise ValueError("`pad_to_cardinality` requires its input dataset to be a dictionary.")
        def empty() -> Any:
            made = nest.map_structure(lambda s: gen.apply("Fill", [[d or 0 for d in s.shape.as_list()], _nothing(s.dtype)], {}), dataset.element_spec)
            return type(dataset).from_tensors({**made, mask_key: False}).repeat()

        there = dataset.map(lambda x: {**x, mask_key: True})
        return there.concatenate(dataset._in_mode(empty)).take(cardinality)

    return apply


def _nothing(dtype: Any) -> Any:
    return ops.convert_to_tensor("" if dtype == dtypes.string else 0, dtype)


def _applied(word: str) -> Any:
    """An older name: a function of what the method takes, to be given to `Dataset.apply`."""

    def function(*args: Any, **kwargs: Any) -> Any:
        return lambda dataset: getattr(dataset, word)(*args, **kwargs)

    taken = list(inspect.signature(getattr(Dataset, word)).parameters.values())
    function.__signature__ = inspect.Signature([p for p in taken if p.name not in ("self", "name")])  # type: ignore[attr-defined]
    function.__name__ = function.__qualname__ = word
    function.__doc__ = f"For `Dataset.apply`: what the method `Dataset.{word}` does with these arguments."
    return function


unique, unbatch, ignore_errors, snapshot = _applied("unique"), _applied("unbatch"), _applied("ignore_errors"), _applied("snapshot")
take_while, group_by_window, rejection_resample = _applied("take_while"), _applied("group_by_window"), _applied("rejection_resample")
enumerate_dataset, scan, dense_to_sparse_batch = _applied("enumerate"), _applied("scan"), _applied("sparse_batch")
bucket_by_sequence_length = _applied("bucket_by_sequence_length")


def parallel_interleave(
    map_func: Any, cycle_length: Any, block_length: Any = 1, sloppy: Any = False, buffer_output_elements: Any = None, prefetch_input_elements: Any = None
) -> Any:
    """For `Dataset.apply`: `Dataset.interleave` with `cycle_length` inner datasets read at a time; with `sloppy` in whatever
    order elements are there."""
    rest = (map_func, cycle_length, block_length, sloppy, buffer_output_elements, prefetch_input_elements)
    return lambda dataset: dataset._in_mode(lambda: dataset._read_side_by_side(*rest))


def map_and_batch(map_func: Any, batch_size: Any, num_parallel_batches: Any = None, drop_remainder: Any = False, num_parallel_calls: Any = None) -> Any:
    """For `Dataset.apply`: `map`, then `batch`, in one stage."""
    if num_parallel_batches is not None and num_parallel_calls is not None:
        raise ValueError("`map_and_batch` allows only one of `num_parallel_batches` and `num_parallel_calls` to be set, but both were set.")
    calls = num_parallel_calls if num_parallel_calls is not None else batch_size * (num_parallel_batches or 1)
    return lambda dataset: dataset._in_mode(lambda: dataset._map_and_batch(map_func, batch_size, calls, drop_remainder))


def get_single_element(dataset: Any) -> Any:
    """The one element of a dataset; InvalidArgumentError if there are none or more."""
    return dataset.get_single_element()


def get_next_as_optional(iterator: Any) -> Any:
    """The next element of an iterator as an Optional, empty at the end."""
    return iterator.get_next_as_optional()


def choose_from_datasets(datasets: Any, choice_dataset: Any, stop_on_empty_dataset: bool = False) -> Any:
    """Elements of several datasets in turn, as the numbers (int64 scalars) in `choice_dataset` say."""
    return type(choice_dataset).choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset)


def sample_from_datasets(datasets: Any, weights: Any = None, seed: Any = None, stop_on_empty_dataset: bool = False) -> Any:
    """Elements of several datasets at random, by `weights`."""
    found = list(datasets)
    kind = DatasetV1 if found and isinstance(found[0], DatasetV1) else Dataset
    return kind.sample_from_datasets(found, weights, seed, stop_on_empty_dataset)


class Reducer:
    """What `group_by_reducer` does with each group: begins, takes an element in, ends."""

    def __init__(self, init_func: Any, reduce_func: Any, finalize_func: Any) -> None:
        self.init_func, self.reduce_func, self.finalize_func = init_func, reduce_func, finalize_func


def group_by_reducer(key_func: Any, reducer: Reducer) -> Any:
    """For `Dataset.apply`: one element for each key, an int64 scalar from `key_func`: the reduction of all its elements."""
    return lambda dataset: dataset._in_mode(lambda: dataset._group_by_reducer(key_func, reducer))


def at(dataset: Any, index: Any) -> Any:
    """The element with a number, without those before it."""
    taken = dataset.skip(index).take(1)
    return taken.get_single_element()


