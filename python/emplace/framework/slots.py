"""Variables that go with other variables: an optimizer's moments, a moving average."""

from __future__ import annotations

import contextlib
from typing import Any

from emplace.framework import init_ops, ops, variable_scope
from emplace.framework.resource_variables import is_resource_variable


def create(primary: Any, name: str, initializer: Any = None, colocate: bool = True) -> Any:
    """`PRIMARY/NAME`, beside the primary, of its shape, zeros unless told."""
    initializer = init_ops.Zeros() if initializer is None else initializer
    shape, dtype = primary.shape, primary.dtype.base_dtype
    resource = is_resource_variable(primary)
    if not callable(initializer):
        shape, dtype = None, None
    with variable_scope.variable_scope(None, f"{primary.op.name}/{name}", auxiliary_name_scope=False, reuse=None):
        full = variable_scope.get_variable_scope().name
    with ops.colocate_with(primary) if colocate else contextlib.nullcontext():
        return variable_scope.get_absolute(full, shape, dtype, initializer, use_resource=resource, trainable=False)
