"""`tf.profiler.experimental`: what ran is in the files that TensorBoard reads."""

import gzip
import json
import pathlib
from typing import Any

import pytest

import emplace as tf
from emplace.proto import xplane_pb2


def written(folder: pathlib.Path) -> tuple[list[dict[str, Any]], Any]:
    (trace,) = folder.glob("plugins/profile/*/*.trace.json.gz")
    (space,) = folder.glob("plugins/profile/*/*.xplane.pb")
    with gzip.open(trace, "rt") as text:
        events = json.load(text)["traceEvents"]
    return events, xplane_pb2.XSpace.FromString(space.read_bytes())


def test_spans_operations_and_nodes_of_functions_are_there(tmp_path: pathlib.Path) -> None:
    @tf.function
    def long(x: Any) -> Any:
        for _ in range(20):
            x = tf.tanh(tf.matmul(x, x))
        return tf.reduce_sum(x)

    x = tf.ones([8, 8])
    long(x)
    with tf.profiler.experimental.Profile(str(tmp_path)):
        for step in range(2):
            with tf.profiler.experimental.Trace("train", step_num=step, _r=1) as span:
                long(x)
                tf.linalg.trace(x)
                span.set_metadata(rows=8)
    long(x)
    events, space = written(tmp_path)
    ran = [e for e in events if e["ph"] == "X"]
    assert {"train", "function", "MatMul", "Tanh", "Sum"} <= {e["name"] for e in ran}
    assert [e["args"] for e in ran if e["name"] == "train"] == [{"step_num": i, "_r": 1, "rows": 8} for i in range(2)]
    for inner in (e for e in ran if e["name"] == "function"):
        outer = [e for e in ran if e["name"] == "train" and e["ts"] <= inner["ts"] and inner["ts"] + inner["dur"] <= e["ts"] + e["dur"]]
        assert len(outer) == 1
    named = {m.name for plane in space.planes for m in plane.event_metadata.values()}
    assert named == {e["name"] for e in ran}
    assert sum(len(line.events) for plane in space.planes for line in plane.lines) == len(ran)


def test_there_is_one_at_a_time(tmp_path: pathlib.Path) -> None:
    tf.profiler.experimental.start(str(tmp_path))
    with pytest.raises(tf.errors.AlreadyExistsError, match="Another profiler is running"):
        tf.profiler.experimental.start(str(tmp_path))
    tf.profiler.experimental.stop(save=False)
    with pytest.raises(tf.errors.UnavailableError, match="No profiler is running"):
        tf.profiler.experimental.stop()
    assert not list(tmp_path.iterdir())
