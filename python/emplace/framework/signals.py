"""What a signal's handler raised is nobody's error: it goes on to the program, whoever is in its way."""

from __future__ import annotations

import signal
import traceback


def raised_by_handler(e: BaseException) -> bool:
    """Did a handler of the program's raise it, or Ctrl-C?"""
    if not isinstance(e, Exception):
        return True
    handlers = {getattr(signal.getsignal(s), "__code__", None) for s in signal.valid_signals()}
    return any(frame.f_code in handlers for frame, _ in traceback.walk_tb(e.__traceback__))
