"""Queues, stages, maps and readers."""

from __future__ import annotations

import gzip
import struct
from typing import Any

import numpy as np

from scenario import Run, as_of, rows, scenario

V = ("", "V2")


def _queue(v: str, make: str, types: Any = None, **attrs: Any) -> Any:
    """A queue's operations under short names."""

    def build(tf: Any, raw: Any) -> Any:
        kinds = types or [tf.int32]

        class Queue:
            handle = getattr(raw, make + v)(component_types=kinds, **attrs)

            def put(self, *values: Any) -> Any:
                return getattr(raw, "QueueEnqueue" + v)(handle=self.handle, components=list(values))

            def put_many(self, *values: Any) -> Any:
                return getattr(raw, "QueueEnqueueMany" + v)(handle=self.handle, components=list(values))

            def get(self) -> Any:
                return getattr(raw, "QueueDequeue" + v)(handle=self.handle, component_types=kinds)

            def many(self, n: int) -> Any:
                return getattr(raw, "QueueDequeueMany" + v)(handle=self.handle, n=n, component_types=kinds)

            def up_to(self, n: int) -> Any:
                return getattr(raw, "QueueDequeueUpTo" + v)(handle=self.handle, n=n, component_types=kinds)

            def size(self) -> Any:
                return getattr(raw, "QueueSize" + v)(handle=self.handle)

            def closed(self) -> Any:
                return getattr(raw, "QueueIsClosed" + v)(handle=self.handle)

            def close(self, cancel: bool = False) -> Any:
                return getattr(raw, "QueueClose" + v)(handle=self.handle, cancel_pending_enqueues=cancel)

        return Queue()

    return build


def _in_order(v: str) -> Any:
    def build(tf: Any, raw: Any, run: Run) -> None:
        q = _queue(v, "FIFOQueue", shapes=[[]], capacity=10)(tf, raw)
        run(q.put(1))
        run(q.put_many([2, 3, 4, 5]))
        run(q.size(), q.closed())
        run(q.get())
        run(q.many(2))
        run(q.close())
        run(q.closed())
        run(q.put(9))
        run(q.up_to(5))
        run(q.get())
        run(q.size())
        run(q.many(1))

    return build


def _padding(v: str) -> Any:
    def build(tf: Any, raw: Any, run: Run) -> None:
        q = _queue(v, "PaddingFIFOQueue", shapes=[[None, 2]], capacity=10)(tf, raw)
        run(q.put([[1, 2]]))
        run(q.put([[3, 4], [5, 6]]))
        run(q.put([[3, 4, 5]]))
        run(q.many(2))
        run(q.put([[7, 8]]))
        run(q.get())
        run(q.close(cancel=True))
        run(q.get())

    return build


def _by_priority(v: str) -> Any:
    def build(tf: Any, raw: Any, run: Run) -> None:
        make = getattr(raw, "PriorityQueue" + v)(component_types=[tf.string], shapes=[[]], capacity=10)
        both = [tf.int64, tf.string]
        run(getattr(raw, "QueueEnqueueMany" + v)(handle=make, components=[np.int64([3, 1, 2]), ["c", "a", "b"]]))
        run(getattr(raw, "QueueEnqueue" + v)(handle=make, components=[np.int64(0), "first"]))
        for _ in range(2):
            run(getattr(raw, "QueueDequeue" + v)(handle=make, component_types=both))
        run(getattr(raw, "QueueDequeueMany" + v)(handle=make, n=2, component_types=both))

    return build


def _shuffled(v: str) -> Any:
    def build(tf: Any, raw: Any, run: Run) -> None:
        q = _queue(v, "RandomShuffleQueue", shapes=[[]], capacity=20, min_after_dequeue=2, seed=3, seed2=7)(tf, raw)
        run(q.put_many(list(range(10))))
        run(q.many(3))
        run(q.get())
        run(q.put(77))
        run(q.close())
        run(q.up_to(20))
        run(q.get())

    return build


def _without_shapes(v: str) -> Any:
    def build(tf: Any, raw: Any, run: Run) -> None:
        q = _queue(v, "FIFOQueue", types=[tf.float32, tf.string])(tf, raw)
        run(q.put([1.0, 2.0], "a"))
        run(q.put(3.0, ["b", "c"]))
        run(q.get())
        run(q.get())
        run(q.many(1))
        run(q.put(3, "a"))

    return build


for _v in V:
    rows("queue" + _v + "_", {
        "in_order": _in_order(_v), "padding": _padding(_v), "by_priority": _by_priority(_v), "shuffled": _shuffled(_v), "without_shapes": _without_shapes(_v),
    })


@scenario
def staging(tf: Any, raw: Any, run: Run) -> None:
    kinds, area = [tf.int32, tf.string], {"shared_name": "area"}
    for i in range(3):
        run(raw.Stage(values=[i, "abc"[i]], **area))
    run(raw.StageSize(dtypes=kinds, **area))
    run(raw.StagePeek(index=1, dtypes=kinds, **area))
    run(raw.Unstage(dtypes=kinds, **area))
    run(raw.StageSize(dtypes=kinds, **area))
    run(raw.StageClear(dtypes=kinds, **area))
    run(raw.StageSize(dtypes=kinds, **area))


def _map(prefix: str) -> Any:
    def build(tf: Any, raw: Any, run: Run) -> None:
        kinds, area = [tf.int32, tf.string], {"shared_name": "area"}

        def op(name: str, **more: Any) -> Any:
            return getattr(raw, prefix + name)(dtypes=kinds, **area, **more)

        for key in (5, 2):
            run(op("Stage", key=np.int64(key), indices=[0, 1], values=[key * 10, f"v{key}"]))
        run(op("Size"), op("IncompleteSize"))
        run(op("Stage", key=np.int64(7), indices=[1], values=["late"]))
        run(op("Size"), op("IncompleteSize"))
        run(op("Stage", key=np.int64(7), indices=[0], values=[70]))
        run(op("Size"), op("IncompleteSize"))
        run(op("Peek", key=np.int64(5), indices=[0, 1]))
        run(op("Unstage", key=np.int64(5), indices=[0, 1]))
        if prefix == "OrderedMap":
            run(op("UnstageNoKey", indices=[0, 1]))
        else:  # any of them: after it one is left
            key, *_ = op("UnstageNoKey", indices=[0, 1])
            run(raw.Shape(input=key))
        run(op("Size"))
        run(op("Clear"))
        run(op("Size"), op("IncompleteSize"))
        run(op("Stage", key=np.int64(1), indices=[5], values=[1]))

    return build


rows("staging_", {p: _map(p) for p in ("Map", "OrderedMap")})


def _records(lines: list[bytes]) -> bytes:
    """A TFRecord file, with its checksums."""

    def crc(data: bytes) -> bytes:
        table = [0] * 256
        for i in range(256):
            c = i
            for _ in range(8):
                c = c >> 1 ^ (0x82F63B78 if c & 1 else 0)
            table[i] = c
        value = 0xFFFFFFFF
        for b in data:
            value = value >> 8 ^ table[(value ^ b) & 255]
        value ^= 0xFFFFFFFF
        return struct.pack("<I", ((value >> 15 | value << 17) + 0xA282EAD8) & 0xFFFFFFFF)

    return b"".join((n := struct.pack("<Q", len(x))) + crc(n) + x + crc(x) for x in lines)


FILES = {"one": b"alpha\nbeta\r\n\ngamma", "two": b"delta\n"}
READERS: dict[str, tuple[dict[str, Any], dict[str, bytes]]] = {
    "TextLineReader": ({"skip_header_lines": 1}, FILES),
    "WholeFileReader": ({}, FILES),
    "IdentityReader": ({}, FILES),
    "FixedLengthRecordReader": ({"record_bytes": 2, "header_bytes": 1, "footer_bytes": 1}, {"one": b"h0123456f", "two": b"h01f"}),
    "TFRecordReader": ({}, {"one": _records([b"r1", b"", b"r3"]), "two": _records([b"r4"])}),
}


def _reader(op: str, v: str, attrs: dict[str, Any], files: dict[str, bytes]) -> Any:
    def build(tf: Any, raw: Any, run: Run) -> None:
        as_of(tf, 20)
        for name, data in files.items():
            with open(run.path(name), "wb") as f:
                f.write(data)
        reader = getattr(raw, op + v)(**attrs)
        q = _queue(v, "FIFOQueue", types=[tf.string], shapes=[[]])(tf, raw)

        def do(name: str, **more: Any) -> Any:
            return getattr(raw, "Reader" + name + v)(reader_handle=reader, **more)

        run(q.put_many([run.path(name) for name in files]))
        run(q.close())
        run(do("Read", queue_handle=q.handle))
        run(do("NumRecordsProduced"), do("NumWorkUnitsCompleted"))
        run(do("SerializeState"))
        run(do("ReadUpTo", queue_handle=q.handle, num_records=np.int64(2)))
        run(do("NumRecordsProduced"), do("NumWorkUnitsCompleted"))
        run(do("ReadUpTo", queue_handle=q.handle, num_records=np.int64(10)))
        run(do("ReadUpTo", queue_handle=q.handle, num_records=np.int64(10)))
        run(do("Read", queue_handle=q.handle))
        run(do("Reset"))
        run(do("NumRecordsProduced"), do("NumWorkUnitsCompleted"))
        run(do("RestoreState", state="nonsense"))
        run(do("RestoreState", state=do("SerializeState")))

    return build


for _v in V:
    rows("reader" + _v + "_", {op: _reader(op, _v, attrs, files) for op, (attrs, files) in READERS.items() if op + _v != "FixedLengthRecordReader"})


@scenario
def reader_of_a_compressed_file(tf: Any, raw: Any, run: Run) -> None:
    with open(run.path("z"), "wb") as f:
        f.write(gzip.compress(_records([b"one", b"two"]), mtime=0))
    q = _queue("V2", "FIFOQueue", types=[tf.string], shapes=[[]])(tf, raw)
    reader = raw.TFRecordReaderV2(compression_type="GZIP")
    run(q.put(run.path("z")))
    run(raw.ReaderReadV2(reader_handle=reader, queue_handle=q.handle))
    run(raw.ReaderReadUpToV2(reader_handle=reader, queue_handle=q.handle, num_records=np.int64(1)))


@scenario
def reader_of_no_file(tf: Any, raw: Any, run: Run) -> None:
    """TensorFlow's first FixedLengthRecordReader finds none: it asks for an attribute that it has not got."""
    as_of(tf, 20)
    q = _queue("V2", "FIFOQueue", types=[tf.string], shapes=[[]])(tf, raw)
    run(q.put(run.path("none")))
    run(raw.ReaderReadV2(reader_handle=raw.TextLineReaderV2(), queue_handle=q.handle))
    q = _queue("", "FIFOQueue", types=[tf.string], shapes=[[]])(tf, raw)
    run(q.put(run.path("none")))
    run(raw.ReaderRead(reader_handle=raw.FixedLengthRecordReader(record_bytes=2), queue_handle=q.handle))


@scenario
def collectives_of_one(tf: Any, raw: Any, run: Run) -> None:
    x = tf.constant([[1.5, -2.0], [4.0, 8.0]])
    old = {"group_size": 1, "group_key": 1}
    run(raw.CollectiveReduce(input=x, instance_key=1, merge_op="Add", final_op="Div", subdiv_offsets=[0], **old))
    run(raw.CollectiveGather(input=x, instance_key=2, shape=[2, 2], **old))
    run(raw.CollectiveReduceV2(input=x, instance_key=4, merge_op="Max", final_op="Id", ordering_token=[], **old))
    run(raw.CollectiveGatherV2(input=tf.constant([1, 2, 3]), instance_key=5, ordering_token=[], **old))
