"""What `dir()` says of a module: the names meant for users, not what its own code imports."""

from __future__ import annotations

import types
from typing import Any, Callable

_HELPERS = ("typing", "collections.abc", "__future__")


def _is_helper(value: Any) -> bool:
    if isinstance(value, types.ModuleType):
        return not value.__name__.startswith("emplace.compat.")
    return getattr(value, "__module__", None) in _HELPERS or type(value).__module__ in _HELPERS


def of_module(scope: dict[str, Any], also: tuple[str, ...] = (), hidden: tuple[str, ...] = ()) -> Callable[[], list[str]]:
    """A module's `__dir__`. `also`: what it finds when asked, or would seem a helper; `hidden`: what only the package uses."""

    def names() -> list[str]:
        own = {n for n, v in scope.items() if not n.startswith("_") and not _is_helper(v)}
        return sorted((own | set(also)) - set(hidden))

    return names
