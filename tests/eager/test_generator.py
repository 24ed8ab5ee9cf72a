"""tf.random.Generator draws TensorFlow's numbers, from a state that the program sees."""

from typing import Any

import numpy as np
import pytest

tf = pytest.importorskip("emplace")


def test_numbers_and_state_are_tensorflows() -> None:
    g = tf.random.Generator.from_seed(1234)
    assert g.state.numpy().tolist() == [1234, 0, 0]
    np.testing.assert_allclose(
        g.normal([2, 3]).numpy(),
        [[0.9356609, 1.0854305, -0.93788373], [-0.5061547, 1.3169702, 0.7137579]], rtol=1e-6,
    )  # fmt: skip
    assert g.state.numpy().tolist() == [2770, 0, 0]
    np.testing.assert_allclose(
        g.uniform([4]).numpy(), [0.65126133, 0.92959058, 0.50873387, 0.95711839], rtol=1e-6
    )
    assert g.uniform([3], maxval=10, dtype=tf.int32).numpy().tolist() == [2, 0, 2]
    np.testing.assert_allclose(g.truncated_normal([2]).numpy(), [0.24427608, 0.38336813], rtol=1e-5)
    full = g.uniform_full_int([2], dtype=tf.int64).numpy().tolist()
    assert full == [5394157901782015838, -1253747224176783485]
    assert g.state.numpy().tolist() == [5586, 0, 0]


@pytest.mark.parametrize(
    "make, state",
    [
        (lambda G: G.from_seed([1, 2]), [0, 1, 2]),
        (lambda G: G.from_state([1, 2, 3], "philox"), [1, 2, 3]),
        (lambda G: G.from_key_counter(1, [2, 3], "philox"), [2, 3, 1]),
    ],
)
def test_states_by_origin(make: Any, state: list[int]) -> None:
    assert make(tf.random.Generator).state.numpy().tolist() == state


def test_skipping_and_resetting() -> None:
    g = tf.random.Generator.from_seed(5)
    g.skip(3)
    assert g.state.numpy().tolist() == [5 + 768, 0, 0]
    g.reset_from_seed(5)
    first = g.normal([3]).numpy()
    g.reset_from_key_counter(0, [5, 0])
    assert np.array_equal(g.normal([3]).numpy(), first)


def test_inside_a_function_every_call_goes_on() -> None:
    g, h = tf.random.Generator.from_seed(7), tf.random.Generator.from_seed(7)
    f = tf.function(lambda: g.uniform([2]))
    for _ in range(3):
        assert np.array_equal(f().numpy(), h.uniform([2]).numpy())


def test_parts_are_independent() -> None:
    a, b = tf.random.Generator.from_seed(1).split(2)
    assert not np.array_equal(a.uniform([4]).numpy(), b.uniform([4]).numpy())


def test_unknown_algorithm_is_refused() -> None:
    with pytest.raises(ValueError, match="Unsupported algorithm"):
        tf.random.Generator.from_seed(1, alg="dice")
