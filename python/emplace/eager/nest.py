"""Nested structures: lists, tuples, named tuples and dictionaries (in the order of their keys)."""

from __future__ import annotations

import collections.abc
from typing import Any, Callable, Iterator


def is_nested(structure: Any, composites: bool = False) -> bool:
    if composites and hasattr(structure, "_parts"):
        return True
    if isinstance(structure, (str, bytes)):
        return False
    return isinstance(structure, (list, tuple, collections.abc.Mapping))


def _children(structure: Any) -> Iterator[Any]:
    if hasattr(structure, "_parts"):
        return iter(structure._parts())
    if isinstance(structure, collections.abc.Mapping):
        return (structure[k] for k in _keys(structure))
    return iter(structure)


def _keys(mapping: Any) -> list[Any]:
    try:
        return sorted(mapping)
    except TypeError:
        raise TypeError(f"nest only supports dicts with sortable keys, not {list(mapping)}") from None


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    if structure is None:
        return [None]
    if not is_nested(structure, expand_composites):
        return [structure]
    return [leaf for child in _children(structure) for leaf in flatten(child, expand_composites)]


def _rebuild(structure: Any, children: list[Any]) -> Any:
    if hasattr(structure, "_rebuilt"):
        return structure._rebuilt(children)
    if isinstance(structure, collections.abc.Mapping):
        made = dict(zip(_keys(structure), children))
        ordered = {k: made[k] for k in structure}
        return ordered if type(structure) is dict else type(structure)(ordered)
    if hasattr(structure, "_fields"):
        return type(structure)(*children)
    return type(structure)(children)


def _packed(structure: Any, leaves: Iterator[Any], composites: bool) -> Any:
    if not is_nested(structure, composites):
        return next(leaves)
    return _rebuild(structure, [_packed(child, leaves, composites) for child in _children(structure)])


def pack_sequence_as(structure: Any, flat_sequence: Any, expand_composites: bool = False) -> Any:
    if not isinstance(flat_sequence, (list, tuple)):
        raise TypeError(f"Attempted to pack value:\n  {flat_sequence}\ninto a structure, but found incompatible type `{type(flat_sequence)}` instead.")
    n = len(flatten(structure, expand_composites))
    if n != len(flat_sequence):
        raise ValueError(f"Could not pack sequence. Structure had {n} atoms, but flat_sequence had {len(flat_sequence)} items.  Structure: {structure}, flat_sequence: {flat_sequence}.")
    return _packed(structure, iter(flat_sequence), expand_composites)


def assert_same_structure(nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False) -> None:
    deep = is_nested(nest1, expand_composites), is_nested(nest2, expand_composites)
    if deep[0] != deep[1] or deep[0] and len(list(_children(nest1))) != len(list(_children(nest2))):
        raise ValueError(f"The two structures don't have the same nested structure.\n\nFirst structure: {nest1}\n\nSecond structure: {nest2}")
    if not deep[0]:
        return
    same_kind = type(nest1) is type(nest2) or isinstance(nest1, collections.abc.Mapping) and isinstance(nest2, collections.abc.Mapping)
    if check_types and not same_kind:
        raise TypeError(f"The two structures don't have the same sequence type. Input structure has type {type(nest1)}, while shallow structure has type {type(nest2)}.")
    if isinstance(nest1, collections.abc.Mapping) and set(nest1) != set(nest2):
        raise ValueError(f"The two dictionaries don't have the same set of keys. First structure: {nest1}. Second structure: {nest2}")
    for a, b in zip(_children(nest1), _children(nest2)):
        assert_same_structure(a, b, check_types, expand_composites)


def map_structure(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    if not callable(func):
        raise TypeError(f"`func` must be callable, got: {func}")
    if not structure:
        raise ValueError("Must provide at least one structure")
    check = kwargs.pop("check_types", True)
    composites = kwargs.pop("expand_composites", False)
    if kwargs:
        raise ValueError(f"Only valid keyword arguments are `check_types` and `expand_composites`, not: `{'`, `'.join(kwargs)}`")
    for other in structure[1:]:
        assert_same_structure(structure[0], other, check, composites)
    rows = zip(*(flatten(s, composites) for s in structure))
    return pack_sequence_as(structure[0], [func(*row) for row in rows], composites)
