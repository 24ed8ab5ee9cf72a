# env: EMPLACE_VIRTUAL_GPUS=2
# oracle: none
"""One GPU is cut into two with memory limits of their own; the other stays whole."""
import emplace as tf

first, second = tf.config.list_physical_devices("GPU")
parts = [tf.config.LogicalDeviceConfiguration(memory_limit=m) for m in (16, 32)]
tf.config.set_logical_device_configuration(first, parts)
for device in tf.config.list_logical_devices("GPU"):
    print(device)
for name in ("/gpu:0", "/gpu:1", "/gpu:2"):
    with tf.device(name):
        x = tf.ones([1024, 1024])
        print(x.device, float(tf.reduce_sum(x)))
with tf.device("/gpu:0"):
    try:
        tf.zeros([5 * 1024, 1024])
    except tf.errors.ResourceExhaustedError as e:
        print(type(e).__name__, "GPU:0" in str(e))
with tf.device("/gpu:1"):
    print(tf.zeros([5 * 1024, 1024]).shape)
try:
    tf.config.set_logical_device_configuration(second, parts)
except RuntimeError as e:
    print(e)
