"""TensorFlow's sixteen error classes."""

from __future__ import annotations

from typing import Any

from emplace.framework import listing

OK = 0
CANCELLED = 1
UNKNOWN = 2
INVALID_ARGUMENT = 3
DEADLINE_EXCEEDED = 4
NOT_FOUND = 5
ALREADY_EXISTS = 6
PERMISSION_DENIED = 7
RESOURCE_EXHAUSTED = 8
FAILED_PRECONDITION = 9
ABORTED = 10
OUT_OF_RANGE = 11
UNIMPLEMENTED = 12
INTERNAL = 13
UNAVAILABLE = 14
DATA_LOSS = 15
UNAUTHENTICATED = 16


class OperatorNotAllowedInGraphError(TypeError):
    """A Python operation that needs a value, asked of a tensor that has none yet."""


class InaccessibleTensorError(ValueError):
    """A tensor of a function used where that function is not being traced."""


class OpError(Exception):
    """An operation could not be placed, planned or run."""

    _code = UNKNOWN

    def __init__(self, node_def: Any, op: Any, message: str, error_code: int | None = None) -> None:
        super().__init__()
        self._node_def = node_def
        self._op = op
        self._message = message
        self._error_code = self._code if error_code is None else error_code
        self._node_name = ""
        self._device = ""
        self._source = ""

    @property
    def message(self) -> str:
        return self._message

    @property
    def op(self) -> Any:
        return self._op

    @property
    def node_def(self) -> Any:
        if self._node_def is None and self._op is not None:
            self._node_def = self._op.node_def
        return self._node_def

    @property
    def error_code(self) -> int:
        return self._error_code

    def __str__(self) -> str:
        text = self._message
        if self._op is not None and "[[" not in text:
            text += f"\n\t [[{{{{node {self._node_name}}}}}]]"
        file, _, line = self._source.rpartition(":")
        if self._op is not None and file:
            text += f'\n\nOriginal stack trace for {self._node_name!r}:\n  File "{file}", line {line}'
        elif file:
            text += f'\n\nNode {self._node_name!r} was made in\n  File "{file}", line {line}'
        return text

    def __reduce__(self) -> Any:
        return _rebuild, (self._error_code, self._message)


def _make(name: str, code: int, doc: str) -> type[OpError]:
    def __init__(self: Any, node_def: Any, op: Any, message: str, *_: Any) -> None:
        OpError.__init__(self, node_def, op, message, code)

    return type(name, (OpError,), {"_code": code, "__doc__": doc, "__init__": __init__, "__module__": __name__})


CancelledError = _make("CancelledError", CANCELLED, "The operation was cancelled.")
UnknownError = _make("UnknownError", UNKNOWN, "An error of unknown kind.")
InvalidArgumentError = _make("InvalidArgumentError", INVALID_ARGUMENT, "An argument is not valid.")
DeadlineExceededError = _make("DeadlineExceededError", DEADLINE_EXCEEDED, "Time ran out.")
NotFoundError = _make("NotFoundError", NOT_FOUND, "Something asked for does not exist.")
AlreadyExistsError = _make("AlreadyExistsError", ALREADY_EXISTS, "Something to be made exists.")
PermissionDeniedError = _make("PermissionDeniedError", PERMISSION_DENIED, "The caller may not.")
ResourceExhaustedError = _make("ResourceExhaustedError", RESOURCE_EXHAUSTED, "Memory ran out.")
FailedPreconditionError = _make("FailedPreconditionError", FAILED_PRECONDITION, "The state does not allow it.")
AbortedError = _make("AbortedError", ABORTED, "The operation was aborted.")
OutOfRangeError = _make("OutOfRangeError", OUT_OF_RANGE, "Past the valid range.")
UnimplementedError = _make("UnimplementedError", UNIMPLEMENTED, "Not to be had here.")
InternalError = _make("InternalError", INTERNAL, "An invariant is broken.")
UnavailableError = _make("UnavailableError", UNAVAILABLE, "Not available now.")
DataLossError = _make("DataLossError", DATA_LOSS, "Data is lost or damaged.")
UnauthenticatedError = _make("UnauthenticatedError", UNAUTHENTICATED, "The caller is not known.")

_CLASSES = {
    c._code: c
    for c in (
        CancelledError, UnknownError, InvalidArgumentError, DeadlineExceededError, NotFoundError,
        AlreadyExistsError, PermissionDeniedError, ResourceExhaustedError, FailedPreconditionError,
        AbortedError, OutOfRangeError, UnimplementedError, InternalError, UnavailableError,
        DataLossError, UnauthenticatedError,
    )
}


def exception_type_from_error_code(error_code: int) -> type[OpError]:
    """The class of errors of a code, such as 3 for InvalidArgumentError."""
    return _CLASSES[error_code]


def error_code_from_exception_type(cls: type[OpError]) -> int:
    """The code of a class of errors."""
    return cls._code


def _rebuild(code: int, message: str) -> OpError:
    return _CLASSES.get(code, UnknownError)(None, None, message)  # type: ignore[call-arg]


def from_core(code: int, message: str, node: str, op: str, device: str, source: str) -> OpError:
    """Called by the engine for each error it throws."""
    error = _rebuild(code, message)
    error._node_name = node
    error._device = device
    error._source = source
    return error


# TensorFlow does not list all that it has either.
__dir__ = listing.of_module(globals(), hidden=("InaccessibleTensorError", "from_core"))
