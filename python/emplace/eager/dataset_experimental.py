"""`tf.data.experimental`: older names of what datasets do now."""

from __future__ import annotations

from typing import Any

from emplace.eager import lookup, nest, tensor_spec
from emplace.eager.dataset import Dataset, _spec, _tensors
from emplace.framework import dtypes, errors


def cardinality(dataset: Any) -> Any:
    return dataset.cardinality()


def get_structure(dataset_or_iterator: Any) -> Any:
    if not hasattr(dataset_or_iterator, "element_spec"):
        raise TypeError(f"`dataset_or_iterator` must be a tf.data.Dataset or tf.data.Iterator, but got {type(dataset_or_iterator)}.")
    return dataset_or_iterator.element_spec


def from_list(elements: Any, name: str | None = None) -> Dataset:
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
    return lambda dataset: dataset.bucket_by_sequence_length(*args, **kwargs)


def dense_to_ragged_batch(batch_size: Any, drop_remainder: bool = False, row_splits_dtype: Any = dtypes.int64) -> Any:
    return lambda dataset: dataset.ragged_batch(batch_size, drop_remainder, row_splits_dtype)


def shuffle_and_repeat(buffer_size: Any, count: Any = None, seed: Any = None) -> Any:
    return lambda dataset: dataset.shuffle(buffer_size, seed).repeat(count)


def save(dataset: Any, path: Any, compression: Any = None, shard_func: Any = None, checkpoint_args: Any = None) -> None:
    dataset.save(path, compression, shard_func, checkpoint_args)


def load(path: Any, element_spec: Any = None, compression: Any = None, reader_func: Any = None) -> Any:
    return Dataset.load(path, element_spec, compression, reader_func)


def table_from_dataset(
    dataset: Any = None, num_oov_buckets: int = 0, vocab_size: Any = None, default_value: Any = None, hasher_spec: Any = None,
    key_dtype: Any = dtypes.string, name: str | None = None,
) -> Any:
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
