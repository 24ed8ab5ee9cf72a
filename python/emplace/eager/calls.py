"""Operations that call functions, outside graphs: `tf.raw_ops.If`, `Case`, `While`, `PartitionedCall`."""

from __future__ import annotations

from typing import Any

from emplace.framework import ops


def _flat(function: Any, args: list[Any]) -> list[Any]:
    """What a concrete function gives for tensors, as a list."""
    if hasattr(function, "get_concrete_function"):
        function = function.get_concrete_function(*args)
    if not hasattr(function, "_results"):
        raise TypeError(f"a concrete function is wanted, not {function!r}")
    return function._results([*args, *function.captured_inputs])


def _tensors(values: Any) -> list[Any]:
    return [ops.convert_to_tensor(v) for v in values]


def _if(attrs: dict[str, Any], cond: Any, values: Any) -> list[Any]:
    taken = ops.convert_to_tensor(cond).numpy()
    holds = bool(taken) if taken.ndim == 0 else taken.size > 0
    return _flat(attrs["then_branch" if holds else "else_branch"], _tensors(values))


def _case(attrs: dict[str, Any], index: Any, values: Any) -> list[Any]:
    branches = attrs["branches"]
    i = int(ops.convert_to_tensor(index))
    return _flat(branches[i if 0 <= i < len(branches) else -1], _tensors(values))


def _while(attrs: dict[str, Any], values: Any) -> list[Any]:
    values = _tensors(values)
    while bool(_flat(attrs["cond"], values)[0]):
        values = _flat(attrs["body"], values)
    return values


def _call(attrs: dict[str, Any], args: Any) -> list[Any]:
    return _flat(attrs["f"], _tensors(args))


RUN = {
    "If": _if, "StatelessIf": _if, "Case": _case, "StatelessCase": _case, "While": _while, "StatelessWhile": _while,
    "PartitionedCall": _call, "StatefulPartitionedCall": _call,
}  # fmt: skip
