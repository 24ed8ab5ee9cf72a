# env: EMPLACE_VIRTUAL_GPUS=1
# oracle: none
import emplace.compat.v1 as tf

a = tf.constant(1.0)
b = a + 2.0

with tf.control_dependencies([a, b]):
    x = tf.constant(3.0)
    y = tf.constant(4.0)

z = x + y

# Ours from here on: what did the program above do?
print(tf.Session().run(z))
