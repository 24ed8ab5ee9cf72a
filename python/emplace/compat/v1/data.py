"""tf.data for graph programs."""

from __future__ import annotations

from emplace.compat.v1 import _data_experimental as experimental
from emplace.eager.dataset_options import Options as Options, ThreadingOptions as ThreadingOptions
from emplace.eager.optional import DatasetSpec as DatasetSpec
from emplace.framework.dataset_iterators import Iterator as Iterator
from emplace.framework.datasets import (
    AUTOTUNE as AUTOTUNE, INFINITE_CARDINALITY as INFINITE_CARDINALITY, UNKNOWN_CARDINALITY as UNKNOWN_CARDINALITY, Dataset as Dataset,
    FixedLengthRecordDataset as FixedLengthRecordDataset, TextLineDataset as TextLineDataset, TFRecordDataset as TFRecordDataset,
    get_output_classes as get_output_classes, get_output_shapes as get_output_shapes, get_output_types as get_output_types,
    make_initializable_iterator as make_initializable_iterator, make_one_shot_iterator as make_one_shot_iterator,
)
from emplace.framework import listing as _listing

__dir__ = _listing.of_module(globals())
