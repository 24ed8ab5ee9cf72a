import emplace.compat.v1 as tf

first, second = tf.Graph(), tf.Graph()
with first.as_default():
    v = tf.Variable(1.0, name="v")
    bump = tf.assign_add(v, 1.0)
with second.as_default():
    w = tf.Variable(100.0, name="v")
    print(tf.get_default_graph() is second, w.name, w.graph is second)
    with first.as_default():
        print(tf.constant(0.0, name="k").graph is first)
    with tf.Graph().as_default():
        print(len(tf.get_default_graph().get_operations()))
s1, s2, s3 = tf.Session(graph=first), tf.Session(graph=first), tf.Session(graph=second)
for s, variable in ((s1, v), (s2, v), (s3, w)):
    s.run(variable.initializer)
print(s1.run(bump), s1.run(bump), s2.run(v), s3.run(w))
try:
    s3.run(v)
except ValueError as error:
    print("ValueError -", error)
try:
    with second.as_default():
        tf.add(v, w)
except ValueError as error:
    print("ValueError -", str(error)[:60])
with s1:
    print(v.eval(), tf.get_default_graph() is first)
    try:
        w.eval()
    except ValueError as error:
        print("ValueError -", error)
with tf.Session(graph=second) as s4, s4.graph.as_default():
    print(s4.run(tf.constant(3)))
tf.reset_default_graph()
print(len(tf.get_default_graph().get_operations()))
try:
    with first.as_default():
        tf.reset_default_graph()
except AssertionError as error:
    print("AssertionError -", error)
# A graph may grow between runs.
with first.as_default():
    more = v * 10.0
print(s2.run(more))
for s in (s2, s3):
    s.close()
