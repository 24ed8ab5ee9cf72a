"""What parts of the interface answer, right and wrong uses side by side."""

from typing import Any


def messages(tf: Any, np: Any, say: Any, fails: Any) -> None:
    x = tf.placeholder(tf.float32, [None], name="x")
    y = tf.placeholder(tf.float32, name="y")
    i = tf.placeholder(tf.int32, [None], name="i")
    with tf.Session() as s:
        for f in (
            tf.assert_positive,
            tf.assert_negative,
            tf.assert_non_negative,
            tf.assert_non_positive,
        ):
            for v in ([-1.0, 1.0],):
                fails(s.run, f(x, message="m"), {x: v})
        for f in (
            tf.assert_equal,
            tf.assert_none_equal,
            tf.assert_less,
            tf.assert_less_equal,
            tf.assert_greater,
            tf.assert_greater_equal,
        ):
            fails(
                s.run,
                f(x, [1.0, 1.0], message="m"),
                {
                    x: (
                        [1.0, 5.0]
                        if "less" in f.__name__
                        or (f.__name__.endswith("equal") and "greater" not in f.__name__)
                        else [0.0, 0.0]
                    )
                },
            )
            fails(s.run, f(x, [1.0, 1.0]), {x: [3.0, 0.0]})
            fails(f, tf.constant([1.0, 5.0]), tf.constant([2.0, 2.0]), message="m")
        fails(s.run, tf.assert_near(x, 2.0, message="m"), {x: [1.0]})
        fails(s.run, tf.assert_rank(y, 2, message="m"), {y: [1.0]})
        fails(tf.assert_rank, x, 2, message="m")
        fails(s.run, tf.assert_rank_at_least(y, 2, message="m"), {y: [1.0]})
        fails(tf.assert_rank_at_least, x, 2, message="m")
        fails(s.run, tf.assert_rank_in(y, [2, 3], message="m"), {y: [1.0]})
        fails(tf.assert_rank_in, x, [2, 3], message="m")
        fails(tf.assert_integer, x, message="m")
        fails(tf.assert_type, x, tf.int32, message="m")
        fails(tf.assert_scalar, x, message="m")
        fails(tf.assert_positive, tf.constant([-1.0, 2.0]), message="m")
        fails(tf.assert_proper_iterable, 3)
        fails(tf.assert_same_float_dtype, [x, i])
        fails(s.run, tf.debugging.assert_near(x, [1.0], rtol=0.1), {x: [2.0]})


def gradients_api(tf: Any, np: Any, say: Any, fails: Any) -> None:
    x = tf.Variable([1.0, 2.0], name="x")
    y = tf.Variable(3.0, name="y")
    i = tf.constant([1, 2])
    z = tf.reduce_sum(x * x * y)
    say(tf.gradients(z, [x, y]))
    say(tf.gradients(z, [x, y], grad_ys=[2.0], name="g2"))
    say(tf.gradients(y, x))
    say(
        tf.gradients(y, x, unconnected_gradients=tf.UnconnectedGradients.ZERO),
        tf.gradients(y, x, unconnected_gradients="zero"),
    )
    h = tf.hessians(z, x)
    say(tf.gradients(z, x, stop_gradients=[x * x]))
    fails(tf.gradients, z, "a")
    fails(tf.gradients, tf.cast(z, tf.int32), x)
    say(tf.gradients([z, y], [y], gate_gradients=True, colocate_gradients_with_ops=True))
    say(tf.gradients(tf.gather(x, [0, 0]), x)[0])
    fails(tf.gradients, z, x, grad_ys=[1.0, 2.0])
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        say(
            s.run(tf.gradients(z, [x, y])),
            s.run(h),
            s.run(tf.gradients(tf.stop_gradient(x) * y, y)),
        )
    say([o.name for o in tf.get_default_graph().get_operations() if o.name.startswith("g2")])


def optimizer_api(tf: Any, np: Any, say: Any, fails: Any) -> None:
    v = tf.Variable([1.0, 2.0], name="v")
    w = tf.Variable(3, name="w")
    u = tf.Variable(1.0, name="u")
    o = tf.train.AdamOptimizer(0.1, name="MyAdam")
    loss = tf.reduce_sum(v * v)
    fails(o.minimize, loss, var_list=[u])
    fails(o.compute_gradients, loss, var_list=[w])
    fails(o.minimize, loss, var_list=[])
    gv = o.compute_gradients(loss, [v, u])
    say(gv)
    t = o.apply_gradients(gv, name="train")
    say(t.name, o.get_slot(v, "m"), o.get_slot(u, "m"), [x.name for x in o.variables()])
    fails(tf.train.GradientDescentOptimizer, 0.1, name="")
    fails(tf.train.GradientDescentOptimizer("a").minimize, loss)
    g = tf.train.GradientDescentOptimizer(tf.placeholder_with_default(0.5, [])).minimize(
        loss, global_step=tf.train.get_or_create_global_step(), var_list=[v]
    )
    say(g)
    m = tf.train.MomentumOptimizer(lambda: 0.1, 0.9).minimize(loss, var_list=v)
    say(m.name)
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        s.run(g)
        say(s.run(v), s.run(tf.train.get_global_step()))
        s.run(t)
        say(np.round(s.run(v), 4))
    with tf.control_dependencies([g]):
        say(tf.train.GradientDescentOptimizer(1.0).minimize(tf.reduce_sum(v)).control_inputs)


def resource_vars(tf: Any, np: Any, say: Any, fails: Any) -> None:
    v = tf.get_variable("v", [2], use_resource=True, initializer=tf.ones_initializer())
    say(v, v.dtype, v.op.type, v.handle.dtype, v.value(), v.read_value())
    a = v.assign_add([1.0, 1.0])
    say(a)
    w = tf.Variable(2.0, use_resource=True, name="w")
    say(v + 1, v[0], w.initializer, w.graph is tf.get_default_graph())
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        say(
            s.run(a),
            s.run([v, w]),
            s.run(tf.scatter_add(v, [0], [5.0])),
            v.eval(),
            s.run(tf.gather(v, [0])),
        )
    with tf.variable_scope("s", use_resource=True):
        say(tf.get_variable("q", []))
    t = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(v * w))
    say([o.type for o in t.control_inputs])
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        s.run(t)
        say(s.run([v, w]))
        w.load(7.0, s)
        say(s.run(w))
        say(s.run(tf.is_variable_initialized(w)))


def ref_vars(tf: Any, np: Any, say: Any, fails: Any) -> None:
    v = tf.Variable([1.0, 2.0], name="v", dtype=tf.float32)
    say(
        v,
        v.name,
        v.op.type,
        v.initial_value,
        v.initializer,
        v.initialized_value(),
        v.shape,
        v.get_shape().as_list(),
        v.device,
        v.graph is tf.get_default_graph(),
        v.trainable,
        v.constraint,
    )
    say(
        v + 1,
        v[0],
        -v,
        v * v,
        2 / v,
        v > 1,
        tf.identity(v),
        tf.convert_to_tensor(v),
        v.value(),
        v.read_value(),
        len(v.shape),
    )
    fails(bool, v)
    fails(lambda: v.assign([1.0, 2.0, 3.0]))
    fails(lambda: v.assign_add("a"))
    fails(lambda: [x for x in v])
    fails(lambda: v.eval())
    c = tf.Variable(tf.zeros([2, 2]), validate_shape=False)
    say(c, c.shape)
    d = tf.Variable(lambda: tf.random_uniform([2], seed=1), dtype=tf.float32)
    say(d)
    e = tf.Variable(v.initialized_value() * 2)
    say(e.shape)
    with tf.Session() as s:
        fails(s.run, v + 1)
        s.run(tf.global_variables_initializer())
        say(s.run([v, c, e]))
        say(
            s.run(v.assign([3.0, 4.0])),
            s.run(v.assign_sub([1.0, 1.0])),
            s.run(v.scatter_sub(tf.IndexedSlices([1.0], [0]))),
        )
        v.load([9.0, 9.0], s)
        say(v.eval(s), s.run(tf.variables_initializer([v])), s.run(v))
        k = tf.Variable(0, name="k")
        s.run(k.initializer)
        cu = k.count_up_to(2)
        say(s.run(cu), s.run(cu))
        fails(s.run, cu)
        say(
            s.run(tf.scatter_nd_update(v, [[0]], [5.0])),
            s.run(tf.scatter_update(v, [1], [6.0])),
            s.run(tf.assign(c, [[1.0]], validate_shape=False)).shape,
            s.run(c).shape,
        )
    say(tf.report_uninitialized_variables().name, tf.global_variables())


def tensor_api(tf: Any, np: Any, say: Any, fails: Any) -> None:
    t = tf.placeholder(tf.float32, [None, 3], name="t")
    c = tf.constant([[1, 2], [3, 4]], name="c")
    say(
        t,
        repr(t),
        t.name,
        t.op.name,
        t.dtype,
        t.shape,
        t.get_shape(),
        t.shape.as_list(),
        t.value_index,
        t.device,
        t.consumers(),
        t.graph is tf.get_default_graph(),
        t.shape[1],
        t.shape[0],
        t.shape.ndims,
    )
    fails(iter, t)
    fails(bool, t)
    fails(len, t)
    say(isinstance(hash(t), int))
    say(t == t, t != c, t is t)
    say(c[0], c[:, 1], c[..., 0], c[0, tf.newaxis], c[-1, ::-1], c[tf.constant(0)])
    fails(lambda: c["a"])
    fails(lambda: c[1.5])
    fails(lambda: c[0, 0, 0])
    fails(np.array, t)
    fails(float, c)
    fails(t.set_shape, [2, 4])
    t.set_shape([5, None])
    say(t.shape)
    say(
        t + 1,
        1 - t,
        t / 2,
        t // 2,
        t % 2,
        t**2,
        -t,
        abs(t),
        t @ tf.ones([3, 2]),
        c & 1,
        c | 1,
        ~tf.constant(True),
        t < 1,
        t >= 1,
        c ^ 1,
    )
    fails(lambda: t + c)
    fails(lambda: t + "a")
    fails(lambda: c + 1.5)
    fails(lambda: tf.matmul(t, t))
    fails(tf.reshape, c, [3])
    fails(tf.concat, [t, c], 0)
    fails(tf.constant, [[1], [2, 3]])
    fails(tf.zeros, [-1])
    fails(tf.cast, c, "nope")
    fails(tf.placeholder, "nope")
    fails(tf.convert_to_tensor, None)
    fails(tf.convert_to_tensor, [1, "a"])
    o = c.op
    say(
        o.type,
        o.name,
        o.inputs,
        o.outputs,
        o.control_inputs,
        o.device,
        o.get_attr("dtype"),
        o.node_def.name,
        o.colocation_groups(),
    )
    fails(o.get_attr, "zz")
    fails(o.run)
    fails(t.eval)
    g = tf.get_default_graph()
    say(
        g.get_tensor_by_name("c:0") is c,
        g.get_operation_by_name("c") is o,
        g.as_graph_element("c:0") is c,
    )
    fails(g.get_tensor_by_name, "c")
    fails(g.get_tensor_by_name, "c:1")
    fails(g.get_operation_by_name, "c:0")
    fails(g.get_operation_by_name, "zz")
    fails(g.get_tensor_by_name, 3)
    say(
        g.unique_name("c"),
        g.unique_name("c"),
        g.is_feedable(c),
        g.version,
        g.finalized,
        g.seed,
        g.building_function,
    )


def shapes_dtypes(tf: Any, np: Any, say: Any, fails: Any) -> None:
    s = tf.TensorShape([None, 3])
    say(
        s,
        repr(s),
        s[0],
        s[1],
        s[1].value,
        s.as_list(),
        s.num_elements(),
        s.is_fully_defined(),
        s.ndims,
        s.concatenate([4]),
        s.merge_with([2, None]),
        s.is_compatible_with([5, 3]),
        s.with_rank(2),
        len(s),
        [d.value for d in s],
        s == tf.TensorShape([None, 3]),
        tf.TensorShape(None),
        s[1:],
        s.as_proto(),
    )
    fails(s.merge_with, [2, 4])
    fails(s.with_rank, 3)
    fails(tf.TensorShape(None).as_list)
    fails(tf.TensorShape, [-2])
    d = tf.Dimension(3)
    say(d, repr(d), d + 1, d * 2, d // 2, d == 3, int(d), d.value, tf.Dimension(None) + 1, d < 4)
    for t in (tf.float32, tf.int8, tf.string, tf.bool, tf.complex64, tf.bfloat16, tf.uint16):
        say(
            t,
            repr(t),
            t.name,
            t.as_numpy_dtype,
            t.size,
            t.is_floating,
            t.is_integer,
            t.is_numpy_compatible,
            t.base_dtype,
            t.as_datatype_enum,
        )
    say(
        tf.float32 == np.float32,
        tf.as_dtype("int32"),
        tf.as_dtype(np.int64),
        tf.as_dtype(float),
        tf.as_dtype(3),
        tf.int32.max,
        tf.uint8.limits,
        tf.float32.min,
    )
    fails(tf.as_dtype, "foo")
    fails(tf.as_dtype, object())
    fails(lambda: tf.string.max)


def control_deps(tf: Any, np: Any, say: Any, fails: Any) -> None:
    a, b = (tf.constant(1, name="a"), tf.constant(2, name="b"))
    with tf.control_dependencies([a, b]):
        c = tf.constant(3, name="c")
        with tf.control_dependencies([c]):
            d = tf.identity(a, name="d")
        with tf.control_dependencies(None):
            e = tf.constant(4, name="e")
        with tf.name_scope("n"), tf.device("/cpu:0"):
            f = tf.no_op(name="f")
    say(
        [
            (
                [i.name for i in o.op.control_inputs]
                if hasattr(o, "op")
                else [i.name for i in o.control_inputs]
            )
            for o in (c, d, e, f)
        ]
    )
    g = tf.group(c, d, name="g")
    t = tf.tuple([a, b], control_inputs=[g], name="tt")
    say(g.type, [i.name for i in g.control_inputs], t)
    fails(tf.group, 3)
    fails(tf.tuple, [])
    fails(lambda: tf.control_dependencies(["zz"]).__enter__())
    with tf.colocate_with(a):
        h = tf.constant(1, name="h")
    say(h.op.colocation_groups(), tf.get_default_graph().get_name_scope())
    with tf.name_scope("x") as s1, tf.name_scope("y") as s2:
        say(s1, s2, tf.get_default_graph().get_name_scope())
    with tf.name_scope(None):
        say(tf.constant(1).name)
    with tf.name_scope(s2):
        say(tf.constant(1, name="k").name)
    fails(lambda: tf.name_scope("1 bad").__enter__())
    fails(lambda: tf.constant(1, name="a b"))
