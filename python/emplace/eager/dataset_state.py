"""The place of a dataset's functions among random numbers: each iterator has its own, and begins anew."""

from __future__ import annotations

import contextlib
import itertools
import threading
from typing import Any, Callable, Iterator

_numbers = itertools.count()


class Pass:
    """One going through of a dataset, with those inside it: functions that draw random numbers, by their code."""

    def __init__(self) -> None:
        self._name = f"pass_{next(_numbers)}"
        self._first: dict[Any, Any] = {}  # keeps the streams of its scope alive
        self._copies: dict[Any, Any] = {}

    def copy_of(self, function: Any, code: Any) -> Any:
        found = self._copies.get(function)
        if found is None:
            # A function made anew for each element of a dataset around goes on where the last one stopped.
            first = self._first.get(code)
            scope = f"{self._name}_{len(self._first)}" if first is None else first._random_scope
            found = self._copies[function] = function.for_scope(scope)
            self._first.setdefault(code, found)
        return found


class _Current(threading.local):
    one: Pass | None = None


_current = _Current()


def current() -> Pass:
    """The one that is making an element right now; else a new one."""
    return _current.one or Pass()


@contextlib.contextmanager
def going(one: Pass) -> Iterator[None]:
    outer, _current.one = _current.one, one
    try:
        yield
    finally:
        _current.one = outer


def by_pass(function: Any, python_function: Any) -> Callable[..., Any]:
    """The concrete function; a copy for each pass where it draws random numbers."""
    return (lambda *args: at_its_place(function, python_function)(*args)) if function.draws_random else function


def is_by_pass(function: Any) -> bool:
    """Whether `by_pass` found that it draws."""
    return getattr(function, "__qualname__", "").startswith("by_pass.")


def at_its_place(function: Any, python_function: Any) -> Any:
    if _current.one is None or not function.draws_random:
        return function
    return _current.one.copy_of(function, getattr(python_function, "__code__", python_function))
