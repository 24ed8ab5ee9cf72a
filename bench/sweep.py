"""bench/run sweep [--only WORD...] [--seconds S] [--turns N] [--csv FILE] [--json FILE]

Everyday calls, eagerly, beside TensorFlow: a process each, which take turns. Processor time, so that a busy machine
changes little; the median of the turns. The table is sorted by ratio, worst first; --csv keeps it.
"""

from __future__ import annotations

import argparse
import csv
import importlib.util
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
from typing import Any

HERE = pathlib.Path(__file__).parent / "sweep"
sys.path.insert(0, str(HERE))
from calls import CALLS  # noqa: E402


class Worker:
    def __init__(self, python: str, library: str) -> None:
        self.library, self.python = library, python
        self._start()

    def _start(self) -> None:
        self._process = subprocess.Popen(
            [self.python, str(HERE / "worker.py"), self.library],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )
        assert self._process.stdout
        self.alive = self._process.stdout.readline().strip() == "ready"

    def ask(self, made: str, call: str, seconds: float) -> dict[str, Any]:
        assert self._process.stdin and self._process.stdout
        print(json.dumps({"made": made, "call": call, "seconds": seconds}), file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        if not answer:
            self._start()
            return {"error": "the process ended"}
        return json.loads(answer)

    def close(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait()


def workers() -> list[Worker]:
    installed = sys.executable if importlib.util.find_spec("tensorflow") else None
    theirs = os.environ.get("EMPLACE_TF_PYTHON", installed)
    found = [Worker(sys.executable, "emplace")]
    if theirs:
        found.append(Worker(theirs, "tensorflow"))
    return [w for w in found if w.alive]


def measure(made: str, call: str, contenders: list[Worker], options: Any) -> dict[str, Any]:
    times: dict[str, list[float]] = {w.library: [] for w in contenders}
    checks, errors = {}, {}
    for _ in range(options.turns):
        for worker in contenders:
            if worker.library in errors:
                continue
            answer = worker.ask(made, call, options.seconds)
            if "error" in answer:
                errors[worker.library] = answer["error"]
            else:
                times[worker.library].append(answer["time"])
                checks[worker.library] = answer["check"]
    return {"times": {who: statistics.median(t) * 1e6 for who, t in times.items() if t}, "checks": checks, "errors": errors}


def differ(call: str, checks: dict[str, Any]) -> bool:
    known = [c for c in checks.values() if c is not None]
    return "random" not in call and "dropout" not in call and len(known) == 2 and not math.isclose(*known, rel_tol=1e-2, abs_tol=1e-2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=[], help="rows whose name has one of these words")
    parser.add_argument("--seconds", type=float, default=0.1, help="of each turn of a call")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--csv", help="keep the table there")
    parser.add_argument("--json", help="write the rows there, one a line")
    options = parser.parse_args()
    contenders = workers()
    rows = []
    for name, size, made, call in CALLS:
        if options.only and not any(word in name for word in options.only):
            continue
        found = measure(made, call, contenders, options)
        if "emplace" not in found["times"]:
            print(f"{name} ({size}): {found['errors']}", file=sys.stderr)
            continue
        peers = {who: round(t, 2) for who, t in found["times"].items() if who != "emplace"}
        value = found["times"]["emplace"]
        ratio = round(value / min(peers.values()), 3) if peers and min(peers.values()) > 0 else None
        note = "differs" if differ(call, found["checks"]) else "; ".join(f"{k}: {v}" for k, v in found["errors"].items())
        rows.append({"name": f"{name} ({size})", "value": round(value, 2), "unit": "us", "peers": peers, "ratio": ratio, "note": note})
    report(rows, options)


def report(rows: list[dict[str, Any]], options: Any) -> None:
    rows.sort(key=lambda r: -(r["ratio"] or 0))
    for r in rows:
        peers = "  ".join(f"{who} {v:.1f}" for who, v in r["peers"].items())
        print(f"{r['name']:42} {r['value']:12.1f} us  ratio {r['ratio'] if r['ratio'] is not None else '-':>8}  {peers}  {r['note']}")
    known = [r["ratio"] for r in rows if r["ratio"]]
    if known:
        mean = math.exp(sum(map(math.log, known)) / len(known))
        print(f"{len(known)} rows, geometric mean {mean:.2f}, over 1.1: {sum(r > 1.1 for r in known)}")
    if options.csv:
        with open(options.csv, "w", newline="") as file:
            table = csv.writer(file)
            table.writerow(["call", "emplace us", "tensorflow us", "ratio", "note"])
            table.writerows([r["name"], r["value"], r["peers"].get("tensorflow", ""), r["ratio"], r["note"]] for r in rows)
    if options.json:
        with open(options.json, "w") as file:
            file.writelines(json.dumps({k: r[k] for k in ("name", "value", "unit", "peers", "ratio")}) + "\n" for r in rows)


if __name__ == "__main__":
    main()
