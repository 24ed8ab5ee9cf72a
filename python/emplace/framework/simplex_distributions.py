"""`tf.distributions` whose events are vectors: shares of a whole, and counts."""

from __future__ import annotations

from typing import Any

from emplace.framework import array_ops, functional, math_ops, nn_ops, ops, random_ops, tensor_shape
from emplace.framework.distributions import NOT_REPARAMETERIZED, Distribution, RegisterKL, _digamma, _lgamma, _log, logits_and_probs, next_seed, positive


class _Vectors(Distribution):
    """A distribution with a parameter whose last dimension is the event's."""

    _vector: Any

    def _parts(self) -> list[Any]:
        return [self._vector]

    @property
    def batch_shape(self) -> Any:
        return self._vector.shape[:-1] if self._vector.shape.rank is not None else tensor_shape.TensorShape(None)

    @property
    def event_shape(self) -> Any:  # type: ignore[override]
        return self._vector.shape[-1:] if self._vector.shape.rank is not None else tensor_shape.TensorShape([None])

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Any:
        with self._scope(name):
            return array_ops.shape(self._vector)[:-1]

    def event_shape_tensor(self, name: str = "event_shape_tensor") -> Any:
        with self._scope(name):
            return array_ops.shape(self._vector)[-1:]


def _outer(mean: Any, weight: Any) -> Any:
    """The covariance of shares with this mean, without its diagonal."""
    return -math_ops.matmul(array_ops.expand_dims(mean * weight, -1), array_ops.expand_dims(mean, -2))


class Dirichlet(_Vectors):
    """Shares of a whole, by their concentrations."""

    def __init__(self, concentration: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Dirichlet") -> None:
        given = dict(locals())
        with ops.name_scope(name) as scope:
            self.concentration = self._vector = positive(validate_args, ops.convert_to_tensor(concentration, name="concentration"))
            self.total_concentration = math_ops.reduce_sum(self.concentration, -1)
        super().__init__(name, given, validate_args, allow_nan_stats, scope)

    def _sample_n(self, n: Any, seed: Any) -> Any:
        drawn = random_ops.random_gamma(array_ops.reshape(n, [1]), self.concentration, None, self.dtype, seed)
        return drawn / math_ops.reduce_sum(drawn, -1, keepdims=True)

    def _log_beta(self) -> Any:
        return math_ops.reduce_sum(_lgamma(self.concentration), -1) - _lgamma(self.total_concentration)

    def _log_prob(self, x: Any) -> Any:
        return math_ops.reduce_sum((self.concentration - 1.0) * _log(x), -1) - self._log_beta()

    def _entropy(self) -> Any:
        k = math_ops.cast(self.event_shape_tensor()[0], self.dtype)
        spread = math_ops.reduce_sum((self.concentration - 1.0) * _digamma(self.concentration), -1)
        return self._log_beta() + (self.total_concentration - k) * _digamma(self.total_concentration) - spread

    def _mean(self) -> Any:
        return self.concentration / self.total_concentration[..., None]

    def _scale(self) -> Any:
        return 1.0 / (1.0 + self.total_concentration[..., None])

    def _variance(self) -> Any:
        mean = self._mean()
        return mean * (1.0 - mean) * self._scale()

    def _covariance(self) -> Any:
        return array_ops.matrix_set_diag(_outer(self._mean(), self._scale()), self._variance())

    def _mode(self) -> Any:
        k = math_ops.cast(self.event_shape_tensor()[0], self.dtype)
        mode = (self.concentration - 1.0) / (self.total_concentration[..., None] - k)
        defined = math_ops.reduce_all(self.concentration > 1.0, -1, keepdims=True) & array_ops.ones_like(self.concentration, "bool")
        return self._undefined(defined, mode, "Mode undefined when any concentration <= 1")


@RegisterKL(Dirichlet, Dirichlet)
def _of_dirichlets(a: Any, b: Any, name: str | None = None) -> Any:
    with ops.name_scope(name, "kl_dirichlet_dirichlet"):
        apart = _digamma(a.concentration) - _digamma(a.total_concentration)[..., None]
        return math_ops.reduce_sum((a.concentration - b.concentration) * apart, -1) - a._log_beta() + b._log_beta()


def _log_ways(total: Any, counts: Any) -> Any:
    """The logarithm of how many orders have these counts."""
    return _lgamma(total + 1.0) - math_ops.reduce_sum(_lgamma(counts + 1.0), -1)


class Multinomial(_Vectors):
    """Counts of draws with replacement."""

    reparameterization_type = NOT_REPARAMETERIZED

    def __init__(
        self, total_count: Any, logits: Any = None, probs: Any = None, validate_args: bool = False, allow_nan_stats: bool = True,
        name: str = "Multinomial",
    ) -> None:
        given = dict(locals())
        with ops.name_scope(name) as scope:
            self.total_count = ops.convert_to_tensor(total_count, name="total_count")
            self.logits, self.probs = logits_and_probs(logits, probs, True)
            self._vector = self.total_count[..., None] * self.probs
        super().__init__(name, given, validate_args, allow_nan_stats, scope)

    def _parts(self) -> list[Any]:
        return [self.probs]

    def _sample_n(self, n: Any, seed: Any) -> Any:
        """For each row of logits its own total."""
        k, n = self.event_shape_tensor()[0], math_ops.cast(n, "int32")
        totals = math_ops.cast(self.total_count, "int32")
        totals = array_ops.ones_like(self.logits[..., 0], totals.dtype) * totals
        logits = array_ops.ones_like(totals[..., None], self.logits.dtype) * self.logits

        def one(pair: Any) -> Any:
            row, count = pair
            picked = random_ops.multinomial(row[None, :], count, seed)
            return math_ops.reduce_sum(array_ops.one_hot(array_ops.reshape(picked, [n, -1]), depth=k), axis=-2)

        made = functional.map_fn(one, [array_ops.reshape(logits, [-1, k]), n * array_ops.reshape(totals, [-1])], dtype=self.dtype)
        return array_ops.reshape(array_ops.transpose(made, [1, 0, 2]), array_ops.concat([self._whole(n), [k]], 0))

    def _log_prob(self, counts: Any) -> Any:
        return math_ops.reduce_sum(counts * nn_ops.log_softmax(self.logits), -1) + _log_ways(self.total_count, counts)

    def _mean(self) -> Any:
        return array_ops.identity(self._vector)

    def _variance(self) -> Any:
        return self._vector - self._vector * self.probs

    def _covariance(self) -> Any:
        apart = -math_ops.matmul(array_ops.expand_dims(self._vector, -1), array_ops.expand_dims(self.probs, -2))
        return array_ops.matrix_set_diag(apart, self._variance())


class DirichletMultinomial(_Vectors):
    """Counts of draws whose odds are Dirichlet's."""

    reparameterization_type = NOT_REPARAMETERIZED

    def __init__(
        self, total_count: Any, concentration: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "DirichletMultinomial"
    ) -> None:
        given = dict(locals())
        with ops.name_scope(name) as scope:
            self.total_count = ops.convert_to_tensor(total_count, name="total_count")
            self.concentration = self._vector = ops.convert_to_tensor(concentration, name="concentration")
            self.total_concentration = math_ops.reduce_sum(self.concentration, -1)
        super().__init__(name, given, validate_args, allow_nan_stats, scope)

    def _sample_n(self, n: Any, seed: Any) -> Any:
        k = self.event_shape_tensor()[0]
        odds = random_ops.random_gamma(array_ops.reshape(n, [1]), self.concentration, None, self.dtype, seed)
        draws = math_ops.cast(self.total_count, "int32")
        picked = random_ops.multinomial(array_ops.reshape(_log(odds), [-1, k]), draws, next_seed(seed, "dirichlet_multinomial"))
        counts = math_ops.reduce_sum(array_ops.one_hot(picked, depth=k), -2)
        return math_ops.cast(array_ops.reshape(counts, array_ops.concat([self._whole(n), [k]], 0)), self.dtype)

    def _log_prob(self, counts: Any) -> Any:
        def log_beta(x: Any) -> Any:
            return math_ops.reduce_sum(_lgamma(x), -1) - _lgamma(math_ops.reduce_sum(x, -1))

        return log_beta(self.concentration + counts) - log_beta(self.concentration) + _log_ways(self.total_count, counts)

    def _mean(self) -> Any:
        return self.total_count[..., None] * (self.concentration / self.total_concentration[..., None])

    def _spread(self) -> Any:
        return math_ops.sqrt((1.0 + self.total_concentration[..., None] / self.total_count[..., None]) / (1.0 + self.total_concentration[..., None]))

    def _variance(self) -> Any:
        x = self._spread() * self._mean()
        return x * (self.total_count[..., None] * self._spread() - x)

    def _covariance(self) -> Any:
        x = self._spread() * self._mean()
        apart = -math_ops.matmul(array_ops.expand_dims(x, -1), array_ops.expand_dims(x, -2))
        return array_ops.matrix_set_diag(apart, self._variance())
