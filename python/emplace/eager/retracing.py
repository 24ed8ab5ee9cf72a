"""Notices functions that are traced again and again, and says so once."""

from __future__ import annotations

import collections
import threading
import weakref
from typing import Any

_RECENT = 10  # calls
_MANY = 5  # traces among them

_SAID = (
    "%d out of the last %d calls to %s triggered tf.function retracing. A trace costs far more than a call. Reasons are: the tf.function is "
    "made anew in a loop (make it once, outside), tensors come in ever other shapes (reduce_retracing=True, or an input_signature), or Python "
    "values are passed where tensors could be."
)


class _Record:
    """Of one piece of code, however many functions are made of it."""

    def __init__(self) -> None:
        self.calls = 0
        self.traces: collections.deque[int] = collections.deque()  # which calls they were
        self.said = False


_lock = threading.Lock()
_records: weakref.WeakKeyDictionary[Any, _Record] = weakref.WeakKeyDictionary()


def called(python_function: Any, quick_calls: int, traced: bool) -> None:
    """After a call; `quick_calls`: so many went without Python since the last."""
    code = getattr(python_function, "__code__", None)
    if code is None:
        return
    with _lock:
        record = _records.setdefault(code, _Record())
        record.calls += quick_calls + 1
        if not traced or record.said:
            return
        record.traces.append(record.calls)
        while record.calls - record.traces[0] >= _RECENT:
            record.traces.popleft()
        record.said = len(record.traces) >= _MANY
        counts = len(record.traces), record.calls - record.traces[0] + 1
    if record.said:
        from emplace.compat.v1 import logging

        logging.warning(_SAID, *counts, python_function)
