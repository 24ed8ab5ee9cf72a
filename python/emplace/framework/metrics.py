"""tf.metrics: values that are gathered over several runs."""

from __future__ import annotations

from typing import Any

from emplace.framework import array_ops, dispatch, dtypes, losses, math_ops, ops, variable_scope, variables
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import GraphKeys

_COLLECTIONS = [GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES]


def kept(name: str, shape: Any = (), dtype: Any = dtypes.float32) -> Any:
    if dispatch.executing_eagerly():
        raise RuntimeError("tf.metrics is not supported when eager execution is enabled.")
    return variables.Variable(lambda: array_ops.zeros(shape, dtype), trainable=False, collections=_COLLECTIONS, validate_shape=True, name=name)


def noted(value: Any, update: Any, values_to: Any, updates_to: Any) -> tuple[Any, Any]:
    if values_to:
        ops.add_to_collections(values_to, value)
    if updates_to:
        ops.add_to_collections(updates_to, update)
    return value, update


def mean(values: Any, weights: Any = None, metrics_collections: Any = None, updates_collections: Any = None, name: str | None = None) -> tuple[Any, Any]:
    """The mean of all values seen, and the operation that takes up more."""
    with variable_scope.variable_scope(name, "mean", (values, weights)):
        values = math_ops.cast(values, dtypes.float32)
        total, count = kept("total"), kept("count")
        if weights is None:
            more = math_ops.cast(array_ops.size(values), dtypes.float32)
        else:
            weights = losses._spread(math_ops.cast(weights, dtypes.float32), values)
            values = math_ops.multiply(values, weights)
            more = math_ops.reduce_sum(weights)
        new_total = variables.assign_add(total, math_ops.reduce_sum(values))
        with ops.control_dependencies([values]):
            new_count = variables.assign_add(count, more)
        value = math_ops.div_no_nan(total, _op("Maximum", [count, 0], {}), name="value")
        update = math_ops.div_no_nan(new_total, _op("Maximum", [new_count, 0], {}), name="update_op")
        return noted(value, update, metrics_collections, updates_collections)


def same_rank(labels: Any, predictions: Any) -> tuple[Any, Any]:
    """A last axis of one, where only one of them has it, is taken off."""
    if labels.shape.rank is not None and predictions.shape.rank is not None:
        if predictions.shape.rank == labels.shape.rank + 1:
            predictions = array_ops.squeeze(predictions, [-1])
        elif labels.shape.rank == predictions.shape.rank + 1:
            labels = array_ops.squeeze(labels, [-1])
    predictions.shape.assert_is_compatible_with(labels.shape)
    return labels, predictions


def accuracy(labels: Any, predictions: Any, weights: Any = None, metrics_collections: Any = None, updates_collections: Any = None, name: str | None = None) -> tuple[Any, Any]:
    """How often predictions are the labels."""
    labels, predictions = same_rank(ops.convert_to_tensor(labels), ops.convert_to_tensor(predictions))
    if labels.dtype != predictions.dtype:
        predictions = math_ops.cast(predictions, labels.dtype)
    hits = math_ops.cast(math_ops.equal(predictions, labels), dtypes.float32)
    return mean(hits, weights, metrics_collections, updates_collections, name or "accuracy")


def mean_squared_error(labels: Any, predictions: Any, weights: Any = None, metrics_collections: Any = None, updates_collections: Any = None, name: str | None = None) -> tuple[Any, Any]:
    """The mean squared difference over all batches: (value, op that adds a batch and gives the new value)."""
    predictions, labels = math_ops.cast(predictions, dtypes.float32), math_ops.cast(labels, dtypes.float32)
    return mean(_op("SquaredDifference", [labels, predictions], {}), weights, metrics_collections, updates_collections, name or "mean_squared_error")


def mean_absolute_error(labels: Any, predictions: Any, weights: Any = None, metrics_collections: Any = None, updates_collections: Any = None, name: str | None = None) -> tuple[Any, Any]:
    """The mean absolute difference over all batches: (value, op that adds a batch)."""
    predictions, labels = math_ops.cast(predictions, dtypes.float32), math_ops.cast(labels, dtypes.float32)
    return mean(math_ops.abs(predictions - labels), weights, metrics_collections, updates_collections, name or "mean_absolute_error")


def root_mean_squared_error(labels: Any, predictions: Any, weights: Any = None, metrics_collections: Any = None, updates_collections: Any = None, name: str | None = None) -> tuple[Any, Any]:
    """The root of the mean squared difference over all batches: (value, op that adds a batch)."""
    value, update = mean_squared_error(labels, predictions, weights, None, None, name or "root_mean_squared_error")
    return noted(math_ops.sqrt(value), math_ops.sqrt(update), metrics_collections, updates_collections)


def mean_relative_error(
    labels: Any, predictions: Any, normalizer: Any, weights: Any = None, metrics_collections: Any = None, updates_collections: Any = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """The mean of absolute differences over `normalizer`: (value, op that adds a batch)."""
    predictions, labels = math_ops.cast(predictions, dtypes.float32), math_ops.cast(labels, dtypes.float32)
    error = math_ops.div_no_nan(math_ops.abs(labels - predictions), math_ops.cast(normalizer, dtypes.float32))
    return mean(error, weights, metrics_collections, updates_collections, name or "mean_relative_error")


def mean_tensor(values: Any, weights: Any = None, metrics_collections: Any = None, updates_collections: Any = None, name: str | None = None) -> tuple[Any, Any]:
    """Element by element."""
    with variable_scope.variable_scope(name, "mean", (values, weights)):
        values = math_ops.cast(values, dtypes.float32)
        total, count = kept("total_tensor", values.shape.as_list()), kept("count_tensor", values.shape.as_list())
        more = array_ops.ones_like(values)
        if weights is not None:
            weights = losses._spread(math_ops.cast(weights, dtypes.float32), values)
            values, more = math_ops.multiply(values, weights), math_ops.multiply(more, weights)
        new_total = variables.assign_add(total, values)
        with ops.control_dependencies([values]):
            new_count = variables.assign_add(count, more)
        value = math_ops.div_no_nan(total, _op("Maximum", [count, 0], {}), name="value")
        update = math_ops.div_no_nan(new_total, _op("Maximum", [new_count, 0], {}), name="update_op")
        return noted(value, update, metrics_collections, updates_collections)
