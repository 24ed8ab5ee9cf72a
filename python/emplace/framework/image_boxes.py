"""Boxes drawn on images, and what an eye sees that looks at a place of them."""

from __future__ import annotations

from typing import Any, TYPE_CHECKING

import numpy as np

from emplace.framework import dtypes, errors
from emplace.framework.ops import convert_to_tensor as _convert

if TYPE_CHECKING:
    from emplace.framework.tensor import Tensor

_COLORS = np.array([
    [1, 1, 0, 1], [0, 0, 1, 1], [1, 0, 0, 1], [0, 1, 0, 1], [0.5, 0, 0.5, 1], [0.5, 0.5, 0, 1], [0.5, 0, 0, 1], [0, 0, 0.5, 1],
    [0, 1, 1, 1], [1, 0, 1, 1],
])  # fmt: skip


def draw_bounding_boxes(images: Any, boxes: Any, colors: Any = None, name: str | None = None) -> Tensor:
    """Images with the outlines of boxes, [y_min, x_min, y_max, x_max] from 0 to 1, in these colours in turn."""
    images, boxes = _convert(images), _convert(boxes, dtypes.float32)
    if not hasattr(images, "numpy") or not hasattr(boxes, "numpy"):
        from emplace.framework import sequence_ops

        return sequence_ops.draw_bounding_boxes(images, boxes, name, colors)
    if images.shape.rank != 4 or images.shape.as_list()[3] not in (1, 3, 4, None):
        raise errors.InvalidArgumentError(None, None, f"Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA): {images.shape}")
    canvas, corners = np.array(images.numpy()), boxes.numpy()
    depth = canvas.shape[3]
    table = _COLORS if colors is None or np.size(colors) == 0 else np.asarray(_convert(colors, dtypes.float32).numpy())
    table = np.array(table[:, :depth], np.float32)
    if depth == 1 and (colors is None or np.size(colors) == 0):
        table[:] = 1.0
    for picture, those in zip(canvas, corners):
        for i, box in enumerate(those):
            _draw(picture, box, table[i % len(table)])
    return _convert(canvas, images.dtype)


def _draw(picture: np.ndarray, box: np.ndarray, color: np.ndarray) -> None:
    height, width = picture.shape[:2]
    top, bottom = int(box[0] * (height - 1)), int(box[2] * (height - 1))
    left, right = int(box[1] * (width - 1)), int(box[3] * (width - 1))
    if top > bottom or left > right or top >= height or left >= width or bottom < 0 or right < 0:
        return
    rows = slice(max(top, 0), min(bottom, height - 1) + 1)
    columns = slice(max(left, 0), min(right, width - 1) + 1)
    for row in (top, bottom):
        if 0 <= row < height:
            picture[row, columns] = color
    for column in (left, right):
        if 0 <= column < width:
            picture[rows, column] = color


def extract_glimpse(
    input: Any, size: Any, offsets: Any, centered: bool = True, normalized: bool = True, noise: str = "uniform", name: str | None = None  # noqa: A002
) -> Tensor:
    """A window of each image; noise stands where it reaches beyond."""
    images = _convert(input, dtypes.float32).numpy()
    height, width = (int(s) for s in np.asarray(_convert(size).numpy()))
    places = _convert(offsets, dtypes.float32).numpy()
    _, rows, columns, depth = images.shape
    shape = (len(images), height, width, depth)
    random = np.random.default_rng()
    made = {"uniform": lambda: random.uniform(0, 255, shape), "gaussian": lambda: random.normal(127.5, 50.0, shape), "zero": lambda: np.zeros(shape)}[noise]()
    made = made.astype(np.float32)
    for i, (y, x) in enumerate(places):
        if normalized:
            y, x = y * rows, x * columns
        if centered:
            y, x = (y / 2, x / 2) if normalized else (y, x)
            y, x = y + rows / 2 - height / 2, x + columns / 2 - width / 2
        top, left = int(y), int(x)
        seen = images[i, max(top, 0) : top + height, max(left, 0) : left + width] if top + height > 0 and left + width > 0 else images[i, :0, :0]
        made[i, max(-top, 0) : max(-top, 0) + seen.shape[0], max(-left, 0) : max(-left, 0) + seen.shape[1]] = seen
    return _convert(made)
