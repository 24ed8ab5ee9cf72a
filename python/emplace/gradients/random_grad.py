"""Gradients of random numbers by the parameters of their distributions."""

from __future__ import annotations

from typing import Any

import numpy as np

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


@gradient("StatelessParameterizedTruncatedNormal")
def _normal_between(op: Any, grad: Any) -> Any:
    """A sample stays where it is among those between its bounds, while they and the distribution move."""
    mean, deviation, low, high = op.inputs[2:]

    def below(x: Any) -> Any:
        return 0.5 * _op("Erfc", [-x * 0.5**0.5], {})

    with after(grad):
        x, a, b = ((v - mean) / deviation for v in (op.outputs[0], low, high))
        kind = np.finfo(mean.dtype.as_numpy_dtype)
        share = (below(x) - below(a)) / (below(b) - below(a))
        share = _op("Minimum", [_op("Maximum", [share, float(kind.tiny)], {}), 1 - float(kind.eps)], {})
        to_low = _op("Exp", [0.5 * (x * x - a * a) + _op("Log1p", [-share], {})], {})
        to_high = _op("Exp", [0.5 * (x * x - b * b) + _op("Log", [share], {})], {})
        slopes = zip((array_ops.ones_like(x), x, to_low, to_high), (mean, deviation, low, high))
        return [None, None, *(to_shape(grad * slope, of) for slope, of in slopes)]
