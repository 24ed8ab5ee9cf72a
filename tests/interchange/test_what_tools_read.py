"""What a traced step did and what a FileWriter wrote, as TensorFlow's own tools read it."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import numpy as np
import pytest


@pytest.fixture(scope="module")
def written(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A step on a CPU and a virtual GPU, traced; its metadata and an event file."""
    import emplace.compat.v1 as tf

    monkeypatch = pytest.MonkeyPatch()
    monkeypatch.setenv("EMPLACE_VIRTUAL_GPUS", "1")
    request.addfinalizer(monkeypatch.undo)
    folder = tmp_path_factory.mktemp("written")
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 4], name="x")
        with tf.device("/gpu:0"):
            w = tf.get_variable("w", initializer=np.ones((4, 3), np.float32))
            y = tf.matmul(x, w, name="y")
        with tf.device("/cpu:0"):
            z = tf.reduce_sum(y, name="z")
            loop = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0])
        tf.summary.scalar("loss", z)
        tf.summary.histogram("weights", w)
        tf.summary.image("picture", tf.ones([1, 4, 4, 3]))
        tf.summary.text("words", tf.constant("hi"))
        merged, metadata = tf.summary.merge_all(), tf.RunMetadata()
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE, output_partition_graphs=True)
        with tf.Session() as session, tf.summary.FileWriter(str(folder / "events"), graph) as writer:
            session.run(tf.global_variables_initializer())
            made = session.run([merged, z, loop], {x: np.ones((2, 4), np.float32)}, options=options, run_metadata=metadata)[0]
            writer.add_summary(made, 7)
            writer.add_run_metadata(metadata, "step 7", 7)
    (folder / "metadata.pb").write_bytes(metadata.SerializeToString())
    return folder


def test_timeline(written: pathlib.Path) -> None:
    tf = pytest.importorskip("tensorflow")
    from tensorflow.python.client import timeline

    metadata = tf.compat.v1.RunMetadata.FromString((written / "metadata.pb").read_bytes())
    nodes = {n.node_name for d in metadata.step_stats.dev_stats for n in d.node_stats}
    assert {"y", "z", "while/add"} <= nodes
    text = timeline.Timeline(metadata.step_stats).generate_chrome_trace_format(show_dataflow=True, show_memory=True)
    events = json.loads(text)["traceEvents"]
    assert {"MatMul", "Sum", "AddV2"} <= {e["name"] for e in events if e["ph"] == "X"}
    assert {"s", "t"} <= {e["ph"] for e in events}  # arrows from maker to reader
    parts = {n.device: p for p in metadata.partition_graphs for n in p.node}
    assert len(parts) == 2 and {"y", "w"} <= {n.name for n in parts["/job:localhost/replica:0/task:0/device:GPU:0"].node}


def test_events(written: pathlib.Path) -> None:
    tf = pytest.importorskip("tensorflow").compat.v1
    (file,) = (written / "events").iterdir()
    found: dict[str, Any] = {}
    for event in tf.train.summary_iterator(str(file)):
        for value in event.summary.value:
            found[value.tag] = (event.step, value)
        found[event.WhichOneof("what")] = event
    assert found["loss"][0] == 7 and found["loss"][1].simple_value == 24.0
    assert found["weights"][1].histo.num == 12 and found["picture/image/0"][1].image.width == 4
    assert found["words"][1].tensor.string_val == [b"hi"] and found["words"][1].metadata.plugin_data.plugin_name == "text"
    graph = tf.GraphDef.FromString(found["graph_def"].graph_def)
    assert {n.name: n.device for n in graph.node}["y"] == "/device:GPU:0"
    assert found["tagged_run_metadata"].tagged_run_metadata.tag == "step 7"
    tf.MetaGraphDef.FromString(found["meta_graph_def"].meta_graph_def)
