"""tf.metrics that count: hits and misses, at one threshold or at many, and what follows from them."""

from __future__ import annotations

from typing import Any, Callable

from emplace.framework import array_ops, dtypes, losses, math_ops, ops, variable_scope, variables
from emplace.framework.dispatch import execute as _op
from emplace.framework.metrics import kept, mean, noted, same_rank
from emplace.framework.composed_ops import confusion_matrix

_EDGE = 1e-7  # how far the outer thresholds lie beyond [0, 1]
_SMALL = 1e-6  # keeps ratios of empty counts finite


def _both(x: Any, y: Any) -> Any:
    return _op("LogicalAnd", [x, y], {})


def _not(x: Any) -> Any:
    return _op("LogicalNot", [x], {})


def _ratio(part: Any, whole: Any, name: str) -> Any:
    return math_ops.div_no_nan(part, whole, name=name)


def _bools(labels: Any, predictions: Any) -> tuple[Any, Any]:
    predictions, labels = math_ops.cast(predictions, dtypes.bool), math_ops.cast(labels, dtypes.bool)
    return same_rank(labels, predictions)


def _counted(hits: Any, weights: Any) -> tuple[Any, Any]:
    """How many have been seen so far, and the operation that takes up more."""
    count = kept("count")
    values = math_ops.cast(hits, dtypes.float32)
    if weights is not None:
        values = math_ops.multiply(values, losses._spread(math_ops.cast(weights, dtypes.float32), values))
    return array_ops.identity(count), variables.assign_add(count, math_ops.reduce_sum(values))


# Of a label and a prediction, both true or false: is it one of those?
_KINDS: dict[str, Callable[[Any, Any], Any]] = {
    "true_positives": lambda label, guess: _both(label, guess),
    "false_positives": lambda label, guess: _both(_not(label), guess),
    "true_negatives": lambda label, guess: _both(_not(label), _not(guess)),
    "false_negatives": lambda label, guess: _both(label, _not(guess)),
}


_PAIR = "(value, op that adds a batch and gives the new value)"


def _count_of(kind: str) -> Callable[..., tuple[Any, Any]]:
    def function(labels: Any, predictions: Any, weights: Any = None, metrics_collections: Any = None, updates_collections: Any = None, name: str | None = None) -> tuple[Any, Any]:
        with variable_scope.variable_scope(name, kind, (predictions, labels, weights)):
            labels, predictions = _bools(labels, predictions)
            return noted(*_counted(_KINDS[kind](labels, predictions), weights), metrics_collections, updates_collections)

    function.__name__ = kind
    function.__doc__ = f"Counts {kind.replace('_', ' ')} (or sums their weights) over all batches: {_PAIR}."
    return function


true_positives, false_positives = _count_of("true_positives"), _count_of("false_positives")
true_negatives, false_negatives = _count_of("true_negatives"), _count_of("false_negatives")


def _share_of_positives(kind: str, other: str) -> Callable[..., tuple[Any, Any]]:
    """True positives among them and the `other` kind."""

    def function(labels: Any, predictions: Any, weights: Any = None, metrics_collections: Any = None, updates_collections: Any = None, name: str | None = None) -> tuple[Any, Any]:
        with variable_scope.variable_scope(name, kind, (predictions, labels, weights)):
            hits, more_hits = _count_of("true_positives")(labels, predictions, weights)
            rest, more_rest = _count_of(other)(labels, predictions, weights)
            value, update = _ratio(hits, hits + rest, "value"), _ratio(more_hits, more_hits + more_rest, "update_op")
            return noted(value, update, metrics_collections, updates_collections)

    function.__name__ = kind
    function.__doc__ = f"True positives over themselves and {other.replace('_', ' ')}, over all batches: {_PAIR}."
    return function


precision, recall = _share_of_positives("precision", "false_positives"), _share_of_positives("recall", "false_negatives")


# ---- At many thresholds.


def _at_thresholds(labels: Any, predictions: Any, thresholds: list[float], weights: Any, kinds: tuple[str, ...]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Counts and their updates, one for each threshold."""
    labels, predictions = same_rank(math_ops.cast(labels, dtypes.bool), math_ops.cast(predictions, dtypes.float32))
    label = array_ops.reshape(labels, [1, -1])
    guess = array_ops.reshape(predictions, [1, -1]) > array_ops.reshape(ops.convert_to_tensor(thresholds, dtype=dtypes.float32), [-1, 1])
    if weights is not None:
        weights = array_ops.reshape(losses._spread(math_ops.cast(weights, dtypes.float32), predictions), [1, -1])
    values, updates = {}, {}
    for kind in kinds:
        seen = kept(kind, [len(thresholds)])
        hits = math_ops.cast(_KINDS[kind](label, guess), dtypes.float32)
        values[kind] = array_ops.identity(seen)
        updates[kind] = variables.assign_add(seen, math_ops.reduce_sum(hits if weights is None else hits * weights, 1))
    return values, updates


def _thresholded(name_of: str, kinds: tuple[str, ...], combine: Callable[[dict[str, Any], str], Any]) -> Callable[..., tuple[Any, Any]]:
    def function(labels: Any, predictions: Any, thresholds: Any, weights: Any = None, metrics_collections: Any = None, updates_collections: Any = None, name: str | None = None) -> tuple[Any, Any]:
        with variable_scope.variable_scope(name, name_of, (predictions, labels, weights)):
            values, updates = _at_thresholds(labels, predictions, list(thresholds), weights, kinds)
            what = name_of.partition("_")[0]
            return noted(combine(values, f"{what}_value"), combine(updates, f"{what}_update_op"), metrics_collections, updates_collections)

    function.__name__ = name_of
    function.__doc__ = f"`{name_of.removesuffix('_at_thresholds')}` with predictions above each threshold taken as positive, a vector: {_PAIR}."
    return function


true_positives_at_thresholds, false_positives_at_thresholds, true_negatives_at_thresholds, false_negatives_at_thresholds = (
    _thresholded(kind, (kind,), lambda found, _, k=kind: found[k]) for kind in _KINDS
)


def _hits_over(other: str) -> Callable[[dict[str, Any], str], Any]:
    return lambda found, name: math_ops.div(found["true_positives"], _SMALL / 10 + found["true_positives"] + found[other], name=name)


precision_at_thresholds = _thresholded("precision_at_thresholds", ("true_positives", "false_positives"), _hits_over("false_positives"))
recall_at_thresholds = _thresholded("recall_at_thresholds", ("true_positives", "false_negatives"), _hits_over("false_negatives"))


def _steps(count: int) -> list[float]:
    return [0.0 - _EDGE, *((i + 1) / (count - 1) for i in range(count - 2)), 1.0 + _EDGE]


def _careful_area(found: dict[str, Any]) -> Any:
    """Under precision over recall: between two thresholds the false alarms grow in step with the hits."""
    hits, alarms, misses = (found[k] for k in ("true_positives", "false_positives", "false_negatives"))
    named = hits + alarms
    gained = hits[:-1] - hits[1:]
    slope = math_ops.div_no_nan(gained, _op("Maximum", [named[:-1] - named[1:], 0.0], {}))
    base = hits[1:] - math_ops.multiply(slope, named[1:])
    both = _both(named[:-1] > 0, named[1:] > 0)
    ratio = array_ops.where(both, math_ops.div_no_nan(named[:-1], _op("Maximum", [named[1:], 0.0], {})), array_ops.ones_like(named[1:]))
    area = math_ops.div_no_nan(slope * (gained + base * _op("Log", [ratio], {})), _op("Maximum", [hits[1:] + misses[1:], 0.0], {}))
    return math_ops.reduce_sum(area, name="interpolate_pr_auc")


def _area(found: dict[str, Any], curve: str, method: str, name: str) -> Any:
    if method == "careful_interpolation" and curve == "PR":
        return _careful_area(found)
    hits, misses, alarms, quiet = (found[k] for k in ("true_positives", "false_negatives", "false_positives", "true_negatives"))
    caught = (hits + _SMALL) / (hits + misses + _SMALL)
    if curve == "ROC":
        x, y = alarms / (alarms + quiet + _SMALL), caught
    else:
        x, y = caught, (hits + _SMALL) / (hits + alarms + _SMALL)
    heights = {
        "trapezoidal": lambda: (y[:-1] + y[1:]) / 2.0, "minoring": lambda: _op("Minimum", [y[:-1], y[1:]], {}),
        "majoring": lambda: _op("Maximum", [y[:-1], y[1:]], {}),
    }
    heights["careful_interpolation"] = heights["trapezoidal"]  # for the ROC they are the same
    if method not in heights:
        raise ValueError(f"Invalid summation_method: {method}")
    return math_ops.reduce_sum(math_ops.multiply(x[:-1] - x[1:], heights[method]()), name=name)


def auc(
    labels: Any, predictions: Any, weights: Any = None, num_thresholds: int = 200, metrics_collections: Any = None, updates_collections: Any = None,
    curve: str = "ROC", name: str | None = None, summation_method: str = "trapezoidal", thresholds: Any = None,
) -> tuple[Any, Any]:
    """The area under the curve of hits over false alarms (or of precision over recall)."""
    if curve not in ("ROC", "PR"):
        raise ValueError(f"curve must be either ROC or PR, {curve} unknown")
    with variable_scope.variable_scope(name, "auc", (labels, predictions, weights)):
        steps = _steps(num_thresholds) if thresholds is None else [0.0 - _EDGE, *sorted(thresholds), 1.0 + _EDGE]
        kinds = ("true_positives", "false_negatives", "true_negatives", "false_positives")
        values, updates = _at_thresholds(labels, predictions, steps, weights, kinds)
        value, update = _area(values, curve, summation_method, "value"), _area(updates, curve, summation_method, "update_op")
        return noted(value, update, metrics_collections, updates_collections)


# ---- By classes.


def mean_iou(
    labels: Any, predictions: Any, num_classes: int, weights: Any = None, metrics_collections: Any = None, updates_collections: Any = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """The mean over classes of what label and prediction share, over what either has."""
    with variable_scope.variable_scope(name, "mean_iou", (predictions, labels, weights)):
        total = kept("total_confusion_matrix", [num_classes, num_classes], dtypes.float64)
        flat = [array_ops.reshape(math_ops.cast(t, dtypes.int64), [-1]) for t in (labels, predictions)]
        weights = None if weights is None else array_ops.reshape(weights, [-1])
        update = variables.assign_add(total, confusion_matrix(*flat, num_classes, dtypes.float64, weights=weights))
        rows, columns = (math_ops.cast(math_ops.reduce_sum(total, axis), dtypes.float32) for axis in (0, 1))
        shared = math_ops.cast(array_ops.tensor_diag_part(total), dtypes.float32)
        either = rows + columns - shared
        there = math_ops.reduce_sum(math_ops.cast(math_ops.not_equal(either, 0.0), dtypes.float32))
        shares = math_ops.truediv(shared, array_ops.where(either > 0, either, array_ops.ones_like(either)))
        some = there > 0
        value = array_ops.where(some, math_ops.truediv(math_ops.reduce_sum(shares, name="mean_iou"), there), 0.0)
        return noted(value, update, metrics_collections, updates_collections)


def mean_per_class_accuracy(
    labels: Any, predictions: Any, num_classes: int, weights: Any = None, metrics_collections: Any = None, updates_collections: Any = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """The mean over classes of the share of examples predicted right: (value, op that adds a batch)."""
    with variable_scope.variable_scope(name, "mean_accuracy", (predictions, labels, weights)):
        labels, predictions = (array_ops.reshape(math_ops.cast(t, dtypes.int64), [-1]) for t in (labels, predictions))
        total, count = kept("total", [num_classes]), kept("count", [num_classes])
        weights = array_ops.ones_like(labels, dtype=dtypes.float32) if weights is None else array_ops.reshape(math_ops.cast(weights, dtypes.float32), [-1])
        hits = math_ops.cast(math_ops.equal(predictions, labels), dtypes.float32) * weights
        updates = variables.scatter_add(count, labels, hits), variables.scatter_add(total, labels, weights)
        value = math_ops.reduce_mean(math_ops.div_no_nan(count, total), name="mean_accuracy")
        update = math_ops.div_no_nan(*updates, name="update_op")
        return noted(value, update, metrics_collections, updates_collections)


def percentage_below(values: Any, threshold: Any, weights: Any = None, metrics_collections: Any = None, updates_collections: Any = None, name: str | None = None) -> tuple[Any, Any]:
    """The share of values below the threshold, from 0 to 1: (value, op that adds a batch)."""
    below = math_ops.cast(_op("Less", [values, threshold], {}), dtypes.float32)
    return mean(below, weights, metrics_collections, updates_collections, name or "percentage_below_threshold")
