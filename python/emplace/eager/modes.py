"""Which mode, which scope."""

from __future__ import annotations

import contextlib
from typing import Any, Iterator

from emplace.eager import context
from emplace.framework import ops
from emplace.framework.thread_state import own

newaxis = None


def executing_eagerly() -> bool:
    """Whether ops run when they are called, not in a graph that is being built."""
    return context.outside_graph()


def inside_function() -> bool:
    """Whether a function is being traced."""
    stack = ops._default_graphs.stack
    return bool(stack) and hasattr(stack[-1], "_capture")


class name_scope:
    """`with tf.name_scope("layer")`: names of variables, and of operations in graphs."""

    def __init__(self, name: str) -> None:
        if not isinstance(name, str):
            raise ValueError("name for name_scope must be a string.")
        self._name = name
        self._graph_scope: Any = None

    @property
    def name(self) -> str:
        return self._name

    def __enter__(self) -> str:
        if not context.outside_graph():
            self._graph_scope = ops.get_default_graph().name_scope(self._name)
            return self._graph_scope.__enter__()
        scopes = own.name_scopes
        outer = scopes[-1] if scopes else ""
        full = self._name if self._name.endswith("/") else f"{outer}{self._name}/" if self._name else ""
        scopes.append(full)
        return full

    def __exit__(self, *e: Any) -> None:
        if self._graph_scope is not None:
            scope, self._graph_scope = self._graph_scope, None
            scope.__exit__(*e)
        else:
            own.name_scopes.pop()


def get_current_name_scope() -> str:
    """The name scope in which an op made here would be, "" outside of all."""
    if not context.outside_graph():
        return ops.get_default_graph().get_name_scope()
    return own.name_scopes[-1].rstrip("/") if own.name_scopes else ""


@contextlib.contextmanager
def control_dependencies(control_inputs: Any) -> Iterator[None]:
    """Ops made within it run after these. Eagerly all have run already; callables among them are called."""
    if context.outside_graph():
        for pending in control_inputs or ():
            if callable(pending):
                pending()
        yield
        return
    with ops.get_default_graph().control_dependencies(control_inputs):
        yield


@contextlib.contextmanager
def init_scope() -> Iterator[None]:
    """Leaves the graphs that are being traced: what is made within it is made eagerly and once."""
    with ops.get_default_graph().control_dependencies(None) if own.builds_graphs else context.eager_mode():
        yield


def get_logger() -> Any:
    """The logger that the package writes to; it starts at WARN."""
    from emplace.compat.v1 import logging

    return logging.get_logger()
