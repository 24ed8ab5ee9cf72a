"""Steps in pieces: Session.partial_run_setup and partial_run."""

import pytest

import emplace.compat.v1 as tf


@pytest.fixture
def pieces():
    """A session over third = first + second, all of which may be fetched and two fed."""
    with tf.Graph().as_default(), tf.Session() as session:
        feeds = [tf.constant(1.0, name="a"), tf.constant(2.0, name="b")]
        first, second = (tf.identity(t) for t in feeds)
        yield session, feeds, [first, second, first + second]


def test_each_piece_gives_what_its_feeds_allow(pieces):
    session, (a, b), (first, second, third) = pieces
    handle = session.partial_run_setup([first, second, third], [a, b])
    assert session.partial_run(handle, first, {a: 11.0}) == 11
    assert session.partial_run(handle, [second, third], {b: 22.0}) == [22, 33]


def test_an_operation_runs_once_over_all_pieces():
    with tf.Graph().as_default(), tf.Session() as session:
        late = tf.placeholder(tf.float32, [])
        count = tf.Variable(0.0)
        counted = count.assign_add(1.0)
        both = counted + late
        session.run(count.initializer)
        handle = session.partial_run_setup([counted, both], [late])
        session.partial_run(handle, counted)
        assert session.partial_run(handle, both, {late: 5.0}) == 6
        assert session.run(count) == 1


def test_a_fetch_whose_feed_is_missing_is_refused_and_nothing_of_the_piece_counts(pieces):
    session, (a, b), (first, _, third) = pieces
    handle = session.partial_run_setup([first, third], [a, b])
    with pytest.raises(tf.errors.InvalidArgumentError, match="b:0 can't be computed from the feeds that have been fed so far"):
        session.partial_run(handle, third, {a: 1.0})
    assert session.partial_run(handle, third, {a: 1.0, b: 2.0}) == 3


def test_both_outputs_of_one_operation_are_fed():
    with tf.Graph().as_default(), tf.Session() as session:
        off, on = tf.raw_ops.Switch(data=tf.placeholder(tf.float32), pred=tf.placeholder(tf.bool))
        total = off + 2 * on
        handle = session.partial_run_setup([total], [off, on])
        assert session.partial_run(handle, total, {off: 1.0, on: 5.0}) == 11


def test_what_was_not_set_up_and_what_came_twice_is_refused(pieces):
    session, (a, b), (first, second, third) = pieces
    handle = session.partial_run_setup([first, third], [a, b])

    def refused(words, *piece):
        with pytest.raises(tf.errors.InvalidArgumentError, match=words):
            session.partial_run(*piece)

    refused("The fetch Identity_1:0 was not specified in partial_run_setup", handle, second, {b: 1.0})
    refused("The feed Identity_1:0 was not specified in partial_run_setup", handle, first, {second: 1.0})
    session.partial_run(handle, first, {a: 1.0})
    refused("The feed a:0 has already been fed", handle, third, {a: 1.0, b: 1.0})
    refused("The fetch Identity:0 has already been fetched", handle, first)
    refused("Must run 'setup' before performing partial runs", "another", first)
    with pytest.raises(tf.errors.InvalidArgumentError, match="at least one target"):
        session.partial_run_setup([], [a])


def test_a_closed_session_runs_no_further_piece(pieces):
    session, (a, b), (first, _, third) = pieces
    handle = session.partial_run_setup([first, third], [a, b])
    session.partial_run(handle, first, {a: 1.0})
    session.close()
    with pytest.raises(RuntimeError, match="closed Session"):
        session.partial_run(handle, third, {b: 1.0})
    with pytest.raises(RuntimeError, match="closed Session"):
        session.partial_run_setup([first], [a])
