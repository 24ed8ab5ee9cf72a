"""Tensors kept in a session between its steps."""

import gc

import numpy as np
import pytest

import emplace.compat.v1 as tf

CPU = "/job:localhost/replica:0/task:0/device:CPU:0"


@pytest.fixture
def kept():
    """A session, and the handle of a 50 that it keeps."""
    with tf.Graph().as_default(), tf.Session() as sess:
        handle = tf.get_session_handle(tf.multiply(tf.constant(10), tf.constant(5)))
        yield sess, handle, sess.run(handle)


def test_a_handle_names_node_number_and_device(kept):
    sess, handle, value = kept
    assert (handle.dtype, handle.shape) == (tf.string, [])
    assert value.handle == str(value) == f"GetSessionHandle;0;{CPU}"
    assert sess.run([handle, {"again": handle}])[0].handle == f"GetSessionHandle;1;{CPU}"
    assert value.eval() == 50


def test_a_later_step_takes_it_by_its_handle(kept):
    sess, handle, value = kept
    holder, tensor = tf.get_session_tensor(value.handle, tf.int32)
    assert holder.op.device == tensor.op.device == CPU
    assert sess.run(tensor * 10, {holder: value.handle}) == 500
    assert sess.run(tensor * 10, {holder: sess.run(handle).handle}) == 500
    with pytest.raises(tf.errors.InvalidArgumentError, match="You must feed a value for placeholder"):
        sess.run(tensor)


def test_a_tensor_is_fed_by_a_handle(kept):
    sess, _, value = kept
    x = tf.placeholder(tf.int32)
    assert sess.run([x, x + 1], {x: value}) == [50, 51]
    y = tf.placeholder(tf.string)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Expects arg\[0\] to be string but int32 is provided"):
        sess.run(tf.identity(y), {y: value})


def test_it_is_deleted_once(kept):
    sess, handle, value = kept
    holder, tensor = tf.get_session_tensor(value.handle, tf.int32)
    value.delete()
    for again in (value.delete, value.eval):
        with pytest.raises(TypeError, match="may have already been deleted"):
            again()
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"The tensor with handle '{value.handle}' is not in the session store."):
        sess.run(tensor, {holder: value.handle})
    holder, deleter = tf.delete_session_tensor(value.handle)
    other = sess.run(handle).get_raw_handle()
    sess.run(deleter, {holder: other})
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"Failed to delete a tensor with handle '{other}' in the session store."):
        sess.run(deleter, {holder: other})


def test_it_goes_with_the_last_reference_to_its_handle(kept):
    sess, handle, value = kept
    names = [sess.run(handle).handle for _ in range(12)]
    gc.collect()
    sess.run(handle)  # the next step lets them go
    holder, tensor = tf.get_session_tensor(names[0], tf.int32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="not in the session store"):
        sess.run(tensor, {holder: names[0]})
    assert value.eval() == 50


def test_it_stays_what_it_was(kept):
    sess, _, _ = kept
    x = tf.placeholder(tf.float32, [4])
    handle = tf.get_session_handle(x + 1.0)
    first = sess.run(handle, {x: np.zeros(4)})
    second = sess.run(handle, {x: np.ones(4)})
    holder, tensor = tf.get_session_tensor(first.handle, tf.float32)
    for _ in range(3):
        np.testing.assert_array_equal(sess.run(tf.negative(tensor), {holder: first.handle}), -np.ones(4))
    np.testing.assert_array_equal(second.eval(), 2 * np.ones(4))


def test_a_prepared_call_gives_handles_and_takes_them(kept):
    sess, handle, value = kept
    made = sess.make_callable([handle])()[0]
    holder, tensor = tf.get_session_tensor(made.handle, tf.int32)
    assert sess.make_callable(tensor + 1, [holder])(made.handle) == 51
    x = tf.placeholder(tf.int32)
    assert sess.make_callable(x + 1, [x])(value) == 51


def test_another_session_does_not_have_it(kept):
    _, _, value = kept
    holder, tensor = tf.get_session_tensor(value.handle, tf.int32)
    with tf.Session() as other, pytest.raises(tf.errors.InvalidArgumentError, match="not in the session store"):
        other.run(tensor, {holder: value.handle})


def test_texts_are_kept_and_types_are_checked(kept):
    sess, _, _ = kept
    value = sess.run(tf.get_session_handle(tf.constant(["a", "b"]), name="texts"))
    assert value.handle.startswith("texts;")
    assert value.eval().tolist() == [b"a", b"b"]
    holder, tensor = tf.get_session_tensor(value.handle, tf.float32)
    with pytest.raises(tf.errors.InternalError, match="Output 0 of type string does not match declared output type float for node"):
        sess.run(tensor, {holder: value.handle})


def test_bad_arguments_are_refused():
    with pytest.raises(TypeError, match="`data` must be of type Tensor."):
        tf.get_session_handle(3.0)
    with pytest.raises(ValueError, match="nonsense"):
        tf.get_session_tensor("nonsense", tf.int32)


@pytest.mark.parametrize("dtype", [tf.float32, tf.int32])
def test_it_lies_on_its_device_and_moves_to_another(monkeypatch, dtype):
    monkeypatch.setenv("EMPLACE_VIRTUAL_GPUS", "2")
    with tf.Graph().as_default(), tf.Session() as sess:
        values = {}
        for device in ("/gpu:0", "/gpu:1", "/cpu:0"):
            with tf.device(device):
                values[device] = sess.run(tf.get_session_handle(tf.fill([3], tf.constant(7, dtype))))
        assert values["/gpu:1"].handle.endswith("/device:GPU:1")
        for there in values.values():
            holder, tensor = tf.get_session_tensor(there.handle, dtype)
            for value in values.values():
                np.testing.assert_array_equal(sess.run(tensor, {holder: value.handle}), [7, 7, 7])
                np.testing.assert_array_equal(value.eval(), [7, 7, 7])
