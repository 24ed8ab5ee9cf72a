"""A traced step in the form that chrome://tracing and Perfetto read."""

from __future__ import annotations

import json
import re
from typing import Any

_LABEL = re.compile(r"(?P<name>\S+) = (?P<op>\S+)\((?P<inputs>.*)\)")


class _Call:
    """A node's work on one device."""

    def __init__(self, stats: Any, pid: int) -> None:
        label = _LABEL.match(stats.timeline_label)
        self.node = stats.node_name
        self.op = label["op"] if label else stats.node_name
        self.inputs = [i for i in label["inputs"].split(", ") if i] if label else []
        self.pid, self.lane = pid, 0
        self.start = stats.all_start_micros
        self.end = self.start + max(stats.op_end_rel_micros, 1)
        self.bytes = {m.allocator_name: m.total_bytes for m in stats.memory if m.total_bytes}

    def event(self) -> dict[str, Any]:
        inputs = {f"input{i}": name for i, name in enumerate(self.inputs)}
        return {"ph": "X", "cat": "Op", "name": self.op, **self.place(self.start), "dur": self.end - self.start, "args": {"name": self.node, "op": self.op, **inputs}}

    def place(self, ts: int) -> dict[str, int]:
        return {"pid": self.pid, "tid": self.lane, "ts": ts}


class Timeline:
    """What RunMetadata.step_stats tells, as a picture: a process a device, calls that overlap below each other."""

    def __init__(self, step_stats: Any, graph: Any = None) -> None:
        self._names = [d.device for d in step_stats.dev_stats]
        self._calls = sorted((_Call(n, pid) for pid, d in enumerate(step_stats.dev_stats) for n in d.node_stats), key=lambda c: c.start)
        free: dict[int, list[int]] = {}  # by device: when each lane is free again
        for call in self._calls:
            lanes = free.setdefault(call.pid, [])
            call.lane = next((i for i, end in enumerate(lanes) if end <= call.start), len(lanes))
            lanes[call.lane : call.lane + 1] = [call.end]

    def generate_chrome_trace_format(self, show_dataflow: bool = True, show_memory: bool = False) -> str:
        events: list[dict[str, Any]] = [{"name": "process_name", "ph": "M", "pid": pid, "args": {"name": f"{name} Compute"}} for pid, name in enumerate(self._names)]
        events += [call.event() for call in self._calls]
        if show_dataflow:
            events += self._edges()
        if show_memory:
            events += self._memory()
        return json.dumps({"traceEvents": events}, indent=4)

    def _takers(self) -> list[tuple[_Call, _Call]]:
        made = {call.node: call for call in self._calls}
        return [(made[name], call) for call in self._calls for name in (i.lstrip("^").split(":")[0] for i in call.inputs) if name in made]

    def _edges(self) -> list[dict[str, Any]]:
        events = []
        for number, (source, taker) in enumerate(self._takers()):
            arrow = {"cat": "DataFlow", "name": source.node, "id": number}
            events += [{"ph": "s", **arrow, **source.place(source.end)}, {"ph": "t", **arrow, **taker.place(taker.start)}]
        return events

    def _memory(self) -> list[dict[str, Any]]:
        """How much of each allocator's memory is in use: a value, from its making to the end of its last taker."""
        until = {id(call): call.end for call in self._calls}
        for source, taker in self._takers():
            until[id(source)] = max(until[id(source)], taker.end)
        changes = [(ts, name, size) for call in self._calls for name, held in call.bytes.items() for ts, size in ((call.start, held), (until[id(call)], -held))]
        used: dict[str, int] = {}
        events = []
        for ts, name, size in sorted(changes):
            used[name] = used.get(name, 0) + size
            events.append({"ph": "C", "cat": "Memory", "name": name, "pid": len(self._names), "tid": 0, "ts": ts, "args": {name: used[name]}})
        return events
