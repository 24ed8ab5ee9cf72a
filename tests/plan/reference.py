"""What an answer of `emplace plan` is worth: a small evaluator of its own, for tests.

List schedules without contention (by earliest starts in the answer's order), pipelines, calls.
"""

from __future__ import annotations

from typing import Any


class Reference:
    def __init__(self, case: dict[str, Any]) -> None:
        self.case = case
        self.types = {d["name"]: d["type"] for d in case["devices"]}
        self.nodes = {n["name"]: n for n in case["nodes"]}
        self.succ: dict[str, list[tuple[str, float]]] = {n: [] for n in self.nodes}
        self.pred: dict[str, list[tuple[str, float]]] = {n: [] for n in self.nodes}
        for src, dst, size in case["edges"]:
            self.succ[src].append((dst, size))
            self.pred[dst].append((src, size))
        link = case["links"]["default"]
        self.latency, self.rate = link["latency_s"], link["bytes_per_s"]

    def time(self, node: str, device: str) -> float:
        times = self.nodes[node]["time"]
        return float(times[device] if device in times else times[self.types[device]])

    def check(self, where: dict[str, str]) -> None:
        assert set(where) == set(self.nodes)
        groups: dict[str, str] = {}
        used = dict.fromkeys(self.types, 0.0)
        for name, device in where.items():
            node = self.nodes[name]
            self.time(name, device)
            assert node["pin"] in (None, device)
            if node["colocate"] is not None:
                assert groups.setdefault(node["colocate"], device) == device
            used[device] += node["memory"]
        for d in self.case["devices"]:
            assert d["memory"] is None or used[d["name"]] <= d["memory"]

    def to_host(self, node: str) -> float:
        return self.latency + max(size for _, size in self.succ[node]) / self.rate

    def value(self, answer: dict[str, Any]) -> float:
        where = answer["placement"]
        self.check(where)
        kind = self.case["model"]["kind"]
        if kind == "maxload":
            return self.fullest(where)
        return self.calls(where, answer["calls"]) if kind == "calls" else self.list(where, answer["order"])

    def list(self, where: dict[str, str], order: list[str]) -> float:
        assert sorted(order) == sorted(self.nodes)
        end: dict[str, float] = {}
        free = dict.fromkeys(self.types, 0.0)
        for n in order:
            start = free[where[n]]
            for p, size in self.pred[n]:
                apart = where[p] != where[n]
                start = max(start, end[p] + (self.latency + size / self.rate if apart else 0))
            end[n] = free[where[n]] = start + self.time(n, where[n])
        return max(end.values())

    def fullest(self, where: dict[str, str]) -> float:
        load = dict.fromkeys(self.types, 0.0)
        for n in self.nodes:
            load[where[n]] += self.time(n, where[n])
            others = {where[s] for s, _ in self.succ[n]} - {where[n]}
            for device in others | {where[n]} if others else ():
                load[device] += self.to_host(n) if self.types[device] != "CPU" else 0
        return max(load.values())

    def calls(self, where: dict[str, str], number: dict[str, int]) -> float:
        call = {n: (n,) if self.types[where[n]] == "CPU" else (where[n], number[n]) for n in self.nodes}
        members: dict[tuple[Any, ...], list[str]] = {}
        for n, c in call.items():
            members.setdefault(c, []).append(n)
        after: dict[tuple[Any, ...], set[tuple[Any, ...]]] = {c: set() for c in members}
        for n in self.nodes:
            after[call[n]] |= {call[p] for p, _ in self.pred[n]} - {call[n]}
        for c in members:
            after[c] |= {b for b in members if len(c) == len(b) == 2 and b[0] == c[0] and b[1] < c[1]}
        end: dict[tuple[Any, ...], float] = {}
        while len(end) < len(members):
            ready = [c for c in members if c not in end and after[c] <= set(end)]
            assert ready, "the calls wait for each other"
            for c in ready:
                inputs = {p for n in members[c] for p, _ in self.pred[n] if call[p] != c}
                took = sum(self.time(n, where[n]) for n in members[c])
                if len(c) == 2:
                    took += sum(self.to_host(p) for p in inputs)
                    took += sum(self.to_host(n) for n in members[c] if any(call[s] != c for s, _ in self.succ[n]))
                end[c] = max((end[b] for b in after[c]), default=0.0) + took
        return max(end.values())
