"""bench/run sweep [--part PART...] [--only WORD...] [--seconds S] [--turns N]
                [--minutes M] [--csv FILE] [--page FILE] [--json FILE]

Calls beside TensorFlow: a process each, which take turns. Processor time, so that a busy machine changes little; the
median of the turns. The table is sorted by ratio, worst first; --csv keeps it, --page sums it up with a histogram.

Parts: everyday (sweep/calls.py); operations (every golden call's operation and dtype, at three sizes, and its gradient);
functions (the eager programs of tests/differential: the public functions, eagerly and in a tf.function).
"""

from __future__ import annotations

import argparse
import csv
import importlib.util
import json
import math
import os
import pathlib
import random
import select
import statistics
import subprocess
import sys
import time
from typing import Any

HERE = pathlib.Path(__file__).parent / "sweep"
sys.path.insert(0, str(HERE))
import rows as sweep_rows  # noqa: E402
from page import write_page  # noqa: E402

LONGEST = 60.0  # seconds for a row in one process


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
        if not select.select([self._process.stdout], [], [], LONGEST)[0]:
            self._process.kill()
            self._process.wait()
            self._start()
            return {"error": "took too long"}
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


def first_that_runs(row: sweep_rows.Row, contenders: list[Worker], options: Any) -> dict[str, Any]:
    """Of the ways in which the inputs may be enlarged, the first that everyone takes; of the last, why not."""
    found: dict[str, Any] = {"times": {}, "checks": {}, "errors": {"all": "no way to make inputs"}}
    for made, call in row.ways():
        found = measure(made, call, contenders, options)
        if not found["errors"]:
            break
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", nargs="*", default=["everyday"], choices=[*sweep_rows.PARTS], help="what to call")
    parser.add_argument("--only", nargs="*", default=[], help="rows whose name has one of these words")
    parser.add_argument("--seconds", type=float, default=0.1, help="of each turn of a call")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--csv", help="keep the table there")
    parser.add_argument("--minutes", type=float, help="stop then, having taken rows from everywhere")
    parser.add_argument("--page", help="write a summary there, as Markdown")
    parser.add_argument("--json", help="write the rows there, one a line")
    options = parser.parse_args()
    contenders = workers()
    rows, left_out = [], []
    wanted = [
        (part, row) for part in options.part for row in sweep_rows.PARTS[part]()
        if not options.only or any(word in f"{row.name} ({row.size})" for word in options.only)
    ]
    if options.minutes:
        random.Random(0).shuffle(wanted)
    end = time.monotonic() + (options.minutes or math.inf) * 60
    for part, row in wanted:
        if time.monotonic() >= end:
            break
        found = first_that_runs(row, contenders, options)
        errors = "; ".join(f"{k}: {v}" for k, v in found["errors"].items())
        if "emplace" not in found["times"] or (row.needs_all and found["errors"]):
            left_out.append({"part": part, "name": f"{row.name} ({row.size})", "why": errors})
            continue
        peers = {who: round(t, 2) for who, t in found["times"].items() if who != "emplace"}
        value = found["times"]["emplace"]
        ratio = round(value / min(peers.values()), 3) if peers and min(peers.values()) > 0 else None
        note = "differs" if differ(row.call, found["checks"]) else errors
        rows.append({"part": part, "name": f"{row.name} ({row.size})", "size": row.size, "value": round(value, 2), "unit": "us",
                     "peers": peers, "ratio": ratio, "note": note})
    report(rows, left_out, options)


def report(rows: list[dict[str, Any]], left_out: list[dict[str, Any]], options: Any) -> None:
    rows.sort(key=lambda r: -(r["ratio"] or 0))
    for r in rows:
        peers = "  ".join(f"{who} {v:.1f}" for who, v in r["peers"].items())
        print(f"{r['name']:42} {r['value']:12.1f} us  ratio {r['ratio'] if r['ratio'] is not None else '-':>8}  {peers}  {r['note']}")
    known = [r["ratio"] for r in rows if r["ratio"]]
    if known:
        mean = math.exp(sum(map(math.log, known)) / len(known))
        print(f"{len(known)} rows, geometric mean {mean:.2f}, over 1.1: {sum(r > 1.1 for r in known)}")
    for row in left_out:
        print(f"left out: {row['name']}: {row['why']}", file=sys.stderr)
    if options.csv:
        with open(options.csv, "w", newline="") as file:
            table = csv.writer(file)
            table.writerow(["part", "call", "emplace us", "tensorflow us", "ratio", "note"])
            table.writerows([r["part"], r["name"], r["value"], r["peers"].get("tensorflow", ""), r["ratio"], r["note"]] for r in rows)
    if options.page:
        write_page(pathlib.Path(options.page), rows, left_out)
    if options.json:
        with open(options.json, "w") as file:
            file.writelines(json.dumps({k: r[k] for k in ("name", "value", "unit", "peers", "ratio")}) + "\n" for r in rows)


if __name__ == "__main__":
    main()
