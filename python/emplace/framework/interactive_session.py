"""A session that makes itself the default one, for shells and notebooks."""

from __future__ import annotations

from typing import Any

from emplace.framework import ops
from emplace.framework.session import BaseSession


class InteractiveSession(BaseSession):
    """A session that is the default one from the start, so that `eval` and `run` work without a `with`."""

    _active = 0

    def __init__(self, target: Any = "", graph: Any = None, config: Any = None) -> None:
        from emplace.proto import config_pb2

        own = config_pb2.ConfigProto()
        if config is not None:
            own.CopyFrom(config)
        own.graph_options.place_pruned_graph = True
        super().__init__(target, graph, own)
        if InteractiveSession._active > 0:
            import warnings

            warnings.warn("An interactive session is already active. This can cause out-of-memory errors in some cases. You must explicitly call `InteractiveSession.close()` to release resources held by the other session(s).")
        InteractiveSession._active += 1
        self._explicit_graph = graph
        self._graph_context: Any = None
        if graph is not None:
            self._graph_context = graph.as_default()
            self._graph_context.__enter__()
        self._default_context = self.as_default()
        self._default_context.__enter__()

    def close(self) -> None:
        if self._closed:
            return
        super().close()
        InteractiveSession._active -= 1
        if self._default_context is not None:
            stack = ops._default_sessions.stack
            if self in stack:
                stack.remove(self)
            if self._graph_context is not None and self._explicit_graph in ops._default_graphs.stack:
                ops._default_graphs.stack.remove(self._explicit_graph)
