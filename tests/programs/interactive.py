import emplace.compat.v1 as tf

sess = tf.InteractiveSession()
a = tf.constant(5.0)
b = tf.Variable(6.0)
b.initializer.run()
c = a * b
print(c.eval(), b.eval())
print(tf.get_default_session() is sess)
p = tf.placeholder(tf.float32)
print((p + a).eval(feed_dict={p: 1.0}))
tf.assign(b, 7.0).op.run()
print(sess.run(c))
tf.global_variables_initializer().run()
print(c.eval())
sess.close()
print(tf.get_default_session())
graph = tf.Graph()
with graph.as_default():
    d = tf.constant(1.0) + 1.0
inner = tf.InteractiveSession(graph=graph)
print(d.eval(), tf.get_default_graph() is graph)
inner.close()
