"""The lock under which a function is traced."""

from __future__ import annotations

import contextlib
import threading
from typing import Any, Iterator

_changed = threading.Condition()  # of all locks: traces are rare
_waiting: dict[int, "TraceLock"] = {}  # by thread: what it waits for


class TraceLock:
    """Held while a function is traced, by one thread, which may take it again.

    Functions that call each other may be traced by several threads at once. Who would wait for a thread that waits
    for it goes on without the lock, and traces the function once more, rather than never.
    """

    def __init__(self) -> None:
        self._holder: int | None = None
        self._depth = 0

    def __reduce__(self) -> Any:
        return TraceLock, ()  # a copy of a function is traced by itself

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        has_it = self._take(threading.get_ident())
        try:
            yield
        finally:
            if has_it:
                self._give_back()

    def _take(self, me: int) -> bool:
        with _changed:
            try:
                while self._holder not in (None, me):
                    if self._waits_for(me):
                        return False
                    _waiting[me] = self
                    _changed.wait()
            finally:
                _waiting.pop(me, None)
            self._holder = me
            self._depth += 1
            return True

    def _waits_for(self, thread: int) -> bool:
        """Does the holder wait, by way of others perhaps, for what `thread` holds?"""
        lock, seen = self, set()
        while lock._holder in _waiting and lock._holder not in seen:
            seen.add(lock._holder)
            lock = _waiting[lock._holder]
        return lock._holder == thread

    def _give_back(self) -> None:
        with _changed:
            self._depth -= 1
            if self._depth == 0:
                self._holder = None
                _changed.notify_all()
