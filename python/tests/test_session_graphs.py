"""Sessions and their graphs: default ones, nesting, growing graphs, threads."""

import threading
import warnings

import numpy as np
import pytest

import emplace.compat.v1 as tf

pytestmark = pytest.mark.usefixtures("graph")


def in_threads(count, work):
    """Runs work(i) in each of `count` threads; raises what the first of them raised."""
    failures = []

    def guarded(i):
        try:
            work(i)
        except BaseException as e:  # noqa: BLE001
            failures.append(e)

    threads = [threading.Thread(target=guarded, args=(i,)) for i in range(count)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if failures:
        raise failures[0]


def test_a_given_graph_is_used():
    with tf.Graph().as_default() as g:
        b = tf.matmul(tf.constant(6.0, shape=[1, 1]), tf.constant(7.0, shape=[1, 1]))
    with tf.Session(graph=g) as sess:
        assert sess.graph is g
        assert b.eval() == [[42]]


def test_the_default_graph_is_used():
    with tf.Graph().as_default() as g:
        b = tf.matmul(tf.constant(6.0, shape=[1, 1]), tf.constant(7.0, shape=[1, 1]))
        with tf.Session() as sess:
            assert sess.graph is g
            assert b.eval() == [[42]]


def test_create():
    with tf.Session():
        inp = tf.constant(10.0, shape=[2, 3], name="W1")
        copy = tf.identity(inp)
        np.testing.assert_array_equal(copy.eval(), np.full((2, 3), 10))


def test_arguments_are_checked():
    with pytest.raises(TypeError, match="`target` must be a string"):
        tf.Session(37)
    with pytest.raises(TypeError, match="`config` must be a tf.ConfigProto"):
        tf.Session(config=37)
    with pytest.raises(TypeError, match="`graph` must be a tf.Graph"):
        tf.Session(graph=37)
    with pytest.raises(tf.errors.NotFoundError, match="No session factory"):
        tf.Session("INVALID_TARGET")


def test_reset_ends_every_session_and_what_it_holds():
    v = tf.Variable(3.0, use_resource=False)
    w = tf.Variable(4.0, use_resource=True)
    before = [tf.Session(), tf.Session()]
    for sess in before:
        sess.run(tf.global_variables_initializer())
        assert sess.run([v, w]) == [3.0, 4.0]
    with pytest.raises(TypeError, match="Expected binary or unicode string, got 1"):
        tf.Session.reset("", [1])
    assert before[0].run(v) == 3.0
    tf.Session.reset("", ["some container"])
    for sess in before:
        with pytest.raises(tf.errors.CancelledError, match="Session has been closed."):
            sess.run([v, w])
    with tf.Session() as sess:
        with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value"):
            sess.run(v)
        sess.run(tf.global_variables_initializer())
        assert sess.run(w) == 4.0
    with pytest.raises(tf.errors.NotFoundError, match="No session factory"):
        tf.Session.reset("INVALID_TARGET")


def test_many_cpus():
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as sess:
        names = [d.name for d in sess.list_devices() if d.device_type == "CPU"]
        assert names == [f"/job:localhost/replica:0/task:0/device:CPU:{i}" for i in (0, 1)]
        with tf.device("/cpu:1"):
            x = tf.constant(4.0)
        assert sess.run(x + 1.0) == 5.0


def test_threads_of_its_own():
    config = tf.ConfigProto(use_per_session_threads=True)
    with tf.Session(config=config):
        np.testing.assert_array_equal(tf.identity(tf.constant(10.0, shape=[2, 3])).eval(), np.full((2, 3), 10))


def test_pools_of_threads_are_chosen_by_run():
    config = tf.ConfigProto()
    pool = config.session_inter_op_thread_pool.add()
    with tf.Session(config=config) as sess:
        assert sess.run(tf.constant([1.0]) * 2.0) == [2.0]
    pool.num_threads = 1
    config.session_inter_op_thread_pool.add().global_name = "shared"
    with tf.Session(config=config) as sess:
        c = tf.constant([1.0]) + 1.0
        for index in (0, 1):
            options = tf.RunOptions(inter_op_thread_pool=index)
            assert sess.run(c, options=options) == [2.0]
        with pytest.raises(tf.errors.InvalidArgumentError, match="inter_op_thread_pool"):
            sess.run(c, options=tf.RunOptions(inter_op_thread_pool=7))


def test_a_graph_grows_between_runs():
    with tf.Session() as sess:
        a = tf.constant(5.0, shape=[2, 2])
        assert sess.run(a)[0, 0] == 5
        b = a * 2.0
        assert sess.run(b)[0, 0] == 10
        c = b + a
        np.testing.assert_array_equal(sess.run([a, b, c])[2], np.full((2, 2), 15))


def test_a_graph_grows_by_variables():
    with tf.Session() as sess:
        v = tf.Variable(10.0)
        w = tf.Variable(20.0)
        sess.run(tf.global_variables_initializer())
        assert sess.run(v + w) == 30
        more = tf.Variable(5.0)
        with pytest.raises(tf.errors.FailedPreconditionError):
            sess.run(more)
        sess.run(more.initializer)
        sess.run(v.assign_add(more))
        assert sess.run(v) == 15


def test_a_graph_grows_by_groups():
    with tf.Session() as sess:
        p, q = tf.Variable(1.0), tf.Variable(2.0)
        init = tf.group(p.initializer, q.initializer)
        assert sess.run(init) is None
        assert sess.run([p, q]) == [1.0, 2.0]
        with tf.control_dependencies([tf.group(p.assign(7.0))]):
            after = tf.identity(q)
        sess.run(after)
        assert sess.run(p) == 7.0


def test_eval_of_a_tensor():
    with tf.Session():
        a = tf.placeholder(tf.float32, [2])
        b = a + 1.0
        np.testing.assert_array_equal(b.eval({a: [1, 2]}), [2, 3])
        assert tf.constant(3).eval() == 3
    with pytest.raises(ValueError, match="No default session is registered"):
        b.eval()


def test_run_of_an_operation():
    with tf.Session():
        v = tf.Variable(10.0)
        v.initializer.run()
        assert v.eval() == 10.0
        add = tf.placeholder(tf.float32, [])
        v.assign_add(add).op.run({add: 5.0})
        assert v.eval() == 15.0


def test_the_default_graph_and_its_session():
    outer = tf.get_default_graph()
    with tf.Session() as sess:
        assert tf.get_default_graph() is outer is sess.graph
        a = tf.constant(1.0)
        assert a.graph is outer
        with tf.Graph().as_default() as inner:
            b = tf.constant(2.0)
            assert b.graph is inner
            with pytest.raises(ValueError, match="different from the session's graph"):
                b.eval()
        assert a.eval() == 1.0


def test_default_graphs_are_each_threads_own():
    outer = tf.get_default_graph()

    def work(_):
        assert tf.get_default_graph() is not outer
        with tf.Graph().as_default() as own, tf.Session():
            a = tf.constant(6.0)
            assert a.graph is own and a.eval() == 6.0

    in_threads(8, work)


def test_parallel_runs():
    x = tf.placeholder(tf.float32, [])
    y = x * x
    with tf.Session() as sess:

        def work(i):
            for k in range(50):
                assert sess.run(y, {x: i + k}) == (i + k) ** 2

        in_threads(16, work)


def test_one_thread_builds_while_others_run():
    c = tf.constant(5.0)
    with tf.Session() as sess:
        stop = threading.Event()

        def work(i):
            while i and not stop.is_set():
                assert sess.run(c) == 5.0
            if not i:
                with sess.graph.as_default():
                    for n in range(40):
                        assert sess.run(tf.constant(float(n)) + c) == n + 5
                stop.set()

        in_threads(6, work)


def test_many_threads_build_and_run():
    with tf.Session() as sess:

        def work(i):
            with sess.graph.as_default():
                for n in range(15):
                    assert sess.run(tf.constant(float(i)) * float(n)) == i * n

        in_threads(8, work)
        names = [op.name for op in sess.graph.get_operations()]
        assert len(names) == len(set(names)) == 8 * 15 * 3


def test_graph_def_of_a_session():
    with tf.Session() as sess:
        assert len(sess.graph_def.node) == 0
        c = tf.constant(5.0, name="c")
        assert [n.name for n in sess.graph_def.node] == ["c"]
        d = tf.constant(6.0, name="d")
        assert [n.name for n in sess.graph_def.node] == ["c", "d"]
        assert (c.eval(), d.eval()) == (5.0, 6.0)


def test_output_shapes_are_only_written_when_asked_for(graph):
    with tf.Session() as sess:
        tf.constant([1.0, 2.0], name="c")
        assert "_output_shapes" not in sess.graph_def.node[0].attr
        written = graph.as_graph_def(add_shapes=True).node[0]
        assert [d.size for d in written.attr["_output_shapes"].list.shape[0].dim] == [2]


def test_a_closed_session_says_so():
    sess = tf.Session()
    c = tf.constant(5.0)
    assert sess.run(c) == 5.0
    call = sess.make_callable(c)
    sess.close()
    sess.close()
    for use in (lambda: sess.run(c), call, lambda: sess.make_callable(c)):
        with pytest.raises(RuntimeError, match="Attempted to use a closed Session."):
            use()


def test_closing_while_others_run():
    c = tf.reduce_sum(tf.ones([64, 64]))
    sess = tf.Session()

    def work(i):
        try:
            for _ in range(2000):
                sess.run(c)
                if i == 0:
                    sess.close()
        except (RuntimeError, tf.errors.CancelledError) as e:
            assert "close" in str(e).lower()

    in_threads(4, work)


def test_a_step_may_close_its_own_session():
    sess = tf.Session()
    closes = tf.py_func(lambda: sess.close() or 1.0, [], tf.double)
    with pytest.raises(tf.errors.CancelledError, match="explicit call to `Session::Close"):
        sess.run(closes)
    with pytest.raises(RuntimeError, match="Attempted to use a closed Session."):
        sess.run(closes)


def test_an_empty_graph():
    with tf.Graph().as_default(), tf.Session() as sess:
        with pytest.raises(RuntimeError, match="The Session graph is empty"):
            sess.run([])
        with pytest.raises(RuntimeError, match="The Session graph is empty"):
            sess.run(())


def test_a_session_not_entered_is_no_default():
    sess = tf.Session()
    assert tf.get_default_session() is None
    c = tf.constant(10.0)
    with pytest.raises(ValueError, match="No default session is registered"):
        c.eval()
    assert sess.run(c) == 10.0
    assert c.eval(session=sess) == 10.0
    sess.close()


def test_an_interactive_session_is_the_default():
    sess = tf.InteractiveSession()
    try:
        assert tf.get_default_session() is sess
        assert (tf.constant(6.0) * 7.0).eval() == 42.0
    finally:
        sess.close()
    assert tf.get_default_session() is None


def test_a_second_interactive_session_warns():
    first = tf.InteractiveSession()
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        second = tf.InteractiveSession()
    assert any("An interactive session is already active" in str(w.message) for w in seen)
    second.close()
    first.close()


def test_an_interactive_session_places_only_what_it_runs():
    with tf.device("/gpu:77"):
        tf.constant(1.0, name="unreachable")
    c = tf.constant(2.0)
    sess = tf.InteractiveSession()
    try:
        assert c.eval() == 2.0
    finally:
        sess.close()


def test_a_plain_session_places_the_whole_graph():
    with tf.device("/gpu:77"):
        tf.constant(1.0, name="unreachable")
    c = tf.constant(2.0)
    with tf.Session() as sess:
        with pytest.raises(tf.errors.InvalidArgumentError, match="unreachable"):
            sess.run(c)


def test_two_sessions_share_a_graph_but_no_state():
    v = tf.Variable(1.0)
    add = v.assign_add(1.0)
    with tf.Session() as one, tf.Session() as two:
        one.run(v.initializer)
        two.run(v.initializer)
        one.run(add)
        assert one.run(v) == 2.0 and two.run(v) == 1.0


def test_sessions_nest():
    with tf.Session() as one:
        with tf.Session() as two:
            assert tf.get_default_session() is two
        assert tf.get_default_session() is one
    first, second = tf.Session().as_default(), tf.Session().as_default()
    first.__enter__()
    second.__enter__()
    with pytest.raises(AssertionError, match="Nesting violated"):
        first.__exit__(None, None, None)
    second.__exit__(None, None, None)
    first.__exit__(None, None, None)
    assert tf.get_default_session() is None


@pytest.mark.filterwarnings("ignore:An interactive session")
def test_interactive_sessions_nest():
    one = tf.InteractiveSession()
    two = tf.InteractiveSession()
    assert tf.get_default_session() is two
    two.close()
    assert tf.get_default_session() is one
    one.close()
    assert tf.get_default_session() is None


def test_as_default_does_not_close():
    c = tf.constant(37)
    sess = tf.Session()
    with sess.as_default():
        assert c.eval() == 37
    assert sess.run(c) == 37
    with sess.as_default():
        assert c.eval() == 37
    sess.close()


def test_a_session_may_be_entered_again_inside_itself():
    sess = tf.Session()
    c = tf.constant(1.0)
    with sess:
        with sess.as_default():
            assert c.eval() == 1.0
        assert c.eval() == 1.0


def test_open_and_close():
    for _ in range(20):
        with tf.Session() as sess:
            assert sess.run(tf.constant(1)) == 1
