"""tf.data.experimental for graph programs: older names of what `Dataset` has, and sources whose elements need no graph."""

from __future__ import annotations

import functools
from typing import Any

from emplace.eager import context as _context, dataset_mixing as _mixing
from emplace.eager.dataset_experimental import (
    Reducer as Reducer, dense_to_sparse_batch as dense_to_sparse_batch, enumerate_dataset as enumerate_dataset,
    group_by_window as group_by_window, ignore_errors as ignore_errors, map_and_batch as map_and_batch,
    parallel_interleave as parallel_interleave, rejection_resample as rejection_resample, scan as scan, shuffle_and_repeat as shuffle_and_repeat,
    snapshot as snapshot, take_while as take_while, unbatch as unbatch, unique as unique,
    bucket_by_sequence_length as bucket_by_sequence_length, dense_to_ragged_batch as dense_to_ragged_batch, from_list as _from_list,
    get_single_element as get_single_element,
)
from emplace.eager.dataset_options import (
    AutoShardPolicy as AutoShardPolicy, AutotuneAlgorithm as AutotuneAlgorithm, AutotuneOptions as AutotuneOptions,
    DistributeOptions as DistributeOptions, ExternalStatePolicy as ExternalStatePolicy, OptimizationOptions as OptimizationOptions,
    ThreadingOptions as ThreadingOptions,
)
from emplace.framework.dataset_transforms import known as _known
from emplace.framework.datasets import (
    AUTOTUNE as AUTOTUNE, INFINITE_CARDINALITY as INFINITE_CARDINALITY, UNKNOWN_CARDINALITY as UNKNOWN_CARDINALITY, Dataset as _Dataset,
)
from emplace.framework import listing as _listing

Counter, RandomDataset = _Dataset.counter, _Dataset.random
choose_from_datasets, sample_from_datasets = _Dataset.choose_from_datasets, _Dataset.sample_from_datasets
map_and_batch_with_legacy_function = map_and_batch


def get_structure(dataset_or_iterator: Any) -> Any:
    """The specs (dtype and shape) of the elements of a dataset or an iterator."""
    return dataset_or_iterator.element_spec


def cardinality(dataset: Any) -> Any:
    """The number of elements as an int64 tensor, -1 for endless and -2 for unknown."""
    return dataset.cardinality()


def prefetch_to_device(device: Any, buffer_size: Any = None) -> Any:
    """A transformation that leaves the dataset as it is: elements travel to a device when an op there needs them."""
    return lambda dataset: dataset


def _source(make: Any) -> Any:
    @functools.wraps(make)
    def source(*args: Any, **kwargs: Any) -> Any:
        with _context.eager_mode():
            return _known(make(*args, **kwargs))

    return source


from_list, make_csv_dataset, CsvDataset = _source(_from_list), _source(_mixing.make_csv_dataset), _source(_mixing.CsvDataset)

__dir__ = _listing.of_module(globals())
