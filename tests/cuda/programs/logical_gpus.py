# env: EMPLACE_SPLIT_GPUS=1
"""A card is cut into two with memory limits of their own."""
import emplace as tf

card = tf.config.list_physical_devices("GPU")[0]
parts = [tf.config.LogicalDeviceConfiguration(memory_limit=m) for m in (64, 512)]
tf.config.set_logical_device_configuration(card, parts)
for device in tf.config.list_logical_devices("GPU"):
    print(device)
for name in ("/gpu:0", "/gpu:1"):
    with tf.device(name):
        x = tf.ones([1024, 1024])
        print(x.device, float(tf.reduce_sum(x)))
with tf.device("/gpu:0"):
    try:
        tf.zeros([20 * 1024, 1024])
    except tf.errors.ResourceExhaustedError as e:
        print(type(e).__name__, "GPU:0" in str(e))
with tf.device("/gpu:1"):
    print(tf.zeros([20 * 1024, 1024]).shape)
    y = tf.identity(x)
with tf.device("/gpu:0"):
    print(float(tf.reduce_sum(y + 1.0)))
try:
    tf.config.set_logical_device_configuration(card, parts[:1])
except RuntimeError as e:
    print(e)
