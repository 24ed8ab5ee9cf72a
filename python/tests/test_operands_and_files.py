"""Sparse tensors as operands, assertions decided before a run, numbers beyond their dtype, files that are missing."""

from __future__ import annotations

import os

import numpy as np
import pytest

import emplace.compat.v1 as tf

pytestmark = pytest.mark.usefixtures("graph")


def _sparse(values=(1.0, 2.0)):
    return tf.SparseTensor([[0, 0], [1, 2]], list(values), [2, 3])


# ---- Sparse tensors.


@pytest.mark.parametrize(
    ("make", "wanted"),
    [
        (lambda sp: sp * 2.0, [2.0, 4.0]),
        (lambda sp: sp / 2.0, [0.5, 1.0]),
        (lambda sp: sp * tf.constant([[3.0], [5.0]]), [3.0, 10.0]),
        (lambda sp: tf.constant([[3.0], [5.0]]) * sp, [3.0, 10.0]),
        (lambda sp: sp * np.full([2, 3], 3.0, np.float32), [3.0, 6.0]),
        (lambda sp: sp.with_values([7.0, 8.0]), [7.0, 8.0]),
    ],
)
def test_sparse_operands(make, wanted):
    made = make(_sparse())
    assert made.shape.as_list() == [2, 3]
    value = tf.Session().run(made)
    assert value.values.tolist() == wanted and value.indices.tolist() == [[0, 0], [1, 2]]


def test_sparse_quotient_of_integers_is_wide():
    assert tf.Session().run(_sparse([1, 2]) / 2).values.dtype == np.float64


@pytest.mark.parametrize("make", [lambda sp: 2.0 * sp, lambda sp: 2.0 / sp, lambda sp: sp + 1.0, lambda sp: sp * sp, lambda sp: tf.ones([2, 3]) / sp])
def test_sparse_operands_refused(make):
    with pytest.raises(TypeError):
        make(_sparse())


def test_shape_size_rank_of_sparse():
    fed = tf.sparse_placeholder(tf.float32)
    given = {fed: tf.SparseTensorValue([[0, 0]], [1.0], [4, 5])}
    for sp, shape in ((_sparse(), [2, 3]), (fed, [4, 5]), (tf.SparseTensorValue([[0, 0]], [1.0], [2, 3]), [2, 3])):
        seen = tf.Session().run([tf.shape(sp), tf.size(sp), tf.rank(sp)], given)
        assert (seen[0].tolist(), seen[1], seen[2]) == (shape, shape[0] * shape[1], 2)
        assert all(v.dtype == np.int32 for v in seen)
    assert tf.shape(_sparse(), out_type=tf.int64).dtype == tf.int64


def test_sparse_shape_is_told():
    sp = tf.sparse_placeholder(tf.float32, [None, None])
    sp.set_shape([None, 3])
    sp.set_shape([4, None])
    assert sp.shape.as_list() == sp.get_shape().as_list() == [4, 3]
    with pytest.raises(ValueError, match=r"Shapes \(4, 3\) and \(4, 5\) are not compatible"):
        sp.set_shape([4, 5])


def test_sparse_consumers():
    sp = _sparse()
    doubled = sp * 2.0
    assert [op.name for op in sp.consumers()] == [doubled.values.op.name]


# ---- Assertions.


@pytest.mark.parametrize(
    ("check", "said"),
    [
        (lambda: tf.assert_equal([1, 2], [1, 3]), "Condition x == y did not hold element-wise:\nx (assert_equal_1/x:0) = \n[1 2]\ny (assert_equal_1/y:0) = \n[1 3]"),
        (lambda: tf.assert_less([1, 2], [1, 3], message="m"), "m\nCondition x < y did not hold element-wise:\nx (assert_less/x:0) = \n[1 2]\ny (assert_less/y:0) = \n[1 3]"),
        (lambda: tf.assert_positive([1, -1]), "\nCondition x > 0 did not hold element-wise:\nx (assert_positive/x:0) = \n[ 1 -1]"),
        (lambda: tf.assert_non_negative([1, -1]), "\nCondition x >= 0 did not hold element-wise:\nx (assert_non_negative/x:0) = \n[ 1 -1]"),
        (lambda: tf.assert_none_equal([1], [1]), "Condition x != y did not hold element-wise:\nx (assert_none_equal/x:0) = \n[1]\ny (assert_none_equal/y:0) = \n[1]"),
        (lambda: tf.assert_greater_equal(1, 2), "Condition x >= y did not hold element-wise:\nx (assert_greater_equal/x:0) = \n1\ny (assert_greater_equal/y:0) = \n2"),
        (lambda: tf.assert_equal(1, 2, data=["mine", tf.constant([4, 5]), 7]), "mine\n[4 5]\n7"),
    ],
)
def test_assertions_show_values(check, said):
    with pytest.raises(tf.errors.InvalidArgumentError) as e:
        check()
    assert str(e.value) == said


# ---- Numbers.


@pytest.mark.parametrize(
    ("value", "dtype"),
    [(300, "uint8"), (-1, "uint32"), (2**35, "int32"), ([300, 1], "uint8"), (2**64 - 1, "int64"), (-1, "uint64"), (2**70, "int32")],
)
def test_numbers_beyond_their_dtype_are_refused(value, dtype):  # TensorFlow keeps their lower bits
    for make in (tf.constant, tf.convert_to_tensor):
        with pytest.raises(ValueError, match="out-of-range"):
            make(value, dtype)


def test_numbers_beyond_the_dtype_of_the_tensor_beside_them_are_refused():
    with pytest.raises(TypeError):
        tf.constant(3, tf.uint8) + 300


# ---- Files.


@pytest.mark.parametrize("read", [tf.python_io.tf_record_iterator, tf.train.summary_iterator, tf.gfile.Stat])
def test_missing_files(read):
    with pytest.raises(tf.errors.NotFoundError, match="/nope; No such file or directory"):
        read("/nope")


def test_records_are_unpacked(tmp_path):
    path, zipped = str(tmp_path / "r"), tf.python_io.TFRecordOptions(tf.python_io.TFRecordCompressionType.GZIP)
    with tf.python_io.TFRecordWriter(path, zipped) as writer:
        writer.write(b"one")
    assert list(tf.python_io.tf_record_iterator(path, zipped)) == [b"one"]


def test_stat(tmp_path):
    file = tmp_path / "f"
    file.write_bytes(b"hello")
    found = tf.gfile.Stat(str(file))
    assert (found.length, found.is_directory) == (5, False)
    assert found.mtime_nsec == int(os.stat(file).st_mtime) * 10**9
    assert tf.gfile.Stat(str(tmp_path)).is_directory


# ---- Queues.


@pytest.mark.parametrize(("seed", "shared", "seeds"), [(None, "abc", (1, 1695626269)), (None, None, (1, 0)), (5, "abc", (1, 5))])
def test_shared_queues_draw_by_their_name(seed, shared, seeds):
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        op = tf.RandomShuffleQueue(10, 0, tf.int32, shapes=[[]], seed=seed, shared_name=shared).queue_ref.op
        assert (op.get_attr("seed"), op.get_attr("seed2")) == seeds
