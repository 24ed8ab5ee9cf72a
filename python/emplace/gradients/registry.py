"""Which function gives an operation's gradient.

A function takes the operation (with `type`, `inputs`, `outputs`, `get_attr`) and the gradients of
its outputs, and returns one gradient, or None, for each input.
"""

from __future__ import annotations

import importlib
from typing import Any, Callable

_functions: dict[str, Callable[..., Any] | None] = {}
_loaded = False
_MODULES = "unary binary product reduction array gather nn conv linalg fourier random special sparse flow call".split()


class RegisterGradient:
    """Decorates the function that gives the gradient of an op type: `@RegisterGradient("Square")` above `def f(op, grad)`."""

    def __init__(self, op_type: str) -> None:
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string")
        self._op_type = op_type

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        if self._op_type in _functions and _loaded:
            raise KeyError(f"Registering two gradient with name '{self._op_type}'!")
        _functions[self._op_type] = function
        return function


def no_gradient(op_type: str) -> None:
    """Says that ops of a type have no gradient, so that asking for one gives None."""
    _functions[op_type] = None


def gradient(*op_types: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The decorated function is the gradient of all of them."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        for op_type in op_types:
            _functions[op_type] = function
        return function

    return register


def lookup(op_type: str) -> Callable[..., Any] | None:
    """The function; None where nothing flows back. LookupError where nobody has said."""
    global _loaded
    if not _loaded:
        for module in _MODULES:
            importlib.import_module(f"emplace.gradients.{module}_grad")
        _loaded = True
    if op_type not in _functions:
        raise LookupError(f"gradient registry has no entry for: {op_type}")
    return _functions[op_type]
