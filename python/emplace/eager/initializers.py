"""Initializers of TensorFlow 2: the shape comes with the call."""

from __future__ import annotations

from typing import Any

from emplace.eager import context
from emplace.framework import array_ops, dtypes, init_ops, ops


class _Initializer:
    """Runs an initializer of the graph front at once."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __call__(self, shape: Any, dtype: Any = None, **kwargs: Any) -> Any:
        context._state.eager += 1
        try:
            return self._inner(shape, dtype=dtypes.as_dtype(dtype or dtypes.float32))
        finally:
            context._state.eager -= 1


def _wrapped(name: str) -> Any:
    inner = getattr(init_ops, name)

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        _Initializer.__init__(self, inner(*args, **kwargs))

    return type(name, (_Initializer,), {"__init__": __init__})


Zeros, Ones, RandomUniform, RandomNormal = (_wrapped(n) for n in ("Zeros", "Ones", "RandomUniform", "RandomNormal"))
TruncatedNormal, VarianceScaling = _wrapped("TruncatedNormal"), _wrapped("VarianceScaling")
GlorotUniform, GlorotNormal, Identity = (_wrapped(n) for n in ("GlorotUniform", "GlorotNormal", "Identity"))


class Constant:
    def __init__(self, value: Any = 0) -> None:
        self._value = value

    def __call__(self, shape: Any, dtype: Any = None, **kwargs: Any) -> Any:
        context._state.eager += 1
        try:
            value = ops.convert_to_tensor(self._value, dtypes.as_dtype(dtype or dtypes.float32))
            return array_ops.zeros(shape, value.dtype) + value
        finally:
            context._state.eager -= 1


zeros, ones, constant = Zeros, Ones, Constant
