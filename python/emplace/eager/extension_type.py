"""`tf.experimental.ExtensionType`: types of a program's own, whose fields are tensors and plain values.

A class says with annotations which fields there are. Its values are made once and stay as they are; `tf.nest`,
`tf.function` and datasets take them by their tensors, and tell them apart by what is no tensor.
"""

from __future__ import annotations

import functools
import inspect
import typing
from typing import Any

from emplace.eager import api_dispatch, composite, context, extension_fields as fields, nest, tensor_spec
from emplace.framework import dispatch, math_ops

_RESERVED = ("self", "Spec")
_OPEN = "_tf_open"  # set while a constructor runs


class _Fixed:
    """What only its constructor may change."""

    _named = ""  # in the error

    @classmethod
    def _field_types(cls) -> dict[str, Any]:
        raise NotImplementedError

    def __setattr__(self, name: str, value: Any) -> None:
        self._check_open(name)
        self.__dict__[name] = value

    def __delattr__(self, name: str) -> None:
        self._check_open(name)
        del self.__dict__[name]

    def _check_open(self, name: str) -> None:
        if _OPEN not in self.__dict__ or name not in self._field_types():
            raise AttributeError(f"Cannot mutate attribute `{name}` outside the custom constructor of {self._named}.")

    def _fill(self, given: dict[str, Any], specs: bool) -> None:
        kinds = self._field_types()
        missing = {n for n in kinds if n not in given}
        if missing:
            raise ValueError(f"Missing required fields: {missing}")
        self.__dict__.update((n, fields.converted(given[n], kind, n, specs)) for n, kind in kinds.items())


def _constructor(signature: inspect.Signature, specs: bool) -> Any:
    """The constructor that takes the fields."""

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        self._fill(bound.arguments, specs)
        self._made()

    __init__.__signature__ = signature.replace(parameters=[_SELF, *signature.parameters.values()])  # type: ignore[attr-defined]
    return __init__


def _own_constructor(init: Any, specs: bool) -> Any:
    """One that a class brings: the fields it sets are converted when it is through."""

    @functools.wraps(init)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        self.__dict__[_OPEN] = True
        try:
            init(self, *args, **kwargs)
        finally:
            self.__dict__.pop(_OPEN, None)
        self._fill(self.__dict__, specs)
        self._made()

    return __init__


_SELF = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)


def _signature(kinds: dict[str, Any], defaults: dict[str, Any], made: Any) -> inspect.Signature:
    """What has no default behind what has one is given by name."""
    found, keyword = [], False
    for name, kind in kinds.items():
        given = name in defaults
        keyword = keyword or not given and any(p.default is not p.empty for p in found)
        how = inspect.Parameter.KEYWORD_ONLY if keyword else inspect.Parameter.POSITIONAL_OR_KEYWORD
        found.append(inspect.Parameter(name, how, default=defaults[name] if given else inspect.Parameter.empty, annotation=kind))
    return inspect.Signature(found, return_annotation=made)


class ExtensionType(_Fixed, composite.Composite):
    """A base for types with annotated fields; see the module."""

    _named = "ExtensionType"
    _types: dict[str, Any] = {}
    _resolved: dict[str, Any] | None = None
    _spec_base: Any
    Spec: Any

    def __init_subclass__(cls, abstract: bool = False, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if abstract:
            return
        own = cls.__dict__.get("__annotations__", {})
        for name in own:
            if name in _RESERVED:
                raise ValueError(f"The field annotations for {cls.__name__} are invalid. Field '{name}' is reserved.")
        for name, kind in own.items():
            try:
                fields.check(kind)
            except TypeError as e:
                raise TypeError(f"In field {name!r}: {e}") from None
        inherited: dict[str, Any] = {}
        for base in reversed(cls.__mro__[1:]):
            if issubclass(base, ExtensionType):
                inherited.update(base.__dict__.get("_types", {}))
        cls._types, cls._resolved = {**inherited, **own}, None
        for name, kind in own.items():
            if name in cls.__dict__:
                resolved = kind if not isinstance(kind, str) and "ForwardRef" not in repr(kind) else cls._field_types()[name]
                setattr(cls, name, fields.converted(cls.__dict__[name], resolved, f"default value for {name}"))
        if "__init__" in cls.__dict__:
            cls.__init__ = _own_constructor(cls.__dict__["__init__"], False)  # type: ignore[method-assign]
        else:
            defaults = {n: getattr(cls, n) for n in cls._types if hasattr(cls, n)}
            cls.__init__ = _constructor(_signature(cls._types, defaults, cls), False)  # type: ignore[method-assign]
            cls.__signature__ = _signature(cls._types, defaults, cls)  # type: ignore[attr-defined]
        cls.Spec = _make_spec(cls)

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        if "Spec" not in cls.__dict__:
            raise AssertionError(f"Cannot create an instance of {cls.__name__} because {cls.__name__} is an abstract base class.")
        return super().__new__(cls)

    @classmethod
    def _field_types(cls) -> dict[str, Any]:
        """Annotations by field; names of classes are looked up when first needed."""
        found = cls.__dict__.get("_resolved")
        if found is None:
            hints = typing.get_type_hints(cls, localns={cls.__name__: cls})
            found = cls._resolved = {n: hints[n] for n in cls._types}
        return found

    def _made(self) -> None:
        self.__validate__()

    def __validate__(self) -> None:
        """For a class to override: called when a value is made."""

    def __repr__(self) -> str:
        return f"{type(self).__qualname__}({', '.join(f'{n}={self.__dict__[n]!r}' for n in self._types)})"

    def __eq__(self, other: Any) -> Any:
        if type(other) is not type(self) or self._type_spec != other._type_spec:
            return False
        context._state.eager += 1
        try:
            same = [math_ops.reduce_all(math_ops.equal(a, b)) for a, b in zip(self._parts(), other._parts())]
            return math_ops.reduce_all(same or [True])
        finally:
            context._state.eager -= 1

    def __ne__(self, other: Any) -> Any:
        same = self.__eq__(other)
        if isinstance(same, bool):
            return not same
        context._state.eager += 1
        try:
            return dispatch.execute("LogicalNot", [same])
        finally:
            context._state.eager -= 1

    def __hash__(self) -> int:
        raise TypeError(f"unhashable type: {type(self).__name__!r}")

    __array_priority__ = 100  # an operator of a tensor is the tensor's affair

    def _function(self, name: str, plain: Any) -> Any:  # type: ignore[override]
        if name not in ("identity", "stop_gradient"):  # these are of the tensors it is made of
            return api_dispatch.of_operator(name, self)
        return lambda input, name=None: nest.map_structure(plain, input, expand_composites=True)  # noqa: A002

    # ---- By its tensors.

    @property
    def _type_spec(self) -> Any:
        return self.Spec._holding({n: fields.mapped(fields.spec_of, self.__dict__[n]) for n in self._types})

    def _parts(self) -> list[Any]:
        return [t for n in self._types for t in fields.tensors_of(self.__dict__[n])]

    def _rebuilt(self, parts: list[Any]) -> Any:
        rest = iter(parts)

        def fresh(leaf: Any) -> Any:
            return leaf._rebuilt([next(rest) for _ in leaf._parts()]) if hasattr(leaf, "_parts") else next(rest)

        return self._holding({n: fields.mapped(fresh, self.__dict__[n]) for n in self._types})

    @classmethod
    def _holding(cls, values: dict[str, Any]) -> Any:
        """One with these fields as they are, whatever a constructor would say."""
        made = object.__new__(cls)
        made.__dict__.update(values)
        return made

    def _part_specs(self) -> list[Any]:
        return self._type_spec._part_specs()

    def _outline(self) -> str:
        """What a trace must have in common with another, besides the tensors."""
        plain = [fields.mapped(lambda leaf: leaf._outline() if hasattr(leaf, "_outline") else type(leaf).__name__, self.__dict__[n]) for n in self._types]
        return f"{type(self).__module__}.{type(self).__qualname__} {id(type(self))} {plain}"


class ExtensionTypeSpec(_Fixed, tensor_spec.TypeSpec):
    """What values of an extension type look like: specs in the place of tensors, and what is no tensor."""

    _named = "ExtensionTypeSpec"
    value_type: Any = None

    @classmethod
    def _field_types(cls) -> dict[str, Any]:
        return cls.value_type._field_types()

    def _made(self) -> None:
        pass

    @classmethod
    def _holding(cls, values: dict[str, Any]) -> Any:
        made = object.__new__(cls)
        made.__dict__.update(values)
        return made

    @classmethod
    def from_value(cls, value: Any) -> Any:
        return value._type_spec

    def __repr__(self) -> str:
        shown = ((n, self.__dict__[n]) for n in self.value_type._types)
        return f"{type(self).__qualname__}({', '.join(f'{n}={dict(v) if isinstance(v, fields.ImmutableDict) else v!r}' for n, v in shown)})"

    def _leaves(self) -> list[Any]:
        found: list[Any] = []
        for n in self.value_type._types:
            fields.mapped(lambda leaf: found.append(leaf) or leaf, self.__dict__[n])
        return found

    def _mapped(self, function: Any) -> Any:
        return self._holding({n: fields.mapped(function, self.__dict__[n]) for n in self.value_type._types})

    def _plain(self) -> str:
        """The spec without what its tensors look like."""
        def inner(leaf: Any) -> Any:
            return leaf._plain() if isinstance(leaf, ExtensionTypeSpec) else None

        return repr([fields.mapped(inner, self.__dict__[n]) for n in self.value_type._types])

    def _other(self, spec_or_value: Any) -> Any:
        """The other spec where it is of this type and agrees in what is no tensor, else None."""
        other = getattr(spec_or_value, "_type_spec", spec_or_value)
        return other if type(other) is type(self) and self._plain() == other._plain() else None

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        other = self._other(spec_or_value)
        return other is not None and all(a.is_compatible_with(b) for a, b in zip(self._leaves(), other._leaves()))

    def _mismatch(self, value: Any) -> tuple[Any, Any]:
        """(what is there, what is wanted) of the first field that does not fit, or the whole."""
        other = self._other(value)
        pairs = zip(other._leaves(), self._leaves()) if other is not None else ()
        return next(((b, a) for b, a in pairs if not a.is_compatible_with(b)), (tensor_spec.type_spec_from_value(value), self))

    def is_subtype_of(self, other: Any) -> bool:
        found = self._other(other)
        if found is None:
            return False
        pairs = zip(self._leaves(), found._leaves())
        return all(a.is_subtype_of(b) if hasattr(a, "is_subtype_of") else a == b for a, b in pairs)

    def most_specific_common_supertype(self, others: Any) -> Any:
        found = [self._other(o) for o in others]
        if any(o is None for o in found):
            return None
        rows = list(zip(self._leaves(), *(o._leaves() for o in found)))
        common = iter([tensor_spec.common_supertype(row) for row in rows])
        made = self._mapped(lambda _: next(common))
        return None if None in made._leaves() else made

    # ---- Values of it.

    def _part_specs(self) -> list[Any]:
        from emplace.eager import structured_values

        found: list[Any] = []
        for leaf in self._leaves():
            if isinstance(leaf, ExtensionTypeSpec):
                found += leaf._part_specs()
            else:
                found += [leaf] if isinstance(leaf, tensor_spec.TensorSpec) else structured_values.awaited(leaf)._parts()
        return found

    def _awaited(self) -> Any:
        """A value of which only the spec is known: its tensors' specs stand in their places."""
        from emplace.eager import structured_values

        return self.value_type._holding({n: fields.mapped(structured_values.awaited, self.__dict__[n]) for n in self.value_type._types})

    def _from_parts(self, parts: list[Any]) -> Any:
        return self._awaited()._rebuilt(parts)


def _make_spec(owner: Any) -> Any:
    """The class of specs of an extension type; what a class `Spec` inside of it says is taken over."""
    given = owner.__dict__.get("Spec")
    inner = {} if given is None else {k: v for k, v in vars(given).items() if k not in ("__dict__", "__weakref__")}
    inner |= {"__module__": owner.__module__, "__qualname__": f"{owner.__qualname__}.Spec", "value_type": owner}
    if "__init__" in inner:
        inner["__init__"] = _own_constructor(inner["__init__"], True)
    else:
        inner["__init__"] = _constructor(_signature(owner._types, {}, None), True)
    return type(f"{owner.__name__}.Spec", (owner._spec_base,), inner)


ExtensionType._spec_base = ExtensionTypeSpec
