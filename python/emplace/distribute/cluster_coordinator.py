"""`ClusterCoordinator`: functions are put into a queue, and workers take them as they become free.

Each worker has a thread here, which calls functions with the worker as their device. When a worker is gone its function goes
back into the queue, and its thread waits until it is up again, makes its datasets anew and goes on.
"""

from __future__ import annotations

import collections
import contextlib
import threading
from typing import Any, Callable

from emplace.distribute import parameter_servers
from emplace.eager import context, nest, remote
from emplace.framework import errors
from emplace.framework.thread_state import own

_POLL_S = 0.2  # between looks for a worker that is gone


class RemoteValue:
    """What a scheduled function is going to give."""

    def __init__(self) -> None:
        self._ended = threading.Event()
        self._value: Any = None
        self._error: BaseException | None = None

    def _end(self, value: Any = None, error: BaseException | None = None) -> None:
        self._value, self._error = value, error
        self._ended.set()

    def get(self) -> Any:
        """Waits for it: tensors."""
        self._ended.wait()
        if self._error is not None:
            raise self._error
        return self._value

    def fetch(self) -> Any:
        """Waits for it: arrays and numbers of NumPy."""
        return nest.map_structure(lambda v: v.numpy() if hasattr(v, "numpy") else v, self.get())


class PerWorkerValues:
    """A value for each worker: a scheduled function that is given it gets its worker's."""

    def __init__(self, values: Any) -> None:
        self._values = tuple(values)


class _Made:
    """What is made on each worker, and again when it has come back."""

    def __init__(self, workers: list["_Worker"], make: Callable[[], Any]) -> None:
        self._make, self._made = make, {}
        self._lock = threading.Lock()
        for worker in workers:
            worker.made.append(self)

    def forget(self, index: int) -> None:
        with self._lock:
            self._made.pop(index, None)

    def of(self, index: int) -> Any:
        """Called on the worker's thread."""
        with self._lock:
            found = self._made.get(index)
        if found is None:
            found = self._make()
            with self._lock:
                self._made[index] = found
        return found


class PerWorkerIterator(PerWorkerValues):
    """Iterators on the workers, over a dataset of each."""

    def __init__(self, dataset: "PerWorkerDataset") -> None:
        self._dataset = dataset
        self._iterators = _Made(dataset._workers, lambda: iter(dataset._datasets.of(own.worker[-1])))

    def _of_worker(self, index: int) -> Any:
        return self._iterators.of(index)

    def __next__(self) -> Any:
        raise NotImplementedError("Iterating over an `AsyncDistributedIterator` is not supported right now.")

    get_next = __next__


class PerWorkerDataset:
    """A dataset on each worker; `iter` of it is an argument of scheduled functions."""

    def __init__(self, workers: list["_Worker"], source: Any) -> None:
        self._workers = workers
        self._datasets = _Made(workers, source if callable(source) else lambda: source)

    def __iter__(self) -> PerWorkerIterator:
        if not context.executing_eagerly():
            raise RuntimeError("__iter__() is not supported inside of tf.function or in graph mode.")
        return PerWorkerIterator(self)


class _Call:
    """A function that waits for a worker."""

    def __init__(self, fn: Callable[..., Any], args: Any, kwargs: Any) -> None:
        self._fn, self._given = fn, (tuple(args or ()), dict(kwargs or {}))
        if any(isinstance(v, RemoteValue) for v in nest.flatten(list(self._given))):
            raise ValueError("`tf.distribute.experimental.coordinator.RemoteValue` used as an input to scheduled function is not supported.")
        self.result = RemoteValue()

    def on(self, index: int) -> Any:
        def own_part(value: Any) -> Any:
            if hasattr(value, "_of_worker"):
                return value._of_worker(index)
            return value._values[index] if isinstance(value, PerWorkerValues) else value

        args, kwargs = nest.map_structure(own_part, self._given)
        return self._fn(*args, **kwargs)


class _Queue:
    """Calls that wait or are under way; the first error stays until it is told."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._calls: collections.deque[_Call] = collections.deque()
        self._running = 0
        self._error: BaseException | None = None
        self.closed = False

    def put(self, call: _Call) -> None:
        with self._changed:
            self._raise_error()
            self._calls.append(call)
            self._changed.notify_all()

    def take(self) -> _Call | None:
        with self._changed:
            self._changed.wait_for(lambda: self.closed or self._calls)
            if self.closed:
                return None
            self._running += 1
            return self._calls.popleft()

    def put_back(self, call: _Call) -> None:
        with self._changed:
            self._running -= 1
            if self._error is None:
                self._calls.appendleft(call)
            else:
                _cancel(call)
            self._changed.notify_all()

    def ended(self, error: BaseException | None = None) -> None:
        with self._changed:
            self._running -= 1
            if error is not None:
                self._error = self._error or error
                while self._calls:
                    _cancel(self._calls.popleft())
            self._changed.notify_all()

    def join(self) -> None:
        with self._changed:
            while self._running or self._calls:
                self._changed.wait(1.0)  # Ctrl-C is heard
            self._raise_error()

    def done(self) -> bool:
        with self._changed:
            self._raise_error()
            return not self._running and not self._calls

    def close(self) -> None:
        with self._changed:
            self.closed = True
            while self._calls:
                _cancel(self._calls.popleft())
            self._changed.notify_all()

    def _raise_error(self) -> None:
        self._changed.wait_for(lambda: self._error is None or not self._running)
        error, self._error = self._error, None
        if error is not None:
            raise error


def _cancel(call: _Call) -> None:
    call.result._end(error=errors.CancelledError(None, None, "The corresponding function is cancelled. Please reschedule the function."))


class _Worker(threading.Thread):
    """Calls functions on one worker."""

    def __init__(self, index: int, strategy: Any, queue: _Queue, alive: "_Alive") -> None:
        super().__init__(name=f"worker_{index}", daemon=True)
        self.made: list[_Made] = []
        self._index, self._strategy, self._queue, self._alive = index, strategy, queue, alive
        self.start()

    def run(self) -> None:
        with self._strategy.scope(), self._as_worker():
            while (call := self._queue.take()) is not None:
                self._process(call)

    @contextlib.contextmanager
    def _as_worker(self) -> Any:
        own.worker.append(self._index)
        context._state.eager += 1
        with context.device(f"/job:worker/replica:0/task:{self._index}"):
            yield

    def _process(self, call: _Call) -> None:
        try:
            made = call.on(self._index)
        except Exception as e:
            if not _is_worker_gone(e, self._index):
                call.result._end(error=e)
                self._queue.ended(e)
                return
            self._queue.put_back(call)
            self._recover(e)
            return
        call.result._end(made)
        self._queue.ended()

    def _recover(self, why: Exception) -> None:
        from emplace.distribute.strategy import log

        log().info(f"Worker {self._index} has been disconnected: {type(why).__name__}. It is waited for.")
        for m in self.made:
            m.forget(self._index)
        if self._alive.again(self._index, lambda: self._queue.closed):
            log().info(f"Worker {self._index} has been reconnected.")


class _Alive:
    """The tasks that this process is connected to."""

    def __init__(self, spec: Any) -> None:
        self._spec, self._lock, self._gone = spec, threading.Lock(), set()

    def again(self, index: int, given_up: Callable[[], bool]) -> bool:
        """Waits until the worker is up, and connects to it."""
        wait = threading.Event()
        self._gone.add(index)
        while not given_up():
            if remote.listens(self._spec.task_address("worker", index)):
                with self._lock:
                    self._gone.discard(index)
                    remote.connect_again(self._spec, {("worker", i) for i in self._gone})
                return True
            wait.wait(_POLL_S)
        return False


def _is_worker_gone(error: Exception, index: int) -> bool:
    if not isinstance(error, (errors.UnavailableError, errors.AbortedError)):
        return False
    return f"/job:worker/replica:0/task:{index}" in str(error)


class ClusterCoordinator:
    """Hands functions to the workers of a `ParameterServerStrategy`; there is one for a strategy."""

    def __new__(cls, strategy: Any) -> Any:
        found = getattr(strategy, "_coordinator", None)
        return found if found is not None else super().__new__(cls)

    def __init__(self, strategy: Any) -> None:
        if not isinstance(strategy, parameter_servers.ParameterServerStrategy):
            raise ValueError("Only `tf.distribute.experimental.ParameterServerStrategy` is supported to work with `tf.distribute.experimental.coordinator.ClusterCoordinator` currently.")
        if strategy._coordinator is not None:
            return
        strategy._coordinator = self
        self._strategy, self._queue = strategy, _Queue()
        spec = strategy.cluster_resolver.cluster_spec()
        alive = _Alive(spec)
        self._workers = [_Worker(i, strategy, self._queue, alive) for i in spec.task_indices("worker")]

    strategy = property(lambda self: self._strategy)

    def schedule(self, fn: Any, args: Any = None, kwargs: Any = None) -> RemoteValue:
        """Puts a function into the queue, and returns at once. The error of an earlier one is raised here, or by `join`."""
        if not callable(fn):
            raise TypeError("`tf.distribute.experimental.coordinator.ClusterCoordinator.schedule` only accepts a `tf.function` or a concrete function.")
        call = _Call(fn, args, kwargs)
        self._queue.put(call)
        return call.result

    def join(self) -> None:
        """Waits until all scheduled functions have ended; raises the first error of one."""
        self._queue.join()

    def done(self) -> bool:
        """Whether all scheduled functions have ended; raises the first error of one."""
        return self._queue.done()

    def create_per_worker_dataset(self, dataset_fn: Any) -> PerWorkerDataset:
        """A dataset, or what a function makes, on each worker."""
        return PerWorkerDataset(self._workers, dataset_fn)

    def fetch(self, val: Any) -> Any:
        """Waits for what stands in a structure: arrays and numbers of NumPy."""
        return nest.map_structure(lambda v: v.fetch() if isinstance(v, RemoteValue) else v, val)


def experimental_get_current_worker_index() -> int:
    """The number of the worker that a dataset is made for, or that runs the scheduled Python function."""
    if not own.worker:
        raise RuntimeError("Cannot retrieve the worker index: this is no worker's. It is known in functions given to `create_per_worker_dataset` and `schedule`.")
    if not context.outside_graph():
        raise NotImplementedError("experimental_get_current_worker_index() in a tf.function: all workers share its trace. Give it the number as an argument.")
    return own.worker[-1]
