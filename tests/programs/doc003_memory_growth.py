# env: EMPLACE_VIRTUAL_GPUS=1
# oracle: none
import emplace.compat.v1 as tf

config = tf.ConfigProto()
config.gpu_options.allow_growth = True
session = tf.Session(config=config)

# Ours from here on: what did the program above do?

product = tf.matmul(tf.constant([[1.0, 2.0]]), tf.constant([[3.0], [4.0]]))
print(session.run(product))
print(config)
