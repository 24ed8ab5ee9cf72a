import emplace.compat.v1 as tf

graph = tf.Graph()
with graph.as_default():
    print(tf.constant(1.0).name, tf.constant(1.0).name, tf.constant(1.0, name="Const").name)
    print(
        tf.constant(1.0, name="a").name,
        tf.constant(1.0, name="A").name,
        tf.constant(1.0, name="a_1").name,
        tf.constant(1.0, name="a").name,
    )
    with tf.name_scope("outer") as outer:
        print(repr(outer), tf.constant(1.0, name="x").name)
        with tf.name_scope("inner") as inner:
            print(repr(inner), tf.no_op().name)
        with tf.name_scope("inner") as inner:
            print(repr(inner), tf.no_op().name)
        with tf.name_scope(None) as top:
            print(repr(top), tf.no_op().name)
        with tf.name_scope(""):
            print(tf.no_op().name)
    with tf.name_scope("outer") as again:
        print(repr(again), tf.constant(1.0, name="x").name)
    with tf.name_scope(outer):
        print(tf.constant(1.0, name="x").name, tf.constant(1.0, name="y").name)
    with tf.name_scope(None, "default", [1.0]) as scope:
        print(repr(scope))
    x = tf.constant(2.0, name="x")
    print(
        (x + 1.0).name,
        (x + 1.0).name,
        (1.0 - x).name,
        (x * x).name,
        (-x).name,
        x[None].name,
        abs(x).name,
    )
    print([op.name for op in graph.get_operations()])
    print(
        graph.unique_name("x"),
        graph.unique_name("x"),
        graph.unique_name("new"),
        graph.unique_name("new"),
        graph.unique_name("new", mark_as_used=False),
    )
    print(tf.constant(0, name="new").name)
    for bad in ("bad name", "_hidden", "a:b", "/a", "dash-ed", "dot.ted", "slash/ed"):
        try:
            print(tf.no_op(name=bad).name)
        except ValueError as error:
            print("ValueError -", error)
    for bad in ("with space", "_x", "ok-name", "1digit"):
        try:
            with tf.name_scope(bad) as scope:
                print(scope)
        except ValueError as error:
            print("ValueError -", error)
    print(graph.get_tensor_by_name("a:0").name, graph.get_operation_by_name("outer/x").name)
    print(
        graph.as_graph_element("a").name,
        graph.as_graph_element("a:0").name,
        graph.as_graph_element(x) is x,
    )
    for lookup in (
        lambda: graph.get_tensor_by_name("a"),
        lambda: graph.get_tensor_by_name("a:1"),
        lambda: graph.get_tensor_by_name("nope:0"),
        lambda: graph.get_operation_by_name("nope"),
        lambda: graph.get_operation_by_name("a:0"),
        lambda: graph.get_tensor_by_name(3),
        lambda: graph.as_graph_element(3),
    ):
        try:
            print(lookup())
        except (KeyError, ValueError, TypeError) as error:
            print(type(error).__name__, "-", error)
    graph.finalize()
    print(graph.finalized)
    try:
        tf.constant(1.0)
    except RuntimeError as error:
        print("RuntimeError -", error)
