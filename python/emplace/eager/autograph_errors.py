"""Errors of converted code, told in terms of the code that was written."""

from __future__ import annotations

import os
from typing import Any

import emplace
from emplace.framework import errors

_PLAIN = (
    AssertionError, AttributeError, NameError, NotImplementedError, RuntimeError, StopIteration, TypeError, UnboundLocalError,
    ValueError, errors.OperatorNotAllowedInGraphError,
)  # fmt: skip


def _of_the_user(file: str, own: Any) -> bool:
    ours = (os.path.dirname(os.path.abspath(emplace.__file__)), os.path.dirname(os.path.dirname(own.__file__)))
    return not any(file.startswith(folder + os.sep) for folder in ours)


def _message(metadata: Any, own: Any) -> str:
    lines = ["in user code:", ""]
    for frame in reversed(metadata.translated_stack):
        if not _of_the_user(frame.filename, own):
            continue
        mark = "  *" if frame.is_converted else "  **" if frame.is_allowlisted else ""
        lines.append(f'    File "{frame.filename}", line {frame.lineno}, in {frame.function_name}{mark}')
        lines.append(f"        {'<source unavailable>' if frame.code is None else frame.code.strip()}")
    lines.append("")
    lines += [f"    {line}" for line in metadata.cause_message.split("\n")]
    return "\n".join([*lines, ""])


def in_user_code(error: BaseException, own: Any) -> BaseException | None:
    """The error with the user's lines in its message; None where nothing is known of them."""
    metadata = getattr(error, "ag_error_metadata", None)
    if metadata is None:
        return None
    told = _like(error, _message(metadata, own), own)
    told.ag_error_metadata = metadata  # type: ignore[attr-defined]
    return told


def _like(error: BaseException, message: str, own: Any) -> BaseException:
    kind = type(error)
    if isinstance(error, errors.OpError):
        return kind(error._node_def, error._op, message)
    if kind in _PLAIN or kind.__init__ is Exception.__init__:
        return kind(message)
    if kind is KeyError:
        return own.error_utils.MultilineMessageKeyError(message, error.args[0] if error.args else "")
    return own.StagingError(message)
