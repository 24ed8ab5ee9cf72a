"""tf.data for graph programs."""

from __future__ import annotations

from emplace.compat.v1 import _data_experimental as experimental
from emplace.eager.datasets.building import AUTOTUNE as AUTOTUNE, INFINITE as INFINITE_CARDINALITY, UNKNOWN as UNKNOWN_CARDINALITY
from emplace.eager.datasets.dataset import (
    DatasetV1 as Dataset, output_classes as get_output_classes, output_shapes as get_output_shapes, output_types as get_output_types,
)
from emplace.eager.datasets.files import (
    FixedLengthRecordDatasetV1 as FixedLengthRecordDataset, TextLineDatasetV1 as TextLineDataset, TFRecordDatasetV1 as TFRecordDataset,
)
from emplace.eager.datasets.graph_iterators import (
    Iterator as Iterator, initializable as make_initializable_iterator, one_shot as make_one_shot_iterator,
)
from emplace.eager.datasets.iterators import NumpyIterator as NumpyIterator
from emplace.eager.datasets.options import Options as Options, ThreadingOptions as ThreadingOptions
from emplace.eager.optional import DatasetSpec as DatasetSpec
from emplace.framework import listing as _listing

__dir__ = _listing.of_module(globals())
