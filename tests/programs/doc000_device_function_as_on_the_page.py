# env: EMPLACE_VIRTUAL_GPUS=1
# oracle: none
# compare: sorted
import emplace.compat.v1 as tf

def variables_on_cpu(op):
    if op.type == "Variable":
        return "/cpu:0"
    else:
        return "/gpu:0"

with tf.device(variables_on_cpu):
    a = tf.Variable(3.0)

b = tf.constant(4.0)
c = a * b

# Ours from here on: what did the program above do?

for op in tf.get_default_graph().get_operations():
    print(op.name, op.type, op.device)
with tf.Session(config=tf.ConfigProto(log_device_placement=True)) as sess:
    sess.run(a.initializer)
    print(sess.run(c))
