"""The graphs of traced functions, of branches and of loops' bodies.

What is made while such a graph is the default one belongs to it: tensors of the graphs around it,
and eager ones, come in as captured inputs.
"""

from __future__ import annotations

import itertools
import re
import threading
from typing import Any

from emplace import _core
from emplace.framework import array_ops, constant_op, errors, ops

_RESOURCE, _VARIANT = 20, 21
_SMALL = 128  # eager tensors of so many elements come in as constants
_numbers = itertools.count()
_defining = threading.RLock()  # graphs share what they call
# Made anew, not captured, by the graphs of gradients.
_READS = frozenset({"ReadVariableOp", "ResourceGather", "ResourceGatherNd", "VariableShape", "VarIsInitializedOp", "LookupTableFindV2", "LookupTableSizeV2"})
_UNORDERED = re.compile(
    r"VarHandleOp$|Random|Multinomial|TruncatedNormal|ParameterizedTruncatedNormal|StatelessIf|Placeholder|Optional"
)


def eager_seed() -> Any:
    """What tf.random.set_seed was told: a function's graph begins from it."""
    from emplace.eager.functions import random

    return random._global_seed


def is_eager(t: Any) -> bool:
    return hasattr(t, "_numpy_of_eager")


def trainable(dtype: Any) -> bool:
    return dtype.is_floating or dtype.is_complex or dtype._enum in (_RESOURCE, _VARIANT)


def number() -> int:
    return next(_numbers)


class Body:
    """A graph as nodes call it: with these inputs and outputs."""

    def __init__(self, graph: "FuncGraph", inputs: list[Any], outputs: list[Any]) -> None:
        self.graph, self.inputs, self.outputs = graph, inputs, outputs

    def extended(self, inputs: list[Any], outputs: list[Any]) -> "Body":
        return Body(self.graph, self.inputs + inputs, self.outputs + outputs)


class FuncGraph(ops.Graph):
    """One function's graph. `outer_graph`: where it is called, None for eager code."""

    def __str__(self) -> str:
        return f"FuncGraph(name={self.name}, id={id(self)})"

    def __init__(self, name: str, outer: Any = None) -> None:
        super().__init__()
        self._captures = True  # for the C side
        self.name, self.outer_graph = name, outer
        self.inputs: list[Any] = []
        self.outputs: list[Any] = []
        self.structured_outputs: Any = None
        self.control_outputs: list[Any] = []
        self.captured: dict[int, tuple[Any, Any, Any]] = {}  # id -> (outside, inside, kept alive)
        self.variables: dict[int, Any] = {}
        self.bodies: dict[str, Body] = {}
        self.stateful = False
        self._defined: set[str] = set()
        self._seed = outer._seed if outer is not None else eager_seed()

    building_function = True

    # ---- Inputs.

    def argument(self, dtype: Any, shape: Any, name: str | None = None) -> Any:
        made = self._stand_in(dtype, shape, name)
        self.inputs.append(made)
        return made

    def _stand_in(self, dtype: Any, shape: Any, name: str | None) -> Any:
        with self.as_default(), self.control_dependencies(None), self.device(None):
            return array_ops.placeholder(dtype.base_dtype, None if dtype._enum == _RESOURCE else shape, name=name)

    def inside(self, value: Any) -> Any:
        """The value as operations of this graph may take it."""
        if isinstance(value, ops.SymbolicTensor):
            return value if value.graph is self else self._capture(value)
        return self._capture(value) if is_eager(value) else value

    def _capture(self, value: Any, name: str | None = None) -> Any:
        found = self.captured.get(id(value))
        if found is None:
            outside = self._outside(value)
            again = self.captured.get(id(outside))
            inner = again[1] if again is not None else self._entering(outside, name)
            found = self.captured[id(value)] = (outside, inner, value)
            self.captured.setdefault(id(outside), found)
        return found[1]

    def _outside(self, value: Any) -> Any:
        """The value as the graph around this one has it."""
        if is_eager(value):
            return value
        if self.outer_graph is None:
            raise errors.InaccessibleTensorError(f"{ops.out_of_scope(value)}\nThe tensor {value!r} cannot be accessed from {self!r}, because it was defined in {value.graph!r}, which is out of scope.")
        return value if value.graph is self.outer_graph else self.outer_graph.inside(value)

    def _entering(self, value: Any, name: str | None) -> Any:
        if is_eager(value) and value.dtype._enum not in (_RESOURCE, _VARIANT) and value.shape.num_elements() <= _SMALL:
            with self.as_default(), self.control_dependencies(None), self.device(None):
                inner = constant_op._const(value._numpy_of_eager(), value.dtype, name)
        else:
            inner = self._stand_in(value.dtype, value.shape, name)
        self.inputs.append(inner)
        return inner

    @property
    def captures(self) -> list[tuple[Any, Any]]:
        """(outside, inside) in the order of the inputs."""
        made = {id(inner): outside for outside, inner, _ in self.captured.values()}
        return [(made[id(i)], i) for i in self.inputs if id(i) in made]

    def all_variables(self) -> dict[int, Any]:
        found = dict(self.variables)
        for graph in self.graphs_inside():
            found.update(graph.variables)
        return found

    def graphs_inside(self) -> list[Any]:
        """Of what nodes call, here and in those graphs: each once, outer ones first."""
        found: dict[int, Any] = {}
        stack = [self]
        while stack:
            graph = stack.pop()
            found[id(graph)] = graph
            stack += [b.graph for b in reversed(graph.bodies.values()) if id(b.graph) not in found]
        return list(found.values())[1:]

    def _control_nodes(self, control_inputs: Any) -> Any:
        """What belongs to the graphs around has run before."""
        here = [c for c in control_inputs if not is_eager(c) and getattr(c, "graph", self) is self]
        return super()._control_nodes(here)

    # ---- Outputs.

    def finish(self, outputs: list[Any]) -> None:
        """`outputs`, tensors, are the results; state is changed in the order it was written down."""
        with self.as_default(), self.control_dependencies(None):
            must_run = order_effects(self)
            made = [array_ops.identity(self.inside(t)) for t in outputs]
            if must_run:
                self.stateful = True
                self.control_outputs = must_run
                if made:
                    with self.control_dependencies(must_run):
                        done = self._add("NoOp", [], {}, None)
                    for t in made:
                        self._core.add_control_input(t.op._node, done._node)
        self.outputs = made

    # ---- Functions.

    def add_body(self, name: str, body: Body) -> None:
        self.bodies[name] = body

    def define(self) -> None:
        """What nodes call is known to the engine's graph, and to those inside."""
        with _defining:
            for graph in (*reversed(self.graphs_inside()), self):
                for name, body in graph._all_bodies().items():
                    if name not in graph._defined:
                        graph._defined.add(name)
                        _define(graph, name, body)

    def _all_bodies(self) -> dict[str, Body]:
        return {name: body for graph in (*self.graphs_inside(), self) for name, body in graph.bodies.items()}

    def as_graph_def(self, *args: Any, **kwargs: Any) -> Any:
        self.define()
        return super().as_graph_def(*args, **kwargs)


def _define(graph: FuncGraph, name: str, body: Body) -> None:
    inner = body.graph
    controls = [op._node for op in inner.control_outputs]
    _core.define_function(
        graph._core, name, inner._core, [t._out for t in body.inputs], [t._out for t in body.outputs], controls,
        _argument_names(body.inputs), _argument_names(body.outputs), inner.stateful,
    )


def define_in(graph: Any, name: str, body: Body) -> None:
    """For a graph that is no function's: `body`, and what its nodes call."""
    body.graph.define()
    for inner, b in {**body.graph._all_bodies(), name: body}.items():
        _define(graph, inner, b)


def _argument_names(tensors: list[Any]) -> list[str]:
    names, taken = [], set()
    for t in tensors:
        name = base = re.sub(r"[^a-z0-9_]", "_", t.op.name.lower()).lstrip("_0123456789") or "arg"
        n = 0
        while name in taken:
            n += 1
            name = f"{base}_{n}"
        taken.add(name)
        names.append(name)
    return names


def has_state(op: Any) -> bool:
    d = _core.find_op(op.type)
    return d is None or d.stateful


def order_effects(graph: FuncGraph) -> list[Any]:
    """Adds the control edges that keep reads and writes of state in their order; what must run."""
    given = {t.op._id for t in graph.inputs}
    written: dict[int, Any] = {}
    reads: dict[int, list[Any]] = {}
    last, must_run = None, []
    for op in graph.get_operations():
        if op._id in given or not has_state(op):
            continue
        must_run.append(op)
        resources = {id(t): t for t in op.inputs if t.dtype._enum == _RESOURCE}
        before = []
        if resources:
            for key in resources:
                before.append(written.get(key))
                if op.type in _READS or _only_reads(graph, op, key):
                    reads.setdefault(key, []).append(op)
                else:
                    before += reads.pop(key, [])
                    written[key] = op
        if not resources and not _UNORDERED.search(op.type):
            before.append(last)
            last = op
        have = {c._id for c in op.control_inputs} | {t.op._id for t in op.inputs}
        for b in before:
            if b is not None and b is not op and b._id not in have:
                have.add(b._id)
                graph._core.add_control_input(op._node, b._node)
    return must_run


def _only_reads(graph: FuncGraph, op: Any, resource: int) -> bool:
    """Does a call only read what this input stands for?"""
    names = called(op)
    if not names:
        return False
    first = {"If": 1, "Case": 1}.get(op.type, 0)
    for name in names:
        body = graph.bodies.get(name)
        if body is None:
            return False
        for outer, inner in zip(list(op.inputs)[first:], body.inputs):
            if id(outer) == resource and any(
                t is inner and u.type not in _READS and not _only_reads(body.graph, u, id(inner)) and has_state(u)
                for u in body.graph.get_operations() for t in u.inputs
            ):
                return False
    return True


_CALLS = {
    "If": ("then_branch", "else_branch"), "StatelessIf": ("then_branch", "else_branch"), "While": ("cond", "body"),
    "StatelessWhile": ("cond", "body"), "PartitionedCall": ("f",), "StatefulPartitionedCall": ("f",),
    "Case": ("branches",), "StatelessCase": ("branches",),
}  # fmt: skip


def called(op: Any) -> list[str]:
    """The names of the functions that an operation calls."""
    found: list[str] = []
    for attr in _CALLS.get(op.type, ()):
        value = op._node.attr(attr)
        found += value if isinstance(value, list) else [value]
    return [v.decode() if isinstance(v, bytes) else getattr(v, "name", v) for v in found]


def lifted(tensor: Any) -> Any:
    """The value of a tensor of the function that is being traced, where no argument of it is needed; else the tensor."""
    from emplace.eager import context

    graph = innermost()
    if graph is None or tensor.graph is not graph:
        return tensor
    outside = {id(inner): value for value, inner in graph.captures}
    taken, seen, stack = [], set(), [tensor]
    while stack:
        t = stack.pop()
        if id(t) in outside and is_eager(outside[id(t)]):
            taken.append(t)
        elif any(t is given for given in graph.inputs):
            return tensor
        elif t.op._id not in seen:
            seen.add(t.op._id)
            stack.extend(t.op.inputs)
    taken = list({id(t): t for t in taken}.values())
    context.engine()
    graph.define()
    program = _core.graph_program(graph._core, [t._out for t in taken], [tensor._out], [], "")
    return program.run([outside[id(t)] for t in taken])[0]


def innermost() -> FuncGraph | None:
    """The function that is being traced."""
    stack = ops._default_graphs.stack
    return stack[-1] if stack and isinstance(stack[-1], FuncGraph) else None
