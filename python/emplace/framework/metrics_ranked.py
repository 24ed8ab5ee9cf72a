"""tf.metrics of the first k predictions, and those at a rate of hits or of rest."""

from __future__ import annotations

from typing import Any

from emplace.framework import array_ops, dtypes, losses, math_ops, nn_ops, ops, variable_scope, variables
from emplace.framework.dispatch import execute as _op
from emplace.framework.metrics import kept, mean, noted, same_rank
from emplace.framework.metrics_counts import _EDGE, _at_thresholds, _both, _not

# ---- The first k.


def _scope_name(what: str, k: Any, class_id: Any = None) -> str:
    return f"{what}_at_{k}" if class_id is None else f"{what}_at_{k}_class{class_id}"


def _as_rows(labels: Any, predictions: Any) -> Any:
    """One label a row stands in a row of one."""
    if hasattr(labels, "dense_shape"):
        raise TypeError("labels must be dense")
    labels = math_ops.cast(labels, dtypes.int64)
    if labels.shape.rank is not None and predictions.shape.rank is not None and labels.shape.rank == predictions.shape.rank - 1:
        labels = array_ops.expand_dims(labels, -1)
    return labels


def _hits(labels: Any, first: Any) -> Any:
    """[..., labels, k]: which label stands at which place."""
    return math_ops.equal(array_ops.expand_dims(labels, -1), array_ops.expand_dims(first, -2))


def _summed(found: Any, weights: Any) -> Any:
    """How many, over the last axis, of each row, weighted."""
    rows = math_ops.reduce_sum(math_ops.cast(found, dtypes.float64), -1)
    if weights is not None:
        rows = rows * losses._spread(math_ops.cast(weights, dtypes.float64), rows)
    return math_ops.reduce_sum(rows)


def _counts(labels: Any, first: Any, class_id: Any) -> dict[str, Any]:
    """Which are hit, missed, and named in vain."""
    hit = math_ops.reduce_any(_hits(labels, first), -1)
    vain = _not(math_ops.reduce_any(_hits(labels, first), -2))
    mine = labels >= 0
    if class_id is not None:
        mine, vain = math_ops.equal(labels, class_id), _both(vain, math_ops.equal(first, class_id))
    return {"true_positive": _both(hit, mine), "false_negative": _both(_not(hit), mine), "false_positive": vain}


def _share(what: str, other: str) -> Any:
    """True positives among them and the others, over all that was seen."""

    def function(
        labels: Any, predictions_idx: Any, k: Any = None, class_id: Any = None, weights: Any = None, metrics_collections: Any = None,
        updates_collections: Any = None, name: str | None = None,
    ) -> tuple[Any, Any]:
        with ops.name_scope(name, _scope_name(what, k, class_id), (predictions_idx, labels, weights)) as scope:
            first = math_ops.cast(predictions_idx, dtypes.int64)
            found = _counts(_as_rows(labels, first), first, class_id)
            values, updates = [], []
            for kind in ("true_positive", other):
                with ops.name_scope(None, _scope_name(kind, k, class_id)) as inner:
                    total = _summed(found[kind], weights)
                    values.append(kept(inner, [], dtypes.float64))
                    updates.append(variables.assign_add(values[-1], total, name="update"))
            value = math_ops.divide(values[0], math_ops.add(*values), name=scope)
            update = math_ops.divide(updates[0], math_ops.add(*updates), name="update")
            return noted(value, update, metrics_collections, updates_collections)

    def of_scores(
        labels: Any, predictions: Any, k: int, class_id: Any = None, weights: Any = None, metrics_collections: Any = None,
        updates_collections: Any = None, name: str | None = None,
    ) -> tuple[Any, Any]:
        with ops.name_scope(name, _scope_name(what, k, class_id), (predictions, labels, weights)) as scope:
            _, first = nn_ops.top_k(predictions, k)
            return function(labels, first, k, class_id, weights, metrics_collections, updates_collections, scope)

    function.__name__, of_scores.__name__ = f"{what}_at_top_k", f"{what}_at_k"
    rest = "of all batches, of all classes or `class_id`: (value, op that adds a batch and gives the new value)."
    function.__doc__ = f"{what.capitalize()} of class numbers `predictions_idx`, the best of each row, {rest}"
    of_scores.__doc__ = f"{what.capitalize()} of the `k` best classes of each row of scores, {rest}"
    return function, of_scores


recall_at_top_k, recall_at_k = _share("recall", "false_negative")
precision_at_top_k, precision_at_k = _share("precision", "false_positive")
sparse_precision_at_k = precision_at_k


def average_precision_at_k(
    labels: Any, predictions: Any, k: int, weights: Any = None, metrics_collections: Any = None, updates_collections: Any = None, name: str | None = None,
) -> tuple[Any, Any]:
    """The mean, over rows, of the precision at each place of the first k that holds a label."""
    with ops.name_scope(name, _scope_name("average_precision", k), (predictions, labels, weights)) as scope:
        _, first = nn_ops.top_k(predictions, k)
        first = math_ops.cast(first, dtypes.int64)
        labels = _as_rows(labels, first)
        hit = math_ops.cast(math_ops.reduce_any(_hits(labels, first), -2), dtypes.float64)
        precision = math_ops.cumsum(hit, axis=-1) / math_ops.cast(math_ops.range(1, k + 1), dtypes.float64)
        relevant = math_ops.reduce_sum(math_ops.cast(labels >= 0, dtypes.float64), -1)
        most = _op("Minimum", [relevant, math_ops.cast(k, dtypes.float64)], {})
        rows = math_ops.div_no_nan(math_ops.reduce_sum(hit * precision, -1), most)
        with ops.name_scope(None, "max"):
            count = kept(f"{scope}max", [], dtypes.float64)
        with ops.name_scope(None, "total"):
            total = kept(f"{scope}total", [], dtypes.float64)
        many = math_ops.cast(array_ops.size(rows), dtypes.float64)
        if weights is not None:
            spread = losses._spread(math_ops.cast(weights, dtypes.float64), rows)
            rows, many = rows * spread, math_ops.reduce_sum(spread)
        more_total = variables.assign_add(total, math_ops.reduce_sum(rows), name="update")
        more_count = variables.assign_add(count, many, name="update")
        value = math_ops.div_no_nan(total, count, name="mean")
        update = math_ops.div_no_nan(more_total, more_count, name=scope)
        return noted(value, update, metrics_collections, updates_collections)


sparse_average_precision_at_k = average_precision_at_k


# ---- At the threshold where a rate is nearest to the one asked for.


def _rates(found: dict[str, Any]) -> tuple[Any, Any]:
    """The share of positives found, and of negatives left alone, at each threshold."""
    hits = math_ops.divide(found["true_positives"], found["true_positives"] + found["false_negatives"] + _EDGE)
    rest = math_ops.divide(found["true_negatives"], found["true_negatives"] + found["false_positives"] + _EDGE)
    return hits, rest


def _at_rate(what: str, given: str, wanted: int, last: float) -> Any:
    def function(
        labels: Any, predictions: Any, rate: float, weights: Any = None, num_thresholds: int = 200, metrics_collections: Any = None,
        updates_collections: Any = None, name: str | None = None,
    ) -> tuple[Any, Any]:
        if rate < 0 or rate > 1:
            raise ValueError(f"`{given}` must be in the range [0, 1]. Currently, `{given}` got {rate}.")
        with variable_scope.variable_scope(name, what, (predictions, labels, weights)):
            steps = [0.0 - _EDGE, *((i + 1) * 1.0 / (num_thresholds - 1) for i in range(num_thresholds - 2)), last]
            values, updates = _at_thresholds(labels, predictions, steps, weights, ("true_positives", "false_negatives", "true_negatives", "false_positives"))

            def at(found: dict[str, Any], name: str) -> Any:
                rates = _rates(found)
                far = math_ops.abs(rates[1 - wanted] - rate)
                if wanted == 0:
                    return array_ops.gather(rates[0], math_ops.argmin(far, 0), name=name)
                nearest = math_ops.cast(math_ops.equal(far, math_ops.reduce_min(far)), dtypes.int64)
                return array_ops.gather(rates[1], math_ops.argmax(math_ops.cumsum(nearest), 0), name=name)  # the last of them

            return noted(at(values, "value"), at(updates, "update_op"), metrics_collections, updates_collections)

    function.__name__ = what
    wanted_rate = what.partition("_")[0]
    function.__doc__ = f"The {wanted_rate} at the threshold whose {given} comes closest to `rate`: (value, op that adds a batch)."
    return function


sensitivity_at_specificity = _at_rate("sensitivity_at_specificity", "specificity", 0, 1.0 + _EDGE)
specificity_at_sensitivity = _at_rate("specificity_at_sensitivity", "sensitivity", 1, 1.0 - _EDGE)


def mean_cosine_distance(
    labels: Any, predictions: Any, dim: int, weights: Any = None, metrics_collections: Any = None, updates_collections: Any = None, name: str | None = None,
) -> tuple[Any, Any]:
    """One minus the mean product of unit vectors."""
    labels, predictions = same_rank(ops.convert_to_tensor(labels), ops.convert_to_tensor(predictions))
    near = math_ops.reduce_sum(math_ops.multiply(predictions, labels), axis=[dim], keepdims=True)
    value, update = mean(near, weights, None, None, name or "mean_cosine_distance")
    return noted(math_ops.subtract(1.0, value), math_ops.subtract(1.0, update), metrics_collections, updates_collections)
