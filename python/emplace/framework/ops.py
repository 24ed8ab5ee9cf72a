"""The default graph, its scopes, and the names the rest of the package builds with."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import Any

from emplace import _core
from emplace.framework import dtypes, errors
from emplace.framework.default_stacks import _default_graphs, _default_sessions, get_default_session
from emplace.framework.device_scope import _canonical_device, device_text as _device_text
from emplace.framework.graph import Graph, _op_of
from emplace.framework.graph_collections import GraphKeys
from emplace.framework.operation import Operation
from emplace.framework.tensor import IndexedSlices, Tensor

_core.set_exception_factory(errors.from_core)
_core.set_classes(Tensor, Operation, dtypes._BY_NUMBER)
_core.set_package_folder(os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep)


_global_graph: Graph | None = None


def get_default_graph() -> Graph:
    global _global_graph
    if _default_graphs.stack:
        return _default_graphs.stack[-1]
    if _global_graph is None:
        _global_graph = Graph()
    return _global_graph


def has_default_graph() -> bool:
    return bool(_default_graphs.stack) or _global_graph is not None


def reset_default_graph() -> None:
    global _global_graph
    if _default_graphs.stack:
        raise AssertionError("Do not use tf.reset_default_graph() to clear nested graphs. If you need a cleared graph, exit the nesting and create a new graph.")
    _global_graph = Graph()


# ---- Converting values; the rest is in constant_op and gen.


def convert_to_tensor(value: Any, dtype: Any = None, name: str | None = None, preferred_dtype: Any = None, dtype_hint: Any = None, as_ref: bool = False) -> Any:
    from emplace.framework import constant_op

    return constant_op.convert_to_tensor(value, dtype, name, preferred_dtype or dtype_hint, as_ref)


def constant_value(tensor: Any) -> Any:
    """The value of a tensor known while building (a constant, or what follows from constants)."""
    from emplace.framework import constant_op

    return constant_op.constant_value(tensor)


def device(device_name_or_function: Any) -> Any:
    return get_default_graph().device(device_name_or_function)


def control_dependencies(control_inputs: Any) -> Any:
    return get_default_graph().control_dependencies(control_inputs)


def colocate_with(op: Any, ignore_existing: bool = False) -> Any:
    if hasattr(op, "_numpy_of_eager") or getattr(op, "_is_eager", False):
        return contextlib.nullcontext()
    return get_default_graph().colocate_with(op, ignore_existing)


def add_to_collection(name: Any, value: Any) -> None:
    get_default_graph().add_to_collection(name, value)


def add_to_collections(names: Any, value: Any) -> None:
    get_default_graph().add_to_collections(names, value)


def get_collection(key: Any, scope: str | None = None) -> list[Any]:
    return get_default_graph().get_collection(key, scope)


def get_collection_ref(key: Any) -> list[Any]:
    return get_default_graph().get_collection_ref(key)


class name_scope:
    """`with tf.name_scope(name, default_name, values) as scope`."""

    def __init__(self, name: Any, default_name: str | None = None, values: Any = None) -> None:
        if not (name is None or isinstance(name, str)):
            raise TypeError(f"`name` for name_scope must be a string, got {name!r}")
        self._name = default_name if name is None else name
        self._values = values
        if name is None and values is not None and self._name is None:
            raise ValueError(f"At least one of name ({name}) and default_name ({default_name}) must be provided.")

    @property
    def name(self) -> Any:
        return self._name

    def __enter__(self) -> str:
        from emplace.framework import dispatch

        self._graph_scope: Any = None
        if dispatch.runs_eagerly is not None and dispatch.runs_eagerly(self._values or ()):
            return f"{self._name}/"
        graph = graph_of(self._values) if self._values else get_default_graph()
        self._graph_scope = graph.as_default()
        self._graph_scope.__enter__()
        self._scope = graph.name_scope(self._name)
        try:
            return self._scope.__enter__()
        except BaseException:
            self._graph_scope.__exit__(*sys.exc_info())
            raise

    def __exit__(self, *e: Any) -> None:
        if self._graph_scope is not None:
            self._scope.__exit__(*e)
            self._graph_scope.__exit__(*e)


def graph_of(values: Any) -> Graph:
    for v in values:
        if isinstance(v, (Tensor, Operation, IndexedSlices)):
            return v.graph
        if hasattr(v, "_as_graph_element"):
            return v.graph
    return get_default_graph()


def is_tensor(value: Any) -> bool:
    """A tensor, of a graph or of eager execution, or something that stands for one."""
    return isinstance(value, Tensor) or hasattr(value, "_dense_var_to_tensor") or hasattr(value, "_numpy_of_eager") or isinstance(value, IndexedSlices)
