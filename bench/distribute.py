"""bench/run distribute [--json FILE]: a training step under tf.distribute, with TensorFlow beside it.

The step of one replica stands beside the same step without a strategy, in one process by turns: the strategy may cost 2 %.
Two and four replicas are virtual GPUs on ours and logical CPUs on TensorFlow, which has no others here. Losses are compared.
Then Keras's `model.fit` of the same networks, a step of an epoch: on ours and on TensorFlow by turns.
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

BATCH, SECONDS = 64, 4.0
GOAL = 1.02
FIT_GOALS = {32: 0.5, 256: 0.7}  # of TensorFlow's time a step, by batch
FIT_STEPS, FIT_SECONDS, FIT_TURNS = 40, 3.0, 2


def weights(kind: str) -> list[np.ndarray]:
    shapes = [(784, 256), (256, 256), (256, 10)] if kind == "MLP" else [(3, 3, 1, 16), (3, 3, 16, 32), (7 * 7 * 32, 10)]
    r = np.random.default_rng(1)
    return [(r.standard_normal(s) * np.sqrt(2.0 / np.prod(s[:-1]))).astype(np.float32) for s in shapes]


def logits(tf: Any, kind: str, x: Any, v: list[Any]) -> Any:
    if kind == "MLP":
        return tf.matmul(tf.nn.relu(tf.matmul(tf.nn.relu(tf.matmul(x, v[0])), v[1])), v[2])
    x = tf.reshape(x, [-1, 28, 28, 1])
    for w in v[:2]:
        x = tf.nn.max_pool2d(tf.nn.relu(tf.nn.conv2d(x, w, strides=1, padding="SAME")), 2, 2, "SAME")
    return tf.matmul(tf.reshape(x, [-1, 7 * 7 * 32]), v[2])


def loss_and_gradients(tf: Any, kind: str, x: Any, y: Any, v: list[Any]) -> Any:
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits(tf, kind, x, v))) / BATCH
    return loss, tape.gradient(loss, v)


def plain_step(tf: Any, kind: str) -> Callable[..., Any]:
    v = [tf.Variable(w) for w in weights(kind)]

    @tf.function
    def step(x: Any, y: Any) -> Any:
        loss, gradients = loss_and_gradients(tf, kind, x, y, v)
        for w, g in zip(v, gradients):
            w.assign_sub(0.01 * g)
        return loss

    return step


def strategy_step(tf: Any, kind: str, strategy: Any) -> Callable[..., Any]:
    with strategy.scope():
        v = [tf.Variable(w) for w in weights(kind)]

    def update(strategy: Any, *gradients: Any) -> None:
        for w, g in zip(v, gradients):
            strategy.extended.update(w, lambda w, g: w.assign_sub(0.01 * g), args=(g,))

    def replica(x: Any, y: Any) -> Any:
        loss, gradients = loss_and_gradients(tf, kind, x, y, v)
        context = tf.distribute.get_replica_context()
        context.merge_call(update, args=tuple(context.all_reduce("SUM", gradients)))
        return loss

    @tf.function
    def step(x: Any, y: Any) -> Any:
        return strategy.reduce("SUM", strategy.run(replica, args=(x, y)), axis=None)

    return step


def measured(steps: dict[str, Callable[[], Any]]) -> dict[str, dict[str, float]]:
    """The best time of a step of each, in microseconds, and the loss of its sixth call."""
    found = {who: {"loss": [float(step()) for _ in range(6)][-1], "us": float("inf")} for who, step in steps.items()}
    end = time.perf_counter() + SECONDS
    while time.perf_counter() < end:  # by turns, step by step: others' work on the machine meets all alike
        for who, step in steps.items():
            start = time.perf_counter()
            float(step())
            found[who]["us"] = min(found[who]["us"], (time.perf_counter() - start) * 1e6)
    return found


def work(library: str, kind: str, replicas: int) -> None:
    """In a process of its own: how many devices there are is said once."""
    tf = importlib.import_module(library)
    if library == "tensorflow":
        cpu = tf.config.list_physical_devices("CPU")[0]
        tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * replicas)
    on_cpus = library == "tensorflow" or replicas == 1
    devices = [f"{'CPU' if on_cpus else 'GPU'}:{i}" for i in range(replicas)]
    strategy = tf.distribute.MirroredStrategy(devices, cross_device_ops=tf.distribute.ReductionToOneDevice() if on_cpus else None)
    r = np.random.default_rng(2)
    rows = r.standard_normal((BATCH, 784)).astype(np.float32), r.integers(0, 10, BATCH)
    batch = next(iter(strategy.experimental_distribute_dataset(tf.data.Dataset.from_tensor_slices(rows).batch(BATCH))))
    distributed = strategy_step(tf, kind, strategy)
    steps = {"strategy": lambda: distributed(*batch)}
    if replicas == 1:
        plain, values = plain_step(tf, kind), [tf.constant(x) for x in rows]
        steps["plain"] = lambda: plain(*values)
    print(json.dumps(measured(steps)))


def fit(library: str, kind: str, batch: int) -> None:
    """In a process of its own: the best time of a step of `model.fit`, and the loss of the first epoch."""
    if library == "emplace":
        importlib.import_module(library).pose_as_tensorflow()
    keras = importlib.import_module("tensorflow").keras
    layers = keras.layers
    if kind == "MLP":
        inner = [layers.Dense(256, "relu"), layers.Dense(256, "relu")]
    else:
        sizes = [layers.Conv2D(n, 3, padding="same", activation="relu") for n in (16, 32)]
        inner = [layers.Reshape([28, 28, 1]), *(part for conv in sizes for part in (conv, layers.MaxPooling2D())), layers.Flatten()]
    model = keras.Sequential([layers.Input([784]), *inner, layers.Dense(10)])
    model.set_weights([w for shaped in weights(kind) for w in (shaped, np.zeros(shaped.shape[-1], np.float32))])
    model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    r = np.random.default_rng(2)
    x, y = r.standard_normal((batch * FIT_STEPS, 784)).astype(np.float32), r.integers(0, 10, batch * FIT_STEPS)
    loss = model.fit(x, y, batch, verbose=0, shuffle=False).history["loss"][0]
    best, end = float("inf"), time.perf_counter() + FIT_SECONDS
    while time.perf_counter() < end:
        start = time.perf_counter()
        model.fit(x, y, batch, verbose=0)
        best = min(best, (time.perf_counter() - start) / FIT_STEPS * 1e6)
    print(json.dumps({"us": best, "loss": loss}))


def fit_rows(libraries: list[str]) -> list[dict[str, Any]]:
    made = []
    for kind in ("MLP", "convolutions"):
        for batch in FIT_GOALS:
            found: dict[str, Any] = {}
            for library in libraries * FIT_TURNS:
                told = run("--fit", library, kind, batch, 0)
                if library in found and told["us"] > found[library]["us"]:
                    continue
                found[library] = told
            losses = [f["loss"] for f in found.values()]
            if not np.allclose(losses, losses[0], rtol=1e-3):
                raise SystemExit(f"bench distribute: losses of fit differ: {losses}")
            times = {library: f["us"] for library, f in found.items()}
            made.append(row(f"{kind}: model.fit, batch {batch}", times.pop("emplace"), **times) | {"goal": FIT_GOALS[batch]})
    return made


def run(work: str, library: str, kind: str, number: int, gpus: int) -> dict[str, Any]:
    env = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
    env["EMPLACE_VIRTUAL_GPUS"] = str(gpus)
    arguments = [sys.executable, __file__, work, library, kind, str(number)]
    done = subprocess.run(arguments, env=env, capture_output=True, text=True, timeout=600)
    if done.returncode:
        raise SystemExit(f"bench distribute: {' '.join(arguments[2:])}: {done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def row(name: str, value: float, **peers: float) -> dict[str, Any]:
    shown = {who: round(us, 2) for who, us in peers.items()}
    return dict(name=name, value=round(value, 2), unit="us", peers=shown, ratio=round(value / min(peers.values()), 4) if peers else None)


def rows() -> list[dict[str, Any]]:
    libraries = ["emplace"] + ["tensorflow"] * (importlib.util.find_spec("tensorflow") is not None)
    made = []
    for kind in ("MLP", "convolutions"):
        for replicas in (1, 2, 4):
            found = {library: run("--work", library, kind, replicas, replicas if replicas > 1 else 0) for library in libraries}
            ours = found.pop("emplace")
            losses = [ours["strategy"]["loss"], *(f["strategy"]["loss"] for f in found.values())]
            if not np.allclose(losses, losses[0], rtol=1e-3):
                raise SystemExit(f"bench distribute: losses differ: {losses}")
            if replicas == 1:
                made.append(row(f"{kind}: step under a strategy, 1 replica", ours["strategy"]["us"], plain=ours["plain"]["us"]) | {"goal": GOAL})
            peers = {library: f["strategy"]["us"] for library, f in found.items()}
            made.append(row(f"{kind}: {replicas} replica{'s' * (replicas > 1)}", ours["strategy"]["us"], **peers))
    return made + fit_rows(libraries)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--json")
    parser.add_argument("--work", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--fit", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work or options.fit:
        return (work if options.work else fit)(*(options.work or options.fit)[:2], int((options.work or options.fit)[2]))
    found = rows()
    for r in found:
        goal = f"   goal <= {r['goal']}" if "goal" in r else ""
        peers = "  ".join(f"{who} {us:.1f}" for who, us in r["peers"].items())
        print(f"{r['name']:45} {r['value']:9.1f} us   {peers:22} ratio {r['ratio']}{goal}", flush=True)
    if options.json:
        with open(options.json, "w") as out:
            out.writelines(json.dumps(r) + "\n" for r in found)


if __name__ == "__main__":
    main()
