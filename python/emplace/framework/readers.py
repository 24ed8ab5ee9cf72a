"""Readers of TensorFlow 1: a record a step, from files whose names come from a queue.

A read is a small loop in the graph: as long as no record is at hand, a file's name is taken from the
queue. The files are read by Python; where a reader stands belongs to a session.
"""

from __future__ import annotations

import collections
import threading
from typing import Any, Iterator

from emplace.framework import array_ops, constant_op, dtypes, ops, py_functions

_Read = collections.namedtuple("ReaderReadV2", ["key", "value"])
_NO_FILE = b""


class ReaderBase:
    """`_records(name)` gives the keys and values of a file."""

    supports_serialize = False

    def __init__(self, name: str | None = None) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._open: dict[int, collections.deque[Any]] = {}
        self._counts: dict[int, list[int]] = {}

    def _records(self, name: bytes) -> Iterator[tuple[bytes, bytes]]:
        raise NotImplementedError

    # ---- Called by operations.

    def _files(self) -> Any:
        return self._open.setdefault(py_functions.session_number(), collections.deque())

    def _count(self) -> list[int]:
        return self._counts.setdefault(py_functions.session_number(), [0, 0])

    def _next(self, name: Any) -> Any:
        """A record, and whether there was one; `name`, if any, is a file to go on with."""
        with self._lock:
            files = self._files()
            if name != _NO_FILE:
                files.append(self._records(bytes(name)))
            while files:
                for key, value in files[0]:
                    self._count()[0] += 1
                    return [key, value, True]
                files.popleft()
                self._count()[1] += 1
        return [b"", b"", False]

    # ---- As operations.

    def _ask(self, name: Any) -> Any:
        made = py_functions._Function(self._next)
        made.speaks_plainly = True
        found = py_functions._make("PyFunc", made, [name], [dtypes.string, dtypes.string, dtypes.bool], "read")
        for t in found:
            t.set_shape([])
        return found

    def read(self, queue: Any, name: str | None = None) -> Any:
        from emplace.framework import while_loop

        queue = getattr(queue, "_queue", queue)
        with ops.name_scope(name, "ReaderReadV2"):
            first = self._ask(constant_op.constant(_NO_FILE, dtypes.string))
            key, value, _ = while_loop.while_loop(
                lambda key, value, there: ~there,
                lambda key, value, there: tuple(self._ask(queue.dequeue())), list(first), parallel_iterations=1,
            )
            return _Read(array_ops.identity(key, name="key"), array_ops.identity(value, name="value"))

    def read_up_to(self, queue: Any, num_records: Any, name: str | None = None) -> Any:
        pairs = [self.read(queue) for _ in range(int(num_records))]
        return _Read(array_ops.stack([p.key for p in pairs]), array_ops.stack([p.value for p in pairs]))

    def num_records_produced(self, name: str | None = None) -> Any:
        return self._counted(0, name)

    def num_work_units_completed(self, name: str | None = None) -> Any:
        return self._counted(1, name)

    def _counted(self, which: int, name: str | None) -> Any:
        found = py_functions.py_func(lambda: self._count()[which], [], dtypes.int64, name=name)
        found.set_shape([])
        return found

    def reset(self, name: str | None = None) -> Any:
        def forget() -> None:
            self._files().clear()
            self._count()[:] = [0, 0]

        made = py_functions.py_func(lambda: [forget()] and 0, [], dtypes.int64, name=name)
        return made.op


class TextLineReader(ReaderBase):
    def __init__(self, skip_header_lines: int | None = None, name: str | None = None) -> None:
        super().__init__(name)
        self._skip = skip_header_lines or 0

    def _records(self, name: bytes) -> Iterator[tuple[bytes, bytes]]:
        from emplace.eager import records

        with records.opened(name, None) as file:
            for i, line in enumerate(file, 1):
                if i > self._skip:
                    yield name + b":%d" % i, line.removesuffix(b"\n").removesuffix(b"\r")


class TFRecordReader(ReaderBase):
    def __init__(self, name: str | None = None, options: Any = None) -> None:
        super().__init__(name)
        self._options = options

    def _records(self, name: bytes) -> Iterator[tuple[bytes, bytes]]:
        from emplace.eager import records

        at = 0
        for record in records.records(name, records._compression(self._options)):
            yield name + b":%d" % at, record
            at += len(record) + 16


class FixedLengthRecordReader(ReaderBase):
    def __init__(self, record_bytes: int, header_bytes: Any = None, footer_bytes: Any = None, hop_bytes: Any = None, name: str | None = None, encoding: Any = None) -> None:
        super().__init__(name)
        self._sizes = int(record_bytes), int(header_bytes or 0), int(footer_bytes or 0), int(hop_bytes or record_bytes)

    def _records(self, name: bytes) -> Iterator[tuple[bytes, bytes]]:
        from emplace.eager import records

        size, head, foot, hop = self._sizes
        with records.opened(name, None) as file:
            content = file.read()
        body = content[head : len(content) - foot]
        for i, at in enumerate(range(0, len(body) - size + 1, hop)):
            yield name + b":%d" % i, body[at : at + size]


class WholeFileReader(ReaderBase):
    def _records(self, name: bytes) -> Iterator[tuple[bytes, bytes]]:
        from emplace.eager import records

        with records.opened(name, None) as file:
            yield name, file.read()


class IdentityReader(ReaderBase):
    def _records(self, name: bytes) -> Iterator[tuple[bytes, bytes]]:
        yield name, name
