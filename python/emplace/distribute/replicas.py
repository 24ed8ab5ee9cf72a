"""Runs a function once for each replica of a strategy, in turn.

Each replica's call has a thread of its own, for `merge_call` stops it half-way; only one of them is ever awake. Where a
graph is being built all of them add to that graph, so nothing of this is left when it runs.
"""

from __future__ import annotations

import contextlib
import copy
import threading
from typing import Any, Callable, Iterator

from emplace.distribute import contexts, values
from emplace.eager import context
from emplace.framework import device_scope, ops, variable_scope
from emplace.framework.thread_state import own

_UNEVEN = "Some replicas made a different number of replica_context().merge_call() calls."
_NESTED = (
    "`merge_call` called while defining a new graph or a tf.function. This can often happen if the function `fn` passed to "
    "`strategy.run()` contains a nested `@tf.function`, and the nested `@tf.function` contains a synchronization point, such as "
    "aggregating gradients (e.g, optimizer.apply_gradients), or if the function `fn` uses a control flow statement which contains "
    "a synchronization point in the body. Such behaviors are not yet supported. Instead, please avoid nested `tf.function`s or "
    "control flow statements that may potentially cross a synchronization boundary, for example, wrap the `fn` passed to "
    "`strategy.run` or the entire `strategy.run` inside a `tf.function` or move the control flow out of `fn`. If you are "
    "subclassing a `tf.keras.Model`, please avoid decorating overridden methods `test_step` and `train_step` in `tf.function`."
)


class _Stopped(BaseException):
    """Ends the call of a replica whose step has failed elsewhere."""


class _Surroundings:
    """What the calling thread is in the middle of, for another thread that goes on for it."""

    def __init__(self) -> None:
        state = context._state
        self._lists = {name: list(getattr(state, name)) for name in ("graphs", "devices", "recorders")}
        self._eager = state.eager
        self._own = dict(vars(own))
        graph = self._lists["graphs"][-1] if self._lists["graphs"] else None
        self._graph = graph
        if graph is not None:
            self._of_graph = dict(vars(graph._thread))
            self._blocks, self._devices = graph._blocks, device_scope.blocks(graph)
            self._scope = graph._core.current_name_scope()

    @contextlib.contextmanager
    def taken_on(self) -> Iterator[None]:
        for name, value in self._lists.items():
            setattr(context._state, name, list(value))
        context._state.eager = self._eager
        vars(own).update({k: copy.copy(v) if isinstance(v, (list, dict)) else v for k, v in self._own.items()})
        with contextlib.ExitStack() as entered:
            if self._graph is not None:
                vars(self._graph._thread).update({**self._of_graph, "devices": []})
                self._graph._thread.variable_scope_counts = dict(self._of_graph.get("variable_scope_counts", {}))
                self._graph._blocks = self._blocks
                entered.enter_context(device_scope.within(self._graph, self._devices))
                if self._scope:
                    entered.enter_context(self._graph.name_scope(self._scope))
            yield


class Replica(threading.Thread):
    """The call of one replica; awake between `resume` and its next `merge_call` or its end."""

    def __init__(self, replica_context: Any, device: str, call: Callable[[], Any], around: _Surroundings, made: list[Any]) -> None:
        super().__init__(name=f"replica_{replica_context._index}", daemon=True)
        self._context, self._device, self._call, self._around = replica_context, device, call, around
        self._go, self._turn = threading.Semaphore(0), threading.Semaphore(0)
        self.result: Any = None
        self.error: BaseException | None = None
        self.ended = self._told_to_end = self._awake = False
        self.wanted: Any = None  # what it wants merged: function, arguments, keywords
        self.merged: Any = None
        self._made, self._taken = made, 0  # the variables that replicas make, in their order
        self.found_by_name: set[int] = set()  # those of a session's graph that `get_variable` has found

    def run(self) -> None:
        self._go.acquire()
        try:
            if not self._told_to_end:
                with self._around.taken_on():
                    self.result = in_replica(self._context, self._device, self._call)
        except BaseException as e:  # noqa: BLE001  (raised by who waits)
            self.error = e
        self.ended = True
        self._turn.release()

    def resume(self) -> None:
        """Lets it go on; returns once it waits or has ended."""
        self._awake = True
        self._go.release()
        self._turn.acquire()  # Ctrl-C ends the waiting, not the call
        self._awake = False
        if self.error is not None and not self._told_to_end:
            raise self.error

    def merge(self, wanted: Any) -> Any:
        """On the replica's own thread: waits until the others have come as far, and it is done."""
        self.wanted = wanted
        self._turn.release()
        self._go.acquire()
        if self._told_to_end:
            raise _Stopped
        return self.merged

    def shared_variable(self, make: Callable[[], Any]) -> Any:
        """The next variable that this replica makes: the first replica there makes it for all."""
        while self._taken < len(self._made) and id(self._made[self._taken]) in self.found_by_name:
            self._taken += 1
        if self._taken == len(self._made):
            with contexts.across(self._context.strategy):
                self._made.append(make())
        self._taken += 1
        return self._made[self._taken - 1]

    def stop(self) -> None:
        """Ends its call at the `merge_call` where it waits; one that is awake goes on to its next one."""
        self._told_to_end = True
        self._go.release()
        if not self._awake:
            self.join()


def in_replica(replica_context: Any, device: str, call: Callable[[], Any]) -> Any:
    """The call, on the calling thread, as that replica's."""
    with contexts.entered(contexts.Context(replica_context.strategy, replica_context, replica_context._index)):
        with context.device(device), _named(replica_context._index):
            if replica_context._index and contexts.in_session_graph():
                variable_scope.begin_reuse()
            return call()


def _named(index: int) -> Any:
    """What later replicas add to a graph bears their number."""
    return ops.get_default_graph().name_scope(f"replica_{index}") if index and not context.outside_graph() else contextlib.nullcontext()


def call_each(strategy: Any, replica_contexts: list[Any], devices: tuple[str, ...], fn: Any, args: Any, kwargs: Any) -> Any:
    """`fn` of what each replica sees of the arguments; its results put together."""
    calls = [_call(fn, i, args, kwargs) for i in range(len(devices))]
    if len(devices) == 1:
        return in_replica(replica_contexts[0], devices[0], calls[0])
    around, made = _Surroundings(), []
    replicas = [Replica(c, d, f, around, made) for c, d, f in zip(replica_contexts, devices, calls)]
    for c, r in zip(replica_contexts, replicas):
        c._thread, c._graph = r, None if context.outside_graph() else ops.get_default_graph()
        r.start()
    try:
        return _to_the_end(strategy, replicas)
    finally:
        for r in replicas:
            r.stop()


def _call(fn: Any, index: int, args: Any, kwargs: Any) -> Callable[[], Any]:
    return lambda: fn(*values.select(index, args), **values.select(index, kwargs))


def _to_the_end(strategy: Any, replicas: list[Replica]) -> Any:
    while True:
        for r in replicas:
            r.resume()
        if all(r.ended for r in replicas):
            return values.regroup([r.result for r in replicas])
        if any(r.ended for r in replicas):
            raise RuntimeError(_UNEVEN)
        merged = _merged(strategy, [r.wanted for r in replicas])
        for r in replicas:
            r.merged = values.select(r._context._index, merged)


def _merged(strategy: Any, wanted: list[Any]) -> Any:
    fn = wanted[0][0]
    args, kwargs = (values.regroup([w[i] for w in wanted]) for i in (1, 2))
    with contexts.across(strategy):
        return fn(strategy, *args, **kwargs)


def check_merge_graph(graph: Any) -> None:
    """RuntimeError where another graph is being built than the replica began with."""
    now = None if context.outside_graph() else ops.get_default_graph()
    if now is not graph:
        raise RuntimeError(_NESTED)
