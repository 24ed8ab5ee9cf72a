"""Resizing by kernels: each new pixel is a weighted mean of old ones, rows first, then columns."""

from __future__ import annotations

import math
from typing import Any, Callable

import numpy as np

from emplace.framework import array_ops, dtypes, math_ops
from emplace.framework.ops import convert_to_tensor as _convert


def _lanczos(radius: float) -> Callable[[np.ndarray], np.ndarray]:
    return lambda x: np.where(np.abs(x) > radius, 0.0, np.sinc(x) * np.sinc(x / radius))


def _cubic(b: float, c: float) -> Callable[[np.ndarray], np.ndarray]:
    """The family of Mitchell and Netravali; b = 0 and c = 1/2 is Keys'."""
    def near(x: np.ndarray) -> np.ndarray:
        return ((12 - 9 * b - 6 * c) * x**3 + (-18 + 12 * b + 6 * c) * x**2 + 6 - 2 * b) / 6

    def far(x: np.ndarray) -> np.ndarray:
        return ((-b - 6 * c) * x**3 + (6 * b + 30 * c) * x**2 + (-12 * b - 48 * c) * x + 8 * b + 24 * c) / 6

    return lambda x: np.where(np.abs(x) < 1, near(np.abs(x)), np.where(np.abs(x) < 2, far(np.abs(x)), 0.0))


# radius, weight at a distance
KERNELS: dict[str, tuple[float, Callable[[np.ndarray], np.ndarray]]] = {
    "bilinear": (1.0, lambda x: np.maximum(0.0, 1.0 - np.abs(x))),
    "bicubic": (2.0, _cubic(0.0, 0.5)),
    "mitchellcubic": (2.0, _cubic(1 / 3, 1 / 3)),
    "lanczos3": (3.0, _lanczos(3.0)),
    "lanczos5": (5.0, _lanczos(5.0)),
    "gaussian": (1.5, lambda x: np.where(np.abs(x) > 1.5, 0.0, np.exp(-(x**2) / (2 * 0.5**2)))),
}


def _weights(before: int, after: int, method: str, antialias: bool) -> np.ndarray:
    """[after, before]."""
    radius, kernel = KERNELS[method]
    step = before / after
    stretch = max(step, 1.0) if antialias else 1.0
    centers = (np.arange(after) + 0.5) * step
    weights = np.zeros((after, before))
    for i, center in enumerate(centers):
        first = max(0, math.ceil(center - radius * stretch - 0.5))
        last = min(before - 1, math.floor(center + radius * stretch - 0.5))
        at = np.arange(first, last + 1)
        w = kernel((at + 0.5 - center) / stretch)
        weights[i, first : last + 1] = w / w.sum() if abs(w.sum()) > 1e-3 else 0.0
    return weights.astype(np.float32)


def scaled(images: Any, size: Any, method: str, antialias: bool) -> Any:
    """Images [batch, height, width, channels] of another height and width."""
    images = math_ops.cast(images, dtypes.float32)
    height, width = (int(s) for s in size)
    rows = _convert(_weights(images.shape.as_list()[1], height, method, antialias))
    columns = _convert(_weights(images.shape.as_list()[2], width, method, antialias))
    tall = math_ops.tensordot(rows, images, [[1], [1]])  # [height, batch, width, channels]
    wide = math_ops.tensordot(columns, tall, [[1], [2]])  # [width, height, batch, channels]
    return array_ops.transpose(wide, [2, 1, 0, 3])
