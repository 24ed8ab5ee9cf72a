"""A fresh default graph for each test of graph programs."""

import signal

import pytest

# A job in the background starts with Ctrl-C ignored; tests of it want it, children of theirs too.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def graph():
    import emplace.compat.v1 as tf

    with tf.Graph().as_default() as made:
        yield made
