#!/usr/bin/env python3
"""Writes programs.txt: the scenarios of tests/conformance as graphs and steps, for the random graphs.

usage: make_programs.py        (needs emplace; the tests need only the file)

A program is a block:
    program NAME
    file NAME BYTES                      there from the start, percent-coded; its folder is PLACE in the graph
    step FETCH... [^TARGET...]
    feed TENSOR DTYPE DIMS VALUES...     of the step above, in the form of tests/golden
    graph
    lines of a GraphDef in protobuf text
    end
Only steps that succeed are kept, and that still do when the others are left out. What fetches an answer that depends on the device or the hour, and
scenarios that call Python or go through datasets (which have threads and places of their own), are left out.
"""

from __future__ import annotations

import importlib
import os
import pathlib
import re
import shutil
import sys
import urllib.parse
from typing import Any, Iterator

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
FILE = HERE / "programs.txt"
sys.path.insert(0, str(HERE.parent / "conformance"))

import scenario  # noqa: E402

ELSEWHERE_ANOTHER = ("DeviceIndex", "GetSessionHandle", "NonDeterministicInts", "Timestamp")
TWICE_THEY_MEET = ("CollectiveReduce", "CollectiveGather", "CollectiveReduceV2", "CollectiveGatherV2")  # a graph may hold a program twice
ONE_ON_ONE_DEVICE = ("TensorArrayRead_7:0", "TensorArrayReadV2_7:0")  # the same as a read before it, which clears; not stateful, so they may be merged
Step = tuple[list[str], list[tuple[str, np.ndarray]]]


class Recorder(scenario.Run):
    """Notes what was fetched and fed in the steps that succeeded."""

    def __init__(self, tf: Any, folder: str) -> None:
        super().__init__(tf, folder)
        self.steps: list[Step] = []
        self.files: dict[str, bytes] = {}  # that the scenario itself wrote
        self.seen: set[pathlib.Path] = set()

    def values(self, *fetches: Any, feeds: Any = None) -> list[Any]:
        self.files.update({f.name: f.read_bytes() for f in self._all_files() - self.seen})
        try:
            got = super().values(*fetches, feeds=feeds)
        finally:
            self.seen = self._all_files()
        if any(_op(self.tf, f) in ELSEWHERE_ANOTHER + TWICE_THEY_MEET for f in fetches):
            return got
        fed = [(t.name, np.asarray(v, t.dtype.as_numpy_dtype)) for t, v in (feeds or {}).items()]
        names = list(_names(self.tf, fetches))
        if not set(names) & set(ONE_ON_ONE_DEVICE):
            self.steps.append((names, fed))
        return got

    def _all_files(self) -> set[pathlib.Path]:
        return {f for f in pathlib.Path(self.folder).rglob("*") if f.is_file()}


def _op(tf: Any, fetch: Any) -> str:
    return getattr(fetch, "op", fetch).type if isinstance(fetch, (tf.Tensor, tf.Operation)) else ""


def _names(tf: Any, fetches: Any) -> Iterator[str]:
    for f in fetches:
        if isinstance(f, (list, tuple)):
            yield from _names(tf, f)
        elif isinstance(f, tf.Operation):
            yield "^" + f.name
        elif f is not None:
            yield tf.convert_to_tensor(f).name if not hasattr(f, "name") else f.name


def _quoted(content: bytes) -> str:
    return "%" + urllib.parse.quote_from_bytes(content, safe="")


def _words(a: np.ndarray) -> str:
    dims = ",".join(map(str, a.shape)) or "-"
    if a.dtype.kind in "OSU":
        return f"string {dims} " + " ".join(_quoted(v if isinstance(v, bytes) else v.encode()) for v in a.flat)
    return f"{a.dtype.name} {dims} " + " ".join(str(int(v)) if a.dtype.kind in "biu" else repr(float(v)) for v in a.flat)


def _works(tf: Any, graph: Any, run: Recorder) -> list[bool]:
    """In a session of its own, in order."""
    shutil.rmtree(run.folder, ignore_errors=True)
    os.mkdir(run.folder)
    for name, content in run.files.items():
        pathlib.Path(run.folder, name).write_bytes(content)
    done = []
    with tf.Session(graph=graph, config=tf.ConfigProto(operation_timeout_in_ms=5_000)) as session:
        for fetches, feeds in run.steps:
            try:
                session.run([f if f[0] != "^" else graph.get_operation_by_name(f[1:]) for f in fetches], dict(feeds))
                done.append(True)
            except tf.errors.OpError:
                done.append(False)
    shutil.rmtree(run.folder)
    return done


def programs(tf: Any) -> Iterator[str]:
    for file in sorted((HERE.parent / "conformance").glob("scenarios_*.py")):
        importlib.import_module(file.stem)  # fills the table
    for name, build in sorted(scenario.SCENARIOS.items()):
        if build.__module__ == "scenarios_data":
            continue
        text = _program(tf, name, build)
        if text:
            yield text


def _program(tf: Any, name: str, build: scenario.Scenario) -> str | None:
    run, graph = scenario.played(tf, build, Recorder)
    if any(n.op in ("PyFunc", "PyFuncStateless", "EagerPyFunc") for n in graph.as_graph_def().node):
        return None
    while not all(works := _works(tf, graph, run)):
        run.steps = [s for s, ok in zip(run.steps, works) if ok]
    if not run.steps:
        return None
    lines = [f"program {name}", *(f"file {f} {_quoted(c)}" for f, c in sorted(run.files.items()))]
    for fetches, feeds in run.steps:
        lines.append(" ".join(["step", *fetches]))
        lines += [f"feed {t} {_words(v)}" for t, v in feeds]
    return "\n".join([*lines, "graph", *_compact(str(_needed(graph, run.steps)).replace(run.folder, "PLACE")), "end", ""])


def _needed(graph: Any, steps: list[Step]) -> Any:
    """The GraphDef without the nodes that no step runs."""
    made = graph.as_graph_def()
    nodes = {n.name: n for n in made.node}
    wanted = [f for fetches, feeds in steps for f in [*fetches, *(t for t, _ in feeds)]]
    kept: set[str] = set()
    while wanted:
        name = wanted.pop().removeprefix("^").split(":")[0]
        if name not in kept:
            kept.add(name)
            wanted += nodes[name].input
            if "_class" in nodes[name].attr:
                wanted += [c.decode().removeprefix("loc:@") for c in nodes[name].attr["_class"].list.s]
    for n in list(made.node):
        if n.name not in kept:
            made.node.remove(n)
    return made


def _compact(text: str) -> list[str]:
    """A line for each node or function; attributes that say nothing are left out."""
    blocks = re.split(r"\n(?=\w)", text.strip())
    lines = [" ".join(line.strip() for line in block.split("\n")) for block in blocks]
    return [re.sub(r'attr { key: "(shared_name|container)" value { s: "" } } ?', "", line) for line in lines]


if __name__ == "__main__":
    import emplace.compat.v1 as ours

    FILE.write_text("\n".join(programs(ours)))
