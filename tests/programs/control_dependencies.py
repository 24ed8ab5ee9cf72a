import emplace.compat.v1 as tf


def controls(x):
    op = x if isinstance(x, tf.Operation) else x.op
    return [c.name for c in op.control_inputs]


a = tf.constant(1.0, name="a")
b = tf.constant(2.0, name="b")
with tf.control_dependencies([a]):
    c = tf.constant(3.0, name="c")
    d = tf.identity(b, name="d")
    e = tf.identity(d, name="e")
    with tf.control_dependencies([b]):
        f = tf.constant(4.0, name="f")
        with tf.control_dependencies(None):
            g = tf.constant(5.0, name="g")
            with tf.control_dependencies([c]):
                h = tf.no_op(name="h")
    i = tf.add(a, b, name="i")
    j = tf.no_op(name="j")
with tf.control_dependencies([a, a.op, a]):
    k = tf.no_op(name="k")
with tf.control_dependencies([]):
    m = tf.no_op(name="m")
for x in (c, d, e, f, g, h, i, j, k, m):
    print(x.name, controls(x))

counter = tf.Variable(0, name="counter")
one = tf.assign_add(counter, 1)
with tf.control_dependencies([one]):
    ten = tf.assign_add(counter, 10)
    with tf.control_dependencies([ten]):
        read = tf.identity(counter.read_value(), name="final")
print(controls(ten), controls(read))
with tf.Session() as sess:
    sess.run(counter.initializer)
    print(sess.run(read))
    print(sess.run(read))
    sess.run(one)
    print(sess.run(counter))
    sess.run(tf.group(one, ten))
    print(sess.run(counter))

for bad in ([1.0], ["nowhere"], 3, [object()]):
    try:
        with tf.control_dependencies(bad):
            tf.no_op()
    except (TypeError, KeyError, ValueError) as error:
        print(type(error).__name__)
try:
    with tf.Graph().as_default():
        with tf.control_dependencies([a]):
            tf.no_op()
except ValueError as error:
    print("ValueError -", error)
