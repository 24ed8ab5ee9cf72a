"""bench/run eager [--json FILE]: eager operations, with NumPy and TensorFlow beside them.

Each figure is the best of many short rounds, in which the contenders take turns; what they compute
is checked.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import os
import subprocess
import sys
import time
from typing import Any, Callable

import numpy as np

ROUNDS = 40
SECONDS = 0.003  # of a round


class Contest:
    """One row: the same work done by several."""

    def __init__(self, name: str, unit: str = "us") -> None:
        self.name, self.unit = name, unit
        self.work: dict[str, Callable[[], Any]] = {}
        self.best: dict[str, float] = {}

    def enter(self, who: str, work: Callable[[], Any], expected: Any) -> None:
        got = np.asarray(work())
        if not np.allclose(got, expected, rtol=1e-4, atol=1e-5):
            raise SystemExit(f"bench eager: {who} is wrong at '{self.name}': {got} for {expected}")
        self.work[who] = work

    def run(self) -> None:
        calls = {who: self._calls(work) for who, work in self.work.items()}
        for _ in range(ROUNDS):
            for who, work in self.work.items():
                n = calls[who]
                start = time.perf_counter()
                for _ in range(n):
                    work()
                took = (time.perf_counter() - start) / n * 1e6
                self.best[who] = min(self.best.get(who, took), took)

    @staticmethod
    def _calls(work: Callable[[], Any]) -> int:
        start = time.perf_counter()
        for _ in range(3):
            work()
        return max(1, int(SECONDS / ((time.perf_counter() - start) / 3)))

    def row(self) -> dict[str, Any]:
        peers = {who: round(v, 4) for who, v in self.best.items() if who != "emplace"}
        value = round(self.best["emplace"], 4)
        ratio = round(value / min(peers.values()), 4) if peers else None
        return dict(name=self.name, value=value, unit=self.unit, peers=peers, ratio=ratio)


def contenders() -> dict[str, Any]:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    found = {"emplace": importlib.import_module("emplace")}
    if importlib.util.find_spec("tensorflow") is not None:
        found["tensorflow"] = importlib.import_module("tensorflow")
    return found


def addition(n: int, libraries: dict[str, Any]) -> Contest:
    contest = Contest(f"a + b, {n} floats")
    a, b = np.arange(n, dtype=np.float32), np.full(n, 2, np.float32)
    contest.enter("numpy", lambda: a + b, a + b)
    for who, tf in libraries.items():
        x, y = tf.constant(a), tf.constant(b)
        contest.enter(who, lambda x=x, y=y: x + y, a + b)
    return contest


def numbers(libraries: dict[str, Any]) -> Contest:
    contest = Contest("a * 2.0, 1024 floats")
    a = np.arange(1024, dtype=np.float32)
    contest.enter("numpy", lambda: a * 2.0, a * 2)
    for who, tf in libraries.items():
        contest.enter(who, lambda x=tf.constant(a): x * 2.0, a * 2)
    return contest


def named(libraries: dict[str, Any]) -> list[Contest]:
    """Functions of the namespace, small tensors."""
    m = np.arange(16, dtype=np.float32).reshape(4, 4)
    calls: dict[str, tuple[Callable[[Any, Any], Any], Callable[[], Any]]] = {
        "matmul, 4 x 4": (lambda tf, x: tf.matmul(x, x), lambda: m @ m),
        "reduce_sum, 4 x 4": (lambda tf, x: tf.reduce_sum(x), lambda: m.sum()),
        "reshape, 4 x 4": (lambda tf, x: tf.reshape(x, [16]), lambda: m.reshape([16])),
        "x[1], 4 x 4": (lambda tf, x: x[1], lambda: m[1]),
        "exp, 4 x 4": (lambda tf, x: tf.exp(x), lambda: np.exp(m)),
    }
    rows = []
    for name, (theirs, plain) in calls.items():
        contest = Contest(name)
        contest.enter("numpy", plain, plain())
        for who, tf in libraries.items():
            contest.enter(who, lambda tf=tf, x=tf.constant(m), f=theirs: f(tf, x), plain())
        rows.append(contest)
    return rows


def function(libraries: dict[str, Any]) -> Contest:
    contest = Contest("tf.function of one op")
    for who, tf in libraries.items():
        f = tf.function(lambda x: x + x)
        contest.enter(who, lambda f=f, x=tf.constant([1.5]): f(x), [3.0])
    return contest


def tape(libraries: dict[str, Any]) -> Contest:
    """Three layers of 32, a batch of 16: forward, and the gradients of six variables."""
    contest = Contest("gradient tape, 3-layer MLP")
    rng = np.random.default_rng(0)
    x = rng.standard_normal((16, 32)).astype(np.float32)
    ws = [rng.standard_normal((32, 32)).astype(np.float32) / 6 for _ in range(3)]
    expected = None
    for who, tf in reversed(libraries.items()):
        inputs = tf.constant(x)
        variables = [v for w in ws for v in (tf.Variable(w), tf.Variable(np.zeros(32, np.float32)))]

        def step(tf: Any = tf, inputs: Any = inputs, vs: Any = variables) -> Any:
            with tf.GradientTape() as g:
                h = tf.nn.relu(tf.matmul(inputs, vs[0]) + vs[1])
                h = tf.nn.relu(tf.matmul(h, vs[2]) + vs[3])
                y = tf.matmul(h, vs[4]) + vs[5]
                loss = tf.reduce_mean(y * y)
            return g.gradient(loss, vs)[0]

        expected = np.asarray(step()) if expected is None else expected
        contest.enter(who, step, expected)
    return contest


def imports() -> dict[str, Any]:
    """Seconds that `import emplace` takes beyond NumPy's."""

    def took(module: str) -> float:
        clock = "time.perf_counter()"
        code = f"import time, numpy; s = {clock}; import {module}; print({clock} - s)"
        return min(float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(5))

    value = round(took("emplace"), 4)
    return dict(name="import, beyond NumPy", value=value, unit="s", peers={}, ratio=None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", help="write the rows there, one a line")
    options = parser.parse_args()
    libraries = contenders()
    contests = [
        addition(1, libraries), addition(1024, libraries), numbers(libraries), *named(libraries),
        function(libraries), tape(libraries),
    ]  # fmt: skip
    rows = []
    for contest in contests:
        contest.run()
        rows.append(contest.row())
    rows.append(imports())
    for row in rows:
        peers = "  ".join(f"{who} {v:.3f}" for who, v in row["peers"].items())
        ratio = f"{row['ratio']:.2f}" if row["ratio"] is not None else "-"
        print(f"{row['name']:28} {row['value']:10.3f} {row['unit']:3} ratio {ratio:>6}   {peers}")
    if options.json:
        with open(options.json, "w") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)


if __name__ == "__main__":
    main()
