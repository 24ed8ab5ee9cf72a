"""Initial values made of other variables: read so that the order of initialization is free."""

from __future__ import annotations

from typing import Any

from emplace.framework import ops
from emplace.framework.graph_collections import GraphKeys

# These ask a variable about itself, or are its guarded value already.
_LEFT_ALONE = ("IsVariableInitialized", "VarIsInitializedOp", "ReadVariableOp", "If")
_VARIABLES = ("Variable", "VariableV2", "VarHandleOp")


def guarded(name: str, value: Any) -> Any:
    """`value` computed from the initial values of the variables that are not initialized yet: the
    nodes between them and it are made again, under names that end in `name`."""
    try:
        return _Guard(name).tensor(value)
    except _Cycle:
        return value


class _Cycle(Exception):
    pass


class _Guard:
    def __init__(self, name: str) -> None:
        self._name = name
        self._made: dict[Any, Any] = {}
        self._open: set[Any] = set()

    def tensor(self, tensor: Any) -> Any:
        op = tensor.op
        if op not in self._made:
            if op in self._open:
                raise _Cycle
            self._open.add(op)
            self._made[op] = self._operation(op)
        return self._made[op].outputs[tensor.value_index]

    def _operation(self, op: Any) -> Any:
        if op.type in _LEFT_ALONE:
            return op
        if op.type in _VARIABLES:
            variable = _variable_of(op)
            return op if variable is None else variable.initialized_value().op
        inputs = [self.tensor(t) for t in op.inputs]
        if all(new is old for new, old in zip(inputs, op.inputs)):
            return op
        kind = "Switch" if op.type == "RefSwitch" else op.type
        name = f"{op.name}_{self._name}".replace(":", "_")
        return op.graph.create_op(kind, inputs, name=name, attrs=_attributes(op))


def _variable_of(op: Any) -> Any:
    for key in (GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES):
        for variable in ops.get_collection(key):
            if variable.op is op:
                return variable
    return None


def _attributes(op: Any) -> Any:
    return {name: op.get_attr(name) for name in op.node_def.attr}
