"""`import emplace.math`, `from emplace.keras import layers`: modules that stand in no file."""

from __future__ import annotations

import importlib.machinery
import sys
import types
from typing import Any

_FILES = ("__main__", "_core", "_imports", "compat", "distribute", "eager", "framework", "gradients", "posing", "proto", "python")  # found as usual


class SignalsWait:
    """While it is entered, Python's handlers of signals are not called; those that came in the meantime are called at its end."""

    def __enter__(self) -> None:
        import signal
        import threading

        here = threading.current_thread() is threading.main_thread()  # the only one that calls them
        self._came: list[int] = []
        handlers = ((n, signal.getsignal(n)) for n in signal.valid_signals()) if here else ()
        self._handlers = [(n, handler) for n, handler in handlers if callable(handler)]
        for n, _ in self._handlers:
            signal.signal(n, lambda number, frame: self._came.append(number))

    def __exit__(self, *_: object) -> None:
        import signal

        for n, handler in self._handlers:
            signal.signal(n, handler)
        for n in self._came:
            signal.raise_signal(n)


class _Loader:
    def __init__(self, module: types.ModuleType) -> None:
        self._module = module

    def create_module(self, spec: Any) -> None:
        return None

    def exec_module(self, module: types.ModuleType) -> None:
        sys.modules[module.__name__] = self._module  # the import takes what stands there


class _Finder:
    """Comes first: a folder of stubs would pass for a package."""

    @staticmethod
    def find_spec(fullname: str, path: Any = None, target: Any = None) -> Any:
        module = _module(fullname) if fullname.startswith("emplace.") else None
        return None if module is None else importlib.machinery.ModuleSpec(fullname, _Loader(module), is_package=True)  # type: ignore[arg-type]


def _module(fullname: str) -> types.ModuleType | None:
    parent, _, name = fullname.rpartition(".")
    of_v1 = fullname.startswith("emplace.compat.v1.")
    if name.startswith("_") or not of_v1 and fullname.split(".")[1] in _FILES:
        return None
    holder: Any = sys.modules[parent]
    if parent == "emplace.compat.v1" and (name in holder.__dict__.get("_SUBMODULES", ()) or "__dir__" not in holder.__dict__):
        return None  # a file, or it is being loaded
    found = getattr(holder, name, None)
    return found if isinstance(found, types.ModuleType) else None


def install() -> None:
    sys.meta_path.insert(0, _Finder)  # type: ignore[arg-type]
