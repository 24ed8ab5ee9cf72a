"""Metrics of TensorFlow 2: numbers gathered over many batches, kept in variables."""

from __future__ import annotations

import inspect
import re
from typing import Any

from emplace.eager import context, initializers, loss_functions, variables
from emplace.eager.losses import _weighed
from emplace.framework import array_ops, dtypes, math_ops, ops
from emplace.framework.dispatch import execute as _op
from emplace.framework.thread_state import own


def _snake(title: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", title).lower()


def _unused(name: str) -> str:
    """The second metric of a kind that was not named is NAME_1."""
    taken = own.automatic_names
    taken["metric", name] += 1
    return name if taken["metric", name] == 1 else f"{name}_{taken['metric', name] - 1}"


def floats(value: Any) -> Any:
    return math_ops.cast(value, dtypes.float32)


def no_nan(x: Any, y: Any) -> Any:
    return _op("DivNoNan", [x, y], {})


class Metric:
    """`update_state` takes a batch in, `result` is the number so far, `reset_state` begins anew."""

    def __init__(self, dtype: Any = None, name: str | None = None) -> None:
        self.name = name or _unused(_snake(type(self).__name__))
        self._dtype = dtypes.as_dtype(dtype or dtypes.float32)
        self._variables: list[Any] = []

    dtype = property(lambda self: self._dtype)

    def __init_subclass__(cls) -> None:
        """What a class defines runs at once outside graphs."""
        for word in ("update_state", "result", "reset_state"):
            if word in vars(cls):
                setattr(cls, word, context.v2(vars(cls)[word]))

    def add_variable(self, shape: Any = (), initializer: Any = None, dtype: Any = None, aggregation: Any = None, name: str | None = None) -> Any:
        """Makes a variable that belongs to the metric: zeros, or what the initializer makes."""
        make = initializers.get(initializer) if isinstance(initializer, (str, dict)) else initializer
        with context.eager_mode():
            kind = dtype or self._dtype
            start = array_ops.zeros(shape, kind) if make is None else make(shape, kind)
            self._variables.append(variables.Owned(start, self.name, name or "variable"))
        return self._variables[-1]

    def add_weight(self, shape: Any = (), initializer: Any = None, dtype: Any = None, name: str | None = None, **_: Any) -> Any:
        """The same as `add_variable`; the name may also come first."""
        if isinstance(shape, str):  # the name came first once
            shape, name = (), shape
        return self.add_variable(shape, initializer, dtype, name=name)

    @property
    def variables(self) -> list[Any]:
        return list(self._variables)

    weights = non_trainable_variables = variables
    trainable_variables = property(lambda self: [])

    @context.v2
    def reset_state(self) -> None:
        """Forgets all that was counted: the variables become zeros."""
        for v in self._variables:
            v.assign(array_ops.zeros(v.shape.as_list(), v.dtype))

    reset_states = reset_state

    def update_state(self, *args: Any, **kwargs: Any) -> Any:
        """Counts a batch. Metrics override it; calling the metric itself also returns the new result."""
        raise NotImplementedError

    def result(self) -> Any:
        """The metric over all batches since the last reset, as a tensor. Metrics override it."""
        raise NotImplementedError

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.update_state(*args, **kwargs)
        return self.result()

    def get_config(self) -> dict[str, Any]:
        """The settings by name, as `from_config` takes them."""
        return {"name": self.name, "dtype": self._dtype.name}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> "Metric":
        """A metric from the settings that `get_config` gave."""
        return cls(**config)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} name={self.name}>"


class Sum(Metric):
    """The sum of all values seen, each times its weight."""

    def __init__(self, name: str = "sum", dtype: Any = None) -> None:
        super().__init__(dtype, name)
        self.total = self.add_variable(name="total")

    def update_state(self, values: Any, sample_weight: Any = None) -> None:
        values = math_ops.cast(values, self._dtype)
        self.total.assign_add(math_ops.reduce_sum(values if sample_weight is None else _weighed(values, sample_weight)))

    def result(self) -> Any:
        return self.total.read_value()


class Mean(Metric):
    """The mean of all values seen, weighted if weights are given; 0 as long as there are none."""

    def __init__(self, name: str = "mean", dtype: Any = None) -> None:
        super().__init__(dtype, name)
        self.total, self.count = self.add_variable(name="total"), self.add_variable(name="count")

    def update_state(self, values: Any, sample_weight: Any = None) -> None:
        values = math_ops.cast(values, self._dtype)
        weights = None if sample_weight is None else array_ops.ones_like(values)
        if weights is not None:
            weights = _weighed(weights, sample_weight)
            values = values * weights
        self.total.assign_add(math_ops.reduce_sum(values))
        n = array_ops.size(values) if weights is None else math_ops.reduce_sum(weights)
        self.count.assign_add(math_ops.cast(n, self._dtype))

    def result(self) -> Any:
        return no_nan(self.total.read_value(), self.count.read_value())


class MeanMetricWrapper(Mean):
    """The mean of what a function of labels and predictions gives."""

    def __init__(self, fn: Any, name: str | None = None, dtype: Any = None, **kwargs: Any) -> None:
        super().__init__(name or getattr(fn, "__name__", "metric"), dtype)
        self._fn, self._fn_kwargs = fn, kwargs

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Adds what the function gives for a batch of labels and predictions to the mean."""
        values = self._fn(math_ops.cast(y_true, self._dtype), math_ops.cast(y_pred, self._dtype), **self._fn_kwargs)
        Mean.update_state(self, values, sample_weight)


class RootMeanSquaredError(Mean):
    """The root of the mean squared difference of labels and predictions."""

    def __init__(self, name: str = "root_mean_squared_error", dtype: Any = None) -> None:
        super().__init__(name, dtype)

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Adds the squared differences of a batch to the mean."""
        Mean.update_state(self, _op("SquaredDifference", [floats(y_pred), floats(y_true)], {}), sample_weight)

    def result(self) -> Any:
        return math_ops.sqrt(no_nan(self.total.read_value(), self.count.read_value()))


class R2Score(Metric):
    """How much of what varies is explained."""

    def __init__(self, class_aggregation: Any = "uniform_average", num_regressors: int = 0, name: str = "r2_score", dtype: Any = None) -> None:
        super().__init__(dtype, name)
        self._how, self._regressors = class_aggregation, num_regressors
        self._sums: Any = None

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        y_true, y_pred = floats(y_true), floats(y_pred)
        if self._sums is None:
            n = y_true.shape[-1]
            self._sums = [self.add_variable([n], name=w) for w in ("squared_sum", "sum", "residual", "count")] + [self.add_variable(name="num_samples")]
        weights = _weighed(array_ops.ones([y_true.shape[0]]), 1.0 if sample_weight is None else sample_weight)
        weights = array_ops.expand_dims(weights, -1)
        parts = (y_true * y_true, y_true, _op("SquaredDifference", [y_true, y_pred], {}), array_ops.ones_like(y_true))
        for v, part in zip(self._sums, parts):
            v.assign_add(math_ops.reduce_sum(part * weights, 0))
        self._sums[4].assign_add(floats(array_ops.size(y_true)))

    def result(self) -> Any:
        squares, total, rest, count, samples = (v.read_value() for v in self._sums)
        spread = squares - total * (total / count)
        raw = 1.0 - no_nan(rest, spread)
        raw = array_ops.where_v2(spread == 0.0, array_ops.zeros_like(raw), raw)
        if self._how is None:
            return raw
        if self._how == "variance_weighted_average":
            raw = math_ops.reduce_sum(raw * spread) / math_ops.reduce_sum(spread)
        else:
            raw = math_ops.reduce_mean(raw)
        if self._regressors:
            raw = 1.0 - (1.0 - raw) * (samples - 1.0) / (samples - self._regressors - 1.0)
        return raw


# ---- Functions.


def _equal(a: Any, b: Any) -> Any:
    return floats(math_ops.equal(a, b))


def _flattened(y_true: Any, y_pred: Any) -> tuple[Any, Any]:
    y_true, y_pred = ops.convert_to_tensor(y_true), ops.convert_to_tensor(y_pred)
    if y_true.shape.rank == y_pred.shape.rank and y_true.shape.rank and y_true.shape[-1] == 1:
        y_true = array_ops.squeeze(y_true, [-1])
    return y_true, y_pred


def accuracy(y_true: Any, y_pred: Any) -> Any:
    """1.0 where the prediction equals the label, else 0.0."""
    y_pred = ops.convert_to_tensor(y_pred)
    return _equal(math_ops.cast(y_true, y_pred.dtype), y_pred)


def binary_accuracy(y_true: Any, y_pred: Any, threshold: float = 0.5) -> Any:
    """The share of each row's predictions that fall on their label's side of `threshold`; labels are 0 or 1."""
    hit = _equal(floats(y_true), floats(floats(y_pred) > threshold))
    return hit if hit.shape.rank == 0 else math_ops.reduce_mean(hit, -1)


def categorical_accuracy(y_true: Any, y_pred: Any) -> Any:
    """1.0 for each example whose largest prediction stands where the label's largest value does, else 0.0."""
    return _equal(math_ops.argmax(ops.convert_to_tensor(y_true), -1), math_ops.argmax(ops.convert_to_tensor(y_pred), -1))


def sparse_categorical_accuracy(y_true: Any, y_pred: Any) -> Any:
    """1.0 for each example whose largest prediction stands at the class number in `y_true`, else 0.0."""
    y_true, y_pred = _flattened(y_true, y_pred)
    return _equal(math_ops.cast(y_true, dtypes.int64), math_ops.argmax(y_pred, -1))


def sparse_top_k_categorical_accuracy(y_true: Any, y_pred: Any, k: int = 5, from_sorted_ids: bool = False) -> Any:
    """1.0 for each example whose class number is among its `k` best predictions, else 0.0. With `from_sorted_ids`, `y_pred`
    holds class numbers, the best first."""
    y_pred = ops.convert_to_tensor(y_pred)
    if from_sorted_ids:  # the best classes themselves, best first
        wanted = array_ops.expand_dims(math_ops.cast(y_true, y_pred.dtype), -1)
        return floats(math_ops.reduce_any(math_ops.equal(wanted, y_pred[..., :k]), -1))
    flat = array_ops.reshape(y_pred, [-1, y_pred.shape[-1]])
    wanted = array_ops.reshape(math_ops.cast(y_true, dtypes.int32), [-1])
    hit = floats(_op("InTopKV2", [floats(flat), wanted, k], {}))
    return hit if y_pred.shape.rank <= 2 else array_ops.reshape(hit, y_pred.shape.as_list()[:-1])


def top_k_categorical_accuracy(y_true: Any, y_pred: Any, k: int = 5) -> Any:
    """1.0 for each example whose one-hot class is among its `k` best predictions, else 0.0."""
    return sparse_top_k_categorical_accuracy(math_ops.argmax(ops.convert_to_tensor(y_true), -1), y_pred, k)


def cosine(y_true: Any, y_pred: Any, axis: int = -1) -> Any:
    """The cosine of the angle between label and prediction along `axis`: 1 where they point the same way."""
    return -loss_functions.cosine_similarity(y_true, y_pred, axis)


def _centred(y_true: Any, y_pred: Any, axis: int) -> list[Any]:
    means = [math_ops.reduce_mean(floats(y), axis, keepdims=True) for y in (y_true, y_pred)]
    return [*(floats(y) - m for y, m in zip((y_true, y_pred), means)), *means]


def pearson_correlation(y_true: Any, y_pred: Any, axis: int = -1) -> Any:
    """Pearson's correlation of labels and predictions along `axis`: 1 where one is a rising line of the other."""
    a, b, *_ = _centred(y_true, y_pred, axis)
    return math_ops.reduce_sum(a * b, axis) / math_ops.sqrt(math_ops.reduce_sum(a * a, axis) * math_ops.reduce_sum(b * b, axis))


def concordance_correlation(y_true: Any, y_pred: Any, axis: int = -1) -> Any:
    """Lin's concordance of labels and predictions along `axis`: 1 only where they are equal, not merely in proportion."""
    a, b, mean_a, mean_b = _centred(y_true, y_pred, axis)
    together, apart = math_ops.reduce_mean(a * b, axis), _op("Square", [mean_a - mean_b], {})
    return 2.0 * together / (math_ops.reduce_mean(a * a, axis) + math_ops.reduce_mean(b * b, axis) + math_ops.reduce_mean(apart, axis))


def _wrapped(title: str, function: Any, name: str | None = None, **settings: Any) -> Any:
    """A metric: the mean of a function. `settings` are the arguments it takes besides."""
    order = [k for k in settings if k != "first"]
    shown = name or function.__name__
    parameters = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    front = settings.pop("first", ())
    given = {**{k: settings[k] for k in front}, "name": shown, "dtype": None, **{k: v for k, v in settings.items() if k not in front}}
    parameters += [inspect.Parameter(k, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=v) for k, v in given.items()]
    signature = inspect.Signature(parameters)

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        a = bound.arguments
        MeanMetricWrapper.__init__(self, function, a["name"], a["dtype"], **{k: a[k] for k in order})

    return type(title, (MeanMetricWrapper,), {"__init__": __init__, "__module__": __name__, "__doc__": f"The mean, over all batches and by weight, of this:\n{function.__doc__}"})


_f = loss_functions
Accuracy = _wrapped("Accuracy", accuracy)
BinaryAccuracy = _wrapped("BinaryAccuracy", binary_accuracy, threshold=0.5)
CategoricalAccuracy = _wrapped("CategoricalAccuracy", categorical_accuracy)
SparseCategoricalAccuracy = _wrapped("SparseCategoricalAccuracy", sparse_categorical_accuracy)
TopKCategoricalAccuracy = _wrapped("TopKCategoricalAccuracy", top_k_categorical_accuracy, k=5, first=("k",))
SparseTopKCategoricalAccuracy = _wrapped("SparseTopKCategoricalAccuracy", sparse_top_k_categorical_accuracy, k=5, from_sorted_ids=False, first=("k",))
MeanSquaredError = _wrapped("MeanSquaredError", _f.mean_squared_error)
MeanAbsoluteError = _wrapped("MeanAbsoluteError", _f.mean_absolute_error)
MeanAbsolutePercentageError = _wrapped("MeanAbsolutePercentageError", _f.mean_absolute_percentage_error)
MeanSquaredLogarithmicError = _wrapped("MeanSquaredLogarithmicError", _f.mean_squared_logarithmic_error)
LogCoshError = _wrapped("LogCoshError", _f.log_cosh, "logcosh")
CosineSimilarity = _wrapped("CosineSimilarity", cosine, "cosine_similarity", axis=-1)
Hinge, SquaredHinge = _wrapped("Hinge", _f.hinge), _wrapped("SquaredHinge", _f.squared_hinge)
CategoricalHinge = _wrapped("CategoricalHinge", _f.categorical_hinge)
KLDivergence, Poisson = _wrapped("KLDivergence", _f.kl_divergence), _wrapped("Poisson", _f.poisson)
BinaryCrossentropy = _wrapped("BinaryCrossentropy", _f.binary_crossentropy, from_logits=False, label_smoothing=0)
CategoricalCrossentropy = _wrapped("CategoricalCrossentropy", _f.categorical_crossentropy, from_logits=False, label_smoothing=0, axis=-1)
SparseCategoricalCrossentropy = _wrapped("SparseCategoricalCrossentropy", _f.sparse_categorical_crossentropy, from_logits=False, axis=-1)
PearsonCorrelation = _wrapped("PearsonCorrelation", pearson_correlation, axis=-1)
ConcordanceCorrelation = _wrapped("ConcordanceCorrelation", concordance_correlation, axis=-1)
