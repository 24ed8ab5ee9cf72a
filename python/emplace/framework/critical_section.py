"""`tf.CriticalSection`: functions that never run two at a time."""

from __future__ import annotations

import itertools
from typing import Any, Callable

from emplace.eager import nest
from emplace.framework import array_ops, dispatch, ops
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import name_scope

_unnamed = itertools.count()


class CriticalSection:
    """Runs one function at a time of those that are given to it, in no particular order."""

    def __init__(self, name: str | None = None, shared_name: str | None = None, critical_section_def: Any = None, import_scope: Any = None) -> None:
        if critical_section_def is not None:
            raise NotImplementedError("a critical section can't be made from a message")
        eager = dispatch.executing_eagerly()
        with name_scope(name, "CriticalSection", []):
            shared = f"CriticalSection_{next(_unnamed)}" if eager and shared_name is None else shared_name or ""
            self._handle = _op("MutexV2", [], {"shared_name": shared, "container": ""}, name)
        self._name = name or "CriticalSection"

    @property
    def name(self) -> str:
        return self._name if dispatch.executing_eagerly() else self._handle.op.name

    def execute(self, fn: Callable[[], Any], exclusive_resource_access: bool = True, name: str | None = None) -> Any:
        """What `fn` returns; nobody else is in this section meanwhile."""
        with name_scope(name, "critical_section_execute", []):
            lock = _op("MutexLock", [self._handle], {}, None)
            if dispatch.executing_eagerly():
                try:
                    return fn()
                finally:
                    _op("ConsumeMutexLock", [lock], {}, None)
            return self._in_graph(fn, lock)

    def _in_graph(self, fn: Callable[[], Any], lock: Any) -> Any:
        graph = ops.get_default_graph()
        before = len(graph.get_operations())
        with ops.control_dependencies([lock]):
            made = fn()
        inside = graph.get_operations()[before:]
        # Everything that the function made is over when the lock is given back.
        with ops.control_dependencies([o for o in inside if o is not lock.op]):
            given_back = _op("ConsumeMutexLock", [lock], {}, None)
        if made is None or isinstance(made, ops.Operation):
            return given_back
        with ops.control_dependencies([given_back]):
            return nest.map_structure(lambda t: array_ops.identity(t) if isinstance(t, ops.Tensor) else t, made)
