"""Finds the modules of TensorFlow's name: public ones are Emplace's own, `tensorflow.python` and the like stand in a table."""

from __future__ import annotations

import importlib
import importlib.machinery
import sys
import types
from typing import Any

from emplace import _imports, posing
from emplace.posing import private


class _Finder:
    @staticmethod
    def find_spec(fullname: str, path: Any = None, target: Any = None) -> Any:
        if fullname != "tensorflow" and not fullname.startswith("tensorflow."):
            return None
        module = _module(fullname)
        if module is None:  # no other finder is asked: TensorFlow itself may be installed
            raise ModuleNotFoundError(f"{fullname} is not part of Emplace, which stands in TensorFlow's place", name=fullname)
        return importlib.machinery.ModuleSpec(fullname, _imports._Loader(module), is_package=True)  # type: ignore[arg-type]


def _module(fullname: str) -> types.ModuleType | None:
    _, _, below = fullname.partition(".")
    if not below:
        return posing.face()
    if below.partition(".")[0] in private.ROOTS:
        return private.module(below)
    parent, _, name = fullname.rpartition(".")
    found = getattr(sys.modules[parent], name, None)
    if found is None or isinstance(found, types.ModuleType):
        return found
    return _as_module(fullname, found)


def _as_module(fullname: str, value: Any) -> types.ModuleType | None:
    """What is no module to Python and one to TensorFlow (`tf.raw_ops`)."""
    if type(value).__name__ != "_RawOps":
        return None
    module = types.ModuleType(fullname)
    module.__getattr__ = lambda name: getattr(value, name)  # type: ignore[method-assign]
    return module


def install() -> None:
    sys.meta_path.insert(0, _Finder)  # type: ignore[arg-type]
