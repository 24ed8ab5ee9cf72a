"""Graphs that TensorFlow makes at test time, run on both sides: by the command line, from Python,
and back on TensorFlow after a round trip through ours. A sample in the gate, all with
EMPLACE_TEST_FULL=1."""

from __future__ import annotations

import functools
import json
import os
from typing import Any

import pytest

import case
import cases  # noqa: F401  (fills the table)
import cli

tf = pytest.importorskip("tensorflow").compat.v1
tf.disable_eager_execution()

NAMES = sorted(case.CASES)
if not os.environ.get("EMPLACE_TEST_FULL"):
    NAMES = NAMES[::5]
PINNED = [n for n in sorted(case.CASES) if n.startswith("pins_")]


@functools.cache
def built(name: str) -> case.Built:
    return case.build(tf, case.CASES[name])


@functools.cache
def expected(name: str) -> case.Outcome:
    return case.run(tf, built(name))


def check(name: str, ours: case.Outcome) -> None:
    found = case.differences(expected(name), ours, built(name))
    assert not found, "\n".join(found)


def test_there_are_enough_cases() -> None:
    assert len(case.CASES) >= 200


@pytest.mark.parametrize("name", NAMES)
def test_cli(name: str, tmp_path: Any) -> None:
    check(name, cli.run(built(name), tmp_path))


@pytest.mark.parametrize("name", NAMES)
def test_python(name: str) -> None:
    import emplace.compat.v1 as ours

    check(name, case.run(ours, built(name)))


@pytest.mark.parametrize("name", NAMES)
def test_back(name: str) -> None:
    """Imported here and exported again: TensorFlow sees no difference."""
    import emplace.compat.v1 as ours

    there = built(name)
    with ours.Graph().as_default() as graph:
        try:
            ours.import_graph_def(there.graph_def, name="")
        except Exception as error:
            assert case.code(expected(name).error) == case.code(type(error).__name__.removesuffix("Error")), error
            return
    back = type(there.graph_def).FromString(graph.as_graph_def().SerializeToString())
    again = case.Built(**{**vars(there), "graph_def": back})
    check(name, case.run(tf, again))


@pytest.mark.parametrize("name", PINNED)
def test_placement(name: str, tmp_path: Any) -> None:
    """Every node that ran in TensorFlow is on the same device here."""
    there = built(name)
    (tmp_path / "graph.pb").write_bytes(there.graph_def.SerializeToString())
    theirs = _placed(there)
    devices = [f"--device=CPU:{i}" for i in range(4)]
    done = cli.emplace("place", tmp_path / "graph.pb", *devices, "--json", *(["--soft"] if there.soft else []))
    if theirs is None:
        assert done.returncode == 1
        return
    assert done.returncode == 0, done.stderr
    ours = {n["name"]: n["device"] for n in json.loads(done.stdout)["nodes"]}
    assert {n: ours[n] for n in theirs} == theirs


def _placed(there: case.Built) -> dict[str, str] | None:
    """Where TensorFlow ran each node, from its own account of the step."""
    off = tf.ConfigProto(device_count={"CPU": 4}, allow_soft_placement=there.soft)
    off.graph_options.rewrite_options.disable_meta_optimizer = True
    off.graph_options.optimizer_options.opt_level = -1
    placed: dict[str, str] = {}
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(there.graph_def, name="")
        names = {n.name for n in there.graph_def.node}
        with tf.Session(graph=graph, config=off) as session:
            for what in [*map(graph.get_operation_by_name, there.targets), there.fetches]:
                metadata = tf.RunMetadata()
                options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
                try:
                    session.run(what, there.feeds, options=options, run_metadata=metadata)
                except (tf.errors.InvalidArgumentError, ValueError):
                    return None
                for device in metadata.step_stats.dev_stats:
                    for node in device.node_stats:
                        if node.node_name in names and "/device:CPU" in device.device:
                            placed[node.node_name] = device.device
    return placed
