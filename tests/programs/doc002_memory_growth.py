# env: EMPLACE_VIRTUAL_GPUS=2
# oracle: none
import emplace as tf

tf.config.gpu.set_per_process_memory_growth()

a = tf.constant([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], shape=[2, 3], name='a')
b = tf.constant([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], shape=[3, 2], name='b')
print(tf.matmul(a, b))
try:
  tf.config.gpu.set_per_process_memory_growth()
except RuntimeError as e:
  print(e)
