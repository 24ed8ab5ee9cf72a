"""Runs an eager snippet on one implementation and describes what came of it, ready to compare."""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from snippet import Snippet


@dataclass
class Outcome:
    result: Any = None
    error: str | None = None  # the class's name
    bases: tuple[str, ...] = ()
    said: str = ""


@dataclass
class Value:
    """A tensor or variable: what it is, holds and prints."""

    array: np.ndarray
    dtype: str
    shape: str
    texts: tuple[str, str]


def describe(x: Any) -> Any:
    """Plain data for `x`, so that the two libraries' objects can be compared."""
    if isinstance(x, dict):
        return {key: describe(value) for key, value in x.items()}
    if isinstance(x, (list, tuple)):
        return [describe(value) for value in x]
    if hasattr(x, "dense_shape") and hasattr(x, "indices"):
        return {part: describe(getattr(x, part)) for part in ("values", "indices", "dense_shape")}
    if hasattr(x, "numpy") and hasattr(x, "dtype"):
        return Value(np.asarray(x.numpy()), x.dtype.name, str(x.shape), (str(x), repr(x)))
    if isinstance(x, (np.ndarray, np.generic)):
        return Value(np.asarray(x), str(x.dtype), str(x.shape), (str(x), repr(x)))
    if x is None or isinstance(x, (bool, int, float, complex, str, bytes)):
        return x
    return repr(x)


def outcome(tf: Any, snippet: Snippet) -> Outcome:
    try:
        return Outcome(result=describe(snippet.build(tf)))
    except Exception as error:  # whatever it is, the other side must raise the same
        bases = tuple(base.__name__ for base in type(error).__mro__)
        return Outcome(error=type(error).__name__, bases=bases, said=str(error))


def close(theirs: np.ndarray, ours: np.ndarray) -> bool:
    if theirs.dtype.kind not in "fcV" and theirs.dtype.name != "bfloat16":
        return np.array_equal(theirs, ours)
    tolerance = 2e-2 if theirs.dtype.itemsize == 2 else 2e-5
    wide = complex if theirs.dtype.kind == "c" else float
    return np.allclose(
        ours.astype(wide), theirs.astype(wide), rtol=tolerance, atol=1e-6, equal_nan=True
    )


def without_numbers(text: str) -> str:
    """The text around an array: bits may differ in the last place, names and layout may not."""
    return re.sub(
        r"(numpy=|\()?array\(.*?\)|\[.*\]|(?<=numpy=)[^>]*|-?\d+\.\d*(e[+-]\d+)?",
        "#",
        text,
        flags=re.DOTALL,
    )


def differences(theirs: Any, ours: Any, where: str = "result") -> list[str]:
    """What differs, in words; empty when the outcomes agree."""
    if isinstance(theirs, Value) and isinstance(ours, Value):
        return value_differences(theirs, ours, where)
    if type(theirs) is not type(ours):
        return [f"{where}: {theirs!r} became {ours!r}"]
    if isinstance(theirs, dict):
        if theirs.keys() != ours.keys():
            return [f"{where}: keys {list(theirs)} became {list(ours)}"]
        return [
            d for key in theirs for d in differences(theirs[key], ours[key], f"{where}[{key!r}]")
        ]
    if isinstance(theirs, list):
        if len(theirs) != len(ours):
            return [f"{where}: length {len(theirs)} became {len(ours)}"]
        return [
            d
            for i, pair in enumerate(zip(theirs, ours))
            for d in differences(*pair, f"{where}[{i}]")
        ]
    return [] if theirs == ours else [f"{where}: {theirs!r} became {ours!r}"]


def value_differences(theirs: Value, ours: Value, where: str) -> list[str]:
    found = []
    if theirs.dtype != ours.dtype:
        found.append(f"{where}: dtype {theirs.dtype} became {ours.dtype}")
    if theirs.shape != ours.shape:
        found.append(f"{where}: shape {theirs.shape} became {ours.shape}")
    if found:
        return found
    if not close(theirs.array, ours.array):
        return [f"{where}: {theirs.array!r} became {ours.array!r}"]
    same_bits = theirs.array.dtype.kind in "OSU" or theirs.array.tobytes() == ours.array.tobytes()
    look = (lambda text: text) if same_bits else without_numbers
    for expected, actual in zip(theirs.texts, ours.texts):
        if look(expected) != look(actual):
            found.append(f"{where}: prints {actual!r}, not {expected!r}")
    return found
