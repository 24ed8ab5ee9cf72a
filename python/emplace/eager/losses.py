"""Losses of TensorFlow 2."""

from __future__ import annotations

from typing import Any

from emplace.eager import context
from emplace.eager.functions import nn
from emplace.framework import array_ops, math_ops, nn_ops, ops


class Reduction:
    AUTO = "auto"
    NONE = "none"
    SUM = "sum"
    SUM_OVER_BATCH_SIZE = "sum_over_batch_size"


class Loss:
    """`loss(y_true, y_pred)`: the mean over the batch unless said otherwise."""

    def __init__(self, reduction: str = Reduction.AUTO, name: str | None = None) -> None:
        if reduction not in ("auto", "none", "sum", "sum_over_batch_size"):
            raise ValueError(f"Invalid Reduction Key: {reduction}.")
        self.reduction, self.name = reduction, name

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        context._state.eager += 1
        try:
            y_pred = ops.convert_to_tensor(y_pred)
            values = self.call(ops.convert_to_tensor(y_true), y_pred)
            if sample_weight is not None:
                values = values * math_ops.cast(sample_weight, values.dtype)
            if self.reduction == "none":
                return values
            total = math_ops.reduce_sum(values)
            return total if self.reduction == "sum" else total / math_ops.cast(array_ops.size(values), values.dtype)
        finally:
            context._state.eager -= 1

    def call(self, y_true: Any, y_pred: Any) -> Any:
        raise NotImplementedError("Must be implemented by the loss")


class MeanSquaredError(Loss):
    def __init__(self, reduction: str = Reduction.AUTO, name: str = "mean_squared_error") -> None:
        super().__init__(reduction, name)

    def call(self, y_true: Any, y_pred: Any) -> Any:
        difference = y_pred - math_ops.cast(y_true, y_pred.dtype)
        return math_ops.reduce_mean(difference * difference, -1)


class MeanAbsoluteError(Loss):
    def __init__(self, reduction: str = Reduction.AUTO, name: str = "mean_absolute_error") -> None:
        super().__init__(reduction, name)

    def call(self, y_true: Any, y_pred: Any) -> Any:
        return math_ops.reduce_mean(math_ops.abs(y_pred - math_ops.cast(y_true, y_pred.dtype)), -1)


def _clipped(p: Any) -> Any:
    from emplace.framework import clip_ops

    return clip_ops.clip_by_value(p, 1e-7, 1.0 - 1e-7)


class BinaryCrossentropy(Loss):
    def __init__(self, from_logits: bool = False, label_smoothing: float = 0.0, axis: int = -1, reduction: str = Reduction.AUTO, name: str = "binary_crossentropy") -> None:
        super().__init__(reduction, name)
        self._logits, self._smoothing, self._axis = from_logits, label_smoothing, axis

    def call(self, y_true: Any, y_pred: Any) -> Any:
        y_true = math_ops.cast(y_true, y_pred.dtype)
        if self._smoothing:
            y_true = y_true * (1.0 - self._smoothing) + 0.5 * self._smoothing
        if self._logits:
            values = nn_ops.sigmoid_cross_entropy_with_logits(labels=y_true, logits=y_pred)
        else:
            p = _clipped(y_pred)
            from emplace.framework.dispatch import execute as op

            values = -(y_true * op("Log", [p + 1e-7], {}) + (1 - y_true) * op("Log", [1 - p + 1e-7], {}))
        return math_ops.reduce_mean(values, self._axis)


class CategoricalCrossentropy(Loss):
    def __init__(self, from_logits: bool = False, label_smoothing: float = 0.0, axis: int = -1, reduction: str = Reduction.AUTO, name: str = "categorical_crossentropy") -> None:
        super().__init__(reduction, name)
        self._logits, self._smoothing, self._axis = from_logits, label_smoothing, axis

    def call(self, y_true: Any, y_pred: Any) -> Any:
        y_true = math_ops.cast(y_true, y_pred.dtype)
        if self._smoothing:
            y_true = y_true * (1.0 - self._smoothing) + self._smoothing / y_pred.shape.as_list()[-1]
        if self._logits:
            return nn.softmax_cross_entropy_with_logits(y_true, y_pred, self._axis)
        from emplace.framework.dispatch import execute as op

        p = _clipped(y_pred / math_ops.reduce_sum(y_pred, self._axis, keepdims=True))
        return -math_ops.reduce_sum(y_true * op("Log", [p], {}), self._axis)


class SparseCategoricalCrossentropy(Loss):
    def __init__(self, from_logits: bool = False, ignore_class: Any = None, reduction: str = Reduction.AUTO, name: str = "sparse_categorical_crossentropy") -> None:
        super().__init__(reduction, name)
        self._logits = from_logits

    def call(self, y_true: Any, y_pred: Any) -> Any:
        from emplace.framework import dtypes
        from emplace.framework.dispatch import execute as op

        logits = y_pred if self._logits else op("Log", [_clipped(y_pred)], {})
        return nn.sparse_softmax_cross_entropy_with_logits(math_ops.cast(y_true, dtypes.int64), logits)
