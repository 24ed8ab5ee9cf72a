"""What Session.run may be fed with."""

import numpy as np
import pytest

import emplace.compat.v1 as tf

pytestmark = pytest.mark.usefixtures("graph")
DTYPES = (np.float16, np.float32, np.float64, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16,
          np.bool_, np.complex64, np.complex128)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(32, 4, 2), (37,), (2, 0, 6), (), ])
def test_what_is_fed_comes_back(dtype, shape):
    feed = tf.placeholder(dtype, shape=shape)
    out = tf.identity(feed)
    value = (np.random.default_rng(1).random(shape) * 100).astype(dtype)
    with tf.Session() as sess:
        np.testing.assert_array_equal(sess.run(out, {feed: value}), value)
        np.testing.assert_array_equal(sess.run(feed, {feed: value}), value)
        got = sess.run([feed, out], {feed: value})
        np.testing.assert_array_equal(got[0], value)
        np.testing.assert_array_equal(got[1], value)
        np.testing.assert_array_equal(out.eval({feed: value}), value)


def test_any_tensor_may_be_fed():
    a = tf.constant([1.0, 2.0])
    doubled = a * 2.0
    with tf.Session() as sess:
        np.testing.assert_array_equal(sess.run(doubled, {a: [5.0, 6.0]}), [10, 12])
        np.testing.assert_array_equal(sess.run(doubled, {doubled: [0.0, 1.0]}), [0, 1])
        np.testing.assert_array_equal(sess.run(doubled), [2, 4])


def test_lists_numbers_and_scalars_are_converted():
    x = tf.placeholder(tf.float32)
    y = x + 1.0
    with tf.Session() as sess:
        assert sess.run(y, {x: 1}) == 2.0
        assert sess.run(y, {x: 1.5}) == 2.5
        assert sess.run(y, {x: np.float32(3)}) == 4.0
        assert sess.run(y, {x: np.float64(3)}) == 4.0
        np.testing.assert_array_equal(sess.run(y, {x: [[1], [2]]}), [[2], [3]])
        np.testing.assert_array_equal(sess.run(y, {x: np.arange(6)[::2]}), [1, 3, 5])
        np.testing.assert_array_equal(sess.run(y, {x: np.ones((2, 3)).T}), np.full((3, 2), 2))


def test_a_value_is_read_at_each_run():
    x = tf.placeholder(tf.float32, [3])
    y = x * 2.0
    value = np.array([1, 2, 3], np.float32)
    with tf.Session() as sess:
        first = sess.run(y, {x: value})
        value[:] = 10
        np.testing.assert_array_equal(sess.run(y, {x: value}), [20, 20, 20])
        np.testing.assert_array_equal(first, [2, 4, 6])


def test_what_is_fetched_is_the_callers_own():
    x = tf.placeholder(tf.float32, [300])
    same = tf.identity(x)
    value = np.zeros(300, np.float32)
    with tf.Session() as sess:
        got = sess.run(same, {x: value})
        got += 1
        assert not value.any()
        np.testing.assert_array_equal(sess.run(same, {x: value}), np.zeros(300))
        np.testing.assert_array_equal(got, np.ones(300))


def test_wrong_shapes_are_refused():
    x = tf.placeholder(tf.float32, [2, None], name="x")
    y = tf.reduce_sum(x)
    with tf.Session() as sess:
        assert sess.run(y, {x: np.ones((2, 5))}) == 10
        assert sess.run(y, {x: np.ones((2, 0))}) == 0
        for wrong in (np.ones(2), np.ones((3, 2)), 1.0, np.ones((2, 2, 2))):
            with pytest.raises(ValueError, match="Cannot feed value of shape"):
                sess.run(y, {x: wrong})


def test_shapes_known_in_part():
    some_tensor = tf.constant([2.0, 2.0, 2.0, 2.0])
    new_shape = tf.constant([2, 2])
    reshaped = tf.reshape(some_tensor, new_shape)
    with tf.Session() as sess:
        with pytest.raises(ValueError, match="Cannot feed value of shape"):
            sess.run(reshaped, {some_tensor: [1.0, 2.0, 3.0]})
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.run(reshaped, {new_shape: [3, 7]})


def test_tensors_are_no_values():
    x = tf.placeholder(tf.float32, [])
    with tf.Session() as sess:
        with pytest.raises(TypeError, match="The value of a feed cannot be a tf.Tensor object"):
            sess.run(x, {x: tf.constant(1.0)})
        with pytest.raises(TypeError, match="The value of a feed cannot be a tf.Tensor object"):
            x.eval({x: tf.constant(1.0)})


def test_numbers_that_do_not_fit_are_refused():
    x = tf.placeholder(tf.int32, [])
    small = tf.placeholder(tf.int8, [])
    with tf.Session() as sess:
        for tensor, value in ((x, 2**40), (x, -(2**31) - 1), (small, 200)):
            with pytest.raises(TypeError, match="is not compatible with Tensor type"):
                sess.run(tf.identity(tensor), {tensor: value})
        assert sess.run(tf.identity(x), {x: 2**31 - 1}) == 2**31 - 1


def test_keys_that_name_nothing_are_refused():
    x = tf.placeholder(tf.float32, [], name="x")
    y = tf.identity(x)
    with tf.Session() as sess:
        assert sess.run(y, {"x:0": 3.0}) == 3.0
        with pytest.raises(TypeError, match="Cannot interpret feed_dict"):
            sess.run(y, {"nothing:0": 1.0})
        with pytest.raises(TypeError, match="Cannot interpret feed_dict"):
            sess.run(y, {y.op: 1.0})
        with pytest.raises(TypeError, match="Cannot interpret feed_dict"):
            sess.run(y, {3: 1.0})
        with pytest.raises(TypeError, match="must be a dictionary"):
            sess.run(y, [x, 1.0])


def test_a_tensor_may_be_fed_and_fetched():
    x = tf.placeholder(tf.float32, [2], name="x")
    with tf.Session() as sess:
        got = sess.run([x, x * 2.0, {"x": x}], {x: [1, 2]})
        np.testing.assert_array_equal(got[0], [1, 2])
        np.testing.assert_array_equal(got[1], [2, 4])
        np.testing.assert_array_equal(got[2]["x"], [1, 2])


def test_the_same_input_twice():
    x = tf.placeholder(tf.float32, [2])
    y = tf.stack([x, x])
    with tf.Session() as sess:
        np.testing.assert_array_equal(sess.run(y, {x: [1, 2]}), [[1, 2], [1, 2]])
        np.testing.assert_array_equal(sess.run([y, y], {x: [3, 4]})[1], [[3, 4], [3, 4]])


def test_strings():
    x = tf.placeholder(tf.string, [2])
    out = tf.identity(x)
    with tf.Session() as sess:
        for value in (["a", "b"], [b"a", b"b"], np.array(["a", "b"]), np.array([b"a", b"b"], dtype=object)):
            assert list(sess.run(out, {x: value})) == [b"a", b"b"]
        with pytest.raises((TypeError, ValueError)):
            sess.run(out, {x: [1, 2]})


def test_strings_with_null_characters():
    x = tf.placeholder(tf.string, [2])
    with tf.Session() as sess:
        words = [b"\n\x01\x00", b"\n\x00\x01"]
        assert list(sess.run(tf.identity(x), {x: words})) == words


def test_strings_with_accents():
    words = ["\n\u3042", "a\u00e9\U0001f600"]
    x = tf.placeholder(tf.string, [2])
    with tf.Session() as sess:
        got = sess.run(tf.identity(x), {x: words})
        assert [w.decode("utf-8") for w in got] == words
        got = sess.run(tf.identity(x), {x: np.array(words)})
        assert [w.decode("utf-8") for w in got] == words


def test_rows_of_a_tensor():
    values, indices, shape = np.array([1.0, 2.0], np.float32), np.array([[3], [2]]), np.array([7])
    slices = tf.IndexedSlices(tf.placeholder(np.float32, [2]), tf.placeholder(np.int64, [2, 1]), tf.placeholder(np.int64, [1]))
    parts = [tf.identity(p) for p in (slices.values, slices.indices, slices.dense_shape)]
    with tf.Session() as sess:
        for got in (
            sess.run(parts, {slices: (values, indices, shape)}),
            sess.run(parts, {slices: sess.run(slices, {slices: (values, indices, shape)})}),
        ):
            for a, b in zip(got, (values, indices, shape)):
                np.testing.assert_array_equal(a, b)


def test_rows_of_a_tensor_of_unknown_shape():
    slices = tf.IndexedSlices(tf.placeholder(np.float32, [1]), tf.placeholder(np.int64, [1]))
    with tf.Session() as sess:
        got = sess.run([tf.identity(slices.values), tf.identity(slices.indices)], {slices: ([5.0], [2])})
        assert got[0] == [5.0] and got[1] == [2]


def test_values_are_converted_and_checked():
    x = tf.placeholder(tf.string, [])
    number = tf.placeholder(tf.float32, [])
    with tf.Session() as sess:
        assert sess.run(x, {x: "a"}) in ("a", b"a")
        with pytest.raises((TypeError, ValueError)):
            sess.run(tf.identity(number), {number: "word"})
        with pytest.raises((TypeError, ValueError)):
            sess.run(tf.identity(number), {number: object()})


def test_feeding_can_be_prevented(graph):
    x = tf.placeholder(tf.float32, [])
    y = x + 1.0
    with tf.Session() as sess:
        assert sess.run(y, {x: 1.0}) == 2.0
        graph.prevent_feeding(x)
        with pytest.raises(ValueError, match="may not be fed"):
            sess.run(y, {x: 1.0})


def test_many_values_through_one_call_are_all_right():
    x = tf.placeholder(tf.float64, [None])
    y, s = x * 3.0, tf.reduce_sum(x)
    with tf.Session() as sess:
        for n in (*range(40), 7, 3, 1000, 3):
            value = np.arange(n, dtype=np.float64)
            got, total = sess.run([y, s], {x: value})
            np.testing.assert_array_equal(got, value * 3)
            assert total == value.sum()


def test_lists_that_contain_themselves_are_refused():
    loop, first, twice = [], [1.0], []
    loop.append(loop)
    first.append(first)
    twice.extend([twice, twice])
    x = tf.placeholder(tf.float32)
    with tf.Session() as sess:
        for value in (loop, first, twice):
            for use in (
                lambda: tf.constant(value), lambda: tf.nn.relu(value), lambda: x + value, lambda: sess.run(x, {x: value}),
                lambda: sess.run(value), lambda: tf.constant(value, tf.string),
            ):
                with pytest.raises((ValueError, TypeError)):
                    use()


SPARSE = ([[3, 2, 0], [4, 5, 1]], [1.0, 2.0], [7, 9, 2])


def test_a_sparse_tensor():
    sparse = tf.SparseTensor(tf.placeholder(tf.int64, [2, 3]), tf.placeholder(tf.float32, [2]), tf.placeholder(tf.int64, [3]))
    doubled = tf.SparseTensor(sparse.indices, sparse.values * 2.0, sparse.dense_shape)
    with tf.Session() as sess:
        for value in (SPARSE, tf.SparseTensorValue(*SPARSE)):
            got = sess.run(doubled, {sparse: value})
            assert got.indices.tolist() == SPARSE[0] and got.values.tolist() == [2.0, 4.0]
        again = sess.run(doubled, {sparse: sess.run(doubled, {sparse: SPARSE})})
        assert again.values.tolist() == [4.0, 8.0] and again.dense_shape.tolist() == SPARSE[2]


@pytest.mark.parametrize("shape, known", [(None, None), ([None, 9, 2], [None, 9, 2]), ([7, 9, 2], [7, 9, 2])])
def test_a_sparse_placeholder(shape, known):
    sparse = tf.sparse_placeholder(tf.float32, shape, name="sp")
    assert sparse.shape.ndims is None if known is None else sparse.shape.as_list() == known
    with tf.Session() as sess:
        got = sess.run(sparse, {sparse: SPARSE[:2] if shape == [7, 9, 2] else SPARSE})
        assert got.values.tolist() == SPARSE[1] and got.dense_shape.tolist() == SPARSE[2]
