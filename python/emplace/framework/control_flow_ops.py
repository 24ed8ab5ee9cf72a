"""Groups, tuples and dependencies between operations."""

from __future__ import annotations

import builtins
from typing import Any, TYPE_CHECKING

from emplace.framework import dispatch, dtypes, gen, ops
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import convert_to_tensor as _convert
from emplace.framework.ops import name_scope

if TYPE_CHECKING:
    from emplace.framework.tensor import Tensor


def no_op(name: str | None = None) -> Any:
    """An op that does nothing: something to hang control dependencies on."""
    return _op("NoOp", [], {}, name)


def _flatten(values: Any) -> Any:
    if isinstance(values, (list, builtins.tuple)):
        for v in values:
            yield from _flatten(v)
    elif isinstance(values, dict):
        for k in sorted(values):
            yield from _flatten(values[k])
    elif isinstance(values, ops.IndexedSlices):
        yield values.values
        yield values.indices
    else:
        yield values


def group(*inputs: Any, **kwargs: Any) -> Any:
    """An op that has run when all inputs, ops or tensors, have."""
    name = kwargs.pop("name", None)
    if kwargs:
        raise ValueError("Unknown keyword arguments: " + ", ".join(kwargs.keys()))
    with name_scope(name, "group_deps", builtins.list(_flatten(inputs))) as scope:
        if not inputs:
            return no_op(name=scope)
        on_device: dict[str, list[Any]] = {}
        for value in _flatten(inputs):
            if not hasattr(value, "device"):
                raise TypeError(f"'inputs' should be zero or more (nested) Tensors. Received '{value}' with type '{type(value)}'.")
            on_device.setdefault(value.device, []).append(value)
        if len(on_device) == 1:
            ((device, deps),) = on_device.items()
            return _group_on(device, deps, scope)
        roots = [_group_on(d, on_device[d], None) for d in sorted(on_device)]
        with ops.control_dependencies(roots):
            return no_op(name=scope)


def _group_on(device: str, deps: list[Any], name: str | None) -> Any:
    with ops.control_dependencies(deps), ops.device(device or None if device is None else device):
        return no_op(name=name)


def with_dependencies(dependencies: Any, output_tensor: Any, name: str | None = None) -> Any:
    with name_scope(name, "control_dependency", builtins.list(dependencies) + [output_tensor]) as scope:
        with ops.colocate_with(output_tensor), ops.control_dependencies(dependencies):
            if isinstance(output_tensor, ops.IndexedSlices):
                return ops.IndexedSlices(_op("Identity", [output_tensor.values], {}, scope), output_tensor.indices, output_tensor.dense_shape)
            output_tensor = _convert(output_tensor)
            kind = "RefIdentity" if output_tensor.dtype._is_ref_dtype and gen.has("RefIdentity") else "Identity"
            return _op(kind, [output_tensor], {}, scope)


def tuple(tensors: Any, name: str | None = None, control_inputs: Any = None) -> Any:  # noqa: A001
    """The tensors, none of them to be had before all (and `control_inputs`) are there."""
    if dispatch.executing_eagerly():
        return tensors
    with name_scope(name, "tuple", tensors):
        tensors = [t if t is None or isinstance(t, ops.Operation) or ops.is_tensor(t) else _convert(t) for t in tensors]
        gates = [t if isinstance(t, ops.Operation) else t.op for t in tensors if t is not None]
        for c in control_inputs or ():
            if ops.is_tensor(c):
                c = c.op
            elif not isinstance(c, ops.Operation):
                raise TypeError(f"'control_inputs' must only contain Operation or Tensor. Received: {type(c)}")
            gates.append(c)
        unique = sorted({op._id: op for op in gates}.values(), key=lambda op: op._id)
        if not unique:
            raise ValueError(f"'tensors' must have at least one Tensor. Received: {tensors}.")
        gate = group(*unique)
        results: list[Any] = []
        for t in tensors:
            if ops.is_tensor(t):
                results.append(with_dependencies([gate], t))
            elif isinstance(t, ops.Operation):
                with ops.control_dependencies([gate]):
                    results.append(group(t))
            else:
                results.append(None)
        return results


def Assert(condition: Any, data: Any, summarize: int | None = None, name: str | None = None) -> Any:  # noqa: N802
    """An op that fails and shows `data` unless the condition holds; make others depend on it."""
    with name_scope(name, "Assert", [condition, data]):
        condition = condition if ops.is_tensor(condition) else _convert(condition, name="condition")
        values = [v if ops.is_tensor(v) else _convert(v) for v in data]
        check = lambda said: _op("Assert", [condition, said], {"summarize": 3 if summarize is None else summarize}, "Assert")  # noqa: E731
        plain = all(v.dtype.base_dtype in (dtypes.string, dtypes.int32) for v in values)
        if plain or not isinstance(condition, ops.Tensor):
            return check(list(data))
        from emplace.framework import cond

        if ops.get_default_graph()._captures:
            return _guarded(condition, lambda: check(list(data)))
        # What is said may be dear to copy: it is looked at only when the condition does not hold.
        return cond.cond(condition, no_op, lambda: check(list(data)), name="AssertGuard").op


def _guarded(condition: Any, check: Any) -> Any:
    """Inside a function: the same as a branch of its own."""
    from emplace.eager import flow_graph

    def failed() -> Any:
        with ops.control_dependencies([check()]):
            return _op("Identity", [condition], {})

    return flow_graph.cond(condition, lambda: _op("Identity", [condition], {}), failed, "AssertGuard").op


def Print(input_: Any, data: Any, message: str | None = None, first_n: int | None = None, summarize: int | None = None, name: str | None = None) -> Tensor:  # noqa: N802
    """`input_` itself; prints the message and `data` to stderr when it runs, the first `first_n` times."""
    attrs = {"message": message or "", "first_n": -1 if first_n is None else first_n, "summarize": 3 if summarize is None else summarize}
    return _op("Print", [input_, list(data)], attrs, name)
