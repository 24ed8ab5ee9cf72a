# env: EMPLACE_VIRTUAL_GPUS=4
# oracle: none
"""Linear regression in towers: each GPU takes a slice, the CPU averages and updates."""

import numpy as np

import emplace.compat.v1 as tf

GPUS = 4
features = np.linspace(-1.0, 1.0, 32, dtype=np.float32).reshape(16, 2)
targets = features @ np.array([[3.0], [-2.0]], np.float32) + 1.0


def train(devices):
    with tf.Graph().as_default(), tf.device("/cpu:0"):
        x = tf.placeholder(tf.float32, [16, 2])
        y = tf.placeholder(tf.float32, [16, 1])
        weights = tf.Variable(tf.zeros([2, 1]), name="weights")
        bias = tf.Variable(tf.zeros([1]), name="bias")
        slices = zip(tf.split(x, len(devices)), tf.split(y, len(devices)))
        towers = []
        for device, (part_x, part_y) in zip(devices, slices):
            with tf.device(device):
                error = tf.matmul(part_x, weights) + bias - part_y
                towers.append(
                    (tf.matmul(part_x, error, transpose_a=True), tf.reduce_sum(error, axis=0))
                )
        grad_w, grad_b = [tf.add_n(list(parts)) / 16.0 for parts in zip(*towers)]
        step = tf.group(tf.assign_sub(weights, 0.5 * grad_w), tf.assign_sub(bias, 0.5 * grad_b))
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for _ in range(400):
                sess.run(step, {x: features, y: targets})
            return sess.run([weights, bias])


one = train(["/cpu:0"])
four = train(["/gpu:%d" % i for i in range(GPUS)])
prediction = features @ four[0] + four[1]
print(np.abs(prediction - targets).max() < 1e-3)
print(all(np.allclose(a, b, atol=1e-4) for a, b in zip(one, four)))
