import emplace.compat.v1 as tf

a = tf.Variable(1.0, name="a")
b = tf.Variable([1, 2], name="b")
add = tf.assign_add(a, 5.0, name="add")
sub = tf.assign_sub(b, [1, 1], name="sub")
both = tf.group(add, sub, name="both")
print(both.name, both.type, [op.name for op in both.control_inputs], both.outputs)
nested = tf.group([add, [sub]], name="nested")
print(sorted(op.name for op in nested.control_inputs))
with tf.device("/cpu:0"):
    pinned = tf.group(add, name="pinned")
print(pinned.device)
print(tf.group(name="empty").control_inputs)
gated = tf.tuple([add, None, tf.constant(3.0)], control_inputs=[sub.op], name="gate")
print([g if g is None else g.name for g in gated])
for op in tf.get_default_graph().get_operations():
    if op.name.startswith("gate"):
        print(
            op.name, op.type, [i.name for i in op.inputs], sorted(c.name for c in op.control_inputs)
        )
with tf.Session() as sess:
    print(sess.run(tf.global_variables_initializer()))
    print(sess.run(both))
    print(sess.run([a, b]))
    print(sess.run(gated[0]), sess.run(b))
for bad in (lambda: tf.group(1.0), lambda: tf.tuple([]), lambda: tf.tuple([None])):
    try:
        print(bad())
    except (TypeError, ValueError) as error:
        print(type(error).__name__, "-", error)
