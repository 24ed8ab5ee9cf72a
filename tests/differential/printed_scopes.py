"""Variables and the scopes they live in, savers, files: as users write them."""

import os
import tempfile
from typing import Any


def reuse_rules(tf: Any, np: Any, say: Any, fails: Any) -> None:
    with tf.variable_scope("a"):
        v = tf.get_variable("v", [2])
        fails(tf.get_variable, "v", [2])
    with tf.variable_scope("a", reuse=True):
        say(tf.get_variable("v") is v, tf.get_variable("v", [2]) is v)
        fails(tf.get_variable, "w", [2])
        fails(tf.get_variable, "v", [3])
        fails(tf.get_variable, "v", [2], tf.int32)
    with tf.variable_scope("a", reuse=tf.AUTO_REUSE) as sc:
        say(sc.reuse, sc.name, sc.original_name_scope)
        w = tf.get_variable("w", [])
        say(tf.get_variable("w", []) is w)
    fails(tf.get_variable, "noshape")
    fails(tf.get_variable, "bad", initializer=tf.zeros_initializer())
    say(tf.get_variable("k", initializer=np.float32(3)).shape, tf.get_variable("k2", initializer=[1, 2]).dtype)
    fails(tf.get_variable, "k3", [2], initializer=tf.constant([1.0, 2.0]))
    with tf.variable_scope("b"):
        with tf.variable_scope("c", reuse=True) as inner:
            say(inner.name, inner.reuse)
            fails(tf.get_variable, "x", [1])
            with tf.variable_scope("d") as dd:
                say(dd.reuse, dd.name)
            with tf.variable_scope(sc) as back:
                say(back.name, back.reuse, tf.get_variable("v", [2]).name, tf.constant(1).name)
    with tf.variable_scope("b"):
        say(tf.constant(1.0).name, tf.get_variable("q", []).name, tf.get_variable("q2", []).op.name)
    with tf.variable_scope(None, default_name="blk") as s1:
        say(s1.name)
    with tf.variable_scope(None, default_name="blk") as s2:
        say(s2.name, tf.get_variable("y", []).name)
    with tf.variable_scope(None, "blk", [v]) as s3:
        say(s3.name)
    fails(tf.variable_scope, None)
    with tf.variable_scope("root_reuse"):
        tf.get_variable_scope().reuse_variables()
        say(tf.get_variable_scope().reuse)
        fails(tf.get_variable, "zz", [1])
    say(tf.get_variable_scope().reuse, repr(tf.get_variable_scope().name))
    say([x.name for x in tf.trainable_variables("a/")], [x.name for x in tf.global_variables("b")])


def name_and_variable_scopes(tf: Any, np: Any, say: Any, fails: Any) -> None:
    with tf.name_scope("ns"):
        a = tf.get_variable("a", [])
        b = tf.Variable(1.0, name="b")
        c = tf.add(a, b, name="c")
        say(a.name, b.name, c.name)
        with tf.variable_scope("vs"):
            say(tf.get_variable("a", []).name, tf.Variable(1.0, name="b").name, tf.constant(1).name)
        with tf.name_scope("ns") as s:
            say(s)
        with tf.name_scope(None) as s:
            say(repr(s), tf.constant(1).name)
        with tf.name_scope("ns/"):
            say(tf.constant(1).name)
    with tf.variable_scope("vs"):
        say(tf.constant(1).name)
        with tf.variable_scope("vs", auxiliary_name_scope=False):
            say(tf.constant(1).name, tf.get_variable("z", []).name)
    with tf.variable_scope("x") as x:
        pass
    with tf.variable_scope(x, auxiliary_name_scope=False) as x1:
        with tf.name_scope(x1.original_name_scope):
            say(tf.constant(2).name)
    with tf.name_scope("f", "default", [a]) as s:
        say(s)
    with tf.name_scope(None, "default", [a]) as s:
        say(s)
    fails(tf.name_scope("1 bad name").__enter__)
    fails(tf.constant, 1, name="bad name!")
    g = tf.get_default_graph()
    say(g.unique_name("c"), g.unique_name("c"), g.unique_name("ns/c"), g.unique_name("fresh", mark_as_used=False))
    say(tf.get_default_graph().get_name_scope())


def scope_defaults(tf: Any, np: Any, say: Any, fails: Any) -> None:
    reg = lambda w: tf.reduce_sum(w) * 0.1  # noqa: E731
    with tf.variable_scope("s", initializer=tf.constant_initializer(0.4), regularizer=reg, dtype=tf.float64):
        a = tf.get_variable("a", [2])
        with tf.variable_scope("t", initializer=tf.ones_initializer()):
            b = tf.get_variable("b", [1])
            c = tf.get_variable("c", [1], initializer=tf.zeros_initializer())
        d = tf.get_variable("d", [1], regularizer=None)
    say(a.dtype, b.dtype, c.dtype)
    say([l.name for l in tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)])
    say(tf.losses.get_regularization_loss(), len(tf.losses.get_regularization_losses("s/t")))

    def getter(getter: Any, name: str, *args: Any, **kwargs: Any) -> Any:
        say("asked for", name, kwargs["shape"], kwargs["trainable"])
        return getter(name, *args, **kwargs)

    with tf.variable_scope("g", custom_getter=getter):
        v = tf.get_variable("v", [2], trainable=False)
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        say(s.run([a, b, c, d]), s.run(tf.losses.get_total_loss(False)) if tf.losses.get_losses() else "none")
        say(v.trainable, v in tf.trainable_variables())


def saver_many_ways(tf: Any, np: Any, say: Any, fails: Any) -> None:
    d = tempfile.mkdtemp()
    a = tf.Variable([1.0, 2.0], name="a")
    b = tf.Variable([[3]], name="b")
    c = tf.Variable("str", name="c")
    saver = tf.train.Saver(max_to_keep=2)
    some = tf.train.Saver({"renamed": a})
    part = tf.train.Saver([b])
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        for i in range(4):
            p = saver.save(s, os.path.join(d, "model.ckpt"), global_step=i)
            say(os.path.basename(p))
        say([os.path.basename(x) for x in saver.last_checkpoints])
        say(sorted(f for f in os.listdir(d)))
        say(os.path.basename(some.save(s, d + "/some", write_meta_graph=False)))
        part.save(s, d + "/part", latest_filename="other", write_state=False)
        s.run(a.assign([9, 9]))
        saver.restore(s, d + "/model.ckpt-3")
        say(s.run([a, b, c]))
        fails(saver.restore, s, None)
        fails(part.restore, s, d + "/some")
        say(tf.train.checkpoint_exists(d + "/some"), tf.train.checkpoint_exists(d + "/nope"))
    st = tf.train.get_checkpoint_state(d)
    say(os.path.basename(st.model_checkpoint_path), [os.path.basename(x) for x in st.all_model_checkpoint_paths])
    say(tf.train.list_variables(d + "/model.ckpt-3"), tf.train.load_variable(d + "/some", "renamed"))
    r = tf.train.load_checkpoint(d + "/model.ckpt-2")
    say(sorted(r.get_variable_to_shape_map().items()), r.has_tensor("a"), r.has_tensor("q"), r.get_tensor("b"))
    r = tf.train.NewCheckpointReader(d + "/part")
    say(sorted(r.get_variable_to_dtype_map().items()), r.debug_string().decode().split())
    fails(r.get_tensor, "zilch")
    say(tf.train.latest_checkpoint("/nonexistent"))
    with tf.Graph().as_default():
        fails(tf.train.Saver)
        m = tf.train.import_meta_graph(d + "/model.ckpt-3.meta")
        with tf.Session() as s:
            m.restore(s, d + "/model.ckpt-3")
            say(s.run("a:0"), [v.name for v in tf.global_variables()])
    with tf.Graph().as_default():
        x = tf.Variable([1.0, 2.0, 3.0], name="a")
        sv = tf.train.Saver()
        with tf.Session() as s:
            fails(sv.restore, s, d + "/model.ckpt-3")


def report_uninitialized(tf: Any, np: Any, say: Any, fails: Any) -> None:
    a = tf.Variable(1.0, name="a")
    b = tf.Variable(a.initialized_value() * 2, name="b")
    c = tf.get_variable("c", initializer=lambda: tf.ones([2]))
    l = tf.Variable(3, name="l", collections=[tf.GraphKeys.LOCAL_VARIABLES])
    un = tf.report_uninitialized_variables()
    with tf.Session() as s:
        say(s.run(un))
        s.run(b.initializer)
        say(s.run(un), s.run(b))
        say(s.run(tf.is_variable_initialized(a)), s.run(tf.is_variable_initialized(b)))
        fails(s.run, c)
        fails(s.run, a + 1)
        s.run(tf.variables_initializer([a, c]))
        s.run(tf.initialize_local_variables())
        say(s.run(un), s.run(tf.report_uninitialized_variables([a])))
        a.load(7.0, s)
        say(a.eval(s), s.run(a.value()), s.run(a.read_value()))
        fails(a.load, [1.0, 2.0], s)
    say(a.op.type, l in tf.local_variables(), l in tf.global_variables(), tf.model_variables(), tf.moving_average_variables())
    fails(bool, a > 0)
    fails(iter, a)
    say(a, repr(a), a.graph is tf.get_default_graph(), a.initial_value, c.get_shape())


def assigns(tf: Any, np: Any, say: Any, fails: Any) -> None:
    v = tf.Variable([1, 2, 3], name="v")
    fails(v.assign, [1.5])
    fails(v.assign, [1, 2])
    fails(tf.assign, v, "x")
    dyn = tf.Variable(tf.zeros([2]), validate_shape=False, name="dyn")
    grow = tf.assign(dyn, [1.0, 2.0, 3.0], validate_shape=False)
    say(grow.shape, dyn.shape)
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        say(s.run(grow), s.run(tf.shape(dyn)))
        say(s.run(v.assign_add([1, 1, 1])), s.run(v.assign_sub([0, 0, 3])))
        say(s.run(tf.scatter_update(v, [0, 1], [10, 20])), s.run(tf.scatter_add(v, [2], [5])), s.run(tf.scatter_sub(v, 0, 1)))
        fails(s.run, tf.scatter_update(v, [7], [1]))
        c = tf.Variable(0, name="c")
        s.run(c.initializer)
        up = c.count_up_to(2)
        say(s.run(up), s.run(up))
        fails(s.run, up)
        say(s.run(v.scatter_sub(tf.IndexedSlices([1], [1]))), s.run(tf.scatter_nd_update(v, [[0]], [0])))
        with tf.control_dependencies([v.assign([0, 0, 0])]):
            r = tf.identity(v)
            r2 = v.read_value()
        say(s.run([r, r2]))
        say(s.run(v[1:]), s.run(v * 2), s.run(-v), s.run(v ** 2), s.run(v % 2), s.run(5 - v), s.run(v // 1), s.run(abs(v)))


def partitioned(tf: Any, np: Any, say: Any, fails: Any) -> None:
    with tf.variable_scope("emb", partitioner=tf.fixed_size_partitioner(3)):
        t = tf.get_variable("t", [7, 2], initializer=tf.ones_initializer())
    say(type(t).__name__, [p.name for p in t], [p.shape.as_list() for p in t], t.shape, len(list(t)))
    look = tf.nn.embedding_lookup(t, [0, 3, 6], partition_strategy="div")
    whole = tf.convert_to_tensor(t)
    p2 = tf.get_variable("p2", [4, 8], partitioner=tf.variable_axis_size_partitioner(64, axis=1))
    say([p.name for p in p2], [p.shape.as_list() for p in p2])
    p3 = tf.get_variable("p3", [64, 4], partitioner=tf.min_max_variable_partitioner(max_partitions=4, min_slice_size=256))
    say([p.name for p in p3])
    g = tf.gradients(tf.reduce_sum(look), list(t))
    say([type(x).__name__ for x in g])
    d = tempfile.mkdtemp()
    saver = tf.train.Saver()
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        say(s.run(look), s.run(whole).shape)
        saver.save(s, d + "/m")
    say(tf.train.list_variables(d + "/m"))


def graph_def_round_trip(tf: Any, np: Any, say: Any, fails: Any) -> None:
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    w = tf.Variable([[1.0], [2.0]], name="w")
    y = tf.matmul(x, w, name="y")
    gd = tf.get_default_graph().as_graph_def()
    say(len(gd.node), [n.name for n in gd.node], gd.node[0].op, gd.versions.producer > 20)
    with tf.Session() as s:
        s.run(w.initializer)
        frozen = tf.graph_util.convert_variables_to_constants(s, gd, ["y"])
    say([(n.name, n.op) for n in frozen.node])
    with tf.Graph().as_default() as g2:
        out, = tf.import_graph_def(frozen, input_map={"x:0": tf.constant([[3.0, 4.0]])}, return_elements=["y:0"], name="imp")
        say(out.name, tf.Session().run(out), [o.name for o in g2.get_operations()])
        fails(tf.import_graph_def, frozen, return_elements=["zz:0"])
        fails(tf.import_graph_def, frozen, input_map={"qq:0": out})
        fails(tf.import_graph_def, "not a graph")
    with tempfile.TemporaryDirectory() as folder:
        tf.train.write_graph(gd, folder, "g_test.pbtxt")
    d = tf.graph_util.extract_sub_graph(gd, ["w/read"])
    say([n.name for n in d.node])
    say(tf.graph_util.remove_training_nodes(frozen).node[-1].name, tf.graph_util.must_run_on_cpu(gd.node[0]))
    g = tf.get_default_graph()
    fails(g.get_tensor_by_name, "y")
    fails(g.get_tensor_by_name, "nope:0")
    fails(g.get_tensor_by_name, "y:3")
    fails(g.get_operation_by_name, "y:0")
    fails(g.get_operation_by_name, "nope")
    say(g.as_graph_element("y:0"), g.as_graph_element(y) is y, g.is_feedable(y), g.is_fetchable(y))
    g.prevent_feeding(y)
    fails(tf.Session().run, y, {y: [[1.0]]})
    g.prevent_fetching(y.op)
    fails(tf.Session().run, y, {x: [[1, 1]]})
