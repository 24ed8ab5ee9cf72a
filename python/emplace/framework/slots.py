"""Variables that go with other variables: an optimizer's moments, a moving average."""

from __future__ import annotations

import contextlib
from typing import Any

from emplace.framework import init_ops, ops, variable_scope
from emplace.framework.resource_variables import is_resource_variable


def create(primary: Any, name: str, initializer: Any = None, colocate: bool = True, shape: Any = None, dtype: Any = None) -> Any:
    """`PRIMARY/NAME`, beside the primary, of its shape and type and zeros unless told."""
    initializer = init_ops.Zeros() if initializer is None else initializer
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
