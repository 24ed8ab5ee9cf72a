# env: EMPLACE_VIRTUAL_GPUS=1
# oracle: none
# compare: sorted
import emplace.compat.v1 as tf

with tf.device("/gpu:0"):
    i = tf.Variable(3)

config = tf.ConfigProto()
config.allow_soft_placement = True
config.log_device_placement = True
sess = tf.Session(config=config)
sess.run(i.initializer) # the placer runs and falls back to /cpu:0
print(sess.run(i))
