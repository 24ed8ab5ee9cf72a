"""Event files, as TensorBoard reads them."""

from __future__ import annotations

import os
import socket
import threading
import time
from typing import Any

from emplace import _core


class EventsWriter:
    """One file of records: events in the order they were added. Any thread may add."""

    _lock = threading.Lock()
    _count = 0

    def __init__(self, logdir: str, suffix: str = "") -> None:
        os.makedirs(logdir, exist_ok=True)
        with EventsWriter._lock:
            number = EventsWriter._count
            EventsWriter._count += 1
        name = f"events.out.tfevents.{int(time.time()):010d}.{socket.gethostname()}.{os.getpid()}.{number}{suffix}"
        self.path = os.path.join(logdir, name)
        self._file: Any = open(self.path, "ab")
        self._file_lock = threading.Lock()
        self._write_version()

    def _write_version(self) -> None:
        from emplace.proto import event_pb2

        self.write(event_pb2.Event(wall_time=time.time(), file_version="brain.Event:2"))
        self.flush()

    def write(self, event: Any) -> None:
        with self._file_lock:
            self._file.write(_core.framed_record(event.SerializeToString()))

    def flush(self) -> None:
        with self._file_lock:
            self._file.flush()

    def close(self) -> None:
        with self._file_lock:
            self._file.close()


class FileWriter:
    """Writes summaries, graphs and what runs did for TensorBoard."""

    def __init__(self, logdir: Any, graph: Any = None, max_queue: int = 10, flush_secs: int = 120, graph_def: Any = None, filename_suffix: str | None = None, session: Any = None) -> None:
        self._logdir, self._suffix = os.fspath(logdir), filename_suffix or ""
        self._max_queue, self._flush_secs = max_queue, flush_secs
        self._writer = EventsWriter(self._logdir, self._suffix)
        self._closed = False
        self._waiting, self._flushed = 0, time.monotonic()
        self._tags: set[str] = set()
        self._seen: set[str] = set()
        if graph is not None or graph_def is not None:
            self.add_graph(graph=graph, graph_def=graph_def)
        if hasattr(graph, "as_graph_def"):
            from emplace.framework import meta_graph

            with graph.as_default():
                self.add_meta_graph(meta_graph.export_meta_graph())

    def __enter__(self) -> "FileWriter":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def get_logdir(self) -> str:
        """The folder in which the event file lies."""
        return self._logdir

    # ---- What there is to add.

    def add_summary(self, summary: Any, global_step: Any = None) -> None:
        """Writes a Summary, a message or serialized, at a step."""
        from emplace.proto import event_pb2

        if isinstance(summary, (bytes, str)) or hasattr(summary, "item"):
            content = summary.item() if hasattr(summary, "item") else summary
            summary = event_pb2.Summary.FromString(content if isinstance(content, bytes) else content.encode("latin-1"))
        else:
            summary = event_pb2.Summary.FromString(summary.SerializeToString())
        for value in summary.value:  # a tag's description is said once
            if value.tag in self._seen:
                value.ClearField("metadata")
            elif value.HasField("metadata"):
                self._seen.add(value.tag)
        self._add(event_pb2.Event(summary=summary), global_step)

    def add_session_log(self, session_log: Any, global_step: Any = None) -> None:
        """Writes a SessionLog, such as that a session started, at a step."""
        from emplace.proto import event_pb2

        self._add(event_pb2.Event(session_log=session_log), global_step)

    def add_graph(self, graph: Any = None, global_step: Any = None, graph_def: Any = None) -> None:
        """Writes a graph, or a GraphDef."""
        from emplace.proto import event_pb2

        if graph is not None and graph_def is not None:
            raise ValueError("Please pass only graph, or graph_def (deprecated), but not both.")
        given = graph if graph is not None else graph_def
        if hasattr(given, "as_graph_def"):
            given = given.as_graph_def(add_shapes=True)
        elif given is None or not hasattr(given, "SerializeToString"):
            raise TypeError("The passed graph must be an instance of `Graph` or the deprecated `GraphDef`")
        self._add(event_pb2.Event(graph_def=given.SerializeToString()), global_step)

    def add_meta_graph(self, meta_graph_def: Any, global_step: Any = None) -> None:
        """Writes a MetaGraphDef."""
        from emplace.proto import event_pb2

        self._add(event_pb2.Event(meta_graph_def=meta_graph_def.SerializeToString()), global_step)

    def add_run_metadata(self, run_metadata: Any, tag: str, global_step: Any = None) -> None:
        """Writes what a run measured under a tag, which may be used once."""
        from emplace.proto import event_pb2

        if tag in self._tags:
            raise ValueError("The provided tag was already used for this event type")
        self._tags.add(tag)
        self._add(event_pb2.Event(tagged_run_metadata=event_pb2.TaggedRunMetadata(tag=tag, run_metadata=run_metadata.SerializeToString())), global_step)

    def add_event(self, event: Any) -> None:
        """Writes an Event as it is."""
        if self._closed:
            import warnings

            warnings.warn("Attempting to use a closed FileWriter. The operation will be a noop unless the FileWriter is explicitly reopened.")
            return
        self._writer.write(event)
        self._waiting += 1
        if self._waiting > self._max_queue or time.monotonic() - self._flushed > self._flush_secs:
            self.flush()

    def _add(self, event: Any, step: Any) -> None:
        event.wall_time = time.time()
        if step is not None:
            event.step = int(step)
        self.add_event(event)

    # ---- The file.

    def flush(self) -> None:
        """Writes out what is waiting."""
        if not self._closed:
            self._writer.flush()
            self._waiting, self._flushed = 0, time.monotonic()

    def close(self) -> None:
        """Ends the file; `reopen` begins another."""
        if not self._closed:
            self._closed = True
            self._writer.close()

    def reopen(self) -> None:
        """Begins another file after `close`; an open one stays."""
        if self._closed:
            self._writer = EventsWriter(self._logdir, self._suffix)
            self._closed = False


class FileWriterCache:
    """One writer a folder."""

    _writers: dict[str, FileWriter] = {}

    @staticmethod
    def get(logdir: Any) -> FileWriter:
        """The one writer of a folder, made when first asked for."""
        logdir = os.fspath(logdir)
        if logdir not in FileWriterCache._writers:
            from emplace.framework import ops

            FileWriterCache._writers[logdir] = FileWriter(logdir, graph=ops.get_default_graph())
        return FileWriterCache._writers[logdir]

    @staticmethod
    def clear() -> None:
        """Closes and forgets all writers."""
        for writer in FileWriterCache._writers.values():
            writer.close()
        FileWriterCache._writers.clear()


def read_records(path: Any, options: Any = None) -> Any:
    """The records of a file, checked; stops at one that is cut off."""
    from emplace.eager import records

    return _records(records.opened(path, options))  # a file that is missing is refused now


def _records(file: Any) -> Any:
    import struct

    with file as f:
        while len(head := f.read(12)) == 12:
            (length,) = struct.unpack("<Q", head[:8])
            body = f.read(length)
            tail = f.read(4)
            if len(body) < length or len(tail) < 4:
                return
            if _core.framed_record(body) != head + body + tail:
                from emplace.framework import errors

                raise errors.DataLossError(None, None, f"corrupted record at {f.tell() - length - 16}")
            yield body


def summary_iterator(path: Any) -> Any:
    """The Event messages of an event file, one by one."""
    from emplace.proto import event_pb2

    return map(event_pb2.Event.FromString, read_records(path))
