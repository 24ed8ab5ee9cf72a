"""A graph that TensorFlow makes at test time, and how to run it on both sides."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable

import numpy as np


@dataclass
class Case:
    """What a case's function returns: names of tensors and operations in the graph it built."""

    fetches: list[Any]
    feeds: dict[Any, Any] = field(default_factory=dict)
    targets: list[Any] = field(default_factory=list)  # a step each, before the fetches
    steps: int = 1  # the fetches so often; the last values count
    cpus: int = 1
    soft: bool = False
    float_tolerance: float = 1e-5


CASES: dict[str, Callable[[Any], Case]] = {}


def case(build: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Adds a function of `tf` (graph programs) to the cases; it returns fetches or a Case."""
    name = build.__name__
    assert name not in CASES, name
    CASES[name] = build
    return build


def table(prefix: str, rows: list[tuple[str, Callable[[Any], Any]]]) -> None:
    for name, build in rows:
        assert f"{prefix}_{name}" not in CASES, name
        CASES[f"{prefix}_{name}"] = build


@dataclass
class Built:
    """The graph in wire form with everything by name."""

    graph_def: Any
    fetches: list[str]
    feeds: dict[str, np.ndarray]
    targets: list[str]
    steps: int
    cpus: int
    soft: bool
    float_tolerance: float


def build(tf: Any, function: Callable[[Any], Any]) -> Built:
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(1234)
        made = function(tf)
        if not isinstance(made, Case):
            made = Case(list(made) if isinstance(made, (list, tuple)) else [made])
        fetches = [tf.identity(f) if isinstance(f, tf.Variable) else f for f in made.fetches]
        return Built(
            graph.as_graph_def(), [f.name for f in fetches],
            {(k if isinstance(k, str) else k.name): np.asarray(v) for k, v in made.feeds.items()},
            [t.name for t in made.targets], made.steps, made.cpus, made.soft, made.float_tolerance,
        )


@dataclass
class Outcome:
    values: list[np.ndarray] | None = None
    error: str | None = None  # InvalidArgument, NotFound, …
    message: str = ""


def run(tf: Any, built: Built) -> Outcome:
    """On TensorFlow or on Emplace: both have the same names."""
    try:
        with tf.Graph().as_default() as graph:
            tf.import_graph_def(built.graph_def, name="")
            config = tf.ConfigProto(device_count={"CPU": built.cpus}, allow_soft_placement=built.soft)
            with tf.Session(graph=graph, config=config) as session:
                for target in built.targets:
                    session.run(graph.get_operation_by_name(target), built.feeds)
                values: list[Any] = []
                for _ in range(built.steps):
                    values = session.run(built.fetches, built.feeds)
        return Outcome([np.asarray(v) for v in values])
    except Exception as error:  # whatever it is, the other side must raise the same
        return Outcome(error=type(error).__name__.removesuffix("Error"), message=str(error))


def code(error: str | None) -> str | None:
    """Python refuses a GraphDef with ValueError, where the code is InvalidArgument."""
    return "InvalidArgument" if error == "Value" else error


def differences(theirs: Outcome, ours: Outcome, built: Built) -> list[str]:
    if theirs.error or ours.error:
        if code(theirs.error) == code(ours.error):
            return []
        return [f"TensorFlow: {theirs.error} {theirs.message[:300]}", f"ours: {ours.error} {ours.message[:300]}"]
    found = []
    for name, a, b in zip(built.fetches, theirs.values or [], ours.values or []):
        if a.dtype.kind in "OSU":
            a, b = np.asarray(a, dtype="S"), np.asarray(b, dtype="S")
        elif b.dtype.kind == "V":
            b = b.view(a.dtype)
        if a.dtype != b.dtype or a.shape != b.shape:
            found.append(f"{name}: {a.dtype}{a.shape} here {b.dtype}{b.shape}")
        elif a.dtype.kind in "fc" or a.dtype.name == "bfloat16":
            tolerance = built.float_tolerance if a.dtype.itemsize > 2 else 2e-2
            wide = complex if a.dtype.kind == "c" else float
            if not np.allclose(a.astype(wide), b.astype(wide), rtol=tolerance, atol=tolerance, equal_nan=True):
                found.append(f"{name}: {a} here {b}")
        elif not np.array_equal(a, b):
            found.append(f"{name}: {a} here {b}")
    return found
