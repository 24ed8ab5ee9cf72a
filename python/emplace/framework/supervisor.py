"""tf.train.Supervisor: what looked after training before monitored sessions did."""

from __future__ import annotations

import contextlib
import os
import time
from typing import Any, Iterator

from emplace.framework import event_writer, graph_io, ops, saver as savers, summaries, variables
from emplace.framework.checkpoints import latest_checkpoint
from emplace.framework.control_flow_ops import group
from emplace.framework.coordinator import Coordinator, LooperThread
from emplace.framework.hooks import _log_of
from emplace.framework.ops import GraphKeys
from emplace.framework.session_manager import SessionManager


class Supervisor:
    """Restores or initializes a session, runs its queues, and saves and writes summaries now and then."""

    USE_DEFAULT = 0

    def __init__(
        self, graph: Any = None, ready_op: Any = 0, ready_for_local_init_op: Any = 0, is_chief: bool = True, init_op: Any = 0,
        init_feed_dict: Any = None, local_init_op: Any = 0, logdir: str | None = None, summary_op: Any = 0, saver: Any = 0,
        global_step: Any = 0, save_summaries_secs: float = 120, save_model_secs: float = 600, recovery_wait_secs: float = 30,
        stop_grace_secs: float = 120, checkpoint_basename: str = "model.ckpt", session_manager: Any = None, summary_writer: Any = 0,
        init_fn: Any = None, local_init_run_options: Any = None,
    ) -> None:
        self._graph = graph or ops.get_default_graph()
        self.is_chief, self._feeds, self._init_fn = is_chief, init_feed_dict, init_fn
        self.stop_grace_secs, self.save_summaries_secs, self.save_model_secs = stop_grace_secs, save_summaries_secs, save_model_secs
        self._logdir = logdir
        self.save_path = os.path.join(logdir, checkpoint_basename) if logdir else None
        self.coord = Coordinator()
        with self._graph.as_default():
            self.ready_op = self._kept(ready_op, GraphKeys.READY_OP, variables.report_uninitialized_variables)
            self.init_op = self._kept(init_op, GraphKeys.INIT_OP, variables.global_variables_initializer)
            self.ready_for_local_init_op = self._kept(ready_for_local_init_op, GraphKeys.READY_FOR_LOCAL_INIT_OP, lambda: None)
            self.local_init_op = self._kept(local_init_op, GraphKeys.LOCAL_INIT_OP, self._local_init)
            self.saver = self._kept(saver, GraphKeys.SAVERS, lambda: savers.Saver() if variables.global_variables() else None)
            self.summary_op = self._kept(summary_op, GraphKeys.SUMMARY_OP, summaries.merge_all)
            self.global_step = self._step() if isinstance(global_step, int) else global_step
        self.summary_writer: Any = None
        if logdir and is_chief:
            self.summary_writer = event_writer.FileWriter(logdir) if isinstance(summary_writer, int) else summary_writer
        self._manager = session_manager or SessionManager(
            self.local_init_op, self.ready_op, self.ready_for_local_init_op, self._graph, recovery_wait_secs, local_init_run_options,
        )
        for op in [] if is_chief else self._graph.get_operations():
            if op.type in ("Variable", "VariableV2") and not op.device:
                raise ValueError(f"When using replicas, all Variables must have their device set: {op}")
        self._graph.finalize()

    @staticmethod
    def _kept(given: Any, key: Any, make: Any) -> Any:
        if not isinstance(given, int):
            return given
        found = ops.get_collection(key)
        if found:
            return found[0]
        made = make()
        if made is not None:
            ops.add_to_collection(key, made)
        return made

    @staticmethod
    def _local_init() -> Any:
        from emplace.framework import composed_ops

        waiting = ops.get_collection(GraphKeys.TABLE_INITIALIZERS)
        if variables.local_variables() or waiting:
            return group(variables.local_variables_initializer(), composed_ops.tables_initializer())
        return None

    @staticmethod
    def _step() -> Any:
        from emplace.compat.v1 import train

        return train.get_global_step()

    @property
    def graph(self) -> Any:
        return self._graph

    @property
    def session_manager(self) -> Any:
        return self._manager

    # ---- The session.

    def prepare_or_wait_for_session(self, master: str = "", config: Any = None, wait_for_checkpoint: bool = False, max_wait_secs: float = 7200, start_standard_services: bool = True) -> Any:
        """A session, its services started: the chief's is restored from the latest checkpoint or initialized, the others wait for that."""
        self.coord.clear_stop()
        if self.is_chief:
            sess = self._manager.prepare_session(
                master, self.init_op, self.saver, self._logdir, wait_for_checkpoint=wait_for_checkpoint, max_wait_secs=max_wait_secs, config=config,
                init_feed_dict=self._feeds, init_fn=self._init_fn,
            )
            self._write_graph()
            if start_standard_services:
                self.start_standard_services(sess)
        else:
            sess = self._manager.wait_for_session(master, config=config, max_wait_secs=max_wait_secs)
        if start_standard_services:
            self.start_queue_runners(sess)
        return sess

    def _write_graph(self) -> None:
        if self._logdir:
            graph_io.write_graph(self._graph.as_graph_def(add_shapes=True), self._logdir, "graph.pbtxt")
        if self.summary_writer is not None:
            self.summary_writer.add_graph(self._graph)

    PrepareSession = prepare_or_wait_for_session

    @contextlib.contextmanager
    def managed_session(self, master: str = "", config: Any = None, start_standard_services: bool = True, close_summary_writer: bool = True) -> Iterator[Any]:
        """Within it a session as `prepare_or_wait_for_session` makes it; stops all services at the end."""
        sess = None
        try:
            sess = self.prepare_or_wait_for_session(master, config, start_standard_services=start_standard_services)
            with sess.as_default(), self._graph.as_default():
                yield sess
        except Exception as e:  # noqa: BLE001  (the coordinator knows which ends are quiet)
            self.coord.request_stop(e)
        finally:
            try:
                self.stop(close_summary_writer=close_summary_writer)
            finally:
                if sess is not None:
                    sess.close()

    # ---- Services.

    def start_standard_services(self, sess: Any) -> list[Any]:
        """Starts the chief's threads that save checkpoints and summaries, which it returns."""
        if not self.is_chief:
            raise RuntimeError("Only chief supervisor can start standard services. Because only chief supervisors can write events.")
        if not self._logdir:
            return []
        if self.summary_writer is not None:
            self.summary_writer.add_session_log(_log_of("START"))
        threads = []
        if self.summary_op is not None and self.save_summaries_secs and self.summary_writer is not None:
            threads.append(self.loop(self.save_summaries_secs, self._summarize, (sess,)))
        if self.saver is not None and self.save_model_secs:
            threads.append(self.loop(self.save_model_secs, lambda: self.saver.save(sess, self.save_path, global_step=self.global_step)))
        return threads

    def _summarize(self, sess: Any) -> None:
        self.summary_computed(sess, sess.run(self.summary_op))

    def start_queue_runners(self, sess: Any, queue_runners: Any = None) -> list[Any]:
        """Starts the threads of queue runners, by default the graph's."""
        runners = self._graph.get_collection(GraphKeys.QUEUE_RUNNERS) if queue_runners is None else queue_runners
        return [t for r in runners for t in r.create_threads(sess, coord=self.coord, daemon=True, start=True)]

    def loop(self, timer_interval_secs: Any, target: Any, args: Any = None, kwargs: Any = None) -> Any:
        """Starts a thread that calls `target` every so many seconds until the supervisor stops."""
        made = LooperThread(self.coord, timer_interval_secs, target=target, args=args or (), kwargs=kwargs or {})
        made.start()
        return made

    def summary_computed(self, sess: Any, summary: Any, global_step: Any = None) -> None:
        """Writes a summary, serialized or a message, at a step."""
        if self.summary_writer is None:
            raise RuntimeError("Writing a summary requires a summary writer.")
        if global_step is None and self.global_step is not None:
            global_step = int(sess.run(self.global_step))
        self.summary_writer.add_summary(summary, global_step)

    def should_stop(self) -> bool:
        """Whether threads were asked to stop."""
        return self.coord.should_stop()

    def request_stop(self, ex: Any = None) -> None:
        """Asks all threads to stop; an exception given here is raised when they have."""
        self.coord.request_stop(ex)

    def wait_for_stop(self) -> None:
        """Waits until threads are asked to stop."""
        self.coord.wait_for_stop()

    def stop_on_exception(self) -> Any:
        """An exception within it asks all threads to stop."""
        return self.coord.stop_on_exception()

    def stop(self, threads: Any = None, close_summary_writer: bool = True, ignore_live_threads: bool = False) -> None:
        """Asks all threads to stop, waits for them and closes the summary writer."""
        self.coord.request_stop()
        try:
            self.coord.join(threads, stop_grace_period_secs=self.stop_grace_secs, ignore_live_threads=True)
        finally:
            if close_summary_writer and self.summary_writer is not None:
                self.summary_writer.add_session_log(_log_of("STOP"))
                self.summary_writer.close()

    StartQueueRunners, Loop, ShouldStop, RequestStop, Stop = start_queue_runners, loop, should_stop, request_stop, stop


def basic_train_loop(supervisor: Supervisor, train_step_fn: Any, args: Any = None, kwargs: Any = None, master: str = "") -> None:
    """Calls `train_step_fn(session, *args, **kwargs)` in a managed session until the supervisor stops."""
    with supervisor.managed_session(master) as sess:
        while not supervisor.should_stop():
            train_step_fn(sess, *(args or ()), **(kwargs or {}))


def checkpoints_iterator(checkpoint_dir: str, min_interval_secs: float = 0, timeout: float | None = None, timeout_fn: Any = None) -> Iterator[str]:
    """Each new checkpoint of a folder; ends when none has come for `timeout` seconds."""
    seen: str | None = None
    while True:
        until = None if timeout is None else time.monotonic() + timeout
        path = latest_checkpoint(checkpoint_dir)
        while path is None or path == seen:
            if until is not None and time.monotonic() >= until:
                if timeout_fn is None or timeout_fn():
                    return
                break
            time.sleep(0.05)
            path = latest_checkpoint(checkpoint_dir)
        if path is not None and path != seen:
            seen = path
            yield path
            time.sleep(min_interval_secs)


def init_from_checkpoint(ckpt_dir_or_file: str, assignment_map: Any) -> None:
    """Variables of the graph will be initialized by what the checkpoint holds under the given names."""
    path = latest_checkpoint(ckpt_dir_or_file) if os.path.isdir(ckpt_dir_or_file) else ckpt_dir_or_file
    from emplace.framework import checkpoints

    shapes = dict(checkpoints.list_variables(path))
    pairs = assignment_map.items() if isinstance(assignment_map, dict) else assignment_map
    for old, new in sorted(pairs, key=lambda p: str(p[0])):
        for name, var in _assigned(old, new, shapes):
            _initialize_from(path, name, var, shapes, ckpt_dir_or_file)


def _assigned(old: str, new: Any, shapes: dict[str, Any]) -> list[tuple[str, Any]]:
    """What is to be read into which variables."""
    if not isinstance(new, str):
        return [(old, v) for v in (new if isinstance(new, (list, tuple)) else [new])]
    known = {v.op.name: v for v in variables.global_variables()}
    if not new.endswith("/") and new in known:
        return [(old, known[new])]
    if "/" in new and not new.endswith("/"):
        raise ValueError(f"Assignment map with scope only name {new} should map to scope only {old}. Should be 'scope/': 'other_scope/'.")
    scope, source = new.rstrip("/") + "/", "" if old == "/" else old.rstrip("/") + "/"
    found = []
    for name, v in known.items():
        if name.startswith(scope) or scope == "/":
            read = source + name[len(scope) if scope != "/" else 0 :]
            if read not in shapes:
                raise ValueError(f"Tensor {read} ({name[len(scope):]} in {new}) is not found in checkpoint")
            found.append((read, v))
    return found


def _initialize_from(path: str, name: str, var: Any, shapes: dict[str, Any], said: str) -> None:
    if name not in shapes:
        raise ValueError(f"Tensor {name} is not found in {said} checkpoint {shapes}")
    if not var.shape.is_compatible_with(shapes[name]):
        raise ValueError(f"Shape of variable {var.op.name} ({var.shape}) doesn't match with shape of tensor {name} ({list(shapes[name])}) from checkpoint reader.")
    with ops.device(var.device), ops.device("/cpu:0"), ops.name_scope("checkpoint_initializer"):
        value = savers._restore(path, [name], [""], [var.dtype.base_dtype])[0]
    value.set_shape(var.shape)
    made = savers._assign(var, value, False)
    var._initializer_op, var._initial_value = made, value
