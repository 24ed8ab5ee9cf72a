"""Pictures as files: what is more than one operation."""

from __future__ import annotations

from typing import Any, TYPE_CHECKING

from emplace.framework import dtypes, index_values, ops, random_ops
from emplace.framework.dispatch import execute as _op
from emplace.framework.image_ops import convert_image_dtype

if TYPE_CHECKING:
    from emplace.framework.tensor import Tensor


def decode_image(contents: Any, channels: int | None = None, dtype: Any = dtypes.uint8, name: str | None = None, expand_animations: bool = True) -> Tensor:
    """The pixels of a JPEG, PNG, GIF or BMP file, in any dtype."""
    dtype = dtypes.as_dtype(dtype)
    direct = dtype in (dtypes.uint8, dtypes.uint16, dtypes.float32)
    attrs = {"channels": channels or 0, "dtype": dtype if direct else dtypes.uint16, "expand_animations": expand_animations}
    image = _op("DecodeImage", [ops.convert_to_tensor(contents)], attrs, name)
    return image if direct else convert_image_dtype(image, dtype)


def is_jpeg(contents: Any, name: str | None = None) -> Tensor:
    """Does the file begin as a JPEG does?"""
    from emplace.framework import math_ops, string_ops

    return math_ops.equal(string_ops.substr(contents, 0, 3), b"\xff\xd8\xff", name=name)


def adjust_jpeg_quality(image: Any, jpeg_quality: Any, dct_method: str = "", name: str | None = None) -> Tensor:
    """What is left of a picture that was a JPEG file of that quality."""
    image = ops.convert_to_tensor(image)
    narrow = convert_image_dtype(image, dtypes.uint8, saturate=True)
    quality = index_values.tensor(jpeg_quality)
    contents = _op("EncodeJpegVariableQuality", [narrow, quality], {})
    channels = image.shape.as_list()[-1] if image.shape.rank is not None else None
    decoded = _op("DecodeJpeg", [contents], {"channels": channels or 0, "dct_method": dct_method}, name)
    return convert_image_dtype(decoded, image.dtype, saturate=True)


def _checked(min_jpeg_quality: int, max_jpeg_quality: int) -> None:
    if min_jpeg_quality < 0 or max_jpeg_quality < 0 or min_jpeg_quality > 100 or max_jpeg_quality > 100:
        raise ValueError("jpeg encoding range must be between 0 and 100.")
    if min_jpeg_quality >= max_jpeg_quality:
        raise ValueError("`min_jpeg_quality` must be less than `max_jpeg_quality`.")


def random_jpeg_quality(image: Any, min_jpeg_quality: int, max_jpeg_quality: int, seed: Any = None) -> Tensor:
    """The image as it comes out of JPEG of a random quality within the bounds."""
    _checked(min_jpeg_quality, max_jpeg_quality)
    return adjust_jpeg_quality(image, random_ops.random_uniform([], min_jpeg_quality, max_jpeg_quality, dtypes.int32, seed))


def stateless_random_jpeg_quality(image: Any, min_jpeg_quality: int, max_jpeg_quality: int, seed: Any) -> Tensor:
    """The image as it comes out of JPEG of a quality that depends on the seed alone."""
    _checked(min_jpeg_quality, max_jpeg_quality)
    quality = random_ops.stateless_uniform([], seed, min_jpeg_quality, max_jpeg_quality, dtypes.int32)
    return adjust_jpeg_quality(image, quality)
