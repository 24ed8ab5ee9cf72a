"""bench/run train [--json FILE]: the time of a training step, with TensorFlow beside it.

The same program trains on both sides in one run, on the same threads, from the same weights; the
losses are compared first. Each figure is the best of several rounds.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import os
import time
from typing import Any, Callable

import numpy as np

BATCH = 128
CHECKED = 5  # steps whose losses must agree
GOAL = 0.7  # of TensorFlow's time

Program = Callable[[Any, Any], Any]


def weights(tf: Any, name: str, *shape: int) -> Any:
    scale = np.sqrt(2.0 / np.prod(shape[:-1]))
    values = np.random.default_rng(len(name) + sum(shape)).standard_normal(shape).astype(np.float32) * scale
    return tf.get_variable(name, initializer=values.astype(np.float32))


def mlp(tf: Any, images: Any) -> Any:
    x = images
    for i, (before, after) in enumerate(((784, 512), (512, 512), (512, 10))):
        bias = tf.get_variable(f"bias{i}", [after], initializer=tf.zeros_initializer())
        x = tf.nn.bias_add(tf.matmul(x, weights(tf, f"weights{i}", before, after)), bias)
        x = tf.nn.relu(x) if i < 2 else x
    return x


def convolution(tf: Any, images: Any) -> Any:
    x = tf.reshape(images, [-1, 28, 28, 1])
    for i, (before, after) in enumerate(((1, 16), (16, 32))):
        bias = tf.get_variable(f"bias{i}", [after], initializer=tf.zeros_initializer())
        x = tf.nn.conv2d(x, weights(tf, f"filters{i}", 3, 3, before, after), [1, 1, 1, 1], "SAME")
        x = tf.nn.max_pool(tf.nn.relu(tf.nn.bias_add(x, bias)), [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    return tf.matmul(tf.reshape(x, [-1, 7 * 7 * 32]), weights(tf, "out", 7 * 7 * 32, 10))


PROGRAMS: dict[str, Program] = {"MLP 784-512-512-10, batch 128": mlp, "small convolution net, batch 128": convolution}


class Trained:
    """One program in a session of its own."""

    def __init__(self, tf: Any, program: Program) -> None:
        rng = np.random.default_rng(1)
        self.images = rng.standard_normal((BATCH, 784)).astype(np.float32)
        self.labels = rng.integers(0, 10, BATCH).astype(np.int32)
        with tf.Graph().as_default():
            x = tf.placeholder(tf.float32, [BATCH, 784])
            y = tf.placeholder(tf.int32, [BATCH])
            self.loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=program(tf, x)))
            self.train = tf.train.GradientDescentOptimizer(0.01).minimize(self.loss)
            self.session = tf.Session()
            self.session.run(tf.global_variables_initializer())
        self.feeds = {x: self.images, y: self.labels}

    def losses(self, steps: int) -> list[float]:
        return [float(self.session.run([self.loss, self.train], self.feeds)[0]) for _ in range(steps)]

    def time(self, steps: int) -> float:
        """Microseconds a step."""
        start = time.perf_counter()
        for _ in range(steps):
            self.session.run(self.train, self.feeds)
        return (time.perf_counter() - start) / steps * 1e6


def peer() -> Any:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
    if importlib.util.find_spec("tensorflow") is None:
        return None
    tf = importlib.import_module("tensorflow.compat.v1")
    tf.logging.set_verbosity(tf.logging.ERROR)
    tf.disable_v2_behavior()
    return tf


def measure(name: str, program: Program, tf: Any, other: Any, rounds: int, steps: int) -> dict[str, Any]:
    mine = Trained(tf, program)
    its = Trained(other, program) if other is not None else None
    first = mine.losses(CHECKED)
    if its is not None and not np.allclose(first, its.losses(CHECKED), rtol=1e-3):
        raise SystemExit(f"bench train: {name}: the losses differ: {first}")
    best_mine = best_its = float("inf")
    for _ in range(rounds):  # in turns, so that both see the same machine
        best_mine = min(best_mine, mine.time(steps))
        if its is not None:
            best_its = min(best_its, its.time(steps))
    peers = {"TensorFlow": round(best_its, 1)} if its is not None else {}
    ratio = round(best_mine / best_its, 3) if its is not None else None
    return {"name": name, "value": round(best_mine, 1), "unit": "us/step", "peers": peers, "ratio": ratio}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--quick", action="store_true", help="a few steps only")
    arguments = parser.parse_args()
    tf, other = importlib.import_module("emplace.compat.v1"), peer()
    rounds, steps = (3, 5) if arguments.quick else (15, 20)
    rows = [measure(name, program, tf, other, rounds, steps) for name, program in PROGRAMS.items()]
    for row in rows:
        beside = "".join(f"   {peer} {value:10.1f}" for peer, value in row["peers"].items())
        goal = "" if row["ratio"] is None else f"   {row['ratio']:.2f} x (at most {GOAL})"
        print(f"{row['name']:36} {row['value']:10.1f} {row['unit']}{beside}{goal}")
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)


if __name__ == "__main__":
    main()
