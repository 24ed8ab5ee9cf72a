import collections

import emplace.compat.v1 as tf

Point = collections.namedtuple("Point", ["x", "y"])

a = tf.constant(1.0, name="a")
b = tf.constant([2, 3], name="b")
c = tf.add(a, 4.0, name="c")
nothing = tf.no_op(name="nothing")

with tf.Session() as sess:
    print(sess.run(a))
    print(sess.run([a, c]))
    print(sess.run((a, c)))
    print(sess.run({"a": a, "inner": {"b": b, "list": [c, (a,)]}}))
    print(sess.run(Point(x=a, y=[b, c])))
    print(sess.run([a, a, [a]]))
    print(sess.run([]), sess.run(()), sess.run({}))
    print(sess.run(nothing), sess.run([nothing, a]), sess.run({"op": c.op, "value": c}))
    print(sess.run("c:0"), sess.run(["a:0", "nothing"]))
    ordered = sess.run(collections.OrderedDict([("z", a), ("y", c)]))
    print(type(ordered).__name__, list(ordered))
    point = sess.run(Point(a, c))
    print(type(point) is Point, point.x, point.y)
    print(type(sess.run(a)).__name__, type(sess.run(b)).__name__, sess.run(b).dtype)

    for bad in (None, 3.0, [a, None], {"a": object}, "missing:0", "c", "c:1"):
        try:
            print(sess.run(bad))
        except (TypeError, ValueError) as error:
            print(type(error).__name__, "-", error)

    with tf.Graph().as_default():
        stranger = tf.constant(0.0, name="stranger")
    try:
        sess.run(stranger)
    except ValueError as error:
        print(type(error).__name__, "-", error)
