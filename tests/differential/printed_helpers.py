"""Programs that save, queue, watch, log and test."""

import os
import tempfile
from typing import Any


def saver(tf: Any, np: Any, say: Any, fails: Any) -> None:
    d = tempfile.mkdtemp()
    v = tf.Variable([1.0, 2.0], name="v")
    w = tf.get_variable("w", [2], initializer=tf.ones_initializer())
    sv = tf.train.Saver(max_to_keep=2)
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        for i in range(3):
            say(os.path.basename(sv.save(s, d + "/m", global_step=i)))
        say(sorted(os.listdir(d)))
        say([os.path.basename(p) for p in sv.last_checkpoints])
        say(os.path.basename(tf.train.latest_checkpoint(d)))
        s.run(v.assign([9.0, 9.0]))
        sv.restore(s, tf.train.latest_checkpoint(d))
        say(s.run(v))
        say(tf.train.checkpoint_exists(d + "/m-2"))
        fails(sv.restore, s, None)

        def bad():
            sv.restore(s, "/nonexist/m")

        try:
            bad()
        except Exception as e:
            say(type(e).__name__)
    say(tf.train.list_variables(d + "/m-2"))
    say(tf.train.load_variable(d + "/m-2", "v"))
    r = tf.train.NewCheckpointReader(d + "/m-2")
    st = tf.train.get_checkpoint_state(d)
    say(os.path.basename(st.model_checkpoint_path))
    fails(tf.train.Saver, [])
    fails(tf.train.Saver, 3)
    with tf.Graph().as_default():
        fails(tf.train.Saver)
    say(tf.train.latest_checkpoint("/nonexist"))
    with tf.Graph().as_default():
        imp = tf.train.import_meta_graph(d + "/m-2.meta")
        with tf.Session() as s:
            imp.restore(s, d + "/m-2")
            say(s.run(["v:0", "w:0"]))
            say([o.name for o in tf.get_default_graph().get_operations()][:6])


def testcase(tf: Any, np: Any, say: Any, fails: Any) -> None:

    class T(tf.test.TestCase):

        def runTest(self):
            pass

    t = T()
    t.setUp()
    with t.session() as s:
        say(s.run(tf.constant(1)), tf.get_default_session() is s)
    with t.test_session() as s:
        say(tf.constant(1).eval())
    with t.cached_session() as s:
        say(tf.constant(2).eval())
    with t.session(use_gpu=False, graph=tf.Graph()) as s:
        say(s.run(tf.constant(3)))
    t.assertAllClose([1.0, 2.0], [1.0, 2.0 + 1e-08])
    t.assertAllEqual([1, 2], np.array([1, 2]))
    t.assertNear(1.0, 1.001, 0.01)
    t.assertShapeEqual(np.zeros((2, 3)), tf.zeros([2, 3]))
    t.assertAllInSet([1], [1, 2])
    t.assertAllGreater([2], 1)
    t.assertAllLess([2], 3)
    t.assertAllInRange([1, 2], 1, 2)
    t.assertArrayNear([1.0], [1.0], 0.1)
    t.assertNDArrayNear(np.ones(2), np.ones(2), 0.1)
    t.assertProtoEquals("name: 'a'", tf.NodeDef(name="a"))
    t.assertStartsWith("abc", "a")
    t.assertAllCloseAccordingToType(np.float16([1]), np.float16([1.0001]))
    t.assertDTypeEqual(np.ones(2, np.float32), tf.float32)
    t.assertNotAllClose([1.0], [2.0])
    t.assertNotAllEqual([1], [2])
    t.assertDeviceEqual("/cpu:0", "/device:CPU:0")
    t.assertEmpty([])
    t.assertLen([1], 1)
    t.assertBetween(1, 0, 2)
    t.assertRegex("abc", "b")

    def short(f, *a, **k):
        try:
            f(*a, **k)
            say("no")
        except AssertionError as e:
            say("AssertionError", len(str(e)) > 0)

    short(t.assertAllClose, [1.0], [1.1])
    short(t.assertAllEqual, [1], [2])
    short(t.assertAllEqual, [1], [1, 2])
    short(t.assertNear, 1.0, 2.0, 0.1)
    short(t.assertAllClose, {"a": 1}, {"b": 1})
    t.assertAllClose({"a": [1.0]}, {"a": [1.0]})
    short(t.assertShapeEqual, np.zeros(2), tf.zeros([3]))
    with t.test_session():
        with t.assertRaisesOpError("uninit"):
            tf.Variable(1.0).eval()
        with t.assertRaisesRegex(ValueError, "eval"):
            raise ValueError("eval")
        with t.assertRaisesWithPredicateMatch(ValueError, "x"):
            raise ValueError("xyz")
        with t.assertRaisesWithPredicateMatch(
            tf.errors.InvalidArgumentError, lambda e: "feed" in e.message
        ):
            tf.placeholder(tf.float32).eval()
        say(t.evaluate(tf.constant([1, 2])), t.evaluate({"a": tf.constant(1)}))
    say(
        tf.test.is_built_with_cuda(),
        tf.test.gpu_device_name(),
        tf.test.is_gpu_available(),
        os.path.isdir(t.get_temp_dir()),
        os.path.isdir(tf.test.get_temp_dir()),
    )


def logging(tf: Any, np: Any, say: Any, fails: Any) -> None:
    say(tf.logging.INFO, tf.logging.WARN, tf.logging.ERROR, tf.logging.DEBUG, tf.logging.FATAL)
    tf.logging.set_verbosity(tf.logging.INFO)
    tf.logging.info("hi %d", 3)
    tf.logging.warn("w")
    tf.logging.set_verbosity(tf.logging.ERROR)


def print_op(tf: Any, np: Any, say: Any, fails: Any) -> None:
    a = tf.constant([1.0, 2.0])
    p = tf.Print(a, [a, tf.shape(a)], message="msg", summarize=2)
    say(
        p, p.op.type, p.op.get_attr("message"), p.op.get_attr("summarize"), p.op.get_attr("first_n")
    )
    q = tf.Assert(tf.reduce_all(a > 0), [a])
    bad = tf.Assert(tf.reduce_all(a > 1), [a, "x"])
    with tf.Session() as s:
        say(s.run(p))
        s.run(q)
        fails(s.run, bad)
    o = tf.print("hello", a, {"k": a})
    say(o)


def queue(tf: Any, np: Any, say: Any, fails: Any) -> None:
    q = tf.FIFOQueue(3, [tf.int32], shapes=[[]])
    e = q.enqueue([5])
    m = q.enqueue_many([[1, 2]])
    d = q.dequeue()
    say(q.name, q.dtypes, q.shapes, q.names, e, m, d, q.size(), q.queue_ref)
    with tf.Session() as s:
        s.run(e)
        s.run(m)
        say(s.run(q.size()), s.run(d), s.run(q.dequeue_many(2)), s.run(q.is_closed()))
        s.run(q.close())
    r = tf.RandomShuffleQueue(10, 2, [tf.float32])
    say(r.name)
    p = tf.PaddingFIFOQueue(10, [tf.float32], [[None]])
    say(p.dequeue_many(2))
    fails(tf.FIFOQueue(1, [tf.int32]).dequeue_many, 2)
    fails(q.enqueue, [1.5])
    say(tf.PriorityQueue(10, [tf.int32], [[]]).name)


def coord(tf: Any, np: Any, say: Any, fails: Any) -> None:
    import threading

    c = tf.train.Coordinator()
    n = []

    def w():
        while not c.should_stop():
            n.append(1)
            c.request_stop() if len(n) > 3 else None

    t = threading.Thread(target=w)
    t.start()
    c.join([t])
    say(len(n), c.joined, c.should_stop())
    c2 = tf.train.Coordinator()
    try:
        with c2.stop_on_exception():
            raise ValueError("boom")
    except Exception as e:
        say(e)
    fails(c2.join)
    q = tf.train.input_producer([1, 2, 3], num_epochs=1, shuffle=False)
    d = q.dequeue()
    with tf.Session() as s:
        s.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        co = tf.train.Coordinator()
        th = tf.train.start_queue_runners(s, co)
        say([s.run(d) for _ in range(3)])
        co.request_stop()
        co.join(th)
    x = tf.train.slice_input_producer([[1, 2], [3, 4]], shuffle=False, num_epochs=1)
    say(x)
    b = tf.train.batch([tf.constant(1.0)], 2)
    say(b)
    say(tf.train.shuffle_batch([tf.constant(1.0)], 2, 10, 1))


def monitored(tf: Any, np: Any, say: Any, fails: Any) -> None:
    gs = tf.train.get_or_create_global_step()
    inc = tf.assign_add(gs, 1)
    v = tf.Variable(1.0)
    with tf.train.MonitoredTrainingSession(hooks=[tf.train.StopAtStepHook(3)]) as s:
        while not s.should_stop():
            say(s.run(inc))

    class H(tf.train.SessionRunHook):

        def begin(self):
            say("begin")

        def after_create_session(self, s, c):
            say("after_create")

        def before_run(self, c):
            say(
                "before",
                (
                    c.original_args.fetches.name
                    if hasattr(c.original_args.fetches, "name")
                    else c.original_args
                ),
            )
            return tf.train.SessionRunArgs(v)

        def after_run(self, c, r):
            say("after", r.results)

        def end(self, s):
            say("end")

    with tf.Graph().as_default():
        gs = tf.train.get_or_create_global_step()
        v = tf.Variable(1.0)
        inc = tf.assign_add(gs, 1)
        with tf.train.SingularMonitoredSession(hooks=[H()]) as s:
            s.run(inc)


def summaries(tf: Any, np: Any, say: Any, fails: Any) -> None:
    a = tf.summary.scalar("loss", 1.5)
    h = tf.summary.histogram("h", [1.0, 2.0, 3.0])
    m = tf.summary.merge_all()
    say(a, h, m, tf.summary.merge([a, h]))
    with tf.Session() as s:
        x = tf.Summary()
        x.ParseFromString(s.run(a))
        say(x)
        d = tempfile.mkdtemp()
        w = tf.summary.FileWriter(d, s.graph)
        w.add_summary(s.run(m), 1)
        w.flush()
        w.close()
        say(len(os.listdir(d)))
        y = tf.Summary()
        y.ParseFromString(s.run(h))
        say(y.value[0].tag, y.value[0].histo.num, y.value[0].histo.sum)
    e = [ev for f in os.listdir(d) for ev in tf.train.summary_iterator(os.path.join(d, f))]
    say(len(e), e[0].file_version, e[-1].step)
    say(tf.summary.merge_all("none"))
    fails(tf.summary.scalar, "a", [1.0, 2.0])
    say(tf.Summary(value=[tf.Summary.Value(tag="t", simple_value=1.0)]))


def metrics(tf: Any, np: Any, say: Any, fails: Any) -> None:
    a, u = tf.metrics.accuracy([1, 0, 1], [1, 1, 1])
    m, mu = tf.metrics.mean([1.0, 2.0, 6.0])
    say(a, u, m, mu, tf.local_variables())
    with tf.Session() as s:
        s.run(tf.local_variables_initializer())
        say(s.run([u, mu]))
        say(s.run([a, m]))
