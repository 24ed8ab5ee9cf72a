"""Shapes and values that every row of the conformance table meets."""

from __future__ import annotations

from typing import Any, Iterator

import numpy as np

# How far apart two results may be, in parts of their size.
TOLERANCE = {
    "float32": 2e-6, "float64": 1e-13, "float16": 2e-3, "bfloat16": 1.6e-2, "complex64": 4e-6, "complex128": 1e-13,
}
SPECIALS = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5])
LARGE = 70_001  # enough for several threads, and no multiple of a vector's width


def draw(rng: np.random.Generator, shape: tuple[int, ...], dtype: str, domain: tuple[float, float] = (-4.0, 4.0)) -> np.ndarray:
    """Values in a dtype that NumPy knows: float32 stands for bfloat16."""
    low, high = domain
    if dtype == "bool":
        return rng.random(shape) < 0.5
    if dtype.startswith(("int", "uint")):
        return rng.integers(int(np.ceil(low)), int(high) + 1, shape).astype(dtype)
    values = rng.uniform(low, high, shape)
    if dtype.startswith("complex"):
        return (values + 1j * rng.uniform(low, high, shape)).astype(dtype)
    return values.astype("float32" if dtype == "bfloat16" else dtype)


def _special(rng: np.random.Generator, dtype: str, domain: tuple[float, float]) -> np.ndarray:
    return np.concatenate([SPECIALS, rng.uniform(*domain, 9)]).astype("float32" if dtype == "bfloat16" else dtype)


def one_argument(rng: np.random.Generator, dtype: str, domain: tuple[float, float], specials: bool) -> Iterator[tuple[str, np.ndarray]]:
    yield "scalar", draw(rng, (), dtype, domain)
    yield "empty", draw(rng, (0, 3), dtype, domain)
    yield "matrix", draw(rng, (5, 7), dtype, domain)
    yield "large", draw(rng, (LARGE,), dtype, domain)
    yield "columns reversed", draw(rng, (6, 9), dtype, domain)[:, ::-2]
    yield "transposed", draw(rng, (6, 9), dtype, domain).T
    if specials and dtype in TOLERANCE and not dtype.startswith("complex"):
        yield "specials", _special(rng, dtype, domain)


def two_arguments(rng: np.random.Generator, dtype: str, domain: tuple[float, float], specials: bool) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    shapes = {
        "scalars": ((), ()), "scalar and matrix": ((), (4, 3)), "empty": ((0, 3), (3,)), "one dimension stretched": ((5, 1, 3), (4, 1)),
        "row and column": ((1, 6), (5, 1)), "large": ((LARGE,), (LARGE,)), "large and scalar": ((LARGE,), ()), "rows of a large one": ((300, 301), (301,)),
    }
    for name, (a, b) in shapes.items():
        yield name, draw(rng, a, dtype, domain), draw(rng, b, dtype, domain)
    yield "strided", draw(rng, (8, 6), dtype, domain)[::2, ::-1], draw(rng, (6, 4), dtype, domain).T
    if specials and dtype in TOLERANCE and not dtype.startswith("complex"):
        values = _special(rng, dtype, domain)
        yield "specials", values[:, None], values[None, :]


REDUCED: list[tuple[tuple[int, ...], Any]] = [
    ((), ()), ((5,), 0), ((0, 3), 0), ((3, 4), 1), ((3, 4), (0, 1)), ((2, 3, 4), (0, 2)), ((2, 3, 4), -2), ((2, 3, 4), ()), ((33, 1025), 1), ((1025, 33), 0),
]
