"""Converted functions as modules without files: one would stay behind where a process is ended, and could not be written on a full disk."""

from __future__ import annotations

import importlib.util
import itertools
import linecache
import sys
import types
from typing import Any

_numbers = itertools.count()


def load_source(source: str, delete_on_exit: bool) -> tuple[Any, str]:  # noqa: ARG001
    """The module of this text, in which tracebacks and inspect find its lines, and the name that stands for its file."""
    name = f"__autograph_generated_{next(_numbers)}"
    file = f"<{name}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    spec = importlib.util.spec_from_loader(name, None, origin=file)
    assert spec is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    module.__file__ = file
    exec(compile(source, file, "exec"), module.__dict__)  # noqa: S102
    return module, file


def _with(function: Any, **names: Any) -> Any:
    """The function, a copy that finds these under their names."""
    copy = types.FunctionType(function.__code__, {**function.__globals__, **names}, function.__name__, function.__defaults__, function.__closure__)
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


def write_no_files(converter: type) -> None:
    """For a converter of malt's and of nobody else's."""
    from malt.pyct import loader, transpiler

    in_memory = types.SimpleNamespace(load_ast=_with(loader.load_ast, load_source=load_source))

    class Factory(transpiler._PythonFnFactory):  # type: ignore[misc, name-defined]
        create = _with(transpiler._PythonFnFactory.create, loader=in_memory)

    converter.transform_function = _with(converter.transform_function, _PythonFnFactory=Factory)  # type: ignore[attr-defined]
