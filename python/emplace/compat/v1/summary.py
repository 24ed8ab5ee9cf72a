"""tf.summary: what TensorBoard shows."""

from __future__ import annotations

from typing import Any

from emplace.framework.event_writer import FileWriter as FileWriter, FileWriterCache as FileWriterCache
from emplace.framework.summaries import (
    audio as audio, histogram as histogram, image as image, merge as merge, merge_all as merge_all, scalar as scalar,
    tensor_summary as tensor_summary, text as text,
)
from emplace.proto.event_pb2 import (
    Event as Event, SessionLog as SessionLog, Summary as Summary, SummaryDescription as SummaryDescription, TaggedRunMetadata as TaggedRunMetadata,
)
from emplace.framework import listing as _listing


def get_summary_description(node_def: Any) -> Any:
    """The SummaryDescription that a TensorSummary node carries as JSON."""
    from google.protobuf import json_format

    if node_def.op != "TensorSummary":
        raise ValueError(f"Cannot get_summary_description on {node_def.op}")
    return json_format.Parse(node_def.attr["description"].s.decode(), SummaryDescription())

__dir__ = _listing.of_module(globals())
