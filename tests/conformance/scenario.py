"""Scenarios: short programs of raw operations with state, run on TensorFlow and on ours.

A scenario is a function of `tf` (graph programs), its `raw_ops` and a Run: it builds nodes and runs
them. What the runs gave, and the types of the nodes, are the outcome. The modules scenarios_*.py are
the table; a new row of it is a line or a function there.
"""

from __future__ import annotations

import tempfile
import types
from typing import Any, Callable, Iterable

import numpy as np

Scenario = Callable[[Any, Any, "Run"], Any]
SCENARIOS: dict[str, Scenario] = {}
PLACE = b"PLACE"  # stands for the scenario's folder in strings


def scenario(build: Scenario) -> Scenario:
    """Adds a function to the table, by its name. What it returns is run in one step, if it returns anything."""
    rows("", {build.__name__: build})
    return build


def rows(prefix: str, table: dict[str, Scenario]) -> None:
    for name, build in table.items():
        assert prefix + name not in SCENARIOS, prefix + name
        SCENARIOS[prefix + name] = build


class Run:
    """The steps of a scenario, and what came of them."""

    def __init__(self, tf: Any, folder: str) -> None:
        self.tf, self.folder, self.session = tf, folder, None
        self.outcome: list[Any] = []

    def __call__(self, *fetches: Any, feeds: Any = None) -> None:
        """One step. Values are noted, an error by its class; a function makes nodes that may be refused."""
        try:
            made = [f() if isinstance(f, types.FunctionType) else f for f in fetches]
            self.note(*self.values(*made, feeds=feeds))
        except Exception as error:
            self.failed(error)

    def values(self, *fetches: Any, feeds: Any = None) -> list[Any]:
        """One step of which nothing is noted."""
        if self.session is None:
            self.session = self.tf.Session(config=self.tf.ConfigProto(device_count={"CPU": 1}, operation_timeout_in_ms=20_000))
        return list(_flat(self.session.run(list(fetches), feeds)))

    def note(self, *values: Any) -> None:
        self.outcome.append([self._plain(v) for v in values])

    def failed(self, error: BaseException) -> None:
        name = type(error).__name__.removesuffix("Error")
        assert name != "DeadlineExceeded", "the scenario waits for ever"
        # Python refuses nodes with ValueError or TypeError, where the code is InvalidArgument.
        self.outcome.append((("InvalidArgument" if name in ("Value", "Type") else name), str(error)))

    def path(self, name: str) -> str:
        return f"{self.folder}/{name}"

    def _plain(self, value: Any) -> Any:
        value = np.asarray(value)
        if value.dtype.kind not in "OSU":
            return value
        return np.array([_bytes(v).replace(self.folder.encode(), PLACE) for v in value.flat], "O").reshape(value.shape)


def _flat(values: Any) -> Iterable[Any]:
    """Arrays, whatever tuples they are in; what gives none (an operation) is left out."""
    for v in values:
        if isinstance(v, (list, tuple)):
            yield from _flat(v)
        elif v is not None:
            yield v


def _bytes(value: Any) -> bytes:
    return value.encode() if isinstance(value, str) else value


class Outcome:
    def __init__(self, steps: list[Any], ops: set[str]) -> None:
        self.steps, self.ops = steps, ops


def play(tf: Any, build: Scenario) -> Outcome:
    """On TensorFlow or on ours."""
    run, graph = played(tf, build)
    made = graph.as_graph_def()
    return Outcome(run.outcome, {n.op for n in made.node} | {n.op for f in made.library.function for n in f.node_def})


def played(tf: Any, build: Scenario, kind: type[Run] = Run) -> tuple[Any, Any]:
    """The run when all is done, and the graph."""
    with tempfile.TemporaryDirectory() as folder, tf.Graph().as_default() as graph:
        run = kind(tf, folder)
        try:
            last = build(tf, tf.raw_ops, run)
            if last is not None:
                run(*(last if isinstance(last, (list, tuple)) else [last]))
        except AssertionError:
            raise
        except Exception as error:
            run.failed(error)
        finally:
            if run.session is not None:
                run.session.close()
        return run, graph


def differences(theirs: Outcome, ours: Outcome) -> list[str]:
    if len(theirs.steps) != len(ours.steps):
        return [f"{len(theirs.steps)} steps, here {len(ours.steps)}: {theirs.steps} here {ours.steps}"]
    found = []
    for i, (a, b) in enumerate(zip(theirs.steps, ours.steps)):
        if isinstance(a, tuple) or isinstance(b, tuple):
            if not (isinstance(a, tuple) and isinstance(b, tuple) and a[0] == b[0]):
                found.append(f"step {i}: {a} here {b}")
            continue
        if len(a) != len(b):
            found.append(f"step {i}: {len(a)} values, here {len(b)}")
        found += [f"step {i}: {x!r} here {y!r}" for x, y in zip(a, b) if not _same(x, y)]
    if theirs.ops != ours.ops and not any(isinstance(s, tuple) for s in theirs.steps):  # what was refused left some of its nodes
        found.append(f"nodes there only: {theirs.ops - ours.ops}, here only: {ours.ops - theirs.ops}")
    return found


def _same(a: np.ndarray, b: np.ndarray) -> bool:
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype.kind in "fc":
        return bool(np.allclose(a, b, rtol=1e-5, atol=1e-5, equal_nan=True))
    return bool(np.array_equal(a, b))


class Func(str):
    """The name of a function, as an attribute."""


def imported(tf: Any, nodes: list[tuple[Any, ...]], fetches: list[str], functions: dict[str, Any] | None = None, version: int = 2000) -> list[Any]:
    """Adds nodes (name, op, inputs, attributes) that no wrapper makes, or that stand in a circle; the tensors asked for."""
    graph_def = tf.GraphDef()
    graph_def.versions.producer = version
    for n in nodes:
        _node(tf, graph_def.node.add(), *n)
    for name, (inputs, outputs, body) in (functions or {}).items():
        f = graph_def.library.function.add()
        f.signature.name = name
        for args, types in ((f.signature.input_arg, inputs), (f.signature.output_arg, {k: t for k, (t, _) in outputs.items()})):
            for arg, dtype in types.items():
                args.add(name=arg, type=dtype.as_datatype_enum)
        for n in body:
            _node(tf, f.node_def.add(), *n)
        for arg, (_, source) in outputs.items():
            f.ret[arg] = source
    tf.import_graph_def(graph_def, name="")
    return [tf.get_default_graph().get_tensor_by_name(f) for f in fetches]


def as_of(tf: Any, version: int) -> None:
    """The graph is one of that version: what TensorFlow took out of graphs later may still stand in it."""
    imported(tf, [], [], version=version)


def _node(tf: Any, node: Any, name: str, op: str, inputs: Iterable[str] = (), attrs: dict[str, Any] | None = None) -> None:
    node.name, node.op = name, op
    node.input.extend(inputs)
    for key, value in (attrs or {}).items():
        _set(tf, node.attr[key], value)


def _set(tf: Any, attr: Any, value: Any) -> None:
    if isinstance(value, Func):
        attr.func.name = value
    elif isinstance(value, bool):
        attr.b = value
    elif isinstance(value, int):
        attr.i = value
    elif isinstance(value, (str, bytes)):
        attr.s = _bytes(value)
    elif isinstance(value, tf.DType):
        attr.type = value.as_datatype_enum
    elif isinstance(value, np.ndarray):
        attr.tensor.CopyFrom(tf.make_tensor_proto(value))
    elif isinstance(value, tf.TensorShape):
        attr.shape.CopyFrom(value.as_proto())
    elif all(isinstance(v, Func) for v in value) and value:
        for v in value:
            attr.list.func.add(name=v)
    else:
        attr.list.type.extend(v.as_datatype_enum for v in value)
