"""Each function, and each iterator over a dataset, draws its random numbers from the beginning."""

import numpy as np
import pytest

import emplace as tf


def _drawn(f, n: int = 3) -> list[float]:
    return [float(f()) for _ in range(n)]


def _many(seed: int):
    """More operations than are run one after another."""

    def f() -> tf.Tensor:
        x = tf.constant(0.0)
        for _ in range(12):
            x = x + tf.random.uniform([], seed=3) * 0.0
        return x + tf.random.uniform([], seed=seed)

    return tf.function(f)


def test_functions_do_not_share_their_random_numbers() -> None:
    tf.random.set_seed(1)
    f, g = (tf.function(lambda: tf.random.uniform([], seed=5)) for _ in range(2))
    assert _drawn(f) == _drawn(g) == _drawn(lambda: tf.random.uniform([], seed=5))
    assert _drawn(_many(9)) == _drawn(_many(9))


def test_setting_the_seed_begins_anew_in_functions_too() -> None:
    tf.random.set_seed(1)
    f, g = tf.function(lambda: tf.random.uniform([], seed=5)), _many(9)
    first = _drawn(f), _drawn(g)
    assert (_drawn(f), _drawn(g)) != first
    tf.random.set_seed(1)
    assert (_drawn(f), _drawn(g)) == first


def _datasets() -> dict:
    draw = {"seed": 5}
    numbers = tf.data.Dataset.range(4)
    return {
        "map": numbers.map(lambda i: tf.random.uniform([], **draw)),
        "no_seed": numbers.map(lambda i: tf.random.uniform([])),
        "batch": numbers.map(lambda i: tf.random.uniform([], **draw)).batch(2),
        "filter": tf.data.Dataset.range(40).filter(lambda i: tf.random.uniform([], **draw) < 0.3),
        "nested": numbers.flat_map(lambda i: tf.data.Dataset.range(2).map(lambda j: tf.random.uniform([], **draw))),
    }


@pytest.mark.parametrize("name", ["map", "no_seed", "batch", "filter", "nested"])
def test_each_iterator_draws_from_the_beginning(name: str) -> None:
    tf.random.set_seed(1)
    dataset = _datasets()[name]
    first, second = ([np.asarray(x).tolist() for x in dataset] for _ in range(2))
    assert first == second and len(first) > 1 and first[0] != first[1]


def test_iterators_side_by_side_do_not_disturb_each_other() -> None:
    tf.random.set_seed(1)
    a, b = (iter(_datasets()["map"]) for _ in range(2))
    assert [(float(x), float(y)) for x, y in zip(a, b)] == [(float(x), float(x)) for x in _datasets()["map"]]


def test_rounds_of_one_iterator_go_on() -> None:
    tf.random.set_seed(1)
    dataset = _datasets()["map"].repeat(2)
    first, second = ([float(x) for x in dataset] for _ in range(2))
    assert first == second and len(set(first)) == 8
