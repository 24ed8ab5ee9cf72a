"""tf.io: graphs and files."""

from __future__ import annotations

from typing import Any

from emplace.compat.v1 import gfile as gfile
from emplace.framework.event_writer import read_records as tf_record_iterator
from emplace.framework.graph_io import write_graph as write_graph
from emplace.framework.image_files import decode_image as decode_image
from emplace.framework.image_files import is_jpeg as is_jpeg
from emplace.framework.queues import (
    PaddingFIFOQueue as PaddingFIFOQueue, PriorityQueue as PriorityQueue, QueueBase as QueueBase, RandomShuffleQueue as RandomShuffleQueue,
)

__all__ = [
    "PaddingFIFOQueue", "PriorityQueue", "QueueBase", "RandomShuffleQueue", "decode_image", "gfile", "is_jpeg", "tf_record_iterator",
    "write_graph",
]
_OF_RECORDS = ("TFRecordCompressionType", "TFRecordOptions", "TFRecordWriter")


def __getattr__(name: str) -> Any:
    from emplace.compat import v1

    if name in _OF_RECORDS:
        from emplace.eager import records

        return getattr(records, name)
    found = v1._found(f"io.{name}")
    if found is None:
        raise AttributeError(f"module 'emplace.compat.v1.io' has no attribute {name!r}")
    return found


def __dir__() -> list[str]:
    from emplace.compat import v1

    return sorted({*__all__, *_OF_RECORDS, *v1._found_below("io")})
