"""The extension module; not for direct use."""

from typing import Any

def __getattr__(name: str) -> Any: ...
