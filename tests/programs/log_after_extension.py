# env: EMPLACE_VIRTUAL_GPUS=2
# oracle: none
import emplace.compat.v1 as tf

a = tf.constant(1.0, name="a")
sess = tf.Session(config=tf.ConfigProto(log_device_placement=True))
print("session made")
print(sess.run(a))
print(sess.run(a))
with tf.device("/gpu:1"):
    b = tf.constant(2.0, name="b")
c = tf.add(a, b, name="c")
unrelated = tf.constant(3.0, name="unrelated")
print("graph extended")
print(sess.run(b))
print(sess.run(c))
print(sess.run(unrelated))
