"""`tf.data.experimental`: older names of what datasets do now."""

from __future__ import annotations

from typing import Any, TYPE_CHECKING

from emplace.eager import lookup, nest, tensor_spec
from emplace.eager.dataset import Dataset, _spec, _tensors
from emplace.framework import dtypes, errors

if TYPE_CHECKING:
    from emplace.framework.tensor import Tensor


def cardinality(dataset: Any) -> Tensor:
    """The number of elements as an int64 tensor, -1 for endless and -2 for unknown."""
    return dataset.cardinality()


def get_structure(dataset_or_iterator: Any) -> Any:
    """The specs (dtype and shape) of the elements of a dataset or an iterator."""
    if not hasattr(dataset_or_iterator, "element_spec"):
        raise TypeError(f"`dataset_or_iterator` must be a tf.data.Dataset or tf.data.Iterator, but got {type(dataset_or_iterator)}.")
    return dataset_or_iterator.element_spec


def from_list(elements: Any, name: str | None = None) -> Dataset:
    """A dataset of the elements of a list, which all have one structure."""
    if not isinstance(elements, list):
        raise TypeError(f"Expected a list of elements, got {type(elements)}")
    if not elements:
        raise ValueError("`elements` must not be empty.")
    items = [_tensors(e) for e in elements]
    first = items[0]
    for item in items[1:]:
        nest.assert_same_structure(first, item)
    columns = zip(*(nest.flatten(i) for i in items))
    specs = [tensor_spec.TensorSpec(_common(c), c[0].dtype) for c in columns]
    return Dataset(lambda: iter(items), nest.pack_sequence_as(_spec(first, lambda s: s), specs), len(items))


def _common(parts: Any) -> Any:
    """The shape of all of them; None where they differ."""
    shapes = [p.shape.as_list() for p in parts]
    if any(len(s) != len(shapes[0]) for s in shapes):
        return None
    return [sizes[0] if len(set(sizes)) == 1 else None for sizes in zip(*shapes)]


def assert_cardinality(expected_cardinality: int) -> Any:
    """For `Dataset.apply`: says how many elements there are, and fails with FailedPreconditionError if there are not."""
    def apply(dataset: Any) -> Any:
        def rows() -> Any:
            n = 0
            for item in dataset:
                n += 1
                if n > expected_cardinality >= 0:
                    raise errors.FailedPreconditionError(None, None, f"Input dataset was expected to contain {expected_cardinality} elements but contained at least {n} elements.")
                yield item
            if n != expected_cardinality:
                raise errors.FailedPreconditionError(None, None, f"Input dataset was expected to contain {expected_cardinality} elements but contained only {n} elements.")

        return Dataset(rows, dataset.element_spec, expected_cardinality)

    return apply


def bucket_by_sequence_length(*args: Any, **kwargs: Any) -> Any:
    """For `Dataset.apply`: batches of elements of like length, as the method of this name makes them."""
    return lambda dataset: dataset.bucket_by_sequence_length(*args, **kwargs)


def dense_to_ragged_batch(batch_size: Any, drop_remainder: bool = False, row_splits_dtype: Any = dtypes.int64) -> Any:
    """For `Dataset.apply`: batches of tensors of unequal shape as ragged tensors."""
    return lambda dataset: dataset.ragged_batch(batch_size, drop_remainder, row_splits_dtype)


def shuffle_and_repeat(buffer_size: Any, count: Any = None, seed: Any = None) -> Any:
    """For `Dataset.apply`: shuffles, then repeats, in another order each time."""
    return lambda dataset: dataset.shuffle(buffer_size, seed).repeat(count)


def save(dataset: Any, path: Any, compression: Any = None, shard_func: Any = None, checkpoint_args: Any = None) -> None:
    """Writes the elements of a dataset to a folder, for `load`."""
    dataset.save(path, compression, shard_func, checkpoint_args)


def load(path: Any, element_spec: Any = None, compression: Any = None, reader_func: Any = None) -> Any:
    """The dataset that `save` wrote."""
    return Dataset.load(path, element_spec, compression, reader_func)


def table_from_dataset(
    dataset: Any = None, num_oov_buckets: int = 0, vocab_size: Any = None, default_value: Any = None, hasher_spec: Any = None,
    key_dtype: Any = dtypes.string, name: str | None = None,
) -> Any:
    """A lookup table of a dataset of (key, value) pairs; `num_oov_buckets` gives unknown keys numbers behind them."""
    made = lookup.DatasetInitializer(dataset)
    if num_oov_buckets:
        return lookup.StaticVocabularyTable(made, num_oov_buckets)
    return lookup.StaticHashTable(made, -1 if default_value is None else default_value)


def prefetch_to_device(device: Any, buffer_size: Any = None) -> Any:
    """Elements on a device: copied there as they are asked for."""
    from emplace.eager import context

    def apply(dataset: Any) -> Any:
        def rows() -> Any:
            for item in dataset:
                with context.device(device):
                    moved = nest.map_structure(lambda t: t if hasattr(t, "_parts") else context.engine().copy_to(t, context.current_device()), item)
                yield moved

        return Dataset(rows, dataset.element_spec, dataset._n)

    return apply


def _applied(word: str) -> Any:
    """An older name: a function of what the method takes, to be given to `Dataset.apply`."""

    def function(*args: Any, **kwargs: Any) -> Any:
        return lambda dataset: getattr(dataset, word)(*args, **kwargs)

    function.__name__ = function.__qualname__ = word
    function.__doc__ = f"For `Dataset.apply`: what the method `Dataset.{word}` does with these arguments."
    return function


unique, unbatch, ignore_errors, snapshot = _applied("unique"), _applied("unbatch"), _applied("ignore_errors"), _applied("snapshot")
take_while, group_by_window, rejection_resample = _applied("take_while"), _applied("group_by_window"), _applied("rejection_resample")
enumerate_dataset, scan, dense_to_sparse_batch = _applied("enumerate"), _applied("scan"), _applied("sparse_batch")


def parallel_interleave(map_func: Any, cycle_length: int, block_length: int = 1, *_: Any, **__: Any) -> Any:
    """For `Dataset.apply`: `Dataset.interleave` with `cycle_length` inner datasets at a time."""
    return lambda dataset: dataset.interleave(map_func, cycle_length, block_length)


def map_and_batch(map_func: Any, batch_size: Any, num_parallel_batches: Any = None, drop_remainder: bool = False, num_parallel_calls: Any = None) -> Any:
    """For `Dataset.apply`: `map`, then `batch`."""
    return lambda dataset: dataset.map(map_func).batch(batch_size, drop_remainder)


def get_single_element(dataset: Any) -> Any:
    """The one element of a dataset; InvalidArgumentError if there are none or more."""
    return dataset.get_single_element()


def get_next_as_optional(iterator: Any) -> Any:
    """The next element of an iterator as an Optional, empty at the end."""
    return iterator.get_next_as_optional()


class Reducer:
    """What `group_by_reducer` does with each group: begins, takes an element in, ends."""

    def __init__(self, init_func: Any, reduce_func: Any, finalize_func: Any) -> None:
        self.init_func, self.reduce_func, self.finalize_func = init_func, reduce_func, finalize_func


def group_by_reducer(key_func: Any, reducer: Reducer) -> Any:
    """For `Dataset.apply`: one element for each key, an int64 scalar from `key_func`: the reduction of all its elements."""
    def apply(dataset: Any) -> Any:
        def call(function: Any, item: Any) -> Any:
            return function(*item) if isinstance(item, tuple) else function(item)

        def rows() -> Any:
            states: dict[int, Any] = {}
            for item in dataset:
                key = _tensors(call(key_func, item))
                n = int(key)
                state = states[n] if n in states else reducer.init_func(key)
                states[n] = reducer.reduce_func(state, item)
            for state in states.values():
                yield _tensors(reducer.finalize_func(state))

        first = next(rows(), None)
        return Dataset(rows, dataset.element_spec if first is None else _spec(first, lambda s: s), -2)

    return apply
