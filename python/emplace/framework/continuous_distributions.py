"""`tf.distributions` of single numbers: uniform, gamma, exponential, Laplace, Student's t, beta."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from emplace.framework import array_ops, math_ops, ops, random_ops
from emplace.framework.distributions import (
    Distribution, LocationScale, RegisterKL, _betainc, _digamma, _expm1, _igamma, _is_nan, _lgamma, _log, _log1p, _square, check_floats, next_seed,
    positive,
)


class Uniform(Distribution):
    """All between `low` and `high` alike."""

    def __init__(self, low: Any = 0.0, high: Any = 1.0, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Uniform") -> None:
        given = dict(locals())
        with ops.name_scope(name) as scope:
            checks = []
            if validate_args:
                from emplace.framework import check_ops

                checks = [check_ops.assert_less(low, high, message="uniform not defined when low >= high.")]
            with ops.control_dependencies(checks):
                self.low, self.high = array_ops.identity(low, name="low"), array_ops.identity(high, name="high")
                check_floats(self.low, self.high)
        super().__init__(name, given, validate_args, allow_nan_stats, scope)

    def _parts(self) -> list[Any]:
        return [self.low, self.high]

    def range(self, name: str = "range") -> Any:
        """The width `high - low`."""
        with self._scope(name):
            return self.high - self.low

    def _sample_n(self, n: Any, seed: Any) -> Any:
        return self.low + self.range() * random_ops.random_uniform(self._whole(n), dtype=self.dtype, seed=seed)

    def _prob(self, x: Any) -> Any:
        x = x * array_ops.ones(array_ops.broadcast_dynamic_shape(array_ops.shape(x), self.batch_shape_tensor()), self.dtype)
        even = array_ops.where_v2((x >= self.low) & (x < self.high), array_ops.ones_like(x) / self.range(), array_ops.zeros_like(x))
        return array_ops.where_v2(_is_nan(x), x, even)

    def _log_prob(self, x: Any) -> Any:
        return _log(self._prob(x))

    def _cdf(self, x: Any) -> Any:
        part = (x - self.low) / self.range()
        return array_ops.where_v2(x < self.low, array_ops.zeros_like(part), array_ops.where_v2(x >= self.high, array_ops.ones_like(part), part))

    def _entropy(self) -> Any:
        return _log(self.range())

    def _mean(self) -> Any:
        return (self.low + self.high) / 2.0

    def _variance(self) -> Any:
        return _square(self.range()) / 12.0

    def _stddev(self) -> Any:
        return self.range() / math.sqrt(12.0)


class Gamma(Distribution):
    """Waiting times: `concentration` is the shape, `rate` one over the scale."""

    def __init__(self, concentration: Any, rate: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Gamma") -> None:
        given = dict(locals())
        with ops.name_scope(name) as scope:
            self.concentration = array_ops.identity(positive(validate_args, concentration), name="concentration")
            self.rate = array_ops.identity(positive(validate_args, rate), name="rate")
            check_floats(self.concentration, self.rate)
        super().__init__(name, given, validate_args, allow_nan_stats, scope)

    def _parts(self) -> list[Any]:
        return [self.concentration, self.rate]

    def _sample_n(self, n: Any, seed: Any) -> Any:
        return random_ops.random_gamma(array_ops.reshape(n, [1]), self.concentration, self.rate, self.dtype, seed)

    def _log_prob(self, x: Any) -> Any:
        return (self.concentration - 1.0) * _log(x) - self.rate * x - (_lgamma(self.concentration) - self.concentration * _log(self.rate))

    def _cdf(self, x: Any) -> Any:
        x = x * array_ops.ones_like(self.concentration)
        return _igamma(self.concentration + array_ops.zeros_like(self.rate * x), self.rate * x)

    def _entropy(self) -> Any:
        a = self.concentration
        return a - _log(self.rate) + _lgamma(a) + (1.0 - a) * _digamma(a)

    def _mean(self) -> Any:
        return self.concentration / self.rate

    def _variance(self) -> Any:
        return self.concentration / _square(self.rate)

    def _stddev(self) -> Any:
        return math_ops.sqrt(self.concentration) / self.rate

    def _mode(self) -> Any:
        mode = (self.concentration - 1.0) / self.rate
        return self._undefined(self.concentration + array_ops.zeros_like(mode) > 1.0, mode, "mode not defined when any concentration <= 1")


@RegisterKL(Gamma, Gamma)
def _of_gammas(a: Any, b: Any, name: str | None = None) -> Any:
    with ops.name_scope(name, "kl_gamma_gamma"):
        return (
            (a.concentration - b.concentration) * _digamma(a.concentration) + _lgamma(b.concentration) - _lgamma(a.concentration)
            + b.concentration * _log(a.rate) - b.concentration * _log(b.rate) + a.concentration * (b.rate / a.rate - 1.0)
        )


class Exponential(Gamma):
    """Waiting time for one event."""

    def __init__(self, rate: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Exponential") -> None:
        given = dict(locals())
        with ops.name_scope(name) as scope:
            rate = ops.convert_to_tensor(rate, name="rate")
            self.concentration = array_ops.ones([], rate.dtype)
            self.rate = array_ops.identity(positive(validate_args, rate), name="rate")
        Distribution.__init__(self, name, given, validate_args, allow_nan_stats, scope)

    def _sample_n(self, n: Any, seed: Any) -> Any:
        least = np.finfo(self.dtype.as_numpy_dtype).tiny
        return -_log(random_ops.random_uniform(self._whole(n), least, 1.0, self.dtype, seed)) / self.rate


class Laplace(LocationScale):
    """Two exponential tails around `loc`."""

    def __init__(self, loc: Any, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Laplace") -> None:
        super().__init__(dict(locals()), loc, scale, validate_args, allow_nan_stats, name)

    def _z(self, x: Any) -> Any:
        return (x - self.loc) / self.scale

    def _sample_n(self, n: Any, seed: Any) -> Any:
        kind = self.dtype.as_numpy_dtype
        drawn = random_ops.random_uniform(self._whole(n), np.nextafter(kind(-1.0), kind(0.0)), 1.0, self.dtype, seed)
        return self.loc - self.scale * math_ops.sign(drawn) * _log1p(-math_ops.abs(drawn))

    def _log_prob(self, x: Any) -> Any:
        return -math_ops.abs(self._z(x)) - (math.log(2.0) + _log(self.scale))

    def _cdf(self, x: Any) -> Any:
        z = self._z(x)
        return 0.5 - 0.5 * math_ops.sign(z) * _expm1(-math_ops.abs(z))

    def _log_cdf(self, x: Any) -> Any:
        return self._log_below(self._z(x))

    def _log_survival_function(self, x: Any) -> Any:
        return self._log_below(-self._z(x))

    @staticmethod
    def _log_below(z: Any) -> Any:
        return array_ops.where_v2(z < 0.0, z - math.log(2.0), _log1p(-0.5 * math_ops.exp(-math_ops.abs(z))))

    def _entropy(self) -> Any:
        return math.log(2.0) + 1.0 + _log(self.scale + array_ops.zeros_like(self.loc))

    def _mean(self) -> Any:
        return self.loc + array_ops.zeros_like(self.scale)

    def _stddev(self) -> Any:
        return math.sqrt(2.0) * self.scale + array_ops.zeros_like(self.loc)

    def _variance(self) -> Any:
        return _square(self._stddev())

    _mode = _mean


class StudentT(Distribution):
    """Student's t with `df` degrees of freedom."""

    def __init__(self, df: Any, loc: Any, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "StudentT") -> None:
        given = dict(locals())
        with ops.name_scope(name) as scope:
            self.df = array_ops.identity(positive(validate_args, df), name="df")
            self.loc, self.scale = array_ops.identity(loc, name="loc"), array_ops.identity(scale, name="scale")
            check_floats(self.df, self.loc, self.scale)
        super().__init__(name, given, validate_args, allow_nan_stats, scope)

    def _parts(self) -> list[Any]:
        return [self.df, self.loc, self.scale]

    def _sample_n(self, n: Any, seed: Any) -> Any:
        normal = random_ops.random_normal(self._whole(n), dtype=self.dtype, seed=seed)
        df = self._even(self.df)
        gamma = random_ops.random_gamma(array_ops.reshape(n, [1]), 0.5 * df, 0.5, self.dtype, next_seed(seed, "student_t"))
        return normal * math_ops.rsqrt(gamma / df) * self.scale + self.loc

    def _log_prob(self, x: Any) -> Any:
        y = (x - self.loc) / self.scale
        normal = _log(math_ops.abs(self.scale)) + 0.5 * _log(self.df) + 0.5 * math.log(math.pi) + _lgamma(0.5 * self.df) - _lgamma(0.5 * (self.df + 1.0))
        return -0.5 * (self.df + 1.0) * _log1p(_square(y) / self.df) - normal

    def _cdf(self, x: Any) -> Any:
        y = (x - self.loc) / math_ops.abs(self.scale)
        part = self.df / (_square(y) + self.df)
        below = 0.5 * _betainc(0.5 * self.df + array_ops.zeros_like(part), 0.5 + array_ops.zeros_like(part), part)
        return array_ops.where_v2(y < 0.0, below, 1.0 - below)

    def _entropy(self) -> Any:
        half, more = 0.5 * self.df, 0.5 * (self.df + 1.0)
        beta = _lgamma(half) + _lgamma(array_ops.ones_like(half) * 0.5) - _lgamma(more)
        return _log(math_ops.abs(self.scale)) + 0.5 * _log(self.df) + beta + more * (_digamma(more) - _digamma(half)) + array_ops.zeros_like(self.loc)

    def _mean(self) -> Any:
        return self._undefined(self._even(self.df) > 1.0, self._even(self.loc), "mean not defined for components of df <= 1")

    def _variance(self) -> Any:
        df = self._even(self.df)
        plain = _square(self._even(self.scale)) * df / array_ops.where_v2(df > 2.0, df - 2.0, array_ops.ones_like(df))
        endless = array_ops.fill(array_ops.shape(df), np.array(np.inf, self.dtype.as_numpy_dtype))
        return self._undefined(df > 1.0, array_ops.where_v2(df > 2.0, plain, endless), "variance not defined for components of df <= 1")

    def _mode(self) -> Any:
        return array_ops.identity(self.loc)


class Beta(Distribution):
    """Between zero and one, by two concentrations."""

    def __init__(
        self, concentration1: Any = None, concentration0: Any = None, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Beta"
    ) -> None:
        given = dict(locals())
        with ops.name_scope(name) as scope:
            self.concentration1 = positive(validate_args, ops.convert_to_tensor(concentration1, name="concentration1"))
            self.concentration0 = positive(validate_args, ops.convert_to_tensor(concentration0, name="concentration0"))
            check_floats(self.concentration1, self.concentration0)
            self.total_concentration = self.concentration1 + self.concentration0
        super().__init__(name, given, validate_args, allow_nan_stats, scope)

    def _parts(self) -> list[Any]:
        return [self.total_concentration]

    def _sample_n(self, n: Any, seed: Any) -> Any:
        ones, count = array_ops.ones_like(self.total_concentration), array_ops.reshape(n, [1])
        first = random_ops.random_gamma(count, ones * self.concentration1, None, self.dtype, seed)
        second = random_ops.random_gamma(count, ones * self.concentration0, None, self.dtype, next_seed(seed, "beta"))
        return first / (first + second)

    def _log_beta(self) -> Any:
        return _lgamma(self.concentration1) + _lgamma(self.concentration0) - _lgamma(self.total_concentration)

    def _log_prob(self, x: Any) -> Any:
        return (self.concentration1 - 1.0) * _log(x) + (self.concentration0 - 1.0) * _log1p(-x) - self._log_beta()

    def _cdf(self, x: Any) -> Any:
        even = array_ops.zeros_like(x + self.total_concentration)
        return _betainc(self.concentration1 + even, self.concentration0 + even, x + even)

    def _entropy(self) -> Any:
        a, b, both = self.concentration1, self.concentration0, self.total_concentration
        return self._log_beta() - (a - 1.0) * _digamma(a) - (b - 1.0) * _digamma(b) + (both - 2.0) * _digamma(both)

    def _mean(self) -> Any:
        return self.concentration1 / self.total_concentration

    def _variance(self) -> Any:
        return self._mean() * (1.0 - self._mean()) / (1.0 + self.total_concentration)

    def _mode(self) -> Any:
        zero = array_ops.zeros_like(self.total_concentration)
        defined = (self.concentration1 + zero > 1.0) & (self.concentration0 + zero > 1.0)
        return self._undefined(defined, (self.concentration1 - 1.0) / (self.total_concentration - 2.0), "Mode undefined for concentration1 <= 1.")


@RegisterKL(Beta, Beta)
def _of_betas(a: Any, b: Any, name: str | None = None) -> Any:
    with ops.name_scope(name, "kl_beta_beta"):
        ones, zeros, both = b.concentration1 - a.concentration1, b.concentration0 - a.concentration0, b.total_concentration - a.total_concentration
        return (
            b._log_beta() - a._log_beta() - _digamma(a.concentration1) * ones - _digamma(a.concentration0) * zeros
            + _digamma(a.total_concentration) * both
        )
