"""side.py LIBRARY NETWORK infer|train BATCH: one side of a row of bench/run models. Answers each line on its standard
input, a number of steps, with a line of figures; the first answer is of the first step."""

from __future__ import annotations

import json
import pathlib
import resource
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))


def steps_of(library: str, network: str, mode: str, batch: int):
    if library in ("emplace", "tensorflow"):
        import graph_networks
        return graph_networks.step(library, network, mode, batch)
    import torch_networks
    make = torch_networks.onnx_step if library == "onnxruntime" else torch_networks.step
    return make(network, mode, batch)


def main() -> None:
    library, network, mode, batch = sys.argv[1:]
    step = steps_of(library, network, mode, int(batch))

    def timed() -> tuple[float, float]:
        wall, cpu = time.perf_counter(), time.process_time()
        step()
        return 1e3 * (time.process_time() - cpu), 1e3 * (time.perf_counter() - wall)

    first = timed()
    print(json.dumps({"first_ms": first[0]}), flush=True)
    for line in sys.stdin:
        took = [timed() for _ in range(int(line))]
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps({"cpu_ms": min(t[0] for t in took), "wall_ms": min(t[1] for t in took), "peak_mb": peak}), flush=True)


if __name__ == "__main__":
    main()
