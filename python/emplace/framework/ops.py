"""The default graph, its scopes, and the names the rest of the package builds with."""

from __future__ import annotations

import contextlib
import os
from typing import Any

from emplace import _core
from emplace.framework import dispatch, dtypes, errors
from emplace.framework.default_stacks import _default_graphs, _default_sessions, get_default_session
from emplace.framework.graph import Graph, _op_of
from emplace.framework.graph_collections import GraphKeys
from emplace.framework.operation import Operation
from emplace.framework.tensor import IndexedSlices, SymbolicTensor, Tensor, TensorLike
from emplace.framework.thread_state import own

_core.set_exception_factory(errors.from_core)
_core.set_classes(SymbolicTensor, Operation, dtypes._BY_NUMBER)
_core.set_package_folder(os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep)


_constants: Any = None


def get_default_graph() -> Graph:
    """The graph to which this thread adds ops."""
    stack = _default_graphs.stack
    if stack:
        return stack[-1]
    if own.root_graph is None:
        own.root_graph = Graph()
    return own.root_graph


def reset_default_graph() -> None:
    """Begins a new default graph; what was made before belongs to the old one."""
    if len(_default_graphs.stack) > own.builds_graphs:
        raise AssertionError("Do not use tf.reset_default_graph() to clear nested graphs. If you need a cleared graph, exit the nesting and create a new graph.")
    own.root_graph = Graph()
    _default_graphs.stack[:] = [own.root_graph] * own.builds_graphs


def build_graphs() -> None:
    """This thread's default graph is as if in a `with` that never ends: nothing runs eagerly any more."""
    if not _default_graphs.stack:
        own.builds_graphs = True
        own.root_graph = Graph() if own.root_graph is None else own.root_graph
        _default_graphs.stack.append(own.root_graph)


# ---- Converting values; the rest is in constant_op and gen.


def _constant_op() -> Any:
    global _constants
    if _constants is None:
        from emplace.framework import constant_op as _constants  # it builds on this module
    return _constants


def convert_to_tensor(value: Any, dtype: Any = None, name: str | None = None, preferred_dtype: Any = None, dtype_hint: Any = None, as_ref: bool = False) -> Any:
    return _constant_op().convert_to_tensor(value, dtype, name, preferred_dtype or dtype_hint, as_ref)


def constant_value(tensor: Any) -> Any:
    """The value of a tensor known while building (a constant, or what follows from constants)."""
    return _constant_op().constant_value(tensor)


def device(device_name_or_function: Any) -> Any:
    """Ops made within it go to this device; a function is asked for each op."""
    return get_default_graph().device(device_name_or_function)


def control_dependencies(control_inputs: Any) -> Any:
    """Ops made within it run after these; None forgets those in force. What is not in a graph has run."""
    if dispatch.executing_eagerly():
        if callable(control_inputs):
            control_inputs()
        return contextlib.nullcontext()
    return get_default_graph().control_dependencies(control_inputs)


def colocate_with(op: Any, ignore_existing: bool = False) -> Any:
    """Ops made within it go where `op` is."""
    if hasattr(op, "_numpy_of_eager") or getattr(op, "_is_eager", False):
        return contextlib.nullcontext()
    return get_default_graph().colocate_with(op, ignore_existing)


def add_to_collection(name: Any, value: Any) -> None:
    """Adds a value to a collection of the default graph."""
    get_default_graph().add_to_collection(name, value)


def add_to_collections(names: Any, value: Any) -> None:
    """Adds a value to several collections of the default graph."""
    get_default_graph().add_to_collections(names, value)


def get_collection(key: Any, scope: str | None = None) -> list[Any]:
    """A copy of a collection of the default graph; with `scope` only names that match this regular expression."""
    return get_default_graph().get_collection(key, scope)


def get_collection_ref(key: Any) -> list[Any]:
    """The list itself that is a collection of the default graph."""
    return get_default_graph().get_collection_ref(key)


name_scope = _core.NameScope


def graph_of(values: Any) -> Graph:
    """The graph of the first tensor among `values`, else the default one; a function that is being
    traced takes tensors of the graphs around it in."""
    if _default_graphs.stack and _default_graphs.stack[-1]._captures:
        return _default_graphs.stack[-1]
    for v in values or ():
        if isinstance(v, (SymbolicTensor, Operation, IndexedSlices)):
            if type(v) is SymbolicTensor and v.graph._captures and not _default_graphs.stack:
                raise TypeError(out_of_scope(v))
            return v.graph
        if hasattr(v, "_as_graph_element"):
            return v.graph
    return get_default_graph()


def user_line(source: str) -> str:  # replaced where code is converted
    return source


def out_of_scope(value: Any) -> str:
    """What is said of a function's tensor where that function is not being traced."""
    return (
        f"{value!r} is out of scope and cannot be used here. Use return values, explicit Python locals or TensorFlow collections to access it.\n"
        "Please see https://www.tensorflow.org/guide/function#all_outputs_of_a_tffunction_must_be_return_values for more information.\n\n"
        f"{value!r} was defined here:\n    {user_line(value.op.traceback[0])}\n"
    )


def is_tensor(value: Any) -> bool:
    """A tensor, of a graph or of eager execution, or something that stands for one."""
    return isinstance(value, TensorLike) or getattr(value, "_is_tensor", False) is True or hasattr(value, "_dense_var_to_tensor") or hasattr(value, "_numpy_of_eager") or isinstance(value, IndexedSlices)


_core.set_name_scopes(_default_graphs, graph_of, dispatch)
