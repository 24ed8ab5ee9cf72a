"""The names below `tf`, found when first asked for."""

from __future__ import annotations

import importlib
import types
from typing import Any

from emplace.eager import context, keras, names, tensor  # noqa: F401  (tensor sets the dispatch)
from emplace.framework import dtypes, gen
from emplace.framework.once import once

_DTYPES = frozenset(
    "float16 half float32 float64 double bfloat16 int8 int16 int32 int64 uint8 uint16 uint32 uint64"
    " bool string complex64 complex128 qint8 qint16 qint32 quint8 quint16 resource variant".split()
)
_PLAIN = "="  # marks what is offered as it is, not run at once


_names = names.index()
_spaces = names.spaces(_names)
_ELSEWHERE = {  # modules that stand in files
    "compat.v1": "compat.v1", "distribute": "distribute", "compat.v2": "", "errors": "framework.errors", "experimental.numpy": "eager.numpy_api",
}
_OF_KERAS = ("initializers", "keras", "losses", "metrics", "optimizers")  # Keras's modules, under TensorFlow's name too
_BARE = ("experimental.dtensor",)  # Keras imports it; there is nothing in it


class Namespace(types.ModuleType):
    """`tf.math` and its like."""

    def __init__(self, path: str) -> None:
        super().__init__(f"emplace.{path}")
        self.__dict__["_path"] = path
        self.__path__: list[str] = []  # a package to the import statement

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")
        value = lookup(f"{self._path}.{name}")
        setattr(self, name, value)
        return value

    def __dir__(self) -> list[str]:
        return names_below(self._path)


def names_below(path: str) -> list[str]:
    start = f"{path}." if path else ""
    below = {n[len(start) :].partition(".")[0] for n in (*_names, *_spaces, *_ELSEWHERE, *_OF_KERAS, "raw_ops") if n.startswith(start)}
    if path in ("", "dtypes"):
        below |= _DTYPES
    return sorted(below - {""})


def lookup(path: str) -> Any:
    if path in _OF_KERAS:
        return keras.package() if path == "keras" else keras.below(path)
    found = _names.get(path)
    if found is not None:
        return _value(*found)
    if path in _ELSEWHERE:
        return importlib.import_module(f"emplace.{_ELSEWHERE[path]}".rstrip("."))
    if path == "__internal__":
        return importlib.import_module("emplace.eager.internal").space
    if path == "eager":
        return importlib.import_module("emplace.eager")
    if path == "raw_ops":
        return _RawOps()
    if path in _spaces or path in _BARE:
        return Namespace(path)
    if path in _DTYPES or path.startswith("dtypes.") and path[7:] in _DTYPES:
        return getattr(dtypes, path.rpartition(".")[2])
    from emplace.posing import private

    raise AttributeError(private.refusal("emplace", path))


def _value(module: str, attribute: str) -> Any:
    if module == "op":
        return _operation(attribute)
    value = behind(module, attribute)
    return value if module.startswith(_PLAIN) or not isinstance(value, types.FunctionType) else _public(value)


def behind(module: str, attribute: str) -> Any:
    """What a row of the index names, as it is."""
    return getattr(importlib.import_module(f"emplace.{module.lstrip(_PLAIN)}"), attribute)


# One function whatever it is called: `tf.add is tf.math.add`.
_public = once(context.v2)


@once
def _operation(op: str) -> Any:
    first = next(name for name, found in _names.items() if found == ("op", op))
    return context.v2(gen.make_function(op, first.rpartition(".")[2]))


class _RawOps:
    """`tf.raw_ops.MatMul(a=…, b=…)`."""

    def __getattr__(self, name: str) -> Any:
        function = context.v2(getattr(gen.raw_ops, name))
        setattr(self, name, function)
        return function

    def __dir__(self) -> list[str]:
        return dir(gen.raw_ops)
