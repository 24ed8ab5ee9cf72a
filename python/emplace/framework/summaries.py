"""tf.summary: operations that make messages for event files."""

from __future__ import annotations

import contextlib
import re
from typing import Any, Iterator

from emplace.framework import ops
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import GraphKeys


def _clean(name: str) -> str:
    return re.sub(r"[^-/\w\.]", "_", name).lstrip("/")


def _collect(made: Any, collections: Any) -> Any:
    for c in [GraphKeys.SUMMARIES] if collections is None else list(collections):
        ops.add_to_collection(c, made)
    return made


@contextlib.contextmanager
def _scope(name: str, family: str | None, values: list[Any]) -> Iterator[tuple[str, str]]:
    """The scope of a summary's nodes, and its tag."""
    family = None if family is None else _clean(family)
    with ops.name_scope(f"{family}/{name}" if family else name, values=values) as scope:
        tag = scope.rstrip("/")
        yield scope, f"{family}/{tag}" if family else tag


def _tagged(op: str, name: str, values: Any, collections: Any, family: str | None, tag_argument: str, **attrs: Any) -> Any:
    with _scope(_clean(name), family, [values]) as (scope, tag):
        tags = ops.convert_to_tensor(tag, name=tag_argument)
        return _collect(_op(op, [tags, values], attrs, scope), collections)


def scalar(name: str, tensor: Any, collections: Any = None, family: str | None = None) -> Any:
    """A serialized summary of one number, added to the graph's summaries."""
    return _tagged("ScalarSummary", name, tensor, collections, family, "tags")


def histogram(name: str, values: Any, collections: Any = None, family: str | None = None) -> Any:
    """A serialized summary of how values are spread, added to the graph's summaries."""
    return _tagged("HistogramSummary", name, values, collections, family, "tag")


def merge(inputs: Any, collections: Any = None, name: str | None = None) -> Any:
    """One serialized summary out of several."""
    with ops.name_scope(name, "Merge", inputs):
        made = _op("MergeSummary", [list(inputs)], {}, name)
        for c in collections or ():
            ops.add_to_collection(c, made)
        return made


def merge_all(key: Any = GraphKeys.SUMMARIES, scope: str | None = None, name: str | None = None) -> Any:
    """One serialized summary of all in the collection, or None if there are none."""
    found = ops.get_collection(key, scope)
    return merge(found, name=name) if found else None


def image(name: str, tensor: Any, max_outputs: int = 3, collections: Any = None, family: str | None = None) -> Any:
    """A serialized summary of up to `max_outputs` images, added to the graph's summaries."""
    return _tagged("ImageSummary", name, tensor, collections, family, "tag", max_images=max_outputs)


def audio(name: str, tensor: Any, sample_rate: Any, max_outputs: int = 3, collections: Any = None, family: str | None = None) -> Any:
    """A serialized summary of up to `max_outputs` clips of sound from -1 to 1, added to the graph's summaries."""
    from emplace.framework import dtypes

    with _scope(_clean(name), family, [tensor]) as (scope, tag):
        rate = ops.convert_to_tensor(sample_rate, dtype=dtypes.float32, name="sample_rate")
        tags = ops.convert_to_tensor(tag, name="tag")
        return _collect(_op("AudioSummaryV2", [tags, tensor, rate], {"max_outputs": max_outputs}, scope), collections)


def tensor_summary(
    name: str, tensor: Any, summary_description: Any = None, collections: Any = None, summary_metadata: Any = None,
    family: str | None = None, display_name: Any = None,
) -> Any:
    """A serialized summary of any tensor, added to the graph's summaries."""
    from emplace.proto.event_pb2 import SummaryMetadata

    about = SummaryMetadata() if summary_metadata is None else summary_metadata
    if display_name is not None:
        about.display_name = display_name
    if summary_description is not None:
        about.summary_description = summary_description
    with _scope(_clean(name), family, [tensor]) as (scope, tag):
        tags = ops.convert_to_tensor(tag, name="tag")
        data = ops.convert_to_tensor(about.SerializeToString(), name="serialized_summary_metadata")
        return _collect(_op("TensorSummaryV2", [tags, tensor, data], {}, scope), collections)


def text(name: str, tensor: Any, collections: Any = None) -> Any:
    """A serialized summary of strings, added to the graph's summaries."""
    from emplace.framework import dtypes
    from emplace.proto.event_pb2 import SummaryMetadata

    tensor = ops.convert_to_tensor(tensor)
    if tensor.dtype != dtypes.string:
        raise ValueError(f"Expected tensor {tensor.name} to have dtype string, got {tensor.dtype}")
    about = SummaryMetadata()
    about.plugin_data.plugin_name = "text"
    return tensor_summary(name, tensor, collections=collections, summary_metadata=about)
