"""Evenly spaced numbers, as a graph of the operations that TensorFlow makes them of."""

from __future__ import annotations

from typing import Any, TYPE_CHECKING

from emplace.framework import array_ops, dtypes, index_values, math_ops
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import convert_to_tensor as _convert
from emplace.framework.ops import name_scope

if TYPE_CHECKING:
    from emplace.framework.tensor import Tensor


def linspace(start: Any, stop: Any, num: Any, name: str | None = None, axis: int = 0) -> Tensor:
    """`num` numbers from `start` to `stop`, both included, along a new axis."""
    with name_scope(name, "linspace", [start, stop]):
        start = _convert(start, name="start")
        stop = _convert(stop, dtype=start.dtype.base_dtype, name="stop")
        index_values.check(num, dtypes.int32)
        count = _op("Cast", [_convert(num, name="num")], {"DstT": dtypes.int32})
        math_ops.cast(count, start.dtype.base_dtype)
        both = _op("BroadcastArgs", [array_ops.shape(start), array_ops.shape(stop)], {})
        start, stop = (_op("BroadcastTo", [end, both], {}) for end in (start, stop))
        first, last = array_ops.expand_dims(start, axis), array_ops.expand_dims(stop, axis)
        shape = array_ops.shape(first)
        rank = array_ops.shape(shape)[0]
        at = array_ops.where_v2(axis >= 0, axis, rank + axis)
        inner = _op("Maximum", [count - 2, 0], {})
        steps = _op("Maximum", [count - 1, 1], {})
        step = (last - first) / math_ops.cast(steps, start.dtype.base_dtype)
        first, last = math_ops.cast(first, step.dtype), math_ops.cast(last, step.dtype)
        end = array_ops.where_v2(count >= 0, steps, -1)
        numbers = math_ops.cast(math_ops.range(1, end, dtype=dtypes.int64), step.dtype.base_dtype)
        here = math_ops.equal(at, math_ops.range(rank))
        numbers = array_ops.reshape(numbers, array_ops.where_v2(here, inner, 1))
        between = first + step * numbers
        whole = array_ops.concat([first, between, last], axis=at)
        origin = array_ops.zeros_like(shape)
        sizes = array_ops.concat([shape[0:at], array_ops.reshape(count, [-1]), shape[at + 1 :]], 0)
        return array_ops.slice(whole, origin, sizes)
