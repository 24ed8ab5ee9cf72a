"""The words in which the tables of advisories are written."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

I64, I32, F32, F64 = np.int64, np.int32, np.float32, np.float64


class Call(NamedTuple):
    """A call that an advisory names: of `tf.raw_ops`, or of another name below `tf`."""

    advisory: str
    function: str
    arguments: dict[str, Any]

    def run(self, tf: Any) -> Any:
        given = {k: v(tf) if callable(v) else v for k, v in self.arguments.items()}
        name = self.function if "." in self.function else "raw_ops." + self.function
        function = tf
        for part in name.lstrip(".").split("."):
            function = getattr(function, part)
        return function(**given)


class Table(list[Call]):
    """Calls in the order of their advisories; those of one number stand together."""

    def add(self, advisory: str, function: str, /, **arguments: Any) -> None:
        self.append(Call(advisory, function, arguments))


def empty(*shape: int, dtype: Any = F32) -> np.ndarray:
    return np.zeros(shape, dtype)


def filled(value: Any, *shape: int, dtype: Any = F32) -> np.ndarray:
    return np.full(shape, value, dtype)


def ints(values: Any, dtype: Any = I64) -> np.ndarray:
    return np.array(values, dtype)


def counted(*shape: int, dtype: Any = F32) -> np.ndarray:
    """0, 1, 2, ... in this shape."""
    return np.arange(np.prod(shape)).reshape(shape).astype(dtype)


def quantized(value: Any, dtype: str) -> Callable[[Any], Any]:
    return lambda tf: tf.cast(tf.constant(value, tf.int32), getattr(tf, dtype))


def variable(value: Any, dtype: Any = None) -> Callable[[Any], Any]:
    """A handle; the variable lives as long as its function's module."""
    kept: list[Any] = []

    def make(tf: Any) -> Any:
        with tf.init_scope():
            kept.append(tf.Variable(value, dtype=dtype))
        return kept[-1].handle

    return make


def dataset(tf: Any) -> Any:
    return tf.data.experimental.to_variant(tf.data.Dataset.range(3))


def functions_that_call_each_other(tf: Any) -> int:
    @tf.function
    def even(n: int) -> None:
        if n > 0:
            odd(n - 1)

    @tf.function
    def odd(n: int) -> None:
        if n > 0:
            even(n - 1)

    even(9)
    return 9


def dtype(name: str) -> Callable[[Any], Any]:
    return lambda tf: getattr(tf, name)


def dtypes(*names: str) -> Callable[[Any], Any]:
    return lambda tf: [getattr(tf, n) for n in names]
