"""Training loops with every optimizer."""

import os

import numpy as np
import tensorflow as tf

x = tf.linspace(-2.0, 2.0, 21)
y = x * x - 3 * x + 1

class Model(tf.Module):

    def __init__(self):
        self.w = tf.Variable([0.0, 0.0, 0.0])

    def __call__(self, x):
        return self.w[0] * x * x + self.w[1] * x + self.w[2]
model = Model()
loss = lambda: tf.reduce_mean((model(x) - y) ** 2)
for opt in [tf.optimizers.SGD(0.05), tf.optimizers.SGD(0.05, momentum=0.9), tf.optimizers.SGD(0.05, momentum=0.9, nesterov=True), tf.optimizers.Adam(0.1), tf.optimizers.Adagrad(0.5), tf.optimizers.RMSprop(0.05), tf.optimizers.Adam(0.1, amsgrad=True), tf.optimizers.RMSprop(0.05, momentum=0.5, centered=True), tf.optimizers.Adadelta(1.0), tf.optimizers.Adamax(0.1), tf.optimizers.Nadam(0.1), tf.optimizers.Ftrl(0.1), tf.optimizers.AdamW(0.1), tf.optimizers.Lion(0.01)]:
    model.w.assign([0.0, 0.0, 0.0])
    for i in range(10):
        with tf.GradientTape() as t:
            l = loss()
        opt.apply_gradients(zip(t.gradient(l, [model.w]), [model.w]))
    print(opt.name, np.round(model.w.numpy(), 3), opt.iterations.numpy())
o = tf.optimizers.SGD(0.1)
print(float(o.learning_rate))
o.learning_rate = 0.5
print(float(o.learning_rate))
o.learning_rate.assign(0.25)
print(float(o.learning_rate.numpy()))
s = tf.optimizers.schedules.ExponentialDecay(0.1, 100, 0.9)
print([round(float(s(i)), 5) for i in (0, 50, 100, 200)])
print(round(float(tf.optimizers.schedules.PiecewiseConstantDecay([10, 20], [1.0, 0.5, 0.1])(15)), 3), round(float(tf.optimizers.schedules.PolynomialDecay(1.0, 100)(50)), 4), round(float(tf.optimizers.schedules.CosineDecay(1.0, 100)(25)), 4), round(float(tf.optimizers.schedules.InverseTimeDecay(1.0, 10, 0.5)(25)), 4))
o = tf.optimizers.SGD(s)
model.w.assign([0.0, 0.0, 0.0])
with tf.GradientTape() as t:
    l = loss()
o.apply_gradients(zip(t.gradient(l, [model.w]), [model.w]))
print(np.round(model.w.numpy(), 4))

@tf.function
def step(opt):
    with tf.GradientTape() as t:
        l = loss()
    g = t.gradient(l, [model.w])
    opt.apply_gradients(zip(g, [model.w]))
    return l
o = tf.optimizers.Adam(0.1)
print([round(float(step(o)), 3) for _ in range(3)])
