"""How alike images are, and boxes chosen among many."""

from __future__ import annotations

from typing import Any, TYPE_CHECKING

import numpy as np

from emplace.framework import array_ops, image_ops, image_random_ops, math_ops
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import convert_to_tensor as _convert

if TYPE_CHECKING:
    from emplace.framework.gen import Outputs
    from emplace.framework.tensor import Tensor

_WEIGHTS = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)


def _blurred(x: Any, kernel: Any) -> Any:
    """[n, h, w, c] under a window, each channel by itself."""
    channels = x.shape[-1]
    window = _op("Tile", [kernel, [1, 1, channels, 1]], {})
    return _op("DepthwiseConv2dNative", [x, window], {"strides": [1, 1, 1, 1], "padding": "VALID"})


def _bell(size: int, sigma: float, dtype: Any) -> Any:
    at = np.square(np.arange(size) - (size - 1) / 2.0) * (-0.5 / sigma**2)
    grid = (at[None, :] + at[:, None]).reshape(-1)
    weights = np.exp(grid - grid.max())
    return math_ops.cast(_convert((weights / weights.sum()).reshape(size, size, 1, 1)), dtype)


def _maps(a: Any, b: Any, max_val: Any, size: int, sigma: float, k1: float, k2: float) -> tuple[Any, Any]:
    """(likeness, contrast and structure alone) at each place."""
    c1, c2 = (k1 * max_val) ** 2, (k2 * max_val) ** 2
    kernel = _bell(size, sigma, a.dtype)
    mean_a, mean_b = _blurred(a, kernel), _blurred(b, kernel)
    means, squares = mean_a * mean_b * 2.0, _op("Square", [mean_a], {}) + _op("Square", [mean_b], {})
    light = (means + c1) / (squares + c1)
    both = _blurred(a * b, kernel) * 2.0
    each = _blurred(_op("Square", [a], {}) + _op("Square", [b], {}), kernel)
    structure = (both - means + c2) / (each - squares + c2)
    return light * structure, structure


def _prepared(img1: Any, img2: Any, max_val: Any) -> tuple[Any, Any, Any]:
    a, b = _convert(img1, name="first_image"), _convert(img2, name="second_image")
    if a.shape.rank is not None and a.shape.rank < 3:
        raise ValueError(f"Shape {a.shape} must have rank at least 3")
    top = math_ops.cast(max_val, a.dtype)
    top = image_ops.convert_image_dtype(top, "float32")
    return image_ops.convert_image_dtype(a, "float32"), image_ops.convert_image_dtype(b, "float32"), top


def _batched(x: Any) -> Any:
    known = x.shape.as_list()[-3:]
    return array_ops.reshape(x, [-1, *known] if None not in known else array_ops.concat([[-1], array_ops.shape(x)[-3:]], 0))


def ssim(
    img1: Any, img2: Any, max_val: Any, filter_size: int = 11, filter_sigma: float = 1.5, k1: float = 0.01, k2: float = 0.03,
    return_index_map: bool = False,
) -> Tensor:
    """Structural similarity of images, at most 1; `max_val` is the range of a pixel. `return_index_map` gives it pixel by pixel."""
    a, b, top = _prepared(img1, img2, max_val)
    likeness, _ = _maps(_batched(a), _batched(b), top, filter_size, filter_sigma, k1, k2)
    outer = a.shape.as_list()[:-3]
    by_channel = math_ops.reduce_mean(likeness, -1) if return_index_map else math_ops.reduce_mean(math_ops.reduce_mean(likeness, [1, 2]), -1)
    return array_ops.reshape(by_channel, [*outer, *by_channel.shape.as_list()[1:]])


def ssim_multiscale(
    img1: Any, img2: Any, max_val: Any, power_factors: Any = _WEIGHTS, filter_size: int = 11, filter_sigma: float = 1.5, k1: float = 0.01, k2: float = 0.03,
) -> Tensor:
    """Structural similarity at several scales, each half as large as the one before, weighed by `power_factors`."""
    a, b, top = _prepared(img1, img2, max_val)
    outer = a.shape.as_list()[:-3]
    a, b = _batched(a), _batched(b)
    parts = []
    for level in range(len(power_factors)):
        if level:
            a, b = (_op("AvgPool", [x], {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}) for x in (a, b))
        likeness, structure = _maps(a, b, top, filter_size, filter_sigma, k1, k2)
        last = level == len(power_factors) - 1
        parts.append(_op("Relu", [math_ops.reduce_mean(likeness if last else structure, [1, 2])], {}))
    stacked = array_ops.stack(parts, axis=-1)
    weights = _convert(np.asarray(power_factors, np.float32))
    found = math_ops.reduce_mean(math_ops.reduce_prod(math_ops.pow(stacked, weights), [-1]), [-1])
    return array_ops.reshape(found, outer)


def combined_non_max_suppression(
    boxes: Any, scores: Any, max_output_size_per_class: Any, max_total_size: Any, iou_threshold: float = 0.5, score_threshold: float = float("-inf"),
    pad_per_class: bool = False, clip_boxes: bool = True, name: str | None = None,
) -> Outputs["CombinedNonMaxSuppression"]:
    """Boxes, scores, classes and numbers of detections for a batch: boxes that overlap a better one of their class by more
    than `iou_threshold` are left out."""
    inputs = [boxes, scores, max_output_size_per_class, max_total_size, _convert(iou_threshold, "float32"), _convert(score_threshold, "float32")]
    return _op("CombinedNonMaxSuppression", inputs, {"pad_per_class": pad_per_class, "clip_boxes": clip_boxes}, name)


def non_max_suppression_padded(
    boxes: Any, scores: Any, max_output_size: Any, iou_threshold: float = 0.5, score_threshold: float = float("-inf"),
    pad_to_max_output_size: bool = False, name: str | None = None, sorted_input: bool = False, canonicalized_coordinates: bool = False,
    tile_size: int = 512,
) -> Any:
    """(indices, how many count) for each of a batch; zeros fill the rest."""
    boxes, scores = _convert(boxes), _convert(scores)
    size = int(max_output_size)
    if boxes.shape.rank == 2:
        kept, count = _chosen(boxes, scores, size, iou_threshold, score_threshold)
        return (kept if pad_to_max_output_size else kept[: int(count)]), count
    rows = [_chosen(boxes[i], scores[i], size, iou_threshold, score_threshold) for i in range(boxes.shape[0])]
    return array_ops.stack([r[0] for r in rows]), array_ops.stack([r[1] for r in rows])


def _chosen(boxes: Any, scores: Any, size: int, iou: float, least: float) -> tuple[Any, Any]:
    kept = image_random_ops.non_max_suppression(boxes, scores, size, iou, least)
    count = array_ops.size(kept)
    return array_ops.pad(kept, [[0, size - kept.shape[0]]]), count

