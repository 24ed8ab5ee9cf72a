"""Images: TensorFlow's tf.image, for graphs and for eager values alike.

An image is [height, width, channels], a batch of them has one dimension more.
"""

from __future__ import annotations

import math
from typing import Any, Callable, TYPE_CHECKING

import numpy as np

from emplace.framework import array_ops, control_flow_ops, dtypes, image_scale, index_values, math_ops, random_ops
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import constant_value
from emplace.framework.ops import convert_to_tensor as _convert
from emplace.framework.ops import is_tensor, name_scope

if TYPE_CHECKING:
    from emplace.framework.tensor import Tensor


def _maximum(a: Any, b: Any) -> Any:
    return _op("Maximum", [a, b], {})


def _minimum(a: Any, b: Any) -> Any:
    return _op("Minimum", [a, b], {})


def _rank(image: Any) -> int:
    rank = image.shape.rank
    if rank not in (3, 4):
        raise ValueError(f"'image' (shape {image.shape}) must have either 3 or 4 dimensions.")
    return rank


def _checked(image: Any) -> Any:
    """An image; in graphs TensorFlow gives what it has looked at a name of its own."""
    image = _convert(image, name="image")
    return image if hasattr(image, "_numpy_of_eager") else control_flow_ops.with_dependencies([], image)


def _batched(image: Any, function: Callable[[Any], Any]) -> Any:
    image = _convert(image, name="image")
    if _rank(image) == 4:
        return function(image)
    return array_ops.squeeze(function(array_ops.expand_dims(image, 0)), [0])


def _sizes(images: Any) -> tuple[Any, Any]:
    """Height and width of a batch: numbers where they are known."""
    known = images.shape.as_list()[1:3]
    if None not in known:
        return known[0], known[1]
    shape = array_ops.shape(images)
    return shape[1], shape[2]


# ---- Turning.


def flip_left_right(image: Any) -> Tensor:
    """The image, or a batch of them, mirrored left to right."""
    with name_scope(None, "flip_left_right", [image]):
        return _flipped(image, 1)


def flip_up_down(image: Any) -> Tensor:
    """The image, or a batch of them, upside down."""
    with name_scope(None, "flip_up_down", [image]):
        return _flipped(image, 0)


def _flipped(image: Any, axis: int) -> Any:
    image = _checked(image)
    return _op("ReverseV2", [image, [axis + _rank(image) - 3]], {})


def transpose(image: Any, name: str | None = None) -> Tensor:
    """The image, or a batch of them, with height and width exchanged."""
    with name_scope(name, "transpose", [image]):
        return _batched(image, lambda x: array_ops.transpose(x, [0, 2, 1, 3]))


def rot90(image: Any, k: int = 1, name: str | None = None) -> Tensor:
    """Turned against the clock, k times."""
    if is_tensor(k):
        raise NotImplementedError("rot90 by a number that is a tensor")
    turns: dict[int, Callable[[Any], Any]] = {
        0: lambda x: x,
        1: lambda x: _op("ReverseV2", [array_ops.transpose(x, [0, 2, 1, 3]), [1]], {}),
        2: lambda x: _op("ReverseV2", [x, [1, 2]], {}),
        3: lambda x: array_ops.transpose(_op("ReverseV2", [x, [1]], {}), [0, 2, 1, 3]),
    }
    with name_scope(name, "rot90", [image]):
        return _batched(image, turns[k % 4])


# ---- Cutting and padding.


def _not_negative(**values: Any) -> None:
    for name, value in values.items():
        if not is_tensor(value) and value < 0:
            raise ValueError(f"{name} must be >= 0.")


def crop_to_bounding_box(image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any) -> Tensor:
    """The part of the image of the target's size from the offset on; it must lie within."""
    def cut(x: Any) -> Any:
        height, width = _sizes(x)
        _not_negative(offset_width=offset_width, offset_height=offset_height)
        for name, value in (("target_width", target_width), ("target_height", target_height)):
            if not is_tensor(value) and value <= 0:
                raise ValueError(f"{name} must be > 0.")
        for what, all_, part in (("width", width, (target_width, offset_width)), ("height", height, (target_height, offset_height))):
            if not any(map(is_tensor, (all_, *part))) and all_ < sum(part):
                raise ValueError(f"{what} must be >= target + offset.")
        size = array_ops.stack([array_ops.shape(x)[0], target_height, target_width, array_ops.shape(x)[3]])
        cropped = array_ops.slice(x, array_ops.stack([0, offset_height, offset_width, 0]), size)
        sizes = [None if is_tensor(v) else v for v in (target_height, target_width)]
        if hasattr(cropped, "set_shape"):
            cropped.set_shape([x.shape[0], *sizes, x.shape[3]])
        return cropped

    with name_scope(None, "crop_to_bounding_box", [image]):
        return _batched(image, cut)


def pad_to_bounding_box(image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any) -> Tensor:
    """The image at the offset in zeros of the target's size, which must hold it."""
    def pad(x: Any) -> Any:
        height, width = _sizes(x)
        below, right = target_height - offset_height - height, target_width - offset_width - width
        _not_negative(offset_height=offset_height, offset_width=offset_width)
        if not is_tensor(right) and right < 0:
            raise ValueError("width must be <= target - offset")
        if not is_tensor(below) and below < 0:
            raise ValueError("height must be <= target - offset")
        padded = _op("Pad", [x, [[0, 0], [offset_height, below], [offset_width, right], [0, 0]]], {})
        if hasattr(padded, "set_shape"):
            padded.set_shape([x.shape[0], *(None if is_tensor(v) else v for v in (target_height, target_width)), x.shape[3]])
        return padded

    with name_scope(None, "pad_to_bounding_box", [image]):
        return _batched(image, pad)


def central_crop(image: Any, central_fraction: Any) -> Tensor:
    """The middle of the image: this share of its height and width."""
    fraction = central_fraction
    if not is_tensor(fraction) and not 0 < fraction <= 1:
        raise ValueError("central_fraction must be within (0, 1]")

    def cut(x: Any) -> Any:
        height, width = _sizes(x)
        if is_tensor(fraction) or is_tensor(height):
            real = lambda n: math_ops.cast(n, dtypes.float64)  # noqa: E731
            whole = lambda v: math_ops.cast(v, dtypes.int32)  # noqa: E731
            keep = math_ops.cast(fraction, dtypes.float64)
            top, left = (whole((real(n) - real(n) * keep) / 2.0) for n in (height, width))
        else:
            top, left = int((height - height * fraction) / 2), int((width - width * fraction) / 2)
        return x[:, top : height - top, left : width - left, :]

    return _batched(image, cut)


def resize_with_crop_or_pad(image: Any, target_height: Any, target_width: Any) -> Tensor:
    """The image cut or padded with zeros on both sides to a size, without scaling."""
    def fit(x: Any) -> Any:
        height, width = _sizes(x)
        if any(map(is_tensor, (height, width, target_height, target_width))):
            most, least = _maximum, _minimum
        else:
            most, least = max, min
        def sides(target: Any, size: Any) -> tuple[Any, Any, Any]:
            extra = target - size
            return most(-extra // 2, 0), most(extra // 2, 0), least(target, size)
        cut_y, pad_y, keep_y = sides(target_height, height)
        cut_x, pad_x, keep_x = sides(target_width, width)
        cropped = crop_to_bounding_box(x, cut_y, cut_x, keep_y, keep_x)
        return pad_to_bounding_box(cropped, pad_y, pad_x, target_height, target_width)

    with name_scope(None, "resize_image_with_crop_or_pad", [image]):
        return _batched(image, fit)


def random_crop(value: Any, size: Any, seed: Any = None, name: str | None = None) -> Tensor:
    """A part of this size from a random place."""
    return _random_crop(value, size, name, lambda s, most: random_ops.random_uniform(s, maxval=most, dtype=dtypes.int32, seed=seed))


def stateless_random_crop(value: Any, size: Any, seed: Any, name: str | None = None) -> Tensor:
    """A part of this size from a place that depends on the seed alone."""
    return _random_crop(value, size, name, lambda s, most: random_ops.stateless_uniform(s, seed=seed, maxval=most, dtype=dtypes.int32))


def _random_crop(value: Any, size: Any, name: str | None, draw: Callable[[Any, int], Any]) -> Any:
    with name_scope(name, "random_crop", [value, size]):
        value = _convert(value, name="value")
        size = index_values.tensor(size, "size")
        limit = array_ops.shape(value) - size + 1
        offset = draw(array_ops.shape(limit), dtypes.int32.max) % limit
        return array_ops.slice(value, offset, size)


# ---- Sizes.


class ResizeMethod:
    """Ways of finding values between pixels, for `resize`."""

    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"
    BICUBIC = "bicubic"
    AREA = "area"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    GAUSSIAN = "gaussian"
    MITCHELLCUBIC = "mitchellcubic"


class ResizeMethodV1:
    """Ways of finding values between pixels, for `resize`, as numbers."""

    BILINEAR = 0
    NEAREST_NEIGHBOR = 1
    BICUBIC = 2
    AREA = 3


_OPS = {"bilinear": "ResizeBilinear", "nearest": "ResizeNearestNeighbor", "bicubic": "ResizeBicubic", "area": "ResizeArea"}
_NUMBERS = {0: "bilinear", 1: "nearest", 2: "bicubic", 3: "area"}


def _fitted(size: list[int], height: int, width: int) -> list[int]:
    """The largest size within `size` of the image's proportions."""
    factor = min(size[0] / height, size[1] / width)
    return [max(1, round(factor * height)), max(1, round(factor * width))]


def _known(size: Any) -> list[int] | None:
    """Two sizes as numbers, where they are known."""
    if isinstance(size, (list, tuple)):
        return None if any(map(is_tensor, size)) else [int(v) for v in size]
    if is_tensor(size) and not hasattr(size, "numpy"):
        value = constant_value(size)
        return None if value is None else value.tolist()
    return np.asarray(size).tolist()


def _resize(images: Any, size: Any, call: Callable[[Any, Any], Any], keep_ratio: bool, same_type: bool) -> Any:
    def scaled(x: Any) -> Any:
        wanted = index_values.tensor(size, "size")
        if wanted.shape.rank != 1 or wanted.shape[0] != 2:
            raise ValueError("'size' must be a 1-D Tensor of 2 elements: new_height, new_width")
        height, width = _sizes(x)
        plain = _known(size)
        if keep_ratio:
            if plain is None or is_tensor(height):
                raise NotImplementedError("preserve_aspect_ratio needs sizes that are known")
            plain = _fitted(plain, height, width)
            wanted = index_values.tensor(plain)
        if same_type and plain == [height, width]:
            return x
        return call(x, wanted)

    return _batched(images, scaled)


def resize(images: Any, size: Any, method: Any = "bilinear", preserve_aspect_ratio: bool = False, antialias: bool = False, name: str | None = None) -> Tensor:
    """Images scaled to a size [height, width] in float32 (nearest keeps the dtype); `antialias` smooths when shrinking."""
    method = getattr(method, "value", method)
    if method not in _OPS and method not in image_scale.KERNELS:
        raise ValueError(f"Resize method is not implemented: {method}")

    def call(x: Any, wanted: Any) -> Any:
        if method not in _OPS or antialias and method in image_scale.KERNELS:
            plain = constant_value(wanted) if not hasattr(wanted, "numpy") else wanted.numpy()
            if plain is None or not x.shape[1:3].is_fully_defined():
                raise NotImplementedError(f"resize by {method} needs sizes that are known")
            return image_scale.scaled(x, plain, method, antialias)
        attrs: dict[str, Any] = {} if method == "area" else {"half_pixel_centers": True}
        out = _op(_OPS[method], [x, wanted], attrs)
        return out if method == "nearest" else math_ops.cast(out, dtypes.float32)

    with name_scope(name, "resize", [images, size]):
        out = _resize(images, size, call, preserve_aspect_ratio, method == "nearest")
        return out


def resize_v1(images: Any, size: Any, method: Any = 0, align_corners: bool = False, preserve_aspect_ratio: bool = False, name: str | None = None) -> Tensor:
    """Images scaled to a size [height, width]; `align_corners` keeps the corner pixels in place."""
    method = _NUMBERS.get(method, getattr(method, "value", method))
    if method not in _OPS:
        raise ValueError(f"Resize method is not implemented: {method}")
    with name_scope(name, "resize", [images, size]):
        call = lambda x, wanted: _op(_OPS[method], [x, wanted], {"align_corners": align_corners})  # noqa: E731
        return _resize(images, size, call, preserve_aspect_ratio, True)


def _resize_by(op: str, python_name: str) -> Callable[..., Any]:
    def function(images: Any, size: Any, align_corners: bool = False, name: str | None = None, half_pixel_centers: bool = False) -> Any:
        attrs = {"align_corners": align_corners, "half_pixel_centers": half_pixel_centers}
        return _op(op, [images, size], attrs, name)

    function.__doc__ = f"Images scaled to a size by the op {op}; `align_corners` keeps the corner pixels in place."
    function.__name__ = function.__qualname__ = python_name
    return function


resize_bilinear = _resize_by("ResizeBilinear", "resize_bilinear")
resize_bicubic = _resize_by("ResizeBicubic", "resize_bicubic")
resize_nearest_neighbor = _resize_by("ResizeNearestNeighbor", "resize_nearest_neighbor")


def resize_with_pad(image: Any, target_height: int, target_width: int, method: Any = "bilinear", antialias: bool = False) -> Tensor:
    """Images scaled with their proportions kept, then padded with zeros to the size."""
    return _resize_with_pad(image, target_height, target_width, lambda x, s: resize(x, s, method, antialias=antialias))


def resize_with_pad_v1(image: Any, target_height: int, target_width: int, method: Any = 0, align_corners: bool = False) -> Tensor:
    """Images scaled with their proportions kept, then padded with zeros to the size."""
    return _resize_with_pad(image, target_height, target_width, lambda x, s: resize_v1(x, s, method, align_corners))


def _resize_with_pad(image: Any, target_height: int, target_width: int, call: Callable[[Any, Any], Any]) -> Any:
    def fit(x: Any) -> Any:
        height, width = _sizes(x)
        if any(map(is_tensor, (height, width, target_height, target_width))):
            return _unknown_with_pad(x, target_height, target_width, call)
        ratio = max(width / target_width, height / target_height)
        size = [math.floor(height / ratio), math.floor(width / ratio)]
        top, left = (max(0, math.floor((t - s) / 2)) for t, s in ((target_height, height / ratio), (target_width, width / ratio)))
        return pad_to_bounding_box(call(x, size), top, left, target_height, target_width)

    with name_scope(None, "resize_image_with_pad", [image]):
        return _batched(image, fit)


def _unknown_with_pad(x: Any, target_height: Any, target_width: Any, call: Callable[[Any, Any], Any]) -> Any:
    """The same where sizes are tensors."""
    sizes = [math_ops.cast(n, dtypes.float64) for n in _sizes(x)]
    targets = [math_ops.cast(t, dtypes.float64) for t in (target_height, target_width)]
    ratio = _op("Maximum", [sizes[1] / targets[1], sizes[0] / targets[0]], {})
    scaled = [n / ratio for n in sizes]
    whole = [math_ops.cast(_op("Floor", [n], {}), dtypes.int32) for n in scaled]
    top, left = (math_ops.cast(_op("Maximum", [_convert(0.0, dtypes.float64), _op("Floor", [(t - n) / 2.0], {})], {}), dtypes.int32) for t, n in zip(targets, scaled))
    return pad_to_bounding_box(call(x, array_ops.stack(whole)), top, left, target_height, target_width)


def crop_and_resize(image: Any, boxes: Any, box_indices: Any, crop_size: Any, method: str = "bilinear", extrapolation_value: float = 0.0, name: str | None = None) -> Tensor:
    """Parts of images, boxes from 0 to 1 of the images `box_indices`, each scaled to `crop_size`."""
    attrs = {"method": method, "extrapolation_value": float(extrapolation_value)}
    return _op("CropAndResize", [image, boxes, box_indices, crop_size], attrs, name)


def crop_and_resize_v1(image: Any, boxes: Any, box_ind: Any = None, crop_size: Any = None, method: str = "bilinear", extrapolation_value: float = 0.0, name: str | None = None, box_indices: Any = None) -> Any:
    """Parts of images, boxes from 0 to 1 of the images `box_ind`, each scaled to `crop_size`."""
    index = math_ops._one_of("box_indices", box_indices, "box_ind", box_ind)
    return crop_and_resize(image, boxes, index, crop_size, method, extrapolation_value, name)


def extract_patches(images: Any, sizes: Any, strides: Any, rates: Any, padding: str, name: str | None = None) -> Tensor:
    """Windows of images, the pixels of each side by side in the last dimension; lists are [1, height, width, 1]."""
    attrs = {"ksizes": list(sizes), "strides": list(strides), "rates": list(rates), "padding": padding}
    return _op("ExtractImagePatches", [images], attrs, name)


def extract_image_patches(images: Any, ksizes: Any = None, strides: Any = None, rates: Any = None, padding: Any = None, name: str | None = None, sizes: Any = None) -> Tensor:
    """The older name of `extract_patches`."""
    return extract_patches(images, math_ops._one_of("sizes", sizes, "ksizes", ksizes), strides, rates, padding, name)


# ---- Values.


def convert_image_dtype(image: Any, dtype: Any, saturate: bool = False, name: str | None = None) -> Tensor:
    """Floats are in [0, 1); integers in [0, MAX]."""
    image = _convert(image, name="image")
    dtype = dtypes.as_dtype(dtype)
    if not dtype.is_floating and not dtype.is_integer:
        raise AttributeError("dtype must be either floating point or integer")
    if dtype == image.dtype:
        return array_ops.identity(image, name=name)
    cast = math_ops.saturate_cast if saturate else math_ops.cast
    with name_scope(name, "convert_image", [image]) as scope:
        if image.dtype.is_integer and dtype.is_integer:
            scale_in, scale_out = image.dtype.max, dtype.max
            if scale_in > scale_out:
                scale = (scale_in + 1) // (scale_out + 1)
                return cast(math_ops.floordiv(image, _convert(scale, image.dtype)), dtype, name=scope)
            scale = (scale_out + 1) // (scale_in + 1)
            wide = math_ops.saturate_cast(image, dtype) if saturate else math_ops.cast(image, dtype)
            return math_ops.multiply(wide, _convert(scale, dtype), name=scope)
        if image.dtype.is_floating and dtype.is_floating:
            return math_ops.cast(image, dtype, name=scope)
        if image.dtype.is_integer:
            return math_ops.multiply(math_ops.cast(image, dtype), 1.0 / image.dtype.max, name=scope)
        scaled = math_ops.multiply(image, dtype.max + 0.5)
        return cast(scaled, dtype, name=scope)


def _as_floats(image: Any, function: Callable[[Any], Any]) -> Any:
    """Through float32 and back, where the image is of another type."""
    image = _convert(image, name="image")
    if image.dtype in (dtypes.float16, dtypes.float32):
        return convert_image_dtype(function(image), image.dtype, saturate=True)
    floats = convert_image_dtype(image, dtypes.float32)
    return convert_image_dtype(function(floats), image.dtype, saturate=True)


def adjust_brightness(image: Any, delta: Any) -> Tensor:
    """The image with `delta` added, on a scale of 0 to 1 for integers too."""
    with name_scope(None, "adjust_brightness", [image, delta]) as scope:
        return _as_floats(image, lambda x: math_ops.add(x, math_ops.cast(delta, x.dtype), name=scope))


def adjust_contrast(images: Any, contrast_factor: Any) -> Tensor:
    """The image with each channel's distance from its mean multiplied."""
    with name_scope(None, "adjust_contrast", [images, contrast_factor]) as scope:
        return _as_floats(images, lambda x: _op("AdjustContrastv2", [x, contrast_factor], {}, scope))


def adjust_hue(image: Any, delta: Any, name: str | None = None) -> Tensor:
    """An RGB image with its hue turned by `delta`, from -1 to 1."""
    if not is_tensor(delta) and not -1 <= delta <= 1:
        raise ValueError("delta must be in the interval [-1, 1]")
    with name_scope(name, "adjust_hue", [image]):
        return _as_floats(image, lambda x: _op("AdjustHue", [x, delta], {}))


def adjust_saturation(image: Any, saturation_factor: Any, name: str | None = None) -> Tensor:
    """An RGB image with its saturation multiplied."""
    with name_scope(name, "adjust_saturation", [image]):
        return _as_floats(image, lambda x: _op("AdjustSaturation", [x, saturation_factor], {}))


def adjust_gamma(image: Any, gamma: Any = 1, gain: Any = 1) -> Tensor:
    """`gain * image ** gamma`, on a scale of 0 to 1 for integers too."""
    if not is_tensor(gamma) and gamma < 0:
        raise ValueError("Gamma should be a non-negative real number.")
    with name_scope(None, "adjust_gamma", [image, gamma, gain]):
        image = _convert(image, name="image")
        floats = image if image.dtype in (dtypes.float16, dtypes.float32) else convert_image_dtype(image, dtypes.float32)
        return convert_image_dtype(gain * math_ops.pow(floats, _convert(gamma, floats.dtype)), image.dtype, saturate=True)


def per_image_standardization(image: Any) -> Tensor:
    """Each image with a mean of 0 and a deviation of 1, in floats; nearly even ones are not blown up."""
    with name_scope(None, "per_image_standardization", [image]) as scope:
        image = _checked(image)
        floats = image if image.dtype in (dtypes.float16, dtypes.float32) else math_ops.cast(image, dtypes.float32)
        pixels = math_ops.reduce_prod(array_ops.shape(image)[-3:])
        mean = math_ops.reduce_mean(floats, axis=[-1, -2, -3], keepdims=True)
        spread = math_ops.reduce_std(floats, axis=[-1, -2, -3], keepdims=True)
        least = math_ops.rsqrt(math_ops.cast(pixels, floats.dtype))
        deviation = _maximum(spread, least)
        return math_ops.divide(floats - mean, deviation, name=scope)


# ---- Colours.


def _times(images: Any, matrix: list[list[float]]) -> Any:
    images = _convert(images, name="images")
    return math_ops.tensordot(images, _convert(matrix, dtype=images.dtype), [[images.shape.rank - 1], [0]])


_YIQ = [[0.299, 0.59590059, 0.2115], [0.587, -0.27455667, -0.52273617], [0.114, -0.32134392, 0.31119955]]
_YIQ_BACK = [[1, 1, 1], [0.95598634, -0.27201283, -1.10674021], [0.6208248, -0.64720424, 1.70423049]]
_YUV = [[0.299, -0.14714119, 0.61497538], [0.587, -0.28886916, -0.51496512], [0.114, 0.43601035, -0.10001026]]
_YUV_BACK = [[1, 1, 1], [0, -0.394642334, 2.03206185], [1.13988303, -0.58062185, 0]]


def rgb_to_yiq(images: Any) -> Tensor:
    """RGB pixels as luma and two axes of colour, those of NTSC."""
    return _times(images, _YIQ)


def yiq_to_rgb(images: Any) -> Tensor:
    """Pixels in NTSC's YIQ as RGB."""
    return _times(images, _YIQ_BACK)


def rgb_to_yuv(images: Any) -> Tensor:
    """RGB pixels as luma and two axes of colour, those of PAL."""
    return _times(images, _YUV)


def yuv_to_rgb(images: Any) -> Tensor:
    """Pixels in PAL's YUV as RGB."""
    return _times(images, _YUV_BACK)


def rgb_to_grayscale(images: Any, name: str | None = None) -> Tensor:
    """One channel of brightness out of three, in the image's dtype."""
    with name_scope(name, "rgb_to_grayscale", [images]) as scope:
        images = _convert(images, name="images")
        floats = convert_image_dtype(images, dtypes.float32)
        grey = math_ops.tensordot(floats, [0.2989, 0.587, 0.114], [-1, -1])
        return convert_image_dtype(array_ops.expand_dims(grey, -1), images.dtype, name=scope)


def grayscale_to_rgb(images: Any, name: str | None = None) -> Tensor:
    """The one channel three times."""
    with name_scope(name, "grayscale_to_rgb", [images]):
        images = _convert(images, name="images")
        if images.shape.as_list()[-1] not in (1, None):
            raise ValueError("Last dimension of a grayscale image should be size 1.")
        times = [1] * (images.shape.rank - 1) + [3]
        return _op("Tile", [images, times], {})
