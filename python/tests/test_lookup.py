"""tf.lookup, in graphs and at once."""

import numpy as np
import pytest

import emplace as tf2
import emplace.compat.v1 as tf


def test_static_table_in_a_graph():
    with tf.Graph().as_default(), tf.Session() as session:
        table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2], value_dtype=tf.int64), -1)
        found, size = table.lookup(tf.constant([["b", "x"]])), table.size()
        assert found.shape.as_list() == [1, 2] and found.dtype == tf.int64
        with pytest.raises(tf.errors.FailedPreconditionError, match="Table not initialized"):
            session.run(found)
        session.run(tf.tables_initializer())
        assert session.run([found, size])[0].tolist() == [[2, -1]] and session.run(size) == 2
        session.run(tf.tables_initializer())  # the same again is fine


def test_table_from_a_text_file(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("one\t1\ntwo\t2\n")
    with tf.Graph().as_default(), tf.Session() as session:
        init = tf.lookup.TextFileInitializer(str(path), tf.string, 0, tf.int64, 1)
        table = tf.lookup.StaticHashTable(init, 0)
        lines = tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer(str(path), tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE), "?")
        session.run(tf.tables_initializer())
        assert session.run(table.lookup(tf.constant(["two", "three"]))).tolist() == [2, 0]
        assert session.run(lines.lookup(tf.constant([1, 7], tf.int64))).tolist() == [b"two\t2", b"?"]
        assert len(tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS)) == 2


def test_mutable_table_at_once():
    table = tf2.lookup.experimental.MutableHashTable(tf2.string, tf2.float32, [0.0, -1.0])
    table.insert(tf2.constant(["a", "b"]), tf2.constant([[1.0, 2.0], [3.0, 4.0]]))
    assert table.lookup(tf2.constant(["b", "z"])).numpy().tolist() == [[3.0, 4.0], [0.0, -1.0]]
    table.remove(tf2.constant(["a"]))
    keys, values = table.export()
    assert keys.numpy().tolist() == [b"b"] and values.numpy().tolist() == [[3.0, 4.0]]
    assert table.size().numpy() == 1


def test_dense_table_keeps_its_keys_for_nothing():
    table = tf2.lookup.experimental.DenseHashTable(tf2.int64, tf2.int64, -1, empty_key=0, deleted_key=-9)
    table.insert(tf2.constant([5, 6], tf2.int64), tf2.constant([50, 60], tf2.int64))
    assert table[tf2.constant([6, 7], tf2.int64)].numpy().tolist() == [60, -1]
    with pytest.raises(tf2.errors.InvalidArgumentError, match="empty_key"):
        table.insert(tf2.constant([0], tf2.int64), tf2.constant([1], tf2.int64))


def test_vocabulary_with_buckets():
    init = tf2.lookup.KeyValueTensorInitializer(["a", "b"], tf2.constant([0, 1], tf2.int64))
    table = tf2.lookup.StaticVocabularyTable(init, num_oov_buckets=3)
    found = table.lookup(tf2.constant(["b", "zebra"])).numpy()
    assert found[0] == 1 and 2 <= found[1] < 5 and table.size().numpy() == 5


def test_in_a_function():
    table = tf2.lookup.StaticHashTable(tf2.lookup.KeyValueTensorInitializer(tf2.constant([1, 2], tf2.int64), tf2.constant(["x", "y"])), "?")

    @tf2.function
    def named(ids):
        return table.lookup(ids)

    assert named(tf2.constant([2, 3], tf2.int64)).numpy().tolist() == [b"y", b"?"]


def test_wrong_dtypes():
    table = tf2.lookup.StaticHashTable(tf2.lookup.KeyValueTensorInitializer(["a"], [1.5]), 0.0)
    with pytest.raises(TypeError, match="Dtype of argument `keys` must be"):
        table.lookup(tf2.constant([1]))
    assert np.isclose(table.lookup(tf2.constant("a")).numpy(), 1.5)
