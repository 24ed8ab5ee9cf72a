"""Graph snippets: names, devices, colocation, control dependencies, the graph as an object."""

from snippet import Fed, Steps, Table, Told

snippet = Table()


@snippet
def names_are_made_unique(tf):
    return [tf.constant(1), tf.constant(2), tf.constant(3, name="Const"), tf.constant(4, name="const")]


@snippet
def names_ignore_case(tf):
    return [tf.no_op(name="a"), tf.no_op(name="A"), tf.no_op(name="a_1"), tf.no_op(name="a")]


@snippet
def name_scopes_nest(tf):
    with tf.name_scope("outer"):
        a = tf.constant(1.0)
        with tf.name_scope("inner"):
            b = a + 1.0
        with tf.name_scope("inner"):
            c = b * 2.0
    return c


@snippet
def name_scope_reentered(tf):
    with tf.name_scope("s") as scope:
        a = tf.constant(1, name="x")
    with tf.name_scope("s"):
        b = tf.constant(1, name="x")
    with tf.name_scope(scope):
        c = tf.constant(1, name="x")
    with tf.name_scope(None):
        d = tf.constant(1, name="x")
    return [a, b, c, d]


@snippet
def name_scope_values(tf):
    a = tf.constant(1.0)
    with tf.name_scope(None, "default", [a]) as scope:
        return Told([scope, tf.no_op().name])


@snippet
def name_of_op_with_slash(tf):
    return [tf.constant(1, name="a/b"), tf.constant(1, name="a/b"), tf.constant(1, name="a")]


@snippet
def name_ending_in_slash_is_taken_as_it_is(tf):
    return tf.add(tf.constant(1, name="k/"), 2, name="sum/")


@snippet
def names_of_operands(tf):
    x = tf.constant(1.0, name="x")
    return [x + 1.0, 2.0 - x, x / x, -x, tf.add(x, 1.0), tf.add(1.0, x), tf.multiply(x, x, name="named")]


@snippet
def unique_name(tf):
    g = tf.get_default_graph()
    return Told([g.unique_name("a"), g.unique_name("a"), g.unique_name("b", mark_as_used=False), g.unique_name("b"),
                 tf.constant(1, name="a").name])


@snippet
def variable_scope_and_name_scope(tf):
    with tf.variable_scope("v"):
        with tf.name_scope("n"):
            w = tf.get_variable("w", [1], initializer=tf.zeros_initializer())
            u = tf.Variable(1.0, name="u")
            x = w + u
    return x


@snippet
def graph_lookups(tf):
    g = tf.get_default_graph()
    a = tf.constant(1, name="a")
    return Told([g.get_tensor_by_name("a:0") is a, g.get_operation_by_name("a") is a.op, g.as_graph_element("a:0") is a,
                 g.as_graph_element("a") is a.op, [o.name for o in g.get_operations()]])


@snippet
def operation_properties(tf):
    a = tf.placeholder(tf.float32, [2, 2], name="a")
    b = tf.matmul(a, a, name="b")
    o = b.op
    return Told([o.name, o.type, o.device, [i.name for i in o.inputs], [i.name for i in o.outputs], o.get_attr("transpose_b"),
                 str(o.get_attr("T")), b.value_index, b.dtype.name, [c.name for c in a.consumers()], o.node_def.op,
                 list(o.node_def.input), repr(b), str(b), repr(o)])


@snippet
def several_outputs(tf):
    parts = tf.split(tf.constant([1, 2, 3, 4]), 2, name="parts")
    return Told([[p.name for p in parts], [p.value_index for p in parts], len(parts[0].op.outputs), parts[0].op is parts[1].op])


@snippet
def graph_def_of_a_small_graph(tf):
    with tf.device("/cpu:0"):
        a = tf.constant([1.0, 2.0], name="a")
    with tf.control_dependencies([a]):
        tf.identity(a * 3.0, name="b")
    nodes = tf.get_default_graph().as_graph_def().node
    return Told([(n.name, n.op, list(n.input), n.device) for n in nodes])


# Devices


@snippet
def device_names_are_normalised(tf):
    names = ["/cpu:0", "/CPU:1", "/gpu:0", "/device:GPU:2", "/job:w/task:1", "/job:w/replica:0/task:1/cpu:0", "/task:3", "", "/gpu:*"]
    devices = []
    for name in names:
        with tf.device(name):
            devices.append(tf.no_op().device)
    return Told(devices)


@snippet
def devices_merge(tf):
    devices = []
    with tf.device("/job:a"):
        with tf.device("/task:1"):
            with tf.device("/gpu:2"):
                devices.append(tf.no_op().device)
                with tf.device("/job:b/cpu:0"):
                    devices.append(tf.no_op().device)
                with tf.device("/gpu:3"):
                    devices.append(tf.no_op().device)
            devices.append(tf.no_op().device)
    return Told(devices)


@snippet
def device_none_clears(tf):
    with tf.device("/job:a/gpu:0"):
        with tf.device(None):
            a = tf.no_op()
            with tf.device("/cpu:0"):
                b = tf.no_op()
        c = tf.no_op()
    return Told([a.device, b.device, c.device])


@snippet
def device_wildcard_takes_the_outer_index(tf):
    with tf.device("/gpu:7"):
        with tf.device("/device:GPU:*"):
            return Told(tf.no_op().device)


@snippet
def device_function_sees_ops(tf):
    seen = []

    def function(op):
        seen.append((op.name, op.type, [i.name for i in op.inputs]))
        return "/cpu:0" if op.type == "Const" else "/gpu:1"

    with tf.device(function):
        a = tf.constant(1.0)
        b = a * 2.0
    return Told([seen, a.device, b.device])


@snippet
def device_function_overrides_inner_name(tf):
    with tf.device(lambda op: "/gpu:1"):
        with tf.device("/cpu:0"):
            a = tf.no_op()
    with tf.device("/job:w/cpu:0"):
        with tf.device(lambda op: "/task:2"):
            b = tf.no_op()
    return Told([a.device, b.device])


@snippet
def device_functions_nest(tf):
    order = []

    def outer(op):
        order.append("outer:" + op.device)
        return "/gpu:0"

    def inner(op):
        order.append("inner:" + op.device)
        return "/cpu:0"

    with tf.device(outer), tf.device(inner):
        a = tf.no_op()
    return Told([order, a.device])


@snippet
def device_function_and_none(tf):
    with tf.device(lambda op: "/gpu:1"):
        with tf.device(None):
            a = tf.no_op()
            with tf.device("/cpu:0"):
                b = tf.no_op()
    return Told([a.device, b.device])


@snippet
def device_function_and_variables(tf):
    with tf.device(lambda op: "/cpu:0" if op.type.startswith("Variable") else ""):
        v = tf.Variable(1.0, name="v")
        w = v + 1.0
    return w


@snippet
def device_scope_of_graph(tf):
    with tf.get_default_graph().device("/cpu:0"):
        return tf.constant(1.0)


@snippet
def device_spec_in_scope(tf):
    with tf.device(tf.DeviceSpec(job="w", device_type="GPU", device_index=1)):
        with tf.device(tf.DeviceSpec(task=2)):
            return Told(tf.no_op().device)


@snippet
def device_spec_methods(tf):
    s = tf.DeviceSpec.from_string("/job:w/task:1/gpu:0")
    return Told([s.job, s.replica, s.task, s.device_type, s.device_index, s.to_string(), s == tf.DeviceSpec.from_string(s.to_string())])


@snippet
def device_setter_round_robin(tf):
    setter = tf.train.replica_device_setter(ps_tasks=2, worker_device="/job:worker/task:3")
    with tf.device(setter):
        vs = [tf.Variable(float(i), name="v%d" % i) for i in range(3)]
        s = tf.add_n(vs)
    return Told([v.device for v in vs] + [s.device])


@snippet(cpus=3)
def several_cpus(tf):
    with tf.device("/cpu:1"):
        a = tf.constant([1.0, 2.0])
    with tf.device("/cpu:2"):
        b = a * 2.0
    return tf.reduce_sum(b)


@snippet(cpus=2)
def variable_on_second_cpu(tf):
    with tf.device("/cpu:1"):
        v = tf.Variable([1.0, 2.0], name="v")
    return Steps([v, tf.assign_add(v, [1.0, 1.0]), v * 2.0])


@snippet(cpus=2)
def full_device_name(tf):
    with tf.device("/job:localhost/replica:0/task:0/device:CPU:1"):
        return tf.constant(1) + 1


# Colocation


@snippet
def colocate_with_constant(tf):
    a = tf.constant(1.0, name="a")
    with tf.colocate_with(a):
        b = tf.constant(2.0, name="b")
    return a + b


@snippet
def colocation_copies_the_device(tf):
    with tf.device("/cpu:0"):
        a = tf.constant(1.0, name="a")
    with tf.colocate_with(a.op):
        return tf.constant(2.0, name="b")


@snippet
def colocation_beats_device_scopes(tf):
    a = tf.constant(1.0, name="a")
    with tf.device("/cpu:0"):
        with tf.colocate_with(a.op):
            b = tf.constant(2.0, name="b")
            with tf.device("/gpu:0"):
                c = tf.constant(3.0, name="c")
    return Told([(o.op.device, o.op.colocation_groups()) for o in (b, c)])


@snippet
def colocation_nested(tf):
    a = tf.constant(1.0, name="a")
    z = tf.constant(1.0, name="z")
    with tf.colocate_with(z.op):
        with tf.colocate_with(a.op):
            b = tf.constant(2.0, name="b")
        with tf.colocate_with(a.op, ignore_existing=True):
            c = tf.constant(2.0, name="c")
        with tf.colocate_with(None, ignore_existing=True):
            d = tf.constant(2.0, name="d")
    return [b, c, d]


@snippet
def colocation_of_colocated(tf):
    a = tf.constant(1.0, name="a")
    with tf.colocate_with(a.op):
        b = tf.constant(2.0, name="b")
    with tf.colocate_with(b.op):
        return tf.constant(3.0, name="c")


@snippet
def colocation_with_variable(tf):
    v = tf.Variable(1.0, name="v")
    with tf.colocate_with(v):
        return tf.constant(2.0, name="b")


@snippet
def colocation_of_assignments(tf):
    with tf.device("/cpu:0"):
        v = tf.Variable(1.0, name="v")
    with tf.device("/gpu:0"):
        a = tf.assign(v, 2.0)
        b = tf.assign_add(v, 1.0)
    return Told([(x.op.device, x.op.colocation_groups(), x.op.inputs[1].op.device) for x in (a, b)])


@snippet
def colocation_groups_default_to_self(tf):
    return Told(tf.constant(1, name="a").op.colocation_groups())


# Control dependencies


@snippet
def control_dependencies_basic(tf):
    a = tf.constant(1.0, name="a")
    with tf.control_dependencies([a]):
        b = tf.constant(2.0, name="b")
    return b


@snippet
def control_dependencies_nested(tf):
    a, b, c = (tf.constant(float(i), name=n) for i, n in enumerate("abc"))
    with tf.control_dependencies([a, b]):
        with tf.control_dependencies([c]):
            d = tf.constant(4.0, name="d")
    return d


@snippet
def control_dependencies_cleared(tf):
    a, b = tf.constant(1, name="a"), tf.constant(2, name="b")
    with tf.control_dependencies([a]):
        with tf.control_dependencies(None):
            c = tf.constant(3, name="c")
            with tf.control_dependencies([b]):
                d = tf.constant(4, name="d")
        e = tf.constant(5, name="e")
    return [c, d, e]


@snippet
def control_dependencies_pruned_when_an_input_has_them(tf):
    a = tf.constant(1.0, name="a")
    x = tf.constant(1.0, name="x")
    with tf.control_dependencies([a]):
        b = tf.identity(x, name="b")
        c = tf.identity(b, name="c")
        d = tf.add(a, c, name="d")
        e = tf.add(x, x, name="e")
    return [d, e]


@snippet
def control_dependencies_complex(tf):
    names = {}
    with tf.control_dependencies([tf.constant(1, name="a1"), tf.constant(2, name="a2")]):
        with tf.control_dependencies([tf.constant(3, name="a3")]):
            names["b1"] = tf.constant(4, name="b1")
        names["b2"] = tf.add(names["b1"], 1, name="b2")
        with tf.control_dependencies([names["b2"]]):
            names["b3"] = tf.constant(5, name="b3")
    return names


@snippet
def control_dependencies_on_ops_and_variables(tf):
    v = tf.Variable(1, name="v")
    n = tf.no_op(name="n")
    with tf.control_dependencies([v, n, n]):
        return tf.constant(1, name="c")


@snippet
def control_dependencies_order_updates(tf):
    v = tf.Variable(1, name="v")
    first = tf.assign(v, 5)
    with tf.control_dependencies([first]):
        second = tf.assign_add(v, 10)
    with tf.control_dependencies([second]):
        return Steps([v.read_value(), second.op, v])


@snippet
def control_dependencies_with_a_name_scope(tf):
    a = tf.constant(1, name="a")
    with tf.name_scope("s"), tf.control_dependencies([a]):
        return tf.identity(2, name="i")


@snippet
def group_on_one_device(tf):
    a, b = tf.constant(1, name="a"), tf.constant(2, name="b")
    return tf.group(a, b, name="g")


@snippet
def group_on_two_devices(tf):
    with tf.device("/cpu:0"):
        a = tf.constant(1, name="a")
    b = tf.constant(2, name="b")
    return tf.group(a, b, name="g")


@snippet
def group_of_nothing(tf):
    return tf.group(name="g")


@snippet
def tuple_waits_for_all(tf):
    a, b = tf.constant(1, name="a"), tf.constant(2.0, name="b")
    return tf.tuple([a, b], name="t")


@snippet
def with_dependencies(tf):
    a = tf.constant(1, name="a")
    with tf.control_dependencies([tf.Assert(a > 0, [a])]):
        return tf.identity(a)


@snippet
def collections(tf):
    tf.add_to_collection("k", 1)
    tf.add_to_collection("k", 2)
    tf.Variable(1.0, name="v")
    tf.Variable(1.0, name="w", trainable=False)
    g = tf.get_default_graph()
    return Told([tf.get_collection("k"), [v.name for v in tf.global_variables()], [v.name for v in tf.trainable_variables()],
                 sorted(g.get_all_collection_keys()), tf.get_collection("none")])


@snippet
def fetch_structures(tf):
    a, b = tf.constant(1), tf.constant([2.0])
    return {"a": a, "list": [b, (a, b)], "op": a.op, "name": "Const:0", "empty": []}


@snippet
def feed_any_tensor(tf):
    a = tf.constant(1.0) + 2.0
    b = a * 3.0
    return Fed([a, b], {a: 10.0})


@snippet
def feed_by_name(tf):
    p = tf.placeholder(tf.int32, [None], name="p")
    return Fed(p + 1, {"p:0": [1, 2]})


@snippet
def summaries_of_shapes(tf):
    s = tf.TensorShape([None, 3])
    return Told([str(s), s.as_list(), s.ndims, s.is_fully_defined(), s.is_compatible_with([2, 3]), str(s.merge_with([4, None])),
                 str(s.concatenate([1])), s[1].value, tf.TensorShape(None).ndims, str(tf.TensorShape([2]).with_rank(1)),
                 tf.TensorShape([2, 3]).num_elements()])


@snippet
def dtype_objects(tf):
    return Told([tf.float32.name, tf.int32.size, tf.as_dtype("float64").name, tf.bool.as_numpy_dtype.__name__, tf.int8.max,
                 tf.uint8.min, tf.float16.is_floating, tf.string.is_integer, tf.float32 == "float32", tf.complex64.real_dtype.name,
                 tf.as_dtype("string") == tf.string, repr(tf.qint8), tf.int64.as_datatype_enum])
