# env: EMPLACE_VIRTUAL_GPUS=1
# oracle: none
# compare: sorted
import emplace.compat.v1 as tf

with tf.device("/cpu:0"):
    a = tf.Variable(3.0)
    b = tf.constant(4.0)

c = a * b

config = tf.ConfigProto()
config.log_device_placement = True
sess = tf.Session(config=config)
a.initializer.run(session=sess)
print(sess.run(c))
