# env: EMPLACE_VIRTUAL_GPUS=1
# oracle: none
import emplace.compat.v1 as tf

sess = tf.Session()
with tf.device("/gpu:0"):
    i = tf.Variable(3)

try:
    sess.run(i.initializer)
except tf.errors.InvalidArgumentError as error:
    print(type(error).__name__, error.error_code == tf.errors.INVALID_ARGUMENT)
    print("Cannot assign a device to node 'Variable': " in error.message)
    print("Could not satisfy explicit device specification" in error.message)
    print(error.op is i.op, error.node_def.name, error.node_def.op, error.node_def.device)

# "If you change the initialization value to 3.0, or set dtype=tf.float32, everything will work."
for arguments in ({"initial_value": 3.0}, {"initial_value": 3, "dtype": tf.float32}):
    with tf.Graph().as_default(), tf.device("/gpu:0"):
        j = tf.Variable(**arguments)
        with tf.Session() as sess:
            sess.run(j.initializer)
            print(sess.run(j))
