"""What ragged and sparse tensors have in common: they are made of tensors, and are not one."""

from __future__ import annotations

from typing import Any, Callable

from emplace.eager import context
from emplace.framework import constant_op, tensor


class CompositeGiven(context.CompositeGiven, ValueError):
    """A composite where an operation takes a tensor; the public function may know what to do."""

    def __init__(self, value: Any) -> None:
        super().__init__(value)
        self.value = value

    def __str__(self) -> str:
        return f"Attempt to convert a value ({self.value!r}) with an unsupported type ({type(self.value)}) to a Tensor."


class Composite(tensor.CompositeTensor):
    """`_parts()` are its tensors, `_rebuilt(parts)` another one like it; `_function(name, plain)` is
    what the public function `plain` does with it, or None."""

    __array_priority__ = 2000.0  # operators of tensors leave the work to ours

    def __hash__(self) -> int:
        return id(self)

    def _parts(self) -> list[Any]:
        raise NotImplementedError

    def _rebuilt(self, parts: list[Any]) -> Any:
        raise NotImplementedError

    def _outline(self) -> str:
        """What a trace must have in common with another, besides the tensors."""
        return type(self).__name__

    @staticmethod
    def _function(name: str, plain: Any) -> Callable[..., Any] | None:
        return None


def _refuse(value: Any, dtype: Any = None, name: str | None = None, as_ref: bool = False) -> Any:
    raise CompositeGiven(value)


constant_op.register_tensor_conversion_function(Composite, _refuse)


def handled(function: Callable[..., Any], given: CompositeGiven, args: Any, kwargs: Any) -> Any:
    """A public function met a composite."""
    inner = given.value._function(function.__name__, function)
    if inner is None:
        raise ValueError(str(given)) from None
    return inner(*args, **kwargs)


context.handle_composite = handled


def at_once(kind: Any) -> Any:
    """A class whose public methods run outside graphs as eager functions do."""
    for name, value in list(vars(kind).items()):
        if name.startswith("_") and not name.startswith("__"):
            continue
        if isinstance(value, classmethod):
            setattr(kind, name, classmethod(context.v2(value.__func__)))
        elif isinstance(value, property) and value.fget:
            setattr(kind, name, property(context.v2(value.fget)))
        elif callable(value) and hasattr(value, "__code__") and name not in ("__init__", "__repr__", "__len__"):
            setattr(kind, name, context.v2(value))
    return kind

