"""Random input pipelines on TensorFlow and on ours: element by element, in order, bit by bit, and again.

100 of them; EMPLACE_TEST_FULL=1: 500; EMPLACE_TEST_SEED=N: that one.
"""

import os
from typing import Any

import pytest

from random_pipelines import drawn, told
from test_eager import ours, theirs  # noqa: F401  (fixtures)

_COUNT = 500 if os.environ.get("EMPLACE_TEST_FULL") else 100
_SEEDS = [int(os.environ["EMPLACE_TEST_SEED"])] if "EMPLACE_TEST_SEED" in os.environ else range(_COUNT)


@pytest.mark.parametrize("seed", _SEEDS)
def test_gives_what_tensorflow_gives(seed: int, ours: Any, theirs: Any) -> None:  # noqa: F811
    pipeline = drawn(seed)
    expected, found = told(theirs, pipeline), told(ours, pipeline)
    assert found == expected, f"pipeline {seed}: {' → '.join(pipeline.said)}"
