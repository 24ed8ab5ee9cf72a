"""Windows of images around places, and boxes in images."""

from __future__ import annotations

from typing import Any, TYPE_CHECKING

from emplace.framework import dtypes, index_values, random_ops
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import convert_to_tensor as _convert
from emplace.framework.ops import name_scope

if TYPE_CHECKING:
    from emplace.framework.gen import Outputs
    from emplace.framework.tensor import Tensor


def draw_bounding_boxes(images: Any, boxes: Any, name: str | None = None, colors: Any = None) -> Tensor:
    """Images with the outlines of boxes, [y_min, x_min, y_max, x_max] from 0 to 1."""
    if colors is None:
        return _op("DrawBoundingBoxes", [images, boxes], {}, name)
    return _op("DrawBoundingBoxesV2", [images, boxes, colors], {}, name)


def sample_distorted_bounding_box(
    image_size: Any, bounding_boxes: Any, seed: int | None = None, seed2: int | None = None, min_object_covered: Any = 0.1, aspect_ratio_range: Any = None,
    area_range: Any = None, max_attempts: int | None = None, use_image_if_no_bounding_boxes: bool | None = None, name: str | None = None,
) -> Outputs["SampleDistortedBoundingBoxV2"]:
    """(begin, size, box) of a random piece that covers enough of the boxes."""
    with name_scope(name, "sample_distorted_bounding_box"):
        attrs: dict[str, Any] = {
            "seed": seed or 0, "seed2": seed2 or 0, "aspect_ratio_range": aspect_ratio_range, "area_range": area_range,
            "max_attempts": max_attempts, "use_image_if_no_bounding_boxes": use_image_if_no_bounding_boxes,
        }
        attrs = {k: v for k, v in attrs.items() if v is not None}
        return _op("SampleDistortedBoundingBoxV2", [image_size, bounding_boxes, min_object_covered], attrs)


def sample_distorted_bounding_box_v2(
    image_size: Any, bounding_boxes: Any, seed: int = 0, min_object_covered: Any = 0.1, aspect_ratio_range: Any = None,
    area_range: Any = None, max_attempts: int | None = None, use_image_if_no_bounding_boxes: bool | None = None, name: str | None = None,
) -> Any:
    """A random part of an image that covers enough of an object: where it begins, its size and its box."""
    first, second = random_ops.get_seed(seed) if seed else (0, 0)
    return sample_distorted_bounding_box(
        image_size, bounding_boxes, first, second, min_object_covered, aspect_ratio_range, area_range, max_attempts,
        use_image_if_no_bounding_boxes, name,
    )


def stateless_sample_distorted_bounding_box(
    image_size: Any, bounding_boxes: Any, seed: Any, min_object_covered: Any = 0.1, aspect_ratio_range: Any = None,
    area_range: Any = None, max_attempts: int | None = None, use_image_if_no_bounding_boxes: bool | None = None, name: str | None = None,
) -> Outputs["StatelessSampleDistortedBoundingBox"]:
    """A part of an image that covers enough of an object, as the seed alone decides."""
    with name_scope(name, "stateless_sample_distorted_bounding_box"):
        attrs: dict[str, Any] = {
            "aspect_ratio_range": aspect_ratio_range, "area_range": area_range, "max_attempts": max_attempts,
            "use_image_if_no_bounding_boxes": use_image_if_no_bounding_boxes,
        }
        attrs = {k: v for k, v in attrs.items() if v is not None}
        return _op("StatelessSampleDistortedBoundingBox", [image_size, bounding_boxes, min_object_covered, seed], attrs)


def extract_glimpse(
    input: Any, size: Any, offsets: Any, centered: bool = True, normalized: bool = True, uniform_noise: bool = True, name: str | None = None,
) -> Any:
    """Windows of pictures around places."""
    return extract_glimpse_v2(input, size, offsets, centered, normalized, "uniform" if uniform_noise else "gaussian", name, op="ExtractGlimpse")


def extract_glimpse_v2(
    input: Any, size: Any, offsets: Any, centered: bool = True, normalized: bool = True, noise: str = "uniform", name: str | None = None,
    op: str = "ExtractGlimpseV2",
) -> Any:
    """A window of each image around a place of its own; noise stands where it reaches beyond."""
    inputs = [_convert(input, dtype=dtypes.float32), index_values.tensor(size), _convert(offsets, dtype=dtypes.float32)]
    attrs = {"centered": centered, "normalized": normalized, "uniform_noise": noise == "uniform", "noise": "zero" if noise == "zero" else noise}
    return _op(op, inputs, attrs, name)


def draw_bounding_boxes_v2(images: Any, boxes: Any, colors: Any = None, name: str | None = None) -> Tensor:
    """Images with the outlines of boxes, [y_min, x_min, y_max, x_max] from 0 to 1, in these colours in turn."""
    return draw_bounding_boxes(images, boxes, name, colors)
