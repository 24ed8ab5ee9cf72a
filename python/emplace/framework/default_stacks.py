"""The default graph and the default session of each thread."""

from __future__ import annotations

from typing import Any

from emplace import _core
from emplace.framework.thread_state import own


class _DefaultSessions:
    stack = property(lambda self: own.sessions)

    def scope(self, item: Any) -> "_StackScope":
        return _StackScope(self, item)


class _DefaultGraphs(_core.ThreadState):
    """The same for graphs, where the C side can see it."""

    stack = _core.ThreadState.graphs

    def scope(self, item: Any) -> "_StackScope":
        return _StackScope(self, item)


class _StackScope:
    __slots__ = ("_owner", "_item")

    def __init__(self, owner: Any, item: Any) -> None:
        self._owner, self._item = owner, item

    def __enter__(self) -> Any:
        self._owner.stack.append(self._item)
        return self._item

    def __exit__(self, *_: Any) -> None:
        stack = self._owner.stack
        if not stack:
            return  # tf.test.TestCase starts over
        if stack[-1] is not self._item:
            raise AssertionError(f"Nesting violated for default stack of {type(self._item)} objects")
        stack.pop()


_default_graphs = _DefaultGraphs()
_default_sessions = _DefaultSessions()


def get_default_session() -> Any:
    """The session in whose `with` this thread is, or None."""
    return _default_sessions.stack[-1] if _default_sessions.stack else None


def _evaluate(fetch: Any, feed_dict: Any, graph: Any, session: Any) -> Any:
    """`fetch.eval()` and `fetch.run()`."""
    is_tensor = hasattr(fetch, "value_index")
    if session is None:
        session = get_default_session()
        if session is None:
            what = "evaluate tensor using `eval()`" if is_tensor else "execute operation using `run()`"
            raise ValueError(f"Cannot {what}: No default session is registered. Use `with sess.as_default(){'' if is_tensor else ':'}` or pass an explicit session to `{'eval' if is_tensor else 'run'}(session=sess)`")
        if session.graph is not graph:
            raise ValueError("Cannot use the default session to evaluate tensor: the tensor's graph is different from the session's graph. Pass an explicit session to `eval(session=sess)`.")
    elif session.graph is not graph:
        raise ValueError("Cannot use the given session to evaluate tensor: the tensor's graph is different from the session's graph.")
    return session.run(fetch, feed_dict)
