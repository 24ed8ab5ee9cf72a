"""NumPy's names over tensors."""

import numpy as np
import pytest

tf = pytest.importorskip("emplace")
tnp = tf.experimental.numpy


@pytest.mark.parametrize(
    "name, args",
    [
        ("sum", ([[1, 2], [3, 4]],)), ("mean", ([1, 2, 4],)), ("std", ([1.0, 2.0],)), ("matmul", ([[1, 2]], [[3], [4]])),
        ("add", ([1, 2], [0.5, 1.5])), ("concatenate", (([1], [2.5]),)), ("where", ([True, False], [1, 2], [3.0, 4.0])),
        ("clip", ([1, 5, 9], 2, 6)), ("cumsum", ([[1, 2], [3, 4]],)), ("argmax", ([[1, 9], [3, 4]],)), ("flip", ([1, 2, 3],)),
        ("sort", ([3, 1, 2],)), ("diff", ([1, 4, 9],)), ("tile", ([1, 2], 2)), ("moveaxis", (np.ones([1, 2, 3]), 0, -1)),
        ("exp", ([0, 1],)), ("arctan2", (1.0, 2.0)), ("outer", ([1, 2], [3, 4])), ("allclose", ([1.0], [1.0])),
    ],
)  # fmt: skip
def test_values_and_dtypes_are_numpys(name: str, args: tuple) -> None:
    ours, theirs = getattr(tnp, name)(*args), getattr(np, name)(*args)
    assert isinstance(ours, tf.Tensor)
    np.testing.assert_allclose(ours.numpy(), theirs)
    assert ours.numpy().dtype == np.asarray(theirs).dtype


def test_what_has_an_operation_is_differentiable_and_traced() -> None:
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = tnp.sum(tnp.square(tnp.array([1.0, 2.0], dtype=tnp.float32) * v))
    assert float(tape.gradient(y, v)) == 30.0
    traced = tf.function(lambda a: tnp.matmul(a, tnp.transpose(a)))(tnp.ones([2, 2]))
    np.testing.assert_array_equal(traced, np.full([2, 2], 2.0))


def test_what_is_only_numpys_says_so_inside_functions() -> None:
    with pytest.raises(NotImplementedError, match="outside tf.function"):
        tf.function(lambda a: tnp.median(a))(tf.constant([1.0, 2.0]))
