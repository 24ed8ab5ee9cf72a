"""Convolutions and pools in the forms that graph programs use, and those that take any rank."""

from __future__ import annotations

from typing import Any, TYPE_CHECKING

from emplace.framework import array_ops, dispatch, dtypes, index_values, math_ops, nn_ops
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import convert_to_tensor as _convert
from emplace.framework.ops import is_tensor, name_scope

if TYPE_CHECKING:
    from emplace.framework.gen import Outputs
    from emplace.framework.tensor import Tensor

_sizes = nn_ops._four
_LAST = {1: "NWC", 2: "NHWC", 3: "NDHWC"}


def _padding(padding: Any) -> tuple[Any, list[int]]:
    if isinstance(padding, (list, tuple)):
        return "EXPLICIT", [int(p) for pair in padding for p in pair]
    return padding, []


def _attrs(n: int, strides: Any, padding: Any, data_format: Any, dilations: Any) -> dict[str, Any]:
    data_format = data_format or _LAST[n]
    at = 1 if data_format.startswith("NC") else n + 1
    word, explicit = _padding(padding)
    attrs = {
        "strides": _sizes(strides, "strides", n, at), "padding": word, "data_format": data_format,
        "dilations": _sizes(dilations, "dilations", n, at),
    }
    if n == 2:
        attrs["explicit_paddings"] = explicit
    return attrs


def _given(new: Any, old: Any, new_name: str, old_name: str) -> Any:
    return math_ops._one_of(new_name, new, old_name, old)


def _flat(value: Any, data_format: str) -> tuple[int, str]:
    """Where a row of one pixel's height is put in, and the format of the image."""
    first = (data_format or "NWC").startswith("NC")
    return (2, "NCHW") if first else (1, "NHWC")


def _middle(value: Any) -> int:
    """The size along the one dimension, of a number or a list."""
    if value is None:
        return 1
    value = [value] if isinstance(value, int) else list(value)
    return value[0] if len(value) == 1 else value[1]


def _one_row(value: Any, first: bool) -> list[int]:
    size = _middle(value)
    return [1, 1, 1, size] if first else [1, 1, size, 1]


def conv1d(
    value: Any = None, filters: Any = None, stride: Any = None, padding: Any = None, use_cudnn_on_gpu: Any = None,
    data_format: Any = None, name: str | None = None, input: Any = None, dilations: Any = None,  # noqa: A002
) -> Tensor:
    """1-D convolution of `input` with `filters`."""
    value = _given(input, value, "input", "value")
    with name_scope(name, "conv1d", [value, filters]) as scope:
        at, image = _flat(value, data_format)
        first = image == "NCHW"
        attrs = _attrs(2, _one_row(stride, first), padding, image, _one_row(dilations, first))
        wide = array_ops.expand_dims(_convert(value), at - 4)  # counted from behind, as TensorFlow does
        out = _op("Conv2D", [wide, array_ops.expand_dims(_convert(filters), 0)], attrs, scope)
        return array_ops.squeeze(out, [at - 4])


def conv3d(
    input: Any, filter: Any = None, strides: Any = None, padding: Any = None, data_format: str = "NDHWC",  # noqa: A002
    dilations: Any = None, name: str | None = None, filters: Any = None,
) -> Tensor:
    """3-D convolution of volumes with filters [depth, height, width, in, out]."""
    filters = _given(filters, filter, "filters", "filter")
    return _op("Conv3D", [input, filters], _attrs(3, strides, padding, data_format, dilations), name)


def _transposed(op: str, n: int, value: Any, filters: Any, output_shape: Any, attrs: dict[str, Any], name: Any) -> Any:
    if n == 2 and is_tensor(output_shape) and output_shape.dtype == dtypes.int64:
        output_shape = math_ops.cast(output_shape, dtypes.int32)
    return _op(op, [output_shape, filters, value], attrs, name)


def conv2d_transpose(
    value: Any = None, filter: Any = None, output_shape: Any = None, strides: Any = None, padding: Any = "SAME",  # noqa: A002
    data_format: str = "NHWC", name: str | None = None, input: Any = None, filters: Any = None, dilations: Any = None,  # noqa: A002
) -> Tensor:
    """The gradient of a convolution by its input, used as a layer: enlarges `input` to `output_shape`."""
    value, filters = _given(input, value, "input", "value"), _given(filters, filter, "filters", "filter")
    with name_scope(name, "conv2d_transpose", [value, filters, output_shape]) as scope:
        attrs = _attrs(2, strides, padding, data_format, dilations)
        return _transposed("Conv2DBackpropInput", 2, value, filters, output_shape, attrs, scope)


def conv3d_transpose(
    value: Any = None, filter: Any = None, output_shape: Any = None, strides: Any = None, padding: Any = "SAME",  # noqa: A002
    data_format: str = "NDHWC", name: str | None = None, input: Any = None, filters: Any = None, dilations: Any = None,  # noqa: A002
) -> Tensor:
    """The gradient of a convolution by its input, used as a layer: enlarges `input` to `output_shape`."""
    value, filters = _given(input, value, "input", "value"), _given(filters, filter, "filters", "filter")
    with name_scope(name, "conv3d_transpose", [value, filters, output_shape]) as scope:
        attrs = _attrs(3, strides, padding, data_format, dilations)
        return _transposed("Conv3DBackpropInputV2", 3, value, filters, output_shape, attrs, scope)


def conv1d_transpose(
    input: Any, filters: Any, output_shape: Any, strides: Any, padding: Any = "SAME", data_format: str = "NWC",  # noqa: A002
    dilations: Any = None, name: str | None = None,
) -> Tensor:
    """The gradient of a convolution by its input, used as a layer: enlarges `input` to `output_shape`."""
    with name_scope(name, "conv1d_transpose", [input, filters, output_shape]):
        at, image = _flat(input, data_format)
        first = image == "NCHW"
        attrs = _attrs(2, _one_row(strides, first), padding, image, _one_row(dilations, first))
        sizes = index_values.tensor(output_shape)
        sizes = array_ops.concat([sizes[:at], [1], sizes[at:]], 0)
        wide, filters = array_ops.expand_dims(_convert(input), at), array_ops.expand_dims(_convert(filters), 0)
        return array_ops.squeeze(_transposed("Conv2DBackpropInput", 2, wide, filters, sizes, attrs, None), [at])


def conv_transpose(
    input: Any, filters: Any, output_shape: Any, strides: Any, padding: Any = "SAME", data_format: Any = None,  # noqa: A002
    dilations: Any = None, name: str | None = None,
) -> Tensor:
    """The gradient of a convolution by its input, used as a layer: enlarges `input` to `output_shape`."""
    n = _dims(_convert(input), data_format)
    function = {1: conv1d_transpose, 2: conv2d_transpose, 3: conv3d_transpose}[n]
    extra = {} if data_format is None else {"data_format": data_format}
    return function(input=input, filters=filters, output_shape=output_shape, strides=strides, padding=padding, dilations=dilations, name=name, **extra)


def _dims(value: Any, data_format: Any) -> int:
    n = (value.shape.rank if value.shape.rank is not None else len(data_format)) - 2
    if n not in (1, 2, 3):
        raise ValueError(f"`num_spatial_dims` must be 1, 2, or 3. Received: num_spatial_dims={n}.")
    return n


def convolution(
    input: Any, filter: Any = None, padding: Any = "VALID", strides: Any = None, dilation_rate: Any = None,  # noqa: A002
    name: str | None = None, data_format: Any = None, filters: Any = None, dilations: Any = None,
) -> Any:
    """Convolution over 1, 2 or 3 spatial dimensions, with strides or dilations."""
    filters = _given(filters, filter, "filters", "filter")
    dilations = dilation_rate if dilations is None else dilations
    with name_scope(name, "convolution", [input, filters]):
        x, filters = _convert(input, name="input"), _convert(filters, name="filter")
        n = _dims(x, data_format)
        if n == 1:
            return conv1d(x, filters, strides, padding, data_format=data_format, dilations=dilations)
        return _op(f"Conv{n}D", [x, filters], _attrs(n, strides, padding, data_format, dilations))


def convolution_v2(
    input: Any, filters: Any, strides: Any = None, padding: Any = "VALID", data_format: Any = None,  # noqa: A002
    dilations: Any = None, name: str | None = None,
) -> Tensor:
    """Convolution over 1, 2 or 3 spatial dimensions, with strides or dilations."""
    return convolution(input, filters, padding, strides, dilations, name, data_format)


def atrous_conv2d(value: Any, filters: Any, rate: int, padding: Any, name: str | None = None) -> Tensor:
    """2-D convolution whose filters have `rate - 1` holes between their values."""
    return convolution(value, filters, padding, dilation_rate=[rate, rate], name=name)


def atrous_conv2d_transpose(value: Any, filters: Any, output_shape: Any, rate: int, padding: Any, name: str | None = None) -> Tensor:
    """The transpose of `atrous_conv2d`, to `output_shape`."""
    return conv2d_transpose(value, filters, output_shape, [1, 1, 1, 1], padding, name=name, dilations=[rate, rate])


def depthwise_conv2d(
    input: Any, filter: Any, strides: Any, padding: Any, rate: Any = None, name: str | None = None,  # noqa: A002
    data_format: Any = None, dilations: Any = None,
) -> Tensor:
    """2-D convolution of each channel with filters of its own."""
    rate = rate if dilations is None else dilations
    with name_scope(name, "depthwise", [input, filter]) as scope:
        x, filters = _convert(input, name="tensor_in"), _convert(filter, name="filter_in")
        return _op("DepthwiseConv2dNative", [x, filters], _attrs(2, strides, padding, data_format, rate), scope)


def separable_conv2d(
    input: Any, depthwise_filter: Any, pointwise_filter: Any, strides: Any, padding: Any, rate: Any = None,  # noqa: A002
    name: str | None = None, data_format: Any = None, dilations: Any = None,
) -> Tensor:
    """A depthwise 2-D convolution, then a pointwise one that mixes channels."""
    rate = rate if dilations is None else dilations
    with name_scope(name, "separable_conv2d", [input, depthwise_filter, pointwise_filter]) as scope:
        if not dispatch.executing_eagerly():  # nodes that TensorFlow leaves
            array_ops.shape(depthwise_filter)
            index_values.tensor(list(rate or [1, 1]), "dilation_rate")
        deep = depthwise_conv2d(input, depthwise_filter, strides, padding, rate, "depthwise", data_format)
        return _op("Conv2D", [deep, pointwise_filter], _attrs(2, 1, "VALID", data_format, 1), scope)


# ---- Pools.


def _pool(op: str, n: int, value: Any, ksize: Any, strides: Any, padding: Any, data_format: Any, name: Any) -> Any:
    data_format = data_format or _LAST[n]
    at = 1 if data_format.startswith("NC") else n + 1
    word, explicit = _padding(padding)
    attrs = {"ksize": _sizes(ksize, "ksize", n, at), "strides": _sizes(strides, "strides", n, at), "padding": word, "data_format": data_format}
    if explicit:
        attrs["explicit_paddings"] = explicit
    return _op(op, [value], attrs, name)


def max_pool3d(input: Any, ksize: Any, strides: Any, padding: Any, data_format: str = "NDHWC", name: str | None = None) -> Tensor:  # noqa: A002
    """Largest value of each window of a volume."""
    return _pool("MaxPool3D", 3, input, ksize, strides, padding, data_format, name)


def avg_pool3d(input: Any, ksize: Any, strides: Any, padding: Any, data_format: str = "NDHWC", name: str | None = None) -> Tensor:  # noqa: A002
    """Mean of each window of a volume."""
    return _pool("AvgPool3D", 3, input, ksize, strides, padding, data_format, name)


def _pool1d(op: str, value: Any, ksize: Any, strides: Any, padding: Any, data_format: Any, name: Any) -> Any:
    at, image = _flat(value, data_format)
    first = image == "NCHW"
    with name_scope(name, op + "1d", [value]):
        wide = array_ops.expand_dims(_convert(value), at)
        out = _pool(op, 2, wide, _one_row(ksize, first), _one_row(strides, first), padding, image, None)
        return array_ops.squeeze(out, [at])


def max_pool1d(input: Any, ksize: Any, strides: Any, padding: Any, data_format: str = "NWC", name: str | None = None) -> Tensor:  # noqa: A002
    """Largest value of each window of a sequence."""
    return _pool1d("MaxPool", input, ksize, strides, padding, data_format, name)


def avg_pool1d(input: Any, ksize: Any, strides: Any, padding: Any, data_format: str = "NWC", name: str | None = None) -> Tensor:  # noqa: A002
    """Mean of each window of a sequence."""
    return _pool1d("AvgPool", input, ksize, strides, padding, data_format, name)


def max_pool_with_argmax(
    input: Any, ksize: Any, strides: Any, padding: Any, data_format: str = "NHWC", Targmax: Any = None,  # noqa: A002, N803
    name: str | None = None, output_dtype: Any = None, include_batch_in_index: bool = False,
) -> Outputs["MaxPoolWithArgmax"]:
    """Largest value of each window, and its flat index in the image."""
    if data_format != "NHWC":
        raise ValueError(f"`data_format` values other  than 'NHWC' are not supported. Received: data_format={data_format}")
    attrs = {
        "ksize": _sizes(ksize, "ksize"), "strides": _sizes(strides, "strides"), "padding": padding,
        "Targmax": output_dtype or Targmax or dtypes.int64, "include_batch_in_index": include_batch_in_index,
    }
    return _op("MaxPoolWithArgmax", [input], attrs, name)


def pool(
    input: Any, window_shape: Any, pooling_type: str, padding: Any, dilation_rate: Any = None, strides: Any = None,  # noqa: A002
    name: str | None = None, data_format: Any = None, dilations: Any = None,
) -> Tensor:
    """Pooling over spatial dimensions: `pooling_type` is MAX or AVG."""
    dilations = dilation_rate if dilations is None else dilations
    if dilations is not None and any(d != 1 for d in ([dilations] if isinstance(dilations, int) else dilations)):
        raise NotImplementedError("pool with windows that skip")
    if pooling_type not in ("MAX", "AVG"):
        raise ValueError(f"`pooling_type` must be 'MAX' or 'AVG'. Received: pooling_type={pooling_type}")
    with name_scope(name, f"{pooling_type.lower()}_pool", [input]):
        x = _convert(input)
        n = _dims(x, data_format)
        strides = [1] * n if strides is None else strides
        op = {"MAX": "MaxPool", "AVG": "AvgPool"}[pooling_type]
        if n == 1:
            return _pool1d(op, x, window_shape, strides, padding, data_format, None)
        return _pool(op + ("3D" if n == 3 else ""), n, x, list(window_shape), strides, padding, data_format, None)


def pool_v2(
    input: Any, window_shape: Any, pooling_type: str, strides: Any = None, padding: Any = "VALID", data_format: Any = None,  # noqa: A002
    dilations: Any = None, name: str | None = None,
) -> Any:
    """Pooling over spatial dimensions: `pooling_type` is MAX or AVG."""
    return pool(input, window_shape, pooling_type, padding, dilations, strides, name, data_format)


# ---- The same with the smallest and the largest of sums.


def dilation2d(
    input: Any, filter: Any = None, strides: Any = None, rates: Any = None, padding: Any = None,  # noqa: A002
    name: str | None = None, filters: Any = None, dilations: Any = None,
) -> Tensor:
    """Grayscale dilation: the largest sum of image and filter in each window."""
    attrs = {"strides": list(strides), "rates": list(_given(dilations, rates, "dilations", "rates")), "padding": padding}
    return _op("Dilation2D", [input, _given(filters, filter, "filters", "filter")], attrs, name)


def dilation2d_v2(input: Any, filters: Any, strides: Any, padding: Any, data_format: str, dilations: Any, name: str | None = None) -> Any:  # noqa: A002
    """Grayscale dilation: the largest sum of image and filter in each window."""
    if data_format != "NHWC":
        raise ValueError(f"`data_format` values other  than 'NHWC' are not supported. Received: data_format={data_format}")
    return dilation2d(input, filters, strides, dilations, padding, name)


def erosion2d(value: Any, kernel: Any, strides: Any, rates: Any, padding: Any, name: str | None = None) -> Tensor:
    """Grayscale erosion: the smallest difference of image and filter in each window."""
    with name_scope(name, "erosion2d", [value, kernel]) as scope:
        turned = _op("ReverseV2", [kernel, [0, 1]], {})
        return _op("Neg", [dilation2d(_op("Neg", [value], {}), turned, strides, rates, padding)], {}, scope)


def erosion2d_v2(value: Any, filters: Any, strides: Any, padding: Any, data_format: str, dilations: Any, name: str | None = None) -> Any:
    """Grayscale erosion: the smallest difference of image and filter in each window."""
    return erosion2d(value, filters, strides, dilations, padding, name)


def conv2d_backprop_input(
    input_sizes: Any, filter: Any = None, out_backprop: Any = None, strides: Any = None, padding: Any = None,  # noqa: A002
    use_cudnn_on_gpu: bool = True, data_format: str = "NHWC", dilations: Any = (1, 1, 1, 1), name: str | None = None, filters: Any = None,
) -> Tensor:
    """Gradient of a 2-D convolution by its input."""
    filters = _given(filters, filter, "filters", "filter")
    return _op("Conv2DBackpropInput", [input_sizes, filters, out_backprop], _attrs(2, strides, padding, data_format, dilations), name)


def conv2d_backprop_filter(
    input: Any, filter_sizes: Any, out_backprop: Any, strides: Any, padding: Any, use_cudnn_on_gpu: bool = True,  # noqa: A002
    data_format: str = "NHWC", dilations: Any = (1, 1, 1, 1), name: str | None = None,
) -> Tensor:
    """Gradient of a 2-D convolution by its filters."""
    return _op("Conv2DBackpropFilter", [input, filter_sizes, out_backprop], _attrs(2, strides, padding, data_format, dilations), name)
