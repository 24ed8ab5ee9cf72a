"""SavedModels, written and read on both sides; RunMetadata and event files as TensorFlow reads them."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest

import emplace.compat.v1 as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def build(lib, folder):
    x = lib.placeholder(lib.float32, [None, 2], name="x")
    w = lib.get_variable("w", initializer=[[1.0], [2.0]], use_resource=False)
    y = lib.matmul(x, w, name="y")
    with lib.Session() as session:
        session.run(lib.global_variables_initializer())
        session.run(lib.assign(w, [[3.0], [4.0]]))
        lib.saved_model.simple_save(session, str(folder), {"x": x}, {"y": y})


def use(lib, folder):
    with lib.Graph().as_default(), lib.Session() as session:
        meta = lib.saved_model.loader.load(session, ["serve"], str(folder))
        signature = meta.signature_def["serving_default"]
        return session.run(signature.outputs["y"].name, {signature.inputs["x"].name: [[1.0, 1.0]]})


def test_what_is_written_is_read(tmp_path):
    build(tf, tmp_path / "m")
    assert use(tf, tmp_path / "m") == [[7.0]]


def test_in_both_directions(tmp_path):
    theirs = pytest.importorskip("tensorflow").compat.v1
    build(tf, tmp_path / "ours")
    assert use(theirs, tmp_path / "ours") == [[7.0]]
    with theirs.Graph().as_default():
        build(theirs, tmp_path / "theirs")
    assert use(tf, tmp_path / "theirs") == [[7.0]]


def test_refusals(tmp_path):
    with pytest.raises(OSError, match="SavedModel file does not exist at: "):
        use(tf, tmp_path / "none")
    build(tf, tmp_path / "m")
    with pytest.raises(RuntimeError, match="could not be found in SavedModel, with available tags"):
        tf.saved_model.loader.load(tf.Session(), ["train"], str(tmp_path / "m"))
    with pytest.raises(AssertionError, match="already exists, and isn't empty"):
        tf.saved_model.builder.SavedModelBuilder(str(tmp_path / "m"))


WRITE = """
    import sys
    import tensorflow as tf
    class Net(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable([[1.0], [2.0]])
        @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name="x")])
        def __call__(self, x):
            return {"y": tf.matmul(x, self.w) + 0.5}
    net = Net()
    net.w.assign([[3.0], [4.0]])
    tf.saved_model.save(net, sys.argv[1], signatures=net.__call__)
"""


def test_signatures_of_a_model_of_the_second_generation(tmp_path):
    pytest.importorskip("tensorflow")
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(WRITE), str(tmp_path / "m")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    import emplace

    loaded = emplace.saved_model.load(str(tmp_path / "m"))
    assert list(loaded.signatures) == ["serving_default"]
    out = loaded.signatures["serving_default"](x=np.ones([2, 2], np.float32))
    np.testing.assert_allclose(out["y"].numpy(), [[7.5], [7.5]])


# ---- What runs did.


def traced():
    y = tf.matmul(tf.ones([2, 2]), tf.placeholder_with_default(tf.ones([2, 2]), [2, 2]), name="y")
    metadata = tf.RunMetadata()
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE, output_partition_graphs=True)
    tf.Session().run(y, options=options, run_metadata=metadata)
    return metadata


def test_tensorflows_timeline_reads_our_steps():
    theirs = pytest.importorskip("tensorflow").compat.v1
    from tensorflow.python.client import timeline

    metadata = theirs.RunMetadata.FromString(traced().SerializeToString())
    assert {n.node_name for d in metadata.step_stats.dev_stats for n in d.node_stats} >= {"y"}
    assert any(n.name == "y" for g in metadata.partition_graphs for n in g.node)
    trace = timeline.Timeline(metadata.step_stats).generate_chrome_trace_format(show_memory=True)
    assert '"MatMul"' in trace


def test_event_files_are_tensorflows(tmp_path, graph):
    theirs = pytest.importorskip("tensorflow").compat.v1
    metadata = traced()
    with tf.summary.FileWriter(tmp_path, graph) as writer:
        writer.add_run_metadata(metadata, "step1", 1)
        writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="loss", simple_value=0.5)]), 3)
    (file,) = tmp_path.iterdir()
    events = list(theirs.train.summary_iterator(str(file)))
    assert events[0].file_version == "brain.Event:2"
    assert "y" in {n.name for n in theirs.GraphDef.FromString(events[1].graph_def).node}
    assert "y" in {n.name for n in theirs.MetaGraphDef.FromString(events[2].meta_graph_def).graph_def.node}
    assert events[3].tagged_run_metadata.tag == "step1"
    assert events[4].step == 3 and events[4].summary.value[0].simple_value == 0.5


def test_a_process_that_has_tensorflows_protobuf(tmp_path):
    """TensorFlow shows its own protobuf to everybody: ours must not take it."""
    pytest.importorskip("tensorflow")
    code = """
        import tensorflow
        import emplace.compat.v1 as tf
        tf.constant(1.0, name="a")
        message = tf.get_default_graph().as_graph_def()
        with tf.Graph().as_default():
            tf.import_graph_def(message, name="")
            print(tf.Session().run("a:0"))
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True)
    assert done.stdout == "1.0\n", done.stderr[-2000:]
