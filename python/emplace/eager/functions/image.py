"""Images."""

from __future__ import annotations

from typing import Any

from emplace.framework import array_ops, dtypes, math_ops
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import convert_to_tensor as _convert

_METHODS = {"bilinear": "ResizeBilinear", "nearest": "ResizeNearestNeighbor", "bicubic": "ResizeBicubic", "area": "ResizeArea"}


def _batched(image: Any, function: Any) -> Any:
    image = _convert(image)
    if image.shape.rank == 3:
        return array_ops.squeeze(function(array_ops.expand_dims(image, 0)), [0])
    return function(image)


def resize(images: Any, size: Any, method: Any = "bilinear", preserve_aspect_ratio: bool = False, antialias: bool = False, name: str | None = None) -> Any:
    method = getattr(method, "value", method)
    if method not in _METHODS:
        raise ValueError(f"Resize method is not implemented: {method}")

    def scaled(x: Any) -> Any:
        attrs: dict[str, Any] = {} if method == "area" else {"half_pixel_centers": True}
        out = _op(_METHODS[method], [x, _convert(size, dtypes.int32)], attrs)
        return out if method == "nearest" else math_ops.cast(out, dtypes.float32)

    return _batched(images, scaled)


def flip_left_right(image: Any) -> Any:
    return _batched(image, lambda x: _op("ReverseV2", [x, [2]], {}))


def flip_up_down(image: Any) -> Any:
    return _batched(image, lambda x: _op("ReverseV2", [x, [1]], {}))


def transpose(image: Any, name: str | None = None) -> Any:
    return _batched(image, lambda x: array_ops.transpose(x, [0, 2, 1, 3]))


def crop_and_resize(
    image: Any, boxes: Any, box_indices: Any, crop_size: Any, method: str = "bilinear", extrapolation_value: float = 0.0, name: str | None = None
) -> Any:
    attrs = {"method": method, "extrapolation_value": extrapolation_value}
    return _op("CropAndResize", [image, boxes, box_indices, crop_size], attrs, name)


def central_crop(image: Any, central_fraction: float) -> Any:
    def cut(x: Any) -> Any:
        h, w = x.shape.as_list()[1:3]
        top, left = int((h - h * central_fraction) / 2), int((w - w * central_fraction) / 2)
        return x[:, top : h - top, left : w - left, :]

    return _batched(image, cut)


def adjust_brightness(image: Any, delta: Any) -> Any:
    image = _convert(image)
    return image + math_ops.cast(delta, image.dtype)


def rgb_to_grayscale(images: Any, name: str | None = None) -> Any:
    images = _convert(images)
    grey = math_ops.tensordot(math_ops.cast(images, dtypes.float32), [0.2989, 0.587, 0.114], [-1, -1])
    return math_ops.cast(array_ops.expand_dims(grey, -1), images.dtype)
