import emplace.compat.v1 as tf

a = tf.constant(1.0)
b = a + 2.0

with tf.control_dependencies([a, b]):
    x = tf.constant(3.0)
    y = tf.constant(4.0)

z = x + y

# Ours from here on: what did the program above do?

with tf.Session() as sess:
    print(sess.run(z))
    print(sess.run([a, b, x, y, z]))
for tensor in (a, b, x, y, z):
    print(tensor.op.name, [op.name for op in tensor.op.control_inputs])
