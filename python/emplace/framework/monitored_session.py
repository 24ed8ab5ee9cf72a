"""tf.train.MonitoredTrainingSession: a session that initializes, follows hooks, and stops well."""

from __future__ import annotations

import inspect
from typing import Any

from emplace.framework import array_ops, constant_op, control_flow_ops, dtypes, errors, hooks, ops, queue_runner, variables
from emplace.framework.coordinator import Coordinator
from emplace.framework.ops import GraphKeys
from emplace.framework.session_manager import SessionManager

_LOST = errors.AbortedError, errors.UnavailableError  # what a worker that went away looks like


def _init_op() -> Any:
    resources = control_flow_ops.no_op  # there are none besides variables and tables
    return control_flow_ops.group(variables.global_variables_initializer(), resources("init"), *ops.get_collection("saved_model_initializers"))


def _missing(var_list: Any) -> Any:
    """The names of what is not initialized."""
    found = variables.report_uninitialized_variables() if var_list is None else variables.report_uninitialized_variables(var_list)
    with ops.name_scope("report_uninitialized_resources"), ops.device("/cpu:0"):
        none = constant_op.constant([], dtype=dtypes.string)
    return array_ops.concat([found, none], 0)


def _merged_summaries() -> Any:
    from emplace.framework import summaries

    return summaries.merge_all()


def _saver() -> Any:
    """The graph's Saver; a new one where it has none."""
    from emplace.framework import saver

    found = ops.get_collection(GraphKeys.SAVERS)
    if len(found) > 1:
        raise RuntimeError(f"More than one item in collection {GraphKeys.SAVERS}. Please indicate which one to use by passing it to the constructor.")
    if found:
        return found[0]
    made = saver.Saver(sharded=True, allow_empty=True)
    ops.add_to_collection(GraphKeys.SAVERS, made)
    return made


class Scaffold:
    """The pieces a training program needs besides its model; what is not given is made."""

    def __init__(
        self, init_op: Any = None, init_feed_dict: Any = None, init_fn: Any = None, ready_op: Any = None, ready_for_local_init_op: Any = None,
        local_init_op: Any = None, summary_op: Any = None, saver: Any = None, copy_from_scaffold: Any = None, local_init_feed_dict: Any = None,
    ) -> None:
        self.init_op, self.init_feed_dict = init_op, init_feed_dict
        self.init_fn = (lambda sess: init_fn(self, sess)) if init_fn else None
        self.ready_op, self.ready_for_local_init_op, self.local_init_op = ready_op, ready_for_local_init_op, local_init_op
        self.local_init_feed_dict, self.summary_op, self.saver = local_init_feed_dict, summary_op, saver

    def finalize(self) -> "Scaffold":
        """Makes what is missing, in TensorFlow's order; after that the graph stays as it is."""
        default = self.get_or_default
        if self.init_op is None:
            self.init_op = default("init_op", GraphKeys.INIT_OP, _init_op)
        if self.ready_op is None:
            self.ready_op = default("ready_op", GraphKeys.READY_OP, lambda: _missing(None))
        if self.ready_for_local_init_op is None:
            self.ready_for_local_init_op = default("ready_for_local_init_op", GraphKeys.READY_FOR_LOCAL_INIT_OP, lambda: _missing(variables.global_variables()))
        if self.local_init_op is None:
            self.local_init_op = default("local_init_op", GraphKeys.LOCAL_INIT_OP, self.default_local_init_op)
        if self.summary_op is None:
            self.summary_op = default("summary_op", GraphKeys.SUMMARY_OP, _merged_summaries)
        if self.saver is None:
            self.saver = _saver()
        if isinstance(self.saver, (list, tuple)):
            raise TypeError("saver must be one Saver")
        ops.get_default_graph().finalize()
        return self

    @staticmethod
    def default_local_init_op() -> Any:
        """An op that initializes local variables and tables."""
        from emplace.framework import composed_ops

        return control_flow_ops.group(variables.local_variables_initializer(), composed_ops.tables_initializer(), control_flow_ops.no_op("init"))

    @staticmethod
    def get_or_default(arg_name: str, collection_key: Any, default_constructor: Any) -> Any:
        """What is in a collection, or what the function makes, which is then added to it."""
        found = ops.get_collection(collection_key)
        if len(found) > 1:
            raise RuntimeError(f"More than one item in the collection \"{collection_key}\". Please indicate which one to use by passing it to the tf.Scaffold constructor as:  tf.Scaffold({arg_name}=item to use)")
        if found:
            return found[0]
        made = default_constructor()
        if made is not None:
            ops.add_to_collection(collection_key, made)
        return made


class ChiefSessionCreator:
    """Makes the session and brings its variables to life: from a checkpoint, or by their initializers."""

    def __init__(self, scaffold: Scaffold | None = None, master: str = "", config: Any = None, checkpoint_dir: str | None = None, checkpoint_filename_with_path: str | None = None) -> None:
        self._scaffold, self._master, self._config = scaffold or Scaffold(), master, config
        self._dir, self._file = checkpoint_dir, checkpoint_filename_with_path
        self._manager: SessionManager | None = None  # keeps the graph for sessions made later

    def create_session(self) -> Any:
        """A session that is restored from a checkpoint or initialized, ready to be used."""
        parts = self._scaffold.finalize()
        if self._manager is None:
            self._manager = SessionManager(
                local_init_op=parts.local_init_op, ready_op=parts.ready_op, ready_for_local_init_op=parts.ready_for_local_init_op,
                local_init_feed_dict=parts.local_init_feed_dict,
            )
        return self._manager.prepare_session(
            self._master, saver=parts.saver, checkpoint_dir=self._dir, checkpoint_filename_with_path=self._file, config=self._config,
            init_op=parts.init_op, init_feed_dict=parts.init_feed_dict, init_fn=parts.init_fn,
        )


def _add_feeds(feeds: dict[Any, Any], more: dict[Any, Any], words: str) -> None:
    if twice := [k for k in more if k in feeds]:
        raise RuntimeError(f"{words} Conflict(s): {twice}")
    feeds.update(more)


def _merge_options(options: Any, asked: Any) -> None:
    """The larger number, either truth, all watches."""
    for word in ("trace_level", "timeout_in_ms", "inter_op_thread_pool", "output_partition_graphs", "report_tensor_allocations_upon_oom"):
        setattr(options, word, max(getattr(options, word), getattr(asked, word)))
    options.debug_options.MergeFrom(asked.debug_options)


class _HookedSession:
    """Runs a step with all that the hooks want to know."""

    def __init__(self, sess: Any, run_hooks: list[Any], coord: Coordinator) -> None:
        self._sess, self._hooks, self._coord = sess, run_hooks, coord
        self.stopped = False

    def run(self, *args: Any, **how: Any) -> Any:
        if self.stopped:
            raise RuntimeError("Run called even after should_stop requested.")
        try:
            return self._run(*args, **how)
        except _LOST:
            raise
        except Exception:  # may only follow from what a thread of the coordinator met
            if isinstance(self._coord._error, _LOST):
                raise self._coord._error from None
            raise

    def _run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        from emplace.proto import config_pb2

        context = hooks.SessionRunContext(hooks.SessionRunArgs(fetches, feed_dict), self._sess)
        wanted: dict[Any, Any] = {"caller": fetches}
        feeds: dict[Any, Any] = {}
        options = options or config_pb2.RunOptions()
        run_metadata = run_metadata or config_pb2.RunMetadata()
        for i, hook in enumerate(self._hooks):
            asked = hook.before_run(context)
            if asked is None:
                continue
            if asked.fetches is not None:
                wanted[str(i)] = asked.fetches
            _add_feeds(feeds, asked.feed_dict or {}, "Same tensor is fed by two hooks.")
            if asked.options:
                _merge_options(options, asked.options)
        _add_feeds(feeds, feed_dict or {}, "Same tensor is fed by a SessionRunHook and user.")
        found = self._sess.run(wanted, feed_dict=feeds or None, options=options, run_metadata=run_metadata)
        for i, hook in enumerate(self._hooks):
            hook.after_run(context, hooks.SessionRunValues(found.get(str(i)), options, run_metadata))
        self.stopped = self.stopped or context.stop_requested
        return found["caller"]


def _check_step_function(step_fn: Any) -> None:
    arguments = inspect.getfullargspec(step_fn).args
    if tuple(arguments) not in (("step_context",), ("self", "step_context")):
        raise ValueError(
            f"`step_fn` may either have one `step_context` argument, or `self` and `step_context` arguments if it's an instance method. Got {tuple(arguments)} instead."
        )


class MonitoredSession:
    """`with … as sess: while not sess.should_stop(): sess.run(train)`. What ends an input ends the
    block quietly; a lost worker means a new session and the step once more; other errors come out."""

    _recovers = True

    def __init__(self, session_creator: Any = None, hooks: Any = None, stop_grace_period_secs: float = 120) -> None:
        self._hooks, self._grace = list(hooks or []), stop_grace_period_secs
        self._graph_was_finalized = ops.get_default_graph().finalized
        for hook in self._hooks:
            hook.begin()
        self._creator = session_creator or ChiefSessionCreator()
        self._sess: Any = None
        self._closed = False
        self._recovering(lambda: None)
        self._graph = self._sess.graph

    def _create(self) -> None:
        self._coord = Coordinator()
        self._sess = self._creator.create_session()
        queue_runner.start_queue_runners(sess=self._sess, coord=self._coord)
        for hook in self._hooks:
            hook.after_create_session(self._sess, self._coord)
        self._hooked = _HookedSession(self._sess, self._hooks, self._coord)

    def _recovering(self, step: Any) -> Any:
        """`step()`, with a new session as often as one is lost."""
        while True:
            try:
                if self._sess is None:
                    self._create()
                return step()
            except _LOST:
                if not self._recovers:
                    raise
                self._drop()

    def _drop(self) -> None:
        """Ends the threads and the session; raises what a thread died of."""
        if self._sess is None:
            return
        try:
            self._coord.request_stop()
            self._coord.join(stop_grace_period_secs=self._grace, ignore_live_threads=True)
        except _LOST:
            if not self._recovers:
                raise
        finally:
            sess, self._sess = self._sess, None
            sess.close()

    @property
    def graph(self) -> Any:
        return self._graph

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        """Runs as `Session.run` does, with the hooks before and after; a lost session is made again."""
        if self._closed:
            raise RuntimeError("Run called even after should_stop requested.")
        return self._recovering(lambda: self._hooked.run(fetches, feed_dict, options, run_metadata))

    def run_step_fn(self, step_fn: Any) -> Any:
        """`step_fn(step_context)`: `step_context.session` runs without hooks, `run_with_hooks` with."""
        _check_step_function(step_fn)
        return self._recovering(lambda: step_fn(self.StepContext(self._sess, self._hooked.run)))

    class StepContext:
        def __init__(self, session: Any, run_with_hooks_fn: Any) -> None:
            self.session, self.run_with_hooks = session, run_with_hooks_fn

        def request_stop(self) -> None:
            """Leaves the step, and the `with` block around it."""
            raise StopIteration("step_fn has requested the iterations to stop.")

    def should_stop(self) -> bool:
        """Whether a hook or the end of the input asked to stop."""
        if self._sess is None:
            return True
        if self._recovers and isinstance(self._coord._error, _LOST):
            self._drop()
            self._recovering(lambda: None)
            return False
        return self._hooked.stopped or self._coord.should_stop()

    def __enter__(self) -> "MonitoredSession":
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        quiet = kind is not None and issubclass(kind, (errors.OutOfRangeError, StopIteration))
        self._close(None if quiet else error)
        return quiet

    def close(self) -> None:
        """Ends the hooks and closes the session."""
        self._close(None)

    def _close(self, error: Any) -> None:
        if self._closed:
            return
        self._closed = True
        try:
            if error is None:
                for hook in self._hooks:
                    hook.end(self._sess)
        finally:
            try:
                self._drop()
            finally:
                if not self._graph_was_finalized:
                    self._graph._unsafe_unfinalize()


class SingularMonitoredSession(MonitoredSession):
    """A MonitoredSession that does not make a lost session again."""

    _recovers = False

    def __init__(self, hooks: Any = None, scaffold: Scaffold | None = None, master: str = "", config: Any = None, checkpoint_dir: str | None = None, stop_grace_period_secs: float = 120, checkpoint_filename_with_path: str | None = None) -> None:
        super().__init__(ChiefSessionCreator(scaffold, master, config, checkpoint_dir, checkpoint_filename_with_path), hooks, stop_grace_period_secs)

    def raw_session(self) -> Any:
        """The session without its hooks."""
        return self._sess


_DEFAULT = object()


def _often(steps: Any, secs: Any, default_steps: Any, default_secs: Any) -> tuple[Any, Any]:
    """How often, by steps or by seconds."""
    if steps is _DEFAULT and secs is _DEFAULT:
        return default_steps, default_secs
    return None if steps is _DEFAULT else steps, None if secs is _DEFAULT else secs


def MonitoredTrainingSession(  # noqa: N802
    master: str = "", is_chief: bool = True, checkpoint_dir: str | None = None, scaffold: Scaffold | None = None, hooks: Any = None,
    chief_only_hooks: Any = None, save_checkpoint_secs: Any = _DEFAULT, save_summaries_steps: Any = _DEFAULT,
    save_summaries_secs: Any = _DEFAULT, config: Any = None, stop_grace_period_secs: float = 120, log_step_count_steps: int | None = 100,
    max_wait_secs: float = 7200, save_checkpoint_steps: Any = _DEFAULT, summary_dir: str | None = None, save_graph_def: bool = True,
) -> MonitoredSession:
    """A MonitoredSession for training: with `checkpoint_dir` it restores, saves checkpoints and summaries there and logs the
    speed."""
    from emplace.framework import hooks as run_hooks

    steps, secs = _often(save_summaries_steps, save_summaries_secs, 100, None)
    save_steps, save_secs = _often(save_checkpoint_steps, save_checkpoint_secs, None, 600)
    scaffold = scaffold or Scaffold()
    wanted: list[Any] = []
    if is_chief:
        wanted.extend(chief_only_hooks or [])
        folder = summary_dir or checkpoint_dir
        if folder and log_step_count_steps:
            wanted.append(run_hooks.StepCounterHook(every_n_steps=log_step_count_steps, output_dir=folder))
        if folder and (steps or secs):
            wanted.append(run_hooks.SummarySaverHook(scaffold=scaffold, save_steps=steps, save_secs=secs, output_dir=folder))
        if checkpoint_dir and (save_steps or save_secs):
            wanted.append(run_hooks.CheckpointSaverHook(checkpoint_dir, save_secs, save_steps, scaffold=scaffold, save_graph_def=save_graph_def))
    wanted.extend(hooks or [])
    creator = ChiefSessionCreator(scaffold, master, config, checkpoint_dir)
    return MonitoredSession(creator, wanted, stop_grace_period_secs)
