"""bench/run models [--only WORD...] [--turns N] [--steps N] [--page FILE] [--json FILE]

Whole networks on the CPU's cores: a process for each library, which take turns. Milliseconds of processor time and of
wall time a step (the least of all turns), what the first step takes beyond, and the most memory. Peers: TensorFlow, and
torch and ONNX Runtime where the Python named by EMPLACE_TORCH_PYTHON has them.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import subprocess
import sys
from typing import Any

HERE = pathlib.Path(__file__).parent / "models"
ROWS = [
    # network, what is done, batch
    ("resnet50", "infer", 1), ("resnet50", "infer", 32), ("resnet50", "train", 8),
    ("bert", "infer", 1), ("bert", "infer", 32), ("bert", "train", 4),
    ("mobilenet", "infer", 1), ("mobilenet", "infer", 32),
    ("tagger", "infer", 1), ("tagger", "infer", 32), ("tagger", "train", 32),
    ("autoencoder", "train", 128), ("word2vec", "train", 128),
]


class Side:
    """One library at one row, in a process of its own."""

    def __init__(self, python: str, library: str, row: tuple[str, str, int]) -> None:
        self.library = library
        self.figures: dict[str, float] = {}
        self._process = subprocess.Popen(
            [python, str(HERE / "side.py"), library, row[0], row[1], str(row[2])],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env={**os.environ, "OMP_WAIT_POLICY": "PASSIVE"},  # threads that spin would count as work
        )
        self.alive = self._take(self._answer())

    def turn(self, steps: int) -> None:
        assert self._process.stdin
        print(steps, file=self._process.stdin, flush=True)
        self.alive = self._take(self._answer())

    def close(self) -> None:
        self._process.communicate()

    def _answer(self) -> dict[str, float] | None:
        assert self._process.stdout
        line = self._process.stdout.readline()
        return json.loads(line) if line else None

    def _take(self, figures: dict[str, float] | None) -> bool:
        for name, value in (figures or {}).items():
            least = min if name in ("cpu_ms", "wall_ms") else max
            self.figures[name] = least(self.figures.get(name, value), value)
        return figures is not None


def sides(row: tuple[str, str, int]) -> list[Side]:
    found = [Side(sys.executable, "emplace", row), Side(sys.executable, "tensorflow", row)]
    if torch := os.environ.get("EMPLACE_TORCH_PYTHON"):
        found += [Side(torch, "torch", row)]
        if row[1] == "infer":
            found += [Side(torch, "onnxruntime", row)]
    return [s for s in found if s.alive]


def measure(row: tuple[str, str, int], turns: int, steps: int) -> dict[str, Any] | None:
    contenders = sides(row)
    for _ in range(turns):
        for side in contenders:
            side.turn(steps)
    for side in contenders:
        side.close()
    ours = next((s for s in contenders if s.library == "emplace"), None)
    if ours is None or len(contenders) < 2:
        return None
    peers = {s.library: s.figures for s in contenders if s is not ours}
    best = min(p["cpu_ms"] for p in peers.values())
    return {"name": f"{row[0]} {row[1]}, batch {row[2]}", "value": round(ours.figures["cpu_ms"], 3), "unit": "ms",
            "peers": {name: round(p["cpu_ms"], 3) for name, p in peers.items()}, "ratio": round(ours.figures["cpu_ms"] / best, 3),
            "figures": {"emplace": ours.figures, **peers}}


def table(rows: list[dict[str, Any]]) -> str:
    lines = ["| network | library | processor ms | wall ms | first step beyond, ms | memory, MB |", "|---|---|---|---|---|---|"]
    for row in rows:
        for library, f in row["figures"].items():
            beyond = max(0.0, f["first_ms"] - f["cpu_ms"])
            lines.append(f"| {row['name']} | {library} | {f['cpu_ms']:.1f} | {f['wall_ms']:.1f} | {beyond:.0f} | {f['peak_mb']:.0f} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--page")
    parser.add_argument("--json")
    options = parser.parse_args()
    done = []
    for row in ROWS:
        if options.only and not all(str(w) in (row[0], row[1], str(row[2])) for w in options.only):
            continue
        measured = measure(row, options.turns, options.steps)
        if measured is None:
            print(f"left out: {row}", file=sys.stderr)
            continue
        done.append(measured)
        print(f"{measured['name']:32} {measured['value']:9.1f} ms  ratio {measured['ratio']:.2f}  {measured['peers']}", flush=True)
    if options.json:
        pathlib.Path(options.json).write_text("".join(json.dumps(r) + "\n" for r in done))
    if options.page:
        pathlib.Path(options.page).write_text(
            "# Whole networks on CPUs\n\nWritten by `bench/run models --page`: the least of all turns.\n\n" + table(done) + "\n")


if __name__ == "__main__":
    main()
