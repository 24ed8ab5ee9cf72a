# env: EMPLACE_VIRTUAL_GPUS=2
# oracle: none
"""What gpu_options says of devices and their memory holds."""
import emplace.compat.v1 as tf


def devices(gpu_options):
    with tf.Session(config=tf.ConfigProto(gpu_options=gpu_options)) as sess:
        return [(d.name[-5:], d.memory_limit_bytes >> 20) for d in sess.list_devices() if d.device_type == "GPU"]


print(devices(tf.GPUOptions()))
print(devices(tf.GPUOptions(per_process_gpu_memory_fraction=0.25)))
print(devices(tf.GPUOptions(visible_device_list="1")))
cut = tf.GPUOptions()
cut.experimental.virtual_devices.add(memory_limit_mb=[100, 200])
cut.experimental.virtual_devices.add()
print(devices(cut))
cut.visible_device_list = "0"
try:
    devices(cut)
except tf.errors.OpError as e:
    print(type(e).__name__, "virtual_devices" in str(e))
print(devices(tf.GPUOptions(force_gpu_compatible=True, experimental=tf.GPUOptions.Experimental(use_cuda_malloc_async=True))))
