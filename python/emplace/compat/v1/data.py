"""tf.data for graph programs."""

from __future__ import annotations

import types
from typing import Any

from emplace.eager.dataset_options import Options as Options, ThreadingOptions as ThreadingOptions
from emplace.framework.dataset_iterators import Iterator as Iterator
from emplace.framework.datasets import (
    AUTOTUNE as AUTOTUNE, INFINITE_CARDINALITY as INFINITE_CARDINALITY, UNKNOWN_CARDINALITY as UNKNOWN_CARDINALITY, Dataset as Dataset,
    FixedLengthRecordDataset as FixedLengthRecordDataset, TextLineDataset as TextLineDataset, TFRecordDataset as TFRecordDataset,
    get_output_classes as get_output_classes, get_output_shapes as get_output_shapes, get_output_types as get_output_types,
    make_initializable_iterator as make_initializable_iterator, make_one_shot_iterator as make_one_shot_iterator,
)


def _shuffle_and_repeat(buffer_size: Any, count: Any = None, seed: Any = None) -> Any:
    return lambda dataset: dataset.shuffle(buffer_size, seed).repeat(count)


def _map_and_batch(
    map_func: Any, batch_size: Any, num_parallel_batches: Any = None, drop_remainder: Any = False, num_parallel_calls: Any = None
) -> Any:
    return lambda dataset: dataset.map(map_func).batch(batch_size, drop_remainder)


def _parallel_interleave(map_func: Any, cycle_length: Any, block_length: Any = 1, sloppy: Any = False, **_: Any) -> Any:
    return lambda dataset: dataset.interleave(map_func, cycle_length, block_length)


experimental = types.SimpleNamespace(
    AUTOTUNE=AUTOTUNE, shuffle_and_repeat=_shuffle_and_repeat, map_and_batch=_map_and_batch, parallel_interleave=_parallel_interleave,
    get_structure=lambda dataset: dataset.element_spec, prefetch_to_device=lambda device, buffer_size=None: lambda dataset: dataset,
    unbatch=lambda: lambda dataset: dataset.unbatch(), enumerate_dataset=lambda start=0: lambda dataset: dataset.enumerate(start),
)
del types
