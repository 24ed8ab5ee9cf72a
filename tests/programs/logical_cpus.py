"""One CPU as two devices: eager tensors say on which of them they were made."""
import emplace as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
print(tf.config.list_logical_devices("CPU"))
with tf.device("CPU:1"):
    a = tf.constant([1.0, 2.0])
    b = tf.add(a, 1.0)
    c = a * b
    v = tf.Variable([3.0, 4.0])
print(a.device, b.device, c.device, v.device)
print((b * 2.0).device)  # made outside the block
print(a.cpu().device, tf.identity(a).device)
print(c.numpy(), (v + c).numpy())
