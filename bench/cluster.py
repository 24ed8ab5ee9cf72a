"""bench/run cluster [--json FILE] [--gib]: steps over several processes on the loopback, TensorFlow's beside ours.

Both engines have a parameter server and two workers, and a client each; rounds alternate between them. Long values
go through shared memory, beside which stands a copy in one process (memcpy), and, in a cluster of ours that speaks as
over a network, through TCP, beside which stands a call of gRPC's own with as many bytes. --gib: values of 1 GiB, too
(some 10 GiB of memory).
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import time
from typing import Any, Callable

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "tests" / "cluster"))
from processes import MODULES, Cluster, environment  # noqa: E402

ROUNDS = 8
SIZES = (64, 1024) if os.environ.get("EMPLACE_BENCH_GIB") else (64, 256)  # MiB
MIB = 1 << 20


def _programs(tf: Any) -> dict[str, tuple[Any, int]]:
    """What a step fetches, and how many steps a round has."""
    with tf.device("/job:worker/task:1"):
        nothing = tf.no_op()
    with tf.device("/job:ps/task:0"):
        number = tf.get_variable("number", initializer=1.0)
        large = {size: tf.get_variable(f"large_{size}", [size * MIB // 4], initializer=tf.ones_initializer()) for size in SIZES}
    programs = {"no-op on another task": (nothing, 100), "4 bytes of another task": (number.read_value(), 100)}
    for size, variable in large.items():
        with tf.device("/job:worker/task:1"):
            programs[f"{size} MiB from task to task"] = (tf.identity(variable.read_value()).op, 2)
    programs["MLP step, 1 parameter server, 2 workers"] = (_mlp(tf), 20)
    return programs


def _mlp(tf: Any) -> Any:
    with tf.device("/job:ps/task:0"):
        layers = [tf.get_variable(f"w{i}", initializer=np.full(shape, 0.01, np.float32)) for i, shape in enumerate([(64, 128), (128, 10)])]
    rows = np.random.RandomState(0).rand(32, 64).astype(np.float32)
    gradients = []
    for worker in (0, 1):
        with tf.device(f"/job:worker/task:{worker}"):
            hidden = tf.nn.relu(tf.matmul(tf.constant(rows + worker), layers[0]))
            loss = tf.reduce_mean(tf.square(tf.matmul(hidden, layers[1]) - 1.0))
            gradients.append(tf.gradients(loss, layers))
    with tf.device("/job:ps/task:0"):
        return tf.group(*[tf.assign_sub(w, 0.01 * (a + b)) for w, a, b in zip(layers, *gradients)])


def _client(module: str, target: str) -> None:
    """Runs rounds that are asked for by name, a line each; answers with the seconds of each step."""
    tf = importlib.import_module(module)
    tf.disable_v2_behavior()
    programs = _programs(tf)
    with tf.Session(target) as sess:
        sess.run(tf.global_variables_initializer())
        print("ready", flush=True)
        for line in sys.stdin:
            fetch, steps = programs[line.strip()]
            took = []
            for _ in range(steps):
                start = time.perf_counter()
                sess.run(fetch)
                took.append(time.perf_counter() - start)
            print(json.dumps(took), flush=True)


class Copies:
    """A copy in this process, as fast as it gets."""

    def __init__(self) -> None:
        self.took: dict[str, list[float]] = {}
        self._pairs = {f"{size} MiB from task to task": (np.ones(size * MIB, np.uint8), np.empty(size * MIB, np.uint8)) for size in SIZES}

    def round(self, name: str) -> None:
        for _ in range(2):
            start = time.perf_counter()
            np.copyto(self._pairs[name][1], self._pairs[name][0])
            self.took.setdefault(name, []).append(time.perf_counter() - start)

    def close(self) -> None:
        self._pairs.clear()


_GRPC_SERVER = """
import grpc, sys
from concurrent import futures
blocks = {}
class Handler(grpc.GenericRpcHandler):
    def service(self, details):
        return grpc.unary_unary_rpc_method_handler(lambda request, context: blocks.setdefault(int(request), bytes(int(request))))
server = grpc.server(futures.ThreadPoolExecutor(2), handlers=[Handler()], options=[("grpc.max_send_message_length", -1)])
print(server.add_insecure_port("127.0.0.1:0"), flush=True)
server.start()
server.wait_for_termination()
"""


class RawGrpc:
    """Calls of gRPC's own, plain, whose answers have as many bytes."""

    def __init__(self) -> None:
        import grpc

        self.took: dict[str, list[float]] = {}
        self._server = subprocess.Popen([sys.executable, "-c", _GRPC_SERVER], stdout=subprocess.PIPE, text=True)
        assert self._server.stdout is not None
        channel = grpc.insecure_channel(f"127.0.0.1:{int(self._server.stdout.readline())}", options=[("grpc.max_receive_message_length", -1)])
        self._call = channel.unary_unary("/bench/get")

    def round(self, name: str) -> None:
        for _ in range(2):
            start = time.perf_counter()
            self._call(str(int(name.split()[0]) * MIB).encode(), wait_for_ready=True)
            self.took.setdefault(name, []).append(time.perf_counter() - start)

    def close(self) -> None:
        self._server.kill()
        self._server.wait()


class Contender:
    """An engine's cluster and its client."""

    def __init__(self, engine: str, more_environment: dict[str, str] | None = None) -> None:
        self.cluster = Cluster(engine, {"ps": 1, "worker": 2}, more_environment)
        self.cluster.__enter__()
        command = [sys.executable, __file__, "--client", MODULES[engine], self.cluster.target("worker", 0)]
        self.client = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment())
        assert self.client.stdout is not None and self.client.stdout.readline() == "ready\n"
        self.took: dict[str, list[float]] = {}

    def round(self, name: str) -> None:
        assert self.client.stdin is not None and self.client.stdout is not None
        self.client.stdin.write(name + "\n")
        self.client.stdin.flush()
        self.took.setdefault(name, []).extend(json.loads(self.client.stdout.readline()))

    def close(self) -> None:
        self.client.kill()
        self.client.wait()
        self.cluster.__exit__()


def _rows(contenders: dict[str, Any], how: str = "") -> list[dict[str, Any]]:
    views: list[tuple[str, Callable[[list[float]], float]]] = [
        (", p50", lambda t: float(np.median(t[len(t) // 10 :]))),
        (", p99", lambda t: float(np.quantile(t[len(t) // 10 :], 0.99))),
    ]
    rows = []
    for name in next(iter(contenders.values())).took:
        for suffix, view in views[: 1 if "MiB" in name else 2]:
            value, *peers = [round(view(c.took[name]) * 1e6, 1) for c in contenders.values()]
            row = {"name": name + how + suffix, "value": value, "unit": "us", "peers": dict(zip(list(contenders)[1:], peers))}
            rows.append({**row, "ratio": round(value / peers[0], 4) if peers else None})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json")
    parser.add_argument("--gib", action="store_true")
    parser.add_argument("--client", nargs=2)
    args = parser.parse_args()
    if args.gib and not os.environ.get("EMPLACE_BENCH_GIB"):
        os.environ["EMPLACE_BENCH_GIB"] = "1"
        os.execv(sys.executable, [sys.executable, *sys.argv])
    if args.client:
        return _client(*args.client)
    engines = ["emplace"] + (["tensorflow"] if importlib.util.find_spec("tensorflow") else [])
    contenders: dict[str, Any] = {}
    over_tcp: dict[str, Any] = {}
    try:
        for engine in engines:
            contenders[engine] = Contender(engine)
        over_tcp["emplace"] = Contender("emplace", {"EMPLACE_CLUSTER_LOCAL": "0"})
        if importlib.util.find_spec("grpc"):
            over_tcp["gRPC"] = RawGrpc()
        names = ["no-op on another task", "4 bytes of another task", "MLP step, 1 parameter server, 2 workers"]
        for name in names:
            for _ in range(ROUNDS):
                for contender in contenders.values():
                    contender.round(name)
        rows = _rows(contenders)
        for contender in contenders.values():
            contender.took.clear()
        contenders["memcpy"] = Copies()
        for name in [f"{size} MiB from task to task" for size in SIZES]:
            for _ in range(ROUNDS):
                for contender in [*contenders.values(), *over_tcp.values()]:
                    contender.round(name)
        rows += _rows(contenders, ", shared memory") + _rows(over_tcp, ", TCP")
    finally:
        for contender in [*contenders.values(), *over_tcp.values()]:
            contender.close()
    for row in rows:
        print(f"{row['name']:50} {row['value']:12.1f} us   " + "  ".join(f"{k} {v:.1f}" for k, v in row["peers"].items()) + (f"   ratio {row['ratio']:.2f}" if row["ratio"] else ""))
    if args.json:
        with open(args.json, "w") as out:
            out.writelines(json.dumps(row) + "\n" for row in rows)


if __name__ == "__main__":
    main()
