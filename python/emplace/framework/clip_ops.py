"""Keeping values within bounds."""

from __future__ import annotations

from typing import Any, TYPE_CHECKING

from emplace.framework import array_ops, constant_op, math_ops, ops
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import convert_to_tensor as _convert
from emplace.framework.ops import name_scope

if TYPE_CHECKING:
    from emplace.framework.tensor import Tensor


def clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any, name: str | None = None) -> Tensor:
    """Each element, raised to `clip_value_min` or lowered to `clip_value_max` where it lies outside."""
    with name_scope(name, "clip_by_value", [t, clip_value_min, clip_value_max]) as scope:
        values = _convert(t.values if isinstance(t, ops.IndexedSlices) else t, name="t")
        below = _op("Minimum", [values, clip_value_max], {})
        values.shape.assert_is_compatible_with(below.shape)
        result = _op("Maximum", [below, clip_value_min], {}, scope)
        values.shape.assert_is_compatible_with(result.shape)
        return ops.IndexedSlices(result, t.indices, t.dense_shape) if isinstance(t, ops.IndexedSlices) else result


def clip_by_norm(t: Any, clip_norm: Any, axes: Any = None, name: str | None = None) -> Tensor:
    """`t` scaled down so that its L2 norm over `axes` is at most `clip_norm`."""
    with name_scope(name, "clip_by_norm", [t, clip_norm]) as scope:
        values = _convert(t.values if isinstance(t, ops.IndexedSlices) else t, name="t")
        total = math_ops.reduce_sum(values * values, axes, keepdims=True)
        positive = total > 0
        safe = array_ops.where(positive, total, array_ops.ones_like(total))
        norm = array_ops.where(positive, math_ops.sqrt(safe), total)
        scaled = values * clip_norm
        result = array_ops.identity(scaled / _op("Maximum", [norm, clip_norm], {}), name=scope)
        return ops.IndexedSlices(result, t.indices, t.dense_shape) if isinstance(t, ops.IndexedSlices) else result


def global_norm(t_list: Any, name: str | None = None) -> Tensor:
    """L2 norm of all elements of several tensors together."""
    if not isinstance(t_list, (list, tuple)):
        raise TypeError(f"`t_list` should be a sequence of tensors. Received {type(t_list)}.")
    t_list = list(t_list)
    with name_scope(name, "global_norm", t_list):
        values = [_convert(t.values if isinstance(t, ops.IndexedSlices) else t, name=f"t_{i}") if t is not None else t for i, t in enumerate(t_list)]
        halves = []
        for v in values:
            if v is not None:
                with ops.colocate_with(v):
                    halves.append(_op("L2Loss", [v], {}))
        half = math_ops.reduce_sum(array_ops.stack(halves))
        return math_ops.sqrt(half * constant_op.constant(2.0, dtype=half.dtype), name="global_norm")


def clip_by_global_norm(t_list: Any, clip_norm: Any, use_norm: Any = None, name: str | None = None) -> Any:
    """Tensors scaled by one factor so that their common norm is at most `clip_norm`, and the norm they had."""
    if not isinstance(t_list, (list, tuple)):
        raise TypeError(f"`t_list` should be a sequence of tensors. Received {type(t_list)}.")
    t_list = list(t_list)
    if use_norm is None:
        use_norm = global_norm(t_list, name)
    with name_scope(name, "clip_by_global_norm", t_list + [clip_norm]) as scope:
        finite_scale = clip_norm * _op(
            "Minimum", [1.0 / use_norm, constant_op.constant(1.0, dtype=use_norm.dtype) / clip_norm], {}
        )
        scale = finite_scale + (use_norm - use_norm)
        values = [_convert(t.values if isinstance(t, ops.IndexedSlices) else t, name=f"t_{i}") if t is not None else t for i, t in enumerate(t_list)]
        clipped: list[Any] = []
        for i, v in enumerate(values):
            if v is None:
                clipped.append(None)
                continue
            with ops.colocate_with(v):
                clipped.append(array_ops.identity(v * scale, name=f"{scope}_{i}"))
        return [
            ops.IndexedSlices(c, t.indices, t.dense_shape) if isinstance(t, ops.IndexedSlices) else c for c, t in zip(clipped, t_list)
        ], use_norm
