"""Gradients of random numbers by the parameters of their distributions."""

from __future__ import annotations

from typing import Any

from emplace.framework import array_ops, dtypes, math_ops
from emplace.framework.dispatch import execute as _op
from emplace.gradients.common import after, to_shape
from emplace.gradients.registry import gradient


@gradient("RandomGamma")
def _random_gamma(op: Any, grad: Any) -> Any:
    """The sample's shape comes before alpha's; a sample moves with its alpha."""
    shape, alpha = op.inputs
    with after(grad):
        before = array_ops.size(shape)
        narrow = array_ops.concat([array_ops.ones(array_ops.reshape(before, [1]), dtype=dtypes.int32), array_ops.shape(alpha)], 0)
        slope = _op("RandomGammaGrad", [array_ops.reshape(alpha, narrow), op.outputs[0]], {})
        return None, math_ops.reduce_sum(grad * slope, math_ops.range(before))


def _stateless_gamma(op: Any, grad: Any) -> Any:
    """Alpha was broadcast to the sample's shape."""
    alpha = op.inputs[-1]
    with after(grad):
        slope = _op("RandomGammaGrad", [alpha, op.outputs[0]], {})
        return [None] * (len(op.inputs) - 1) + [to_shape(grad * slope, alpha)]


gradient("StatelessRandomGammaV2", "StatelessRandomGammaV3")(_stateless_gamma)
