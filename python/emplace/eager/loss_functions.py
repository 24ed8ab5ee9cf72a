"""Losses of TensorFlow 2 as functions: a value for each row."""

from __future__ import annotations

from typing import Any

from emplace.eager.functions import nn
from emplace.framework import array_ops, clip_ops, dtypes, index_values, math_ops, nn_ops
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import convert_to_tensor as _convert

_EPSILON = 1e-7


def _pair(y_true: Any, y_pred: Any) -> tuple[Any, Any]:
    y_pred = _convert(y_pred)
    if y_pred.dtype.is_integer:
        y_pred = math_ops.cast(y_pred, dtypes.float32)
    y_true = math_ops.cast(_convert(y_true), y_pred.dtype)
    if y_true.shape.rank is not None and y_pred.shape.rank is not None:
        if y_true.shape.rank == y_pred.shape.rank + 1 and y_true.shape[-1] == 1:
            y_true = array_ops.squeeze(y_true, -1)
        elif y_pred.shape.rank == y_true.shape.rank + 1 and y_pred.shape[-1] == 1:
            y_pred = array_ops.squeeze(y_pred, -1)
    return y_true, y_pred


def _log(x: Any) -> Any:
    return _op("Log", [x], {})


def _squared(x: Any) -> Any:
    return _op("Square", [x], {})


def _larger(x: Any, limit: float) -> Any:
    return _op("Maximum", [x, _convert(limit, x.dtype)], {})


def _inside(p: Any) -> Any:
    return clip_ops.clip_by_value(p, _EPSILON, 1.0 - _EPSILON)


def _mean(x: Any) -> Any:
    return math_ops.reduce_mean(x, -1)


def mean_squared_error(y_true: Any, y_pred: Any) -> Any:
    """The mean over the last dimension of `(y_true - y_pred)²`."""
    y_true, y_pred = _pair(y_true, y_pred)
    return _mean(_squared(y_true - y_pred))


def mean_absolute_error(y_true: Any, y_pred: Any) -> Any:
    """The mean over the last dimension of `|y_true - y_pred|`."""
    y_true, y_pred = _pair(y_true, y_pred)
    return _mean(math_ops.abs(y_true - y_pred))


def mean_absolute_percentage_error(y_true: Any, y_pred: Any) -> Any:
    """The mean over the last dimension of `|y_true - y_pred| / |y_true|`, in percent."""
    y_true, y_pred = _pair(y_true, y_pred)
    return 100.0 * _mean(math_ops.abs((y_true - y_pred) / _larger(math_ops.abs(y_true), _EPSILON)))


def mean_squared_logarithmic_error(y_true: Any, y_pred: Any) -> Any:
    """The mean over the last dimension of the squared difference of `log(y + 1)`; negatives count as 0."""
    y_true, y_pred = _pair(y_true, y_pred)
    return _mean(_squared(_log(_larger(y_pred, _EPSILON) + 1.0) - _log(_larger(y_true, _EPSILON) + 1.0)))


def cosine_similarity(y_true: Any, y_pred: Any, axis: int = -1) -> Any:
    """Minus the cosine of the angle between label and prediction along `axis`: -1 where they point the same way."""
    y_true, y_pred = _pair(y_true, y_pred)
    return -math_ops.reduce_sum(nn_ops.l2_normalize(y_true, axis) * nn_ops.l2_normalize(y_pred, axis), axis)


def huber(y_true: Any, y_pred: Any, delta: float = 1.0) -> Any:
    """The mean over the last dimension of half the squared error up to `delta`, beyond it growing only as a line."""
    y_true, y_pred = _pair(y_true, y_pred)
    size = math_ops.abs(y_pred - y_true)
    return _mean(array_ops.where_v2(size <= delta, 0.5 * _squared(size), delta * size - 0.5 * delta * delta))


def log_cosh(y_true: Any, y_pred: Any) -> Any:
    """The mean over the last dimension of `log(cosh(y_pred - y_true))`: squared for small errors, absolute for large ones."""
    y_true, y_pred = _pair(y_true, y_pred)
    x = y_pred - y_true
    return _mean(x + nn_ops.softplus(-2.0 * x) - _convert(0.6931471805599453, x.dtype))


def _signs(y_true: Any) -> Any:
    """Labels 0 and 1 are taken as -1 and 1."""
    binary = math_ops.reduce_all((y_true == 0.0) | (y_true == 1.0))
    return array_ops.where_v2(binary, 2.0 * y_true - 1.0, y_true)


def hinge(y_true: Any, y_pred: Any) -> Any:
    """The mean over the last dimension of `max(1 - y_true * y_pred, 0)`; labels are -1 or 1, or 0 or 1."""
    y_true, y_pred = _pair(y_true, y_pred)
    return _mean(_larger(1.0 - _signs(y_true) * y_pred, 0.0))


def squared_hinge(y_true: Any, y_pred: Any) -> Any:
    """The mean over the last dimension of `max(1 - y_true * y_pred, 0)²`; labels are -1 or 1, or 0 or 1."""
    y_true, y_pred = _pair(y_true, y_pred)
    return _mean(_squared(_larger(1.0 - _signs(y_true) * y_pred, 0.0)))


def categorical_hinge(y_true: Any, y_pred: Any) -> Any:
    """How far the best wrong class comes within 1 of the right one, at least 0; labels are one-hot."""
    y_true, y_pred = _pair(y_true, y_pred)
    right = math_ops.reduce_sum(y_true * y_pred, -1)
    wrong = math_ops.reduce_max((1.0 - y_true) * y_pred, -1)
    return _larger(wrong - right + 1.0, 0.0)


def kl_divergence(y_true: Any, y_pred: Any) -> Any:
    """Kullback and Leibler's divergence, `sum(y_true * log(y_true / y_pred))` over the last dimension, of probabilities."""
    y_true, y_pred = _pair(y_true, y_pred)
    y_true, y_pred = (clip_ops.clip_by_value(y, _EPSILON, 1.0) for y in (y_true, y_pred))
    return math_ops.reduce_sum(y_true * _log(y_true / y_pred), -1)


def poisson(y_true: Any, y_pred: Any) -> Any:
    """The mean over the last dimension of `y_pred - y_true * log(y_pred)`: the loss of counts."""
    y_true, y_pred = _pair(y_true, y_pred)
    return _mean(y_pred - y_true * _log(y_pred + _EPSILON))


def _binary_parts(y_true: Any, y_pred: Any, from_logits: bool) -> Any:
    if from_logits:
        return nn_ops.sigmoid_cross_entropy_with_logits(labels=y_true, logits=y_pred)
    p = _inside(y_pred)
    return -(y_true * _log(p) + (1.0 - y_true) * _log(1.0 - p))


def binary_crossentropy(y_true: Any, y_pred: Any, from_logits: bool = False, label_smoothing: float = 0.0, axis: int = -1) -> Any:
    """The mean along `axis` of the cross entropy of labels 0 or 1 and probabilities (`from_logits`: what goes into a sigmoid).
    `label_smoothing` draws labels towards 0.5."""
    y_true, y_pred = _pair(y_true, y_pred)
    if label_smoothing:
        y_true = y_true * (1.0 - label_smoothing) + 0.5 * label_smoothing
    return math_ops.reduce_mean(_binary_parts(y_true, y_pred, from_logits), axis)


def binary_focal_crossentropy(
    y_true: Any, y_pred: Any, apply_class_balancing: bool = False, alpha: float = 0.25, gamma: float = 2.0, from_logits: bool = False,
    label_smoothing: float = 0.0, axis: int = -1,
) -> Any:
    """Binary cross entropy in which well predicted examples count less, by the power `gamma`; `apply_class_balancing` weighs
    positives by `alpha`, negatives by `1 - alpha`."""
    y_true, y_pred = _pair(y_true, y_pred)
    if label_smoothing:
        y_true = y_true * (1.0 - label_smoothing) + 0.5 * label_smoothing
    p = math_ops.sigmoid(y_pred) if from_logits else y_pred
    hit = y_true * p + (1.0 - y_true) * (1.0 - p)
    parts = math_ops.pow(1.0 - hit, gamma) * _binary_parts(y_true, p, False)
    if apply_class_balancing:
        parts = (y_true * alpha + (1.0 - y_true) * (1.0 - alpha)) * parts
    return math_ops.reduce_mean(parts, axis)


def _smoothed(y_true: Any, y_pred: Any, label_smoothing: float) -> Any:
    if not label_smoothing:
        return y_true
    return y_true * (1.0 - label_smoothing) + label_smoothing / y_pred.shape.as_list()[-1]


def categorical_crossentropy(y_true: Any, y_pred: Any, from_logits: bool = False, label_smoothing: float = 0.0, axis: int = -1) -> Any:
    """Cross entropy along `axis` of one-hot labels (or distributions) and probabilities, or logits with `from_logits`.
    `label_smoothing` draws labels towards equal shares."""
    y_true, y_pred = _pair(y_true, y_pred)
    y_true = _smoothed(y_true, y_pred, label_smoothing)
    if from_logits:
        return nn.softmax_cross_entropy_with_logits(y_true, y_pred, axis)
    p = _inside(y_pred / math_ops.reduce_sum(y_pred, axis, keepdims=True))
    return -math_ops.reduce_sum(y_true * _log(p), axis)


def categorical_focal_crossentropy(
    y_true: Any, y_pred: Any, alpha: Any = 0.25, gamma: float = 2.0, from_logits: bool = False, label_smoothing: float = 0.0,
    axis: int = -1,
) -> Any:
    """Categorical cross entropy in which well predicted examples count less, by the power `gamma`; `alpha` weighs all classes
    or each."""
    y_true, y_pred = _pair(y_true, y_pred)
    y_true = _smoothed(y_true, y_pred, label_smoothing)
    p = nn.softmax(y_pred, axis) if from_logits else y_pred
    p = _inside(p / math_ops.reduce_sum(p, axis, keepdims=True))
    weights = math_ops.pow(1.0 - p, gamma) * alpha
    return math_ops.reduce_sum(weights * -y_true * _log(p), axis)


def sparse_categorical_crossentropy(y_true: Any, y_pred: Any, from_logits: bool = False, ignore_class: Any = None, axis: int = -1) -> Any:
    """Cross entropy of class numbers and probabilities along `axis`, or logits with `from_logits`; examples of `ignore_class`
    give 0."""
    y_pred = _convert(y_pred)
    labels = math_ops.cast(_convert(y_true), dtypes.int64)
    if labels.shape.rank == y_pred.shape.rank and labels.shape[-1] == 1:
        labels = array_ops.squeeze(labels, -1)
    if axis not in (-1, y_pred.shape.rank - 1):
        at = index_values.axis(axis, y_pred.shape.rank)
        order = [a for a in range(y_pred.shape.rank) if a != at] + [at]
        y_pred = array_ops.transpose(y_pred, order)
    logits = y_pred if from_logits else _log(_inside(y_pred))
    if ignore_class is None:
        return nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
    kept = _op("NotEqual", [labels, _convert(ignore_class, labels.dtype)], {})
    values = nn.sparse_softmax_cross_entropy_with_logits(array_ops.where_v2(kept, labels, array_ops.zeros_like(labels)), logits)
    return array_ops.where_v2(kept, values, array_ops.zeros_like(values))


def dice(y_true: Any, y_pred: Any, axis: Any = None) -> Any:
    """1 minus twice the overlap over the sum of labels and predictions, over `axis` or all of them."""
    y_true, y_pred = _pair(y_true, y_pred)
    both = math_ops.reduce_sum(y_true * y_pred, axis)
    total = math_ops.reduce_sum(y_true, axis) + math_ops.reduce_sum(y_pred, axis)
    return 1.0 - 2.0 * both / (total + _EPSILON)


def tversky(y_true: Any, y_pred: Any, alpha: float = 0.5, beta: float = 0.5, axis: Any = None) -> Any:
    """Like Dice, with false positives weighed by `alpha` and false negatives by `beta`."""
    y_true, y_pred = _pair(y_true, y_pred)
    both = math_ops.reduce_sum(y_true * y_pred, axis)
    missed = math_ops.reduce_sum((1.0 - y_true) * y_pred, axis), math_ops.reduce_sum(y_true * (1.0 - y_pred), axis)
    return 1.0 - both / (both + alpha * missed[0] + beta * missed[1] + _EPSILON)
