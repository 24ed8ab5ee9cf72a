"""What Session.run may be asked for, and the shape its answer takes."""

import collections

import numpy as np
import pytest

import emplace.compat.v1 as tf

pytestmark = pytest.mark.usefixtures("graph")


@pytest.fixture
def three():
    a = tf.constant(42.0, name="a")
    b = tf.no_op(name="b")
    c = tf.constant([1.0, 2.0], name="c")
    with tf.Session() as sess:
        yield sess, a, b, c


def test_none_is_refused_wherever_it_stands(three):
    sess, a, _, _ = three
    for fetches in (None, [None], (None,), {"k": None}, {None: None}, [a, None], [a, [None]]):
        with pytest.raises(TypeError, match="None"):
            sess.run(fetches)


def test_one_tensor(three):
    sess, a, _, c = three
    got = sess.run(a)
    assert got == 42.0 and type(got) is np.float32
    np.testing.assert_array_equal(sess.run(c), [1, 2])


def test_by_name(three):
    sess, _, _, _ = three
    assert sess.run("a:0") == 42.0
    assert sess.run("b") is None
    with pytest.raises(ValueError, match="refers to a Tensor which does not exist"):
        sess.run("missing:0")


def test_names_of_any_string_type(three):
    sess, _, _, _ = three
    assert sess.run(b"a:0") == 42.0
    assert sess.run("a:0") == 42.0
    assert sess.run(np.str_("a:0")) == 42.0


def test_a_list(three):
    sess, a, b, c = three
    got = sess.run([a, b, c, a])
    assert type(got) is list and len(got) == 4
    assert got[0] == got[3] == 42.0 and got[1] is None
    np.testing.assert_array_equal(got[2], [1, 2])


def test_a_tuple(three):
    sess, a, b, c = three
    got = sess.run((a, b, c, a.name))
    assert type(got) is tuple
    assert (got[0], got[1], got[3]) == (42.0, None, 42.0)


Triple = collections.namedtuple("Triple", ["first", "second", "third"])


def test_a_named_tuple(three):
    sess, a, b, c = three
    got = sess.run(Triple(a, b, c))
    assert type(got) is Triple
    assert got.first == 42.0 and got.second is None
    np.testing.assert_array_equal(got.third, [1, 2])


def test_a_dict(three):
    sess, a, b, c = three
    got = sess.run({"a": a, "b": b, "c": c.name})
    assert type(got) is dict and list(got) == ["a", "b", "c"]
    assert got["a"] == 42.0 and got["b"] is None
    np.testing.assert_array_equal(got["c"], [1, 2])


def test_an_ordered_dict(three):
    sess, a, b, c = three
    got = sess.run(collections.OrderedDict([("z", a), ("y", b), ("x", c)]))
    assert type(got) is collections.OrderedDict and list(got) == ["z", "y", "x"]
    assert got["z"] == 42.0


class Pair:
    """Has attrs' protocol without the package."""

    __attrs_attrs__ = (type("A", (), {"name": "left"}), type("A", (), {"name": "right"}))

    def __init__(self, left, right):
        self.left, self.right = left, right


def test_a_class_of_attrs(three):
    sess, a, b, _ = three
    got = sess.run(Pair(a, b))
    assert type(got) is Pair and got.left == 42.0 and got.right is None


def test_classes_of_attrs_in_one_another(three):
    sess, a, _, c = three
    got = sess.run(Pair(Pair(a, c), [a]))
    assert got.left.left == 42.0 and got.right == [42.0]
    np.testing.assert_array_equal(got.left.right, [1, 2])


def test_empty_structures_come_back_empty(three):
    sess, a, _, _ = three
    assert sess.run([]) == [] and sess.run(()) == () and sess.run({}) == {}
    assert sess.run([a, [], {}, ()]) == [42.0, [], {}, ()]


def test_nested_structures(three):
    sess, a, b, c = three
    got = sess.run([[a, b], (a, {"c": c}), Triple(a, [b], (a,))])
    assert got[0] == [42.0, None]
    assert got[1][0] == 42.0
    np.testing.assert_array_equal(got[1][1]["c"], [1, 2])
    assert got[2] == Triple(42.0, [None], (42.0,))


def test_tensors_as_results_of_functions():
    a = tf.constant([[1.0, 2.0]])
    with tf.Session() as sess:
        np.testing.assert_array_equal(sess.run(tf.transpose(a)), [[1], [2]])


def test_a_scalar_is_a_numpy_scalar():
    for dtype in (np.int32, np.int64, np.float16, np.float32, np.float64):
        x = tf.constant(7, dtype=dtype)
        y = tf.constant(6, dtype=dtype)
        with tf.Session() as sess:
            got = sess.run(x * y)
            assert type(got) is dtype and got == 42
            assert type(sess.run((x,))[0]) is dtype


def test_an_operation_gives_none():
    a = tf.constant(1.0)
    v = tf.Variable(a)
    with tf.Session() as sess:
        assert sess.run(v.initializer) is None
        assert sess.run(v) == 1.0


def test_rows_of_a_tensor():
    values, indices, shape = np.array([1.0, 2.0], np.float32), np.array([[3], [2]]), np.array([7])
    slices = tf.IndexedSlices(tf.constant(values), tf.constant(indices), tf.constant(shape))
    with tf.Session() as sess:
        got = sess.run(slices)
        np.testing.assert_array_equal(got.values, values)
        np.testing.assert_array_equal(got.indices, indices)
        np.testing.assert_array_equal(got.dense_shape, shape)
        assert [type(g).__name__ for g in sess.run([slices])] == ["IndexedSlicesValue"]


def test_rows_of_a_tensor_of_unknown_shape():
    slices = tf.IndexedSlices(tf.constant([1.0]), tf.constant([3]))
    with tf.Session() as sess:
        got = sess.run(slices)
        assert got.dense_shape is None
        np.testing.assert_array_equal(got.values, [1])


def test_strings_come_back_as_bytes():
    with tf.Session() as sess:
        for size in (0, 1, 3):
            words = np.array([f"w{i}" for i in range(size)], dtype=object)
            got = sess.run(tf.constant(words, dtype=tf.string, shape=[size]))
            assert list(got) == [w.encode() for w in words]
        assert sess.run(tf.constant("one")) == b"one"


def test_what_is_neither_tensor_nor_name_is_refused(three):
    sess, _, _, _ = three
    for wrong in (37.0, 2, object()):
        with pytest.raises(TypeError, match="must be a string or Tensor"):
            sess.run(wrong)
    with pytest.raises(ValueError, match="looks like an|not in the graph"):
        sess.run("INVALID_NAME_WITH SPACE")


def test_fetches_of_another_graph_are_refused(three):
    sess, _, _, _ = three
    with tf.Graph().as_default():
        foreign = tf.constant(1.0, name="foreign")
    with pytest.raises(ValueError, match="not an element of this graph"):
        sess.run(foreign)
    with pytest.raises(ValueError, match="not an element of this graph"):
        sess.run(foreign.op)


class SquaredTensor:
    def __init__(self, tensor):
        self.sq = tf.square(tensor)
        self.eval = lambda: None


def test_fetch_and_feed_conversions_can_be_registered():
    from emplace.framework import session

    session.register_session_run_conversion_functions(
        SquaredTensor,
        lambda s: ([s.sq], lambda values: values[0]),
        lambda feed, value: [(feed.sq, value)],
    )
    t = SquaredTensor(tf.constant([[1.0, 2.0], [3.0, 4.0]]))
    with tf.Session() as sess:
        np.testing.assert_array_equal(sess.run(t), [[1, 4], [9, 16]])
        fed = np.zeros([2, 2], np.float32)
        np.testing.assert_array_equal(sess.run(t, {t: fed}), fed)
    with pytest.raises(ValueError, match="already been registered"):
        session.register_session_run_conversion_functions(SquaredTensor, None)


def test_a_sparse_tensor_comes_back_as_its_three_arrays(three):
    sess, a, _, _ = three
    sparse = tf.SparseTensor([[0, 1], [2, 3]], [1.5, 2.5], [4, 5])
    got = sess.run(sparse)
    assert isinstance(got, tf.SparseTensorValue)
    assert got.indices.tolist() == [[0, 1], [2, 3]] and got.values.tolist() == [1.5, 2.5]
    assert got.dense_shape.tolist() == [4, 5]
    nested = sess.run({"s": sparse, "a": [a, sparse.values]})
    assert nested["s"].values.tolist() == [1.5, 2.5] and nested["a"][1].tolist() == [1.5, 2.5]
    assert sparse.shape.as_list() == [4, 5]


@pytest.mark.parametrize("rank", [65, 66, 100, 254])
def test_more_dimensions_than_numpy_has_are_refused(rank):
    with tf.Session() as sess, pytest.raises(ValueError, match=r"number of dimensions must be within \[0, 64\]"):
        sess.run(tf.reshape(tf.constant(1.0), [1] * rank))


def test_an_empty_name_is_none():
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, name="")
        assert [x.op.name, tf.identity(x, name="").op.name, tf.no_op(name="").name] == ["Placeholder", "Identity", "NoOp"]
