import emplace.compat.v1 as tf

a = tf.constant(2.0)
sess = tf.Session()
print(sess.run(a))
sess.close()
for action in (lambda: sess.run(a), lambda: sess.run(a, {a: 1.0}), lambda: a.eval(session=sess)):
    try:
        print(action())
    except RuntimeError as error:
        print("RuntimeError -", error)
sess.close()
for action in (lambda: a.eval(), lambda: a.op.run(), lambda: tf.get_default_session()):
    try:
        print(action())
    except ValueError as error:
        print("ValueError -", error)
try:
    tf.Session(graph=tf.Graph()).run([])
except RuntimeError as error:
    print("RuntimeError -", error)
for bad in (
    lambda: tf.Session(graph=3),
    lambda: tf.Session(config=3),
    lambda: tf.Session(target=3),
):
    try:
        bad()
    except TypeError as error:
        print("TypeError -", error)
with tf.Session() as first:
    print(tf.get_default_session() is first, a.eval())
    with tf.Session() as second:
        print(tf.get_default_session() is second)
    print(tf.get_default_session() is first)
print(tf.get_default_session())
third = tf.Session()
with third.as_default():
    print(a.eval() + 1)
print(third.run(a), third.graph is tf.get_default_graph())
third.close()
