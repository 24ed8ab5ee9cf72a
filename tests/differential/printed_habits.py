"""What training programs have around their nets: hooks, queues, checkpoints, averages, scopes, towers."""

import collections
import os
import tempfile
from typing import Any


def monitored_with_hooks(tf: Any, np: Any, say: Any, fails: Any) -> None:
    d = tempfile.mkdtemp()
    gs = tf.train.get_or_create_global_step()
    x = tf.Variable(5.0, name="x")
    loss = tf.square(x)
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=gs)
    tf.summary.scalar("loss", loss)

    class Log(tf.train.SessionRunHook):

        def begin(self):
            self.n = 0

        def before_run(self, ctx):
            return tf.train.SessionRunArgs({"l": loss, "g": gs})

        def after_run(self, ctx, vals):
            self.n += 1
            if vals.results["g"] >= 4:
                ctx.request_stop()

        def end(self, sess):
            say("end", self.n)

    hooks = [
        Log(),
        tf.train.NanTensorHook(loss),
        tf.train.StepCounterHook(every_n_steps=2, output_dir=d),
    ]
    with tf.train.MonitoredTrainingSession(
        checkpoint_dir=d,
        hooks=hooks,
        save_checkpoint_secs=None,
        save_checkpoint_steps=2,
        save_summaries_steps=2,
        log_step_count_steps=None,
    ) as s:
        while not s.should_stop():
            s.run(train)
    say(
        sorted((f.split("-")[0] for f in os.listdir(d) if "events" not in f)),
        any(("events" in f for f in os.listdir(d))),
    )
    with tf.train.MonitoredTrainingSession(
        checkpoint_dir=d,
        save_checkpoint_secs=None,
        save_summaries_steps=None,
        log_step_count_steps=None,
    ) as s:
        say(s.run(gs), np.round(s.run(x), 4))


def queue_pipeline(tf: Any, np: Any, say: Any, fails: Any) -> None:
    names = tf.train.string_input_producer(["a", "b", "c"], num_epochs=2, shuffle=False)
    item = names.dequeue()
    batch = tf.train.batch([item], batch_size=2, allow_smaller_final_batch=True)
    with tf.Session() as s:
        s.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess=s, coord=coord)
        got = []
        try:
            while not coord.should_stop():
                got += list(s.run(batch))
        except tf.errors.OutOfRangeError:
            say("done training -- epoch limit reached")
        finally:
            coord.request_stop()
        coord.join(threads)
        say(got)


def feeding_queue(tf: Any, np: Any, say: Any, fails: Any) -> None:
    import threading

    x = tf.placeholder(tf.float32, [2])
    q = tf.RandomShuffleQueue(20, 4, [tf.float32], shapes=[[2]], seed=1)
    enq, deq = (q.enqueue([x]), q.dequeue_many(4))
    close = q.close()
    with tf.Session() as s:

        def load():
            for i in range(12):
                s.run(enq, {x: [i, i]})
            s.run(close)

        t = threading.Thread(target=load)
        t.start()
        total = 0
        try:
            while True:
                total += s.run(deq).sum()
        except tf.errors.OutOfRangeError as e:
            say(type(e).__name__)
        t.join()
        say(total)


def saver_restore(tf: Any, np: Any, say: Any, fails: Any) -> None:
    d = tempfile.mkdtemp()
    with tf.Graph().as_default():
        v1 = tf.get_variable("v1", shape=[3], initializer=tf.zeros_initializer)
        v2 = tf.get_variable("v2", shape=[5], initializer=tf.zeros_initializer)
        inc, dec = (v1.assign(v1 + 1), v2.assign(v2 - 1))
        init = tf.global_variables_initializer()
        sv = tf.train.Saver()
        with tf.Session() as s:
            s.run(init)
            inc.op.run()
            dec.op.run()
            say(os.path.basename(sv.save(s, d + "/model.ckpt")))
    with tf.Graph().as_default():
        v2 = tf.get_variable("v2", [5], initializer=tf.zeros_initializer)
        sv = tf.train.Saver({"v2": v2})
        with tf.Session() as s:
            say(s.run(tf.report_uninitialized_variables()))
            sv.restore(s, d + "/model.ckpt")
            say(v2.eval())
        v3 = tf.get_variable("v3", [2], initializer=tf.ones_initializer)
        sv = tf.train.Saver()
        with tf.Session() as s:
            fails(sv.restore, s, d + "/model.ckpt")
    say(sorted(os.listdir(d)))


def ema_shadow(tf: Any, np: Any, say: Any, fails: Any) -> None:
    d = tempfile.mkdtemp()
    v = tf.Variable(1.0, name="v")
    ema = tf.train.ExponentialMovingAverage(0.9, num_updates=None)
    with tf.control_dependencies([tf.assign(v, 5.0)]):
        m = ema.apply([v])
    say(ema.average(v).name, ema.average_name(v), [x.name for x in tf.global_variables()])
    sv = tf.train.Saver()
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        for _ in range(2):
            s.run(m)
            say(np.round(s.run([v, ema.average(v)]), 4))
        sv.save(s, d + "/m")
    with tf.Graph().as_default():
        v = tf.Variable(0.0, name="v")
        ema = tf.train.ExponentialMovingAverage(0.9)
        names = ema.variables_to_restore()
        say({k: x.name for k, x in names.items()})
        with tf.Session() as s:
            tf.train.Saver(names).restore(s, d + "/m")
            say(np.round(s.run(v), 4))


def custom_grad(tf: Any, np: Any, say: Any, fails: Any) -> None:

    @tf.custom_gradient
    def clip(x):

        def grad(dy):
            return tf.clip_by_norm(dy, 0.5)

        return (tf.identity(x), grad)

    x = tf.Variable([3.0, 4.0])
    y = tf.reduce_sum(clip(x) * 10.0)
    g = tf.gradients(y, x)

    @tf.RegisterGradient("HardSign_pp")
    def _g(op, grad):
        return 2.0 * grad

    with tf.get_default_graph().gradient_override_map({"Sign": "HardSign_pp"}):
        z = tf.sign(x)
    g2 = tf.gradients(z, x)
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        say(s.run(g), s.run(g2), z.op.get_attr("_gradient_op_type"))
    say(g2[0].name)


def scopes_with_parts(tf: Any, np: Any, say: Any, fails: Any) -> None:
    with tf.variable_scope(
        "foo",
        regularizer=lambda w: 0.1 * tf.reduce_sum(w * w),
        initializer=tf.constant_initializer(2.0),
    ) as sc:
        a = tf.get_variable("a", [2])
        b = tf.get_variable("b", [4, 2], partitioner=tf.fixed_size_partitioner(2))
        say(a.name, [p.name for p in b], b.get_shape(), len(tf.losses.get_regularization_losses()))
        with tf.variable_scope("bar", reuse=tf.AUTO_REUSE):
            c = tf.get_variable("c", [])
            say(tf.get_variable("c", []) is c)
    with tf.variable_scope(sc, reuse=True):
        say(tf.get_variable("a", [2]) is a)
        fails(tf.get_variable, "zz", [1])
        fails(tf.get_variable, "a", [3])
    fails(tf.get_variable, "foo/a", [2])
    with tf.variable_scope("foo", default_name="x"):
        fails(tf.get_variable, "a", [2])
    with tf.variable_scope(None, "dense"):
        say(tf.get_variable("k", [1]).name)
    with tf.variable_scope(None, "dense"):
        say(
            tf.get_variable("k", [1]).name,
            tf.get_variable_scope().name,
            tf.get_variable_scope().original_name_scope,
        )
    with tf.variable_scope("o"), tf.name_scope("n"):
        say(
            tf.get_variable("v", [1]).name,
            tf.Variable(1.0, name="w").name,
            tf.constant(1, name="c").name,
        )
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        say(s.run(tf.convert_to_tensor(b)), np.round(s.run(tf.losses.get_regularization_loss()), 3))


def asserts_in_graphs(tf: Any, np: Any, say: Any, fails: Any) -> None:
    x = tf.placeholder(tf.float32, [None], name="x")
    with tf.control_dependencies(
        [tf.assert_positive(x, message="pos"), tf.assert_less(x, 10.0, data=["too big", x])]
    ):
        y = tf.identity(x)
    with tf.Session() as s:
        say(s.run(y, {x: [1, 2]}))
        fails(s.run, y, {x: [1, 20]})
        fails(s.run, y, {x: [-1, 2]})
        fails(s.run, tf.assert_equal(tf.shape(x), [3]), {x: [1]})
        fails(s.run, tf.Assert(x[0] > 5, [x, "msg"]), {x: [1]})
    fails(tf.assert_equal, 1, 2)
    fails(tf.assert_rank, x, 2)
    say(tf.assert_rank(x, 1))
    fails(tf.assert_type, x, tf.int32)
    fails(tf.assert_scalar, tf.constant([1]))
    say(tf.debugging.assert_integer(1))
    fails(tf.assert_integer, 1.5)
    fails(tf.assert_non_negative, [-1])
    fails(tf.assert_greater_equal, [1], [2])


def devices_fn(tf: Any, np: Any, say: Any, fails: Any) -> None:
    with tf.device(tf.train.replica_device_setter(ps_tasks=2, worker_device="/job:worker/task:3")):
        v = [tf.Variable(1.0, name="v%d" % i) for i in range(3)]
        y = v[0] + v[1]
        w = tf.get_variable("w", [2])
    say([x.device for x in v], y.device, w.device, w.initializer.device)
    cl = tf.train.ClusterSpec({"ps": ["a:1", "b:2"], "worker": ["c:3"]})
    say(cl.as_dict(), cl.jobs, cl.num_tasks("ps"), cl.task_address("ps", 1), cl.job_tasks("worker"))
    with tf.device(tf.train.replica_device_setter(cluster=cl)):
        say(tf.Variable(1).device, tf.constant(1).device)
    with tf.device("/gpu:0"), tf.device(lambda op: "/cpu:0" if op.type == "Const" else ""):
        say(tf.constant(1.0).device, tf.square(2.0).device)
    with tf.device("/job:a"), tf.device("/gpu:1"), tf.device(None):
        say(repr(tf.constant(1).device))
    say(tf.DeviceSpec(job="ps", task=0, device_type="CPU", device_index=0).to_string())


def template_called_twice(tf: Any, np: Any, say: Any, fails: Any) -> None:

    def layer(x, n, scale=1.0):
        w = tf.get_variable("w", [int(x.shape[1]), n], initializer=tf.ones_initializer())
        return tf.matmul(x, w) * scale

    t = tf.make_template("lay", layer, n=2)
    a, b = (t(tf.ones([1, 3])), t(tf.ones([2, 3]), scale=2.0))
    say(
        a.name,
        b.name,
        t.variables,
        t.name,
        t.variable_scope.name,
        [v.name for v in tf.global_variables()],
    )
    fails(t, tf.ones([1, 4]))
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        say(s.run([a, b]))


def summaries_read_back(tf: Any, np: Any, say: Any, fails: Any) -> None:
    d = tempfile.mkdtemp()
    x = tf.placeholder(tf.float32)
    with tf.name_scope("sum"):
        tf.summary.scalar("x", x)
        tf.summary.histogram("h", x * tf.ones([3]))
    tf.summary.image("im", tf.zeros([1, 2, 2, 3]))
    tf.summary.text("t", tf.constant("hello"))
    m = tf.summary.merge_all()
    w = tf.summary.FileWriter(d, tf.get_default_graph())
    with tf.Session() as s:
        for i in range(3):
            w.add_summary(s.run(m, {x: i}), i)
    w.close()
    tags = collections.Counter()
    for f in os.listdir(d):
        for e in tf.train.summary_iterator(os.path.join(d, f)):
            for v in e.summary.value:
                tags[v.tag, v.WhichOneof("value")] += 1
    say(sorted(tags.items()))


def decays(tf: Any, np: Any, say: Any, fails: Any) -> None:
    gs = tf.placeholder(tf.int32, [], name="gs")
    rates = [
        tf.train.exponential_decay(0.1, gs, 10, 0.9),
        tf.train.exponential_decay(0.1, gs, 10, 0.9, staircase=True),
        tf.train.piecewise_constant(gs, [5, 15], [1.0, 0.5, 0.1]),
        tf.train.polynomial_decay(0.1, gs, 20, 0.01, power=2.0),
        tf.train.polynomial_decay(0.1, gs, 20, 0.01, cycle=True),
        tf.train.natural_exp_decay(0.1, gs, 10, 0.5),
        tf.train.inverse_time_decay(0.1, gs, 10, 0.5),
        tf.train.cosine_decay(0.1, gs, 20),
        tf.train.cosine_decay_restarts(0.1, gs, 8),
        tf.train.linear_cosine_decay(0.1, gs, 20),
    ]
    say([r.name for r in rates])
    with tf.Session() as s:
        for k in (0, 7, 15, 33):
            say(np.round(s.run(rates, {gs: k}), 5))


def collections_prog(tf: Any, np: Any, say: Any, fails: Any) -> None:
    v = tf.Variable(1.0, name="a")
    tf.add_to_collection("mine", v)
    tf.add_to_collections(["x", "mine"], 3)
    say(
        tf.get_collection("mine"),
        tf.get_collection("x"),
        tf.get_collection("none"),
        tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES, scope="a"),
        sorted(tf.get_default_graph().get_all_collection_keys()),
    )
    r = tf.get_collection_ref("mine")
    r.append(7)
    say(len(tf.get_collection("mine")))
    tf.get_default_graph().clear_collection("mine")
    say(tf.get_collection("mine"))


def flags_app(tf: Any, np: Any, say: Any, fails: Any) -> None:
    import sys

    f = tf.flags
    F = f.FLAGS
    f.DEFINE_integer("pp_batch", 10, "Batch size.")
    f.DEFINE_float("pp_lr", 0.1, "rate")
    f.DEFINE_string("pp_dir", "/tmp", "d")
    f.DEFINE_boolean("pp_fake", False, "b")
    tf.app.flags.DEFINE_bool("pp_b2", True, "b")
    f.DEFINE_enum("pp_e", "a", ["a", "b"], "e")
    f.DEFINE_list("pp_l", "1,2", "l")
    f.DEFINE_multi_string("pp_ms", ["q"], "m")
    old = sys.argv
    sys.argv = [
        "prog",
        "--pp_batch=3",
        "--pp_lr",
        "0.5",
        "--pp_fake",
        "--nopp_b2",
        "--pp_l=a,b,c",
        "rest",
    ]

    def main(argv):
        say(argv, F.pp_batch, F.pp_lr, F.pp_dir, F.pp_fake, F.pp_b2, F.pp_e, F.pp_l, F.pp_ms)

    try:
        tf.app.run(main)
    except SystemExit as e:
        say("exit", e.code)
    sys.argv = old
    fails(lambda: F.pp_nothing)
    F.pp_batch = 9
    say(F.pp_batch, F["pp_lr"].value)


def towers(tf: Any, np: Any, say: Any, fails: Any) -> None:
    tf.set_random_seed(1)

    def average_gradients(tg):
        out = []
        for gv in zip(*tg):
            g = tf.reduce_mean(tf.concat([tf.expand_dims(g, 0) for g, _ in gv], 0), 0)
            out.append((g, gv[0][1]))
        return out

    with tf.device("/cpu:0"):
        gs = tf.get_variable(
            "global_step", [], initializer=tf.constant_initializer(0), trainable=False
        )
        lr = tf.train.exponential_decay(0.1, gs, 2, 0.5, staircase=True)
        opt = tf.train.GradientDescentOptimizer(lr)
        tg = []
        with tf.variable_scope(tf.get_variable_scope()):
            for i in range(2):
                with tf.device("/cpu:0"), tf.name_scope("tower_%d" % i) as scope:
                    x = tf.constant(np.random.RandomState(i).rand(4, 3), tf.float32)
                    W = tf.get_variable(
                        "W", [3, 1], initializer=tf.truncated_normal_initializer(stddev=0.1)
                    )
                    l = tf.reduce_mean(tf.square(tf.matmul(x, W) - 1.0), name="l")
                    tf.add_to_collection("losses", l)
                    losses = tf.get_collection("losses", scope)
                    total = tf.add_n(losses, name="total")
                    tf.get_variable_scope().reuse_variables()
                    say(scope, losses)
                    tg.append(opt.compute_gradients(total))
        grads = average_gradients(tg)
        apply = opt.apply_gradients(grads, global_step=gs)
        ema = tf.train.ExponentialMovingAverage(0.99, gs)
        avg = ema.apply(tf.trainable_variables())
        train = tf.group(apply, avg)
        saver = tf.train.Saver(tf.global_variables())
    s = tf.Session(config=tf.ConfigProto(allow_soft_placement=True))
    s.run(tf.global_variables_initializer())
    for _ in range(4):
        s.run(train)
    say(np.round(s.run(W), 4), s.run([gs, lr]))
    s.close()


def partial(tf: Any, np: Any, say: Any, fails: Any) -> None:
    a = tf.placeholder(tf.float32, [])
    b = tf.placeholder(tf.float32, [])
    c = tf.placeholder(tf.float32, [])
    r1 = a + b
    r2 = r1 * c
    with tf.Session() as s:
        h = s.partial_run_setup([r1, r2], [a, b, c])
        res = s.partial_run(h, r1, {a: 1, b: 2})
        say(res)
        say(s.partial_run(h, r2, {c: res}))
        fails(s.partial_run, h, r2)


def py_func(tf: Any, np: Any, say: Any, fails: Any) -> None:

    def f(x, y):
        return (np.sinh(x) + y, np.int32(len(x)))

    a, n = tf.py_func(f, [tf.constant([1.0, 2.0]), 3.0], [tf.float32, tf.int32])
    say(a, n)
    a.set_shape([2])
    with tf.Session() as s:
        say(np.round(s.run(a), 3), s.run(n))
        fails(s.run, tf.py_func(lambda: 1 / 0, [], tf.int64))


def printing(tf: Any, np: Any, say: Any, fails: Any) -> None:
    a = tf.Print(
        tf.constant([1.0, 2.0, 3.0]), [tf.constant("x"), 5], "msg: ", summarize=2, first_n=1
    )
    with tf.Session() as s:
        say(s.run(a))
        say(s.run(a))


def while_things(tf: Any, np: Any, say: Any, fails: Any) -> None:
    i, j, out = (
        tf.constant(0),
        tf.constant([1, 1]),
        tf.TensorArray(tf.int32, 0, dynamic_size=True),
    )

    def body(i, j, out):
        return (i + 1, tf.concat([j, [j[-1] + j[-2]]], 0), out.write(i, j[-1]))

    r = tf.while_loop(
        lambda i, j, out: i < 6,
        body,
        [i, j, out],
        shape_invariants=[i.get_shape(), tf.TensorShape([None]), tf.TensorShape(None)],
    )
    with tf.Session() as s:
        say(s.run([r[1], r[2].stack()]))
    x = tf.constant(2.0)
    y = tf.while_loop(lambda k, v: k < 3, lambda k, v: (k + 1, v * x), [0, x])[1]
    v = tf.Variable(0)
    loop = tf.while_loop(
        lambda k: k < 4,
        lambda k: tf.tuple([k + 1], control_inputs=[v.assign_add(k)])[0],
        [0],
        parallel_iterations=1,
    )
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        say(s.run([y, tf.gradients(y, x)[0]]))
        say(s.run(loop), s.run(v))
    fails(tf.while_loop, lambda i: i < 3, lambda i: tf.constant([1]), [0])
    fails(tf.while_loop, lambda i: i, lambda i: i + 1, [0])
    say(
        tf.map_fn(lambda x: x * 2, tf.constant([1, 2])),
        tf.scan(lambda a, x: a + x, tf.constant([1.0, 2.0])),
        tf.foldl(lambda a, x: a + x, tf.constant([1.0, 2.0])),
    )
