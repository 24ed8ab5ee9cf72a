# env: EMPLACE_VIRTUAL_GPUS=2
# oracle: none
import emplace.compat.v1 as tf

with tf.Session() as sess:
    for device in sess.list_devices():
        print(device.name, device.device_type)
with tf.Session(config=tf.ConfigProto(device_count={"GPU": 1})) as sess:
    print([device.name.rsplit("/", 1)[1] for device in sess.list_devices()])
print(tf.test.is_gpu_available(), tf.test.gpu_device_name())
