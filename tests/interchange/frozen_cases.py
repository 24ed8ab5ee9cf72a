"""Functions and Keras models of TensorFlow 2, each frozen to one GraphDef by `make_frozen.py`: name ->
(make(tf), inputs). `make` returns what is traced, so that layers and variables are made once."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

Maker = Callable[[Any], Callable[..., Any]]
FROZEN: dict[str, tuple[Maker, list[np.ndarray]]] = {}


def add(name: str, make: Maker, *inputs: Any) -> None:
    assert name not in FROZEN, name
    FROZEN[name] = (make, [np.asarray(i) for i in inputs])


def functions(prefix: str, rows: dict[str, Callable[..., Any]], *inputs: Any) -> None:
    """Functions of (tf, *inputs)."""
    for name, function in rows.items():
        add(f"{prefix}_{name}", lambda tf, f=function: lambda *x: f(tf, *x), *inputs)


def layers(prefix: str, rows: dict[str, Callable[[Any], Any]], *inputs: Any) -> None:
    """Makers of layers from `keras.layers`, called on the inputs."""
    for name, make in rows.items():
        def maker(tf: Any, make: Any = make) -> Callable[..., Any]:
            tf.keras.utils.set_random_seed(7)
            layer = make(tf.keras.layers)
            return lambda *x: layer(*x)

        add(f"{prefix}_{name}", maker, *inputs)


def numbers(*shape: int, low: float = -1.0, high: float = 1.0) -> np.ndarray:
    """The same numbers whenever asked, in no particular order."""
    count = int(np.prod(shape))
    steps = (np.arange(count) * 7919 + 13) % max(count, 1)
    return (low + (high - low) * steps / max(count - 1, 1)).astype(np.float32).reshape(shape)
