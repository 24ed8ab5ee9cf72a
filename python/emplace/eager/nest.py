"""Nested structures: lists, tuples, named tuples and dictionaries (in the order of their keys)."""

from __future__ import annotations

import collections.abc
from typing import Any, Callable, Iterator


def is_nested(structure: Any, composites: bool = False) -> bool:
    """Whether it is a list, tuple or dict; with `composites` also a ragged, sparse or other composed tensor."""
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
    """The leaves as a list: dicts in the order of their keys, with `expand_composites` the parts of composed tensors."""
    leaves: list[Any] = []
    _gather(structure, expand_composites, leaves)
    return leaves


_PLAIN = frozenset((int, float, complex, str, bytes, bool, type(None)))


def _gather(structure: Any, composites: bool, leaves: list[Any]) -> None:
    kind = type(structure)
    if kind in _PLAIN:
        leaves.append(structure)
    elif kind is list or kind is tuple:
        for child in structure:
            _gather(child, composites, leaves)
    elif kind is dict:
        for key in _keys(structure):
            _gather(structure[key], composites, leaves)
    elif is_nested(structure, composites):
        for child in _children(structure):
            _gather(child, composites, leaves)
    else:
        leaves.append(structure)


def _rebuild(structure: Any, children: list[Any]) -> Any:
    if hasattr(structure, "_rebuilt"):
        return structure._rebuilt(children)
    if isinstance(structure, collections.abc.Mapping):
        made = dict(zip(_keys(structure), children))
        ordered = {k: made[k] for k in structure}
        if isinstance(structure, collections.defaultdict):
            return type(structure)(structure.default_factory, ordered)
        return ordered if type(structure) is dict else type(structure)(ordered)
    if hasattr(structure, "_fields"):
        return type(structure)(*children)
    return type(structure)(children)


def _packed(structure: Any, leaves: Iterator[Any], composites: bool) -> Any:
    if not is_nested(structure, composites):
        return next(leaves)
    return _rebuild(structure, [_packed(child, leaves, composites) for child in _children(structure)])


def pack_sequence_as(structure: Any, flat_sequence: Any, expand_composites: bool = False) -> Any:
    """Leaves in the structure of another: the reverse of `flatten`."""
    if not isinstance(flat_sequence, (list, tuple)):
        raise TypeError(f"Attempted to pack value:\n  {flat_sequence}\ninto a structure, but found incompatible type `{type(flat_sequence)}` instead.")
    if not is_nested(structure, expand_composites) and len(flat_sequence) != 1:
        raise ValueError(
            f"The target structure is of type `{type(structure)}`\n  {structure}\nHowever the input is a sequence ({type(flat_sequence)}) of "
            f"length {len(flat_sequence)}.\n  {flat_sequence}\nnest cannot guarantee that it is safe to map one to the other."
        )
    n = len(flatten(structure, expand_composites))
    if n != len(flat_sequence):
        raise ValueError(f"Could not pack sequence. Structure had {n} atoms, but flat_sequence had {len(flat_sequence)} items.  Structure: {structure}, flat_sequence: {flat_sequence}.")
    return _packed(structure, iter(flat_sequence), expand_composites)


class _Dot:
    """A leaf, in the outline of a structure."""

    def __repr__(self) -> str:
        return "."


def _outline(structure: Any, composites: bool) -> str:
    return str(pack_sequence_as(structure, [_Dot()] * len(flatten(structure, composites)), composites))


def _called(value: Any) -> str:
    return f"type={type(value).__name__} str={value}"


def assert_same_structure(nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False) -> None:
    """ValueError unless both are nested alike; with `check_types` TypeError unless by the same types."""
    try:
        _check_same(nest1, nest2, check_types, expand_composites)
    except (TypeError, ValueError) as e:
        outlines = [_outline(n, expand_composites) for n in (nest1, nest2)]
        raise type(e)(
            f"The two structures don't have the same nested structure.\n\nFirst structure: {_called(nest1)}\n\n"
            f"Second structure: {_called(nest2)}\n\nMore specifically: {e}\n"
            f"Entire first structure:\n{outlines[0]}\nEntire second structure:\n{outlines[1]}"
        ) from None


def _check_same(a: Any, b: Any, check_types: bool, composites: bool) -> None:
    deep = is_nested(a, composites), is_nested(b, composites)
    if deep[0] != deep[1]:
        whole, leaf = (a, b) if deep[0] else (b, a)
        raise ValueError(f'Substructure "{_called(whole)}" is a sequence, while substructure "{_called(leaf)}" is not')
    if not deep[0]:
        return
    mappings = isinstance(a, collections.abc.Mapping) and isinstance(b, collections.abc.Mapping)
    if check_types and not mappings and type(a) is not type(b):
        raise TypeError(
            f"The two namedtuples don't have the same sequence type. First structure {_called(a)} has type {type(a).__name__}, "
            f"while second structure {_called(b)} has type {type(b).__name__}"
        )
    if mappings and set(a) != set(b):
        raise ValueError(
            "The two dictionaries don't have the same set of keys. First structure has keys "
            f"{_called(list(a))}, while second structure has keys {_called(list(b))}"
        )
    below = list(_children(a)), list(_children(b))
    if len(below[0]) != len(below[1]):
        raise ValueError(f"The two structures don't have the same number of elements. First structure: {_called(a)}. Second structure: {_called(b)}")
    for pair in zip(*below):
        _check_same(*pair, check_types, composites)


def map_structure(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """A structure of what the function gives for the leaves of structures that are alike."""
    if not callable(func):
        raise TypeError(f"func must be callable, got: {func}")
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
