"""What a failed run says."""

import pytest

import emplace.compat.v1 as tf

pytestmark = pytest.mark.usefixtures("graph")


def failing():
    x = tf.placeholder(tf.float32, [None], name="x")
    return x, tf.reshape(x, [2, 3], name="six")


def test_the_error_knows_its_operation():
    x, six = failing()
    with tf.Session() as sess:
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            sess.run(six, {x: [1.0, 2.0]})
    assert caught.value.op is six.op
    assert caught.value.node_def.name == "six"
    assert caught.value.error_code == tf.errors.INVALID_ARGUMENT
    assert "2" in caught.value.message and "six" in str(caught.value)


def test_the_error_names_the_line_that_made_the_node():
    x, six = failing()
    with tf.Session() as sess:
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            sess.run(six, {x: [1.0, 2.0]})
    assert 'test_session_errors.py", line ' in str(caught.value)


def test_the_error_names_the_line_of_a_traced_function():
    @tf.function
    def six(x):
        if tf.size(x) > 0:
            x = tf.reshape(x, [2, 3])
        return x

    line = six.python_function.__code__.co_firstlineno + 3
    made = six(tf.placeholder_with_default([1.0, 2.0], [None]))
    with tf.Session() as sess:
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            sess.run(made)
    assert f'test_session_errors.py", line {line}' in str(caught.value)


def test_prepared_calls_know_it_too():
    x, six = failing()
    with tf.Session() as sess:
        call = sess.make_callable(six, [x])
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            call([1.0])
    assert caught.value.op is six.op


def test_an_error_of_another_node():
    x, six = failing()
    later = tf.reduce_sum(six, name="later")
    with tf.Session() as sess:
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            sess.run(later, {x: [1.0]})
    assert caught.value.op.name == "six"


def test_an_error_without_a_node():
    error = tf.errors.OpError(None, None, "hopeless", tf.errors.UNKNOWN)
    assert error.op is None and error.node_def is None and error.message == "hopeless"
    assert str(error) == "hopeless" and error.error_code == tf.errors.UNKNOWN


def test_the_session_is_usable_afterwards():
    x, six = failing()
    with tf.Session() as sess:
        for _ in range(3):
            with pytest.raises(tf.errors.InvalidArgumentError):
                sess.run(six, {x: [1.0]})
            assert sess.run(six, {x: range(6)}).shape == (2, 3)


def test_what_cannot_be_placed_is_refused():
    with tf.device("/device:GPU:93"):
        c = tf.constant(1.0, name="lonely")
    with tf.Session() as sess:
        with pytest.raises(tf.errors.InvalidArgumentError, match="Cannot assign a device") as caught:
            sess.run(c)
    assert "lonely" in str(caught.value)


def test_a_fed_value_of_a_wrong_size_is_an_error_of_the_run():
    shape = tf.placeholder(tf.int32, [None])
    x = tf.fill(shape, 1.0)
    with tf.Session() as sess:
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.run(x, {shape: [-3]})
        assert sess.run(x, {shape: [2]}).tolist() == [1, 1]


def test_timeouts_leave_short_runs_alone():
    x = tf.constant(1.0)
    with tf.Session() as sess:
        for _ in range(20):
            assert sess.run(x, options=tf.RunOptions(timeout_in_ms=60000)) == 1.0
    with tf.Session(config=tf.ConfigProto(operation_timeout_in_ms=60000)) as sess:
        assert sess.run(x) == 1.0


def test_errors_by_code():
    from emplace.framework import errors

    for code in range(1, 17):
        kind = errors.exception_type_from_error_code(code)
        assert errors.error_code_from_exception_type(kind) == code
        assert kind(None, None, "m").error_code == code


def test_the_sessions_timeout_ends_a_waiting_step():
    with tf.Graph().as_default(), tf.Session(config=tf.ConfigProto(operation_timeout_in_ms=50)) as sess:
        waiting = tf.FIFOQueue(1, [tf.float32]).dequeue()
        with pytest.raises(tf.errors.DeadlineExceededError):
            sess.run(waiting)
        with pytest.raises(tf.errors.DeadlineExceededError):  # a run's own counts first
            sess.run(waiting, options=tf.RunOptions(timeout_in_ms=20))
        assert sess.run(tf.constant(1.0), options=tf.RunOptions(timeout_in_ms=60_000)) == 1.0
