"""Both generations of the API, and what helps to write for both."""

from __future__ import annotations

import importlib
import numbers
import os
from typing import Any

import numpy as np
from emplace.framework import listing as _listing

integral_types = (numbers.Integral, np.integer)
real_types = (numbers.Real, np.integer, np.floating)
complex_types = (numbers.Complex, np.number)
bytes_or_text_types = (bytes, str)


def as_bytes(bytes_or_text: Any, encoding: str = "utf-8") -> bytes:
    """Text as bytes in `encoding`; bytes stay as they are. TypeError for anything else."""
    if isinstance(bytes_or_text, bytearray):
        return bytes(bytes_or_text)
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


def as_text(bytes_or_text: Any, encoding: str = "utf-8") -> str:
    """Bytes as text in `encoding`; text stays as it is. TypeError for anything else."""
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text.decode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


as_str = as_text


def as_str_any(value: Any, encoding: str = "utf-8") -> str:
    """Any value as text: bytes are decoded, all else goes through `str`."""
    return as_text(value, encoding) if isinstance(value, bytes) else str(value)


def path_to_str(path: Any) -> Any:
    """A path object as text; what is no path object is returned as it is."""
    return as_str_any(os.fspath(path)) if hasattr(path, "__fspath__") else path


def forward_compatible(year: int, month: int, day: int) -> bool:
    """Always true: no change here waits for a date."""
    return True


def __getattr__(name: str) -> Any:
    if name == "v1":
        return importlib.import_module("emplace.compat.v1")
    if name == "v2":
        return importlib.import_module("emplace")
    if name == "dimension_value":
        return importlib.import_module("emplace.framework.tensor_shape").dimension_value
    if name == "dimension_at_index":
        return importlib.import_module("emplace.framework.composed_ops").dimension_at_index
    raise AttributeError(f"module 'emplace.compat' has no attribute {name!r}")

__dir__ = _listing.of_module(globals(), ("v1", "v2", "dimension_value", "dimension_at_index"))
