"""Images changed at random, measured, and their boxes."""

from __future__ import annotations

from typing import Any, Callable, TYPE_CHECKING

from emplace.framework import array_ops, dtypes, image_ops, math_ops, random_ops
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import convert_to_tensor as _convert
from emplace.framework.ops import name_scope

if TYPE_CHECKING:
    from emplace.framework.tensor import Tensor

Draw = Callable[..., Any]


def _stateful(seed: Any) -> Draw:
    return lambda shape, low=0, high=1.0: random_ops.random_uniform(shape, low, high, seed=seed)


def _stateless(seed: Any) -> Draw:
    return lambda shape, low=0, high=1.0: random_ops.stateless_uniform(shape, seed, low, high)


def _brightness(image: Any, max_delta: Any, draw: Draw) -> Any:
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return image_ops.adjust_brightness(image, draw([], -max_delta, max_delta))


def _between(lower: Any, upper: Any) -> None:
    if upper <= lower:
        raise ValueError("upper must be > lower.")
    if lower < 0:
        raise ValueError("lower must be non-negative.")


def _contrast(image: Any, lower: Any, upper: Any, draw: Draw) -> Any:
    _between(lower, upper)
    return image_ops.adjust_contrast(image, draw([], lower, upper))


def _saturation(image: Any, lower: Any, upper: Any, draw: Draw) -> Any:
    _between(lower, upper)
    return image_ops.adjust_saturation(image, draw([], lower, upper))


def _hue(image: Any, max_delta: Any, draw: Draw) -> Any:
    if max_delta > 0.5:
        raise ValueError("max_delta must be <= 0.5.")
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return image_ops.adjust_hue(image, draw([], -max_delta, max_delta))


def _flip(image: Any, axis: int, draw: Draw) -> Any:
    """Each image of a batch by a coin of its own; `axis` counts within an image."""
    image = _convert(image, name="image")
    if image.shape.rank == 3:
        heads = _op("Less", [draw([]), 0.5], {})
        return array_ops.where_v2(heads, _op("ReverseV2", [image, [axis]], {}), image)
    batch = array_ops.shape(image)[0]
    coins = math_ops.cast(math_ops.round(array_ops.reshape(draw([batch]), [batch, 1, 1, 1])), image.dtype)
    return coins * _op("ReverseV2", [image, [axis + 1]], {}) + (1 - coins) * image


def random_brightness(image: Any, max_delta: Any, seed: Any = None) -> Tensor:
    """`adjust_brightness` by a random number between -`max_delta` and `max_delta`."""
    return _brightness(image, max_delta, _stateful(seed))


def stateless_random_brightness(image: Any, max_delta: Any, seed: Any) -> Tensor:
    """`adjust_brightness` by a number within `max_delta` that depends on the seed alone."""
    return _brightness(image, max_delta, _stateless(seed))


def random_contrast(image: Any, lower: Any, upper: Any, seed: Any = None) -> Tensor:
    """`adjust_contrast` by a random factor from `lower` to `upper`."""
    return _contrast(image, lower, upper, _stateful(seed))


def stateless_random_contrast(image: Any, lower: Any, upper: Any, seed: Any) -> Tensor:
    """`adjust_contrast` by a factor from `lower` to `upper` that depends on the seed alone."""
    return _contrast(image, lower, upper, _stateless(seed))


def random_saturation(image: Any, lower: Any, upper: Any, seed: Any = None) -> Tensor:
    """`adjust_saturation` by a random factor from `lower` to `upper`."""
    return _saturation(image, lower, upper, _stateful(seed))


def stateless_random_saturation(image: Any, lower: Any, upper: Any, seed: Any = None) -> Tensor:
    """`adjust_saturation` by a factor from `lower` to `upper` that depends on the seed alone."""
    return _saturation(image, lower, upper, _stateless(seed))


def random_hue(image: Any, max_delta: Any, seed: Any = None) -> Tensor:
    """`adjust_hue` by a random number between -`max_delta` and `max_delta`, at most 0.5."""
    return _hue(image, max_delta, _stateful(seed))


def stateless_random_hue(image: Any, max_delta: Any, seed: Any) -> Tensor:
    """`adjust_hue` by a number within `max_delta` that depends on the seed alone."""
    return _hue(image, max_delta, _stateless(seed))


def random_flip_left_right(image: Any, seed: Any = None) -> Tensor:
    """The image mirrored left to right with a chance of one half, each of a batch for itself."""
    return _flip(image, 1, _stateful(seed))


def stateless_random_flip_left_right(image: Any, seed: Any) -> Tensor:
    """The image mirrored left to right or not, as the seed alone decides."""
    return _flip(image, 1, _stateless(seed))


def random_flip_up_down(image: Any, seed: Any = None) -> Tensor:
    """The image upside down with a chance of one half, each of a batch for itself."""
    return _flip(image, 0, _stateful(seed))


def stateless_random_flip_up_down(image: Any, seed: Any) -> Tensor:
    """The image upside down or not, as the seed alone decides."""
    return _flip(image, 0, _stateless(seed))


# ---- Measures.


def image_gradients(image: Any) -> tuple[Tensor, Tensor]:
    """Differences downwards and to the right; zero at the last row and column."""
    image = _convert(image, name="image")
    if image.shape.rank != 4:
        raise ValueError(f"image_gradients expects a 4D tensor [batch_size, h, w, d], not {image.shape}.")
    down, right = image[:, 1:] - image[:, :-1], image[:, :, 1:] - image[:, :, :-1]
    return (
        _op("Pad", [down, [[0, 0], [0, 1], [0, 0], [0, 0]]], {}),
        _op("Pad", [right, [[0, 0], [0, 0], [0, 1], [0, 0]]], {}),
    )


def sobel_edges(image: Any) -> Tensor:
    """How steeply each channel rises downwards and to the right, two values a pixel in a new last dimension."""
    image = _convert(image, name="image")
    depth = image.shape.as_list()[3]
    down = [[-1, -2, -1], [0, 0, 0], [1, 2, 1]]
    right = [[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]]
    filters: Any = [[[[down[y][x], right[y][x]]] * (depth or 1) for x in range(3)] for y in range(3)]
    if depth is None:
        filters = _op("Tile", [_convert(filters, image.dtype), array_ops.stack([1, 1, array_ops.shape(image)[3], 1])], {})
    padded = _op("MirrorPad", [image, [[0, 0], [1, 1], [1, 1], [0, 0]]], {"mode": "REFLECT"})
    attrs = {"strides": [1, 1, 1, 1], "padding": "VALID"}
    edges = _op("DepthwiseConv2dNative", [padded, _convert(filters, image.dtype)], attrs)
    return array_ops.reshape(edges, array_ops.concat([array_ops.shape(image), [2]], 0))


def total_variation(images: Any, name: str | None = None) -> Tensor:
    """The sum of the absolute differences of neighbouring pixels of each image."""
    with name_scope(name, "total_variation"):
        images = _convert(images, name="images")
        rank = images.shape.rank
        if rank not in (3, 4):
            raise ValueError("'images' must be either 3 or 4-dimensional.")
        down = images[..., 1:, :, :] - images[..., :-1, :, :]
        right = images[..., :, 1:, :] - images[..., :, :-1, :]
        axes = None if rank == 3 else [1, 2, 3]
        return math_ops.reduce_sum(math_ops.abs(down), axes) + math_ops.reduce_sum(math_ops.abs(right), axes)


def psnr(a: Any, b: Any, max_val: Any, name: str | None = None) -> Tensor:
    """Peak signal over noise, in decibels."""
    with name_scope(name, "PSNR", [a, b]):
        to_floats = lambda x: image_ops.convert_image_dtype(x, dtypes.float32)  # noqa: E731
        a = _convert(a)
        top = to_floats(math_ops.cast(max_val, a.dtype))
        off = _op("SquaredDifference", [to_floats(a), to_floats(_convert(b))], {})
        mse = math_ops.reduce_mean(off, [-3, -2, -1])
        ten = 10.0 / 2.302585092994046
        return 2 * ten * _op("Log", [top], {}) - ten * _op("Log", [mse], {})


# ---- Boxes.

_NO_LIMIT = float("-inf")


def non_max_suppression(boxes: Any, scores: Any, max_output_size: Any, iou_threshold: Any = 0.5, score_threshold: Any = _NO_LIMIT, name: str | None = None) -> Tensor:
    """The indices of the best boxes, leaving out those that overlap a better one by more than `iou_threshold`."""
    return _op("NonMaxSuppressionV3", [boxes, scores, max_output_size, iou_threshold, score_threshold], {}, name)


def non_max_suppression_with_scores(boxes: Any, scores: Any, max_output_size: Any, iou_threshold: Any = 0.5, score_threshold: Any = _NO_LIMIT, soft_nms_sigma: Any = 0.0, name: str | None = None) -> Any:
    """The indices of the best boxes and their scores, which `soft_nms_sigma` lowers for overlaps."""
    inputs = [boxes, scores, max_output_size, iou_threshold, score_threshold, soft_nms_sigma]
    index, chosen, _ = _op("NonMaxSuppressionV5", inputs, {"pad_to_max_output_size": False}, name)
    return index, chosen


def non_max_suppression_overlaps(overlaps: Any, scores: Any, max_output_size: Any, overlap_threshold: Any = 0.5, score_threshold: Any = _NO_LIMIT, name: str | None = None) -> Tensor:
    """The indices of the best boxes from a matrix of how much each two overlap."""
    inputs = [overlaps, scores, max_output_size, overlap_threshold, score_threshold]
    return _op("NonMaxSuppressionWithOverlaps", inputs, {}, name)
