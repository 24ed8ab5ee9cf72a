"""tf.data.experimental for graph programs: older names of what `Dataset` has."""

from __future__ import annotations

from typing import Any

from emplace.eager.datasets.building import AUTOTUNE as AUTOTUNE, INFINITE as INFINITE_CARDINALITY, UNKNOWN as UNKNOWN_CARDINALITY
from emplace.eager.datasets.dataset import DatasetV1 as _Dataset
from emplace.eager.datasets.experimental import (
    Reducer as Reducer, SHARD_HINT as SHARD_HINT, assert_cardinality as assert_cardinality, bucket_by_sequence_length as bucket_by_sequence_length,
    cardinality as cardinality, choose_from_datasets as choose_from_datasets, copy_to_device as copy_to_device,
    dense_to_ragged_batch as dense_to_ragged_batch, dense_to_sparse_batch as dense_to_sparse_batch, enumerate_dataset as enumerate_dataset,
    from_variant as from_variant, get_next_as_optional as get_next_as_optional, get_single_element as get_single_element,
    get_structure as get_structure, group_by_reducer as group_by_reducer, group_by_window as group_by_window, ignore_errors as ignore_errors,
    index_table_from_dataset as index_table_from_dataset, table_from_dataset as table_from_dataset,
    map_and_batch as map_and_batch, pad_to_cardinality as pad_to_cardinality, parallel_interleave as parallel_interleave,
    prefetch_to_device as prefetch_to_device, rejection_resample as rejection_resample, sample_from_datasets as sample_from_datasets, scan as scan,
    shuffle_and_repeat as shuffle_and_repeat, snapshot as snapshot, take_while as take_while, to_variant as to_variant, unbatch as unbatch,
    unique as unique,
)
from emplace.eager.datasets.files import CsvDatasetV1 as CsvDataset, SqlDatasetV1 as SqlDataset
from emplace.eager.datasets.options import (
    AutoShardPolicy as AutoShardPolicy, AutotuneAlgorithm as AutotuneAlgorithm, AutotuneOptions as AutotuneOptions,
    DistributeOptions as DistributeOptions, ExternalStatePolicy as ExternalStatePolicy, OptimizationOptions as OptimizationOptions,
    ServiceOptions as ServiceOptions, ThreadingOptions as ThreadingOptions,
)
from emplace.eager.datasets.functions import enable_debug_mode as enable_debug_mode
from emplace.eager.datasets.reports import get_model_proto as get_model_proto
from emplace.eager.datasets.saved import TFRecordWriter as TFRecordWriter
from emplace.eager.datasets.saveables import make_saveable_from_iterator as make_saveable_from_iterator
from emplace.eager.datasets.service import distributed_save as distributed_save
from emplace.compat.v1 import _data_service as service
from emplace.eager.datasets.tables import make_batched_features_dataset as make_batched_features_dataset
from emplace.eager.datasets.tables import make_csv_dataset as make_csv_dataset, parse_example_dataset as parse_example_dataset
from emplace.eager.optional import DatasetSpec as DatasetStructure, Optional as Optional, OptionalSpec as OptionalStructure
from emplace.eager.ragged.spec import RaggedTensorSpec as _RaggedTensorSpec
from emplace.eager.sparse.tensor import SparseTensorSpec as _SparseTensorSpec
from emplace.eager.tensor_spec import TensorSpec as _TensorSpec, TypeSpec as Structure
from emplace.framework import listing as _listing
from emplace.framework.lookup_ops import DatasetInitializer as DatasetInitializer

Counter, RandomDataset = _Dataset.counter, _Dataset.random
map_and_batch_with_legacy_function = map_and_batch


def from_list(elements: Any, name: str | None = None) -> Any:
    """A dataset of the elements of a list, which all have one structure."""
    return _Dataset._of_list(elements, name)


def TensorStructure(dtype: Any, shape: Any) -> Any:
    """The older name of `tf.TensorSpec`."""
    return _TensorSpec(shape, dtype)


def SparseTensorStructure(dtype: Any, shape: Any) -> Any:
    """The older name of `tf.SparseTensorSpec`."""
    return _SparseTensorSpec(shape, dtype)


def RaggedTensorStructure(dtype: Any, shape: Any, ragged_rank: Any) -> Any:
    """The older name of `tf.RaggedTensorSpec`."""
    return _RaggedTensorSpec(shape, dtype, ragged_rank)


__dir__ = _listing.of_module(globals())
