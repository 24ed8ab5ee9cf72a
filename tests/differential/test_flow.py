"""Branches and loops in graphs that TensorFlow made, run by TensorFlow and by us."""

import importlib
import importlib.util
import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from flow_graphs import GRAPHS, Program
from flow_programs import program

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
DEVICES = ("cpu", "gpus")
RANDOM = range(500 if os.environ.get("EMPLACE_TEST_FULL") else 20)


@pytest.fixture(scope="module")
def theirs() -> Iterator[Any]:
    if importlib.util.find_spec("tensorflow") is None:
        pytest.skip("TensorFlow is not installed")
    import tensorflow.compat.v1 as tf

    tf.logging.set_verbosity(tf.logging.ERROR)
    tf.disable_control_flow_v2()
    tf.disable_resource_variables()
    yield tf
    tf.enable_control_flow_v2()
    tf.enable_resource_variables()


@pytest.fixture(scope="module")
def ours() -> Any:
    if importlib.util.find_spec("emplace") is None:
        pytest.skip("emplace is not installed")
    return importlib.import_module("emplace.compat.v1")


def names(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [names(v) for v in value]
    return value.name


def flat(value: Any) -> list[Any]:
    if isinstance(value, list | tuple):
        return [x for v in value for x in flat(v)]
    return [np.asarray(value)]


def run(tf: Any, fetch: Any, feed: dict[str, Any], steps: int, config: Any = None) -> Any:
    """The fetched values of each step, or the error's class."""
    graph = tf.get_default_graph()
    with tf.Session(config=config) as session:
        try:
            for op in graph.get_operations():
                if op.name == "v/Assign":  # the one variable that there may be
                    session.run(op.name)
            return [session.run(fetch, feed) for _ in range(steps)]
        except tf.errors.OpError as error:
            return type(error).__name__, error.message


def check(
    build: Callable[[Any], Program], gpus: int, ours: Any, theirs: Any, patch: pytest.MonkeyPatch
) -> None:
    """Builds and runs with TensorFlow, then runs what it built with ours."""
    soft = theirs.ConfigProto(allow_soft_placement=True)
    # Its optimizer kills values of branches around a loop without rounds.
    soft.graph_options.rewrite_options.disable_meta_optimizer = True
    with theirs.Graph().as_default() as graph:
        made = build(theirs)
        fetch = names(made.fetch)
        feed = {k.name: v for k, v in made.feed.items()}
        expected = run(theirs, fetch, feed, made.steps, soft)
        data = graph.as_graph_def().SerializeToString()
    definition = ours.GraphDef()
    definition.ParseFromString(data)
    with ours.Graph().as_default():
        ours.import_graph_def(definition, name="")
        patch.setenv("EMPLACE_VIRTUAL_GPUS", str(gpus))
        config = ours.ConfigProto(allow_soft_placement=True)
        actual = run(ours, fetch, feed, made.steps, config)
    if isinstance(expected, tuple):
        assert isinstance(actual, tuple), f"TensorFlow says {expected}, we {actual}"
        assert actual[0] == expected[0], actual[1]
        return
    assert not isinstance(actual, tuple), actual
    for theirs_value, our_value in zip(flat(expected), flat(actual), strict=True):
        assert our_value.shape == theirs_value.shape
        np.testing.assert_allclose(our_value, theirs_value, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("devices", DEVICES)
@pytest.mark.parametrize("name", GRAPHS)
def test_same_as_tensorflow(
    name: str, devices: str, ours: Any, theirs: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    check(GRAPHS[name], 2 if devices == "gpus" else 0, ours, theirs, monkeypatch)


@pytest.mark.parametrize("seed", RANDOM)
def test_random_program(
    seed: int, ours: Any, theirs: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    check(lambda tf: program(tf, seed), seed % 3, ours, theirs, monkeypatch)
