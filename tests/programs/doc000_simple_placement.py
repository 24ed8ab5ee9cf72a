# env: EMPLACE_VIRTUAL_GPUS=1
# oracle: none
# compare: sorted
import emplace.compat.v1 as tf

with tf.device("/cpu:0"):
    a = tf.Variable(3.0)
    b = tf.constant(4.0)

c = a * b

# Ours from here on: what did the program above do?

print([repr(op.device) for op in (a.op, a.initializer, b.op, c.op)])
with tf.Session(config=tf.ConfigProto(log_device_placement=True)) as sess:
    sess.run(a.initializer)
    print(sess.run(c))
    print(sess.run(c))
