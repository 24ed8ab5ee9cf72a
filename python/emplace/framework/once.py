"""What is made when first asked for."""

from __future__ import annotations

import functools
import threading
from typing import Any, Callable


def once(function: Callable[..., Any]) -> Callable[..., Any]:
    """As functools.cache, but threads that ask at the same time wait for one that makes it."""
    lock, made = threading.RLock(), functools.cache(function)

    @functools.wraps(function)
    def call(*args: Any) -> Any:
        with lock:
            return made(*args)

    return call
