"""Initializers of TensorFlow 2: the shape comes with the call; a seed gives the same values each time."""

from __future__ import annotations

import math
import random as _random
from typing import Any

from emplace.eager import context
from emplace.framework import array_ops, constant_op, dtypes, math_ops, ops, random_ops, tensor_shape
from emplace.framework.dispatch import execute as _op


class Initializer:
    """`initializer(shape)`: a tensor. What it was made with is its configuration."""

    _more: tuple[str, ...] = ()  # of the configuration, never set

    def __call__(self, shape: Any, dtype: Any = None, **kwargs: Any) -> Any:
        context._state.eager += 1
        try:
            return self._values(tensor_shape.as_shape(shape).as_list(), self._dtype(dtype))
        finally:
            context._state.eager -= 1

    def _dtype(self, dtype: Any) -> Any:
        return dtypes.as_dtype(dtypes.float32 if dtype is None else dtype)

    def _values(self, shape: list[int], dtype: Any) -> Any:
        raise NotImplementedError("Initializer subclasses must implement the `__call__()` method.")

    def get_config(self) -> dict[str, Any]:
        """The settings by name, as `from_config` takes them."""
        return {k: v for k, v in vars(self).items() if not k.startswith("_")} | dict.fromkeys(self._more)

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> "Initializer":
        """An initializer from the settings that `get_config` gave."""
        return cls(**{k: v for k, v in config.items() if k not in cls._more})


class _Same(Initializer):
    """A number everywhere."""

    _number = 0

    def _dtype(self, dtype: Any) -> Any:
        dtype = super()._dtype(dtype)
        if dtype is dtypes.string:
            raise ValueError(f"Argument `dtype` expected to be numeric or boolean. Received {dtype}.")
        return dtype

    def _values(self, shape: list[int], dtype: Any) -> Any:
        return array_ops.fill(shape, ops.convert_to_tensor(self._number, dtype))


class Zeros(_Same):
    """Makes a variable start as zeros, of any shape and numeric dtype."""


class Ones(_Same):
    """Makes a variable start as ones, of any shape and numeric dtype."""

    _number = 1


class Constant(Initializer):
    """The same value, spread over the shape."""

    def __init__(self, value: Any = 0) -> None:
        self.value = value

    def _values(self, shape: list[int], dtype: Any) -> Any:
        value = math_ops.cast(self.value, dtype)
        return array_ops.zeros(shape, value.dtype) + value


class ConstantOfShape(Constant):
    """`tf.constant_initializer`: a list gives the elements one after another, as many as there are."""

    def __init__(self, value: Any = 0, support_partition: bool = False) -> None:
        super().__init__(value)

    def _dtype(self, dtype: Any) -> Any:
        return None if dtype is None else dtypes.as_dtype(dtype)

    def _values(self, shape: list[int], dtype: Any) -> Any:
        array = constant_op.make_array(self.value, dtype)
        n = math.prod(shape)
        if array.ndim == 0:
            return array_ops.fill(shape, ops.convert_to_tensor(array))
        if array.size != n:
            raise TypeError(
                f"Eager execution of tf.constant with unsupported shape. Tensor {array} (converted from {self.value}) has {array.size} "
                f"elements, but got `shape` {tensor_shape.as_shape(shape)} with {n} elements)."
            )
        return array_ops.reshape(ops.convert_to_tensor(array), shape)


class Identity(Initializer):
    """Makes a matrix start as the identity times `gain`; other ranks are refused."""

    def __init__(self, gain: float = 1.0) -> None:
        self.gain = gain

    def _values(self, shape: list[int], dtype: Any) -> Any:
        if len(shape) != 2:
            raise ValueError(f"Identity matrix initializer can only be used for 2D matrices. Received: shape={tuple(shape)} of rank {len(shape)}.")
        return math_ops.cast(self.gain, dtype) * array_ops.eye(*shape, dtype=dtype)


# ---- Random ones.

_DRAW = {
    "normal": (random_ops.stateless_normal, random_ops.random_normal),
    "uniform": (random_ops.stateless_uniform, random_ops.random_uniform),
    "truncated": (random_ops.stateless_truncated_normal, random_ops.truncated_normal),
}


class _Random(Initializer):
    """Without a seed of its own it draws one, once."""

    _draws_seed = True

    def _draw(self, kind: str, shape: list[int], a: float, b: float, dtype: Any) -> Any:
        """Mean and deviation, or the limits."""
        seed = self.seed if self.seed is not None else self._chance()
        if seed is None:
            return _DRAW[kind][1](shape, a, b, dtype)
        if not isinstance(seed, int):
            seed = int(seed)
        return _DRAW[kind][0](shape, [seed, 0], a, b, dtype)

    def _chance(self) -> int | None:
        if self._draws_seed and not hasattr(self, "_drawn"):
            self._drawn = _random.randint(1, 10**9)
        return getattr(self, "_drawn", None)


class RandomNormal(_Random):
    """Draws from the normal distribution; an object with an integer `seed` gives the same values each time."""

    def __init__(self, mean: float = 0.0, stddev: float = 0.05, seed: Any = None) -> None:
        self.mean, self.stddev, self.seed = mean, stddev, seed

    def _values(self, shape: list[int], dtype: Any) -> Any:
        return self._draw("normal", shape, self.mean, self.stddev, dtype)


class TruncatedNormal(RandomNormal):
    """Draws from the normal distribution, again whatever lies more than two deviations from the mean."""

    def _values(self, shape: list[int], dtype: Any) -> Any:
        return self._draw("truncated", shape, self.mean, self.stddev, dtype)


class RandomUniform(_Random):
    """Draws evenly from [`minval`, `maxval`); an object with an integer `seed` gives the same values each time."""

    def __init__(self, minval: float = -0.05, maxval: float = 0.05, seed: Any = None) -> None:
        self.minval, self.maxval, self.seed = minval, maxval, seed

    def _values(self, shape: list[int], dtype: Any) -> Any:
        return self._draw("uniform", shape, self.minval, self.maxval, dtype)


class PlainNormal(RandomNormal):
    """`tf.random_normal_initializer`: without a seed the program's seed decides."""

    _draws_seed = False


class PlainUniform(RandomUniform):
    """Draws evenly from [`minval`, `maxval`), integers too; the name outside of `initializers`."""

    _draws_seed = False


def _fans(shape: list[int]) -> tuple[float, float]:
    """How many values come in to each, go out of each."""
    if len(shape) < 2:
        return (shape[0], shape[0]) if shape else (1, 1)
    field = math.prod(shape[:-2])
    return shape[-2] * field, shape[-1] * field


class VarianceScaling(_Random):
    """Numbers whose variance fits the size of the layer."""

    _more = ("input_axes", "output_axes")

    def __init__(self, scale: float = 1.0, mode: str = "fan_in", distribution: str = "truncated_normal", seed: Any = None) -> None:
        if scale <= 0.0:
            raise ValueError(f"Argument `scale` must be positive float. Received: scale={scale}")
        if mode not in ("fan_in", "fan_out", "fan_avg"):
            raise ValueError(f"Invalid `mode` argument: {mode}. Please use one of {{'fan_in', 'fan_out', 'fan_avg'}}")
        self.scale, self.mode, self.distribution, self.seed = scale, mode, distribution.lower(), seed

    def _values(self, shape: list[int], dtype: Any) -> Any:
        fan_in, fan_out = _fans(shape)
        fan = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2}[self.mode]
        scale = self.scale / max(1.0, fan)
        if self.distribution == "uniform":
            limit = math.sqrt(3.0 * scale)
            return self._draw("uniform", shape, -limit, limit, dtype)
        if self.distribution == "untruncated_normal":
            return self._draw("normal", shape, 0.0, math.sqrt(scale), dtype)
        # What is cut off makes the variance smaller; this makes up for it.
        return self._draw("truncated", shape, 0.0, math.sqrt(scale) / 0.87962566103423978, dtype)


def _scaling(title: str, scale: float, mode: str, distribution: str) -> Any:
    fan = "inputs" if mode == "fan_in" else "inputs and outputs, on average,"
    law = "evenly" if distribution == "uniform" else "from the truncated normal distribution"
    said = f"Draws {law} with variance {scale:g} / n, n the number of {fan} of a weight's unit."

    def __init__(self: Any, seed: Any = None) -> None:  # noqa: N807
        VarianceScaling.__init__(self, scale, mode, distribution, seed)

    def get_config(self: Any) -> dict[str, Any]:
        """The settings by name, as `from_config` takes them: here the seed alone."""
        return {"seed": self.seed} | dict.fromkeys(self._more)

    return type(title, (VarianceScaling,), {"__init__": __init__, "get_config": get_config, "__module__": __name__, "__doc__": said})


GlorotUniform, GlorotNormal = _scaling("GlorotUniform", 1.0, "fan_avg", "uniform"), _scaling("GlorotNormal", 1.0, "fan_avg", "truncated_normal")
HeNormal, HeUniform = _scaling("HeNormal", 2.0, "fan_in", "truncated_normal"), _scaling("HeUniform", 2.0, "fan_in", "uniform")
LecunNormal, LecunUniform = _scaling("LecunNormal", 1.0, "fan_in", "truncated_normal"), _scaling("LecunUniform", 1.0, "fan_in", "uniform")


class Orthogonal(_Random):
    """Rows (or columns) at right angles, of one length."""

    def __init__(self, gain: float = 1.0, seed: Any = None) -> None:
        self.gain, self.seed = gain, seed

    def _values(self, shape: list[int], dtype: Any) -> Any:
        if len(shape) < 2:
            raise ValueError(f"The tensor to initialize must be at least two-dimensional. Received: shape={tuple(shape)} of rank {len(shape)}.")
        rows, columns = math.prod(shape[:-1]), shape[-1]
        q, r = _op("Qr", [self._draw("normal", [max(rows, columns), min(rows, columns)], 0.0, 1.0, dtype)], {"full_matrices": False})
        q = q * math_ops.sign(array_ops.matrix_diag_part(r))
        if rows < columns:
            q = array_ops.transpose(q)
        return math_ops.cast(self.gain, dtype) * array_ops.reshape(q, shape)


zeros, ones, constant, identity, orthogonal = Zeros, Ones, Constant, Identity, Orthogonal
glorot_uniform, glorot_normal, variance_scaling = GlorotUniform, GlorotNormal, VarianceScaling
he_normal, he_uniform, lecun_normal, lecun_uniform = HeNormal, HeUniform, LecunNormal, LecunUniform
random_normal, random_uniform, truncated_normal = RandomNormal, RandomUniform, TruncatedNormal


def get(identifier: Any) -> Any:
    """An initializer by its name, its configuration, or as it is."""
    if identifier is None:
        return None
    if isinstance(identifier, dict):
        return globals()[identifier["class_name"]](**identifier.get("config", {}))
    if isinstance(identifier, str):
        found = globals().get(identifier)
        if not (isinstance(found, type) and issubclass(found, Initializer)):
            raise ValueError(f"Could not interpret initializer identifier: {identifier}")
        return found()
    if isinstance(identifier, ops.Tensor):
        return Constant(identifier)
    if callable(identifier):
        return identifier() if isinstance(identifier, type) else identifier
    raise ValueError(f"Could not interpret initializer identifier: {identifier}")
