"""bench/run python [--json FILE]: what the Python front costs, with TensorFlow beside it.

Each figure is the best of several short rounds. Fed values change with every call, and what comes
back is checked.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import os
import time
from typing import Any, Callable

import numpy as np

ROUNDS = 60
ROWS = (  # name, unit, what the issue asks for (µs)
    ("run: one small op, fed", 3.0),
    ("run: one small op, nothing fed", 3.0),
    ("run: a list of two fetches, fed", None),
    ("callable: one small op, fed", 1.5),
    ("build: x + y", 5.0),
    ("build: tf.add", 5.0),
    ("build: tf.matmul", 5.0),
    ("build: x * 2.0, per node", 5.0),
    ("build: tf.nn.relu", 5.0),
    ("build: tf.constant", 5.0),
    ("first run: a chain of 2000, per node", 5.0),
)


def best(work: Callable[[], int], rounds: int = ROUNDS) -> float:
    """Microseconds per item of `work`, which says how many it has done."""
    least = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        done = work()
        least = min(least, (time.perf_counter() - start) / done)
    return least * 1e6


def check(condition: Any, what: str) -> None:
    if not condition:
        raise SystemExit(f"bench python: wrong result: {what}")


class Runs:
    """One small graph, run again and again."""

    def __init__(self, tf: Any, calls: int) -> None:
        self.calls = calls
        self.graph = tf.Graph()
        with self.graph.as_default():
            self.x = tf.placeholder(tf.float32, [2, 2], name="x")
            self.square = tf.square(self.x)
            self.double = self.x + self.x
            self.six = tf.constant(2.0) * 3.0
        self.session = tf.Session(graph=self.graph)
        self.values = [np.full((2, 2), i, np.float32) for i in range(64)]
        self.callable = self.session.make_callable(self.square, [self.x])

    def expect(self, got: Any, i: int) -> None:
        check(got[0, 0] == (i % 64) ** 2, "the square of what was fed")

    def fed(self) -> int:
        run, x, values, y = self.session.run, self.x, self.values, self.square
        for i in range(self.calls):
            got = run(y, {x: values[i & 63]})
        self.expect(got, self.calls - 1)
        return self.calls

    def unfed(self) -> int:
        run, y = self.session.run, self.six
        for _ in range(self.calls):
            got = run(y)
        check(got == 6, "2 * 3")
        return self.calls

    def two(self) -> int:
        run, x, values, a, b = self.session.run, self.x, self.values, self.square, self.double
        for i in range(self.calls):
            got = run([a, b], {x: values[i & 63]})
        self.expect(got[0], self.calls - 1)
        check(got[1][0, 0] == 2 * ((self.calls - 1) % 64), "the double of what was fed")
        return self.calls

    def prepared(self) -> int:
        call, values = self.callable, self.values
        for i in range(self.calls):
            got = call(values[i & 63])
        self.expect(got, self.calls - 1)
        return self.calls


def build(tf: Any, step: Callable[[Any, Any], Any], steps: int, nodes: int = 1) -> Callable[[], int]:
    def work() -> int:
        graph = tf.Graph()
        with graph.as_default():
            y = x = tf.placeholder(tf.float32, [2, 2], name="x")
            for _ in range(steps):
                y = step(y, x)
        check(len(graph.get_operations()) == steps * nodes + 1, "the number of nodes")
        return steps * nodes

    return work


def first_run(tf: Any, nodes: int, rounds: int) -> float:
    """The first run of a graph just built; building and making the session are not counted."""
    least = float("inf")
    for i in range(rounds):
        graph = tf.Graph()
        with graph.as_default():
            y = x = tf.placeholder(tf.float32, [], name="x")
            for _ in range(nodes):
                y = y + x
        with tf.Session(graph=graph) as session:
            start = time.perf_counter()
            got = session.run(y, {x: np.float32(i)})
            least = min(least, (time.perf_counter() - start) / nodes)
        check(got == i * (nodes + 1), "a sum of fed values")
    return least * 1e6


def measure(tf: Any, quick: bool) -> dict[str, float]:
    runs = Runs(tf, 500 if quick else 50)
    steps, rounds = (500, ROUNDS) if quick else (50, 8)
    names = iter(name for name, _ in ROWS)
    found = {next(names): best(w, rounds) for w in (runs.fed, runs.unfed, runs.two, runs.prepared)}
    builds = (
        build(tf, lambda y, x: y + x, steps),
        build(tf, lambda y, x: tf.add(y, x), steps),
        build(tf, lambda y, x: tf.matmul(y, x), steps),
        build(tf, lambda y, x: y * 2.0, steps, 2),
        build(tf, lambda y, x: tf.nn.relu(y), steps),
        build(tf, lambda y, x: tf.constant(1.5), steps),
    )
    found |= {next(names): best(w, rounds) for w in builds}
    found[next(names)] = first_run(tf, 2000, 20 if quick else 3)
    return found


def peer() -> Any:
    if importlib.util.find_spec("tensorflow") is None:
        return None
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
    tf = importlib.import_module("tensorflow.compat.v1")
    tf.logging.set_verbosity(tf.logging.ERROR)
    tf.disable_v2_behavior()
    return tf


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench/run python")
    parser.add_argument("--json", metavar="FILE")
    arguments = parser.parse_args()
    import emplace.compat.v1 as ours

    mine = measure(ours, True)
    tf = peer()
    theirs = measure(tf, False) if tf is not None else {}
    rows = []
    print(f"{'':40}{'us':>9}{'asked':>8}{'TensorFlow':>12}{'ratio':>9}")
    for name, asked in ROWS:
        row: dict[str, Any] = {"name": name, "value": round(mine[name], 3), "unit": "us", "peers": {}, "ratio": None}
        if theirs:
            row["peers"]["tensorflow"] = round(theirs[name], 3)
            row["ratio"] = round(mine[name] / theirs[name], 5)
        rows.append(row)
        other = f"{theirs[name]:12.1f}{row['ratio']:9.4f}" if theirs else f"{'-':>12}{'-':>9}"
        print(f"{name:40}{mine[name]:9.2f}{asked if asked else '-':>8}{other}")
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)


if __name__ == "__main__":
    main()
