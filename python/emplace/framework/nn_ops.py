"""Neural network functions that TensorFlow writes by hand."""

from __future__ import annotations

from typing import Any, TYPE_CHECKING

import numpy as np

from emplace.framework import array_ops, constant_op, dtypes, math_ops, ops, random_ops
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import convert_to_tensor as _convert
from emplace.framework.ops import name_scope

if TYPE_CHECKING:
    from emplace.framework.gen import Outputs
    from emplace.framework.tensor import Tensor


def relu6(features: Any, name: str | None = None) -> Tensor:
    """`min(max(x, 0), 6)` of each element."""
    with name_scope(name, "Relu6", [features]) as scope:
        return _op("Relu6", [_convert(features, name="features")], {}, scope)


def leaky_relu(features: Any, alpha: float = 0.2, name: str | None = None) -> Tensor:
    """`x` where it is positive, `alpha * x` elsewhere."""
    with name_scope(name, "LeakyRelu", [features, alpha]) as scope:
        features = _convert(features, name="features")
        if features.dtype.is_integer:
            features = math_ops.cast(features, dtypes.float32)
        return _op("LeakyRelu", [features], {"alpha": alpha}, scope)


def crelu(features: Any, name: str | None = None, axis: int = -1) -> Tensor:
    """`relu(x)` and `relu(-x)` side by side along `axis`."""
    with name_scope(name, "CRelu", [features]) as scope:
        features = _convert(features, name="features")
        both = array_ops.concat([features, -features], axis, name=scope)
        return _op("Relu", [both], {})


def softplus(features: Any, name: str | None = None) -> Tensor:
    """`log(1 + exp(x))` of each element."""
    return _op("Softplus", [features], {}, name)


def swish(features: Any, beta: float = 1.0) -> Tensor:
    """features * sigmoid(beta * features); the gradient keeps no more than they are."""
    from emplace.framework.gradients import custom_gradient

    features = _convert(features, name="features")
    beta = math_ops.cast(_convert(beta, name="beta"), features.dtype)

    @custom_gradient
    def function(x: Any, slope: Any) -> Any:
        def back(grad: Any) -> Any:
            with ops.control_dependencies([grad]):
                gate = math_ops.sigmoid(slope * x)
            by_x = gate * (1.0 + slope * x * (1.0 - gate))
            by_slope = math_ops.reduce_sum(grad * _op("Square", [x], {}) * gate * (1.0 - gate))
            return grad * by_x, by_slope

        return x * math_ops.sigmoid(slope * x), back

    return function(features, beta)


def _softmax(logits: Any, op: str, dim: int, name: str | None) -> Any:
    logits = _convert(logits)
    rank = logits.shape.rank
    if dim == -1 or rank is not None and dim == rank - 1:
        return _op(op, [logits], {}, name)
    array_ops.rank(logits)  # TensorFlow makes one too many
    n = array_ops.rank(logits)

    def swap() -> Any:
        last = math_ops.subtract(n, 1)
        return array_ops.concat([math_ops.range(dim), [last], math_ops.range(dim + 1, last), [dim]], 0)

    moved = array_ops.transpose(logits, swap())
    out = array_ops.transpose(_op(op, [moved], {}), swap(), name=name or "transpose")
    out.set_shape(logits.shape)
    return out


def softmax(logits: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Tensor:
    """`exp(x) / sum(exp(x))` along `axis`: values that add up to 1."""
    axis = dim if axis is None else axis
    return _softmax(logits, "Softmax", -1 if axis is None else axis, name)


def log_softmax(logits: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Tensor:
    """`x - log(sum(exp(x)))` along `axis`: the logarithm of softmax."""
    axis = dim if axis is None else axis
    return _softmax(logits, "LogSoftmax", -1 if axis is None else axis, name)


def bias_add(value: Any, bias: Any, data_format: Any = None, name: str | None = None) -> Tensor:
    """`value + bias` along the channels, the last dimension or the second ("NCHW")."""
    with name_scope(name, "BiasAdd", [value, bias]) as scope:
        if data_format is not None:
            data_format = "NCHW" if data_format.startswith("NC") else "NHWC" if data_format.startswith("N") else data_format
            if data_format not in ("NCHW", "NHWC"):
                raise ValueError(f"`data_format` must be of the form `N...C` or `NC...`. Received: data_format={data_format}")
        value = _convert(value, name="input")
        bias = _convert(bias, dtype=value.dtype, name="bias")
        return _op("BiasAdd", [value, bias], {"data_format": data_format} if data_format else {}, scope)


def l2_normalize(x: Any, axis: Any = None, epsilon: float = 1e-12, name: str | None = None, dim: Any = None) -> Tensor:
    """`x` divided by its L2 norm over `axis`, which counts as at least `sqrt(epsilon)`."""
    axis = dim if axis is None else axis
    with name_scope(name, "l2_normalize", [x]) as scope:
        x = _convert(x, name="x")
        total = math_ops.reduce_sum(_op("Square", [x], {}), axis, keepdims=True)
        inverse = math_ops.rsqrt(_op("Maximum", [total, epsilon], {}))
        return math_ops.multiply(x, inverse, name=scope)


def moments(x: Any, axes: Any, shift: Any = None, name: str | None = None, keep_dims: Any = None, keepdims: Any = None) -> tuple[Tensor, Tensor]:
    """Mean and variance over `axes`."""
    keep = bool(math_ops._one_of("keepdims", keepdims, "keep_dims", keep_dims) or False)
    with name_scope(name, "moments", [x, axes]):
        x = _convert(x)
        y = math_ops.cast(x, dtypes.float32) if x.dtype == dtypes.float16 else x
        mean = math_ops.reduce_mean(y, axes, keepdims=True, name="mean")
        off = _op("SquaredDifference", [y, array_ops.stop_gradient(mean)], {})
        variance = math_ops.reduce_mean(off, axes, keepdims=True, name="variance")
        if not keep:
            mean = array_ops.squeeze(mean, axes)
            variance = array_ops.squeeze(variance, axes)
        if x.dtype == dtypes.float16:
            return math_ops.cast(mean, dtypes.float16), math_ops.cast(variance, dtypes.float16)
        return mean, variance


def batch_normalization(x: Any, mean: Any, variance: Any, offset: Any, scale: Any, variance_epsilon: Any, name: str | None = None) -> Tensor:
    """`(x - mean) / sqrt(variance + variance_epsilon)`, times `scale`, plus `offset`."""
    with name_scope(name, "batchnorm", [x, mean, variance, scale, offset]):
        inverse = math_ops.rsqrt(variance + variance_epsilon)
        if scale is not None:
            inverse *= scale
        return x * math_ops.cast(inverse, x.dtype) + math_ops.cast(
            offset - mean * inverse if offset is not None else -mean * inverse, x.dtype
        )


def fused_batch_norm(x: Any, scale: Any, offset: Any, mean: Any = None, variance: Any = None, epsilon: float = 0.001, data_format: str = "NHWC", is_training: bool = True, name: str | None = None, exponential_avg_factor: float = 1.0) -> Any:
    """Batch normalization of images in one operation: the result, and mean and variance of the batch."""
    x = _convert(x, name="input")
    scale, offset = _convert(scale, name="scale"), _convert(offset, name="offset")
    mean = constant_op.constant([]) if mean is None else mean
    variance = constant_op.constant([]) if variance is None else variance
    attrs = {"epsilon": max(epsilon, 1.001e-5), "data_format": data_format, "is_training": is_training, "exponential_avg_factor": exponential_avg_factor}
    y, m, v, *_ = _op("FusedBatchNormV3", [x, scale, offset, mean, variance], attrs, name)
    return y, m, v


# ---- Losses.


def softmax_cross_entropy_with_logits_v2(labels: Any, logits: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Tensor:
    """Cross entropy of the distributions `labels` and `softmax(logits)` along the class dimension."""
    axis = dim if axis is None else axis
    axis = -1 if axis is None else axis
    with name_scope(name, "softmax_cross_entropy_with_logits", [logits, labels]) as scope:
        logits = _convert(logits, name="logits")
        labels = _convert(labels, name="labels")
        half = logits.dtype in (dtypes.float16, dtypes.bfloat16)
        precise = math_ops.cast(logits, dtypes.float32) if half else logits
        labels = math_ops.cast(labels, precise.dtype)
        known = logits.shape
        n = array_ops.rank(precise)
        if axis != -1:
            raise NotImplementedError("softmax_cross_entropy_with_logits along an axis that is not the last")
        shape = array_ops.shape(precise)
        precise, labels = _flat(precise), _flat(labels)
        cost, _ = _op("SoftmaxCrossEntropyWithLogits", [precise, labels], {}, scope)
        out_shape = array_ops.slice(shape, [0], [math_ops.subtract(n, 1)])
        cost = array_ops.reshape(cost, out_shape)
        if known.rank is not None:
            cost.set_shape(known.as_list()[:-1])
        return math_ops.cast(cost, dtypes.float16) if half else cost


def _flat(output: Any) -> Any:
    n = array_ops.rank(output)
    last = array_ops.slice(array_ops.shape(output), [math_ops.subtract(n, 1)], [1])
    flat = array_ops.reshape(output, array_ops.concat([[-1], last], 0))
    known = output.shape
    if known.is_fully_defined():
        dims = known.as_list()
        product = 1
        for d in dims[:-1]:
            product *= d
        flat.set_shape([product, dims[-1]])
    return flat


def softmax_cross_entropy_with_logits(_sentinel: Any = None, labels: Any = None, logits: Any = None, dim: Any = -1, name: str | None = None, axis: Any = None) -> Any:
    """Cross entropy of the distributions `labels` and `softmax(logits)` along the class dimension."""
    _keywords_only("softmax_cross_entropy_with_logits", _sentinel, labels, logits)
    with name_scope(name, "softmax_cross_entropy_with_logits_sg", [logits, labels]) as scope:
        labels = array_ops.stop_gradient(labels, name="labels_stop_gradient")
    return softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits, axis=dim if axis is None else axis, name=scope)


def _keywords_only(function: str, sentinel: Any, labels: Any, logits: Any) -> None:
    if sentinel is not None:
        raise ValueError(f"Only call `{function}` with named arguments (labels=..., logits=..., ...). Received unnamed argument: {sentinel}")
    if labels is None or logits is None:
        raise ValueError(f"Both `labels` and `logits` must be provided. Received: labels={labels} and logits={logits}")


def sparse_softmax_cross_entropy_with_logits(labels: Any = None, logits: Any = None, name: str | None = None, _sentinel: Any = None) -> Tensor:
    """Cross entropy of class numbers `labels` and `softmax(logits)`."""
    _keywords_only("sparse_softmax_cross_entropy_with_logits", _sentinel, labels, logits)
    with name_scope(name, "SparseSoftmaxCrossEntropyWithLogits", [labels, logits]):
        labels = _convert(labels)
        logits = _convert(logits)
        half = logits.dtype == dtypes.float16
        precise = math_ops.cast(logits, dtypes.float32) if half else logits
        static = labels.shape
        shape = array_ops.shape(labels)
        fully = static.is_fully_defined() and logits.shape[:-1].is_fully_defined()
        if logits.shape.rank == 0:
            raise ValueError(f"`logits` cannot be a scalar. Received logits={logits}`")
        if logits.shape.rank is not None and static.rank is not None and static.rank != logits.shape.rank - 1:
            raise ValueError(f"`labels.shape.rank` must equal `logits.shape.rank - 1`. Received: labels.shape={static} of rank {static.rank} and logits.shape={logits.shape} of rank {logits.shape.rank}")
        if fully and static != logits.shape[:-1]:
            raise ValueError(f"`labels.shape` must equal `logits.shape` except for the last dimension. Received: labels.shape={static} and logits.shape={logits.shape}")
        if logits.shape.rank == 2:
            cost, _ = _op("SparseSoftmaxCrossEntropyWithLogits", [precise, labels], {}, name or "SparseSoftmaxCrossEntropyWithLogits")
            return math_ops.cast(cost, dtypes.float16) if half else cost
        classes = array_ops.shape(logits)[array_ops.rank(logits) - 1]
        labels = array_ops.reshape(labels, [-1])
        precise = array_ops.reshape(precise, [-1, classes])
        cost, _ = _op("SparseSoftmaxCrossEntropyWithLogits", [precise, labels], {}, name or "SparseSoftmaxCrossEntropyWithLogits")
        cost = array_ops.reshape(cost, shape)
        cost.set_shape(static)
        return math_ops.cast(cost, dtypes.float16) if half else cost


def sigmoid_cross_entropy_with_logits(labels: Any = None, logits: Any = None, name: str | None = None, _sentinel: Any = None) -> Tensor:
    """Cross entropy of independent probabilities `labels` and `sigmoid(logits)`, element by element."""
    _keywords_only("sigmoid_cross_entropy_with_logits", _sentinel, labels, logits)
    with name_scope(name, "logistic_loss", [logits, labels]) as scope:
        logits = _convert(logits, name="logits")
        labels = _convert(labels, name="labels")
        if not labels.shape.is_compatible_with(logits.shape):
            raise ValueError(f"`logits` and `labels` must have the same shape, received ({logits.shape} vs {labels.shape}).")
        zeros = array_ops.zeros_like(logits, dtype=logits.dtype)
        above = logits >= zeros
        relu = array_ops.where(above, logits, zeros)
        negative = array_ops.where(above, -logits, logits)
        return math_ops.add(relu - logits * labels, _op("Log1p", [math_ops.exp(negative)], {}), name=scope)


# ---- Windows.


def _four(value: Any, word: str, n: int = 2, channel_index: int = 3) -> Any:
    if value is None:
        value = [1]
    elif isinstance(value, int):
        value = [value]
    value = list(value)
    if len(value) == n + 2:
        return value
    if len(value) == 1:
        value = value * n
    if len(value) != n:
        raise ValueError(f"{word} should be of length 1, {n} or {n + 2}. Received: {word}={value} of length {len(value)}")
    return [1, *value, 1] if channel_index == n + 1 else [1, 1, *value]


def conv2d(
    input: Any, filter: Any = None, strides: Any = None, padding: Any = None, use_cudnn_on_gpu: bool = True,  # noqa: A002
    data_format: str = "NHWC", dilations: Any = (1, 1, 1, 1), name: str | None = None, filters: Any = None,
) -> Tensor:
    """2-D convolution (cross-correlation) of images with filters [height, width, in, out]; `strides`, `padding`, `dilations` and
    layout as given."""
    filter = math_ops._one_of("filters", filters, "filter", filter)  # noqa: A001
    explicit: list[int] = []
    if isinstance(padding, (list, tuple)):
        explicit = [p for pair in padding for p in pair]
        padding = "EXPLICIT"
    if data_format is None:
        data_format = "NHWC"
    at = 1 if data_format == "NCHW" else 3
    attrs = {
        "strides": _four(strides, "strides", 2, at), "padding": padding, "use_cudnn_on_gpu": use_cudnn_on_gpu,
        "explicit_paddings": explicit, "data_format": data_format, "dilations": _four(dilations, "dilations", 2, at),
    }
    return _op("Conv2D", [input, filter], attrs, name)


def depthwise_conv2d_native(input: Any, filter: Any, strides: Any, padding: str, data_format: str = "NHWC", dilations: Any = (1, 1, 1, 1), name: str | None = None) -> Tensor:  # noqa: A002
    """2-D convolution of each channel with filters of its own."""
    attrs = {"strides": list(strides), "padding": padding, "data_format": data_format, "dilations": list(dilations)}
    return _op("DepthwiseConv2dNative", [input, filter], attrs, name)


def _pool(op: str, default: str) -> Any:
    def function(value: Any = None, ksize: Any = None, strides: Any = None, padding: Any = None, data_format: str = "NHWC", name: str | None = None, input: Any = None) -> Any:  # noqa: A002
        value = math_ops._one_of("input", input, "value", value)
        with name_scope(name, default, [value]) as scope:
            at = 1 if data_format == "NCHW" else 3
            attrs = {"ksize": _four(ksize, "ksize", 2, at), "strides": _four(strides, "strides", 2, at), "padding": padding, "data_format": data_format or "NHWC"}
            return _op(op, [value], attrs, scope)

    function.__name__ = op
    function.__doc__ = f"{'Largest value' if op == 'MaxPool' else 'Mean'} of each window of an image; `ksize` and `strides` by dimension."
    return function


max_pool = _pool("MaxPool", "MaxPool")
avg_pool = _pool("AvgPool", "AvgPool")


# ---- Looking up, dropping out, the rest.


def embedding_lookup(params: Any, ids: Any, partition_strategy: str = "mod", name: str | None = None, validate_indices: bool = True, max_norm: Any = None) -> Tensor:
    """Rows of a table, which may be spread over several tensors."""
    from emplace.framework.partitioned_variables import PartitionedVariable

    if params is None:
        raise ValueError("params must be specified")
    parts = list(params) if isinstance(params, (list, tuple, PartitionedVariable)) else [params]
    if not parts:
        raise ValueError("Value for params must be set")
    with name_scope(name, "embedding_lookup", [*parts, ids]) as scope:
        parts = [_convert(p, name="params") if not ops.is_tensor(p) or hasattr(p, "__tf_tensor__") else p for p in parts]
        ids = _convert(ids, name="ids")
        if len(parts) == 1:
            with ops.colocate_with(parts[0]):
                found = _clipped(array_ops.gather(parts[0], ids, name=scope), max_norm)
            return array_ops.identity(found)
        return _lookup_in_parts(parts, ids, partition_strategy, scope, max_norm)


def _clipped(rows: Any, max_norm: Any) -> Any:
    if max_norm is None:
        return rows
    from emplace.framework import clip_ops

    return clip_ops.clip_by_norm(rows, max_norm, axes=list(range(1, rows.shape.rank)))


def _lookup_in_parts(parts: list[Any], ids: Any, strategy: str, scope: str, max_norm: Any) -> Any:
    """Each part gives its rows; they are put together in the order of the ids."""
    count = len(parts)
    flat = array_ops.reshape(ids, [-1])
    places = math_ops.range(array_ops.size(flat))
    if strategy == "mod":
        part = flat % count
        row = flat // count
    elif strategy == "div":
        rows = sum(p.shape.as_list()[0] for p in parts)
        each, more = rows // count, rows % count
        part = _op("Maximum", [flat // (each + 1), (flat - more) // each], {})
        row = array_ops.where(part < more, flat % (each + 1), (flat - more) % each)
    else:
        raise ValueError(f"Unrecognized partition strategy: {strategy}. Must be one of `mod` or `div`.")
    part = math_ops.cast(part, dtypes.int32)
    rows_by_part = _op("DynamicPartition", [row, part], {"num_partitions": count})
    places_by_part = _op("DynamicPartition", [places, part], {"num_partitions": count})
    found = []
    for p, r in zip(parts, rows_by_part):
        with ops.colocate_with(p):
            found.append(_clipped(array_ops.gather(p, r), max_norm))
    stitched = _op("ParallelDynamicStitch", [list(places_by_part), found], {}, scope)
    inner = parts[0].shape[1:]
    tail = inner.as_list() if inner.is_fully_defined() else array_ops.shape(parts[0])[1:]
    out = array_ops.reshape(stitched, array_ops.concat([array_ops.shape(ids), tail], 0))
    if isinstance(out, ops.Tensor):
        out.set_shape(ids.shape.concatenate(inner))
    return out


def in_top_k(predictions: Any, targets: Any, k: Any, name: str | None = None) -> Tensor:
    """Whether the target class of each row is among its `k` largest predictions."""
    with name_scope(name, "in_top_k"):
        return _op("InTopKV2", [predictions, targets, k], {})


def top_k(input: Any, k: Any = 1, sorted: bool = True, index_type: Any = None, name: str | None = None) -> Outputs["TopKV2"]:  # noqa: A002
    """The `k` largest values along the last dimension and their indices; in descending order if `sorted`."""
    return _op("TopKV2", [input, k], {"sorted": sorted}, name)


def dropout(x: Any, keep_prob: Any = None, noise_shape: Any = None, seed: Any = None, name: str | None = None, rate: Any = None) -> Tensor:
    """`x` with elements dropped at `rate` and the rest scaled up, so that the expected sum stays."""
    if keep_prob is not None and rate is not None:
        raise ValueError("only one of keep_prob and rate may be given")
    keep = None if keep_prob is None else 1.0 - keep_prob if not ops.is_tensor(keep_prob) else 1 - keep_prob
    rate = keep if rate is None else rate
    if rate is None:
        raise ValueError(f"`rate` must be provided. Received: rate={rate}")
    with name_scope(name, "dropout", [x]):
        plain = isinstance(rate, (int, float))
        if plain and not 0 <= rate < 1:
            raise ValueError(f"`rate` must be a scalar tensor or a float in the range [0, 1). Received: rate={rate}")
        x = _convert(x, name="x")
        if not x.dtype.is_floating:
            raise ValueError(f"`x.dtype` must be a floating point tensor as `x` will be scaled. Received: x_dtype={x.dtype}")
        if plain and rate == 0:
            return x
        if plain:
            scaled = math_ops.multiply(x, _convert(1 / (1 - rate), dtype=x.dtype))
        else:
            rate = _convert(rate, dtype=x.dtype, name="rate")
            one = constant_op.constant(1, dtype=x.dtype)
            scaled = _op("RealDiv", [x, math_ops.subtract(one, rate)], {})
        shape = noise_shape if noise_shape is not None else array_ops.shape(x)
        random = random_ops.random_uniform(shape, seed=seed, dtype=x.dtype)
        kept = random >= rate
        zero = constant_op.constant(0, dtype=x.dtype)
        out = _op("SelectV2", [kept, scaled, zero], {})
        if isinstance(out, ops.Tensor):
            out.set_shape(x.shape)
        return out


def xw_plus_b(x: Any, weights: Any, biases: Any, name: str | None = None) -> Any:
    """`x @ weights + biases`."""
    with name_scope(name, "xw_plus_b", [x, weights, biases]) as scope:
        x = _convert(x, name="x")
        weights = _convert(weights, name="weights")
        biases = _convert(biases, name="biases")
        return bias_add(math_ops.matmul(x, weights), biases, name=scope)


def weighted_cross_entropy_with_logits(labels: Any = None, logits: Any = None, pos_weight: Any = None, name: str | None = None, targets: Any = None) -> Tensor:
    """As the sigmoid's cross entropy, with `pos_weight` for what is there and was missed."""
    labels = math_ops._one_of("labels", labels, "targets", targets)
    with name_scope(name, "logistic_loss", [logits, labels]) as scope:
        logits = _convert(logits, name="logits")
        labels = _convert(labels, name="labels")
        if not labels.shape.is_compatible_with(logits.shape):
            raise ValueError(f"`logits` and `labels` must have the same shape, received ({logits.shape} vs {labels.shape}).")
        weight = 1 + (pos_weight - 1) * labels
        missed = (1 - labels) * logits
        tail = _op("Log1p", [math_ops.exp(-math_ops.abs(logits))], {}) + _op("Relu", [-logits], {})
        return math_ops.add(missed, weight * tail, name=scope)


def log_poisson_loss(targets: Any, log_input: Any, compute_full_loss: bool = False, name: str | None = None) -> Tensor:
    """`exp(log_input) - log_input * targets`: the loss of Poisson counts; `compute_full_loss` adds Stirling's term."""
    with name_scope(name, "log_poisson_loss", [log_input, targets]):
        log_input = _convert(log_input, name="log_input")
        targets = _convert(targets, name="targets")
        result = math_ops.exp(log_input) - log_input * targets
        if compute_full_loss:
            half = constant_op.constant(0.5, dtype=targets.dtype)
            stirling = targets * _op("Log", [targets], {}) - targets + half * _op("Log", [constant_op.constant(2 * np.pi, dtype=targets.dtype) * targets], {})
            zeros, ones = array_ops.zeros_like(targets), array_ops.ones_like(targets)
            result += array_ops.where(math_ops.logical_and(targets >= zeros, targets <= ones), zeros, stirling)
        return result


def relu_layer(x: Any, weights: Any, biases: Any, name: str | None = None) -> Tensor:
    """`relu(x @ weights + biases)`."""
    with name_scope(name, "relu_layer", [x, weights, biases]) as scope:
        x = _convert(x, name="x")
        weights = _convert(weights, name="weights")
        biases = _convert(biases, name="biases")
        return _op("Relu", [bias_add(math_ops.matmul(x, weights), biases)], {}, scope)


def zero_fraction(value: Any, name: str | None = None) -> Tensor:
    """The share of elements that are 0."""
    with name_scope(name, "zero_fraction", [value]):
        value = _convert(value, name="value")
        if hasattr(value, "_numpy_of_eager"):
            return math_ops.reduce_mean(math_ops.cast(math_ops.equal(value, array_ops.zeros([], value.dtype)), dtypes.float32))
        from emplace.framework.cond import cond

        size = array_ops.size(value, out_type=dtypes.int64)
        count = cond(
            size <= dtypes.int32.max, lambda: math_ops.cast(_nonzeros(value, dtypes.int32), dtypes.int64), lambda: _nonzeros(value, dtypes.int64)
        )
        with name_scope("counts_to_fraction"):
            fraction = math_ops.cast(size - count, dtypes.float32) / math_ops.cast(size, dtypes.float32)
        return array_ops.identity(fraction, "fraction")


def _nonzeros(value: Any, dtype: Any) -> Any:
    with name_scope("count_nonzero"):
        there = math_ops.cast(_op("NotEqual", [value, array_ops.zeros([], value.dtype)], {}), dtype)
        return math_ops.reduce_sum(there, name="nonzero_count")
