"""What `help()` says of an operation's function: the catalogue's summary, then arguments and results with their types."""

from __future__ import annotations

from typing import Any

from emplace.framework import dtypes

_KINDS = {"int": "an int", "float": "a float", "bool": "a bool", "string": "a str", "type": "a dtype", "shape": "a shape", "func": "a function"}


def _types(d: Any, a: Any) -> str:
    """The dtypes that an input or output may have."""
    if a.type is not None:
        return str(a.type.name)
    if a.type_attr in [e.name for e in d.explicit]:
        return f"dtype `{a.type_attr}`"
    allowed = d.allowed.get(a.type_attr)
    return ", ".join(dtypes.as_dtype(t).name for t in allowed) if allowed else "any dtype"


def _tensor(d: Any, a: Any, names: dict[str, str]) -> str:
    if a.type_list_attr:
        return "tensors"
    kind = _types(d, a)
    same = next((b.name for b in d.inputs if b is not a and a.type_attr and b.type_attr == a.type_attr), None)
    if same is not None and (a not in d.inputs or d.inputs.index(a) > [b.name for b in d.inputs].index(same)):
        kind = f"the dtype of `{names.get(same, same)}`"
    return f"{'a list of tensors' if a.is_list else 'a tensor'} of {kind}"


def _attribute(a: Any) -> str:
    inner = a.type.removeprefix("list(").removesuffix(")")
    kind = _KINDS.get(inner, f"a {inner}")
    return f"a list, each {kind}" if inner != a.type else kind


def described(d: Any, renamed: dict[str, str] | None = None) -> str:
    """The docstring of a definition's function, in which some arguments have other names."""
    names = renamed or {}
    lines = [f"{names.get(a.name, a.name)}: {_tensor(d, a, names)}" for a in d.inputs]
    lines += [f"{names.get(a.name, a.name)}: {_attribute(a)}{', optional' if a.has_default else ''}" for a in d.explicit]
    given = [f"{a.name}: {_tensor(d, a, names)}" for a in d.outputs]
    lines += [f"Returns {', '.join(given)}." if given else "Returns the operation, or None eagerly."]
    return "\n".join([d.doc, "", *lines])
