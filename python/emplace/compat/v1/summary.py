"""tf.summary: what TensorBoard shows."""

from __future__ import annotations

from typing import Any

from emplace.framework.event_writer import FileWriter as FileWriter
from emplace.framework.event_writer import FileWriterCache as FileWriterCache
from emplace.framework.ops import GraphKeys
from emplace.proto.event_pb2 import Event as Event
from emplace.proto.event_pb2 import SessionLog as SessionLog
from emplace.proto.event_pb2 import Summary as Summary
from emplace.proto.event_pb2 import SummaryDescription as SummaryDescription


def all_v2_summary_ops() -> list[Any]:
    return []


def get_summary_description(node_def: Any) -> Any:
    from google.protobuf import json_format

    if node_def.op != "TensorSummary":
        raise ValueError(f"Cannot get_summary_description on {node_def.op}")
    return json_format.Parse(node_def.attr["description"].s.decode(), SummaryDescription())


def merge_all(key: str = GraphKeys.SUMMARIES, scope: str | None = None, name: str | None = None) -> Any:
    from emplace.framework import ops

    found = ops.get_collection(key, scope)
    return __getattr__("merge")(found, name=name) if found else None


def __getattr__(name: str) -> Any:
    """The operations live in a module of their own."""
    import importlib

    try:
        return getattr(importlib.import_module("emplace.framework.summary_ops"), name)
    except (ModuleNotFoundError, AttributeError):
        raise AttributeError(f"module 'emplace.compat.v1.summary' has no attribute {name!r}") from None
