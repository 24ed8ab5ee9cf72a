"""`tf.zeros_initializer` and its like of TensorFlow 2, which Keras's initializers are not: the shape comes with the call."""

from __future__ import annotations

import math
from typing import Any

from emplace.eager import context
from emplace.framework import array_ops, constant_op, dtypes, ops, random_ops, tensor_shape


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


# ---- Random ones.


class _Random(Initializer):
    """With a seed an object gives the same values each time; without one the program's seed decides."""

    seed: Any

    def _draw(self, with_seed: Any, without: Any, shape: list[int], a: float, b: float, dtype: Any) -> Any:
        """Mean and deviation, or the limits."""
        return without(shape, a, b, dtype) if self.seed is None else with_seed(shape, [int(self.seed), 0], a, b, dtype)


class RandomNormal(_Random):
    """Draws from the normal distribution."""

    def __init__(self, mean: float = 0.0, stddev: float = 0.05, seed: Any = None) -> None:
        self.mean, self.stddev, self.seed = mean, stddev, seed

    def _values(self, shape: list[int], dtype: Any) -> Any:
        return self._draw(random_ops.stateless_normal, random_ops.random_normal, shape, self.mean, self.stddev, dtype)


class RandomUniform(_Random):
    """Draws evenly from [`minval`, `maxval`), integers too."""

    def __init__(self, minval: float = -0.05, maxval: float = 0.05, seed: Any = None) -> None:
        self.minval, self.maxval, self.seed = minval, maxval, seed

    def _values(self, shape: list[int], dtype: Any) -> Any:
        return self._draw(random_ops.stateless_uniform, random_ops.random_uniform, shape, self.minval, self.maxval, dtype)
