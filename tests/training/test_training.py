"""Training on scikit-learn's digits: step by step as TensorFlow does, to the accuracy it reaches,
and with the same weights however many devices share the work."""

import importlib
import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn")
from digits import BATCH, IMAGES, LABELS, TRAINED  # noqa: E402
from programs import PROGRAMS, Model  # noqa: E402

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
STEPS = 20
EPOCH = TRAINED // BATCH
OTHER_NODES = {"lstm"}  # sizes that vary with the batch: our backward loop keeps values, TensorFlow's their shapes
# Adam divides a gradient by its own size: one near zero, whose sign is a matter of rounding, moves a
# weight by the whole rate. Such programs drift apart on any two machines; what they learn does not.
BY_ADAM = {name for name in PROGRAMS if name.endswith("adam")} | {"convolution", "lstm"}
REACHED = ("logistic_regression", "mlp_adam", "convolution")  # trained to the end


@pytest.fixture(scope="module")
def theirs() -> Iterator[Any]:
    """TensorFlow behaving as version 1 while these tests run, and as it was afterwards."""
    if importlib.util.find_spec("tensorflow") is None:
        pytest.skip("TensorFlow is not installed")
    import tensorflow.compat.v1 as tf

    tf.logging.set_verbosity(tf.logging.ERROR)
    tf.disable_v2_tensorshape()
    tf.disable_resource_variables()
    tf.disable_control_flow_v2()
    yield tf
    tf.enable_v2_tensorshape()
    tf.enable_resource_variables()
    tf.enable_control_flow_v2()


@pytest.fixture(scope="module")
def ours() -> Any:
    return importlib.import_module("emplace.compat.v1")


def batch(step: int) -> slice:
    start = step * BATCH % TRAINED
    return slice(start, start + BATCH)


@dataclass
class Training:
    nodes: list[str]
    losses: np.ndarray
    weights: list[np.ndarray]  # in the end
    accuracies: np.ndarray  # after each epoch, on what was kept back


def train(tf: Any, program: Any, steps: int) -> Training:
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(7)
        model: Model = program(tf)
        nodes = [op.name for op in graph.get_operations()]
        losses, accuracies = [], []
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for i in range(steps):
                feeds = {model.images: IMAGES[batch(i)], model.labels: LABELS[batch(i)]}
                losses.append(session.run([model.loss, model.train], feeds)[0])
                if (i + 1) % EPOCH == 0:
                    guesses = session.run(model.logits, {model.images: IMAGES[TRAINED:]}).argmax(1)
                    accuracies.append((guesses == LABELS[TRAINED:]).mean())
            weights = session.run(tf.trainable_variables())
    return Training(nodes, np.array(losses), weights, np.array(accuracies))


@pytest.mark.parametrize("name", PROGRAMS)
def test_trains_as_tensorflow_does(name: str, ours: Any, theirs: Any) -> None:
    expected, actual = (train(tf, PROGRAMS[name], STEPS) for tf in (theirs, ours))
    assert actual.nodes == expected.nodes or name in OTHER_NODES, "the graphs have other nodes"
    near = 2e-2 if name in BY_ADAM else 1e-4
    np.testing.assert_allclose(actual.losses, expected.losses, rtol=near, atol=near)
    for mine, its in zip(actual.weights, expected.weights, strict=True):
        if name in BY_ADAM:
            assert np.abs(mine - its).mean() < 1e-2  # they have moved by 0.1
        else:
            np.testing.assert_allclose(mine, its, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", REACHED)
def test_reaches_the_accuracy_of_tensorflow(name: str, ours: Any, theirs: Any) -> None:
    """One epoch's accuracy is noise of two percent; the mean of ten is not."""
    expected, actual = (train(tf, PROGRAMS[name], 20 * EPOCH) for tf in (theirs, ours))
    reached, wanted = (run.accuracies[10:].mean() for run in (actual, expected))
    assert reached > 0.85
    assert reached == pytest.approx(wanted, abs=0.03)
    assert actual.losses[-EPOCH:].mean() < actual.losses[0] / 4


TOWERS = """
import sys
import numpy as np
sys.path.insert(0, sys.argv[1])
from digits import IMAGES, LABELS
from programs import towers
import emplace.compat.v1 as tf

one = None
for devices in (["/gpu:0"], ["/gpu:0", "/gpu:1"], ["/gpu:0", "/gpu:1", "/gpu:2", "/gpu:3"]):
    with tf.Graph().as_default():
        tf.set_random_seed(7)
        model = towers(tf, devices)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for i in range(30):
                rows = slice(i * 48, i * 48 + 48)
                session.run(model.train, {model.images: IMAGES[rows], model.labels: LABELS[rows]})
            weights = session.run(tf.trainable_variables())
            placed = {model.logits.op.inputs[i].device for i in range(len(devices))}
    one = one or weights
    for a, b in zip(weights, one):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)
    print(len(devices), sorted(placed))
"""


def test_towers_give_the_weights_of_one_device() -> None:
    here = os.path.dirname(os.path.abspath(__file__))
    env = {**os.environ, "EMPLACE_VIRTUAL_GPUS": "4", "CUDA_VISIBLE_DEVICES": "-1"}
    done = subprocess.run([sys.executable, "-c", TOWERS, here], capture_output=True, text=True, env=env, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "1 ['/device:GPU:0']",
        "2 ['/device:GPU:0', '/device:GPU:1']",
        "4 ['/device:GPU:0', '/device:GPU:1', '/device:GPU:2', '/device:GPU:3']",
    ]

