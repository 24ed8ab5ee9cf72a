"""Batches of elements of like length."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from emplace.eager import nest
from emplace.framework import array_ops, check_ops, constant_op, dtypes, gen, math_ops, ops


class Padding(NamedTuple):
    """How elements of one bucket come to be of one size."""

    shapes: Any
    values: Any
    to_boundary: bool
    none: bool
    drop_remainder: bool


def by_length(dataset: Any, length_of: Any, boundaries: Any, batch_sizes: Any, pad: Padding, name: str | None) -> Any:
    edges, sizes = list(boundaries), list(batch_sizes)
    if len(sizes) != len(edges) + 1:
        raise ValueError(f"`len(bucket_batch_sizes)` must equal `len(bucket_boundaries) + 1` but `len(bucket_batch_sizes)={len(sizes)}` and `len(bucket_boundaries)={len(edges)}`.")
    size_of = constant_op.constant(sizes, dtypes.int64)
    limits = np.iinfo(np.int32)

    def bucket(*element: Any) -> Any:
        length = length_of(*element)
        at_least = gen.apply("LessEqual", [[limits.min, *edges], length], {})
        below = gen.apply("Less", [length, [*edges, limits.max]], {})
        return math_ops.reduce_min(array_ops.where(math_ops.logical_and(at_least, below)))

    def window(key: Any) -> Any:
        return size_of[key]

    def together(key: Any, group: Any) -> Any:
        size = window(key)
        if pad.none:
            return group.batch(size, drop_remainder=pad.drop_remainder, name=name)
        filler = _boundary(key, edges, len(sizes)) if pad.to_boundary else None
        given = pad.shapes or nest.map_structure(lambda s: s.shape, group.element_spec)
        shapes = _padded_shapes(given, filler)
        return group.padded_batch(size, shapes, pad.values, drop_remainder=pad.drop_remainder, name=name)

    return dataset.group_by_window(key_func=bucket, reduce_func=together, window_size_func=window, name=name)


def _boundary(key: Any, edges: list[int], count: int) -> Any:
    """The longest that an element of this bucket can be; the last bucket has none."""
    said = "When pad_to_bucket_boundary=True, elements must have length < max(bucket_boundaries)."
    check = check_ops.assert_less(key, constant_op.constant(count - 1, dtypes.int64), message=said)
    with ops.control_dependencies([check]):
        return constant_op.constant(edges, dtypes.int64)[key] - 1


def _padded_shapes(given: Any, filler: Any) -> Any:
    def one(shape: Any) -> Any:
        dims = shape.as_list() if hasattr(shape, "as_list") else list(shape)
        return [filler if d is None or isinstance(d, int) and d < 0 else d for d in dims] if filler is not None else [-1 if d is None else d for d in dims]

    if isinstance(given, dict):
        return {k: _padded_shapes(v, filler) for k, v in given.items()}
    if isinstance(given, tuple) and any(not isinstance(g, int) and g is not None for g in given):
        return tuple(_padded_shapes(g, filler) for g in given)
    return one(given)
