"""tf.train.QueueRunner: threads that keep a queue filled."""

from __future__ import annotations

import threading
from typing import Any

from emplace.framework import errors, listing, ops
from emplace.framework.ops import GraphKeys


class QueueRunner:
    """One thread for each enqueue operation. When the last ends the queue is closed; what a closed
    queue says is no error."""

    def __init__(
        self, queue: Any = None, enqueue_ops: Any = None, close_op: Any = None, cancel_op: Any = None, queue_closed_exception_types: Any = None,
        queue_runner_def: Any = None, import_scope: Any = None,
    ) -> None:
        if queue is None or not enqueue_ops:
            raise ValueError("Must provide queue and enqueue_ops.")
        self._queue, self._enqueue_ops = queue, list(enqueue_ops)
        self._close = queue.close() if close_op is None else close_op
        self._cancel = queue.close(cancel_pending_enqueues=True) if cancel_op is None else cancel_op
        self._closed_errors = tuple(queue_closed_exception_types or (errors.OutOfRangeError,))
        self._lock = threading.Lock()
        self._running: dict[Any, int] = {}
        self._raised: list[BaseException] = []

    @property
    def queue(self) -> Any:
        return self._queue

    @property
    def name(self) -> str:
        return self._queue.name

    @property
    def enqueue_ops(self) -> list[Any]:
        return self._enqueue_ops

    @property
    def close_op(self) -> Any:
        return self._close

    @property
    def cancel_op(self) -> Any:
        return self._cancel

    @property
    def queue_closed_exception_types(self) -> tuple[Any, ...]:
        return self._closed_errors

    @property
    def exceptions_raised(self) -> list[BaseException]:
        return list(self._raised)

    def _run(self, sess: Any, enqueue: Any, coord: Any) -> None:
        try:
            step = sess.make_callable(enqueue)
            while coord is None or not coord.should_stop():
                try:
                    step()
                except self._closed_errors:
                    break
        except Exception as e:  # handed to the coordinator, or kept
            if coord is not None:
                coord.request_stop(e)
            else:
                with self._lock:
                    self._raised.append(e)
        finally:
            with self._lock:
                self._running[sess] -= 1
                last = self._running[sess] == 0
            if last:
                try:
                    sess.run(self._close)
                except (errors.OpError, RuntimeError):
                    pass  # the session is gone, or the queue is

    def _close_on_stop(self, sess: Any, cancel: Any, coord: Any) -> None:
        coord.wait_for_stop()
        try:
            sess.run(cancel)
        except (errors.OpError, RuntimeError):
            pass

    def create_threads(self, sess: Any, coord: Any = None, daemon: bool = False, start: bool = False) -> list[threading.Thread]:
        """Threads that run the enqueue ops until the queue is closed or the coordinator stops them."""
        with self._lock:
            if self._running.get(sess, 0) > 0:
                return []
            self._running[sess] = len(self._enqueue_ops)
            self._raised = []
        made = [
            threading.Thread(target=self._run, args=(sess, op, coord), name=f"QueueRunnerThread-{self.name}-{op.name}")
            for op in self._enqueue_ops
        ]
        if coord is not None:
            made.append(threading.Thread(target=self._close_on_stop, args=(sess, self._cancel, coord), name=f"QueueRunnerThread-{self.name}-close_on_stop"))
        for t in made:
            if coord is not None:
                coord.register_thread(t)
            t.daemon = daemon
            if start:
                t.start()
        return made


def add_queue_runner(qr: QueueRunner, collection: Any = GraphKeys.QUEUE_RUNNERS) -> None:
    """Adds a queue runner to the graph, for `start_queue_runners`."""
    ops.add_to_collection(collection, qr)


def start_queue_runners(sess: Any = None, coord: Any = None, daemon: bool = True, start: bool = True, collection: Any = GraphKeys.QUEUE_RUNNERS) -> list[threading.Thread]:
    """Starts the threads of all queue runners of the graph and returns them."""
    sess = ops.get_default_session() if sess is None else sess
    if sess is None:
        raise ValueError("Cannot start queue runners: No default session is registered. Use `with sess.as_default()` or pass an explicit session to tf.start_queue_runners(sess=sess)")
    made: list[threading.Thread] = []
    with sess.graph.as_default():
        for runner in ops.get_collection(collection):
            made += runner.create_threads(sess, coord=coord, daemon=daemon, start=start)
    return made


__dir__ = listing.of_module(globals())
