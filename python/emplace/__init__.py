"""Emplace: puts every operation in its place, and runs it there."""

from __future__ import annotations

from typing import Any

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    import importlib

    if name in ("compat", "framework", "eager", "proto"):
        return importlib.import_module(f"emplace.{name}")
    raise AttributeError(f"module 'emplace' has no attribute {name!r}")
