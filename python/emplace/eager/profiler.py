"""`tf.profiler.experimental`: what eager operations and functions did, for TensorBoard's profile page and Chrome's tracing."""

from __future__ import annotations

import collections
import gzip
import json
import os
import socket
import threading
import time
from typing import Any, NamedTuple

from emplace import _core
from emplace.framework import errors

_lock = threading.Lock()
_folder: str | None = None  # of the profile under way
_spans: list[tuple[str, int, int, int, dict[str, Any]]] = []  # of Trace: name, start, end, thread, what it was given


class ProfilerOptions(NamedTuple):
    """How much is noted. Emplace always notes the same: each operation, each function, and each node of it."""

    host_tracer_level: int = 2
    python_tracer_level: int = 0
    device_tracer_level: int = 1
    delay_ms: int | None = None


def start(logdir: str, options: Any = None) -> None:
    """Begins a profile, which `stop` writes below `logdir`."""
    global _folder
    with _lock:
        if _folder is not None:
            raise errors.AlreadyExistsError(None, None, "Another profiler is running.")
        _folder = os.fspath(logdir)
        _spans.clear()
        _core.start_profile()


def stop(save: bool = True) -> None:
    """Ends the profile, and writes it unless told not to."""
    global _folder
    with _lock:
        if _folder is None:
            raise errors.UnavailableError(None, None, "Cannot export profiling results. No profiler is running.")
        folder, _folder = _folder, None
        calls, spans = _core.stop_profile(), list(_spans)
    if save:
        _write(folder, _events(calls, spans))


class Profile:
    """`with tf.profiler.experimental.Profile(logdir):` a profile of what is within."""

    def __init__(self, logdir: str, options: Any = None) -> None:
        self._logdir, self._options = logdir, options

    def __enter__(self) -> None:
        start(self._logdir, self._options)

    def __exit__(self, *_: Any) -> None:
        stop()


class Trace:
    """`with tf.profiler.experimental.Trace("train", step_num=step, _r=1):` a named span of the profile under way."""

    def __init__(self, name: str, **kwargs: Any) -> None:
        self._name, self._given = name, kwargs

    def __enter__(self) -> "Trace":
        self._start = time.time_ns()
        return self

    def set_metadata(self, **kwargs: Any) -> None:
        """More that the span is to say."""
        self._given.update(kwargs)

    def __exit__(self, *_: Any) -> None:
        if _folder is not None:
            given = {k: v.numpy() if hasattr(v, "numpy") else v for k, v in self._given.items()}
            _spans.append((self._name, self._start, time.time_ns(), threading.get_native_id(), given))


# ---- What is written.


class _Event(NamedTuple):
    plane: str  # a device, or the host's threads
    line: str
    name: str
    start: int  # nanoseconds since the epoch
    end: int
    told: dict[str, Any]


_HOST = "/host:CPU"


def _events(calls: Any, spans: Any) -> list[_Event]:
    made = [_Event(_HOST, f"python/{thread}", name, start, end, told) for name, start, end, thread, told in spans]
    for name, device, start, end, thread, nodes in calls:
        made.append(_Event(_HOST, f"python/{thread}", name, start, end, {"device": device}))
        made += [_Event(where, f"thread {t}", op, a, b, {"node": node}) for node, op, where, a, b, t in nodes]
    return sorted(made, key=lambda e: (e.plane, e.line, e.start, -e.end))


def _write(logdir: str, events: list[_Event]) -> None:
    folder = os.path.join(logdir, "plugins", "profile", time.strftime("%Y_%m_%d_%H_%M_%S"))
    os.makedirs(folder, exist_ok=True)
    host = os.path.join(folder, socket.gethostname())
    with open(f"{host}.xplane.pb", "wb") as out:
        out.write(_space(events).SerializeToString())
    with gzip.open(f"{host}.trace.json.gz", "wt") as text:
        json.dump({"displayTimeUnit": "ns", "traceEvents": _chrome(events)}, text)


def _space(events: list[_Event]) -> Any:
    from emplace.proto import xplane_pb2

    space = xplane_pb2.XSpace(hostnames=[socket.gethostname()])
    begin = min((e.start for e in events), default=0)
    for number, name in enumerate(sorted({_HOST, *(e.plane for e in events)})):
        plane = space.planes.add(id=number, name=name)
        known: dict[tuple[str, str], int] = collections.defaultdict(lambda: len(known) + 1)
        lines: dict[str, Any] = {}
        for e in (e for e in events if e.plane == name):
            if e.line not in lines:
                lines[e.line] = plane.lines.add(id=len(lines), name=e.line, timestamp_ns=begin)
            of = plane.event_metadata[known["event", e.name]]
            of.id, of.name = known["event", e.name], e.name
            event = lines[e.line].events.add(metadata_id=of.id, offset_ps=(e.start - begin) * 1000, duration_ps=(e.end - e.start) * 1000)
            for key, value in e.told.items():
                stat = plane.stat_metadata[known["stat", key]]
                stat.id, stat.name = known["stat", key], key
                if isinstance(value, int):
                    event.stats.add(metadata_id=stat.id, int64_value=value)
                else:
                    event.stats.add(metadata_id=stat.id, str_value=str(value))
    return space


def _chrome(events: list[_Event]) -> list[dict[str, Any]]:
    planes = {name: i for i, name in enumerate(sorted({e.plane for e in events}))}
    lines = {name: i for i, name in enumerate(sorted({(e.plane, e.line) for e in events}))}
    made: list[dict[str, Any]] = [{"ph": "M", "name": "process_name", "pid": i, "args": {"name": name}} for name, i in planes.items()]
    made += [{"ph": "M", "name": "thread_name", "pid": planes[p], "tid": i, "args": {"name": line}} for (p, line), i in lines.items()]
    for e in events:
        told = {k: v if isinstance(v, (int, float, str)) else str(v) for k, v in e.told.items()}
        at = {"pid": planes[e.plane], "tid": lines[e.plane, e.line]}
        made.append({"ph": "X", "name": e.name, **at, "ts": e.start / 1e3, "dur": (e.end - e.start) / 1e3, "args": told})
    return made
