"""tf.losses: weighted losses, collected in the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from emplace.framework import array_ops, constant_op, control_flow_ops, dispatch, dtypes, math_ops, nn_ops, ops
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import GraphKeys, name_scope
from emplace.framework.ops import convert_to_tensor as _convert

if TYPE_CHECKING:
    from emplace.framework.tensor import Tensor


class Reduction:
    """How the losses of the elements become one."""

    NONE = "none"
    SUM = "weighted_sum"
    SUM_OVER_BATCH_SIZE = "weighted_sum_over_batch_size"
    MEAN = "weighted_mean"
    SUM_BY_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"
    SUM_OVER_NONZERO_WEIGHTS = SUM_BY_NONZERO_WEIGHTS

    @classmethod
    def all(cls) -> tuple[str, ...]:
        """All ways of reducing, as a tuple."""
        return cls.NONE, cls.SUM, cls.MEAN, cls.SUM_OVER_BATCH_SIZE, cls.SUM_OVER_NONZERO_WEIGHTS, cls.SUM_BY_NONZERO_WEIGHTS

    @classmethod
    def validate(cls, key: str) -> None:
        """ValueError unless it is a way of reducing."""
        if key not in cls.all():
            raise ValueError(f"Invalid Reduction Key {key}. Key should be one of {cls.all()}.")


_DEFAULT = Reduction.SUM_BY_NONZERO_WEIGHTS


# ---- Weights.


def _assert_broadcastable(weights: Any, values: Any) -> Any:
    """An operation that has checked that weights are a number or fit the values, with ones."""
    with name_scope(None, "assert_broadcastable", [weights, values]) as scope:
        with name_scope(None, "weights", [weights]) as inner:
            weights = weights if ops.is_tensor(weights) else _convert(weights, name=inner)
            weights_shape = array_ops.shape(weights, name="shape")
            array_ops.rank(weights, name="rank")
        with name_scope(None, "values", [values]) as inner:
            values = values if ops.is_tensor(values) else _convert(values, name=inner)
            array_ops.shape(values, name="shape")
            array_ops.rank(values, name="rank")
        del weights_shape
        have, want = weights.shape, values.shape
        if have.rank == 0:
            return control_flow_ops.no_op(name="static_scalar_check_success")
        if have.rank is not None and want.rank is not None:
            if have.rank != want.rank:
                raise ValueError(f"weights can not be broadcast to values. values.rank={want.rank}. weights.rank={have.rank}. values.shape={want}. weights.shape={have}. Received weights={weights}, values={values}")
            pairs = list(zip(have.as_list(), want.as_list()))
            for i, (a, b) in enumerate(pairs):
                if a is not None and b is not None and a not in (1, b):
                    raise ValueError(f"weights can not be broadcast to values. Mismatch at dim {i}. values.shape={_sizes(want)}, weights.shape={_sizes(have)}. Received weights={weights}, values={values}")
            if all(a == 1 or (a is not None and a == b) for a, b in pairs):
                return control_flow_ops.no_op(name="static_dims_check_success")
        return _dynamic_check(weights, values, scope)


def _sizes(shape: Any) -> str:
    return f"[{' '.join(map(str, shape.as_list()))}]"


def _dynamic_check(weights: Any, values: Any, scope: str) -> Any:
    have, want = array_ops.shape(weights), array_ops.shape(values)
    spread = _op("BroadcastArgs", [have, want], {})
    fits = math_ops.reduce_all(math_ops.equal(spread, want))
    return _op("Assert", [fits, ["weights can not be broadcast to values.", have, want]], {"summarize": 3}, scope)


def _spread(weights: Any, values: Any) -> Any:
    with name_scope(None, "broadcast_weights", [weights, values]) as scope:
        if values.shape.is_fully_defined() and weights.shape.is_fully_defined() and weights.shape == values.shape:
            return weights
        with ops.control_dependencies([_assert_broadcastable(weights, values)]):
            return math_ops.multiply(weights, array_ops.ones_like(values), name=scope)


def _count_present(losses: Any, weights: Any) -> Any:
    """How many elements weigh anything."""
    with name_scope(None, "num_present", [losses, weights]) as scope:
        weights = math_ops.cast(weights, dtypes.float32)
        present = array_ops.where(math_ops.equal(weights, 0.0), array_ops.zeros_like(weights), array_ops.ones_like(weights))
        return math_ops.reduce_sum(_spread(present, losses), name=scope)


def _mean(total: Any, count: Any) -> Any:
    return math_ops.div_no_nan(math_ops.reduce_sum(total), count, name="value")


def compute_weighted_loss(losses: Any, weights: Any = 1.0, scope: str | None = None, loss_collection: Any = GraphKeys.LOSSES, reduction: str = _DEFAULT) -> Tensor:
    """Losses times their weights, reduced as told, and added to the collection of losses."""
    Reduction.validate(reduction)
    with name_scope(scope, "weighted_loss", [losses, weights]):
        ops.get_default_graph()._extra["last_loss_reduction"] = reduction
        with ops.control_dependencies([_assert_broadcastable(weights, losses)]):
            losses = _convert(losses)
            kind = losses.dtype
            losses = math_ops.cast(losses, dtypes.float32)
            weights = math_ops.cast(weights, dtypes.float32)
            found = math_ops.multiply(losses, weights)
            if reduction != Reduction.NONE:
                found = _reduced(found, losses, weights, reduction)
            found = math_ops.cast(found, kind)
            add_loss(found, loss_collection)
            return found


def _reduced(weighted: Any, losses: Any, weights: Any, reduction: str) -> Tensor:
    total = math_ops.reduce_sum(weighted)
    if reduction == Reduction.MEAN:
        return _mean(total, math_ops.reduce_sum(array_ops.ones_like(losses) * weights))
    if reduction == Reduction.SUM_BY_NONZERO_WEIGHTS:
        return _mean(total, _count_present(losses, weights))
    if reduction == Reduction.SUM_OVER_BATCH_SIZE:
        with name_scope(None, "num_elements", [losses]) as scope:
            count = math_ops.cast(array_ops.size(losses, name=scope), losses.dtype)
        return _mean(total, count)
    return total


# ---- The losses.


def _inputs(a: Any, b: Any, first: str = "labels", second: str = "predictions") -> tuple[Any, Any]:
    if a is None:
        raise ValueError(f"Argument `{first}` must not be None.")
    if b is None:
        raise ValueError(f"Argument `{second}` must not be None.")
    return a, b


def _elementwise(default: str, python_name: str, function: Any, doc: str) -> Any:
    def loss(labels: Any, predictions: Any, weights: Any = 1.0, scope: str | None = None, loss_collection: Any = GraphKeys.LOSSES, reduction: str = _DEFAULT) -> Tensor:
        _inputs(labels, predictions)
        with name_scope(scope, default, [predictions, labels, weights]) as inner:
            predictions = math_ops.cast(predictions, dtypes.float32)
            labels = math_ops.cast(labels, dtypes.float32)
            predictions.shape.assert_is_compatible_with(labels.shape)
            return compute_weighted_loss(function(predictions, labels), weights, inner, loss_collection, reduction=reduction)

    loss.__name__ = loss.__qualname__ = python_name
    loss.__doc__ = doc
    return loss


absolute_difference = _elementwise(
    "absolute_difference", "absolute_difference", lambda p, y: math_ops.abs(math_ops.subtract(p, y)), "|prediction - label|."
)
mean_squared_error = _elementwise(
    "mean_squared_error", "mean_squared_error", lambda p, y: _op("SquaredDifference", [p, y], {}), "(prediction - label)^2."
)


def huber_loss(labels: Any, predictions: Any, weights: Any = 1.0, delta: float = 1.0, scope: str | None = None, loss_collection: Any = GraphKeys.LOSSES, reduction: str = _DEFAULT) -> Tensor:
    """Half the square near zero, straight beyond `delta`."""
    _inputs(labels, predictions)
    with name_scope(scope, "huber_loss", [predictions, labels, weights]) as inner:
        predictions, labels = math_ops.cast(predictions, dtypes.float32), math_ops.cast(labels, dtypes.float32)
        predictions.shape.assert_is_compatible_with(labels.shape)
        size = math_ops.abs(math_ops.subtract(predictions, labels))
        curved = _op("Minimum", [size, delta], {})
        straight = math_ops.subtract(size, curved)
        half = constant_op.constant(0.5, dtype=curved.dtype)
        losses = math_ops.add(math_ops.multiply(half, math_ops.multiply(curved, curved)), math_ops.multiply(delta, straight))
        return compute_weighted_loss(losses, weights, inner, loss_collection, reduction=reduction)


def log_loss(labels: Any, predictions: Any, weights: Any = 1.0, epsilon: float = 1e-7, scope: str | None = None, loss_collection: Any = GraphKeys.LOSSES, reduction: str = _DEFAULT) -> Tensor:
    """The loss `-y log(p) - (1 - y) log(1 - p)`, weighted and reduced; `epsilon` keeps it finite."""
    _inputs(labels, predictions)
    with name_scope(scope, "log_loss", [predictions, labels, weights]) as inner:
        predictions, labels = math_ops.cast(predictions, dtypes.float32), math_ops.cast(labels, dtypes.float32)
        predictions.shape.assert_is_compatible_with(labels.shape)
        hit = -math_ops.multiply(labels, _op("Log", [predictions + epsilon], {}))
        miss = math_ops.multiply(1 - labels, _op("Log", [1 - predictions + epsilon], {}))
        return compute_weighted_loss(hit - miss, weights, inner, loss_collection, reduction=reduction)


def hinge_loss(labels: Any, logits: Any, weights: Any = 1.0, scope: str | None = None, loss_collection: Any = GraphKeys.LOSSES, reduction: str = _DEFAULT) -> Tensor:
    """Labels are 0 or 1; they count as -1 and 1."""
    _inputs(labels, logits, "labels", "logits")
    with name_scope(scope, "hinge_loss", [logits, labels, weights]) as inner:
        logits, labels = math_ops.cast(logits, dtypes.float32), math_ops.cast(labels, dtypes.float32)
        logits.shape.assert_is_compatible_with(labels.shape)
        ones = array_ops.ones_like(labels)
        labels = math_ops.subtract(2 * labels, ones)
        losses = _op("Relu", [math_ops.subtract(ones, math_ops.multiply(labels, logits))], {})
        return compute_weighted_loss(losses, weights, inner, loss_collection, reduction=reduction)


def cosine_distance(labels: Any, predictions: Any, axis: Any = None, weights: Any = 1.0, scope: str | None = None, loss_collection: Any = GraphKeys.LOSSES, reduction: str = _DEFAULT, dim: Any = None) -> Tensor:
    """One minus the cosine along `axis`, weighted and reduced; both inputs must have length 1 already."""
    axis = math_ops._one_of("axis", axis, "dim", dim)
    if axis is None:
        raise ValueError("You must specify argument `axis`.")
    _inputs(labels, predictions)
    with name_scope(scope, "cosine_distance_loss", [predictions, labels, weights]) as inner:
        predictions, labels = math_ops.cast(predictions, dtypes.float32), math_ops.cast(labels, dtypes.float32)
        predictions.shape.assert_is_compatible_with(labels.shape)
        losses = 1 - math_ops.reduce_sum(math_ops.multiply(predictions, labels), axis=(axis,), keepdims=True)
        return compute_weighted_loss(losses, weights, inner, loss_collection, reduction=reduction)


def mean_pairwise_squared_error(labels: Any, predictions: Any, weights: Any = 1.0, scope: str | None = None, loss_collection: Any = GraphKeys.LOSSES) -> Tensor:
    """Squares of how differences between pairs of a row's elements differ, averaged over the pairs."""
    if labels is None:
        raise ValueError("Argument `labels` must not be None.")
    if predictions is None:
        raise ValueError("Argument `predictions` must not be None.")
    with name_scope(scope, "mean_pairwise_squared_error", (predictions, labels, weights)):
        weights = math_ops.cast(weights, dtypes.float32)
        predictions, labels = math_ops.cast(predictions, dtypes.float32), math_ops.cast(labels, dtypes.float32)
        if not predictions.shape.is_compatible_with(labels.shape):
            raise ValueError(f"Shapes {predictions.shape} and {labels.shape} are incompatible")
        _assert_broadcastable(weights, labels)
        diffs = _op("Sub", [predictions, labels], {})
        axis = math_ops.range(1, array_ops.rank(diffs))
        squares = math_ops.reduce_sum(_op("Square", [diffs], {}), axis=axis, keepdims=True)
        there = array_ops.where(math_ops.equal(weights, 0.0), array_ops.zeros_like(weights), array_ops.ones_like(weights))
        count = math_ops.reduce_sum(there * array_ops.ones_like(diffs), axis=axis, keepdims=True)
        first = 2.0 * math_ops.div_no_nan(squares, _op("Maximum", [count - 1.0, 0.0], {}), name="value")
        total = math_ops.reduce_sum(diffs, axis=axis, keepdims=True)
        second = 2.0 * math_ops.div_no_nan(_op("Square", [total], {}), _op("Maximum", [count * (count - 1.0), 0.0], {}), name="value")
        loss = math_ops.reduce_sum((first - second) * weights)
        mean = array_ops.where(math_ops.reduce_sum(count) > 0.0, loss, array_ops.zeros_like(loss), name="value")
        add_loss(mean, loss_collection)
        return mean


def sigmoid_cross_entropy(multi_class_labels: Any, logits: Any, weights: Any = 1.0, label_smoothing: float = 0, scope: str | None = None, loss_collection: Any = GraphKeys.LOSSES, reduction: str = _DEFAULT) -> Tensor:
    """Cross entropy of labels between 0 and 1 and sigmoids of logits, weighted and reduced."""
    _inputs(multi_class_labels, logits, "multi_class_labels", "logits")
    with name_scope(scope, "sigmoid_cross_entropy_loss", [logits, multi_class_labels, weights]) as inner:
        logits = _convert(logits)
        labels = math_ops.cast(multi_class_labels, logits.dtype)
        logits.shape.assert_is_compatible_with(labels.shape)
        if label_smoothing > 0:
            labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
        losses = nn_ops.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, inner, loss_collection, reduction=reduction)


def softmax_cross_entropy(onehot_labels: Any, logits: Any, weights: Any = 1.0, label_smoothing: float = 0, scope: str | None = None, loss_collection: Any = GraphKeys.LOSSES, reduction: str = _DEFAULT) -> Tensor:
    """Cross entropy of one-hot labels and the softmax of logits, weighted and reduced."""
    _inputs(onehot_labels, logits, "onehot_labels", "logits")
    with name_scope(scope, "softmax_cross_entropy_loss", [logits, onehot_labels, weights]) as inner:
        logits = _convert(logits)
        labels = math_ops.cast(onehot_labels, logits.dtype)
        logits.shape.assert_is_compatible_with(labels.shape)
        if label_smoothing > 0:
            classes = math_ops.cast(array_ops.shape(labels)[-1], logits.dtype)
            elsewhere = label_smoothing / classes
            labels = labels * (1.0 - label_smoothing) + elsewhere
        labels = array_ops.stop_gradient(labels, name="labels_stop_gradient")
        losses = nn_ops.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, inner, loss_collection, reduction=reduction)


def sparse_softmax_cross_entropy(labels: Any, logits: Any, weights: Any = 1.0, scope: str | None = None, loss_collection: Any = GraphKeys.LOSSES, reduction: str = _DEFAULT) -> Tensor:
    """Cross entropy of class numbers and the softmax of logits, weighted and reduced."""
    _inputs(labels, logits, "labels", "logits")
    with name_scope(scope, "sparse_softmax_cross_entropy_loss", [logits, labels, weights]) as inner:
        labels, logits, weights = _fitting_ranks(labels, logits, weights)
        losses = nn_ops.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, inner, loss_collection, reduction=reduction)


def _fitting_ranks(labels: Any, logits: Any, weights: Any) -> tuple[Any, Any, Any]:
    """Labels [n, 1] count as [n]; so do weights."""
    labels, logits = _convert(labels), _convert(logits)
    if labels.shape.rank is not None and logits.shape.rank is not None and labels.shape.rank == logits.shape.rank and labels.shape.as_list()[-1] == 1:
        labels = array_ops.squeeze(labels, [-1])
    weights = _convert(weights)
    if weights.shape.rank != 0:
        if weights.shape.rank is not None and labels.shape.rank is not None and weights.shape.rank == labels.shape.rank + 1:
            weights = array_ops.squeeze(weights, [-1])
    return labels, logits, weights


# ---- The collection.


def add_loss(loss: Any, loss_collection: Any = GraphKeys.LOSSES) -> None:
    """Adds a loss of one's own to the collection of losses."""
    if loss_collection and not dispatch.executing_eagerly():
        ops.add_to_collection(loss_collection, loss)


def get_losses(scope: str | None = None, loss_collection: Any = GraphKeys.LOSSES) -> list[Any]:
    """The losses in the collection, those of a scope if one is given."""
    return ops.get_collection(loss_collection, scope)


def get_regularization_losses(scope: str | None = None) -> list[Any]:
    """The regularizers' losses, those of a scope if one is given."""
    return ops.get_collection(GraphKeys.REGULARIZATION_LOSSES, scope)


def get_regularization_loss(scope: str | None = None, name: str = "total_regularization_loss") -> Tensor:
    """The sum of the regularizers' losses, 0 if there are none."""
    found = get_regularization_losses(scope)
    return math_ops.add_n(found, name=name) if found else constant_op.constant(0.0)


def get_total_loss(add_regularization_losses: bool = True, name: str = "total_loss", scope: str | None = None) -> Tensor:
    """The sum of all losses in the collections."""
    found = get_losses(scope)
    if add_regularization_losses:
        found += get_regularization_losses(scope)
    return math_ops.add_n(found, name=name)
