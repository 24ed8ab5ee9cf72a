"""Every public name of the package: what `dir()` says of its modules and of their classes."""

from __future__ import annotations

import importlib
import inspect
import types
from typing import Any, Iterator

FACES = ("emplace", "emplace.compat.v1", "emplace.compat")


def ours(value: Any) -> bool:
    """Is it this package's to describe? Messages, NumPy's functions and the like are others'."""
    module = getattr(value, "__module__", None) or ""
    return isinstance(module, str) and module.partition(".")[0] == "emplace" and not module.startswith("emplace.proto")


def is_space(value: Any) -> bool:
    """A module of ours, or what stands for one."""
    if isinstance(value, types.ModuleType):
        return value.__name__.partition(".")[0] == "emplace"
    return ours(type(value)) and type(value).__name__ == "_RawOps"


def below(path: str, space: Any) -> Iterator[tuple[str, Any, str]]:
    """(path, value, why it could not be had) of a module's names, and of its modules'."""
    for name in dir(space):
        if name.startswith("_"):
            continue
        try:
            value = getattr(space, name)
        except (AttributeError, ImportError) as e:
            yield f"{path}.{name}", None, str(e) or type(e).__name__
            continue
        yield f"{path}.{name}", value, ""
        if is_space(value) and getattr(value, "__name__", "") not in FACES:
            yield from below(f"{path}.{name}", value)


def all_names() -> Iterator[tuple[str, Any, str]]:
    for face in FACES:
        yield from below(face, importlib.import_module(face))


def methods(cls: type) -> Iterator[tuple[str, Any]]:
    """The public methods that classes of this package give a class."""
    for name in dir(cls):
        owner = next((c for c in cls.__mro__ if name in vars(c)), None)
        if not name.startswith("_") and owner is not None and ours(owner) and callable(getattr(cls, name)):
            if not isinstance(inspect.getattr_static(cls, name), type):
                yield name, getattr(cls, name)
