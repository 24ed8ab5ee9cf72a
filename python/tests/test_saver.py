"""Checkpoints: tf.train.Saver, the files, and TensorFlow on the other side."""

import os
import signal
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


def variables():
    return tf.Variable([1.0, 2.0], name="w"), tf.Variable(7, name="n", trainable=False)


def test_what_is_saved_is_restored(tmp_path):
    w, n = variables()
    saver = tf.train.Saver()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = saver.save(session, tmp_path / "model", global_step=3)
        assert path == str(tmp_path / "model-3")
        session.run([w.assign([0.0, 0.0]), n.assign(0)])
        saver.restore(session, path)
        np.testing.assert_array_equal(session.run(w), [1.0, 2.0])
        assert session.run(n) == 7
    assert tf.train.latest_checkpoint(tmp_path) == path
    assert sorted(os.listdir(tmp_path)) == ["checkpoint", "model-3.data-00000-of-00001", "model-3.index", "model-3.meta"]


def test_names_and_shapes_are_listed(tmp_path):
    variables()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(session, tmp_path / "model")
    assert tf.train.list_variables(path) == [("n", []), ("w", [2])]
    np.testing.assert_array_equal(tf.train.load_variable(str(tmp_path), "w"), [1.0, 2.0])
    reader = tf.train.NewCheckpointReader(path)
    assert reader.has_tensor("w") and not reader.has_tensor("x")
    assert reader.get_variable_to_dtype_map()["n"] == tf.int32
    with pytest.raises(tf.errors.NotFoundError, match="Key x not found in checkpoint"):
        reader.get_tensor("x")


def test_old_ones_are_deleted(tmp_path):
    variables()
    saver = tf.train.Saver(max_to_keep=2)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        paths = [saver.save(session, tmp_path / "m", global_step=i) for i in range(4)]
    assert saver.last_checkpoints == paths[2:]
    assert tf.train.get_checkpoint_state(tmp_path).all_model_checkpoint_paths == paths[2:]
    assert {f.split(".")[0] for f in os.listdir(tmp_path)} == {"checkpoint", "m-2", "m-3"}


def test_forms_of_the_list(tmp_path):
    w, n = variables()
    renamed, one = tf.train.Saver({"other": w}), tf.train.Saver([n])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert tf.train.list_variables(renamed.save(session, tmp_path / "a")) == [("other", [2])]
        assert tf.train.list_variables(one.save(session, tmp_path / "b")) == [("n", [])]
    with pytest.raises(ValueError, match="same name: w"):
        tf.train.Saver([w, w])
    with pytest.raises(TypeError, match="Variable to save is not a Variable"):
        tf.train.Saver([tf.constant(1)])


def test_refusals(tmp_path):
    with pytest.raises(ValueError, match="No variables to save"):
        tf.train.Saver()
    variables()
    saver = tf.train.Saver()
    with tf.Session() as session:
        with pytest.raises(ValueError, match="Can't load save_path when it is None."):
            saver.restore(session, None)
        with pytest.raises(ValueError, match="The passed save_path is not a valid checkpoint: "):
            saver.restore(session, tmp_path / "none")


def test_a_missing_name_is_said(tmp_path):
    w, n = variables()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = tf.train.Saver([w]).save(session, tmp_path / "m")
        with pytest.raises(tf.errors.NotFoundError, match="Key n not found in checkpoint"):
            tf.train.Saver().restore(session, path)


def test_damage_is_named(tmp_path):
    variables()
    saver = tf.train.Saver()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = saver.save(session, tmp_path / "m")
        data = tmp_path / "m.data-00000-of-00001"
        content = bytearray(data.read_bytes())
        content[5] ^= 1
        data.write_bytes(content)
        with pytest.raises(tf.errors.DataLossError, match="Checksum does not match"):
            saver.restore(session, path)
        index = tmp_path / "m.index"
        index.write_bytes(index.read_bytes()[:-1])
        with pytest.raises(tf.errors.DataLossError, match="m.index"):
            saver.restore(session, path)


def test_meta_graph_round_trip(tmp_path):
    w, _ = variables()
    tf.add_to_collection("outputs", tf.multiply(w, 2.0, name="y"))
    tf.add_to_collection("notes", "a text")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(w.assign([5.0, 6.0]))
        path = tf.train.Saver().save(session, tmp_path / "m")
    with tf.Graph().as_default(), tf.Session() as session:
        saver = tf.train.import_meta_graph(path + ".meta")
        saver.restore(session, path)
        (y,) = tf.get_collection("outputs")
        np.testing.assert_array_equal(session.run(y), [10.0, 12.0])
        assert tf.get_collection("notes") == [b"a text"]
        assert [v.name for v in tf.trainable_variables()] == ["w:0"]
        assert tf.trainable_variables()[0] is tf.global_variables()[0]
        np.testing.assert_array_equal(session.run(tf.trainable_variables()[0]), [5.0, 6.0])


def test_meta_graph_below_a_scope(tmp_path):
    variables()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(session, tmp_path / "m")
    with tf.Graph().as_default(), tf.Session() as session:
        saver = tf.train.import_meta_graph(path + ".meta", import_scope="inner")
        saver.restore(session, path)
        np.testing.assert_array_equal(session.run("inner/w:0"), [1.0, 2.0])


def test_write_graph(tmp_path, graph):
    tf.constant(1.0, name="a")
    for as_text in (True, False):
        path = tf.train.write_graph(graph, tmp_path, "graph.pb", as_text)
        content = open(path, "rb").read()
        assert (b'name: "a"' in content) == as_text


KILLED = """
    import sys
    import numpy as np
    from emplace import _core
    prefix, i = sys.argv[1], 0
    print("ready", flush=True)
    while True:
        i += 1
        _core.write_checkpoint(prefix, {"a": np.full(20000, i, np.int64), "b": np.full(20000, i, np.int64)})
"""


def test_a_kill_leaves_the_last_good_one(tmp_path):
    prefix = str(tmp_path / "m")
    seen = []
    for delay in (0.01, 0.03, 0.05, 0.08):
        writer = subprocess.Popen([sys.executable, "-c", textwrap.dedent(KILLED), prefix], stdout=subprocess.PIPE, text=True)
        writer.stdout.readline()
        while not os.path.exists(prefix + ".index"):
            assert writer.poll() is None
        try:
            writer.wait(timeout=delay)
        except subprocess.TimeoutExpired:
            writer.send_signal(signal.SIGKILL)
            writer.wait()
        reader = tf.train.NewCheckpointReader(prefix)
        a, b = reader.get_tensor("a"), reader.get_tensor("b")
        assert a[0] > 0 and (a == a[0]).all() and (b == a[0]).all()
        seen.append(int(a[0]))
    assert len(seen) == 4


# ---- With TensorFlow.


@pytest.fixture
def theirs():
    found = pytest.importorskip("tensorflow").compat.v1
    with found.Graph().as_default():
        yield found


VALUES = {
    "float": np.array([[1.5, -2.0]], np.float32), "half": np.array([1.5, 2.5], np.float16), "int": np.arange(5, dtype=np.int64),
    "bool": np.array([True, False]), "complex": np.array([1 + 2j], np.complex64), "scalar": np.float64(3.25), "empty": np.zeros([0, 2], np.float32),
    "deep/name": np.array([7], np.int32),
}
TEXTS = np.array([b"one", b"", b"three" * 100], dtype=object)


def test_tensorflow_reads_ours(tmp_path, theirs):
    from emplace import _core

    prefix = str(tmp_path / "ours")
    _core.write_checkpoint(prefix, {**{k: np.asarray(v) for k, v in VALUES.items()}, "texts": TEXTS})
    reader = theirs.train.NewCheckpointReader(prefix)
    for name, value in VALUES.items():
        got = reader.get_tensor(name)
        assert np.asarray(got).dtype == np.asarray(value).dtype
        np.testing.assert_array_equal(got, value)
    assert list(reader.get_tensor("texts")) == list(TEXTS)


def test_we_read_tensorflows(tmp_path, theirs):
    for name, value in VALUES.items():
        theirs.get_variable(name, initializer=value, use_resource=name != "int")
    theirs.get_variable("texts", initializer=theirs.constant(list(TEXTS)), use_resource=False)
    with theirs.Session() as session:
        session.run(theirs.global_variables_initializer())
        path = theirs.train.Saver().save(session, str(tmp_path / "m"))
    reader = tf.train.NewCheckpointReader(path)
    assert set(reader.get_variable_to_shape_map()) == {*VALUES, "texts"}
    for name, value in VALUES.items():
        np.testing.assert_array_equal(reader.get_tensor(name), value)
    assert list(reader.get_tensor("texts")) == list(TEXTS)


def test_parts_of_a_variable_in_both_directions(tmp_path, theirs):
    whole = np.arange(12, dtype=np.float32).reshape(6, 2)
    parts = theirs.get_variable("p", [6, 2], initializer=theirs.zeros_initializer(), partitioner=theirs.fixed_size_partitioner(3), use_resource=False)
    with theirs.Session() as session:
        for i, part in enumerate(parts):
            part.load(whole[2 * i : 2 * i + 2], session)
        path = theirs.train.Saver().save(session, str(tmp_path / "m"))
    np.testing.assert_array_equal(tf.train.load_variable(path, "p"), whole)
    parts = tf.raw_ops.RestoreV2(prefix=path, tensor_names=["p"], shape_and_slices=["6,2 1,4:0,1"], dtypes=[tf.float32])
    np.testing.assert_array_equal(tf.Session().run(parts)[0], whole[1:5, :1])
    ours = str(tmp_path / "ours")
    save = tf.raw_ops.SaveV2(prefix=ours, tensor_names=["p", "p"], shape_and_slices=["6,2 0,2:-", "6,2 2,4:-"], tensors=[tf.constant(whole[:2]), tf.constant(whole[2:])])
    tf.Session().run(save)
    np.testing.assert_array_equal(theirs.train.NewCheckpointReader(ours).get_tensor("p"), whole)


def test_tensorflow_trains_on_from_ours(tmp_path, theirs):
    w, n = variables()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run([w.assign([4.0, 5.0]), n.assign(9)])
        path = tf.train.Saver().save(session, tmp_path / "m")
    with theirs.Session() as session:
        saver = theirs.train.import_meta_graph(path + ".meta")
        saver.restore(session, path)
        np.testing.assert_array_equal(session.run("w:0"), [4.0, 5.0])
        assert session.run("n:0") == 9


def test_object_checkpoints_in_both_directions(tmp_path):
    tensorflow = pytest.importorskip("tensorflow")
    import emplace

    code = textwrap.dedent("""
        import sys
        import numpy as np
        name, how, path = sys.argv[1:]
        tf = __import__(name)
        class Net(tf.Module):
            def __init__(self):
                super().__init__()
                self.w = tf.Variable([[1.0, 2.0]])
                self.layers = [tf.Variable(3.0), tf.Variable(4)]
                self.named = {"a": tf.Variable(5.0)}
        net = Net()
        if how == "write":
            for v in net.variables: v.assign(v + v)
            print(tf.train.Checkpoint(model=net, step=tf.Variable(11)).save(path))
        else:
            step = tf.Variable(0)
            tf.train.Checkpoint(model=net, step=step).restore(path + "-1").assert_consumed()
            print([np.asarray(v.numpy()).tolist() for v in net.variables], int(step.numpy()))
    """)

    def run(name, how, path):
        done = subprocess.run([sys.executable, "-c", code, name, how, str(path)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-2000:]
        return done.stdout.strip()

    assert tensorflow and emplace
    run("tensorflow", "write", tmp_path / "theirs")
    run("emplace", "write", tmp_path / "ours")
    expected = run("tensorflow", "read", tmp_path / "theirs")
    assert run("emplace", "read", tmp_path / "theirs") == expected
    assert run("tensorflow", "read", tmp_path / "ours") == expected
    assert run("emplace", "read", tmp_path / "ours") == expected
