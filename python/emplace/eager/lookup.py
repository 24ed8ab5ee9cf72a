"""`tf.lookup` of eager programs: the tables of graph programs, run at once."""

from __future__ import annotations

import functools
import inspect
from typing import Any

from emplace.eager import context, resources
from emplace.framework import lookup_ops

TextFileIndex = lookup_ops.TextFileIndex


def at_once_class(cls: Any) -> Any:
    """A subclass whose methods run eagerly unless a graph is being built."""
    members = {"__doc__": cls.__doc__, "__module__": __name__, "__qualname__": cls.__name__}
    for base in reversed(cls.__mro__[:-1]):
        for name, member in vars(base).items():
            if callable(member) and not isinstance(member, type) and (name in ("__init__", "__getitem__") or not name.startswith("_")):
                members[name] = context.v2(getattr(cls, name))
    members["__init__"] = _owning(cls, members["__init__"])
    return type(cls.__name__, (cls,), members)


def _owning(cls: Any, init: Any) -> Any:
    """`init`; what it makes eagerly goes with the last that holds it, unless others may find it by a name."""
    signature = inspect.signature(cls.__init__)

    @functools.wraps(init)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        init(self, *args, **kwargs)
        given = signature.bind(self, *args, **kwargs).arguments
        if not (given.get("shared_name") or given.get("experimental_shared_name")):
            for name in ("_queue_ref", "_resource_handle", "_handle"):
                resources.own(vars(self).get(name))

    return __init__


KeyValueTensorInitializer = at_once_class(lookup_ops.KeyValueTensorInitializer)
TextFileInitializer = at_once_class(lookup_ops.TextFileInitializer)
StaticHashTable = at_once_class(lookup_ops.StaticHashTable)
StaticVocabularyTable = at_once_class(lookup_ops.StaticVocabularyTable)
MutableHashTable = at_once_class(lookup_ops.MutableHashTable)
DenseHashTable = at_once_class(lookup_ops.DenseHashTable)


DatasetInitializer = at_once_class(lookup_ops.DatasetInitializer)
