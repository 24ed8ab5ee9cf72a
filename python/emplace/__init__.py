"""`import emplace as tf`: TensorFlow 2's names, run operation by operation."""

from __future__ import annotations

from typing import Any

from emplace import _imports

# The version of TensorFlow whose names these are: programs look at it before they choose what to call. Emplace's own is
# `importlib.metadata.version("emplace")`.
__version__ = "2.21.0"


_imports.install()


def _load_core() -> Any:
    """The engine, bound to the libraries it was linked with: others in this process may have brought
    their own protobuf, and shown it to everybody."""
    import importlib
    import os
    import sys

    flags = sys.getdlopenflags()
    sys.setdlopenflags(os.RTLD_NOW | getattr(os, "RTLD_DEEPBIND", 0))
    try:
        with _imports.SignalsWait():  # NumPy, which it imports, can't be imported once more after half of it
            return importlib.import_module("emplace._core")
    finally:
        sys.setdlopenflags(flags)


def _eager_unless_of_version_1() -> None:
    """Who asks for a name here before `emplace.compat.v1` was imported writes for TensorFlow 2: version 1's names are eager too."""
    import sys

    from emplace.posing import posed_as

    if "emplace.compat.v1" not in sys.modules and posed_as() != "v1":
        from emplace.framework import thread_state

        thread_state.state.eager_everywhere = True


def __getattr__(name: str) -> Any:
    if name in ("compat", "framework", "proto"):
        import importlib

        if name == "compat":
            _eager_unless_of_version_1()
            importlib.import_module("emplace.compat.v1")
        return importlib.import_module(f"emplace.{name}")
    if name == "_core":
        return _load_core()
    if name.startswith("_") and name != "__internal__":
        raise AttributeError(f"module 'emplace' has no attribute '{name}'")
    _eager_unless_of_version_1()
    from emplace.eager import namespace
    from emplace.framework import tensor_shape

    tensor_shape.assume_v2_tensorshape(True)  # who asks for a name here writes for TensorFlow 2, beside version 1 too
    # The import of the package of that name has taken the place of the function.
    globals()["gradients"] = namespace.lookup("gradients")
    value = namespace.lookup(name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    from emplace.eager import namespace

    return namespace.names_below("")
