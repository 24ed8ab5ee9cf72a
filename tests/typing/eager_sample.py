"""An eager program as users write it, for the type checker."""

from __future__ import annotations

import numpy as np

import emplace as tf


class Line(tf.Module):
    def __init__(self, units: int) -> None:
        super().__init__(name="line")
        self.w = tf.Variable(tf.zeros([3, units]), name="w")
        self.b = tf.Variable(tf.zeros([units]), trainable=True)

    @tf.function
    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        y: tf.Tensor = tf.nn.relu(x @ self.w + self.b)
        return y


def train(model: Line, data: tf.data.Dataset, rate: float) -> list[float]:
    seen = []
    for x, y in data.shuffle(10, seed=1).batch(2, drop_remainder=True).prefetch(tf.data.AUTOTUNE):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x) - y))
        for v, g in zip(model.trainable_variables, tape.gradient(loss, model.trainable_variables)):
            v.assign_sub(rate * g)
        seen.append(float(loss.numpy()))
    return seen


def main() -> None:
    x, y = np.ones((4, 3), np.float32), np.zeros((4, 2), np.float32)
    model = Line(2)
    print(train(model, tf.data.Dataset.from_tensor_slices((x, y)), 0.1))
    with tf.device("/cpu:0"), tf.GradientTape() as tape:
        value = tf.reduce_mean(model(tf.constant(x, dtype=tf.float32)))
    assert len(tape.gradient(value, model.trainable_variables)) == 2
    try:
        tf.debugging.assert_equal(tf.shape(x)[0], 5)
    except tf.errors.InvalidArgumentError as e:
        print(type(e).__name__, tf.version.VERSION == tf.__version__)
    ragged = tf.ragged.constant([[1], [2, 3]])
    spec = tf.TensorSpec([None, 3], tf.float32)
    print(ragged.row_lengths().numpy().tolist(), spec.shape.as_list(), spec.dtype == tf.float32, -tf.constant(1) < 2)
    print(tf.raw_ops.MatMul(a=[[1.0]], b=[[2.0]]).numpy(), tf.strings.join(["a", "b"]).numpy(), tf.config.list_physical_devices("CPU")[0].device_type)


if __name__ == "__main__":
    main()
