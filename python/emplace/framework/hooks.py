"""tf.train's hooks: what happens around each step of a monitored session."""

from __future__ import annotations

import collections
import time
from typing import Any

import numpy as np

from emplace.framework import ops

SessionRunArgs = collections.namedtuple("SessionRunArgs", ["fetches", "feed_dict", "options"])
SessionRunArgs.__new__.__defaults__ = (None, None)
SessionRunValues = collections.namedtuple("SessionRunValues", ["results", "options", "run_metadata"])


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
    def __init__(self, num_steps: int | None = None, last_step: int | None = None) -> None:
        if (num_steps is None) == (last_step is None):
            raise ValueError("Exactly one of num_steps or last_step must be specified.")
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
        if (every_secs is None) == (every_steps is None):
            raise ValueError("exactly one of every_secs and every_steps should be provided.")
        self._secs, self._steps = every_secs, every_steps
        self.reset()

    def reset(self) -> None:
        self._last_step: int | None = None
        self._last_time: float | None = None

    def should_trigger_for_step(self, step: int) -> bool:
        if self._last_step is None:
            return True
        if step == self._last_step:
            return False
        if self._secs is not None:
            return time.time() >= self._last_time + self._secs  # type: ignore[operator]
        return step >= self._last_step + self._steps  # type: ignore[operator]

    def update_last_triggered_step(self, step: int) -> tuple[float | None, int | None]:
        now = time.time()
        past = (None, None) if self._last_step is None else (now - self._last_time, step - self._last_step)  # type: ignore[operator]
        self._last_time, self._last_step = now, step
        return past

    def last_triggered_step(self) -> int | None:
        return self._last_step


class LoggingTensorHook(SessionRunHook):
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
    def __str__(self) -> str:
        return "NaN loss during training."


class NanTensorHook(SessionRunHook):
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


class StepCounterHook(SessionRunHook):
    """Says how many steps a second are made."""

    def __init__(self, every_n_steps: int | None = 100, every_n_secs: float | None = None, output_dir: str | None = None, summary_writer: Any = None) -> None:
        self._timer = SecondOrStepTimer(every_n_secs, every_n_steps if every_n_secs is None else None)

    def begin(self) -> None:
        self._step = _global_step()

    def before_run(self, run_context: SessionRunContext) -> Any:
        return SessionRunArgs(self._step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        step = int(run_values.results) + 1
        if self._timer.should_trigger_for_step(step):
            seconds, steps = self._timer.update_last_triggered_step(step)
            if seconds:
                from emplace.compat.v1 import logging

                logging.info("%s/sec: %g", self._step.op.name, steps / seconds)  # type: ignore[operator]


class FeedFnHook(SessionRunHook):
    def __init__(self, feed_fn: Any) -> None:
        self._feed_fn = feed_fn

    def before_run(self, run_context: SessionRunContext) -> Any:
        return SessionRunArgs(fetches=None, feed_dict=self._feed_fn())


class FinalOpsHook(SessionRunHook):
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

    def __init__(self, checkpoint_dir: str, save_secs: float | None = None, save_steps: int | None = None, saver: Any = None, checkpoint_basename: str = "model.ckpt", scaffold: Any = None, listeners: Any = None) -> None:
        import os

        if saver is not None and scaffold is not None:
            raise ValueError("You cannot provide both saver and scaffold.")
        self._saver, self._scaffold = saver, scaffold
        self._path = os.path.join(checkpoint_dir, checkpoint_basename)
        self._timer = SecondOrStepTimer(save_secs, save_steps)

    def begin(self) -> None:
        self._step = _global_step()

    def _save(self, session: Any, step: int) -> None:
        saver = self._saver or (self._scaffold.saver if self._scaffold is not None else None)
        if saver is None:
            found = ops.get_collection(ops.GraphKeys.SAVERS)
            if len(found) != 1:
                raise RuntimeError(f"{'No items' if not found else 'More than one item'} in collection {ops.GraphKeys.SAVERS}. Please add a saver to the collection or provide a saver or scaffold.")
            saver = found[0]
        saver.save(session, self._path, global_step=step)
        self._timer.update_last_triggered_step(step)

    def after_create_session(self, session: Any, coord: Any) -> None:
        self._save(session, int(session.run(self._step)))

    def before_run(self, run_context: SessionRunContext) -> Any:
        return SessionRunArgs(self._step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        if self._timer.should_trigger_for_step(int(run_values.results) + 1):
            step = int(run_context.session.run(self._step))
            if self._timer.should_trigger_for_step(step):
                self._save(run_context.session, step)

    def end(self, session: Any) -> None:
        step = int(session.run(self._step))
        if step != self._timer.last_triggered_step():
            self._save(session, step)
