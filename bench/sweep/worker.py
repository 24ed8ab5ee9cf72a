"""One library's side of bench/run sweep.

usage: worker.py emplace|tensorflow     (a row of JSON in: {"made", "call", "seconds"}; a row out)

Answers {"time": processor seconds a call, "wall": seconds a call, "calls": how many, "check": a digest} or {"error": why}.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from typing import Any, Callable

import numpy as np


def digest(value: Any, tf: Any) -> float | None:
    """A number that values which agree share."""
    total = 0.0
    for part in tf.nest.flatten(value, expand_composites=True):
        array = np.asarray(part)
        if array.dtype.kind in "fiubc" and array.size:
            total += float(np.sum(np.abs(np.nan_to_num(array.astype(np.complex128)))))
        else:
            total += array.size
    return total


def processor() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def timed(work: Callable[[], Any], seconds: float) -> dict[str, Any]:
    """The median of five rounds."""
    start = time.perf_counter()
    work()
    once = max(time.perf_counter() - start, 1e-7)
    calls = max(1, int(seconds / 5 / once))
    rounds = []
    for _ in range(5 if once < seconds else 1):
        begin, clock = processor(), time.perf_counter()
        for _ in range(calls):
            work()
        rounds.append(((processor() - begin) / calls, (time.perf_counter() - clock) / calls))
    rounds.sort()
    time_, wall = rounds[len(rounds) // 2]
    return {"time": time_, "wall": wall, "calls": calls}


def main() -> None:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    tf = __import__(sys.argv[1])
    print("ready", file=out, flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            names: dict[str, Any] = {"tf": tf, "np": np, "rng": np.random.default_rng(0)}
            exec(asked["made"], names)
            exec(f"def work():\n  {'' if asked['call'].startswith('for ') else 'return '}{asked['call']}", names)
            value = names["work"]()
            answer = {"check": digest(value, tf) if value is not None and not isinstance(value, memoryview) else None}
            del value
            answer |= timed(names["work"], asked["seconds"])
        except Exception as e:  # a row of its own
            answer = {"error": f"{type(e).__name__}: {str(e)[:200]}"}
        print(json.dumps(answer), file=out, flush=True)


main()
