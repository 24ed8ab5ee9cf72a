"""`tf.autograph`."""

from __future__ import annotations

import enum
import functools
import inspect
from typing import Any

from emplace.eager import autograph


class Feature(enum.Enum):
    """Optional parts of the conversion; all that is there is always on."""

    ALL = "ALL"
    AUTO_CONTROL_DEPS = "AUTO_CONTROL_DEPS"
    ASSERT_STATEMENTS = "ASSERT_STATEMENTS"
    BUILTIN_FUNCTIONS = "BUILTIN_FUNCTIONS"
    EQUALITY_OPERATORS = "EQUALITY_OPERATORS"
    LISTS = "LISTS"
    NAME_SCOPES = "NAME_SCOPES"


def do_not_convert(func: Any = None) -> Any:
    """The function as it is written."""
    if func is None:
        return do_not_convert

    @functools.wraps(func)
    def plain(*args: Any, **kwargs: Any) -> Any:
        return func(*args, **kwargs)

    plain.__module__ = __name__  # ours: left alone by the conversion
    return plain


def to_graph(entity: Any, recursive: bool = True, experimental_optional_features: Any = None) -> Any:
    """The function with its `if`, `while` and `for` converted."""

    @functools.wraps(entity)
    def converted(*args: Any, **kwargs: Any) -> Any:
        return autograph.call(entity, args, kwargs)

    return converted


def to_code(entity: Any, recursive: bool = True, experimental_optional_features: Any = None) -> str:
    """The converted source."""
    made = autograph.converted(getattr(entity, "python_function", entity))
    return inspect.getsource(made).replace("ag__" + entity.__name__, "tf__" + entity.__name__)


def set_verbosity(level: int, alsologtostdout: bool = False) -> None:
    """The conversion says nothing of itself."""


def trace(*args: Any) -> None:
    """Sum of the diagonal of each innermost matrix."""
    print(*args)


def __getattr__(name: str) -> Any:
    if name == "set_loop_options":  # what the conversion knows by identity
        from malt.lang import directives

        return directives.set_loop_options
    raise AttributeError(name)
