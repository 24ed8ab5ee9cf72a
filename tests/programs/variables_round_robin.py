# env: EMPLACE_VIRTUAL_GPUS=4
# oracle: none
# compare: sorted
import itertools

import emplace.compat.v1 as tf

gpus = itertools.cycle(range(4))


def round_robin(op):
    return "/gpu:%d" % next(gpus) if op.type == "Variable" else "/cpu:0"


with tf.device(round_robin):
    variables = [tf.Variable(float(n), name="v%d" % n) for n in range(5)]
total = tf.add_n(variables, name="total")
with tf.Session(config=tf.ConfigProto(log_device_placement=True)) as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run(total))
