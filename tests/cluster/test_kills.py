"""Synchronous training over tasks that are killed and started again ends with the bits of an undisturbed run.

EMPLACE_TEST_FULL=1: 100 kills; EMPLACE_TEST_SEED=N: which tasks, when.
"""

from __future__ import annotations

import os
import pathlib
import random
import threading
import time

import numpy as np
import pytest

import emplace.compat.v1 as tf
from processes import LIMIT, Cluster

try:
    tf.train.Server.create_local_server()
except tf.errors.UnimplementedError as error:  # a build without clusters
    pytest.skip(str(error), allow_module_level=True)

KILLS = 100 if os.environ.get("EMPLACE_TEST_FULL") else 3
SEED = int(os.environ.get("EMPLACE_TEST_SEED", "1"))
TASKS = [("ps", 0), ("worker", 1)]


def _program(spread: bool) -> tuple[tf.Graph, tf.Tensor, tf.Operation, tf.Tensor]:
    """What each step computes follows from the global step alone."""
    graph = tf.Graph()
    with graph.as_default():
        def device(name: str) -> str | None:
            return name if spread else None

        with tf.device(device("/job:ps/task:0")):
            step = tf.train.get_or_create_global_step()
            w = tf.get_variable("w", initializer=np.linspace(-1, 1, 12).reshape(4, 3).astype(np.float32))
        gradients = []
        for worker in (0, 1):
            with tf.device(device(f"/job:worker/task:{worker}")):
                phase = tf.cast(step, tf.float32) * 0.37 + worker
                rows = tf.sin(tf.reshape(tf.range(20.0), [5, 4]) + phase)
                loss = tf.reduce_mean(tf.square(tf.tanh(tf.matmul(rows, w)) - tf.cos(phase)))
                gradients.append(tf.gradients(loss, w)[0])
        with tf.device(device("/job:ps/task:0")):
            train = tf.train.MomentumOptimizer(0.1, 0.9).apply_gradients([((gradients[0] + gradients[1]) / 2.0, w)], global_step=step)
        return graph, step, train, w


def _trained(master: str, folder: pathlib.Path, steps: int, spread: bool, told: list[int], killed: threading.Event) -> np.ndarray:
    graph, step, train, w = _program(spread)
    with graph.as_default():
        with tf.train.MonitoredTrainingSession(
            master=master, is_chief=True, checkpoint_dir=str(folder), save_checkpoint_steps=1, save_summaries_steps=None, log_step_count_steps=None,
        ) as sess:
            while told[-1] < steps:
                if told[-1] >= steps - 2:
                    killed.wait(LIMIT)  # somebody, at least once
                told.append(int(sess.run([train, step])[1]))
                told[-1] = int(sess.run(step))
            return sess.run(w)


def test_weights_are_those_of_an_undisturbed_run(tmp_path: pathlib.Path) -> None:
    steps = 4 * KILLS + 6
    chosen = random.Random(SEED)
    told = [0]
    over = threading.Event()
    killed = threading.Event()
    with Cluster("emplace", {"ps": 1, "worker": 2}) as cluster:
        def kill() -> None:
            for i in range(KILLS):
                while told[-1] < 4 * i + 2 and not over.is_set():
                    time.sleep(0.005)
                time.sleep(chosen.random() * 0.05)
                if over.is_set():
                    return
                task = chosen.choice(TASKS)
                cluster.kill(*task)
                cluster.start(*task)
                killed.set()

        killer = threading.Thread(target=kill)
        killer.start()
        try:
            disturbed = _trained(cluster.target("worker", 0), tmp_path / "disturbed", steps, True, told, killed)
        finally:
            over.set()
            killer.join()
    assert killed.is_set(), "nobody was killed"
    undisturbed = _trained("", tmp_path / "undisturbed", steps, False, [0], killed)
    assert disturbed.tobytes() == undisturbed.tobytes(), f"EMPLACE_TEST_SEED={SEED}"
