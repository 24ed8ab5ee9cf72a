"""Pooling by a ratio that need not be whole."""

from __future__ import annotations

from typing import Any

from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import convert_to_tensor as _convert


def _ratios(value: Any) -> list[float]:
    """Of all four dimensions."""
    ratio = [value] if isinstance(value, (int, float)) else list(value)
    if len(ratio) not in (1, 2, 4):
        raise ValueError(f"`pooling_ratio` should be of length 1, 2 or 4. Received: {value}")
    return ratio if len(ratio) == 4 else [1.0, ratio[0], ratio[-1], 1.0]


def _pool(op: str, value: Any, pooling_ratio: Any, pseudo_random: bool, overlapping: bool, seed: int, seed2: int, deterministic: bool, name: str | None) -> Any:
    if not isinstance(pooling_ratio, (list, tuple)):
        name = {"FractionalMaxPool": "fractional_max_pool", "FractionalAvgPool": "fractional_avg_pool"}[op]
        raise TypeError(f"Expected list for 'pooling_ratio' argument to '{name}' Op, not {pooling_ratio}.")
    attrs = {
        "pooling_ratio": [float(r) for r in pooling_ratio], "pseudo_random": pseudo_random, "overlapping": overlapping, "deterministic": deterministic,
        "seed": seed, "seed2": seed2,
    }
    return _op(op, [_convert(value)], attrs, name)


def fractional_max_pool(
    value: Any, pooling_ratio: Any, pseudo_random: bool = False, overlapping: bool = False, deterministic: bool = False, seed: int = 0, seed2: int = 0,
    name: str | None = None,
) -> Any:
    """Max pooling by a ratio that need not be whole; also gives the window borders."""
    return _pool("FractionalMaxPool", value, pooling_ratio, pseudo_random, overlapping, seed, seed2, deterministic, name)


def fractional_avg_pool(
    value: Any, pooling_ratio: Any, pseudo_random: bool = False, overlapping: bool = False, deterministic: bool = False, seed: int = 0, seed2: int = 0,
    name: str | None = None,
) -> Any:
    """Average pooling by a ratio that need not be whole; also gives the window borders."""
    return _pool("FractionalAvgPool", value, pooling_ratio, pseudo_random, overlapping, seed, seed2, deterministic, name)


def _fractional_v2(op: str) -> Any:
    def pool(value: Any, pooling_ratio: Any, pseudo_random: bool = False, overlapping: bool = False, seed: int = 0, name: str | None = None) -> Any:
        if op == "FractionalMaxPool":
            pooling_ratio = _ratios(pooling_ratio)
        if seed == 0:
            return _pool(op, value, pooling_ratio, pseudo_random, overlapping, 0, 0, False, name)
        from emplace.framework import random_ops

        first, second = random_ops.get_seed(seed)
        return _pool(op, value, pooling_ratio, pseudo_random, overlapping, first or 0, second or 0, True, name)

    what = "Largest value" if op == "FractionalMaxPool" else "Mean"
    pool.__doc__ = f"{what} of windows of uneven size, so that an image shrinks by a ratio that need not be whole; also where windows begin."
    pool.__name__ = pool.__qualname__ = "fractional_max_pool" if op == "FractionalMaxPool" else "fractional_avg_pool"
    return pool


fractional_max_pool_v2 = _fractional_v2("FractionalMaxPool")
fractional_avg_pool_v2 = _fractional_v2("FractionalAvgPool")
