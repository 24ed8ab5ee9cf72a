"""Initializers: callables that give a variable its first value."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from emplace.framework import array_ops, constant_op, dtypes, random_ops, tensor_shape


class Initializer:
    """`initializer(shape, dtype)` makes the value."""

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        raise NotImplementedError

    def get_config(self) -> dict[str, Any]:
        """The settings by name, as `from_config` takes them."""
        return {k: (v.name if isinstance(v, dtypes.DType) else v) for k, v in vars(self).items() if not k.startswith("_")}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> "Initializer":
        """An initializer from the settings that `get_config` gave."""
        return cls(**config)


class Zeros(Initializer):
    """Makes a variable start as zeros."""

    def __init__(self, dtype: Any = dtypes.float32) -> None:
        self.dtype = dtypes.as_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        return array_ops.zeros(shape, self.dtype if dtype is None else dtype)


class Ones(Initializer):
    """Makes a variable start as ones."""

    def __init__(self, dtype: Any = dtypes.float32) -> None:
        self.dtype = dtypes.as_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        return array_ops.ones(shape, self.dtype if dtype is None else dtype)


class Constant(Initializer):
    """Makes a variable start as a number, or as the listed numbers; with `verify_shape` they must be as many as needed."""

    def __init__(self, value: Any = 0, dtype: Any = dtypes.float32, verify_shape: bool = False) -> None:
        if not (np.isscalar(value) or isinstance(value, (list, tuple, np.ndarray))):
            raise TypeError(f"Invalid type for initial value={value} of type: {type(value).__name__}. Expected Python scalar, list or tuple of values, or numpy.ndarray.")
        self.value = value
        self.dtype = dtypes.as_dtype(dtype)
        self._verify_shape = verify_shape

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None, verify_shape: Any = None) -> Any:
        verify = self._verify_shape if verify_shape is None else verify_shape
        return constant_op.constant(self.value, dtype=self.dtype if dtype is None else dtype, shape=shape, verify_shape=verify)


class RandomUniform(Initializer):
    """Draws evenly from [`minval`, `maxval`)."""

    def __init__(self, minval: Any = 0.0, maxval: Any = None, seed: Any = None, dtype: Any = dtypes.float32) -> None:
        self.minval, self.maxval, self.seed, self.dtype = minval, maxval, seed, dtypes.as_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        return random_ops.random_uniform(shape, self.minval, self.maxval, self.dtype if dtype is None else dtype, seed=self.seed)


class RandomNormal(Initializer):
    """Draws from the normal distribution."""

    def __init__(self, mean: Any = 0.0, stddev: Any = 1.0, seed: Any = None, dtype: Any = dtypes.float32) -> None:
        self.mean, self.stddev, self.seed, self.dtype = mean, stddev, seed, _floating(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        return random_ops.random_normal(shape, self.mean, self.stddev, self.dtype if dtype is None else dtype, seed=self.seed)


class TruncatedNormal(RandomNormal):
    """Draws from the normal distribution, again whatever lies more than two deviations from the mean."""

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        return random_ops.truncated_normal(shape, self.mean, self.stddev, self.dtype if dtype is None else dtype, seed=self.seed)


def _floating(dtype: Any) -> dtypes.DType:
    dtype = dtypes.as_dtype(dtype)
    if not dtype.is_floating:
        raise ValueError(f"Argument `dtype` expected to be numeric or boolean. Received {dtype}.")
    return dtype


def _fans(shape: Any) -> tuple[int, int]:
    shape = tensor_shape.as_shape(shape).as_list()
    if len(shape) < 1:
        return 1, 1
    if len(shape) == 1:
        return shape[0], shape[0]
    if len(shape) == 2:
        return shape[0], shape[1]
    field = math.prod(shape[:-2])
    return shape[-2] * field, shape[-1] * field


class VarianceScaling(Initializer):
    """Draws with a variance of `scale` over the number of a weight's inputs, outputs or their mean, as `mode` says."""

    def __init__(self, scale: float = 1.0, mode: str = "fan_in", distribution: str = "truncated_normal", seed: Any = None, dtype: Any = dtypes.float32) -> None:
        if scale <= 0.0:
            raise ValueError(f"Argument `scale` must be a positive float. Received: {scale}")
        if mode not in {"fan_in", "fan_out", "fan_avg"}:
            raise ValueError(f"Argument `mode` should be one of ('fan_in', 'fan_out', 'fan_avg'). Received: {mode}")
        if distribution.lower() not in {"normal", "uniform", "truncated_normal", "untruncated_normal"}:
            raise ValueError(f"Argument `distribution` should be one of ('normal', 'uniform', 'truncated_normal', 'untruncated_normal'). Received: {distribution}")
        self.scale, self.mode, self.distribution, self.seed = scale, mode, distribution.lower(), seed
        self.dtype = _floating(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        dtype = self.dtype if dtype is None else dtype
        fan_in, fan_out = _fans(shape)
        fan = {"fan_in": max(1.0, fan_in), "fan_out": max(1.0, fan_out), "fan_avg": max(1.0, (fan_in + fan_out) / 2.0)}[self.mode]
        scale = self.scale / fan
        if self.distribution in ("normal", "truncated_normal"):
            # The deviation of a normal distribution cut at two deviations.
            return random_ops.truncated_normal(shape, 0.0, math.sqrt(scale) / 0.87962566103423978, dtype, seed=self.seed)
        if self.distribution == "untruncated_normal":
            return random_ops.random_normal(shape, 0.0, math.sqrt(scale), dtype, seed=self.seed)
        limit = math.sqrt(3.0 * scale)
        return random_ops.random_uniform(shape, -limit, limit, dtype, seed=self.seed)

    def get_config(self) -> dict[str, Any]:
        return {"scale": self.scale, "mode": self.mode, "distribution": self.distribution, "seed": self.seed, "dtype": self.dtype.name}


class GlorotUniform(VarianceScaling):
    """Draws evenly with a variance of 1 over the mean number of a weight's inputs and outputs."""

    def __init__(self, seed: Any = None, dtype: Any = dtypes.float32) -> None:
        super().__init__(1.0, "fan_avg", "uniform", seed, dtype)

    def get_config(self) -> dict[str, Any]:
        return {"seed": self.seed, "dtype": self.dtype.name}


class GlorotNormal(VarianceScaling):
    """Draws from the truncated normal distribution with a variance of 1 over the mean number of inputs and outputs."""

    def __init__(self, seed: Any = None, dtype: Any = dtypes.float32) -> None:
        super().__init__(1.0, "fan_avg", "truncated_normal", seed, dtype)

    def get_config(self) -> dict[str, Any]:
        return {"seed": self.seed, "dtype": self.dtype.name}


class UniformUnitScaling(Initializer):
    """Draws evenly so that a product with the weights keeps the scale of its input, times `factor`."""

    def __init__(self, factor: float = 1.0, seed: Any = None, dtype: Any = dtypes.float32) -> None:
        self.factor, self.seed, self.dtype = factor, seed, _floating(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        size = max(1.0, float(math.prod(tensor_shape.as_shape(shape).as_list()[:-1])))
        limit = math.sqrt(3 / size) * self.factor
        return random_ops.random_uniform(shape, -limit, limit, self.dtype if dtype is None else dtype, seed=self.seed)


class Identity(Initializer):
    """Makes a matrix start as the identity times `gain`."""

    def __init__(self, gain: float = 1.0, dtype: Any = dtypes.float32) -> None:
        self.gain, self.dtype = gain, _floating(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        if len(shape) != 2:
            raise ValueError(f"The tensor to initialize, specified by argument `shape` must be at least two-dimensional. Received shape={shape}")
        value = array_ops.eye(*shape, dtype=self.dtype if dtype is None else dtype)
        return value if self.gain == 1.0 else self.gain * value


class Orthogonal(Initializer):
    """An orthogonal matrix: the first factor of a QR decomposition, its signs made unique."""

    def __init__(self, gain: float = 1.0, seed: Any = None, dtype: Any = dtypes.float32) -> None:
        self.gain, self.seed, self.dtype = gain, seed, _floating(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        from emplace.framework.dispatch import execute as _op

        shape = list(shape)
        if len(shape) < 2:
            raise ValueError(f"The tensor to initialize, specified by argument `shape` must be at least two-dimensional. Received shape={shape}")
        rows, columns = math.prod(shape[:-1]), shape[-1]
        flat = (columns, rows) if rows < columns else (rows, columns)
        values = random_ops.random_normal(flat, dtype=self.dtype if dtype is None else dtype, seed=self.seed)
        q, r = _op("Qr", [values], {"full_matrices": False})
        q = q * _op("Sign", [_op("DiagPart", [r], {})], {})
        if rows < columns:
            q = array_ops.matrix_transpose(q)
        return self.gain * array_ops.reshape(q, shape)


def he_normal(seed: Any = None) -> VarianceScaling:
    """Draws from the truncated normal distribution with a variance of 2 over the number of a weight's inputs."""
    return VarianceScaling(2.0, "fan_in", "truncated_normal", seed)


def he_uniform(seed: Any = None) -> VarianceScaling:
    """Draws evenly with a variance of 2 over the number of a weight's inputs."""
    return VarianceScaling(2.0, "fan_in", "uniform", seed)


def lecun_normal(seed: Any = None) -> VarianceScaling:
    """Draws from the truncated normal distribution with a variance of 1 over the number of a weight's inputs."""
    return VarianceScaling(1.0, "fan_in", "truncated_normal", seed)


def lecun_uniform(seed: Any = None) -> VarianceScaling:
    """Draws evenly with a variance of 1 over the number of a weight's inputs."""
    return VarianceScaling(1.0, "fan_in", "uniform", seed)
