# env: EMPLACE_VIRTUAL_GPUS=1
# oracle: none
# exit: 1
import emplace.compat.v1 as tf

sess = tf.Session()
with tf.device("/gpu:0"):
    i = tf.Variable(3)

sess.run(i.initializer)
