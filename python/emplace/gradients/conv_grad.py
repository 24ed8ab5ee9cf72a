"""Gradients of convolutions, pools and patches. Each family is closed: its members are each other's
gradients, so that second derivatives need no rows of their own."""

from __future__ import annotations

from typing import Any

import numpy as np

from emplace.framework import array_ops, dtypes, math_ops
from emplace.framework.dispatch import execute as _op
from emplace.gradients.common import attributes, is_eager, number, text
from emplace.gradients.registry import gradient


def _convolution(forward: str, to_input: str, to_filter: str, names: str, shapes_at_once: bool) -> None:
    """Linear in the image and in the filters."""

    def shapes(x: Any, filters: Any) -> Any:
        if shapes_at_once:
            return iter(_op("ShapeN", [[x, filters]], {}))
        return (array_ops.shape(t) for t in (x, filters))

    @gradient(forward)
    def of_forward(op: Any, grad: Any) -> Any:
        (x, filters), attrs = op.inputs, attributes(op, names)
        sizes = shapes(x, filters)
        to_x = _op(to_input, [next(sizes), filters, grad], attrs)
        return to_x, _op(to_filter, [x, next(sizes), grad], attrs)

    @gradient(to_input)
    def of_input(op: Any, grad: Any) -> Any:
        (_, filters, out), attrs = op.inputs, attributes(op, names)
        to_filters = _op(to_filter, [grad, array_ops.shape(filters), out], attrs)
        return None, to_filters, _op(forward, [grad, filters], attrs)

    @gradient(to_filter)
    def of_filter(op: Any, grad: Any) -> Any:
        (x, _, out), attrs = op.inputs, attributes(op, names)
        return _op(to_input, [array_ops.shape(x), grad, out], attrs), None, _op(forward, [x, grad], attrs)


_CONV = "strides padding explicit_paddings data_format dilations"
_convolution("Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter", _CONV + " use_cudnn_on_gpu", True)
_convolution("DepthwiseConv2dNative", "DepthwiseConv2dNativeBackpropInput", "DepthwiseConv2dNativeBackpropFilter", _CONV, False)
_convolution("Conv3D", "Conv3DBackpropInputV2", "Conv3DBackpropFilterV2", "strides padding data_format dilations", True)

_POOL = "ksize strides padding data_format"


def _max_pool(forward: str, names: str, sizes: int) -> None:
    """Its gradients are linear in what they got, and flat in the values they chose by. `sizes`: inputs
    that tell the window."""
    back, again = (forward.replace("V2", "") + suffix + ("V2" if "V2" in forward else "") for suffix in ("Grad", "GradGrad"))
    nothing = [None] * sizes

    @gradient(forward)
    def of_forward(op: Any, grad: Any) -> Any:
        return [_op(back, [op.inputs[0], op.outputs[0], grad, *op.inputs[1:]], attributes(op, names)), *nothing]

    def turned(op_type: str, other: str) -> None:
        @gradient(op_type)
        def function(op: Any, grad: Any) -> Any:
            x, y = op.inputs[:2]
            zeros = array_ops.zeros_like(x), array_ops.zeros_like(y)
            return [*zeros, _op(other, [x, y, grad, *op.inputs[3:]], attributes(op, names)), *nothing]

    turned(back, again)
    turned(again, back)


_max_pool("MaxPool", _POOL, 0)
_max_pool("MaxPool3D", _POOL, 0)
_max_pool("MaxPoolV2", "padding data_format", 2)


def _average_pool(forward: str, back: str) -> None:
    @gradient(forward)
    def of_forward(op: Any, grad: Any) -> Any:
        return _op(back, [array_ops.shape(op.inputs[0]), grad], attributes(op, _POOL))

    @gradient(back)
    def of_back(op: Any, grad: Any) -> Any:
        if not is_eager(grad):
            array_ops.stop_gradient(op.inputs[0])  # TensorFlow makes it, and leaves it
        return None, _op(forward, [grad], attributes(op, _POOL))


_average_pool("AvgPool", "AvgPoolGrad")
_average_pool("AvgPool3D", "AvgPool3DGrad")


@gradient("MaxPoolWithArgmax")
def _max_pool_argmax(op: Any, grad: Any, _: Any) -> Any:
    attrs = attributes(op, "ksize strides padding include_batch_in_index")
    return _op("MaxPoolGradWithArgmax", [op.inputs[0], grad, op.outputs[1]], attrs)


@gradient("FractionalMaxPool")
def _fractional_max_pool(op: Any, grad: Any, *_: Any) -> Any:
    return _op("FractionalMaxPoolGrad", [op.inputs[0], op.outputs[0], grad, *op.outputs[1:]], attributes(op, "overlapping"))


@gradient("FractionalAvgPool")
def _fractional_avg_pool(op: Any, grad: Any, *_: Any) -> Any:
    shape = _op("Shape", [op.inputs[0]], {"out_type": dtypes.int64})
    return _op("FractionalAvgPoolGrad", [shape, grad, *op.outputs[1:]], attributes(op, "overlapping"))


@gradient("BlockLSTM", "BlockLSTMV2")
def _block_lstm(op: Any, *grads: Any) -> Any:
    kind = op.type.replace("LSTM", "LSTMGrad")
    return (None, *_op(kind, [*op.inputs, *op.outputs, grads[1], grads[6]], attributes(op, "use_peephole")))


@gradient("Dilation2D")
def _dilation(op: Any, grad: Any) -> Any:
    attrs = attributes(op, "strides rates padding")
    x, filters = op.inputs
    return _op("Dilation2DBackpropInput", [x, filters, grad], attrs), _op("Dilation2DBackpropFilter", [x, filters, grad], attrs)


def _patches(x: Any, grad: Any, window: list[int], op_type: str, attrs: dict[str, Any]) -> Any:
    """Patches are a convolution whose filters each pick one element of the window."""
    depth = x.shape.as_list()[-1]
    if depth is None:
        raise ValueError("the gradient of patches needs the last dimension to be known")
    count = int(np.prod(window)) * depth
    filters = np.eye(count, dtype=x.dtype.base_dtype.as_numpy_dtype).reshape([*window, depth, count])
    return _op(op_type, [array_ops.shape(x), number(filters, x), grad], attrs)


@gradient("ExtractImagePatches")
def _image_patches(op: Any, grad: Any) -> Any:
    """In graphs, patches of numbered pixels tell which pixel each number of the gradient belongs to."""
    if not is_eager(grad):
        return _summed_pixels(op, grad)
    attrs = {"strides": op.get_attr("strides"), "dilations": op.get_attr("rates"), "padding": text(op.get_attr("padding"))}
    return _patches(op.inputs[0], grad, list(op.get_attr("ksizes"))[1:3], "Conv2DBackpropInput", attrs)


def _summed_pixels(op: Any, grad: Any) -> Any:
    x = op.inputs[0]
    batch, rows, columns, depth = array_ops.unstack(array_ops.shape(x, out_type=dtypes.int64))
    down, across = array_ops.unstack(array_ops.shape(op.outputs[0], out_type=dtypes.int64)[1:3])
    high, wide = list(op.get_attr("ksizes"))[1:3]
    pixels = rows * columns
    inexact = x.shape[1:3].is_fully_defined() and x.shape[1:3].num_elements() >= 2**24
    numbers = math_ops.range(1, pixels + 1, dtype=dtypes.float64 if inexact else dtypes.float32)
    numbered = _op("ExtractImagePatches", [array_ops.reshape(numbers, (1, rows, columns, 1))], attributes(op, "ksizes strides rates padding"))
    which = math_ops.cast(numbered, dtypes.int64)
    apart = array_ops.transpose(array_ops.reshape(grad, (batch, down, across, high, wide, depth)), (1, 2, 3, 4, 0, 5))
    flat = array_ops.reshape(apart, (-1, batch * depth))
    total = _op("UnsortedSegmentSum", [flat, array_ops.reshape(which, (-1,)) - 1, pixels], {})
    return array_ops.transpose(array_ops.reshape(total, (rows, columns, batch, depth)), (2, 0, 1, 3))


@gradient("ExtractVolumePatches")
def _volume_patches(op: Any, grad: Any) -> Any:
    attrs = attributes(op, "strides padding")
    return _patches(op.inputs[0], grad, list(op.get_attr("ksizes"))[1:4], "Conv3DBackpropInputV2", attrs)
