"""Graph snippets: names, devices, the graph as an object."""

from snippet import Steps, Table, Told

snippet = Table()


@snippet
def names_are_made_unique(tf):
    return [
        tf.constant(1),
        tf.constant(2),
        tf.constant(3, name="Const"),
        tf.constant(4, name="const"),
    ]


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
    return [
        x + 1.0,
        2.0 - x,
        x / x,
        -x,
        tf.add(x, 1.0),
        tf.add(1.0, x),
        tf.multiply(x, x, name="named"),
    ]


@snippet
def unique_name(tf):
    g = tf.get_default_graph()
    return Told(
        [
            g.unique_name("a"),
            g.unique_name("a"),
            g.unique_name("b", mark_as_used=False),
            g.unique_name("b"),
            tf.constant(1, name="a").name,
        ]
    )


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
    return Told(
        [
            g.get_tensor_by_name("a:0") is a,
            g.get_operation_by_name("a") is a.op,
            g.as_graph_element("a:0") is a,
            g.as_graph_element("a") is a.op,
            [o.name for o in g.get_operations()],
        ]
    )


@snippet
def operation_properties(tf):
    a = tf.placeholder(tf.float32, [2, 2], name="a")
    b = tf.matmul(a, a, name="b")
    o = b.op
    return Told(
        [
            o.name,
            o.type,
            o.device,
            [i.name for i in o.inputs],
            [i.name for i in o.outputs],
            o.get_attr("transpose_b"),
            str(o.get_attr("T")),
            b.value_index,
            b.dtype.name,
            [c.name for c in a.consumers()],
            o.node_def.op,
            list(o.node_def.input),
            repr(b),
            str(b),
            repr(o),
        ]
    )


@snippet
def several_outputs(tf):
    parts = tf.split(tf.constant([1, 2, 3, 4]), 2, name="parts")
    return Told(
        [
            [p.name for p in parts],
            [p.value_index for p in parts],
            len(parts[0].op.outputs),
            parts[0].op is parts[1].op,
        ]
    )


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
    names = [
        "/cpu:0",
        "/CPU:1",
        "/gpu:0",
        "/device:GPU:2",
        "/job:w/task:1",
        "/job:w/replica:0/task:1/cpu:0",
        "/task:3",
        "",
        "/gpu:*",
    ]
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
def device_of_any_type_keeps_its_index(tf):
    devices = []
    with tf.device("/device:*:1"):
        devices.append(tf.no_op().device)
        with tf.device("/job:a"):
            devices.append(tf.no_op().device)
        with tf.device("/gpu:*"):
            devices.append(tf.no_op().device)
    return Told(devices)


@snippet
def device_specs_of_any_type(tf):
    spec, gpu = (tf.DeviceSpec.from_string(s) for s in ("/device:*:1", "/gpu:3"))
    merged = [gpu.make_merged_spec(spec), spec.make_merged_spec(gpu)]
    return Told([spec.device_type, spec.device_index, *(s.to_string() for s in (spec, *merged))])


@snippet
def device_names_are_normalised_on_import(tf):
    made = tf.GraphDef()
    for i, device in enumerate(["/", "/cpu", "//cpu:0", "/cpu:0/", "cpu:0", "/device:cpu:0", "/device:*:0"]):
        made.node.add(name=f"n{i}", op="NoOp", device=device)
    tf.import_graph_def(made, name="")
    return tf.get_default_graph().get_operations()


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
    return Told(
        [
            s.job,
            s.replica,
            s.task,
            s.device_type,
            s.device_index,
            s.to_string(),
            s == tf.DeviceSpec.from_string(s.to_string()),
        ]
    )


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
