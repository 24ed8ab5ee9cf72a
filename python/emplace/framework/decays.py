"""Learning rates that fall with the steps."""

from __future__ import annotations

import functools
import math
from typing import Any

from emplace.framework import constant_op, dispatch, dtypes, math_ops
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import convert_to_tensor as _convert
from emplace.framework.ops import name_scope


def _asked_each_time(decay: Any) -> Any:
    """In an eager program a function of nothing, for an optimizer to call: the step goes on meanwhile."""

    @functools.wraps(decay)
    def call(*args: Any, **kwargs: Any) -> Any:
        return functools.partial(decay, *args, **kwargs) if dispatch.executing_eagerly() else decay(*args, **kwargs)

    return call


def _needs_step(global_step: Any, decay: str) -> None:
    if global_step is None:
        raise ValueError(f"Argument `global_step` is required for {decay}.")


@_asked_each_time
def exponential_decay(learning_rate: Any, global_step: Any, decay_steps: Any, decay_rate: Any, staircase: bool = False, name: str | None = None) -> Any:
    """rate * decay_rate ^ (step / decay_steps)."""
    with name_scope(name, "ExponentialDecay", [learning_rate, global_step, decay_steps, decay_rate]) as scope:
        rate = _convert(learning_rate, name="initial_learning_rate")
        steps, decay = math_ops.cast(decay_steps, rate.dtype), math_ops.cast(decay_rate, rate.dtype)
        p = math_ops.cast(global_step, rate.dtype) / steps
        if staircase:
            p = math_ops.floor(p)
        return math_ops.multiply(rate, math_ops.pow(decay, p), name=scope)


@_asked_each_time
def natural_exp_decay(learning_rate: Any, global_step: Any, decay_steps: Any, decay_rate: Any, staircase: bool = False, name: str | None = None) -> Any:
    """rate * exp(-decay_rate * step / decay_steps)."""
    _needs_step(global_step, "natural_exp_decay")
    natural = math_ops.exp(_op("Neg", [decay_rate], {}))
    return exponential_decay.__wrapped__(learning_rate, global_step, decay_steps, natural, staircase, name)


@_asked_each_time
def inverse_time_decay(learning_rate: Any, global_step: Any, decay_steps: Any, decay_rate: Any, staircase: bool = False, name: str | None = None) -> Any:
    """rate / (1 + decay_rate * step / decay_steps)."""
    _needs_step(global_step, "inverse_time_decay")
    with name_scope(name, "InverseTimeDecay", [learning_rate, global_step, decay_steps, decay_rate]) as scope:
        rate = _convert(learning_rate, name="initial_learning_rate")
        steps, decay = math_ops.cast(decay_steps, rate.dtype), math_ops.cast(decay_rate, rate.dtype)
        p = math_ops.cast(global_step, rate.dtype) / steps
        if staircase:
            p = math_ops.floor(p)
        one = math_ops.cast(constant_op.constant(1), rate.dtype)
        return math_ops.divide(rate, math_ops.add(one, math_ops.multiply(decay, p)), name=scope)


@_asked_each_time
def polynomial_decay(learning_rate: Any, global_step: Any, decay_steps: Any, end_learning_rate: Any = 0.0001, power: Any = 1.0, cycle: bool = False, name: str | None = None) -> Any:
    """From the rate to the end rate along (1 - step / decay_steps) ^ power."""
    with name_scope(name, "PolynomialDecay", [learning_rate, global_step, decay_steps, end_learning_rate, power]) as scope:
        rate = _convert(learning_rate, name="initial_learning_rate")
        end, power = math_ops.cast(end_learning_rate, rate.dtype), math_ops.cast(power, rate.dtype)
        step = math_ops.cast(global_step, rate.dtype)
        steps = math_ops.cast(decay_steps, rate.dtype)
        if cycle:
            times = _op("SelectV2", [math_ops.equal(step, 0), 1.0, math_ops.ceil(step / decay_steps)], {})
            steps = math_ops.multiply(steps, times)
        else:
            step = _op("Minimum", [step, steps], {})
        p = math_ops.divide(step, steps)
        return math_ops.add(math_ops.multiply(rate - end, math_ops.pow(1 - p, power)), end, name=scope)


@_asked_each_time
def piecewise_constant(x: Any, boundaries: list[Any], values: list[Any], name: str | None = None) -> Any:
    """values[i] up to boundaries[i]."""
    from emplace.eager.functions import flow

    if len(boundaries) != len(values) - 1:
        raise ValueError("The length of boundaries should be 1 less than the length of values")
    x = _convert(x)
    bounds, made = [_convert(b) for b in boundaries], [_convert(v) for v in values]
    for i, b in enumerate(bounds):
        if b.dtype.base_dtype != x.dtype.base_dtype:
            if x.dtype.base_dtype == dtypes.int64 and b.dtype.base_dtype == dtypes.int32:
                bounds[i] = math_ops.cast(b, x.dtype.base_dtype)
            else:
                raise ValueError(f"Boundaries ({b.dtype.base_dtype}) must have the same dtype as x ({x.dtype.base_dtype}).")
    if any(v.dtype.base_dtype != made[0].dtype.base_dtype for v in made):
        raise ValueError(f"Values must have elements all with the same dtype ({made[0].dtype.base_dtype} vs {made[-1].dtype.base_dtype}).")
    with name_scope(name, "PiecewiseConstant", [x, bounds, values, name]):
        pairs = [(x <= bounds[0], lambda: made[0]), (x > bounds[-1], lambda: made[-1])]
        for low, high, v in zip(bounds[:-1], bounds[1:], made[1:-1]):
            pairs.append(((x > low) & (x <= high), lambda v=v: v))
        return flow.case(pairs, lambda: made[0], exclusive=True)


piecewise_constant_decay = piecewise_constant


def _wave(done: Any, dtype: Any) -> Any:
    """1 + cos(pi * done)."""
    return 1.0 + _op("Cos", [constant_op.constant(math.pi, dtype=dtype) * done], {})


@_asked_each_time
def cosine_decay(learning_rate: Any, global_step: Any, decay_steps: Any, alpha: float = 0.0, name: str | None = None) -> Any:
    """A rate that falls along half a cosine to `alpha` of its start over `decay_steps`, then stays."""
    _needs_step(global_step, "cosine_decay")
    with name_scope(name, "CosineDecay", [learning_rate, global_step]):
        rate = _convert(learning_rate, name="initial_learning_rate")
        steps = math_ops.cast(decay_steps, rate.dtype)
        done = _op("Minimum", [math_ops.cast(global_step, rate.dtype), steps], {}) / steps
        wave = 0.5 * _wave(done, rate.dtype)
        return math_ops.multiply(rate, (1 - alpha) * wave + alpha)


@_asked_each_time
def cosine_decay_restarts(learning_rate: Any, global_step: Any, first_decay_steps: Any, t_mul: float = 2.0, m_mul: float = 1.0, alpha: float = 0.0, name: str | None = None) -> Any:
    """Each period is `t_mul` times as long as the one before and starts at `m_mul` of its rate."""
    from emplace.eager.functions import flow

    _needs_step(global_step, "cosine_decay_restarts")
    with name_scope(name, "SGDRDecay", [learning_rate, global_step]) as scope:
        rate = _convert(learning_rate, name="initial_learning_rate")
        first, alpha, t, m = (math_ops.cast(v, rate.dtype) for v in (first_decay_steps, alpha, t_mul, m_mul))
        done = math_ops.cast(global_step, rate.dtype) / first

        def growing() -> Any:
            period = math_ops.floor(_op("Log", [1.0 - done * (1.0 - t)], {}) / _op("Log", [t], {}))
            start = (1.0 - t**period) / (1.0 - t)
            return period, (done - start) / t**period

        def steady() -> Any:
            period = math_ops.floor(done)
            return period, done - period

        period, part = flow.cond(math_ops.equal(t, 1.0), steady, growing)
        wave = 0.5 * m**period * _wave(part, rate.dtype)
        return math_ops.multiply(rate, (1 - alpha) * wave + alpha, name=scope)


@_asked_each_time
def linear_cosine_decay(learning_rate: Any, global_step: Any, decay_steps: Any, num_periods: float = 0.5, alpha: float = 0.0, beta: float = 0.001, name: str | None = None) -> Any:
    """A rate that falls along a line times a cosine of `num_periods` periods, with `alpha` and `beta` added."""
    _needs_step(global_step, "linear_cosine_decay")
    with name_scope(name, "LinearCosineDecay", [learning_rate, global_step]) as scope:
        rate = _convert(learning_rate, name="initial_learning_rate")
        steps, periods, alpha, beta = (math_ops.cast(v, rate.dtype) for v in (decay_steps, num_periods, alpha, beta))
        step = _op("Minimum", [math_ops.cast(global_step, rate.dtype), steps], {})
        left = (steps - step) / steps
        done = step / steps
        wave = 0.5 * _wave(2.0 * periods * done, rate.dtype)
        return math_ops.multiply(rate, (alpha + left) * wave + beta, name=scope)


@_asked_each_time
def noisy_linear_cosine_decay(
    learning_rate: Any, global_step: Any, decay_steps: Any, initial_variance: float = 1.0, variance_decay: float = 0.55,
    num_periods: float = 0.5, alpha: float = 0.0, beta: float = 0.001, name: str | None = None,
) -> Any:
    """`linear_cosine_decay` with noise on the line, whose variance falls with the steps."""
    from emplace.framework import random_ops

    _needs_step(global_step, "noisy_linear_cosine_decay")
    with name_scope(name, "NoisyLinearCosineDecay", [learning_rate, global_step]) as scope:
        rate = _convert(learning_rate, name="initial_learning_rate")
        steps, variance, fading, periods, alpha, beta = (
            math_ops.cast(v, rate.dtype) for v in (decay_steps, initial_variance, variance_decay, num_periods, alpha, beta)
        )
        step = _op("Minimum", [math_ops.cast(global_step, rate.dtype), steps], {})
        left = (steps - step) / steps
        spread = math_ops.sqrt(variance / math_ops.pow(1.0 + step, fading))
        noisy = left + random_ops.random_normal([], stddev=spread)
        wave = 0.5 * _wave(2.0 * periods * (step / steps), rate.dtype)
        return math_ops.multiply(rate, (alpha + noisy) * wave + beta, name=scope)
