"""Session.partial_run: one step in pieces, each operation run once.

With every piece whatever no longer waits for a feed is run; what later pieces need of it is kept and
fed to them.
"""

from __future__ import annotations

import itertools
from typing import Any

from emplace.framework import errors, ops
from emplace.framework.fetches import _fetch_tree

_numbers = itertools.count()


def _refuse(words: str) -> None:
    raise errors.InvalidArgumentError(None, None, words)


class PartialRun:
    """A step that has been set up: what may be fed and fetched, and what has been."""

    def __init__(self, session: Any, fetches: Any, feeds: Any) -> None:
        graph = session.graph
        self._session = session
        wanted = _fetch_tree(graph, fetches).elements
        self._wanted = [graph.as_graph_element(e) for e in wanted]
        self._feeds = [graph.as_graph_element(f, allow_operation=False) for f in feeds or []]
        self._unfed = set(self._feeds)
        self._open = set(self._wanted)
        self._values: dict[Any, Any] = {}
        self._done: set[Any] = set()
        self._waits: dict[Any, bool] = {}
        if not self._wanted:
            _refuse("Must specify at least one target to fetch or execute.")
        self._needed = self._ancestors(self._wanted)
        self.handle = f"partial_run_{next(_numbers)}"

    def _ancestors(self, wanted: list[Any]) -> list[Any]:
        """What computes these from the feeds, in the order it was made."""
        found: dict[Any, None] = {}
        waiting = [e if isinstance(e, ops.Operation) else e.op for e in wanted if e not in self._feeds]
        while waiting:
            op = waiting.pop()
            if op in found:
                continue
            found[op] = None
            waiting += [t.op for t in op.inputs if t not in self._feeds] + list(op.control_inputs)
        return sorted(found, key=lambda op: op._id)

    def _is_waiting(self, op: Any) -> bool:
        """Does it depend on what has not been fed?"""
        if op in self._done:
            return False
        if op not in self._waits:
            self._waits[op] = any(t in self._unfed or t not in self._values and self._is_waiting(t.op) for t in op.inputs) or any(
                self._is_waiting(c) for c in op.control_inputs
            )
        return self._waits[op]

    def run(self, fetches: Any, feed_dict: Any) -> Any:
        graph = self._session.graph
        tree = _fetch_tree(graph, fetches)
        asked = [graph.as_graph_element(e) for e in tree.elements]
        fed = {graph.as_graph_element(k, allow_operation=False): v for k, v in (feed_dict or {}).items()}
        self._check(asked, fed)
        self._values.update(fed)
        self._unfed -= set(fed)
        self._step()
        self._open -= set(asked)
        if not self._open and not self._unfed:
            self._session._partial_runs.pop(self.handle, None)
        return tree.build([None if isinstance(e, ops.Operation) else self._values[e] for e in asked])

    def _check(self, asked: list[Any], fed: dict[Any, Any]) -> None:
        """Refuses the whole piece before anything of it counts."""
        for t in fed:
            if t not in self._feeds:
                _refuse(f"The feed {t.name} was not specified in partial_run_setup.")
            if t not in self._unfed:
                _refuse(f"The feed {t.name} has already been fed.")
        for e in asked:
            if e not in self._wanted:
                _refuse(f"The fetch {e.name} was not specified in partial_run_setup.")
            if e not in self._open:
                _refuse(f"The fetch {e.name} has already been fetched.")
        missing = self._unfed - set(fed)
        read = asked + [t for op in self._ancestors(asked) for t in op.inputs]
        for t in read:
            if t in missing:
                _refuse(f"Fetch {t.name} can't be computed from the feeds that have been fed so far.")

    def _step(self) -> None:
        self._waits = {}
        now = [op for op in self._needed if op not in self._done and not self._is_waiting(op)]
        running = set(now)
        later = [op for op in self._needed if op not in self._done and op not in running]
        kept = {t for op in later for t in op.inputs if t.op in running and t not in self._values}
        kept |= {e for e in self._wanted if not isinstance(e, ops.Operation) and e.op in running and e not in self._values}
        feeds = {t: self._values[t] for op in now for t in op.inputs if t in self._values}
        kept_list = list(kept)
        if now:
            found = self._session.run([kept_list, now], feed_dict=feeds or None)
            self._values.update(zip(kept_list, found[0]))
        for t in self._wanted:
            if t in self._feeds and t in self._values:
                self._done.add(t.op)
        self._done |= running
