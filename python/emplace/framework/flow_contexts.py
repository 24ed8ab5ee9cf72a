"""Branches and loops while they are built: what is made inside, and how values get in.

A graph holds the context that is being built; each node made then is shown to it. The context puts
a Switch (in a branch) or an Enter (in a loop) before every value from outside, and ties nodes
without inputs to its pivot, so that they run only when the branch or the iteration does.
"""

from __future__ import annotations

import contextlib
from typing import Any, Iterator

from emplace.framework import array_ops, ops
from emplace.framework.dispatch import execute as _op

_CONTEXTS = "flow_contexts_of_ops"


def current(graph: Any = None) -> "Context | None":
    return (graph or ops.get_default_graph())._thread.flow_context


def entered(context: "Context | None") -> Any:
    """Nodes are made in `context`; None: in no branch and no loop."""
    return ops.get_default_graph()._within(context, None if context is None else context.add_op)


@contextlib.contextmanager
def outside() -> Iterator[None]:
    """In no context, with no control dependencies."""
    with ops.control_dependencies(None):
        yield


def of_op(op: Any) -> "Context | None":
    """The innermost context of an operation."""
    return op.graph._extra.get(_CONTEXTS, {}).get(op._id)


def set_of_op(op: Any, context: "Context | None") -> None:
    op.graph._extra.setdefault(_CONTEXTS, {})[op._id] = context


def output_context(op: Any) -> "Context | None":
    """Where what the operation gives is used: an Exit hands its value out of its loop."""
    context = of_op(op)
    if is_exit(op) and context is not None:
        context = context.outer
    return context


def _check_inputs(op: Any, context: "Context | None" = None) -> None:
    """Refuses values of a loop outside of it; a gradient's loop gets them by stacks."""
    loop = enclosing_loop(context)
    for t in op.inputs:
        home = enclosing_loop(output_context(t.op))
        if home is None or home.contains(loop) or loop is not None and (loop.grad_state or home.grad_state):
            continue
        why = f"'{t.op.name}' is in a while loop" if loop is None else "they are in different while loops"
        raise ValueError(f"Cannot use '{t.op.name}' as input to '{op.name}' because {why}. See info log for more details.")


def is_switch(op: Any) -> bool:
    return op.type in ("Switch", "RefSwitch")


def is_merge(op: Any) -> bool:
    return op.type in ("Merge", "RefMerge")


def is_enter(op: Any) -> bool:
    return op.type in ("Enter", "RefEnter")


def is_exit(op: Any) -> bool:
    return op.type in ("Exit", "RefExit")


def is_constant_enter(op: Any) -> bool:
    return is_enter(op) and bool(op.get_attr("is_constant"))


def enclosing_loop(context: "Context | None") -> "Context | None":
    while context is not None and not context.is_loop:
        context = context.outer
    return context


def key(t: Any) -> tuple[int, int]:
    return t.op._id, t.value_index


def switch(data: Any, pred: Any, name: str | None = None) -> Any:
    """Both ways of a value, on its device."""
    with ops.colocate_with(data, ignore_existing=True):
        if data.dtype._is_ref_dtype:
            return _op("RefSwitch", [data, pred], {}, name or "Switch")
        return _op("Switch", [data, pred], {}, name)


def merge(values: list[Any], name: str | None = None) -> Any:
    if all(v.dtype._is_ref_dtype for v in values):
        return _op("RefMerge", [values], {}, name)
    return _op("Merge", [values], {}, name)


class Context:
    """What branches and loops share: the values they know, and the context around them."""

    is_loop = False

    def __init__(self) -> None:
        self.outer = current()
        self.values: set[tuple[int, int]] = set()
        self.external: dict[tuple[int, int], Any] = {}
        self.pivot: Any = None
        self.grad_state: Any = None
        self.name = ""

    # ---- Values.

    def knows(self, t: Any) -> bool:
        return key(t) in self.values

    def note(self, t: Any) -> None:
        self.values.add(key(t))

    def add_value(self, value: Any) -> Any:
        """`value` as it is inside."""
        raise NotImplementedError

    # ---- Operations.

    def contains(self, context: "Context | None") -> bool:
        while context is not None:
            if context is self:
                return True
            context = context.outer
        return False

    def add_op(self, op: Any) -> None:
        _check_inputs(op, self)
        set_of_op(op, self)
        self._keep_in(op)
        if op.inputs:
            self._take_inputs(op)
        else:
            self._tie(op)
        context: Context | None = self
        while context is not None:
            for t in op.outputs:
                context.note(t)
            context = context.outer

    def _keep_in(self, op: Any) -> None:
        """A step can't have what may not be computed, or more than once."""
        if not is_exit(op):
            op.graph.prevent_fetching(op)

    def _take_inputs(self, op: Any) -> None:
        with ops.name_scope(op.name + "/"):
            for i, t in enumerate(op.inputs):
                inside = self.add_value(t)
                if inside is not t:
                    op._update_input(i, inside)

    def _tie(self, op: Any) -> None:
        if not any(self.contains(of_op(c)) for c in op.control_inputs):
            op._add_control_input(self.control_pivot.op)

    @property
    def control_pivot(self) -> Any:
        return self.pivot

    @property
    def loop(self) -> "Context | None":
        """The innermost loop around, this one included."""
        return enclosing_loop(self)

    def exit_result(self, results: list[Any]) -> None:
        if self.outer is not None:
            for r in results:
                self.outer.note(r)


class CondContext(Context):
    """One branch of a cond."""

    def __init__(self, pred: Any, pivot: Any, branch: int) -> None:
        super().__init__()
        self.pred, self.pivot, self.branch = pred, pivot, branch
        self.name = pivot.op.name
        self.note(pred)
        self.note(pivot)
        self.external[key(pred)] = pred
        self.external[key(pivot)] = pivot
        self.pivot_owner = of_op(pivot.op)
        set_of_op(pivot.op, self)

    def add_value(self, value: Any) -> Any:
        return self._switched(value, outside())

    def add_result(self, value: Any) -> Any:
        """A value from outside that the branch returns as it is: the only one that the control
        dependencies around the cond hold for."""
        return self._switched(value, contextlib.nullcontext())

    def _switched(self, value: Any, where: Any) -> Any:
        if self.knows(value):
            return self.external.get(key(value), value)
        self.note(value)
        result = value
        if self.outer is not None:
            result = self.outer.add_value(value)
            self.note(result)
            self.external[key(result)] = result
        with where:
            result = switch(result, self.pred)[self.branch]
        set_of_op(result.op, self)
        self._keep_in(result.op)
        if self.outer is not None:
            _note_in(self.outer, result.op)
        self.note(result)
        self.external[key(value)] = result
        return result


def _note_in(context: Context | None, op: Any) -> None:
    while context is not None:
        for t in op.outputs:
            context.note(t)
        context = context.outer


def identity_inside(value: Any, name: str | None = None) -> Any:
    return array_ops.identity(value, name=name)
