"""Which strategy is in force, and whether code runs in a replica of it or across them."""

from __future__ import annotations

import contextlib
from typing import Any, Iterator, NamedTuple

from emplace.framework import dispatch, ops
from emplace.framework.thread_state import own

_NOT_IN_CROSS = "Method requires being in cross-replica context, use get_replica_context().merge_call()"


class Context(NamedTuple):
    """An entry of a thread's `own.distribution`. `replica` is None across replicas; `index`: of the replica whose copies of
    variables are meant."""

    strategy: Any
    replica: Any = None
    index: int | None = None

    @property
    def key(self) -> Any:
        """What tells the traces of functions apart."""
        return id(self.strategy), self.replica is None, self.index

    def variable(self, args: Any, kwargs: dict[str, Any]) -> Any:
        """What `tf.Variable(…)` makes here; None where that is none of the strategy's business."""
        from emplace.distribute import variables

        return variables.made_in(self, args, kwargs)

    def graph_variable(self, given: dict[str, Any]) -> Any:
        """What version 1's `tf.Variable(…)` makes here, in a graph; None where that is none of the strategy's business."""
        from emplace.distribute import variables

        return variables.made_in_graph(self, given)

    def found_variable(self, variable: Any) -> None:
        """Told when `get_variable` gives one that is there already."""
        thread = getattr(self.replica, "_thread", None)
        if thread is not None:
            thread.found_by_name.add(id(variable))


_default: Any = None  # the strategy in force where none was chosen
_chosen: Any = None  # by `experimental_set_strategy`


def _default_strategy() -> Any:
    global _default
    if _default is None:
        from emplace.distribute import strategy

        _default = strategy.DefaultStrategy()
    return _default


def current() -> Context:
    """The innermost context."""
    if own.distribution:
        return own.distribution[-1]
    if _chosen is not None:
        return Context(_chosen)
    return Context(_default_strategy(), _default_strategy().extended._replica_context(), None)


@contextlib.contextmanager
def entered(context: Context) -> Iterator[None]:
    """Within it the context is the calling thread's innermost."""
    own.distribution.append(context)
    try:
        with building(context.strategy):
            yield
    finally:
        own.distribution.pop()


def building(strategy: Any) -> Any:
    """Within it the default graph is open, if the strategy is of version 1 and nothing runs eagerly."""
    if not strategy._of_version1 or ops._default_graphs.stack or dispatch.executing_eagerly():
        return contextlib.nullcontext()
    return ops.get_default_graph().as_default()


def in_session_graph() -> bool:
    """Whether a graph is being built that a session runs."""
    return bool(ops._default_graphs.stack) and not ops._default_graphs.stack[-1]._captures


def across(strategy: Any) -> Any:
    """Within it code runs across the strategy's replicas."""
    return entered(Context(strategy))


def updating(strategy: Any, index: int) -> Any:
    """… and changes the copies of one replica."""
    return entered(Context(strategy, None, index))


def replica_index() -> int | None:
    """Of the replica that the code runs in, or whose variables it updates."""
    return own.distribution[-1].index if own.distribution else None


def get_strategy() -> Any:
    """The strategy in whose scope or replica the caller is, else the default one."""
    return current().strategy


def has_strategy() -> bool:
    """Whether a strategy other than the default one is in force."""
    return get_strategy() is not _default_strategy()


def get_replica_context() -> Any:
    """The context of the replica that the caller runs in, None across replicas."""
    return current().replica


def in_cross_replica_context() -> bool:
    """Whether the caller is in a strategy's scope, or in what it merges, and in no replica."""
    return current().replica is None


def in_replica_of(strategy: Any) -> bool:
    """Whether the caller runs in a replica of this strategy."""
    return bool(own.distribution) and own.distribution[-1].strategy is strategy and own.distribution[-1].replica is not None


def experimental_set_strategy(strategy: Any) -> None:
    """Makes a strategy the one in force without a `with`; None goes back to the default."""
    global _chosen
    if own.distribution:
        raise RuntimeError("Must not be called inside a `tf.distribute.Strategy` scope.")
    _chosen = None if strategy is _default else strategy


def require_cross(strategy: Any) -> None:
    """RuntimeError in a replica of a strategy."""
    if own.distribution and own.distribution[-1].replica is not None and own.distribution[-1].strategy.extended._several:
        raise RuntimeError(_NOT_IN_CROSS)


def maybe_merge_call(fn: Any, strategy: Any, *args: Any, **kwargs: Any) -> Any:
    """`fn(strategy, …)` across replicas, by way of `merge_call` where the caller is in one."""
    replica = get_replica_context()
    return fn(strategy, *args, **kwargs) if replica is None else replica.merge_call(fn, args=args, kwargs=kwargs)


def strategy_supports_no_merge_call() -> bool:
    """Whether replicas can update variables without merging first: none of ours asks for it."""
    return False
