"""`tf.distributions`: probability distributions over the numbers of a graph program.

A distribution says how its parameters make samples and log-probabilities (`_sample_n`, `_log_prob`, …); the
public methods of `Distribution` scope those calls and derive what is left. Distributions whose events are
vectors are in `simplex_distributions`.
"""

from __future__ import annotations

import hashlib
import math
from typing import Any, Callable

import numpy as np

from emplace.framework import array_ops, constant_op, dtypes, gen, index_values, math_ops, nn_ops, ops, random_ops, tensor_shape


def _op(name: str) -> Callable[..., Any]:
    return lambda *args: gen.make_function(name, name.lower())(*args)


_log, _log1p, _expm1, _lgamma, _digamma, _igamma = (_op(n) for n in ("Log", "Log1p", "Expm1", "Lgamma", "Digamma", "Igamma"))
_betainc, _erf, _erfc, _is_nan, _square = (_op(n) for n in ("Betainc", "Erf", "Erfc", "IsNan", "Square"))
_not, _least, _most = (_op(n) for n in ("LogicalNot", "Minimum", "Maximum"))
_LOG_2PI = math.log(2 * math.pi)


class ReparameterizationType:
    """Whether gradients go through samples."""

    def __init__(self, rep_type: str) -> None:
        self._rep_type = rep_type

    def __repr__(self) -> str:
        return f"<Reparameterization Type: {self._rep_type}>"


FULLY_REPARAMETERIZED, NOT_REPARAMETERIZED = ReparameterizationType("FULLY_REPARAMETERIZED"), ReparameterizationType("NOT_REPARAMETERIZED")
_divergences: dict[tuple[type, type], Any] = {}


class RegisterKL:
    """`@RegisterKL(A, B)` over a function of two distributions."""

    def __init__(self, dist_cls_a: type, dist_cls_b: type) -> None:
        self._key = (dist_cls_a, dist_cls_b)

    def __call__(self, kl_fn: Any) -> Any:
        if not callable(kl_fn):
            raise TypeError(f"kl_fn must be callable, received: {kl_fn}")
        if self._key in _divergences:
            raise ValueError(f"KL({self._key[0].__name__} || {self._key[1].__name__}) has already been registered to: {_divergences[self._key]}")
        _divergences[self._key] = kl_fn
        return kl_fn


def kl_divergence(distribution_a: Any, distribution_b: Any, allow_nan_stats: bool = True, name: str | None = None) -> Any:
    """Kullback and Leibler's divergence of two distributions, by the formula known for their classes."""
    found = [
        (len(a.__mro__), len(b.__mro__), f) for (a, b), f in _divergences.items()
        if isinstance(distribution_a, a) and isinstance(distribution_b, b)
    ]
    if not found:
        kinds = f"distribution_a type {type(distribution_a).__name__} and distribution_b type {type(distribution_b).__name__}"
        raise NotImplementedError(f"No KL(distribution_a || distribution_b) registered for {kinds}")
    with ops.name_scope("KullbackLeibler"):
        made = max(found, key=lambda row: row[:2])[2](distribution_a, distribution_b, name=name)
        if allow_nan_stats:
            return made
        from emplace.framework import control_flow_ops

        made = array_ops.identity(made, name="kl")
        pair = f"{distribution_a.name} and {distribution_b.name}"
        said = f"KL calculation between {pair} returned NaN values (and was called with allow_nan_stats=False). Values:"
        with ops.control_dependencies([control_flow_ops.Assert(_not(math_ops.reduce_any(_is_nan(made))), [said, made])]):
            return array_ops.identity(made, name="checked_kl")


def next_seed(seed: Any, salt: str) -> Any:
    """A seed that follows from another, as TensorFlow makes it."""
    if seed is None:
        return None
    return int(hashlib.md5((str(seed) + salt).encode("utf-8")).hexdigest()[:8], 16) & 0x7FFFFFFF


def _missing(what: str) -> Callable[..., Any]:
    def call(self: Any, *args: Any) -> Any:
        raise NotImplementedError(f"{what} is not implemented: {type(self).__name__}")

    return call


class Distribution:
    """What all distributions have."""

    reparameterization_type = FULLY_REPARAMETERIZED
    event_shape = tensor_shape.TensorShape([])

    def __init__(self, name: str, given: dict[str, Any], validate_args: bool, allow_nan_stats: bool, scope: str, dtype: Any = None) -> None:
        self.parameters = {k: v for k, v in given.items() if k != "self" and not k.startswith("__")}
        self.validate_args, self.allow_nan_stats, self.name = validate_args, allow_nan_stats, scope
        self._given_dtype = dtype

    # ---- What a kind of distribution says of itself.

    def _parts(self) -> list[Any]:
        """The parameters whose shapes make the batch."""
        raise NotImplementedError

    _sample_n, _log_prob, _cdf, _quantile = (_missing(n) for n in ("sample_n", "log_prob", "cdf", "quantile"))
    _entropy, _mean, _variance, _covariance, _mode = (_missing(n) for n in ("entropy", "mean", "variance", "covariance", "mode"))

    # ---- Shapes.

    @property
    def dtype(self) -> Any:
        return self._given_dtype or self._parts()[0].dtype

    @property
    def batch_shape(self) -> Any:
        shape = tensor_shape.TensorShape([])
        for part in self._parts():
            shape = math_ops.broadcast_static_shape(shape, part.shape)
        return shape

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Any:
        """The shape of the parameters as a tensor: so many distributions at once."""
        with self._scope(name):
            if self.batch_shape.is_fully_defined():
                return ops.convert_to_tensor(np.array(self.batch_shape.as_list(), np.int32), name="batch_shape")
            made = array_ops.shape(self._parts()[0])
            for part in self._parts()[1:]:
                made = array_ops.broadcast_dynamic_shape(made, array_ops.shape(part))
            return made

    def event_shape_tensor(self, name: str = "event_shape_tensor") -> Any:
        """The shape of one draw as a tensor."""
        with self._scope(name):
            return ops.convert_to_tensor(np.array(self.event_shape.as_list(), np.int32), name="event_shape")

    def is_scalar_event(self, name: str = "is_scalar_event") -> Any:
        """Whether one draw is a single number, as a bool tensor."""
        with self._scope(name):
            return ops.convert_to_tensor(self.event_shape.rank == 0, name="is_scalar_event")

    def is_scalar_batch(self, name: str = "is_scalar_batch") -> Any:
        """Whether it is one distribution, as a bool tensor."""
        with self._scope(name):
            return ops.convert_to_tensor(self.batch_shape.rank == 0, name="is_scalar_batch")

    def _scope(self, name: str, values: Any = ()) -> Any:
        return _Scopes(self.name, name)

    # ---- Samples.

    def sample(self, sample_shape: Any = (), seed: Any = None, name: str = "sample") -> Any:
        """Draws of the shape `sample_shape`, followed by batch and event."""
        with self._scope(name):
            wanted = index_values.tensor(sample_shape, "sample_shape")
            count = math_ops.reduce_prod(wanted)
            drawn = self._sample_n(count, seed)
            rest = array_ops.shape(drawn)[1:]
            made = array_ops.reshape(drawn, array_ops.concat([array_ops.reshape(wanted, [-1]), rest], 0))
            dims = constant_op.constant_value(wanted)
            if dims is not None and self.batch_shape.rank is not None:
                made.set_shape(tensor_shape.TensorShape(np.ravel(dims).tolist()).concatenate(self.batch_shape).concatenate(self.event_shape))
            return made

    def _whole(self, n: Any) -> Any:
        """The shape of n samples."""
        return array_ops.concat([array_ops.reshape(n, [1]), self.batch_shape_tensor()], 0)

    # ---- Probabilities.

    def _at(self, value: Any, name: str, function: Any) -> Any:
        with self._scope(name):
            return function(ops.convert_to_tensor(value, name="value", preferred_dtype=self.dtype))

    def log_prob(self, value: Any, name: str = "log_prob") -> Any:
        """The logarithm of the probability (or density) of a value."""
        return self._at(value, name, self._log_prob)

    def prob(self, value: Any, name: str = "prob") -> Any:
        """The probability (or density) of a value."""
        return self._at(value, name, self._prob)

    def cdf(self, value: Any, name: str = "cdf") -> Any:
        """The probability of at most this value."""
        return self._at(value, name, self._cdf)

    def log_cdf(self, value: Any, name: str = "log_cdf") -> Any:
        """The logarithm of the probability of at most this value."""
        return self._at(value, name, self._log_cdf)

    def survival_function(self, value: Any, name: str = "survival_function") -> Any:
        """The probability of more than this value."""
        return self._at(value, name, lambda v: 1.0 - self._cdf(v))

    def log_survival_function(self, value: Any, name: str = "log_survival_function") -> Any:
        """The logarithm of the probability of more than this value."""
        return self._at(value, name, self._log_survival_function)

    def quantile(self, value: Any, name: str = "quantile") -> Any:
        """The value below which this share of draws lies: the inverse of `cdf`."""
        return self._at(value, name, self._quantile)

    def _prob(self, value: Any) -> Any:
        return math_ops.exp(self._log_prob(value))

    def _log_cdf(self, value: Any) -> Any:
        return _log(self._cdf(value))

    def _log_survival_function(self, value: Any) -> Any:
        return _log1p(-self._cdf(value))

    # ---- Summaries.

    def entropy(self, name: str = "entropy") -> Any:
        """Shannon's entropy, in nats."""
        with self._scope(name):
            return self._entropy()

    def mean(self, name: str = "mean") -> Any:
        """The mean."""
        with self._scope(name):
            return self._mean()

    def variance(self, name: str = "variance") -> Any:
        """The variance."""
        with self._scope(name):
            return self._variance()

    def stddev(self, name: str = "stddev") -> Any:
        """The standard deviation."""
        with self._scope(name):
            return self._stddev()

    def covariance(self, name: str = "covariance") -> Any:
        """The covariance matrix of a draw's parts."""
        with self._scope(name):
            return self._covariance()

    def mode(self, name: str = "mode") -> Any:
        """The value most likely drawn."""
        with self._scope(name):
            return self._mode()

    def _stddev(self) -> Any:
        return math_ops.sqrt(self._variance())

    def cross_entropy(self, other: Any, name: str = "cross_entropy") -> Any:
        """The entropy plus the divergence from the other distribution."""
        with self._scope(name):
            return kl_divergence(self, other, self.allow_nan_stats) + self._entropy()

    def kl_divergence(self, other: Any, name: str = "kl_divergence") -> Any:
        """Kullback and Leibler's divergence from this distribution to the other."""
        with self._scope(name):
            return kl_divergence(self, other, self.allow_nan_stats)

    def copy(self, **override_parameters_kwargs: Any) -> Any:
        """The same distribution with some parameters changed."""
        return type(self)(**{**self.parameters, **override_parameters_kwargs})

    def _even(self, value: Any) -> Any:
        """The value for each member of the batch."""
        return value * array_ops.ones(self.batch_shape_tensor(), self.dtype)

    def _undefined(self, defined: Any, value: Any, what: str) -> Any:
        """The value where it is defined; elsewhere not a number, or an error."""
        nan = array_ops.fill(array_ops.shape(value), np.array(np.nan, self.dtype.as_numpy_dtype))
        if self.allow_nan_stats:
            return array_ops.where(defined, value, nan)
        from emplace.framework import check_ops

        with ops.control_dependencies([check_ops.assert_equal(defined, array_ops.ones_like(defined), message=what)]):
            return array_ops.identity(value)

    # ---- Text.

    def __str__(self) -> str:
        batch = f", batch_shape={self.batch_shape}" if self.batch_shape.rank is not None else ""
        return f'tfp.distributions.{type(self).__name__}("{self.name}"{batch}, event_shape={self.event_shape}, dtype={self.dtype.name})'

    def __repr__(self) -> str:
        kind = f"tfp.distributions.{type(self).__name__}"
        return f"<{kind} '{self.name}' batch_shape={self.batch_shape} event_shape={self.event_shape} dtype={self.dtype.name}>"


class _Scopes:
    """A distribution's scope, entered again, and one inside it."""

    def __init__(self, outer: str, inner: str) -> None:
        self._outer, self._inner = ops.name_scope(outer), inner

    def __enter__(self) -> str:
        self._outer.__enter__()
        self._within = ops.name_scope(self._inner)
        return self._within.__enter__()

    def __exit__(self, *what: Any) -> None:
        self._within.__exit__(*what)
        self._outer.__exit__(*what)


def check_floats(*tensors: Any) -> None:
    from emplace.framework import check_ops

    check_ops.assert_same_float_dtype(list(tensors))


def positive(validate: bool, value: Any) -> Any:
    """The value; with `validate`, an error where it is not above zero."""
    if not validate:
        return value
    from emplace.framework import check_ops

    with ops.control_dependencies([check_ops.assert_positive(value)]):
        return array_ops.identity(value)


class LocationScale(Distribution):
    """One shape, moved to `loc` and stretched by `scale`."""

    def __init__(self, given: dict[str, Any], loc: Any, scale: Any, validate_args: bool, allow_nan_stats: bool, name: str) -> None:
        with ops.name_scope(name) as scope:
            self.loc = array_ops.identity(loc, name="loc")
            self.scale = array_ops.identity(positive(validate_args, scale), name="scale")
            check_floats(self.loc, self.scale)
        super().__init__(name, given, validate_args, allow_nan_stats, scope)

    def _parts(self) -> list[Any]:
        return [self.loc, self.scale]


class Normal(LocationScale):
    """Gaussian: `loc` is its middle, `scale` its deviation."""

    def __init__(self, loc: Any, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Normal") -> None:
        super().__init__(dict(locals()), loc, scale, validate_args, allow_nan_stats, name)

    def _z(self, x: Any) -> Any:
        with ops.name_scope("standardize"):
            return (x - self.loc) / self.scale

    def _sample_n(self, n: Any, seed: Any) -> Any:
        return random_ops.random_normal(self._whole(n), 0.0, 1.0, self.dtype, seed) * self.scale + self.loc

    def _log_prob(self, x: Any) -> Any:
        return -0.5 * _square(self._z(x)) - (0.5 * _LOG_2PI + _log(self.scale))

    def _cdf(self, x: Any) -> Any:
        return ndtr(self._z(x))

    def _log_cdf(self, x: Any) -> Any:
        return log_ndtr(self._z(x))

    def _log_survival_function(self, x: Any) -> Any:
        return log_ndtr(-self._z(x))

    def _quantile(self, p: Any) -> Any:
        return math_ops.ndtri(p) * self.scale + self.loc

    def _entropy(self) -> Any:
        return 0.5 + 0.5 * _LOG_2PI + _log(self.scale * array_ops.ones_like(self.loc))

    def _mean(self) -> Any:
        return self.loc * array_ops.ones_like(self.scale)

    def _stddev(self) -> Any:
        return self.scale * array_ops.ones_like(self.loc)

    def _variance(self) -> Any:
        return _square(self._stddev())

    _mode = _mean


def ndtr(x: Any) -> Any:
    """How much of a standard normal distribution lies below x."""
    w = x * 0.7071067811865476
    z = math_ops.abs(w)
    outer = 0.5 * _erfc(z)
    return array_ops.where_v2(z < 0.7071067811865476, 0.5 + 0.5 * _erf(w), array_ops.where_v2(w > 0, 1.0 - outer, outer))


def log_ndtr(x: Any) -> Any:
    """Its logarithm: below `low` by an asymptotic series, above `high` by log(1 - p) = -p, where p is too small for a sum with 1."""
    kind = x.dtype.as_numpy_dtype
    low, high = (kind(v) for v in ((-20, 8) if kind == np.float64 else (-10, 5)))
    below = _least(x, low)
    square = _square(below)
    series = 1.0 + 3.0 / _square(square) - (1.0 / square + 15.0 / (_square(square) * square))
    lower = -0.5 * square - _log(-below) - 0.5 * _LOG_2PI + _log(series)
    return array_ops.where_v2(x > high, -ndtr(-x), array_ops.where_v2(x > low, _log(ndtr(_most(x, low))), lower))


@RegisterKL(Normal, Normal)
def _of_normals(a: Any, b: Any, name: str | None = None) -> Any:
    with ops.name_scope(name, "kl_normal_normal"):
        ratio = _square(a.scale) / _square(b.scale)
        return _square(a.loc - b.loc) / (2.0 * _square(b.scale)) + 0.5 * (ratio - 1.0 - _log(ratio))


def logits_and_probs(logits: Any, probs: Any, many: bool) -> tuple[Any, Any]:
    """Both, from the one that is given."""
    if (logits is None) == (probs is None):
        raise ValueError("Must pass probs or logits, but not both.")
    if probs is None:
        logits = ops.convert_to_tensor(logits, name="logits")
        return logits, nn_ops.softmax(logits, name="probs") if many else math_ops.sigmoid(logits, name="probs")
    probs = ops.convert_to_tensor(probs, name="probs")
    with ops.name_scope("logits"):
        return (_log(probs) if many else _log(probs) - _log1p(-probs)), probs


class Bernoulli(Distribution):
    """One with `probs`, zero otherwise."""

    reparameterization_type = NOT_REPARAMETERIZED

    def __init__(
        self, logits: Any = None, probs: Any = None, dtype: Any = dtypes.int32, validate_args: bool = False, allow_nan_stats: bool = True,
        name: str = "Bernoulli",
    ) -> None:
        given = dict(locals())
        with ops.name_scope(name) as scope:
            self.logits, self.probs = logits_and_probs(logits, probs, False)
        super().__init__(name, given, validate_args, allow_nan_stats, scope, dtypes.as_dtype(dtype))

    def _parts(self) -> list[Any]:
        return [self.logits]

    def _sample_n(self, n: Any, seed: Any) -> Any:
        drawn = random_ops.random_uniform(self._whole(n), 0.0, 1.0, self.probs.dtype, seed)
        return math_ops.cast(drawn < self.probs, self.dtype)

    def _log_prob(self, event: Any) -> Any:
        event = math_ops.cast(event, self.logits.dtype)
        logits = self.logits + array_ops.zeros_like(event)
        return -nn_ops.sigmoid_cross_entropy_with_logits(labels=event + array_ops.zeros_like(self.logits), logits=logits)

    def _entropy(self) -> Any:
        return -self.logits * (math_ops.sigmoid(self.logits) - 1) + nn_ops.softplus(-self.logits)

    def _mean(self) -> Any:
        return array_ops.identity(self.probs)

    def _variance(self) -> Any:
        return self.probs * (1.0 - self.probs)

    def _mode(self) -> Any:
        return math_ops.cast(self.probs > 0.5, self.dtype)


@RegisterKL(Bernoulli, Bernoulli)
def _of_bernoullis(a: Any, b: Any, name: str | None = None) -> Any:
    with ops.name_scope(name, "kl_bernoulli_bernoulli"):
        off, on = nn_ops.softplus(b.logits) - nn_ops.softplus(a.logits), nn_ops.softplus(-b.logits) - nn_ops.softplus(-a.logits)
        return math_ops.sigmoid(a.logits) * on + math_ops.sigmoid(-a.logits) * off


class Categorical(Distribution):
    """One of several, by number."""

    reparameterization_type = NOT_REPARAMETERIZED

    def __init__(
        self, logits: Any = None, probs: Any = None, dtype: Any = dtypes.int32, validate_args: bool = False, allow_nan_stats: bool = True,
        name: str = "Categorical",
    ) -> None:
        given = dict(locals())
        with ops.name_scope(name) as scope:
            self.logits, self.probs = logits_and_probs(logits, probs, True)
            size = self.logits.shape.as_list()[-1] if self.logits.shape.rank else None
            self.event_size = ops.convert_to_tensor(size, name="event_size") if size is not None else array_ops.shape(self.logits)[-1]
        super().__init__(name, given, validate_args, allow_nan_stats, scope, dtypes.as_dtype(dtype))

    def _parts(self) -> list[Any]:
        return [self.logits]

    @property
    def batch_shape(self) -> Any:
        return self.logits.shape[:-1] if self.logits.shape.rank is not None else self.logits.shape

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Any:
        return array_ops.shape(self.logits)[:-1]

    def _sample_n(self, n: Any, seed: Any) -> Any:
        rows = self.logits if self.logits.shape.rank == 2 else array_ops.reshape(self.logits, [-1, self.event_size])
        drawn = random_ops.multinomial(rows, n, seed, output_dtype=dtypes.int64 if self.dtype.size > 4 else dtypes.int32)
        return math_ops.cast(array_ops.reshape(array_ops.transpose(drawn), self._whole(n)), self.dtype)

    def _log_prob(self, k: Any) -> Any:
        k, logits = self._alike(k)
        return -nn_ops.sparse_softmax_cross_entropy_with_logits(labels=k, logits=logits)

    def _alike(self, k: Any) -> tuple[Any, Any]:
        whole = array_ops.broadcast_dynamic_shape(array_ops.shape(k), self.batch_shape_tensor())
        last = array_ops.reshape(self.event_size, [1])
        return k * array_ops.ones(whole, k.dtype), self.logits * array_ops.ones(array_ops.concat([whole, last], 0), self.logits.dtype)

    def _cdf(self, k: Any) -> Any:
        k, logits = self._alike(k)
        below = math_ops.cast(math_ops.range(self.event_size) < array_ops.expand_dims(math_ops.cast(k, dtypes.int32), -1), logits.dtype)
        return math_ops.reduce_sum(nn_ops.softmax(logits) * below, axis=-1)

    def _entropy(self) -> Any:
        return -math_ops.reduce_sum(nn_ops.log_softmax(self.logits) * self.probs, axis=-1)

    def _mode(self) -> Any:
        return math_ops.cast(math_ops.argmax(self.logits, axis=-1), self.dtype)


@RegisterKL(Categorical, Categorical)
def _of_categoricals(a: Any, b: Any, name: str | None = None) -> Any:
    with ops.name_scope(name, "kl_categorical_categorical"):
        apart = nn_ops.log_softmax(a.logits) - nn_ops.log_softmax(b.logits)
        return math_ops.reduce_sum(nn_ops.softmax(a.logits) * apart, axis=-1)
