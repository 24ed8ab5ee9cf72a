# env: EMPLACE_SPLIT_GPUS=1
"""A loop on a GPU of 64 MiB whose gradient needs 4 MiB of each round: what it keeps waits in host memory, when asked."""
import numpy as np
import emplace.compat.v1 as tf


def gradients(device: str, rounds: int, swap_memory: bool) -> list:
    with tf.Graph().as_default():
        with tf.device(device):
            x, w = tf.placeholder(tf.float32, [512, 1024]), tf.Variable(np.float32(1.01))
            _, y = tf.while_loop(lambda i, _: i < rounds, lambda i, a: (i + 1, tf.sin(a) * w), [0, x], swap_memory=swap_memory)
            loss = tf.gradients(tf.reduce_mean(y), [x, w])
        config = tf.ConfigProto()
        config.gpu_options.experimental.virtual_devices.add(memory_limit_mb=[64])
        with tf.Session(config=config) as session:
            session.run(tf.global_variables_initializer())
            for _ in range(3):
                values = session.run(loss, {x: np.linspace(0, 1, 512 * 1024).reshape(512, 1024)})
            return values


try:
    gradients("/gpu:0", 40, swap_memory=False)
except tf.errors.ResourceExhaustedError:
    print("no room")
for on_card, on_cpu in zip(gradients("/gpu:0", 40, swap_memory=True), gradients("/cpu:0", 40, swap_memory=False)):
    print(np.allclose(on_card, on_cpu, rtol=1e-3, atol=1e-9), np.abs(on_cpu).max() > 0)
