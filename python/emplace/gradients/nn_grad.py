"""Gradients of neural network operations."""

from __future__ import annotations

from typing import Any

from emplace.framework import array_ops, math_ops
from emplace.framework.dispatch import execute as _op
from emplace.gradients.common import attributes, is_eager, known, text, through
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


@gradient("BiasAddV1")
def _bias_add_v1(op: Any, grad: Any) -> Any:
    return grad, math_ops.reduce_sum(grad, math_ops.range(array_ops.rank(grad) - 1))


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


@gradient("FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3")
def _fused_batch_norm_grad(op: Any, *grads: Any) -> Any:
    """The first derivative written out in plain operations, and theirs taken."""
    channels_first = text(op.get_attr("data_format")).startswith("NC")
    rank = op.inputs[1].shape.rank
    axes = [0, *range(2, rank)] if channels_first else list(range(rank - 1))
    narrow = [1] * rank
    narrow[1 if channels_first else -1] = -1
    epsilon, training = op.get_attr("epsilon"), op.get_attr("is_training")

    def wide(v: Any) -> Any:
        return array_ops.reshape(v, narrow)

    def first(dy: Any, x: Any, scale: Any, *given: Any) -> Any:
        mean, variance = (math_ops.reduce_mean(x, axes), math_ops.reduce_variance(x, axes)) if training else given
        inverse = math_ops.rsqrt(variance + epsilon)
        centred = (x - wide(mean)) * wide(inverse)
        to_scale, to_offset = math_ops.reduce_sum(dy * centred, axes), math_ops.reduce_sum(dy, axes)
        if training:
            count = math_ops.cast(array_ops.size(x) / array_ops.size(scale), scale.dtype)
            dy = dy - (wide(to_offset) + centred * wide(to_scale)) / count
        return [dy * wide(scale * inverse), to_scale, to_offset]

    inputs = op.inputs[:3] if training else op.inputs[:5]
    found = through(first, list(inputs), list(grads[:3]))
    return found + [None] * (len(op.inputs) - len(found))


@gradient("NthElement")
def _nth_element(op: Any, grad: Any) -> Any:
    """Shared by all that equal the element found."""
    x, found = op.inputs[0], op.outputs[0]
    hit = math_ops.cast(math_ops.equal(array_ops.expand_dims(found, -1), x), grad.dtype)
    sharing = array_ops.expand_dims(math_ops.reduce_sum(hit, -1), -1)
    return hit / sharing * array_ops.expand_dims(grad, -1), None


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


@gradient("RGBToHSV")
def _rgb_to_hsv(op: Any, grad: Any) -> Any:
    """The formulas written out; of equal channels the first counts as the largest."""
    select = array_ops.where_v2

    def hsv(rgb: Any) -> Any:
        r, g, b = array_ops.unstack(rgb, num=3, axis=-1)
        high, low = math_ops.reduce_max(rgb, -1), math_ops.reduce_min(rgb, -1)
        spread = high - low
        flat, dark = math_ops.equal(spread, 0), math_ops.equal(high, 0)
        safe, bright = select(flat, array_ops.ones_like(spread), spread), select(dark, array_ops.ones_like(high), high)
        green_or_blue = select(math_ops.equal(g, high), (b - r) / safe + 2.0, (r - g) / safe + 4.0)
        hue = select(math_ops.equal(r, high), (g - b) / safe, green_or_blue) / 6.0
        zero = array_ops.zeros_like(high)
        return [array_ops.stack([select(flat, zero, hue), select(dark, zero, spread / bright), high], axis=-1)]

    return through(hsv, [op.inputs[0]], [grad])[0]


@gradient("CTCLoss")
def _ctc_loss(op: Any, loss: Any, _: Any) -> list[Any]:
    """The operation gives the derivative beside the loss; it has none itself."""
    words = "Currently there is no way to take the second derivative of ctc_loss due to the fused implementation's interaction with tf.gradients()"
    found = _op("PreventGradient", [op.outputs[1]], {"message": words})
    return [math_ops.multiply(array_ops.expand_dims(loss, -1), found), None, None, None]
