"""tf.train.Coordinator: threads that stop together."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from typing import Any, Callable, Iterator

from emplace.framework import errors


class Coordinator:
    """Any thread may ask all to stop, with an exception or without; `join` waits for them and
    raises the first exception."""

    def __init__(self, clean_stop_exception_types: Any = None) -> None:
        self._clean = tuple(clean_stop_exception_types or (errors.OutOfRangeError,))
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._error: BaseException | None = None
        self._joined = False
        self._threads: set[threading.Thread] = set()

    def request_stop(self, ex: Any = None) -> None:
        """Asks all threads to stop; an exception given here is raised by `join`."""
        with self._lock:
            if isinstance(ex, tuple):
                ex = ex[1]
            told = ex is not None and not isinstance(ex, self._clean)
            if told and self._joined:
                raise ex
            if told and not self._stop.is_set():  # what comes of stopping is no news
                self._error = ex
            self._stop.set()

    def clear_stop(self) -> None:
        """Begins anew, as if nobody had asked to stop."""
        with self._lock:
            self._joined, self._error = False, None
            self._stop.clear()

    def should_stop(self) -> bool:
        """Whether threads were asked to stop."""
        return self._stop.is_set()

    def wait_for_stop(self, timeout: float | None = None) -> bool:
        """Waits until threads are asked to stop, at most `timeout` seconds; true if they were."""
        return self._stop.wait(timeout)

    @contextlib.contextmanager
    def stop_on_exception(self) -> Iterator[None]:
        """An exception within it asks all threads to stop and is not raised here."""
        try:
            yield
        except BaseException:  # whatever it is, the others must hear of it
            self.request_stop(sys.exc_info()[1])

    def register_thread(self, thread: threading.Thread) -> None:
        """Adds a thread for `join` to wait for."""
        with self._lock:
            self._threads.add(thread)

    def join(self, threads: Any = None, stop_grace_period_secs: float = 120, ignore_live_threads: bool = False) -> None:
        """Waits for the threads to end, then raises what made them stop. Those still alive after the grace period are an
        error, unless they are to be ignored."""
        with self._lock:
            waiting = [*self._threads, *(t for t in threads or () if t not in self._threads)]
        while any(t.is_alive() for t in waiting) and not self.wait_for_stop(0.05):
            pass
        deadline = time.monotonic() + stop_grace_period_secs
        for t in waiting:
            t.join(max(0.0, deadline - time.monotonic()))
        left = [t.name for t in waiting if t.is_alive()]
        with self._lock:
            self._joined = True
            self._threads.clear()
            error = self._error
        if error is not None:
            raise error
        if left and not ignore_live_threads:
            raise RuntimeError("Coordinator stopped with threads still running: " + " ".join(left))

    @property
    def joined(self) -> bool:
        return self._joined

    def raise_requested_exception(self) -> None:
        """Raises the exception that `request_stop` was given, if any."""
        if self._error is not None:
            raise self._error


class LooperThread(threading.Thread):
    """Calls `run_loop` again and again until the coordinator says stop."""

    def __init__(self, coord: Coordinator, timer_interval_secs: float | None, target: Any = None, args: Any = (), kwargs: Any = None) -> None:
        if not isinstance(coord, Coordinator):
            raise ValueError(f"'coord' argument must be a Coordinator: {coord}")
        super().__init__(daemon=True)
        self._coord, self._interval, self._function = coord, timer_interval_secs, target
        self._args_given, self._kwargs_given = args, kwargs or {}
        coord.register_thread(self)

    @staticmethod
    def loop(coord: Coordinator, timer_interval_secs: float | None, target: Callable[..., Any], args: Any = None, kwargs: Any = None) -> "LooperThread":
        """Starts a thread that calls `target` every so many seconds (None: on and on) until the coordinator stops it."""
        looper = LooperThread(coord, timer_interval_secs, target=target, args=args or (), kwargs=kwargs)
        looper.start()
        return looper

    def run(self) -> None:
        with self._coord.stop_on_exception():
            self.start_loop()
            if self._interval is None:
                while not self._coord.should_stop():
                    self.run_loop()
            else:
                while not self._coord.wait_for_stop(self._interval):
                    self.run_loop()
            self.stop_loop()

    def start_loop(self) -> None:
        """Before the first call."""

    def stop_loop(self) -> None:
        """After the last."""

    def run_loop(self) -> None:
        """What is done each time: calls the target. Subclasses may override it."""
        if self._function is not None:
            self._function(*self._args_given, **self._kwargs_given)
