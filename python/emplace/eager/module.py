"""`tf.Module`: an object that knows its variables."""

from __future__ import annotations

import functools
import re
from typing import Any, Callable, Iterator

from emplace.eager import modes, nest, variables
from emplace.framework import trackable
from emplace.framework import variables as graph_variables

_CAMEL = re.compile(r"((?<=[a-z0-9])[A-Z]|(?!^)[A-Z](?=[a-z]))")
_PYTHON_NAME = re.compile(r"^[a-zA-Z_]([a-zA-Z0-9_])*$")


class Module(trackable.AutoTrackable):
    """Collects the variables and modules that are its attributes, in the order of their names."""

    _ignored = frozenset(("_name", "_scope_name", "_name_scope", "_awaits", "_self_held"))

    def __init__(self, name: str | None = None) -> None:
        if name is None:
            name = _CAMEL.sub(r"_\1", type(self).__name__).lower()
        elif not _PYTHON_NAME.match(name):
            raise ValueError(f"'{name}' is not a valid module name. Module names must be valid Python identifiers (e.g. a valid class name).")
        self._name = name
        outer = modes.get_current_name_scope()
        self._scope_name = f"{outer}/{name}/" if outer else f"{name}/"

    @property
    def name(self) -> str:
        return self._name

    @property
    def name_scope(self) -> Any:
        return modes.name_scope(self._scope_name)

    def _walk(self, wanted: Callable[[Any], bool], seen: set[int], deep: bool = True, visited: set[int] | None = None) -> Iterator[Any]:
        visited = {id(self)} if visited is None else visited  # modules may hold each other
        inner: list[Module] = []
        for key in sorted(vars(self)):
            if key in self._ignored:
                continue
            for leaf in nest.flatten(vars(self)[key]) if vars(self)[key] is not None else ():
                if id(leaf) in seen:
                    continue
                if wanted(leaf):
                    seen.add(id(leaf))
                    yield leaf
                if isinstance(leaf, Module) and id(leaf) not in visited:
                    visited.add(id(leaf))
                    inner.append(leaf)
        for module in inner if deep else ():
            yield from module._walk(wanted, seen, deep, visited)

    @property
    def variables(self) -> tuple[Any, ...]:
        return tuple(self._walk(lambda x: isinstance(x, (variables.Variable, graph_variables.Variable)), set()))

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        return tuple(v for v in self.variables if v.trainable)

    @property
    def non_trainable_variables(self) -> tuple[Any, ...]:
        return tuple(v for v in self.variables if not v.trainable)

    @property
    def submodules(self) -> tuple[Any, ...]:
        return tuple(self._walk(lambda x: isinstance(x, Module), {id(self)}))

    @classmethod
    def with_name_scope(cls, method: Callable[..., Any]) -> Callable[..., Any]:
        """Decorates a method so that its ops are made in the module's name scope."""
        @functools.wraps(method)
        def inside(self: Any, *args: Any, **kwargs: Any) -> Any:
            with self.name_scope:
                return method(self, *args, **kwargs)

        return inside
