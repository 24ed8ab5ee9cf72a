"""The names below `tf`, found when first asked for."""

from __future__ import annotations

import importlib
import types
from typing import Any

from emplace import _core
from emplace.eager import context, names, tensor  # noqa: F401  (tensor sets the dispatch)
from emplace.framework import dtypes, gen
from emplace.framework.once import once

_DTYPES = frozenset(
    "float16 half float32 float64 double bfloat16 int8 int16 int32 int64 uint8 uint16 uint32 uint64"
    " bool string complex64 complex128 qint8 qint16 qint32 quint8 quint16 resource variant".split()
)
_PLAIN = "="  # marks what is offered as it is, not run at once


def _index() -> dict[str, tuple[str, str]]:
    """Public name -> (module, attribute)."""
    found: dict[str, tuple[str, str]] = {}
    for block in names.TABLE.strip().split("\n\n"):
        head, *lines = block.splitlines()
        module, _, spaces = head.partition("|")
        module = module.strip()
        for word in " ".join(lines).split():
            public, _, attribute = word.partition("=")
            for space in spaces.strip().split(","):
                found[f"{space}.{public}" if space else public] = (module, attribute or public)
    for line in names.OPS.strip().splitlines():
        op, _, publics = line.partition(" ")
        for public in publics.split(","):
            found[public] = ("op", op)
    return found


_names = _index()
_spaces = {name.rpartition(".")[0] for name in _names} | {"compat"}
_spaces |= {s.rpartition(".")[0] for s in _spaces}


class Namespace(types.ModuleType):
    """`tf.math` and its like."""

    def __init__(self, path: str) -> None:
        super().__init__(f"emplace.{path}")
        self.__dict__["_path"] = path

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
    below = {n[len(start) :].partition(".")[0] for n in (*_names, *_spaces) if n.startswith(start)}
    if not path:
        below |= _DTYPES
    return sorted(below - {""})


def lookup(path: str) -> Any:
    found = _names.get(path)
    if found is not None:
        return _value(path, *found)
    if path == "compat.v1":
        return importlib.import_module("emplace.compat.v1")
    if path == "compat.v2":
        return importlib.import_module("emplace")
    if path == "eager":
        return importlib.import_module("emplace.eager")
    if path == "errors":
        return importlib.import_module("emplace.framework.errors")
    if path == "experimental.numpy":
        return importlib.import_module("emplace.eager.numpy_api")
    if path == "raw_ops":
        return _RawOps()
    if path in _spaces:
        return Namespace(path)
    if path in _DTYPES or path.startswith("dtypes.") and path[7:] in _DTYPES:
        return getattr(dtypes, path.rpartition(".")[2])
    where, _, name = path.rpartition(".")
    module = f"emplace.{where}" if where else "emplace"
    raise AttributeError(f"module '{module}' has no attribute '{name}'")


def _value(path: str, module: str, attribute: str) -> Any:
    if module == "op":
        if _core.find_op(attribute) is None:
            raise AttributeError(f"'{path}' is not there yet: the catalogue has no operation '{attribute}'")
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
