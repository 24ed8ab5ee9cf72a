"""An uncaught error shows the user's lines, not ours: its traceback ends at the user's call."""

from __future__ import annotations

import ast
import linecache
import os
import sys
import types
from typing import Any

from emplace import _core
from emplace.framework import settings

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_previous: Any = None


def users_part(tb: types.TracebackType | None) -> types.TracebackType | None:
    """`tb` without the frames of this package; itself where nothing would be left, or all are wanted."""
    if settings.full_tracebacks:
        return tb
    frames = []
    while tb is not None:
        frames.append(tb)
        tb = tb.tb_next
    kept = None
    for frame in reversed([f for f in frames if not f.tb_frame.f_code.co_filename.startswith(_PACKAGE)]):
        kept = types.TracebackType(kept, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    return kept


def shown(source: str) -> str:
    """A node's `file:line` as a traceback shows it."""
    file, _, number = source.rpartition(":")
    line = int(number) if number.isdigit() else 0
    return f'  File "{file}", line {line}, in {_function_at(linecache.getlines(file), line)}\n'


def _function_at(lines: list[str], line: int) -> str:
    """The name of the innermost function whose body has the line."""
    name = "<module>"
    try:
        nodes = list(ast.walk(ast.parse("".join(lines))))
    except SyntaxError:
        return name
    for node in nodes:  # outer ones first
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.body[0].lineno <= line <= (node.end_lineno or 0):
            name = node.name
    return name


def _hook(kind: Any, error: Any, tb: Any) -> None:
    shown = users_part(tb)
    if shown is not None and error is not None:
        error.__traceback__ = tb = shown
    _previous(kind, error, tb)


def install() -> None:
    global _previous
    _core.set_traceback_trimmer(users_part)
    if sys.excepthook is not _hook:
        _previous, sys.excepthook = sys.excepthook, _hook
