"""The fields of extension types: which annotations there are, and values made what their annotations say."""

from __future__ import annotations

import collections.abc
import types
import typing
from typing import Any, Callable

from emplace.eager import composite, context, tensor_spec
from emplace.framework import dtypes, ops, tensor_shape

_PLAIN = (int, float, str, bytes, bool, type(None))


class ImmutableDict(collections.abc.Mapping):
    """A dictionary that stays as it was made."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._items = dict(*args, **kwargs)

    def __getitem__(self, key: Any) -> Any:
        return self._items[key]

    def __contains__(self, key: Any) -> bool:
        return key in self._items

    def __iter__(self) -> Any:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __repr__(self) -> str:
        return f"ImmutableDict({self._items})"

    def __hash__(self) -> int:
        return hash(frozenset(self._items.items()))


def _parts_of(annotation: Any) -> tuple[str, tuple[Any, ...]]:
    """("union" | "tuple" | "mapping" | "", arguments)."""
    origin, args = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Union or origin is types.UnionType:
        return "union", args
    if origin is tuple:
        return "tuple", args
    if origin is collections.abc.Mapping:
        return "mapping", args
    return "", ()


def _is_class(annotation: Any, kind: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, kind)


def called(annotation: Any) -> str:
    if isinstance(annotation, type) and typing.get_origin(annotation) is None:
        return repr(annotation.__name__)
    return "'Any'" if annotation is Any else repr(annotation)


def check(annotation: Any) -> None:
    """TypeError for what a field can't be."""
    if isinstance(annotation, (str, typing.ForwardRef)) or annotation is None or annotation in _PLAIN:
        return
    kind, args = _parts_of(annotation)
    if kind:
        for a in args:
            if a is not Ellipsis:
                check(a)
        return
    fine = (ops.Tensor, dtypes.DType, tensor_shape.TensorShape, composite.Composite, tensor_spec.TypeSpec)
    if not _is_class(annotation, fine):
        raise TypeError(f"Unsupported type annotation {called(annotation)}")


def _expected(what: str, path: str, value: Any) -> TypeError:
    return TypeError(f"{path}: expected {what}, got {type(value).__name__!r}")


def converted(value: Any, annotation: Any, path: str, specs: bool = False) -> Any:
    """`value` as a field of that annotation; with `specs` what stands for it in the type's spec."""
    kind, args = _parts_of(annotation)
    if kind == "union":
        return _one_of(value, annotation, args, path, specs)
    if kind == "tuple":
        return _tuple(value, args, path, specs)
    if kind == "mapping":
        if not isinstance(value, collections.abc.Mapping):
            raise _expected("mapping", path, value)
        pairs = ((converted(k, args[0], f"{path}[<key>]"), converted(v, args[1], f"{path}[{k!r}]", specs)) for k, v in value.items())
        return ImmutableDict(pairs)
    if _is_class(annotation, ops.Tensor):
        return _spec(value, path) if specs else _tensor(value, path)
    if _is_class(annotation, composite.Composite):
        if specs:
            if not isinstance(value, tensor_spec.TypeSpec) or not issubclass(value.value_type, annotation):
                raise _expected(f"a TypeSpec for {annotation.__name__!r}", path, value)
            return value
    elif annotation is tensor_shape.TensorShape or annotation is dtypes.DType:
        try:
            return tensor_shape.as_shape(value) if annotation is tensor_shape.TensorShape else dtypes.as_dtype(value)
        except TypeError:
            raise _expected(f"'tf.{annotation.__name__}'", path, value) from None
    if annotation is None:
        annotation = type(None)
    if not isinstance(value, annotation):
        raise _expected(called(annotation), path, value)
    return value


def _tensor(value: Any, path: str) -> Any:
    if isinstance(value, ops.Tensor):
        return value
    context._state.eager += 1
    try:
        return ops.convert_to_tensor(value)
    except (TypeError, ValueError):
        raise _expected("a Tensor", path, value) from None
    finally:
        context._state.eager -= 1


def _spec(value: Any, path: str) -> Any:
    if not isinstance(value, tensor_spec.TensorSpec):
        raise _expected("a TensorSpec", path, value)
    return value


def _one_of(value: Any, annotation: Any, args: tuple[Any, ...], path: str, specs: bool) -> Any:
    """By the first that takes it."""
    for a in args:
        try:
            return converted(value, a, path, specs)
        except TypeError:
            continue
    raise _expected(repr(annotation), path, value)


def _tuple(value: Any, args: tuple[Any, ...], path: str, specs: bool) -> tuple[Any, ...]:
    if not isinstance(value, (list, tuple)):
        raise _expected("tuple", path, value)
    if len(args) == 2 and args[1] is Ellipsis:
        return tuple(converted(v, args[0], f"{path}[{i}]", specs) for i, v in enumerate(value))
    if len(value) != len(args):
        raise TypeError(f"{path}: expected tuple with length {len(args)}, got {type(value).__name__!r})")
    return tuple(converted(v, a, f"{path}[{i}]", specs) for i, (v, a) in enumerate(zip(value, args)))


# ---- What is inside a field.


def mapped(function: Callable[[Any], Any], value: Any) -> Any:
    """The field with its tensors, composites and their specs changed; all else as it is."""
    if isinstance(value, (ops.Tensor, composite.Composite, tensor_spec.TypeSpec)):
        return function(value)
    if isinstance(value, tuple):
        return tuple(mapped(function, v) for v in value)
    if isinstance(value, ImmutableDict):
        changed = {k: mapped(function, value[k]) for k in sorted(value)}
        return ImmutableDict((k, changed[k]) for k in value)
    return value


def tensors_of(value: Any) -> list[Any]:
    """Tensors of a field, those of composites one by one."""
    found: list[Any] = []

    def take(leaf: Any) -> Any:
        for part in leaf._parts() if hasattr(leaf, "_parts") else [leaf]:
            found.append(part)
        return leaf

    mapped(take, value)
    return found


def spec_of(leaf: Any) -> Any:
    return leaf if isinstance(leaf, tensor_spec.TypeSpec) else tensor_spec.type_spec_from_value(leaf)
