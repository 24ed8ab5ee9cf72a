"""Graph snippets: colocation, control dependencies, groups, collections, feeds and fetches."""

from snippet import Fed, Steps, Table, Told

snippet = Table()


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
    return Told(
        [
            tf.get_collection("k"),
            [v.name for v in tf.global_variables()],
            [v.name for v in tf.trainable_variables()],
            sorted(g.get_all_collection_keys()),
            tf.get_collection("none"),
        ]
    )


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
    return Told(
        [
            str(s),
            s.as_list(),
            s.ndims,
            s.is_fully_defined(),
            s.is_compatible_with([2, 3]),
            str(s.merge_with([4, None])),
            str(s.concatenate([1])),
            s[1].value,
            tf.TensorShape(None).ndims,
            str(tf.TensorShape([2]).with_rank(1)),
            tf.TensorShape([2, 3]).num_elements(),
        ]
    )


@snippet
def dtype_objects(tf):
    return Told(
        [
            tf.float32.name,
            tf.int32.size,
            tf.as_dtype("float64").name,
            tf.bool.as_numpy_dtype.__name__,
            tf.int8.max,
            tf.uint8.min,
            tf.float16.is_floating,
            tf.string.is_integer,
            tf.float32 == "float32",
            tf.complex64.real_dtype.name,
            tf.as_dtype("string") == tf.string,
            repr(tf.qint8),
            tf.int64.as_datatype_enum,
        ]
    )
