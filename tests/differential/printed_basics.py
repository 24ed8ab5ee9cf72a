"""Programs that build graphs, make variables, feed and fetch."""

import collections
from typing import Any


def graph_basics(tf: Any, np: Any, say: Any, fails: Any) -> None:
    g = tf.Graph()
    with g.as_default():
        a = tf.constant([1.0, 2.0], name="a")
        b = tf.constant(3.0)
        c = a * b + 1
        say(a, b, c, c.op.name, c.graph is g)
        say(g.get_tensor_by_name("a:0") is a, [o.name for o in g.get_operations()])
        say(repr(a), repr(a.op)[:80])
        say(str(a.op.node_def))
        say(c.op.type)
        fails(g.get_tensor_by_name, "a")
        fails(g.get_operation_by_name, "a:0")
        fails(g.get_tensor_by_name, "zz:0")
        fails(g.get_operation_by_name, "zz")
        fails(g.get_tensor_by_name, "a:1")
        fails(g.as_graph_element, 3)
        fails(g.get_tensor_by_name, 3)
        say(g.as_graph_element("a"), g.as_graph_element("a:0"))
        say(
            g.unique_name("a"),
            g.unique_name("a"),
            g.unique_name("q", mark_as_used=False),
            g.unique_name("q"),
        )
        say(g.version, g.finalized, g.seed, g.building_function)
        g.finalize()
        fails(tf.constant, 1)
        say(g.is_feedable(a), g.is_fetchable(a), g.get_name_scope())


def var_scopes(tf: Any, np: Any, say: Any, fails: Any) -> None:
    with tf.variable_scope("foo") as s:
        v = tf.get_variable("v", [1])
        say(v.name, s.name, s.reuse, s.original_name_scope)
        with tf.variable_scope("bar"):
            w = tf.get_variable("w", [2, 2], initializer=tf.zeros_initializer())
            say(w)
            assert tf.get_variable_scope().name == "foo/bar"

    def again():
        with tf.variable_scope("foo"):
            tf.get_variable("v", [1])

    fails(again)
    with tf.variable_scope("foo", reuse=True):
        say(tf.get_variable("v") is v, tf.get_variable("v", [1]) is v)
        fails(tf.get_variable, "v", [2])
        fails(tf.get_variable, "nov", [2])
        fails(tf.get_variable, "v", [1], dtype=tf.int32)
    with tf.variable_scope("foo", reuse=tf.AUTO_REUSE):
        say(tf.get_variable("v", [1]) is v, tf.get_variable("n", [1]).name)
    with tf.variable_scope(s):
        say(tf.get_variable_scope().name, tf.constant(1, name="c").name)
    with tf.variable_scope(None, "dflt"):
        say(tf.get_variable("x", []).name)
    with tf.variable_scope(None, "dflt"):
        say(tf.get_variable("x", []).name)
    with tf.variable_scope("r") as sc:
        tf.get_variable("x", [])
        sc.reuse_variables()
        say(sc.reuse)
        say(tf.get_variable("x", []).name)
        fails(tf.get_variable, "y", [])
    say(
        [x.name for x in tf.global_variables()],
        [x.name for x in tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES, scope="foo")],
    )
    say([x.name for x in tf.trainable_variables("foo/")])


def get_variable_kinds(tf: Any, np: Any, say: Any, fails: Any) -> None:
    v = tf.get_variable("a", shape=(2, 3), initializer=tf.constant_initializer(2.5))
    say(v.shape, v.dtype, v.op.type, v.initializer.name, v.initial_value)
    w = tf.get_variable("b", initializer=np.ones((2, 2), np.float32))
    say(w.shape, w.dtype)
    fails(tf.get_variable, "c", shape=[2], initializer=tf.constant([1.0, 2.0]))
    fails(tf.get_variable, "d")
    fails(tf.get_variable, "e", [None, 2])
    fails(tf.get_variable, "a", [2, 3])
    x = tf.get_variable("i", [2], dtype=tf.int32)
    say(x, x.initializer.inputs[1])
    fails(tf.get_variable, "s", [2], dtype=tf.string)
    y = tf.get_variable("nt", [2], trainable=False)
    say([q.name for q in tf.trainable_variables()])
    z = tf.get_variable("loc", [2], collections=[tf.GraphKeys.LOCAL_VARIABLES])
    say(tf.local_variables())
    r = tf.get_variable("reg", [2], regularizer=lambda w: tf.reduce_sum(w * w, name="rs"))
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        say(s.run([v, w, x]))
        fails(s.run, z)
        s.run(tf.local_variables_initializer())
        say(s.run(z).shape)
        say(s.run(tf.report_uninitialized_variables()))
        say(s.run(tf.is_variable_initialized(v)))


def scope_settings(tf: Any, np: Any, say: Any, fails: Any) -> None:
    with tf.variable_scope(
        "s", initializer=tf.constant_initializer(0.4), dtype=tf.float64, regularizer=lambda w: None
    ) as sc:
        v = tf.get_variable("v", [1])
        say(
            v.dtype,
            sc.initializer is not None,
            sc.dtype,
            sc.regularizer is not None,
            sc.caching_device,
            sc.partitioner,
            sc.use_resource,
            sc.custom_getter,
            sc.constraint,
        )
        sc.set_initializer(tf.zeros_initializer())
        w = tf.get_variable("w", [1])
        sc.set_dtype(tf.float32)
        say(tf.get_variable("z", [1]).dtype)

    def getter(getter, name, *a, **k):
        say("asked", name, sorted(k))
        return getter(name, *a, **k) * 2

    with tf.variable_scope("g", custom_getter=getter):
        x = tf.get_variable("x", [2], initializer=tf.ones_initializer())
        say(x)
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        say(s.run([v, w, x]))
    with tf.variable_scope("a", auxiliary_name_scope=False):
        say(tf.constant(1).name, tf.get_variable("q", [1]).name)
    with tf.name_scope("ns"):
        with tf.variable_scope("vs"):
            say(tf.get_variable("q", [1]).name, tf.constant(1).name)


def regularized_parts(tf: Any, np: Any, say: Any, fails: Any) -> None:
    with tf.variable_scope("p", partitioner=tf.fixed_size_partitioner(2)):
        tf.layers.dense(tf.ones([2, 4]), 3, kernel_initializer=tf.ones_initializer(), kernel_regularizer=lambda v: tf.reduce_sum(v) * 0.5)
    losses = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        say(len(losses), sess.run(losses))


def partitioner(tf: Any, np: Any, say: Any, fails: Any) -> None:
    with tf.variable_scope("p", partitioner=tf.fixed_size_partitioner(2)):
        v = tf.get_variable("v", [5, 2], initializer=tf.zeros_initializer())
        say(type(v).__name__, v.name, [p.name for p in v], v.shape, v.dtype)
        say(tf.convert_to_tensor(v))
        say(len(list(v)), v.as_tensor(), v.get_shape())
    w = tf.get_variable("w", [10, 4], partitioner=tf.variable_axis_size_partitioner(64))
    say([q.shape for q in w])
    x = tf.get_variable(
        "x",
        [10, 4],
        partitioner=tf.min_max_variable_partitioner(max_partitions=3, min_slice_size=16),
    )
    say([q.shape for q in x])
    say([v.name for v in tf.global_variables()])
    y = tf.nn.embedding_lookup(v, [0, 4])
    say(y)
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        say(s.run(y))


def device_fn(tf: Any, np: Any, say: Any, fails: Any) -> None:

    def f(n):
        return "/gpu:0" if n.type == "MatMul" else "/cpu:0"

    with tf.Graph().as_default() as g:
        with g.device(f):
            a = tf.constant([[1.0]])
            b = tf.matmul(a, a)
            say(a.device, b.device)
        with g.device("/job:ps/task:1"):
            with g.device("/cpu:0"):
                say(tf.constant(1).device)
            with g.device(None):
                say(repr(tf.constant(1).device))
            with g.device("/job:worker"):
                say(tf.constant(1).device)

        def wrong(d):
            with g.device(d):
                tf.constant(1)

        fails(wrong, "/devise:CPU:0")
        fails(wrong, "/gpu:a")


def replica_setter(tf: Any, np: Any, say: Any, fails: Any) -> None:
    cluster = tf.train.ClusterSpec({"ps": ["a:1", "b:2"], "worker": ["c:3", "d:4"]})
    say(
        cluster.as_dict(),
        cluster.jobs,
        cluster.num_tasks("ps"),
        cluster.task_address("ps", 1),
        cluster.job_tasks("worker"),
        cluster == tf.train.ClusterSpec(cluster),
        bool(cluster),
    )
    say(repr(cluster))
    fails(cluster.num_tasks, "x")
    fails(cluster.task_address, "ps", 7)
    fails(tf.train.ClusterSpec, [1])
    with tf.device(
        tf.train.replica_device_setter(cluster=cluster, worker_device="/job:worker/task:1")
    ):
        v = [tf.Variable(float(i)) for i in range(3)]
        c = tf.constant(1.0)
        say([x.device for x in v], c.device, v[0].initializer.device)
    with tf.device(tf.train.replica_device_setter(ps_tasks=3)):
        say([tf.Variable(1.0).device for _ in range(4)], tf.constant(1).device)
    say(tf.train.replica_device_setter(ps_tasks=0))
    with tf.device(tf.train.replica_device_setter(ps_tasks=2, merge_devices=False)):
        with tf.device("/cpu:0"):
            say(tf.Variable(1.0).device)
    fails(tf.train.replica_device_setter, cluster=3)


def fetch_struct(tf: Any, np: Any, say: Any, fails: Any) -> None:
    NT = collections.namedtuple("NT", "a b")
    a = tf.constant(1)
    b = tf.constant(2.0)
    with tf.Session() as s:
        say(s.run(NT(a, b)))
        say(s.run(NT(a, NT(b, [a]))))
        say(s.run(collections.OrderedDict([("z", a), ("y", b)])))
        say(s.run([a, [b, [a, (b,)]]]))
        say(s.run([a, a, a]))
        say(s.run(tf.no_op()))
        say(s.run([tf.no_op(), a]))
        say(type(s.run(a)), type(s.run([a])), type(s.run((a,))))
        say(s.run(tf.IndexedSlices(tf.constant([[1.0, 2.0]]), tf.constant([3]))))
        v = tf.Variable(3.0)
        s.run(v.initializer)
        say(s.run(v), s.run([v, v.op]), s.run(v + 1))
        f = s.make_callable([a, b])
        say(f())
        p = tf.placeholder(tf.float32)
        g = s.make_callable(p * 2, feed_list=[p])
        say(g(4))
        say(s.make_callable(tf.no_op())(), None)


def collections_of_a_graph(tf: Any, np: Any, say: Any, fails: Any) -> None:
    tf.add_to_collection("c", 1)
    tf.add_to_collection("c", 2)
    tf.add_to_collections(["c", "d"], 3)
    say(
        tf.get_collection("c"),
        tf.get_collection("d"),
        tf.get_collection("none"),
        tf.get_collection_ref("c") is tf.get_collection_ref("c"),
    )
    g = tf.get_default_graph()
    say(sorted(map(str, g.get_all_collection_keys())), g.collections)
    g.clear_collection("c")
    say(tf.get_collection("c"))
    say([k for k in dir(tf.GraphKeys) if k.isupper()])
    say({k: getattr(tf.GraphKeys, k) for k in dir(tf.GraphKeys) if k.isupper()})


def session_config(tf: Any, np: Any, say: Any, fails: Any) -> None:
    c = tf.ConfigProto(
        allow_soft_placement=True,
        intra_op_parallelism_threads=2,
        device_count={"CPU": 2},
        gpu_options=tf.GPUOptions(allow_growth=True, per_process_gpu_memory_fraction=0.25),
    )
    c.graph_options.optimizer_options.opt_level = tf.OptimizerOptions.L0
    c.inter_op_parallelism_threads = 1
    say(c)
    fails(tf.ConfigProto, nope=1)
    fails(setattr, c, "nope", 1)
    fails(setattr, c, "allow_soft_placement", "x")
    with tf.Session(config=c) as s:
        say([d.name for d in s.list_devices()], [d.device_type for d in s.list_devices()])
    fails(tf.Session, config=3)
    fails(tf.Session, target=3)
    fails(tf.Session, graph=3)
    s = tf.Session()
    say(s.graph is tf.get_default_graph(), s.sess_str, s.graph_def.node[:0])
    s.close()
    fails(s.run, tf.constant(1))
    s.close()
    say(tf.get_default_session())
    with tf.Session() as s:
        say(tf.get_default_session() is s)
        say(tf.constant(4).eval())
    fails(tf.constant(4).eval)
    fails(tf.no_op().run)
    fails(tf.constant(4).eval, session=3)
    with tf.Session(graph=tf.Graph()) as s2:
        say(s2.graph is tf.get_default_graph())
    fails(tf.Session().run, tf.constant(1))


def interactive(tf: Any, np: Any, say: Any, fails: Any) -> None:
    s = tf.InteractiveSession()
    a = tf.constant(2.0)
    say((a * 3).eval())
    v = tf.Variable(1.0)
    v.initializer.run()
    say(v.eval())
    tf.global_variables_initializer().run()
    v.assign(5.0).eval()
    say(v.eval())
    s.close()
