"""Gradients of neural network operations."""

from __future__ import annotations

from typing import Any

from emplace.framework import array_ops, math_ops
from emplace.framework.dispatch import execute as _op
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


@gradient("LeakyRelu")
def _leaky_relu(op: Any, grad: Any) -> Any:
    return _op("LeakyReluGrad", [grad, op.inputs[0]], {"alpha": op.get_attr("alpha")})


@gradient("Elu")
def _elu(op: Any, grad: Any) -> Any:
    return _op("EluGrad", [grad, op.outputs[0]], {})


@gradient("Selu")
def _selu(op: Any, grad: Any) -> Any:
    return _op("SeluGrad", [grad, op.outputs[0]], {})


@gradient("Softplus")
def _softplus(op: Any, grad: Any) -> Any:
    return grad * math_ops.sigmoid(op.inputs[0])


@gradient("Softsign")
def _softsign(op: Any, grad: Any) -> Any:
    return grad / _op("Square", [1 + math_ops.abs(op.inputs[0])], {})


@gradient("Softmax")
def _softmax(op: Any, grad: Any) -> Any:
    y = op.outputs[0]
    return (grad - math_ops.reduce_sum(grad * y, -1, keepdims=True)) * y


@gradient("LogSoftmax")
def _log_softmax(op: Any, grad: Any) -> Any:
    return grad - math_ops.reduce_sum(grad, -1, keepdims=True) * math_ops.exp(op.outputs[0])


@gradient("SoftmaxCrossEntropyWithLogits")
def _softmax_cross_entropy(op: Any, loss: Any, backprop: Any) -> Any:
    """`backprop` holds the derivative for a gradient of one; its own gradient is the softmax's."""
    column = array_ops.expand_dims(loss, -1)
    logits = op.inputs[0]
    to_logits = column * op.outputs[1]
    if backprop is not None:
        probabilities = _op("Softmax", [logits], {})
        inner = math_ops.reduce_sum(backprop * probabilities, -1, keepdims=True)
        to_logits = to_logits + (backprop - inner) * probabilities
    return to_logits, column * -_op("LogSoftmax", [logits], {})


@gradient("SparseSoftmaxCrossEntropyWithLogits")
def _sparse_softmax_cross_entropy(op: Any, loss: Any, backprop: Any) -> Any:
    to_logits = array_ops.expand_dims(loss, -1) * op.outputs[1]
    if backprop is not None:
        probabilities = _op("Softmax", [op.inputs[0]], {})
        inner = math_ops.reduce_sum(backprop * probabilities, -1, keepdims=True)
        to_logits = to_logits + (backprop - inner) * probabilities
    return to_logits, None


@gradient("L2Loss")
def _l2_loss(op: Any, grad: Any) -> Any:
    return op.inputs[0] * grad


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else value


@gradient("BiasAdd")
def _bias_add(op: Any, grad: Any) -> Any:
    return grad, _op("BiasAddGrad", [grad], {"data_format": _text(op.get_attr("data_format"))})


@gradient("BiasAddGrad")
def _bias_add_grad(op: Any, grad: Any) -> Any:
    x = op.inputs[0]
    sizes = [1] * x.shape.rank
    sizes[1 if _text(op.get_attr("data_format")) == "NCHW" else -1] = -1
    return _op("BroadcastTo", [array_ops.reshape(grad, sizes), array_ops.shape(x)], {})


_CONV = ("strides", "padding", "explicit_paddings", "data_format", "dilations")


def _attrs(op: Any, names: Any) -> dict[str, Any]:
    return {n: _text(op.get_attr(n)) for n in names}


@gradient("Conv2D")
def _conv2d(op: Any, grad: Any) -> Any:
    x, filters = op.inputs
    attrs = _attrs(op, _CONV)
    return (
        _op("Conv2DBackpropInput", [array_ops.shape(x), filters, grad], attrs),
        _op("Conv2DBackpropFilter", [x, array_ops.shape(filters), grad], attrs),
    )


@gradient("Conv2DBackpropInput")
def _conv2d_backprop_input(op: Any, grad: Any) -> Any:
    _, filters, out = op.inputs
    attrs = _attrs(op, _CONV)
    return None, _op("Conv2DBackpropFilter", [grad, array_ops.shape(filters), out], attrs), _op("Conv2D", [grad, filters], attrs)


@gradient("DepthwiseConv2dNative")
def _depthwise(op: Any, grad: Any) -> Any:
    x, filters = op.inputs
    attrs = _attrs(op, _CONV)
    return (
        _op("DepthwiseConv2dNativeBackpropInput", [array_ops.shape(x), filters, grad], attrs),
        _op("DepthwiseConv2dNativeBackpropFilter", [x, array_ops.shape(filters), grad], attrs),
    )


_POOL = ("ksize", "strides", "padding", "data_format")


@gradient("MaxPool")
def _max_pool(op: Any, grad: Any) -> Any:
    return _op("MaxPoolGrad", [op.inputs[0], op.outputs[0], grad], _attrs(op, _POOL))


@gradient("AvgPool")
def _avg_pool(op: Any, grad: Any) -> Any:
    return _op("AvgPoolGrad", [array_ops.shape(op.inputs[0]), grad], _attrs(op, _POOL))


@gradient("LRN")
def _lrn(op: Any, grad: Any) -> Any:
    attrs = _attrs(op, ("depth_radius", "bias", "alpha", "beta"))
    return _op("LRNGrad", [grad, op.inputs[0], op.outputs[0]], attrs)


@gradient("FusedBatchNormV3")
def _fused_batch_norm(op: Any, grad: Any, *_: Any) -> Any:
    x, scale = op.inputs[0], op.inputs[1]
    training = op.get_attr("is_training")
    first, second = (op.outputs[3], op.outputs[4]) if training else (op.inputs[3], op.inputs[4])
    attrs = _attrs(op, ("epsilon", "data_format", "is_training"))
    out = _op("FusedBatchNormGradV3", [grad, x, scale, first, second, op.outputs[5]], attrs)
    return out[0], out[1], out[2], None, None
