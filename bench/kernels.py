"""bench/run kernels [--json FILE] [--cores N] [--only NAME...] [--seconds S]

Kernels at three sizes, called eagerly from Python, beside TensorFlow and NumPy in one run: a process
each, which take turns, so that a slow spell of the machine hits all alike. TensorFlow is the one of
this environment, or of the Python that EMPLACE_TF_PYTHON names; without it NumPy alone is the peer.
Times are the best of each process's rounds; results are compared before they count.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import importlib.util
import json
import math
import os
import pathlib
import subprocess
import sys
import time

import numpy as np

HERE = pathlib.Path(__file__).parent / "kernel_peers"
sys.path.insert(0, str(HERE))
from cases import CASES, CHAIN_ELEMENTS, SIZES  # noqa: E402

GOAL, SLOW = 0.7, 1.2  # of TensorFlow's time: the mean's goal, and what is listed by name
RANDOM = ("random-uniform", "random-normal")


class Worker:
    def __init__(self, python: str, framework: str, cores: int) -> None:
        self.framework = framework
        self._process = subprocess.Popen(
            [python, str(HERE / "worker.py"), framework, str(cores)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )
        self.alive = self._line() == "ready"

    def _line(self) -> str:
        assert self._process.stdout
        return self._process.stdout.readline().strip()

    def ask(self, case: str, size: str, seconds: float) -> tuple[float, float] | str:
        """Time and digest, or why there is none."""
        assert self._process.stdin
        print(case, size, seconds, file=self._process.stdin, flush=True)
        answer = self._line()
        if not answer or answer.startswith("missing"):
            return answer or "the process ended"
        best, _, check = map(float, answer.split())
        return best, check

    def close(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait()


def peers(cores: int) -> list[Worker]:
    own = [Worker(sys.executable, "emplace", cores), Worker(sys.executable, "numpy", cores)]
    installed = sys.executable if importlib.util.find_spec("tensorflow") else None
    tensorflow = os.environ.get("EMPLACE_TF_PYTHON", installed)
    if tensorflow:
        own.append(Worker(tensorflow, "tensorflow", cores))
    return [w for w in own if w.alive]


def measure(workers: list[Worker], case: str, size: str, seconds: float) -> dict[str, float]:
    times: dict[str, float] = {}
    checks: dict[str, float] = {}
    for _ in range(2):  # turn by turn
        for worker in workers:
            answer = worker.ask(case, size, seconds / 2)
            if isinstance(answer, str):
                if worker.framework == "emplace":
                    raise SystemExit(f"{case} {size}: {answer}")
                continue
            times[worker.framework] = min(answer[0], times.get(worker.framework, math.inf))
            checks[worker.framework] = answer[1]
    for name, value in checks.items():
        if case not in RANDOM or name == "tensorflow":
            if not math.isclose(value, checks["emplace"], rel_tol=1e-3, abs_tol=1e-3):
                raise SystemExit(f"{case} {size}: {name} says {value}, ours {checks['emplace']}")
    return times


def row_of(name: str, times: dict[str, float]) -> dict[str, object]:
    ours = times.pop("emplace")
    best = min(times.values(), default=None)
    peers_ = {k: round(v / 1e3, 3) for k, v in times.items()}
    return {"name": name, "value": round(ours / 1e3, 3), "unit": "us", "peers": peers_, "ratio": round(ours / best, 3) if best else None}


def report(rows: list[dict]) -> None:
    ratios = {r["name"]: r["value"] / r["peers"]["tensorflow"] for r in rows if "tensorflow" in r["peers"]}
    if not ratios:
        return
    mean = math.exp(sum(map(math.log, ratios.values())) / len(ratios))
    print(f"geometric mean of {len(ratios)}: {mean:.2f} of TensorFlow's time (goal {GOAL})")
    slow = sorted((r, n) for n, r in ratios.items() if r > SLOW)
    for ratio, name in reversed(slow):
        print(f"  above {SLOW}: {name}: {ratio:.2f}")


def memory_speed(cores: int) -> float:
    """GB/s of a sum into a third array, as STREAM counts: what a fused chain of two inputs moves."""
    a, b, c = (np.full(CHAIN_ELEMENTS, 1.5, np.float32) for _ in "abc")
    parts = [slice(i * CHAIN_ELEMENTS // cores, (i + 1) * CHAIN_ELEMENTS // cores) for i in range(cores)]
    best = math.inf
    with concurrent.futures.ThreadPoolExecutor(cores) as pool:
        for _ in range(25):
            start = time.perf_counter()
            list(pool.map(lambda p: np.add(a[p], b[p], out=c[p]), parts))
            best = min(best, time.perf_counter() - start)
    return 12e-9 * CHAIN_ELEMENTS / best


def report_chain(row: dict, cores: int) -> None:
    ours, memory = 12e-3 * CHAIN_ELEMENTS / row["value"], memory_speed(cores)
    print(f"five-op chain over 64 MiB, {cores} cores: {ours:.1f} GB/s, memory {memory:.1f}: {ours / memory:.0%} (goal 80 %)")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--json")
    parser.add_argument("--cores", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--size", nargs="*", default=list(SIZES))
    parser.add_argument("--seconds", type=float, default=0.4, help="of each process and kernel")
    options = parser.parse_args()
    rows: list[dict] = []
    for cores in options.cores:
        if cores > len(os.sched_getaffinity(0)):
            continue
        workers = peers(cores)
        for case in CASES:
            if options.only and case.name not in options.only:
                continue
            for size in options.size:
                rows.append(row_of(f"{case.name}/{size}/{cores}", measure(workers, case.name, size, options.seconds)))
                peers_ = "  ".join(f"{k} {v:>10.2f}" for k, v in rows[-1]["peers"].items())
                print(f"{rows[-1]['name']:<32} {rows[-1]['value']:>10.2f} us   {peers_}   ratio {rows[-1]['ratio']}", flush=True)
                if case.name == "five-op-chain" and size == "large":
                    report_chain(rows[-1], cores)
        for worker in workers:
            worker.close()
    report(rows)
    if options.json:
        pathlib.Path(options.json).write_text("".join(json.dumps(r) + "\n" for r in rows))


if __name__ == "__main__":
    main()
