"""Programs about arrays, loops, names and files."""

import os
import tempfile
import threading
from typing import Any


def ctrl(tf: Any, np: Any, say: Any, fails: Any) -> None:
    a = tf.constant(1, name="a")
    v = tf.Variable(0)
    with tf.control_dependencies([a, v.assign(1)]) as c:
        b = tf.identity(v)
        n = tf.no_op(name="n")
        say([o.name for o in b.op.control_inputs], [o.name for o in n.control_inputs])
        with tf.control_dependencies(None):
            say(tf.constant(2).op.control_inputs)
        with tf.control_dependencies([n]):
            say([o.name for o in tf.constant(2).op.control_inputs])
    say(tf.group(a, b), tf.group(), tf.tuple([a, b]))
    fails(tf.group, 1)

    def bad(x):
        with tf.control_dependencies(x):
            pass

    fails(bad, 3)
    fails(bad, [3])
    fails(bad, ["zzz"])
    bad(["a"])
    fails(tf.tuple, [])
    fails(tf.tuple, [None])
    with tf.colocate_with(a):
        say(tf.constant(1).op.colocation_groups())

    def badc(x):
        with tf.colocate_with(x):
            pass

    fails(badc, 3)
    fails(badc, None)


def scopes(tf: Any, np: Any, say: Any, fails: Any) -> None:
    with tf.name_scope("a") as s:
        say(s, tf.constant(1, name="c").name, tf.get_default_graph().get_name_scope())
        with tf.name_scope("b"):
            say(tf.constant(1).name)
        with tf.name_scope("b"):
            say(tf.constant(1).name)
        with tf.name_scope(None):
            say(tf.constant(1).name)
        with tf.name_scope(s):
            say(tf.constant(1, name="c").name)
        with tf.name_scope(""):
            say(tf.constant(1, name="c").name)

    def bad(*a):
        with tf.name_scope(*a) as q:
            return q

    fails(bad, "a b")
    fails(bad, "/x")
    say(bad(None, "d", []), bad("x/"), bad(None, "d"))
    fails(bad, None, None, [tf.constant(1)])
    with tf.name_scope("op", values=[tf.constant(1)]) as sc:
        say(sc)
    say(
        "",
        tf.no_op(name="x/y").name,
        tf.no_op(name="x").name,
        tf.no_op(name="X").name,
        tf.no_op(name="x").name,
    )


def graphdef(tf: Any, np: Any, say: Any, fails: Any) -> None:
    a = tf.constant([1.0, 2.0], name="a")
    b = tf.identity(a, name="b")
    g = tf.get_default_graph()
    gd = g.as_graph_def()
    say(gd.node[1])
    say(gd.versions.producer > 0)
    say(gd.node[0])
    with tf.Graph().as_default():
        r = tf.import_graph_def(gd, name="i", return_elements=["b:0", "a"])
        say(r)
        say(tf.import_graph_def(gd))
        fails(tf.import_graph_def, gd, input_map={"zz:0": tf.constant(1.0)})
        fails(tf.import_graph_def, 3)
        fails(tf.import_graph_def, gd, return_elements=["q"])
    p = tempfile.mkdtemp()
    say(os.path.basename(tf.train.write_graph(g, p, "g.pbtxt")))
    say(open(p + "/g.pbtxt").read()[:40])
    say(a.op.get_attr("dtype"), a.op.get_attr("value").dtype)
    fails(a.op.get_attr, "nope")
    say(
        b.op.inputs,
        list(b.op.inputs),
        b.op.values(),
        b.op.outputs,
        b.op.op_def.name,
        a.op.traceback is not None,
    )


def strings(tf: Any, np: Any, say: Any, fails: Any) -> None:
    with tf.Session() as s:
        say(
            s.run(
                [
                    tf.string_join(["a", ["b", "c"]], "-"),
                    tf.as_string([1.5, 2]),
                    tf.string_to_number(["1", "2.5"]),
                    tf.strings.length(["ab"]),
                    tf.substr(["hello"], 1, 2),
                    tf.strings.upper(["a"]),
                    tf.string_to_hash_bucket_fast(["a"], 10),
                    tf.regex_replace(["abc"], "b", "X"),
                    tf.strings.strip([" a "]),
                    tf.encode_base64(["hi"]),
                    tf.reduce_join([["a", "b"], ["c", "d"]], 0),
                    tf.strings.format("x={}", [tf.constant(1)]),
                ]
            )
        )


def misc_array(tf: Any, np: Any, say: Any, fails: Any) -> None:
    a = tf.constant([[3, 1, 2], [6, 5, 4]])
    with tf.Session() as s:
        for f in [
            lambda: tf.argsort(a),
            lambda: tf.reverse(a, [1]),
            lambda: tf.roll(a, 1, 1),
            lambda: tf.unique([1, 1, 2]),
            lambda: tf.where(a > 2),
            lambda: tf.boolean_mask(a, [True, False]),
            lambda: tf.one_hot([0, 2], 3),
            lambda: tf.pad(a, [[1, 0], [0, 1]]),
            lambda: tf.tile(a, [1, 2]),
            lambda: tf.stack([a, a]),
            lambda: tf.unstack(a),
            lambda: tf.split(a, 3, 1),
            lambda: tf.gather(a, [1]),
            lambda: tf.gather_nd(a, [[0, 1]]),
            lambda: tf.scatter_nd([[1]], [9], [3]),
            lambda: tf.meshgrid([1, 2], [3, 4]),
            lambda: tf.sequence_mask([1, 2]),
            lambda: tf.cumsum(a, 1),
            lambda: tf.argmax(a, 1),
            lambda: tf.range(3),
            lambda: tf.fill([2], 7),
            lambda: tf.eye(2),
            lambda: tf.diag([1, 2]),
            lambda: tf.matrix_band_part(a, 0, 1),
            lambda: tf.squeeze([[1]]),
            lambda: tf.expand_dims(a, 0),
            lambda: tf.rank(a),
            lambda: tf.size(a),
            lambda: tf.shape_n([a, a]),
            lambda: tf.broadcast_static_shape(tf.TensorShape([1, 2]), tf.TensorShape([3, 1])),
            lambda: tf.histogram_fixed_width([1.0, 2.0], [0.0, 4.0], 4),
            lambda: tf.bincount([1, 1, 2]),
            lambda: tf.norm([3.0, 4.0]),
            lambda: tf.tensordot([1.0, 2.0], [3.0, 4.0], 1),
            lambda: tf.nn.top_k([1, 3, 2], 2),
            lambda: tf.nn.in_top_k([[1.0, 2.0]], [1], 1),
            lambda: tf.reduce_logsumexp([1.0, 2.0]),
            lambda: tf.count_nonzero(a),
            lambda: tf.invert_permutation([1, 0]),
            lambda: tf.reverse_sequence(a, [1, 2], seq_axis=1),
            lambda: tf.space_to_batch_nd(tf.ones([1, 2, 2, 1]), [2, 2], [[0, 0], [0, 0]]),
            lambda: tf.space_to_depth(tf.ones([1, 2, 2, 1]), 2),
            lambda: tf.unsorted_segment_mean([1.0, 2.0], [0, 0], 1),
            lambda: tf.random_crop([1, 2, 3], [2], seed=1),
            lambda: tf.verify_tensor_all_finite([1.0], "m"),
            lambda: tf.extract_image_patches(
                tf.ones([1, 2, 2, 1]), [1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1], "VALID"
            ),
            lambda: tf.decode_raw(["ab"], tf.uint8),
            lambda: tf.lbeta([1.0, 2.0]),
            lambda: tf.convert_to_tensor_or_sparse_tensor([1]),
            lambda: tf.saturate_cast([300], tf.uint8),
            lambda: tf.to_float([1]),
            lambda: tf.nn.moments(tf.to_float(a), [0]),
            lambda: tf.nn.space_to_depth(tf.ones([1, 2, 2, 1]), 2),
            lambda: tf.math.polyval([1.0, 2.0], 3.0),
            lambda: tf.add_check_numerics_ops(),
            lambda: tf.trace([[1, 2], [3, 4]]),
            lambda: tf.matrix_solve_ls([[1.0, 0.0], [0.0, 1.0]], [[1.0], [2.0]]),
            lambda: tf.is_strictly_increasing([1, 2]),
            lambda: tf.clip_by_average_norm([3.0, 4.0], 1.0),
            lambda: tf.bitcast(a, tf.float32),
            lambda: tf.identity_n([1, 2]),
            lambda: tf.guarantee_const(1),
        ]:
            try:
                r = f()
                say(
                    r if callable(r) else (r, s.run(r) if not isinstance(r, tf.TensorShape) else "")
                )
            except Exception as e:
                say("RAISED", type(e).__name__, str(e).split("\n")[0][:200])


def template(tf: Any, np: Any, say: Any, fails: Any) -> None:

    def f(x, scale):
        return x * tf.get_variable("w", [], initializer=tf.ones_initializer()) * scale

    t = tf.make_template("t", f, scale=3.0)
    a = t(tf.constant(1.0))
    b = t(tf.constant(2.0))
    say(a, b, t.variables, t.name, t.variable_scope_name)
    u = tf.make_template("t", f, scale=1.0)
    say(u(tf.constant(1.0)), u.variables)
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        say(s.run([a, b]))


def sparse(tf: Any, np: Any, say: Any, fails: Any) -> None:
    sp = tf.SparseTensor([[0, 0], [1, 2]], [1.0, 2.0], [3, 4])
    say(sp, sp.shape, sp.dtype, sp.get_shape(), sp.indices, sp.values, sp.dense_shape)
    ph = tf.sparse_placeholder(tf.float32, name="sp")
    say(ph, ph.shape)
    p2 = tf.sparse_placeholder(tf.float32, [2, 3])
    say(p2.shape, p2.indices)
    p3 = tf.sparse_placeholder(tf.float32, [None, 3])
    say(p3.shape)
    with tf.Session() as s:
        say(s.run(sp))
        v = s.run(ph, {ph: tf.SparseTensorValue([[0, 1]], [5.0], [2, 2])})
        say(type(v).__name__, v)
        say(s.run(ph.values, {ph: (np.array([[0, 1]]), np.array([5.0]), np.array([2, 2]))}))
        say(s.run({"a": sp, "b": [sp.values]}))
    fails(tf.SparseTensor, [[0]], [1.0, 2.0], [3])
    fails(tf.SparseTensor, [0], [1.0], [3])
    fails(tf.convert_to_tensor, sp)


def seq_ops(tf: Any, np: Any, say: Any, fails: Any) -> None:
    say(
        tf.sequence_mask([1, 2]),
        tf.sequence_mask(tf.placeholder(tf.int32, [None])),
        tf.range(tf.size([1, 2, 3])),
        tf.zeros(tf.shape(tf.placeholder(tf.float32, [2, None]))),
        tf.reshape(tf.placeholder(tf.float32, [None, 4]), [-1, 2, 2]),
        tf.tile([[1]], [2, 3]),
        tf.concat([tf.placeholder(tf.float32, [None, 2]), tf.zeros([1, 2])], 0),
        tf.stack([tf.placeholder(tf.float32, [None])] * 2),
        tf.one_hot([0], tf.constant(3)),
        tf.fill([2, tf.constant(3)], 1.0),
        tf.transpose(tf.placeholder(tf.float32, [2, None, 3]), [2, 0, 1]),
        tf.expand_dims(tf.placeholder(tf.float32, [None]), -1),
        tf.squeeze(tf.placeholder(tf.float32, [1, None])),
        tf.split(tf.placeholder(tf.float32, [4, None]), 2),
        tf.pad(tf.placeholder(tf.float32, [None, 2]), [[1, 1], [0, 1]]),
        tf.gather(tf.placeholder(tf.float32, [5, None]), tf.placeholder(tf.int32, [None])),
        tf.where(tf.placeholder(tf.bool, [3])),
        tf.nn.conv2d(
            tf.placeholder(tf.float32, [None, 28, 28, 1]),
            tf.zeros([5, 5, 1, 32]),
            [1, 2, 2, 1],
            "SAME",
        ),
        tf.nn.max_pool(
            tf.placeholder(tf.float32, [None, 28, 28, 1]), [1, 2, 2, 1], [1, 2, 2, 1], "VALID"
        ),
        tf.reduce_mean(tf.placeholder(tf.float32, [None, 3]), axis=1, keepdims=True),
        tf.matmul(tf.placeholder(tf.float32, [None, 3]), tf.zeros([3, 5])),
        tf.argmax(tf.placeholder(tf.float32, [None, 3]), 1),
        tf.broadcast_static_shape(tf.TensorShape([None, 1]), tf.TensorShape([3])),
        tf.cast(tf.placeholder(tf.int32, [None]), tf.float32),
        tf.slice(tf.placeholder(tf.float32, [None, 5]), [0, 1], [-1, 2]),
        tf.strided_slice(tf.placeholder(tf.float32, [10, None]), [1, 0], [8, 3], [2, 1]),
    )


def multi_thread(tf: Any, np: Any, say: Any, fails: Any) -> None:
    v = tf.Variable(0)
    inc = tf.assign_add(v, 1, use_locking=True)
    s = tf.Session()
    s.run(v.initializer)
    ts = [threading.Thread(target=lambda: [s.run(inc) for _ in range(50)]) for _ in range(4)]
    [t.start() for t in ts]
    [t.join() for t in ts]
    say(s.run(v))


def two_sessions(tf: Any, np: Any, say: Any, fails: Any) -> None:
    v = tf.Variable(1)
    a, b = (tf.Session(), tf.Session())
    a.run(v.initializer)
    say(a.run(v))
    fails(b.run, v + 0)
    b.run(v.initializer)
    a.run(v.assign(5))
    say(a.run(v), b.run(v))
    with a.as_default():
        say(v.eval())
    with a:
        pass
    fails(a.run, v)


def device_specs(tf: Any, np: Any, say: Any, fails: Any) -> None:
    d = tf.DeviceSpec(job="ps", task=1, device_type="GPU", device_index=0)
    say(
        d.to_string(),
        d.job,
        d.replica,
        d.task,
        d.device_type,
        d.device_index,
        d == tf.DeviceSpec.from_string("/job:ps/task:1/device:GPU:0"),
        repr(d)[:20],
    )
    d.merge_from(tf.DeviceSpec(replica=2))
    say(d.to_string())
    with tf.device(d):
        say(tf.constant(1).device)
    with tf.device(tf.DeviceSpec(device_type="CPU", device_index=0)):
        say(tf.constant(1).device)
    fails(tf.DeviceSpec.from_string, "/x")
    fails(tf.DeviceSpec.from_string, "/gpu:0/cpu:0")
    say(
        tf.DeviceSpec.from_string("/gpu:*").to_string(),
        tf.DeviceSpec().to_string() == "",
        tf.DeviceSpec.from_string("/cpu:0").to_string(),
    )
    with tf.device("/job:a"), tf.device("/task:3"), tf.device("/gpu:1"):
        say(tf.constant(1).device)


def gfile(tf: Any, np: Any, say: Any, fails: Any) -> None:
    d = tempfile.mkdtemp()
    p = os.path.join(d, "f.txt")
    with tf.gfile.GFile(p, "w") as f:
        f.write("a\nb\n")
    with tf.gfile.Open(p) as f:
        say(f.read(), f.size())
    say(
        tf.gfile.Exists(p),
        tf.gfile.ListDirectory(d),
        tf.gfile.IsDirectory(d),
        [os.path.basename(x) for x in tf.gfile.Glob(d + "/*")],
    )
    tf.gfile.MakeDirs(d + "/x/y")
    tf.gfile.Copy(p, d + "/g")
    tf.gfile.Rename(d + "/g", d + "/h")
    tf.gfile.Remove(p)
    say(sorted(tf.gfile.ListDirectory(d)))
    tf.gfile.DeleteRecursively(d)
    say(tf.gfile.Exists(d))
    fails(lambda: tf.gfile.GFile("/nonexist/x").read())


def freeze(tf: Any, np: Any, say: Any, fails: Any) -> None:
    v = tf.get_variable("v", [2], initializer=tf.ones_initializer())
    o = tf.identity(v * 2, name="out")
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        g = tf.graph_util.convert_variables_to_constants(s, s.graph_def, ["out"])
        say([n.name + ":" + n.op for n in g.node])
    with tf.Graph().as_default():
        tf.import_graph_def(g, name="")
        say(tf.Session().run("out:0"))
    say(
        [
            n.name
            for n in tf.graph_util.extract_sub_graph(
                tf.get_default_graph().as_graph_def(), ["out"]
            ).node
        ]
    )


def control_flow_more(tf: Any, np: Any, say: Any, fails: Any) -> None:
    i = tf.constant(0)
    r = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [i])
    say(r)
    r2 = tf.while_loop(
        lambda i, x: i < 3,
        lambda i, x: (i + 1, tf.concat([x, x], 0)),
        [i, tf.constant([1])],
        shape_invariants=[i.shape, tf.TensorShape([None])],
    )
    say(r2)
    r3 = tf.while_loop(lambda i: True, lambda i: i + 1, [i], maximum_iterations=4)
    say(r3)
    ta = tf.TensorArray(tf.float32, size=3)
    ta = ta.write(0, 1.0).write(1, 2.0).write(2, 3.0)
    st = ta.stack()
    say(st, ta.size(), ta.read(0))
    x = tf.Variable(1.0)
    c = tf.cond(x > 0, lambda: x.assign(5.0), lambda: x.assign(-5.0))
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        say(s.run([r, r2, r3, st]))
        say(s.run(c))
        say(
            s.run(tf.map_fn(lambda e: e * 2, tf.constant([1, 2]))),
            s.run(tf.scan(lambda a, e: a + e, tf.constant([1, 2, 3]))),
            s.run(tf.foldl(lambda a, e: a * e, tf.constant([1, 2, 3]))),
        )


def tensor_methods(tf: Any, np: Any, say: Any, fails: Any) -> None:
    t = tf.constant([[1.0, 2.0]], name="t")
    say(
        t.op.outputs,
        t.op.inputs,
        t.op.control_inputs,
        t.op.device,
        t.op.graph is t.graph,
        t.op.get_attr("dtype"),
        t.op.name,
        t.name,
        t.op.node_def.op,
        t.op.colocation_groups(),
        "",
    )
    say(
        t.shape.dims,
        t.get_shape()[1].value,
        t.shape.as_list(),
        int(t.shape[1]),
        t.shape[1] == 2,
        t.shape == (1, 2),
        tuple(t.shape.as_list()),
    )
    say(t.eval(session=tf.Session()), t.op.run(session=tf.Session()))
    say(sorted((k.key if hasattr(k, "key") else k for k in t.op.node_def.attr)))
    a = tf.add(t, 1.0)
    say([o.name for o in t.consumers()], list(a.op.inputs), a.op.inputs[1].name)
    say(
        t.ref() is not None if hasattr(t, "ref") else "",
        len({t.ref()}) if hasattr(t, "ref") else "",
    )
