"""tf.logging: levels and messages on stderr."""

from __future__ import annotations

import logging as _logging
import sys
from typing import Any
from emplace.framework import listing as _listing

DEBUG, INFO, WARN, ERROR, FATAL = 10, 20, 30, 40, 50
_logger: _logging.Logger | None = None


class _Format(_logging.Formatter):
    """`I0102 03:04:05.678901 1234 file.py:12] text`."""

    def format(self, record: _logging.LogRecord) -> str:
        import time

        t = time.localtime(record.created)
        stamp = time.strftime("%m%d %H:%M:%S", t) + f".{int(record.msecs * 1000):06d}"
        letter = "F" if record.levelno >= FATAL else record.levelname[0]
        return f"{letter}{stamp} {record.thread} {record.filename}:{record.lineno}] {record.getMessage()}"


class _Handler(_logging.StreamHandler):  # type: ignore[type-arg]
    @property
    def stream(self) -> Any:
        return sys.stderr

    @stream.setter
    def stream(self, _: Any) -> None:
        pass


def get_logger() -> _logging.Logger:
    """The Python logger behind this module; it writes to stderr and starts at WARN."""
    global _logger
    if _logger is None:
        _logger = _logging.getLogger("emplace")
        if _logger.level == _logging.NOTSET:  # else the program has chosen
            _logger.setLevel(WARN)
        if not _logging.getLogger().handlers:
            handler = _Handler()
            handler.setFormatter(_Format())
            _logger.addHandler(handler)
            _logger.propagate = False
    return _logger


def log(level: int, msg: str, *args: Any, **kwargs: Any) -> None:
    """Logs a message at a level; `args` go into its %-places."""
    get_logger().log(level, msg, *args, stacklevel=2, **kwargs)


def debug(msg: str, *args: Any, **kwargs: Any) -> None:
    """Logs a message for those who look for an error."""
    get_logger().debug(msg, *args, stacklevel=2, **kwargs)


def info(msg: str, *args: Any, **kwargs: Any) -> None:
    """Logs a message about the usual course of things."""
    get_logger().info(msg, *args, stacklevel=2, **kwargs)


def warning(msg: str, *args: Any, **kwargs: Any) -> None:
    """Logs a message about something odd that does not stop the work."""
    get_logger().warning(msg, *args, stacklevel=2, **kwargs)


warn = warning


def error(msg: str, *args: Any, **kwargs: Any) -> None:
    """Logs a message about something that went wrong."""
    get_logger().error(msg, *args, stacklevel=2, **kwargs)


def fatal(msg: str, *args: Any, **kwargs: Any) -> None:
    """Logs a message at the level FATAL; the program goes on."""
    get_logger().log(FATAL, msg, *args, stacklevel=2, **kwargs)


vlog = log


def set_verbosity(level: Any) -> None:
    """The least level that is written, as a number or a name such as "INFO"."""
    get_logger().setLevel(level if not isinstance(level, str) else level.upper())


def get_verbosity() -> int:
    """The least level that is written, as a number."""
    return get_logger().getEffectiveLevel()


def flush() -> None:
    """Writes out what the handlers still hold."""
    for handler in get_logger().handlers:
        handler.flush()


def _counted(counts: dict[Any, int] = {}) -> int:  # noqa: B006
    frame = sys._getframe(2)
    key = (frame.f_code.co_filename, frame.f_lineno)
    counts[key] = counts.get(key, -1) + 1
    return counts[key]


def log_first_n(level: int, msg: str, n: int, *args: Any) -> None:
    """Logs only the first `n` times that this line of the program is reached."""
    if _counted() < n:
        log(level, msg, *args)


def log_every_n(level: int, msg: str, n: int, *args: Any) -> None:
    """Logs every `n`th time that this line of the program is reached, the first time included."""
    if _counted() % n == 0:
        log(level, msg, *args)


def log_if(level: int, msg: str, condition: Any, *args: Any) -> None:
    """Logs only where the condition holds."""
    if condition:
        log(level, msg, *args)

__dir__ = _listing.of_module(globals())
