"""tf.train.SessionManager: makes sessions whose variables live, from a checkpoint or by an operation."""

from __future__ import annotations

import time
from typing import Any

from emplace.framework import errors, ops, session
from emplace.framework.checkpoints import get_checkpoint_state, latest_checkpoint


class SessionManager:
    """`ready_op` names the variables that are not initialized yet."""

    def __init__(
        self, local_init_op: Any = None, ready_op: Any = None, ready_for_local_init_op: Any = None, graph: Any = None, recovery_wait_secs: float = 30,
        local_init_run_options: Any = None, local_init_feed_dict: Any = None,
    ) -> None:
        self._local_init_op, self._ready_op, self._ready_for_local_init_op = local_init_op, ready_op, ready_for_local_init_op
        self._graph, self._pause = graph or ops.get_default_graph(), recovery_wait_secs
        self._options, self._feeds = local_init_run_options, local_init_feed_dict
        if local_init_op is None and ready_for_local_init_op is not None:
            raise ValueError(f"If you pass a ready_for_local_init_op you must also pass a local_init_op , ready_for_local_init_op [{ready_for_local_init_op}]")

    def prepare_session(
        self, master: str, init_op: Any = None, saver: Any = None, checkpoint_dir: str | None = None, checkpoint_filename_with_path: str | None = None,
        wait_for_checkpoint: bool = False, max_wait_secs: float = 7200, config: Any = None, init_feed_dict: Any = None, init_fn: Any = None,
    ) -> Any:
        """A session restored from a checkpoint, else initialized; fails if something is still not ready."""
        sess, restored = self._restored(master, saver, checkpoint_dir, checkpoint_filename_with_path, wait_for_checkpoint, max_wait_secs, config)
        if not restored:
            if init_op is None and not init_fn and self._local_init_op is None:
                raise RuntimeError("Model is not initialized and no init_op or init_fn or local_init_op was given")
            if init_op is not None:
                sess.run(init_op, feed_dict=init_feed_dict)
            if init_fn:
                init_fn(sess)
        done, why = self._locally_initialized(sess)
        if not done:
            raise RuntimeError(f"Init operations did not make model ready for local_init.  Init op: {_name(init_op)}, init fn: {init_fn}, error: {why}")
        ready, why = self._ready(sess, self._ready_op)
        if not ready:
            raise RuntimeError(f"Init operations did not make model ready.  Init op: {_name(init_op)}, init fn: {init_fn}, local_init_op: {self._local_init_op}, error: {why}")
        return sess

    def recover_session(
        self, master: str, saver: Any = None, checkpoint_dir: str | None = None, checkpoint_filename_with_path: str | None = None,
        wait_for_checkpoint: bool = False, max_wait_secs: float = 7200, config: Any = None,
    ) -> tuple[Any, bool]:
        """A session, and whether it was restored and is ready."""
        sess, restored = self._restored(master, saver, checkpoint_dir, checkpoint_filename_with_path, wait_for_checkpoint, max_wait_secs, config)
        if not restored:
            return sess, False
        return sess, self._locally_initialized(sess)[0] and self._ready(sess, self._ready_op)[0]

    def wait_for_session(self, master: str, config: Any = None, max_wait_secs: float = float("Inf")) -> Any:
        """A session once somebody else has initialized the model; waits at most `max_wait_secs`."""
        end = time.monotonic() + max_wait_secs
        while True:
            sess = session.Session(master, graph=self._graph, config=config)
            if self._locally_initialized(sess)[0] and self._ready(sess, self._ready_op)[0]:
                return sess
            sess.close()
            if time.monotonic() + self._pause > end:
                raise errors.DeadlineExceededError(None, None, f"Session was not ready after waiting {int(max_wait_secs)} secs.")
            time.sleep(self._pause)

    def _restored(self, master: str, saver: Any, folder: Any, file: Any, wait: bool, most: float, config: Any) -> tuple[Any, bool]:
        sess = session.Session(master, graph=self._graph, config=config)
        if folder and file:
            raise ValueError("Can not provide both checkpoint_dir and checkpoint_filename_with_path.")
        if saver is None or not (folder or file):
            return sess, False
        end = time.monotonic() + most
        found = file or latest_checkpoint(folder)
        while not found and wait and time.monotonic() < end:
            time.sleep(min(self._pause, max(0.0, end - time.monotonic())))
            found = latest_checkpoint(folder)
        if not found:
            return sess, False
        saver.restore(sess, found)
        if folder:
            saver.recover_last_checkpoints(get_checkpoint_state(folder).all_model_checkpoint_paths)
        return sess, True

    def _locally_initialized(self, sess: Any) -> tuple[bool, Any]:
        if self._local_init_op is None:
            return True, None
        ready, why = self._ready(sess, self._ready_for_local_init_op)
        if ready:
            sess.run(self._local_init_op, feed_dict=self._feeds, options=self._options)
        return ready, why

    @staticmethod
    def _ready(sess: Any, op: Any) -> tuple[bool, Any]:
        if op is None:
            return True, None
        try:
            left = sess.run(op)
        except errors.FailedPreconditionError as e:
            return False, str(e)
        if left is None or left.size == 0:
            return True, None
        return False, "Variables not initialized: " + ", ".join(n.decode() for n in left)


def _name(op: Any) -> str:
    return getattr(op, "name", str(op))
