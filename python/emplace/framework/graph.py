"""Graphs: building, scopes, state."""

from __future__ import annotations

import contextlib
import re
import threading
from typing import Any, Iterator, NamedTuple

from emplace import _core
from emplace.framework import default_stacks, device_scope, graph_collections, graph_lookup, thread_state
from emplace.framework.operation import Operation
from emplace.framework.tensor import IndexedSlices, Tensor

_SCOPE_NAME = re.compile(r"^[A-Za-z0-9_.\\/>-]*$")
_OP_NAME = re.compile(r"^[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*$")


class _Blocks(NamedTuple):
    """What the blocks around say of the nodes that a thread makes; the C side knows the order."""

    attrs: dict[str, Any] = {}  # that every node gets
    gradients: dict[str, str] = {}  # op type -> its gradient's name
    on_node: Any = None  # called with each; None: as the graph says, False: nothing is


_NO_BLOCKS = _Blocks()
_NOTHING = contextlib.nullcontext()


class _Block:
    """`with`: another block is the innermost of the calling thread's in a graph."""

    __slots__ = ("_graph", "_said", "_before")

    def __init__(self, graph: Any, blocks: _Blocks, context: Any) -> None:
        self._graph, self._said = graph, (blocks, context)

    def __enter__(self) -> None:
        graph, thread = self._graph, self._graph._thread
        self._before = graph._blocks, thread.flow_context
        graph._blocks, thread.flow_context = self._said

    def __exit__(self, *_: Any) -> None:
        self._graph._blocks, self._graph._thread.flow_context = self._before


class Graph(graph_lookup.Lookup, graph_collections.Collections, _core.GraphBase):
    """A graph of operations; building, looking up, scopes, collections."""

    def __init__(self) -> None:
        self._bind(_core.Graph())
        self._collections: dict[Any, list[Any]] = {}
        self._lock = threading.RLock()
        self._seed: int | None = None
        self._thread = thread_state.OfGraph()
        self._extra: dict[Any, Any] = {}
        self._unfeedable: set[Any] = set()
        self._unfetchable: set[Any] = set()
        self._functions: dict[str, Any] = {}
        self._contracts: list[Any] = []  # what `tf.placement.require` demands
        self.bodies: dict[str, Any] = {}  # of branches and loops that nodes call

    # ---- Building.

    def _add(self, op_type: str, inputs: list[Any], attrs: dict[str, Any], name: str | None) -> Operation:
        """`inputs`: tensors or engine outputs, flattened. A name that ends in `/` is taken as it is."""
        return _core.add_to_graph(self, op_type, inputs, attrs, name)

    def create_op(self, op_type: str, inputs: Any, dtypes: Any = None, input_types: Any = None, name: str | None = None, attrs: Any = None, op_def: Any = None, compute_shapes: bool = True, compute_device: bool = True) -> Operation:
        """Adds an op of any type: inputs are tensors, attributes by name; returns the Operation."""
        values = {k: getattr(v, "_plain", lambda v=v: v)() for k, v in (attrs or {}).items()}
        return self._add(op_type, list(inputs), values, name)

    @property
    def graph_def_versions(self) -> Any:
        return self.as_graph_def().versions

    # ---- What nodes call; FuncGraph has more of it.

    def inside(self, value: Any) -> Any:
        """The value as operations of this graph may take it."""
        return value

    def add_body(self, name: str, body: Any) -> None:
        """Adds a function that ops of this graph may call; the package uses it."""
        from emplace.eager import func_graph

        self.bodies[name] = body
        func_graph.define_in(self, name, body)

    # ---- Scopes.

    def as_default(self) -> Any:
        """Within it ops are added to this graph."""
        return default_stacks._default_graphs.scope(self)

    def _check_name(self, name: str) -> None:
        if self._core.current_name_scope():
            if not _SCOPE_NAME.match(name):
                raise ValueError(f"'{name}' is not a valid scope name. A scope name has to match the following pattern: {_SCOPE_NAME.pattern}")
        elif not _OP_NAME.match(name):
            raise ValueError(f"'{name}' is not a valid root scope name. A root scope name has to match the following pattern: {_OP_NAME.pattern}")

    def get_name_scope(self) -> str:
        """The name scope in force, "" outside of all."""
        return self._core.current_name_scope().rstrip("/")

    def device(self, device_name_or_function: Any) -> Any:
        """Ops made within it go to this device; a function is asked for each op."""
        return device_scope._DeviceScope(self, device_name_or_function)

    @contextlib.contextmanager
    def control_dependencies(self, control_inputs: Any) -> Iterator[None]:
        """Ops made within it run after these; None forgets those in force."""
        if control_inputs is None:
            scope = self._core.clear_control_dependencies()
            # Neither does what is made here belong to a branch or a loop that is being built.
            block = self._within(None, on_node=False) if self._blocks or self._on_node else None
        else:
            scope = self._core.control_dependencies(list(self._control_nodes(control_inputs)))
            block = None
        try:
            with block or _NOTHING:
                yield
        finally:
            scope.close()

    def _control_nodes(self, control_inputs: Any) -> Iterator[Any]:
        for c in control_inputs:
            if isinstance(c, IndexedSlices):
                c = c.op
            elif hasattr(c, "_control_op"):
                c = c._control_op
            elif not isinstance(c, (Operation, Tensor)) and hasattr(c, "_as_graph_element"):
                c = c._as_graph_element()
            c = self.as_graph_element(c)
            yield (c.op if isinstance(c, Tensor) else c)._node

    @contextlib.contextmanager
    def colocate_with(self, op: Any, ignore_existing: bool = False) -> Iterator[None]:
        """Ops made within it go where `op` is."""
        if op is None and not ignore_existing:
            raise ValueError("Trying to reset colocation (op is None) but ignore_existing is not True")
        node = None if op is None else _op_of(op, self)._node
        scope = self._core.colocate_with(node, ignore_existing)
        try:
            yield
        finally:
            scope.close()

    @contextlib.contextmanager
    def gradient_override_map(self, op_type_map: Any) -> Iterator[None]:
        """Ops made within it take their gradients from other names: {op type: registered name}."""
        if not isinstance(op_type_map, dict):
            raise TypeError("op_type_map must be a dictionary mapping strings to strings")
        with self._under(gradients={**(self._blocks or _NO_BLOCKS).gradients, **op_type_map}):
            yield

    def _attr_scope(self, attrs: dict[str, Any]) -> Any:
        return self._under(attrs={**(self._blocks or _NO_BLOCKS).attrs, **attrs})

    def _under(self, **changes: Any) -> "_Block":
        """What the thread makes here meanwhile is made under these blocks."""
        return _Block(self, (self._blocks or _NO_BLOCKS)._replace(**changes), self._thread.flow_context)

    def _within(self, context: Any, on_node: Any) -> "_Block":
        """What the thread makes here meanwhile belongs to this branch or loop."""
        around = self._blocks or _NO_BLOCKS
        return _Block(self, _Blocks(around.attrs, around.gradients, on_node), context)

    @contextlib.contextmanager
    def container(self, container_name: str) -> Iterator[str]:
        """Resources of stateful ops made within it are kept in this container."""
        with self._attr_scope({"_container": container_name}):
            yield container_name

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """A name that no op has, with a number behind it if needed."""
        return self._core.unique_name(name, mark_as_used)

    # ---- State.

    def finalize(self) -> None:
        """Forbids further ops; RuntimeError for who tries."""
        self._frozen = True

    def _unsafe_unfinalize(self) -> None:
        self._frozen = False

    @property
    def finalized(self) -> bool:
        return self._frozen or self._core.finalized()

    def _check_not_finalized(self) -> None:
        if self.finalized:
            raise RuntimeError("Graph is finalized and cannot be modified.")

    @property
    def seed(self) -> int | None:
        return self._seed

    @seed.setter
    def seed(self, value: int | None) -> None:
        self._seed = value

    @property
    def version(self) -> int:
        return self._core.num_nodes()

    @property
    def _last_id(self) -> int:
        return self._core.num_nodes()

    @property
    def building_function(self) -> bool:
        return False

    def as_graph_def(self, from_version: Any = None, add_shapes: bool = False, **_: Any) -> Any:
        """The graph as a GraphDef message, with `add_shapes` the static shapes too."""
        from emplace.framework import graph_io

        return graph_io.graph_def(self, from_version, add_shapes)

    def _repr_html_(self) -> str:
        from emplace.framework import pictures

        return pictures.graph_html(self)


def _op_of(value: Any, graph: Graph | None = None) -> Operation:
    if isinstance(value, Operation):
        return value
    if isinstance(value, (Tensor, IndexedSlices)):
        return value.op
    if hasattr(value, "op") and isinstance(value.op, Operation):
        return value.op
    from emplace.framework import constant_op

    return constant_op.convert_to_tensor(value).op
