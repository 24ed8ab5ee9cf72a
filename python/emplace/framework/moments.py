"""Moments by weights, and the normalization that was before batch normalization."""

from __future__ import annotations

from typing import Any, TYPE_CHECKING

from emplace.framework import array_ops, dtypes, math_ops
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import convert_to_tensor as _convert
from emplace.framework.ops import name_scope

if TYPE_CHECKING:
    from emplace.framework.tensor import Tensor


def weighted_moments(x: Any, axes: Any, frequency_weights: Any, name: str | None = None, keep_dims: Any = None, keepdims: Any = None) -> tuple[Any, Any]:
    """The mean and the variance in which each value counts as often as its weight says."""
    keep = bool(keepdims if keep_dims is None else keep_dims)
    with name_scope(name, "weighted_moments", [x, frequency_weights, axes]):
        x, weights = _convert(x, name="x"), _convert(frequency_weights, name="frequency_weights")
        narrow = x.dtype == dtypes.float16
        x, weights = (math_ops.cast(v, dtypes.float32) if narrow else v for v in (x, weights))
        if weights.dtype != x.dtype:
            weights = math_ops.cast(weights, x.dtype)
        weighted = math_ops.reduce_sum(weights * x, axes, name="weighted_input_sum", keepdims=True)
        spread = weights + array_ops.zeros_like(x)
        total = math_ops.reduce_sum(spread, axes, name="sum_of_weights", keepdims=True)
        mean = math_ops.div_no_nan(weighted, total)
        far = math_ops.reduce_sum(weights * _op("SquaredDifference", [x, mean], {}), axes, name="weighted_distsq", keepdims=True)
        variance = math_ops.div_no_nan(far, total)
        if not keep:
            mean, variance = array_ops.squeeze(mean, axes), array_ops.squeeze(variance, axes)
        return tuple(math_ops.cast(v, dtypes.float16) if narrow else v for v in (mean, variance))  # type: ignore[return-value]


def batch_norm_with_global_normalization(
    t: Any = None, m: Any = None, v: Any = None, beta: Any = None, gamma: Any = None, variance_epsilon: Any = None, scale_after_normalization: Any = None,
    name: str | None = None, input: Any = None, mean: Any = None, variance: Any = None,  # noqa: A002
) -> Tensor:
    """Batch normalization with given mean and variance, as the old operation did it."""
    from emplace.framework import nn_ops

    values = [a if b is None else b for a, b in ((t, input), (m, mean), (v, variance))]
    return nn_ops.batch_normalization(*values, beta, gamma if scale_after_normalization else None, variance_epsilon, name)
