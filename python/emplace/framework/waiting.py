"""What a step under way waits for."""

from __future__ import annotations

from typing import NamedTuple


class Waiting(NamedTuple):
    """A call that has begun and waits: for a value of another task, for room in a queue, for a lock."""

    node: str
    op: str
    device: str
    source: str
    awaits: str
    from_device: str
    seconds: float
