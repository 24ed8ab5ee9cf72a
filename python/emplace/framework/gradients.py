"""tf.gradients: the backward pass of a graph, as more of the graph."""

from __future__ import annotations

import enum
from typing import Any

from emplace.framework import array_ops, ops
from emplace.gradients import backprop
from emplace.gradients.registry import RegisterGradient as RegisterGradient


class AggregationMethod:
    ADD_N = 0
    DEFAULT = ADD_N
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


class UnconnectedGradients(enum.Enum):
    NONE = "none"
    ZERO = "zero"


def _source(x: Any) -> Any:
    if hasattr(x, "_ref"):
        return x._ref()
    return x if isinstance(x, ops.Tensor) else ops.convert_to_tensor(x, name="x")


def _between(ys: list[Any], xs: list[Any], stops: set[int]) -> list[Any]:
    """Operations on a path from `xs` to `ys`, the last made first."""
    above: dict[int, Any] = {}
    pending = [y.op for y in ys]
    while pending:
        op = pending.pop()
        if op._id not in above:
            above[op._id] = op
            pending += [t.op for t in op.inputs if id(t) not in stops]
    made = sorted(above)
    reached: set[int] = {id(x) for x in xs}
    path = []
    for i in made:
        op = above[i]
        if any(id(t) in reached for t in op.inputs):
            reached.update(id(t) for t in op.outputs)
            path.append(op)
    return path[::-1]


def gradients(
    ys: Any, xs: Any, grad_ys: Any = None, name: str = "gradients", colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False, aggregation_method: Any = None, stop_gradients: Any = None,
    unconnected_gradients: Any = UnconnectedGradients.NONE,
) -> list[Any]:
    """The sum of the derivatives of `ys` by each of `xs`; None where nothing connects."""
    ys = list(ys) if isinstance(ys, (list, tuple)) else [ys]
    xs = list(xs) if isinstance(xs, (list, tuple)) else [xs]
    grad_ys = list(grad_ys) if isinstance(grad_ys, (list, tuple)) else [grad_ys] * len(ys)
    with ops.name_scope(name, "gradients", ys + xs):
        targets = [ops.convert_to_tensor(y, name="y") for y in ys]
        sources = [_source(x) for x in xs]
        stops = {id(_source(s)) for s in (stop_gradients or ())}
        for y in targets:
            if not (y.dtype.base_dtype.is_floating or y.dtype.base_dtype.is_complex):
                raise TypeError(f"Gradients of tensors must be floating or complex when grad_ys is not set, got y.dtype: {y.dtype.base_dtype!r}")
        seeds = []
        for i, (y, g) in enumerate(zip(targets, grad_ys)):
            seeds.append(array_ops.fill(array_ops.shape(y), ops.convert_to_tensor(1.0, dtype=y.dtype.base_dtype, name=f"grad_ys_{i}")) if g is None else ops.convert_to_tensor(g, name=f"grad_ys_{i}"))
        found = backprop.run(_between(targets, sources, stops), targets, seeds, sources)
        if unconnected_gradients in (UnconnectedGradients.ZERO, "zero"):
            found = [array_ops.zeros_like(x) if g is None else g for x, g in zip(sources, found)]
        return found


def NotDifferentiable(op_type: str) -> None:  # noqa: N802
    from emplace.gradients import registry

    registry.no_gradient(op_type)


NoGradient = NotDifferentiable
