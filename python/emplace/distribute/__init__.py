"""`tf.distribute`: one program over several devices. The public names are found when first asked for."""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module 'emplace.distribute' has no attribute '{name}'")
    from emplace.eager import namespace

    value = globals()[name] = namespace.lookup(f"distribute.{name}")
    return value


def __dir__() -> list[str]:
    from emplace.eager import namespace

    return namespace.names_below("distribute")
