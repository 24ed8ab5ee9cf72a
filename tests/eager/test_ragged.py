"""Ragged and sparse tensors: what the docstrings' examples don't reach."""

import numpy as np
import pytest

import emplace as tf


@pytest.mark.parametrize(
    "key", [0, -1, slice(1, None), slice(None, None, -1), (slice(None), slice(1, None)), (slice(None), slice(None, -1)),
            (slice(None), slice(None, None, 2)), (Ellipsis, slice(0, 1)), (1, 0)]
)  # fmt: skip
def test_indexing_is_that_of_lists(key: object) -> None:
    rows = [[1, 2, 3], [4], [], [5, 6]]
    got = tf.ragged.constant(rows)[key]
    first, *rest = key if isinstance(key, tuple) else (key,)
    if first is Ellipsis:
        first = slice(None)
    want = rows[first]
    if rest:
        want = [r[rest[0]] for r in want] if isinstance(first, slice) else want[rest[0]]
    assert (got.to_list() if hasattr(got, "to_list") else got.numpy().tolist()) == want


def test_a_column_of_rows_of_different_lengths_is_refused() -> None:
    with pytest.raises(ValueError, match="inner ragged dimension"):
        tf.ragged.constant([[1], [2, 3]])[:, 0]


def test_gradient_of_a_ragged_product_is_ragged() -> None:
    x = tf.ragged.constant([[1.0, 2.0], [], [3.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(x * x, axis=1)
    assert tape.gradient(y, x).to_list() == [[2.0, 4.0], [], [6.0]]


def test_a_dense_column_is_spread_over_the_rows() -> None:
    assert (tf.ragged.constant([[1, 2], [3]]) * [[10], [100]]).to_list() == [[10, 20], [300]]
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.ragged.constant([[1, 2], [3]]) + [1, 2]


@pytest.mark.parametrize("splits", [[0, 2, 2], [1, 2, 3], [0, 4, 3]])
def test_splits_that_are_none_are_refused(splits: list[int]) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.RaggedTensor.from_row_splits([1, 2, 3], splits)


def test_there_and_back() -> None:
    rt = tf.ragged.constant([[[1, 2], [3]], [], [[4]]])
    assert tf.RaggedTensor.from_sparse(rt.merge_dims(1, 2).to_sparse()).to_list() == [[1, 2, 3], [], [4]]
    assert np.array_equal(rt.to_tensor(-1), [[[1, 2], [3, -1]], [[-1, -1], [-1, -1]], [[4, -1], [-1, -1]]])


def test_a_function_that_takes_no_ragged_tensor_says_so() -> None:
    with pytest.raises(ValueError, match="RaggedTensor"):
        tf.linalg.det(tf.ragged.constant([[1.0], [2.0, 3.0]]))


def test_a_sparse_matrix_times_a_dense_one_has_gradients() -> None:
    values, dense = tf.constant([2.0, 3.0]), tf.constant([[1.0], [10.0]])
    with tf.GradientTape() as tape:
        tape.watch([values, dense])
        y = tf.sparse.sparse_dense_matmul(tf.SparseTensor([[0, 1], [1, 0]], values, [2, 2]), dense)
    assert np.array_equal(y, [[20.0], [3.0]])
    of_values, of_dense = tape.gradient(y, [values, dense])
    assert np.array_equal(of_values, [10.0, 1.0])
    assert np.array_equal(tf.convert_to_tensor(of_dense), [[3.0], [2.0]])


def test_sparse_indices_out_of_order_are_refused() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="out of order"):
        tf.sparse.to_dense(tf.SparseTensor([[1, 0], [0, 1]], [1, 2], [2, 2]))
