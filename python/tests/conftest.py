"""A fresh default graph for each test of graph programs."""

import pytest


@pytest.fixture
def graph():
    import emplace.compat.v1 as tf

    with tf.Graph().as_default() as made:
        yield made
