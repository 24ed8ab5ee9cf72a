"""Where a call goes: into a graph, or straight to a kernel."""

from __future__ import annotations

from typing import Any

from emplace.framework import gen

# Set by the eager package when it is loaded.
execute_eagerly: Any = None
executing_eagerly: Any = lambda: False  # noqa: E731


def execute(op_type: str, inputs: list[Any], attrs: dict[str, Any], name: str | None = None) -> Any:
    if execute_eagerly is not None and executing_eagerly():
        return execute_eagerly(op_type, inputs, attrs, name)
    return gen.apply(op_type, inputs, attrs, name)
