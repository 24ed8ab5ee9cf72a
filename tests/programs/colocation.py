import emplace.compat.v1 as tf


def show(x):
    op = x.op
    print(op.name, repr(op.device), op.colocation_groups())


with tf.device("/cpu:1"):
    a = tf.constant(1.0, name="a")
b = tf.constant(2.0, name="b")
with tf.colocate_with(a.op):
    c = tf.constant(3.0, name="c")
    with tf.device("/cpu:2"):
        d = tf.constant(4.0, name="d")
    with tf.colocate_with(b):
        e = tf.constant(5.0, name="e")
    with tf.colocate_with(b, ignore_existing=True):
        f = tf.constant(6.0, name="f")
    with tf.colocate_with(None, ignore_existing=True):
        g = tf.constant(7.0, name="g")
with tf.device("/cpu:2"):
    with tf.colocate_with(a.op):
        h = tf.constant(8.0, name="h")
    with tf.colocate_with(b.op):
        i = tf.constant(9.0, name="i")
with tf.colocate_with(e.op):
    j = tf.constant(10.0, name="j")
for x in (a, b, c, d, e, f, g, h, i, j):
    show(x)
print(e.op.get_attr("_class"))
try:
    with tf.colocate_with(None):
        pass
except ValueError as error:
    print("ValueError -", error)
try:
    b.op.get_attr("_class")
except ValueError as error:
    print("ValueError -", str(error)[:32])

v = tf.Variable(1.0, name="v")
with tf.colocate_with(v.op):
    w = tf.constant(2.0, name="w")
update = tf.assign_add(v, w, name="update")
for x in (w, update):
    show(x)
print(
    [
        op.name
        for op in tf.get_default_graph().get_operations()
        if b"loc:@v" in op.colocation_groups()
    ]
)
with tf.Session(config=tf.ConfigProto(device_count={"CPU": 3})) as sess:
    print(sess.run([a, c, e, g, h, i]))
    sess.run(v.initializer)
    print(sess.run(update))
