"""Neural network functions."""

from __future__ import annotations

from typing import Any, TYPE_CHECKING

from emplace.framework.thread_state import own
from emplace.framework import array_ops, dtypes, index_values, math_ops, nn_ops, random_ops
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import convert_to_tensor as _convert

if TYPE_CHECKING:
    from emplace.framework.gen import Outputs
    from emplace.framework.tensor import Tensor


def softmax(logits: Any, axis: Any = None, name: str | None = None) -> Tensor:
    """`exp(x) / sum(exp(x))` along `axis`: values that add up to 1."""
    return nn_ops.softmax(logits, axis, name)


def log_softmax(logits: Any, axis: Any = None, name: str | None = None) -> Tensor:
    """`x - log(sum(exp(x)))` along `axis`: the logarithm of softmax."""
    return nn_ops.log_softmax(logits, axis, name)


def softmax_cross_entropy_with_logits(labels: Any, logits: Any, axis: int = -1, name: str | None = None) -> Tensor:
    """Cross entropy of the distributions `labels` and `softmax(logits)` along the class dimension."""
    return nn_ops.softmax_cross_entropy_with_logits_v2(labels, logits, axis, name)


def sparse_softmax_cross_entropy_with_logits(labels: Any, logits: Any, name: str | None = None) -> Tensor:
    """Cross entropy of class numbers `labels` and `softmax(logits)`."""
    return nn_ops.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name=name)


def weighted_cross_entropy_with_logits(labels: Any, logits: Any, pos_weight: Any, name: str | None = None) -> Tensor:
    """Sigmoid cross entropy in which the positive term counts `pos_weight` times."""
    logits = _convert(logits)
    labels = _convert(labels, dtype=logits.dtype)
    weight = 1 + (pos_weight - 1) * labels
    smooth = _op("Log1p", [math_ops.exp(-math_ops.abs(logits))], {}) + _op("Relu", [-logits], {})
    return (1 - labels) * logits + weight * smooth


def moments(x: Any, axes: Any, shift: Any = None, keepdims: bool = False, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Mean and variance over `axes`."""
    return nn_ops.moments(x, axes, shift, name, keepdims=keepdims)


def sufficient_statistics(x: Any, axes: Any, shift: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """Count, sum, sum of squares and shift over `axes`, from which moments follow."""
    x = _convert(x)
    counts = 1
    for d in set(axes):
        counts *= x.shape.as_list()[d]
    if shift is not None:
        shift = _convert(shift)
        mean, variance = x - shift, _op("SquaredDifference", [x, shift], {})
    else:
        mean, variance = x, _op("Square", [x], {})
    total = math_ops.reduce_sum(mean, list(set(axes)), keepdims=keepdims)
    squares = math_ops.reduce_sum(variance, list(set(axes)), keepdims=keepdims)
    return _convert(float(counts), x.dtype), total, squares, shift


def normalize_moments(counts: Any, mean_ss: Any, variance_ss: Any, shift: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Mean and variance from sufficient statistics."""
    divisor = _op("Reciprocal", [counts], {})
    if shift is not None:
        shifted = mean_ss * divisor
        mean = shifted + shift
    else:
        shifted = mean = mean_ss * divisor
    return mean, variance_ss * divisor - _op("Square", [shifted], {})


def weighted_moments(x: Any, axes: Any, frequency_weights: Any, keepdims: bool = False, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Mean and variance over `axes`, elements weighted by `frequency_weights`."""
    x = _convert(x)
    weights = array_ops.zeros_like(x) + math_ops.cast(frequency_weights, x.dtype)
    total = math_ops.reduce_sum(weights, axes, keepdims=True)
    mean = math_ops.reduce_sum(weights * x, axes, keepdims=True) / total
    spread = _op("SquaredDifference", [x, mean], {})
    variance = math_ops.reduce_sum(weights * spread, axes, keepdims=True) / total
    if not keepdims:
        mean, variance = array_ops.squeeze(mean, axes), array_ops.squeeze(variance, axes)
    return mean, variance


def gelu(features: Any, approximate: bool = False, name: str | None = None) -> Tensor:
    """Gaussian error linear unit: `x` times the normal distribution function; `approximate` uses tanh."""
    x = _convert(features, name="features")
    if not x.dtype.is_floating:
        raise ValueError(f"`features.dtype` must be a floating point tensor.Received:features.dtype={x.dtype}")
    if approximate:
        inner = 0.7978845608028654 * (x + 0.044715 * math_ops.pow(x, 3))
        return 0.5 * x * (1.0 + _op("Tanh", [inner], {}))
    return 0.5 * x * (1.0 + _op("Erf", [x / math_ops.cast(1.4142135623730951, x.dtype)], {}))


def silu(features: Any, beta: float = 1.0) -> Tensor:
    """`x * sigmoid(beta * x)` of each element."""
    x = _convert(features, name="features")
    return x * math_ops.sigmoid(x * _convert(beta, x.dtype))


def crelu(features: Any, axis: int = -1, name: str | None = None) -> Tensor:
    """`relu(x)` and `relu(-x)` side by side along `axis`."""
    return nn_ops.crelu(features, name, axis)


def depth_to_space(input: Any, block_size: int, data_format: str = "NHWC", name: str | None = None) -> Tensor:  # noqa: A002
    """Moves blocks of the channel dimension into height and width."""
    return array_ops.depth_to_space(input, block_size, name, data_format)


def space_to_depth(input: Any, block_size: int, data_format: str = "NHWC", name: str | None = None) -> Tensor:  # noqa: A002
    """Moves blocks of height and width into the channel dimension."""
    return array_ops.space_to_depth(input, block_size, name, data_format)


def in_top_k(targets: Any, predictions: Any, k: Any, name: str | None = None) -> Tensor:
    """Whether the target class of each row is among its `k` largest predictions."""
    return nn_ops.in_top_k(predictions, targets, k, name)


def embedding_lookup(params: Any, ids: Any, max_norm: Any = None, name: str | None = None) -> Tensor:
    """Rows of embedding tables at `ids`; `max_norm` bounds the norm of each row."""
    return nn_ops.embedding_lookup(params, ids, "div", name, True, max_norm)


def compute_average_loss(per_example_loss: Any, sample_weight: Any = None, global_batch_size: Any = None) -> Tensor:
    """Sum of losses an example, weighted, over the size of the global batch."""
    loss = _convert(per_example_loss)
    if sample_weight is not None:
        loss = loss * math_ops.cast(sample_weight, loss.dtype)
    n = _replicas("compute_average_loss") * array_ops.shape(loss)[0] if global_batch_size is None else global_batch_size
    return math_ops.reduce_sum(loss) / math_ops.cast(n, loss.dtype)


def scale_regularization_loss(regularization_loss: Any) -> Tensor:
    """A regularization loss, its sum divided by the number of replicas."""
    return math_ops.reduce_sum(regularization_loss) * (1.0 / _replicas("scale_regularization_loss"))


def _replicas(asking: str) -> Any:
    """How many share a batch, a tensor where they get unlike parts."""
    if not own.distribution:
        return 1
    context = own.distribution[-1]
    if context.replica is None:
        raise RuntimeError(f"You are calling `{asking}` in cross replica context, while it was expected to be called in replica context.")
    return context.strategy.num_replicas_in_sync


def dropout(x: Any, rate: Any, noise_shape: Any = None, seed: Any = None, name: str | None = None) -> Tensor:
    """`x` with elements dropped at `rate` and the rest scaled up, so that the expected sum stays."""
    return _dropped(x, rate, noise_shape, seed, None)


def general_dropout(x: Any, rate: Any, uniform_sampler: Any, noise_shape: Any = None, name: str | None = None) -> Tensor:
    """Dropout that asks `uniform_sampler(shape, dtype)` for its random numbers."""
    return _dropped(x, rate, noise_shape, None, lambda shape, dtype: uniform_sampler(shape=shape, dtype=dtype))


def stateless_dropout(x: Any, rate: Any, seed: Any, rng_alg: Any = "auto_select", noise_shape: Any = None, name: str | None = None) -> Tensor:
    """Dropout that depends on `seed` alone: the same elements each time."""
    return _dropped(x, rate, noise_shape, None, lambda shape, dtype: random_ops.stateless_uniform(shape, seed, dtype=dtype))


def _dropped(x: Any, rate: Any, noise_shape: Any, seed: Any, sampler: Any) -> Any:
    x = _convert(x, name="x")
    if isinstance(rate, (int, float)) and not 0 <= rate < 1:
        raise ValueError(f"`rate` must be a scalar tensor or a float in the range [0, 1). Received: rate={rate}")
    if isinstance(rate, (int, float)) and rate == 0:
        return x
    if not x.dtype.is_floating:
        raise ValueError(f"`x.dtype` must be a floating point tensor as `x` will be scaled. Received: x_dtype={x.dtype}")
    kept = 1 - rate
    scaled = x * math_ops.cast(1.0 / kept if isinstance(kept, float) else 1 / kept, x.dtype)
    sizes = array_ops.shape(x) if noise_shape is None else noise_shape
    noise = sampler(sizes, x.dtype) if sampler is not None else random_ops.random_uniform(sizes, seed=seed, dtype=x.dtype)
    return array_ops.where_v2(noise >= rate, scaled, _convert(0, x.dtype))


# ---- Convolutions and pools: sizes may be one number, one a dimension, or all of them.


def _sizes(value: Any, n: int, channels_first: bool) -> list[int]:
    value = [1] * n if value is None else [value] if isinstance(value, int) else [int(v) for v in value]
    if len(value) == n + 2:
        return value
    if len(value) == 1:
        value = value * n
    if len(value) != n:
        raise ValueError(f"sizes should be of length 1, {n} or {n + 2}. Received: {value} of length {len(value)}")
    return [1, 1, *value] if channels_first else [1, *value, 1]


def _padding(padding: Any) -> tuple[Any, list[int]]:
    if isinstance(padding, (list, tuple)):
        return "EXPLICIT", [int(p) for pair in padding for p in pair]
    return padding, []


def conv2d(
    input: Any, filters: Any, strides: Any, padding: Any, data_format: str = "NHWC", dilations: Any = None, name: str | None = None  # noqa: A002
) -> Tensor:
    """2-D convolution (cross-correlation) of images with filters [height, width, in, out]; `strides`, `padding`, `dilations` and
    layout as given."""
    first = data_format.startswith("NC")
    word, explicit = _padding(padding)
    attrs = {
        "strides": _sizes(strides, 2, first), "padding": word, "explicit_paddings": explicit,
        "data_format": data_format, "dilations": _sizes(dilations, 2, first),
    }
    return _op("Conv2D", [input, filters], attrs, name)


def conv1d(
    input: Any, filters: Any, stride: Any, padding: Any, data_format: str = "NWC", dilations: Any = None, name: str | None = None  # noqa: A002
) -> Tensor:
    """1-D convolution of `input` with `filters`."""
    input, filters = _convert(input), _convert(filters)  # noqa: A001
    first = data_format.startswith("NC")
    at = 2 if first else 1
    one = lambda v: [1, 1, 1, 1] if v is None else _sizes([1, v if isinstance(v, int) else v[len(v) // 2]], 2, first)  # noqa: E731
    out = conv2d(
        array_ops.expand_dims(input, at), array_ops.expand_dims(filters, 0), one(stride), padding,
        "NCHW" if first else "NHWC", one(dilations),
    )
    return array_ops.squeeze(out, [at])


def conv3d(
    input: Any, filters: Any, strides: Any, padding: Any, data_format: str = "NDHWC", dilations: Any = None, name: str | None = None  # noqa: A002
) -> Tensor:
    """3-D convolution of volumes with filters [depth, height, width, in, out]."""
    first = data_format.startswith("NC")
    attrs = {
        "strides": _sizes(strides, 3, first), "padding": padding, "data_format": data_format,
        "dilations": _sizes(dilations, 3, first),
    }
    return _op("Conv3D", [input, filters], attrs, name)


def conv2d_transpose(
    input: Any, filters: Any, output_shape: Any, strides: Any, padding: Any = "SAME", data_format: str = "NHWC",  # noqa: A002
    dilations: Any = None, name: str | None = None,
) -> Tensor:
    """The gradient of a convolution by its input, used as a layer: enlarges `input` to `output_shape`."""
    first = data_format.startswith("NC")
    word, explicit = _padding(padding)
    attrs = {
        "strides": _sizes(strides, 2, first), "padding": word, "explicit_paddings": explicit,
        "data_format": data_format, "dilations": _sizes(dilations, 2, first),
    }
    return _op("Conv2DBackpropInput", [index_values.tensor(output_shape), filters, input], attrs, name)


def depthwise_conv2d(
    input: Any, filter: Any, strides: Any, padding: Any, data_format: Any = None, dilations: Any = None, name: str | None = None  # noqa: A002
) -> Tensor:
    """2-D convolution of each channel with filters of its own."""
    data_format = data_format or "NHWC"
    first = data_format.startswith("NC")
    word, explicit = _padding(padding)
    attrs = {
        "strides": strides, "padding": word, "explicit_paddings": explicit, "data_format": data_format,
        "dilations": _sizes(dilations, 2, first),
    }
    return _op("DepthwiseConv2dNative", [input, filter], attrs, name)


def separable_conv2d(
    input: Any, depthwise_filter: Any, pointwise_filter: Any, strides: Any, padding: Any, data_format: Any = None,  # noqa: A002
    dilations: Any = None, name: str | None = None,
) -> Tensor:
    """A depthwise 2-D convolution, then a pointwise one that mixes channels."""
    deep = depthwise_conv2d(input, depthwise_filter, strides, padding, data_format, dilations)
    return conv2d(deep, pointwise_filter, [1, 1, 1, 1], "VALID", data_format or "NHWC")


def _pool(op: str, n: int, input: Any, ksize: Any, strides: Any, padding: Any, data_format: str, name: str | None) -> Any:  # noqa: A002
    first = data_format.startswith("NC")
    word, explicit = _padding(padding)
    attrs = {"ksize": _sizes(ksize, n, first), "strides": _sizes(strides, n, first), "padding": word, "data_format": data_format}
    if explicit:
        attrs["explicit_paddings"] = explicit
    return _op(op, [input], attrs, name)


def max_pool2d(input: Any, ksize: Any, strides: Any, padding: Any, data_format: str = "NHWC", name: str | None = None) -> Tensor:  # noqa: A002
    """Largest value of each window of an image."""
    return _pool("MaxPool", 2, input, ksize, strides, padding, data_format, name)


def avg_pool2d(input: Any, ksize: Any, strides: Any, padding: Any, data_format: str = "NHWC", name: str | None = None) -> Tensor:  # noqa: A002
    """Mean of each window of an image."""
    return _pool("AvgPool", 2, input, ksize, strides, padding, data_format, name)


def max_pool3d(input: Any, ksize: Any, strides: Any, padding: Any, data_format: str = "NDHWC", name: str | None = None) -> Tensor:  # noqa: A002
    """Largest value of each window of a volume."""
    return _pool("MaxPool3D", 3, input, ksize, strides, padding, data_format, name)


def avg_pool3d(input: Any, ksize: Any, strides: Any, padding: Any, data_format: str = "NDHWC", name: str | None = None) -> Tensor:  # noqa: A002
    """Mean of each window of a volume."""
    return _pool("AvgPool3D", 3, input, ksize, strides, padding, data_format, name)


def _pool1d(op: str, input: Any, ksize: Any, strides: Any, padding: Any, data_format: str, name: str | None) -> Any:  # noqa: A002
    first = data_format.startswith("NC")
    at = 2 if first else 1
    one = lambda v: _sizes([1, v if isinstance(v, int) else v[len(v) // 2]], 2, first)  # noqa: E731
    wide = array_ops.expand_dims(_convert(input), at)
    return array_ops.squeeze(_pool(op, 2, wide, one(ksize), one(strides), padding, "NCHW" if first else "NHWC", name), [at])


def max_pool1d(input: Any, ksize: Any, strides: Any, padding: Any, data_format: str = "NWC", name: str | None = None) -> Tensor:  # noqa: A002
    """Largest value of each window of a sequence."""
    return _pool1d("MaxPool", input, ksize, strides, padding, data_format, name)


def avg_pool1d(input: Any, ksize: Any, strides: Any, padding: Any, data_format: str = "NWC", name: str | None = None) -> Tensor:  # noqa: A002
    """Mean of each window of a sequence."""
    return _pool1d("AvgPool", input, ksize, strides, padding, data_format, name)


def max_pool(input: Any, ksize: Any, strides: Any, padding: Any, data_format: Any = None, name: str | None = None) -> Tensor:  # noqa: A002
    """Largest value of each window of 1 to 3 spatial dimensions."""
    return _by_rank((max_pool1d, max_pool2d, max_pool3d), input, ksize, strides, padding, data_format, name)


def avg_pool(input: Any, ksize: Any, strides: Any, padding: Any, data_format: Any = None, name: str | None = None) -> Tensor:  # noqa: A002
    """Mean of each window of 1 to 3 spatial dimensions."""
    return _by_rank((avg_pool1d, avg_pool2d, avg_pool3d), input, ksize, strides, padding, data_format, name)


def _by_rank(functions: Any, input: Any, ksize: Any, strides: Any, padding: Any, data_format: Any, name: Any) -> Any:  # noqa: A002
    input = _convert(input)  # noqa: A001
    n = input.shape.rank - 2
    if n not in (1, 2, 3):
        raise ValueError(f"`input.shape.rank` must be 3, 4 or 5. Received: input.shape={input.shape} of rank {input.shape.rank}")
    extra = {} if data_format is None else {"data_format": data_format}
    return functions[n - 1](input, ksize, strides, padding, name=name, **extra)


def max_pool_with_argmax(
    input: Any, ksize: Any, strides: Any, padding: str, data_format: str = "NHWC", output_dtype: Any = dtypes.int64,  # noqa: A002
    include_batch_in_index: bool = False, name: str | None = None,
) -> Outputs["MaxPoolWithArgmax"]:
    """Largest value of each window, and its flat index in the image."""
    attrs = {
        "ksize": _sizes(ksize, 2, False), "strides": _sizes(strides, 2, False), "padding": padding,
        "Targmax": output_dtype, "include_batch_in_index": include_batch_in_index,
    }
    return _op("MaxPoolWithArgmax", [input], attrs, name)
