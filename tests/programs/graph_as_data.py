import emplace.compat.v1 as tf

graph = tf.Graph()
with graph.as_default():
    a = tf.placeholder(tf.float32, [None, 2], name="a")
    with tf.device("/cpu:0"):
        b = tf.constant([[1.0], [2.0]], name="b")
    c = tf.matmul(a, b, name="c")
    with tf.control_dependencies([b]):
        d = tf.identity(c, name="d")
    parts = tf.split(d, 1, axis=1, name="parts")
definition = graph.as_graph_def()
for node in definition.node:
    print(
        node.name,
        node.op,
        list(node.input),
        repr(node.device),
        sorted(a for a in node.attr if not a.startswith("_")),
    )
print(
    definition.node[1].attr["value"].tensor.dtype,
    [d.size for d in definition.node[1].attr["value"].tensor.tensor_shape.dim],
)
print(definition.node[0].attr["shape"].shape.dim[0].size, definition.node[0].attr["dtype"].type)
print(d.op.node_def.name, list(d.op.node_def.input))
print(
    [t.name for t in c.op.inputs], [t.name for t in c.op.outputs], [o.name for o in c.consumers()]
)
print(c.op.get_attr("transpose_a"), c.op.get_attr("T"), a.op.get_attr("shape") is not None)
print(c.value_index, c.op.outputs[0] is c, c.graph is graph, c.op.graph is graph)
print(
    len(graph.get_operations()),
    graph.version == len(graph.get_operations()),
    graph.building_function,
)
print(tf.Graph().as_graph_def().node == [], len(definition.SerializeToString()) > 0)
copy = type(definition)()
copy.CopyFrom(definition)
print(copy == definition)
copy.node[0].name = "other"
print(copy == definition)
print(repr(c), repr(c.op), repr(a), sep="\n")
print(c, b, sep="\n")
print(graph.is_fetchable(c), graph.seed)
