"""Losses of TensorFlow 2: classes over the functions of `loss_functions`."""

from __future__ import annotations

from typing import Any

from emplace.eager import context, loss_functions, nest
from emplace.framework import array_ops, dtypes, math_ops, ops


class Reduction:
    """How losses of single examples become one number: not at all, their sum, or their mean."""

    AUTO = "auto"
    NONE = "none"
    SUM = "sum"
    SUM_OVER_BATCH_SIZE = "sum_over_batch_size"


class Loss:
    """`loss(y_true, y_pred)`: the mean over the batch unless said otherwise."""

    def __init__(self, reduction: Any = Reduction.AUTO, name: str | None = None, dtype: Any = None) -> None:
        if reduction not in (None, "auto", "none", "sum", "sum_over_batch_size", "mean"):
            raise ValueError(f"Invalid Reduction Key: {reduction}.")
        self.reduction, self.name = reduction, name
        self.dtype = "float32" if dtype is None else dtypes.as_dtype(dtype).name

    def _floats(self, value: Any) -> Any:
        """Losses are worked out in the loss's own dtype, whatever is given."""
        return math_ops.cast(value, self.dtype)

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        context._state.eager += 1
        try:
            y_true, y_pred = (nest.map_structure(self._floats, y) for y in (y_true, y_pred))
            values = ops.convert_to_tensor(self.call(y_true, y_pred))
            if sample_weight is not None:
                values = _weighed(values, sample_weight)
            if self.reduction in (None, "none"):
                return values
            total = math_ops.reduce_sum(values)
            return total if self.reduction == "sum" else total / math_ops.cast(array_ops.size(values), values.dtype)
        finally:
            context._state.eager -= 1

    def call(self, y_true: Any, y_pred: Any) -> Any:
        """The loss of each example, before weights and reduction. Losses override it; call the object itself."""
        raise NotImplementedError("Must be implemented by the loss")


def _weighed(values: Any, weights: Any) -> Any:
    """A weight for each value, or for each of the batch."""
    weights = math_ops.cast(weights, values.dtype)
    if weights.shape.rank and values.shape.rank is not None:
        if weights.shape.rank == values.shape.rank + 1 and weights.shape[-1] == 1:
            weights = array_ops.squeeze(weights, -1)
        for _ in range(values.shape.rank - weights.shape.rank):
            weights = array_ops.expand_dims(weights, -1)
    return values * weights


def _loss(title: str, function: Any, called: str = "", **settings: Any) -> Any:
    """A class whose losses are those of a function; `settings` are the arguments it takes besides."""
    order = [*settings, "reduction", "name", "dtype"]

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        given = {**settings, "reduction": Reduction.AUTO, "name": called or function.__name__, "dtype": None, **dict(zip(order, args))}
        unknown = [k for k in kwargs if k not in order]
        if unknown:
            raise TypeError(f"{title}.__init__() got an unexpected keyword argument '{unknown[0]}'")
        given.update(kwargs)
        Loss.__init__(self, given["reduction"], given["name"], given["dtype"])
        self._settings = {k: given[k] for k in settings}

    def call(self: Any, y_true: Any, y_pred: Any) -> Any:
        """The loss of each example, before weights and reduction."""
        return function(y_true, y_pred, **self._settings)

    def get_config(self: Any) -> dict[str, Any]:
        """The settings by name, as `from_config` takes them."""
        return {"name": self.name, "reduction": self.reduction, **self._settings}

    def __repr__(self: Any) -> str:  # noqa: N807
        return f"<LossFunctionWrapper({function}, kwargs={self._settings})>"

    return type(title, (Loss,), {"__repr__": __repr__, "__init__": __init__, "call": call, "get_config": get_config, "__module__": __name__, "__doc__": function.__doc__})


_f = loss_functions
_CROSS = {"from_logits": False, "label_smoothing": 0.0, "axis": -1}
MeanSquaredError = _loss("MeanSquaredError", _f.mean_squared_error)
MeanAbsoluteError = _loss("MeanAbsoluteError", _f.mean_absolute_error)
MeanAbsolutePercentageError = _loss("MeanAbsolutePercentageError", _f.mean_absolute_percentage_error)
MeanSquaredLogarithmicError = _loss("MeanSquaredLogarithmicError", _f.mean_squared_logarithmic_error)
CosineSimilarity = _loss("CosineSimilarity", _f.cosine_similarity, axis=-1)
Huber = _loss("Huber", _f.huber, "huber_loss", delta=1.0)
LogCosh = _loss("LogCosh", _f.log_cosh)
Hinge, SquaredHinge = _loss("Hinge", _f.hinge), _loss("SquaredHinge", _f.squared_hinge)
CategoricalHinge = _loss("CategoricalHinge", _f.categorical_hinge)
KLDivergence, Poisson = _loss("KLDivergence", _f.kl_divergence), _loss("Poisson", _f.poisson)
BinaryCrossentropy = _loss("BinaryCrossentropy", _f.binary_crossentropy, **_CROSS)
BinaryFocalCrossentropy = _loss(
    "BinaryFocalCrossentropy", _f.binary_focal_crossentropy, apply_class_balancing=False, alpha=0.25, gamma=2.0, **_CROSS
)
CategoricalCrossentropy = _loss("CategoricalCrossentropy", _f.categorical_crossentropy, **_CROSS)
CategoricalFocalCrossentropy = _loss("CategoricalFocalCrossentropy", _f.categorical_focal_crossentropy, alpha=0.25, gamma=2.0, **_CROSS)
SparseCategoricalCrossentropy = _loss(
    "SparseCategoricalCrossentropy", _f.sparse_categorical_crossentropy, from_logits=False, ignore_class=None, axis=-1
)
Dice, Tversky = _loss("Dice", _f.dice, axis=None), _loss("Tversky", _f.tversky, alpha=0.5, beta=0.5, axis=None)


def get(identifier: Any) -> Any:
    """A loss by its name, or as it is."""
    if identifier is None:
        return None
    if isinstance(identifier, dict):
        return globals()[identifier["class_name"]](**identifier.get("config", {}))
    if isinstance(identifier, str):
        if identifier[:1].isupper() and isinstance(globals().get(identifier), type):
            return globals()[identifier]()
        found = getattr(loss_functions, identifier, None)
        if found is None or identifier.startswith("_"):
            raise ValueError(f"Could not interpret loss identifier: {identifier}")
        return context.v2(found)
    if callable(identifier):
        return identifier
    raise ValueError(f"Could not interpret loss identifier: {identifier}")
