"""What a snippet is: a function of `tf` and how its outcome is to be compared."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Fed:
    """Fetches to run with these values fed."""

    fetches: Any
    feeds: dict[Any, Any]


@dataclass(frozen=True)
class Steps:
    """Fetches to run one after the other in one session; the results are a list."""

    runs: list[Any]


@dataclass(frozen=True)
class Told:
    """A plain Python value to compare; nothing is run."""

    value: Any


@dataclass(frozen=True)
class Snippet:
    name: str
    build: Callable[[Any], Any]
    initialize: bool = True  # run the variables' initializers first
    exact: bool = False  # floats must agree bit for bit
    words: bool = True  # an error's message counts, not only its class
    nodes: bool = True  # the graph that was made counts, not only the values
    cpus: int = 1


class Table:
    """Collects snippets under unique names."""

    def __init__(self) -> None:
        self.rows: dict[str, Snippet] = {}

    def put(self, name: str, build: Callable[[Any], Any], **how: Any) -> None:
        assert name not in self.rows, name
        self.rows[name] = Snippet(name, build, **how)

    def one_liners(
        self, prefix: str, rows: Iterable[tuple[str, Callable[[Any], Any]]], **how: Any
    ) -> None:
        for name, build in rows:
            self.put(f"{prefix}_{name}", build, **how)

    def __call__(self, function: Callable[[Any], Any] | None = None, **how: Any) -> Any:
        """`@snippet` or `@snippet(exact=True)` over a function of `tf`."""
        if function is None:
            return lambda f: self(f, **how)
        self.put(function.__name__, function, **how)
        return function
