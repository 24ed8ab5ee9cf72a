"""`with tf.device(…)`."""

from __future__ import annotations

import contextlib
import functools
from typing import Any, Iterator

from emplace.framework import errors


def device_text(device: Any) -> str:
    if device is None:
        return ""
    if hasattr(device, "to_string"):
        return device.to_string()
    if not isinstance(device, str):
        raise TypeError(f"Expected binary or unicode string, got {device!r}")
    return device


@functools.lru_cache(maxsize=1024)
def canonical_device(name: str) -> str:
    from emplace.framework import device_spec

    return device_spec.DeviceSpec.from_string(name).to_string()


def blocks(graph: Any) -> list[Any]:
    """What the open blocks say, outermost first."""
    return [scope._spec for scope in graph._thread.devices]


@contextlib.contextmanager
def within(graph: Any, specs: list[Any]) -> Iterator[None]:
    """In these blocks rather than the open ones."""
    with contextlib.ExitStack() as entered:
        for spec in [None, *specs]:
            entered.enter_context(graph.device(spec))
        yield


class _DeviceScope:
    """`with tf.device(…)`: a name, a DeviceSpec, a function of the operation, or None."""

    def __init__(self, graph: Any, spec: Any) -> None:
        self._graph = graph
        if spec is not None and not callable(spec) and not isinstance(spec, str) and not hasattr(spec, "to_string"):
            raise TypeError(f"Device must be a name, a DeviceSpec, a function or None, not {spec!r}")
        self._spec = spec
        self._scope: Any = None

    def __enter__(self) -> None:
        spec: Any = self._spec
        if hasattr(spec, "to_string"):
            spec = spec.to_string()
        elif callable(spec):
            function, graph = spec, self._graph
            spec = lambda node: device_text(function(graph._pending_op(node)))  # noqa: E731
        elif isinstance(spec, str):
            spec = canonical_device(spec)
        try:
            self._scope = self._graph._core.device(spec)
        except errors.InvalidArgumentError as e:
            raise ValueError(e.message) from None
        self._graph._thread.devices.append(self)

    def __exit__(self, *_: Any) -> None:
        stack = self._graph._thread.devices
        if not stack or stack[-1] is not self:
            raise RuntimeError("Exiting device scope without proper scope nesting.")
        stack.pop()
        self._scope.close()
