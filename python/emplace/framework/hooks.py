"""tf.train's hooks: what happens around each step of a monitored session."""

from __future__ import annotations

import collections
import os
import time
from typing import Any

import numpy as np

from emplace.framework import ops

SessionRunArgs = collections.namedtuple("SessionRunArgs", ["fetches", "feed_dict", "options"])
SessionRunArgs.__new__.__defaults__ = (None, None)
SessionRunValues = collections.namedtuple("SessionRunValues", ["results", "options", "run_metadata"])
SessionRunArgs.__doc__ = "What a hook adds to a run: fetches, feeds and options."
SessionRunValues.__doc__ = "What a run gave a hook: the results of its fetches, the options and what was measured."


class SessionRunContext:
    """What a hook may ask about a step, and how it ends the training."""

    def __init__(self, original_args: Any, session: Any) -> None:
        self._original_args, self._session, self._stop = original_args, session, False

    @property
    def original_args(self) -> Any:
        return self._original_args

    @property
    def session(self) -> Any:
        return self._session

    @property
    def stop_requested(self) -> bool:
        return self._stop

    def request_stop(self) -> None:
        """Asks the monitored session to stop after this run."""
        self._stop = True


class SessionRunHook:
    """begin, after_create_session, before_run, after_run, end."""

    def begin(self) -> None:
        """Before the session is made: the graph may still change."""

    def after_create_session(self, session: Any, coord: Any) -> None:
        """The graph is final."""

    def before_run(self, run_context: SessionRunContext) -> Any:
        """May return SessionRunArgs: what to fetch besides."""
        return None

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """The step is done."""

    def end(self, session: Any) -> None:
        """The session is about to close, without an error."""


def _global_step() -> Any:
    from emplace.compat.v1 import train

    step = train.get_global_step()
    if step is None:
        raise RuntimeError("Global step should be created to use this hook.")
    return step


class StopAtStepHook(SessionRunHook):
    """Stops after `num_steps` more steps, or at the global step `last_step`."""

    def __init__(self, num_steps: int | None = None, last_step: int | None = None) -> None:
        if num_steps is None and last_step is None:
            raise ValueError("One of num_steps or last_step must be specified.")
        if num_steps is not None and last_step is not None:
            raise ValueError("Only one of num_steps or last_step can be specified.")
        self._num_steps, self._last_step = num_steps, last_step

    def begin(self) -> None:
        self._step = _global_step()

    def after_create_session(self, session: Any, coord: Any) -> None:
        if self._last_step is None:
            self._last_step = int(session.run(self._step)) + self._num_steps

    def before_run(self, run_context: SessionRunContext) -> Any:
        return SessionRunArgs(self._step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        if run_values.results + 1 >= self._last_step and int(run_context.session.run(self._step)) >= self._last_step:
            run_context.request_stop()


class SecondOrStepTimer:
    """Fires every so many seconds, or steps."""

    def __init__(self, every_secs: float | None = None, every_steps: int | None = None) -> None:
        if every_secs is None and every_steps is None:
            raise ValueError("Either every_secs or every_steps should be provided.")
        if every_secs is not None and every_steps is not None:
            raise ValueError("Can not provide both every_secs and every_steps.")
        self._secs, self._steps = every_secs, every_steps
        self.reset()

    def reset(self) -> None:
        """Forgets when it last triggered."""
        self._last_step: int | None = None
        self._last_time: float | None = None

    def should_trigger_for_step(self, step: int) -> bool:
        """Whether enough steps or seconds have passed since it last triggered."""
        if self._last_step is None:
            return True
        if step == self._last_step:
            return False
        if self._secs is not None:
            return time.time() >= self._last_time + self._secs  # type: ignore[operator]
        return step >= self._last_step + self._steps  # type: ignore[operator]

    def update_last_triggered_step(self, step: int) -> tuple[float | None, int | None]:
        """Notes that it triggered now; returns seconds and steps since the time before."""
        now = time.time()
        past = (None, None) if self._last_step is None else (now - self._last_time, step - self._last_step)  # type: ignore[operator]
        self._last_time, self._last_step = now, step
        return past

    def last_triggered_step(self) -> int | None:
        """The step at which it last triggered, or None."""
        return self._last_step


class LoggingTensorHook(SessionRunHook):
    """Logs the values of tensors every so many steps or seconds, or at the end."""

    def __init__(self, tensors: Any, every_n_iter: int | None = None, every_n_secs: float | None = None, at_end: bool = False, formatter: Any = None) -> None:
        if (every_n_iter is None) == (every_n_secs is None) and not at_end:
            raise ValueError("either at_end and/or exactly one of every_n_iter and every_n_secs must be provided.")
        if every_n_iter is not None and every_n_iter <= 0:
            raise ValueError(f"invalid every_n_iter={every_n_iter}.")
        self._order = list(tensors) if isinstance(tensors, dict) else [getattr(t, "name", t) for t in tensors]
        self._tensors = dict(tensors) if isinstance(tensors, dict) else dict(zip(self._order, tensors))
        self._timer = None if every_n_iter is None and every_n_secs is None else SecondOrStepTimer(every_n_secs, every_n_iter)
        self._at_end, self._formatter = at_end, formatter

    def begin(self) -> None:
        graph = ops.get_default_graph()
        self._fetched = {tag: graph.as_graph_element(t) for tag, t in self._tensors.items()}
        self._count = 0
        if self._timer is not None:
            self._timer.reset()

    def before_run(self, run_context: SessionRunContext) -> Any:
        self._now = self._timer is not None and self._timer.should_trigger_for_step(self._count)
        return SessionRunArgs(self._fetched) if self._now else None

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        if self._now:
            self._log(run_values.results)
        self._count += 1

    def end(self, session: Any) -> None:
        if self._at_end:
            self._log(session.run(self._fetched))

    def _log(self, values: dict[str, Any]) -> None:
        from emplace.compat.v1 import logging

        past = self._timer.update_last_triggered_step(self._count)[0] if self._timer is not None else None
        if self._formatter is not None:
            logging.info(self._formatter(values))
            return
        said = ", ".join(f"{tag} = {values[tag]}" for tag in self._order)
        logging.info("%s (%.3f sec)", said, past) if past is not None else logging.info("%s", said)


class NanLossDuringTrainingError(RuntimeError):
    """The loss became NaN."""

    def __str__(self) -> str:
        return "NaN loss during training."


class NanTensorHook(SessionRunHook):
    """Fails with NanLossDuringTrainingError, or stops, when the loss becomes NaN."""

    def __init__(self, loss_tensor: Any, fail_on_nan_loss: bool = True) -> None:
        self._loss, self._fail = loss_tensor, fail_on_nan_loss

    def before_run(self, run_context: SessionRunContext) -> Any:
        return SessionRunArgs(self._loss)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        if not np.isnan(run_values.results):
            return
        from emplace.compat.v1 import logging

        if self._fail:
            logging.error("Model diverged with loss = NaN.")
            raise NanLossDuringTrainingError
        logging.warning("Model diverged with loss = NaN.")
        run_context.request_stop()


def _writer_for(folder: str | None) -> Any:
    from emplace.framework.event_writer import FileWriterCache

    return FileWriterCache.get(folder) if folder else None


def _scalar(tag: str, value: float) -> Any:
    from emplace.proto.event_pb2 import Summary

    return Summary(value=[Summary.Value(tag=tag, simple_value=value)])


def _log_of(status: str, **more: Any) -> Any:
    from emplace.proto.event_pb2 import SessionLog

    return SessionLog(status=getattr(SessionLog, status), **more)


class SummarySaverHook(SessionRunHook):
    """Writes summaries every so often."""

    def __init__(
        self, save_steps: int | None = None, save_secs: float | None = None, output_dir: str | None = None, summary_writer: Any = None,
        scaffold: Any = None, summary_op: Any = None,
    ) -> None:
        if (scaffold is None) == (summary_op is None):
            raise ValueError("Exactly one of scaffold or summary_op must be provided.")
        self._scaffold, self._op, self._folder, self._writer = scaffold, summary_op, output_dir, summary_writer
        self._timer = SecondOrStepTimer(save_secs, save_steps)

    def begin(self) -> None:
        self._writer = self._writer or _writer_for(self._folder)
        self._next: int | None = None
        self._step = _global_step()

    def _summaries(self) -> list[Any]:
        op = self._op if self._op is not None else self._scaffold.summary_op
        return [] if op is None else list(op) if isinstance(op, (list, tuple)) else [op]

    def before_run(self, run_context: SessionRunContext) -> Any:
        self._now = self._next is None or self._timer.should_trigger_for_step(self._next)
        wanted = {"step": self._step}
        if self._now and (summaries := self._summaries()):
            wanted["summaries"] = summaries
        return SessionRunArgs(wanted)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        if self._writer is None:
            return
        step = int(run_values.results["step"]) + 1
        if self._now:
            step = int(run_context.session.run(self._step))
        if self._next is None:
            self._writer.add_session_log(_log_of("START"), step)
        if self._now:
            self._timer.update_last_triggered_step(step)
            for summary in run_values.results.get("summaries", ()):
                self._writer.add_summary(summary, step)
        self._next = step + 1

    def end(self, session: Any) -> None:
        if self._writer is not None:
            self._writer.flush()


class CheckpointSaverListener:
    """Told of each checkpoint: before it is written, and after; True from after_save ends the training."""

    def begin(self) -> None:
        """Before the session is made."""

    def before_save(self, session: Any, global_step_value: int) -> None:
        """About to be written."""

    def after_save(self, session: Any, global_step_value: int) -> Any:
        """Written."""

    def end(self, session: Any, global_step_value: int) -> None:
        """The training is over."""


class GlobalStepWaiterHook(SessionRunHook):
    """Waits until others have made so many steps."""

    def __init__(self, wait_until_step: int) -> None:
        self._until, self._waiting = wait_until_step, wait_until_step > 0

    def begin(self) -> None:
        self._step = _global_step()

    def before_run(self, run_context: SessionRunContext) -> Any:
        while self._waiting and int(run_context.session.run(self._step)) < self._until:
            time.sleep(0.5)
        self._waiting = False


class StepCounterHook(SessionRunHook):
    """Says how many steps a second are made."""

    def __init__(self, every_n_steps: int | None = 100, every_n_secs: float | None = None, output_dir: str | None = None, summary_writer: Any = None) -> None:
        self._timer = SecondOrStepTimer(every_n_secs, every_n_steps if every_n_secs is None else None)
        self._folder, self._writer = output_dir, summary_writer

    def begin(self) -> None:
        self._writer = self._writer or _writer_for(self._folder)
        self._step = _global_step()

    def before_run(self, run_context: SessionRunContext) -> Any:
        return SessionRunArgs(self._step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        step = int(run_values.results) + 1
        if self._timer.should_trigger_for_step(step):
            seconds, steps = self._timer.update_last_triggered_step(step)
            if seconds:
                from emplace.compat.v1 import logging

                tag, rate = f"{self._step.op.name}/sec", steps / seconds  # type: ignore[operator]
                if self._writer is not None:
                    self._writer.add_summary(_scalar(tag, rate), step)
                logging.info("%s: %g", tag, rate)


class FeedFnHook(SessionRunHook):
    """Feeds what `feed_fn()` gives, in each run."""

    def __init__(self, feed_fn: Any) -> None:
        self._feed_fn = feed_fn

    def before_run(self, run_context: SessionRunContext) -> Any:
        return SessionRunArgs(fetches=None, feed_dict=self._feed_fn())


class FinalOpsHook(SessionRunHook):
    """Runs ops at the end; their values are `final_ops_values`."""

    def __init__(self, final_ops: Any, final_ops_feed_dict: Any = None) -> None:
        self._final, self._feeds, self._values = final_ops, final_ops_feed_dict, None

    @property
    def final_ops_values(self) -> Any:
        return self._values

    def end(self, session: Any) -> None:
        if self._final is not None:
            self._values = session.run(self._final, feed_dict=self._feeds)


class CheckpointSaverHook(SessionRunHook):
    """Saves at the start, every so often, and at the end."""

    def __init__(
        self, checkpoint_dir: str, save_secs: float | None = None, save_steps: int | None = None, saver: Any = None,
        checkpoint_basename: str = "model.ckpt", scaffold: Any = None, listeners: Any = None, save_graph_def: bool = True,
    ) -> None:
        if saver is not None and scaffold is not None:
            raise ValueError("You cannot provide both saver and scaffold.")
        self._saver, self._scaffold, self._folder = saver, scaffold, checkpoint_dir
        self._path = os.path.join(checkpoint_dir, checkpoint_basename)
        self._timer = SecondOrStepTimer(save_secs, save_steps)
        self._listeners, self._graph_too = list(listeners or []), save_graph_def

    def begin(self) -> None:
        os.makedirs(self._folder, exist_ok=True)
        self._writer = _writer_for(self._folder)
        self._step = _global_step()
        for listener in self._listeners:
            listener.begin()

    def _saving(self) -> Any:
        saver = self._saver or (self._scaffold.saver if self._scaffold is not None else None)
        if saver is not None:
            return saver
        found = ops.get_collection(ops.GraphKeys.SAVERS)
        if len(found) != 1:
            raise RuntimeError(f"{'No items' if not found else 'More than one item'} in collection {ops.GraphKeys.SAVERS}. Please add a saver to the collection or provide a saver or scaffold.")
        return found[0]

    def _save(self, session: Any, step: int) -> bool:
        """True: a listener wants no more steps."""
        for listener in self._listeners:
            listener.before_save(session, step)
        self._saving().save(session, self._path, global_step=step)
        self._writer.add_session_log(_log_of("CHECKPOINT", checkpoint_path=self._path), step)
        self._timer.update_last_triggered_step(step)
        return any([bool(listener.after_save(session, step)) for listener in self._listeners])

    def after_create_session(self, session: Any, coord: Any) -> None:
        from emplace.framework import graph_io, meta_graph

        if self._graph_too:
            graph_io.write_graph(ops.get_default_graph().as_graph_def(add_shapes=True), self._folder, "graph.pbtxt")
        self._writer.add_graph(session.graph)
        self._writer.add_meta_graph(meta_graph.export_meta_graph(graph=session.graph, saver_def=self._saving().saver_def))
        self._save(session, int(session.run(self._step)))

    def before_run(self, run_context: SessionRunContext) -> Any:
        return SessionRunArgs(self._step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        if self._timer.should_trigger_for_step(int(run_values.results) + 1):
            step = int(run_context.session.run(self._step))
            if self._timer.should_trigger_for_step(step) and self._save(run_context.session, step):
                run_context.request_stop()

    def end(self, session: Any) -> None:
        step = int(session.run(self._step))
        if step != self._timer.last_triggered_step():
            self._save(session, step)
        for listener in self._listeners:
            listener.end(session, step)
        self._writer.flush()
