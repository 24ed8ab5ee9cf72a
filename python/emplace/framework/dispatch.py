"""Where a call goes: into a graph, or straight to a kernel."""

from __future__ import annotations

from typing import Any

from emplace import _core

# Set by the eager package when it is loaded.
execute_eagerly: Any = None  # (op, inputs, attributes, name) -> outputs
executing_eagerly: Any = lambda: False  # noqa: E731
runs_eagerly: Any = None  # (inputs) -> does a call with them run at once?

# (op_type, inputs, attrs=None, name=None) -> outputs
execute = _core.apply
