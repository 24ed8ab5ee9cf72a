"""Variables that go with other variables: an optimizer's moments, a moving average."""

from __future__ import annotations

import contextlib
from typing import Any

from emplace.framework import init_ops, ops, tensor_shape, variable_scope, variables
from emplace.framework.resource_variables import is_resource_variable


def is_eager(variable: Any) -> bool:
    """One of an eager program, in its functions too."""
    return getattr(variable, "_is_eager", False)


def name_of(variable: Any) -> str:
    """A variable's name as the names of what belongs to it begin."""
    return str(variable._shared_name if is_eager(variable) else variable.op.name)


def reference(variable: Any) -> Any:
    """What operations that change a variable take."""
    return variable._captured() if is_eager(variable) else variable._ref()


def create(primary: Any, name: str, initializer: Any = None, colocate: bool = True, shape: Any = None, dtype: Any = None) -> Any:
    """`PRIMARY/NAME`, beside the primary, of its shape and type and zeros unless told."""
    initializer = init_ops.Zeros() if initializer is None else initializer
    if is_eager(primary):  # in its functions too
        sizes, kind = tensor_shape.as_shape(primary.shape if shape is None else shape).as_list(), primary.dtype if dtype is None else dtype
        start = (lambda: initializer(sizes, dtype=kind)) if callable(initializer) else initializer
        return _eager_variable(primary, start, f"{name_of(primary)}/{name}")
    how: dict[str, Any] = {"use_resource": is_resource_variable(primary), "trainable": False}
    if callable(initializer):
        shape, dtype = primary.shape if shape is None else shape, primary.dtype.base_dtype if dtype is None else dtype
    else:
        shape, dtype, how["validate_shape"] = None, None, initializer.shape.is_fully_defined()
    with variable_scope.variable_scope(None, f"{primary.op.name}/{name}", auxiliary_name_scope=False, reuse=None):
        full = variable_scope.get_variable_scope().name
    beside = colocate and not hasattr(primary, "_restored")  # a strategy's is where its copies are
    with ops.colocate_with(primary) if beside else contextlib.nullcontext():
        return variable_scope.get_absolute(full, shape, dtype, initializer, **how)


def alone(beside: Any, initial_value: Any, name: str) -> Any:
    """A variable that belongs to no other one, of the kind of the one beside it."""
    if is_eager(beside):
        return _eager_variable(beside, initial_value, name)
    return variables.Variable(initial_value, name=name, trainable=False, use_resource=is_resource_variable(beside))


def _eager_variable(beside: Any, initial_value: Any, name: str) -> Any:
    from emplace.eager import context, variables

    with context.device(beside.device or None) if context.outside_graph() else contextlib.nullcontext():
        return variables.Variable(initial_value, trainable=False, name=name)
