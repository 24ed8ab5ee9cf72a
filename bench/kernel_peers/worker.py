"""Times calls in one framework: `worker.py FRAMEWORK CORES`, driven over its input and output.

A line in: `CASE SIZE SECONDS`. A line out: the best and the median time of one call, in ns, and a sum
over the result, by which the frameworks are compared; or `missing` and why.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from typing import Any, Callable

framework, cores = sys.argv[1], int(sys.argv[2])
os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="", OMP_NUM_THREADS=str(cores), OPENBLAS_NUM_THREADS=str(cores))
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])

import numpy as np  # noqa: E402
from cases import CASES, SIZES  # noqa: E402


def load() -> Any:
    if framework == "numpy":
        return np
    if framework == "tensorflow":
        import tensorflow as tf
    else:
        import emplace as tf
    if framework == "tensorflow":
        tf.config.threading.set_intra_op_parallelism_threads(cores)
        tf.config.threading.set_inter_op_parallelism_threads(cores)
    return tf


def prepared(module: Any, case: Any, size: int) -> Callable[[], Any]:
    inputs = case.inputs(size)
    if framework == "numpy":
        if case.numpy is None:
            raise NotImplementedError("no one call in NumPy")
        return lambda: case.numpy(np, *inputs)
    tensors = [module.constant(x) for x in inputs]
    if case.graph and framework == "emplace":
        return in_session(case, inputs)
    if case.graph:
        traced = module.function(lambda *t: case.call(module, *t))
        return lambda: traced(*tensors)
    return lambda: case.call(module, *tensors)


def in_session(case: Any, inputs: list[np.ndarray]) -> Callable[[], Any]:
    """Our compiled form: a graph in a session, its inputs variables."""
    import emplace.compat.v1 as tf

    with tf.Graph().as_default():
        variables = [tf.Variable(x) for x in inputs]
        session = tf.Session()
        session.run(tf.global_variables_initializer())
        result = case.call(tf, *(v.value() for v in variables))
        return session.make_callable(result)


def digest(result: Any) -> float:
    while isinstance(result, (list, tuple)):
        result = result[0]
    return float(np.asarray(result, dtype="float64").mean())


def timed(call: Callable[[], Any], seconds: float) -> tuple[float, float]:
    start = time.perf_counter()
    call()
    once = max(1e-9, time.perf_counter() - start)
    inner = max(1, int(2e-4 / once))
    rounds = []
    end = time.perf_counter() + seconds
    while len(rounds) < 3 or time.perf_counter() < end and len(rounds) < 1000:
        start = time.perf_counter()
        for _ in range(inner):
            call()
        rounds.append((time.perf_counter() - start) / inner * 1e9)
    return min(rounds), statistics.median(rounds)


def main() -> None:
    module = load()
    by_name = {c.name: c for c in CASES}
    print("ready", flush=True)
    for line in sys.stdin:
        name, size, seconds = line.split()
        try:
            call = prepared(module, by_name[name], SIZES.index(size))
            check = digest(call())
            best, middle = timed(call, float(seconds))
            print(best, middle, check, flush=True)
        except Exception as error:  # noqa: BLE001: whatever a framework says
            print("missing", type(error).__name__, str(error).split("\n")[0][:100], flush=True)


main()
