"""Metrics over counts of right and wrong answers, at one threshold or many."""

from __future__ import annotations

from typing import Any

import numpy as np

from emplace.eager import metrics
from emplace.eager.losses import _weighed
from emplace.eager.metrics import Metric, floats, no_nan
from emplace.framework import array_ops, dtypes, math_ops, ops
from emplace.framework.dispatch import execute as _op

_EPSILON = 1e-7


class _Counts(Metric):
    """Keeps true and false positives and negatives for each threshold."""

    def __init__(self, thresholds: Any, name: str | None, dtype: Any, top_k: int | None = None, class_id: int | None = None) -> None:
        super().__init__(dtype, name)
        default = 0.5 if top_k is None else -1e10
        values = [default] if thresholds is None else list(np.asarray(thresholds, np.float32).reshape(-1))
        bad = [float(t) for t in values if thresholds is not None and not 0 <= t <= 1]
        if bad:
            raise ValueError(f"Threshold values must be in [0, 1]. Received: {bad}")
        self.thresholds, self.top_k, self.class_id = values, top_k, class_id
        self._make([len(values)])

    _counted = ("_tp", "_tn", "_fp", "_fn")

    def _make(self, shape: list[int]) -> None:
        names = {"_tp": "true_positives", "_tn": "true_negatives", "_fp": "false_positives", "_fn": "false_negatives"}
        for kind in self._counted:
            setattr(self, kind, self.add_variable(shape, name=names[kind]))

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        y_true, y_pred = floats(y_true), floats(y_pred)
        weights = array_ops.ones_like(y_pred) if sample_weight is None else _weighed(array_ops.ones_like(y_pred), sample_weight)
        if self.top_k is not None:
            y_pred = _best(y_pred, self.top_k)
        if self.class_id is not None:
            y_true, y_pred, weights = (t[..., self.class_id] for t in (y_true, y_pred, weights))
        limits = ops.convert_to_tensor(np.asarray(self.thresholds, np.float32).reshape(-1, 1))
        right = math_ops.cast(array_ops.reshape(y_true, [1, -1]), dtypes.bool)
        said = array_ops.reshape(y_pred, [1, -1]) > limits
        w = array_ops.reshape(weights, [1, -1])
        not_right, not_said = _op("LogicalNot", [right], {}), _op("LogicalNot", [said], {})
        pairs = {"_tp": (right, said), "_tn": (not_right, not_said), "_fp": (not_right, said), "_fn": (right, not_said)}
        for kind in self._counted:
            a, b = pairs[kind]
            getattr(self, kind).assign_add(math_ops.reduce_sum(floats(_op("LogicalAnd", [a, b], {})) * w, 1))

    def _plain(self, values: Any) -> Any:
        return values[0] if len(self.thresholds) == 1 else values


def _best(y_pred: Any, k: int) -> Any:
    """What is not among the k best of its row counts for nothing."""
    _, at = _op("TopKV2", [y_pred, k], {"sorted": True})
    mask = math_ops.reduce_sum(array_ops.one_hot(at, y_pred.shape[-1], dtype=dtypes.float32), -2)
    return y_pred * mask + (-1e10) * (1.0 - mask)


def _count(title: str, which: str, said: str) -> Any:
    def __init__(self: Any, thresholds: Any = None, name: str | None = None, dtype: Any = None) -> None:  # noqa: N807
        _Counts.__init__(self, thresholds, name, dtype)

    def result(self: Any) -> Any:
        """The number counted, or one for each threshold."""
        return self._plain(getattr(self, which).read_value())

    return type(title, (_Counts,), {"__init__": __init__, "result": result, "_counted": (which,), "__module__": __name__, "__doc__": said})


TruePositives = _count("TruePositives", "_tp", "Counts (or sums the weights of) positives predicted above each threshold.")
TrueNegatives = _count("TrueNegatives", "_tn", "Counts (or sums the weights of) negatives predicted at or below each threshold.")
FalsePositives = _count("FalsePositives", "_fp", "Counts (or sums the weights of) negatives predicted above each threshold.")
FalseNegatives = _count("FalseNegatives", "_fn", "Counts (or sums the weights of) positives predicted at or below each threshold.")


class Precision(_Counts):
    """Of what was predicted positive, the share that is: over thresholds (0.5), the `top_k` classes, or one `class_id`."""

    _counted = ("_tp", "_fp")

    def __init__(self, thresholds: Any = None, top_k: Any = None, class_id: Any = None, name: str | None = None, dtype: Any = None) -> None:
        super().__init__(thresholds, name, dtype, top_k, class_id)

    def result(self) -> Any:
        return self._plain(no_nan(self._tp.read_value(), self._tp + self._fp))


class Recall(_Counts):
    """Of what is positive, the share that was predicted so: over thresholds (0.5), the `top_k` classes, or one `class_id`."""

    _counted = ("_tp", "_fn")

    def __init__(self, thresholds: Any = None, top_k: Any = None, class_id: Any = None, name: str | None = None, dtype: Any = None) -> None:
        super().__init__(thresholds, name, dtype, top_k, class_id)

    def result(self) -> Any:
        return self._plain(no_nan(self._tp.read_value(), self._tp + self._fn))


def _many(n: int) -> list[float]:
    inner = [(i + 1) / (n - 1) for i in range(n - 2)]
    return [0.0 - _EPSILON, *inner, 1.0 + _EPSILON]


class _Spread(_Counts):
    """Over thresholds between 0 and 1."""

    def __init__(self, num_thresholds: int, name: str | None, dtype: Any, class_id: Any = None) -> None:
        Metric.__init__(self, dtype, name)
        if num_thresholds <= 0:
            raise ValueError(f"Argument `num_thresholds` must be an integer > 0. Received: num_thresholds={num_thresholds}")
        self.thresholds = [0.5] if num_thresholds == 1 else _many(num_thresholds)
        self.top_k, self.class_id = None, class_id
        self._make([len(self.thresholds)])

    def _at_best(self, allowed: Any, wanted: Any) -> Any:
        """The greatest of what is wanted where it is allowed; 0 where it never is."""
        low = array_ops.where_v2(allowed, wanted, array_ops.zeros_like(wanted) - 1.0)
        return _op("Maximum", [math_ops.reduce_max(low), ops.convert_to_tensor(0.0)], {})

    def _rates(self) -> tuple[Any, Any, Any]:
        sensitivity = no_nan(self._tp.read_value(), self._tp + self._fn)
        specificity = no_nan(self._tn.read_value(), self._tn + self._fp)
        return sensitivity, specificity, no_nan(self._tp.read_value(), self._tp + self._fp)


def _at(title: str, argument: str, allowed: int, wanted: int) -> Any:
    said = f"The best {title.partition('At')[0].lower()} over the thresholds at which the {argument} is at least the one given."

    def __init__(self: Any, limit: Any = None, num_thresholds: int = 200, class_id: Any = None, name: str | None = None, dtype: Any = None, **kwargs: Any) -> None:  # noqa: N807
        limit = kwargs.get(argument, limit)
        if limit is None or not 0 <= limit <= 1:
            raise ValueError(f"Argument `{argument}` must be in the range [0, 1]. Received: {argument}={limit}")
        self._limit = limit
        _Spread.__init__(self, num_thresholds, name, dtype, class_id)

    def result(self: Any) -> Any:
        """The best value that the condition allows, 0 where no threshold meets it."""
        rates = self._rates()
        return self._at_best(rates[allowed] >= self._limit, rates[wanted])

    return type(title, (_Spread,), {"__init__": __init__, "result": result, "__module__": __name__, "__doc__": said})


SensitivityAtSpecificity = _at("SensitivityAtSpecificity", "specificity", 1, 0)
SpecificityAtSensitivity = _at("SpecificityAtSensitivity", "sensitivity", 0, 1)
PrecisionAtRecall = _at("PrecisionAtRecall", "recall", 0, 2)
RecallAtPrecision = _at("RecallAtPrecision", "precision", 2, 0)


class AUC(_Spread):
    """The area below the curve, by trapezoids; that of precision and recall by its own interpolation."""

    def __init__(
        self, num_thresholds: int = 200, curve: str = "ROC", summation_method: str = "interpolation", name: str | None = None, dtype: Any = None,
        thresholds: Any = None, multi_label: bool = False, num_labels: Any = None, label_weights: Any = None, from_logits: bool = False,
    ) -> None:
        if multi_label:
            raise NotImplementedError("an AUC for each label: make one for each")
        super().__init__(num_thresholds if thresholds is None else 3, name, dtype)
        if thresholds is not None:
            self._variables.clear()
            self.thresholds = [-_EPSILON, *sorted(thresholds), 1 + _EPSILON]
            self._make([len(self.thresholds)])
        self.curve, self._logits, self._method = str(curve).upper().rpartition(".")[2], from_logits, summation_method

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        y_pred = math_ops.sigmoid(floats(y_pred)) if self._logits else y_pred
        _Counts.update_state(self, y_true, y_pred, sample_weight)

    def result(self) -> Any:
        tp, tn, fp, fn = (v.read_value() for v in (self._tp, self._tn, self._fp, self._fn))
        if self.curve == "PR" and self._method == "interpolation":
            return _under_precision(tp, fp, fn)
        recall = no_nan(tp, tp + fn)
        x, y = (no_nan(fp, fp + tn), recall) if self.curve == "ROC" else (recall, no_nan(tp, tp + fp))
        heights = {
            "interpolation": lambda: (y[:-1] + y[1:]) / 2.0,
            "minoring": lambda: _op("Minimum", [y[:-1], y[1:]], {}),
            "majoring": lambda: _op("Maximum", [y[:-1], y[1:]], {}),
        }[self._method]()
        return math_ops.reduce_sum((x[:-1] - x[1:]) * heights)


def _under_precision(tp: Any, fp: Any, fn: Any) -> Any:
    zero = ops.convert_to_tensor(0.0)
    dtp, p = tp[:-1] - tp[1:], tp + fp
    dp = p[:-1] - p[1:]
    slope = no_nan(dtp, _op("Maximum", [dp, zero], {}))
    start = tp[1:] - slope * p[1:]
    both = _op("LogicalAnd", [p[:-1] > 0.0, p[1:] > 0.0], {})
    ratio = array_ops.where_v2(both, no_nan(p[:-1], _op("Maximum", [p[1:], zero], {})), array_ops.ones_like(p[1:]))
    steps = no_nan(slope * (dtp + start * _op("Log", [ratio], {})), _op("Maximum", [tp[1:] + fn[1:], zero], {}))
    return math_ops.reduce_sum(steps)


# ---- Overlap.


class IoU(Metric):
    """Overlap of what was said with what is so, for the classes asked for."""

    def __init__(
        self, num_classes: int, target_class_ids: Any, name: str | None = None, dtype: Any = None, ignore_class: Any = None,
        sparse_y_true: bool = True, sparse_y_pred: bool = True, axis: int = -1,
    ) -> None:
        super().__init__(dtype, name)
        if target_class_ids and max(target_class_ids) >= num_classes:
            raise ValueError(f"Target class id {max(target_class_ids)} is out of range, which is [0, {num_classes}).")
        self.num_classes, self.target_class_ids, self.ignore_class = num_classes, list(target_class_ids), ignore_class
        self._sparse, self._axis = (sparse_y_true, sparse_y_pred), axis
        self.total_cm = self.add_variable([num_classes, num_classes], name="total_confusion_matrix")

    def _ids(self, value: Any, sparse: bool) -> Any:
        value = ops.convert_to_tensor(value)
        return array_ops.reshape(math_ops.cast(value if sparse else math_ops.argmax(value, self._axis), dtypes.int32), [-1])

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        a, b = self._ids(y_true, self._sparse[0]), self._ids(y_pred, self._sparse[1])
        weights = array_ops.ones([a.shape[0]]) if sample_weight is None else array_ops.reshape(floats(sample_weight), [-1])
        weights = weights + array_ops.zeros([a.shape[0]])
        if self.ignore_class is not None:
            weights = weights * floats(math_ops.not_equal(a, self.ignore_class))
        cells = _op("ScatterNd", [array_ops.stack([a, b], 1), weights, [self.num_classes, self.num_classes]], {})
        self.total_cm.assign_add(cells)

    def result(self) -> Any:
        cm = self.total_cm.read_value()
        hit = array_ops.matrix_diag_part(cm)
        union = math_ops.reduce_sum(cm, 0) + math_ops.reduce_sum(cm, 1) - hit
        hit, union = (array_ops.gather(t, self.target_class_ids) for t in (hit, union))
        there = floats(union > 0.0)
        return no_nan(math_ops.reduce_sum(no_nan(hit, union)), math_ops.reduce_sum(there))


class BinaryIoU(IoU):
    """Intersection over union for two classes; predictions from `threshold` on are class 1."""

    def __init__(self, target_class_ids: Any = (0, 1), threshold: float = 0.5, name: str | None = None, dtype: Any = None) -> None:
        super().__init__(2, target_class_ids, name, dtype)
        self.threshold = threshold

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        IoU.update_state(self, y_true, math_ops.cast(floats(y_pred) >= self.threshold, dtypes.int32), sample_weight)


class MeanIoU(IoU):
    """The mean of intersection over union of all classes that occur."""

    def __init__(self, num_classes: int, name: str | None = None, dtype: Any = None, ignore_class: Any = None, sparse_y_true: bool = True, sparse_y_pred: bool = True, axis: int = -1) -> None:
        super().__init__(num_classes, range(num_classes), name, dtype, ignore_class, sparse_y_true, sparse_y_pred, axis)


class OneHotIoU(IoU):
    """Intersection over union of the classes `target_class_ids`, with one-hot labels."""

    def __init__(self, num_classes: int, target_class_ids: Any, name: str | None = None, dtype: Any = None, ignore_class: Any = None, sparse_y_pred: bool = False, axis: int = -1) -> None:
        super().__init__(num_classes, target_class_ids, name, dtype, ignore_class, False, sparse_y_pred, axis)


class OneHotMeanIoU(MeanIoU):
    """The mean of intersection over union of all classes that occur, with one-hot labels."""

    def __init__(self, num_classes: int, name: str | None = None, dtype: Any = None, ignore_class: Any = None, sparse_y_pred: bool = False, axis: int = -1) -> None:
        super().__init__(num_classes, name, dtype, ignore_class, False, sparse_y_pred, axis)


class FBetaScore(Metric):
    """Precision and recall in one number, recall counting `beta` times as much."""

    def __init__(self, average: Any = None, beta: float = 1.0, threshold: Any = None, name: str | None = None, dtype: Any = None) -> None:
        super().__init__(dtype, name or "fbeta_score")
        if average not in (None, "micro", "macro", "weighted"):
            raise ValueError(f"Invalid `average` argument value. Expected one of: {{None, 'micro', 'macro', 'weighted'}}. Received: average={average}")
        self.average, self.beta, self.threshold = average, beta, threshold
        self._sums: Any = None

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        y_true, y_pred = floats(y_true), floats(y_pred)
        if self._sums is None:
            shape = [] if self.average == "micro" else [y_true.shape[-1]]
            self._sums = [self.add_variable(shape, name=n) for n in ("true_positives", "false_positives", "false_negatives", "intermediate_weights")]
        if self.threshold is None:
            best = math_ops.reduce_max(y_pred, -1, keepdims=True)
            said = floats(_op("LogicalAnd", [y_pred >= best, math_ops.abs(y_pred) > 1e-12], {}))
        else:
            said = floats(y_pred > self.threshold)
        w = 1.0 if sample_weight is None else array_ops.expand_dims(floats(sample_weight), -1)
        axis = None if self.average == "micro" else 0
        for v, part in zip(self._sums, (said * y_true, said * (1 - y_true), (1 - said) * y_true, y_true)):
            v.assign_add(math_ops.reduce_sum(part * w, axis))

    def result(self) -> Any:
        tp, fp, fn, weights = (v.read_value() for v in self._sums)
        precision, recall = no_nan(tp, tp + fp), no_nan(tp, tp + fn)
        score = no_nan((1 + self.beta**2) * precision * recall, self.beta**2 * precision + recall)
        if self.average == "weighted":
            return math_ops.reduce_sum(score * no_nan(weights, math_ops.reduce_sum(weights)))
        return math_ops.reduce_mean(score) if self.average is not None else score


class F1Score(FBetaScore):
    """The harmonic mean of precision and recall: `FBetaScore` with a beta of 1."""

    def __init__(self, average: Any = None, threshold: Any = None, name: str = "f1_score", dtype: Any = None) -> None:
        super().__init__(average, 1.0, threshold, name, dtype)


def get(identifier: Any) -> Any:
    """A metric by its name or configuration; a name in small letters gives a function."""
    if identifier is None or callable(identifier):
        return identifier
    if isinstance(identifier, dict):
        return deserialize(identifier)
    found = globals().get(identifier) or getattr(metrics, identifier, None) or getattr(metrics._f, identifier, None)
    if found is None or identifier.startswith("_"):
        raise ValueError(f"Could not interpret metric identifier: {identifier}")
    return found() if isinstance(found, type) else found


def serialize(metric: Any) -> dict[str, Any]:
    """A metric as a dict of its class and settings, as `deserialize` takes it."""
    return {"module": "keras.metrics", "class_name": type(metric).__name__, "config": metric.get_config(), "registered_name": None}


def deserialize(config: dict[str, Any], custom_objects: Any = None) -> Any:
    """A metric from the dict that `serialize` gave; classes of one's own go in `custom_objects`, by name."""
    title = config["class_name"]
    kind = (custom_objects or {}).get(title) or globals().get(title) or getattr(metrics, title)
    return kind.from_config(config.get("config", {}))
