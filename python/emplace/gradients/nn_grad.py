"""Gradients of neural network operations."""

from __future__ import annotations

from typing import Any

from emplace.framework import array_ops, math_ops
from emplace.framework.dispatch import execute as _op
from emplace.gradients.common import attributes, is_eager, known, text
from emplace.gradients.registry import gradient, no_gradient

no_gradient("InTopKV2")


@gradient("Relu")
def _relu(op: Any, grad: Any) -> Any:
    return _op("ReluGrad", [grad, op.outputs[0]], {})


@gradient("ReluGrad")
def _relu_grad(op: Any, grad: Any) -> Any:
    x = op.inputs[1]
    return _op("ReluGrad", [grad, x], {}), array_ops.zeros_like(x)


@gradient("Relu6")
def _relu6(op: Any, grad: Any) -> Any:
    return _op("Relu6Grad", [grad, op.outputs[0]], {})


@gradient("Relu6Grad")
def _relu6_grad(op: Any, grad: Any) -> Any:
    x = op.inputs[1]
    return _op("Relu6Grad", [grad, x], {}), array_ops.zeros_like(x)


@gradient("LeakyRelu")
def _leaky_relu(op: Any, grad: Any) -> Any:
    return _op("LeakyReluGrad", [grad, op.inputs[0]], {"alpha": op.get_attr("alpha")})


@gradient("LeakyReluGrad")
def _leaky_relu_grad(op: Any, grad: Any) -> Any:
    x = op.inputs[1]
    return _op("LeakyReluGrad", [grad, x], {"alpha": op.get_attr("alpha")}), array_ops.zeros_like(x)


@gradient("Elu")
def _elu(op: Any, grad: Any) -> Any:
    return _op("EluGrad", [grad, op.outputs[0]], {})


def _below_zero(op: Any, value: Any) -> Any:
    """`value` where the forward result was negative: there the slope depends on it."""
    y = op.inputs[1]
    select = array_ops.where_v2 if is_eager(y) else array_ops.where
    return select(y < 0, value(), array_ops.zeros_like(y))


@gradient("EluGrad")
def _elu_grad(op: Any, grad: Any) -> Any:
    upstream, y = op.inputs
    return _op("EluGrad", [grad, y], {}), _below_zero(op, lambda: grad * upstream)


@gradient("Selu")
def _selu(op: Any, grad: Any) -> Any:
    return _op("SeluGrad", [grad, op.outputs[0]], {})


@gradient("SeluGrad")
def _selu_grad(op: Any, grad: Any) -> Any:
    y = op.inputs[1]
    return _op("SeluGrad", [grad, y], {}), _below_zero(op, lambda: grad * op.inputs[0])


@gradient("Softplus")
def _softplus(op: Any, grad: Any) -> Any:
    return grad * math_ops.sigmoid(op.inputs[0])


@gradient("SoftplusGrad")
def _softplus_grad(op: Any, grad: Any) -> Any:
    """d/dx of dy * sigmoid(x)."""
    upstream, x = op.inputs
    slope = math_ops.sigmoid(x)
    return grad * slope, grad * upstream * slope * (1.0 - slope)


@gradient("Softsign")
def _softsign(op: Any, grad: Any) -> Any:
    return _op("SoftsignGrad", [grad, op.inputs[0]], {})


@gradient("Softmax")
def _softmax(op: Any, grad: Any) -> Any:
    y = op.outputs[0]
    return (grad - math_ops.reduce_sum(grad * y, -1, keepdims=True)) * y


@gradient("LogSoftmax")
def _log_softmax(op: Any, grad: Any) -> Any:
    softmax = math_ops.exp(op.outputs[0])
    return grad - math_ops.reduce_sum(grad, -1, keepdims=True) * softmax


def _columns(loss: Any, rows: Any) -> Any:
    return array_ops.expand_dims(loss, -1) * rows


def _may_matter(grad: Any) -> bool:
    """Whether a gradient of the second output is more than the zeros that stand for none."""
    if grad is None:
        return False
    if is_eager(grad):
        return True
    if grad.op.type in ("ZerosLike", "Zeros"):
        return False
    value = known(grad)
    return value is None or bool(value.any())


@gradient("SoftmaxCrossEntropyWithLogits")
def _softmax_cross_entropy(op: Any, loss: Any, backprop: Any) -> Any:
    """`backprop` holds the derivative for a gradient of one; its own gradient is the softmax's."""
    logits = op.inputs[0]
    to_logits = _columns(loss, op.outputs[1])
    if _may_matter(backprop):
        softmax = _op("Softmax", [logits], {})
        inner = math_ops.matmul(array_ops.expand_dims(backprop, 1), array_ops.expand_dims(softmax, 2))
        to_logits = to_logits + (backprop - array_ops.squeeze(inner, axis=1)) * softmax
    return to_logits, _columns(loss, -_op("LogSoftmax", [logits], {}))


@gradient("SparseSoftmaxCrossEntropyWithLogits")
def _sparse_softmax_cross_entropy(op: Any, loss: Any, backprop: Any) -> Any:
    to_logits = _columns(loss, op.outputs[1])
    if _may_matter(backprop):
        softmax = _op("Softmax", [op.inputs[0]], {})
        inner = math_ops.matmul(array_ops.expand_dims(backprop, 1), array_ops.expand_dims(softmax, 2))
        to_logits = to_logits + (backprop - array_ops.squeeze(inner, axis=1)) * softmax
    return to_logits, None


@gradient("L2Loss")
def _l2_loss(op: Any, grad: Any) -> Any:
    return op.inputs[0] * grad


@gradient("BiasAdd")
def _bias_add(op: Any, grad: Any) -> Any:
    return grad, _op("BiasAddGrad", [grad], {"data_format": text(op.get_attr("data_format"))})


@gradient("BiasAddGrad")
def _bias_add_grad(op: Any, grad: Any) -> Any:
    """The bias's gradient, repeated over all the other axes."""
    x = op.inputs[0]
    if is_eager(x):
        sizes = [1] * x.shape.rank
        sizes[1 if text(op.get_attr("data_format")) == "NCHW" else -1] = -1
        return _op("BroadcastTo", [array_ops.reshape(grad, sizes), array_ops.shape(x)], {})
    shape, bias = array_ops.shape(x), array_ops.shape(grad)
    if text(op.get_attr("data_format")) == "NCHW":
        ones = array_ops.ones_like(shape[2:])
        narrow = array_ops.concat([array_ops.ones_like(shape[:1]), bias, ones], 0)
        times = array_ops.concat([shape[:1], [1], shape[2:]], 0)
    else:
        narrow = array_ops.concat([array_ops.ones_like(shape[:-1]), bias], 0)
        times = array_ops.concat([shape[:-1], [1]], 0)
    return _op("Tile", [array_ops.reshape(grad, narrow), times], {})


_CONV = "strides padding explicit_paddings data_format dilations"
_CONV_2D = _CONV + " use_cudnn_on_gpu"
_CONV_3D = "strides padding data_format dilations"


def _shapes(*tensors: Any) -> Any:
    return _op("ShapeN", [list(tensors)], {})


@gradient("Conv2D")
def _conv2d(op: Any, grad: Any) -> Any:
    x, filters = op.inputs
    attrs = attributes(op, _CONV_2D)
    of_x, of_filters = _shapes(x, filters)
    return (
        _op("Conv2DBackpropInput", [of_x, filters, grad], attrs),
        _op("Conv2DBackpropFilter", [x, of_filters, grad], attrs),
    )


@gradient("Conv2DBackpropInput")
def _conv2d_backprop_input(op: Any, grad: Any) -> Any:
    _, filters, out = op.inputs
    attrs = attributes(op, _CONV_2D)
    to_filters = _op("Conv2DBackpropFilter", [grad, array_ops.shape(filters), out], attrs)
    return None, to_filters, _op("Conv2D", [grad, filters], attrs)


@gradient("Conv2DBackpropFilter")
def _conv2d_backprop_filter(op: Any, grad: Any) -> Any:
    x, _, out = op.inputs
    attrs = attributes(op, _CONV_2D)
    to_x = _op("Conv2DBackpropInput", [array_ops.shape(x), grad, out], attrs)
    return to_x, None, _op("Conv2D", [x, grad], attrs)


@gradient("DepthwiseConv2dNative")
def _depthwise(op: Any, grad: Any) -> Any:
    x, filters = op.inputs
    attrs = attributes(op, _CONV)
    return (
        _op("DepthwiseConv2dNativeBackpropInput", [array_ops.shape(x), filters, grad], attrs),
        _op("DepthwiseConv2dNativeBackpropFilter", [x, array_ops.shape(filters), grad], attrs),
    )


@gradient("DepthwiseConv2dNativeBackpropInput")
def _depthwise_input(op: Any, grad: Any) -> Any:
    _, filters, out = op.inputs
    attrs = attributes(op, _CONV)
    to_filters = _op("DepthwiseConv2dNativeBackpropFilter", [grad, array_ops.shape(filters), out], attrs)
    return None, to_filters, _op("DepthwiseConv2dNative", [grad, filters], attrs)


@gradient("DepthwiseConv2dNativeBackpropFilter")
def _depthwise_filter(op: Any, grad: Any) -> Any:
    x, _, out = op.inputs
    attrs = attributes(op, _CONV)
    to_x = _op("DepthwiseConv2dNativeBackpropInput", [array_ops.shape(x), grad, out], attrs)
    return to_x, None, _op("DepthwiseConv2dNative", [x, grad], attrs)


@gradient("Conv3D")
def _conv3d(op: Any, grad: Any) -> Any:
    x, filters = op.inputs
    attrs = attributes(op, _CONV_3D)
    of_x, of_filters = _shapes(x, filters)
    return (
        _op("Conv3DBackpropInputV2", [of_x, filters, grad], attrs),
        _op("Conv3DBackpropFilterV2", [x, of_filters, grad], attrs),
    )


@gradient("Conv3DBackpropInputV2")
def _conv3d_backprop_input(op: Any, grad: Any) -> Any:
    _, filters, out = op.inputs
    attrs = attributes(op, _CONV_3D)
    to_filters = _op("Conv3DBackpropFilterV2", [grad, array_ops.shape(filters), out], attrs)
    return None, to_filters, _op("Conv3D", [grad, filters], attrs)


@gradient("Conv3DBackpropFilterV2")
def _conv3d_backprop_filter(op: Any, grad: Any) -> Any:
    x, _, out = op.inputs
    attrs = attributes(op, _CONV_3D)
    to_x = _op("Conv3DBackpropInputV2", [array_ops.shape(x), grad, out], attrs)
    return to_x, None, _op("Conv3D", [x, grad], attrs)


_POOL = "ksize strides padding data_format"


@gradient("MaxPool")
def _max_pool(op: Any, grad: Any) -> Any:
    return _op("MaxPoolGrad", [op.inputs[0], op.outputs[0], grad], attributes(op, _POOL))


@gradient("MaxPoolGrad", "MaxPool3DGrad")
def _max_pool_grad(op: Any, grad: Any) -> Any:
    """Linear in the gradient it got; flat in the values it chose by."""
    x, y = op.inputs[0], op.inputs[1]
    zeros = array_ops.zeros_like(x), array_ops.zeros_like(y)
    return *zeros, _op(op.type + "Grad", [x, y, grad], attributes(op, _POOL))


@gradient("MaxPoolWithArgmax")
def _max_pool_argmax(op: Any, grad: Any, _: Any) -> Any:
    attrs = attributes(op, "ksize strides padding include_batch_in_index")
    return _op("MaxPoolGradWithArgmax", [op.inputs[0], grad, op.outputs[1]], attrs)


@gradient("MaxPool3D")
def _max_pool3d(op: Any, grad: Any) -> Any:
    return _op("MaxPool3DGrad", [op.inputs[0], op.outputs[0], grad], attributes(op, _POOL))


@gradient("AvgPool")
def _avg_pool(op: Any, grad: Any) -> Any:
    return _op("AvgPoolGrad", [array_ops.shape(op.inputs[0]), grad], attributes(op, _POOL))


@gradient("AvgPoolGrad")
def _avg_pool_grad(op: Any, grad: Any) -> Any:
    return None, _op("AvgPool", [grad], attributes(op, _POOL))


@gradient("AvgPool3D")
def _avg_pool3d(op: Any, grad: Any) -> Any:
    return _op("AvgPool3DGrad", [array_ops.shape(op.inputs[0]), grad], attributes(op, _POOL))


@gradient("AvgPool3DGrad")
def _avg_pool3d_grad(op: Any, grad: Any) -> Any:
    return None, _op("AvgPool3D", [grad], attributes(op, _POOL))


@gradient("Dilation2D")
def _dilation(op: Any, grad: Any) -> Any:
    attrs = attributes(op, "strides rates padding")
    x, filters = op.inputs
    return _op("Dilation2DBackpropInput", [x, filters, grad], attrs), _op("Dilation2DBackpropFilter", [x, filters, grad], attrs)


@gradient("LRN")
def _lrn(op: Any, grad: Any) -> Any:
    attrs = attributes(op, "depth_radius bias alpha beta")
    return _op("LRNGrad", [grad, op.inputs[0], op.outputs[0]], attrs)


@gradient("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
def _fused_batch_norm(op: Any, grad: Any, *_: Any) -> Any:
    x, scale = op.inputs[0], op.inputs[1]
    training = op.get_attr("is_training")
    first, second = (op.outputs[3], op.outputs[4]) if training else (op.inputs[3], op.inputs[4])
    attrs = attributes(op, "epsilon data_format is_training")
    inputs = [grad, x, scale, first, second]
    if op.type == "FusedBatchNormV3":
        inputs.append(op.outputs[5])
    out = _op(op.type.replace("Norm", "NormGrad"), inputs, attrs)
    return out[0], out[1], out[2], None, None


# ---- Images.


def _resize(op_type: str) -> None:
    def function(op: Any, grad: Any) -> Any:
        attrs = attributes(op, "align_corners half_pixel_centers")
        return _op(f"{op_type}Grad", [grad, op.inputs[0]], attrs), None

    gradient(op_type)(function)


_resize("ResizeBilinear")
_resize("ResizeBicubic")


@gradient("ResizeNearestNeighbor")
def _resize_nearest(op: Any, grad: Any) -> Any:
    x = op.inputs[0]
    sizes: Any = x.shape[1:3]
    sizes = sizes.as_list() if sizes.is_fully_defined() else array_ops.shape(x)[1:3]
    return _op("ResizeNearestNeighborGrad", [grad, sizes], attributes(op, "align_corners half_pixel_centers")), None


@gradient("CropAndResize")
def _crop_and_resize(op: Any, grad: Any) -> Any:
    image, boxes, index = op.inputs[0], op.inputs[1], op.inputs[2]
    shape = image.shape.as_list() if image.shape.is_fully_defined() else array_ops.shape(image)
    to_image = None
    if image.dtype.is_floating:
        to_image = _op("CropAndResizeGradImage", [grad, boxes, index, shape], {"T": image.dtype.base_dtype, "method": text(op.get_attr("method"))})
    return to_image, _op("CropAndResizeGradBoxes", [grad, image, boxes, index], {}), None, None
