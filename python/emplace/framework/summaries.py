"""tf.summary: operations that make messages for event files."""

from __future__ import annotations

import re
from typing import Any

from emplace.framework import ops
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import GraphKeys


def _clean(name: str) -> str:
    return re.sub(r"[^-/\w\.]", "_", name).lstrip("/")


def _collect(made: Any, collections: Any) -> Any:
    for c in [GraphKeys.SUMMARIES] if collections is None else list(collections):
        ops.add_to_collection(c, made)
    return made


def _tagged(op: str, name: str, values: Any, collections: Any, family: str | None, tag_argument: str) -> Any:
    name = _clean(name)
    family = None if family is None else _clean(family)
    with ops.name_scope(f"{family}/{name}" if family else name, values=[values]) as scope:
        tag = scope.rstrip("/")
        if family:
            tag = f"{family}/{tag}"
        tags = ops.convert_to_tensor(tag, name=tag_argument)
        return _collect(_op(op, [tags, values], {}, scope), collections)


def scalar(name: str, tensor: Any, collections: Any = None, family: str | None = None) -> Any:
    return _tagged("ScalarSummary", name, tensor, collections, family, "tags")


def histogram(name: str, values: Any, collections: Any = None, family: str | None = None) -> Any:
    return _tagged("HistogramSummary", name, values, collections, family, "tag")


def merge(inputs: Any, collections: Any = None, name: str | None = None) -> Any:
    with ops.name_scope(name, "Merge", inputs):
        made = _op("MergeSummary", [list(inputs)], {}, name)
        for c in collections or ():
            ops.add_to_collection(c, made)
        return made


def merge_all(key: Any = GraphKeys.SUMMARIES, scope: str | None = None, name: str | None = None) -> Any:
    found = ops.get_collection(key, scope)
    return merge(found, name=name) if found else None
