"""Loops written by hand: linear regression, softmax, momentum, schedules, clipping."""
import numpy as np
import tensorflow as tf

TRUE_W, TRUE_B = 3.0, 2.0
x = tf.linspace(-2.0, 2.0, 41)
y = x * TRUE_W + TRUE_B + 0.1 * tf.sin(50 * x)


class MyModel(tf.Module):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.w = tf.Variable(5.0)
        self.b = tf.Variable(0.0)

    def __call__(self, x):
        return self.w * x + self.b


model = MyModel()
print("Variables:", model.variables)


def loss(target_y, predicted_y):
    return tf.reduce_mean(tf.square(target_y - predicted_y))


def train(model, x, y, learning_rate):
    with tf.GradientTape() as t:
        current_loss = loss(y, model(x))
    dw, db = t.gradient(current_loss, [model.w, model.b])
    model.w.assign_sub(learning_rate * dw)
    model.b.assign_sub(learning_rate * db)


for epoch in range(5):
    train(model, x, y, learning_rate=0.1)
    print(f"Epoch {epoch:2d}: W={model.w.numpy():1.2f} b={model.b.numpy():1.2f} loss={loss(y, model(x)):2.5f}")
rows = np.array([[0.0, 0.1], [0.9, 1.0], [0.1, 0.9], [1.0, 0.0]], np.float32)
labels = np.array([0, 0, 1, 1])
for optimizer in (
    tf.optimizers.SGD(0.5), tf.optimizers.SGD(0.1, momentum=0.9, nesterov=True), tf.optimizers.Adam(0.1),
    tf.optimizers.RMSprop(0.05), tf.optimizers.Adagrad(0.3), tf.optimizers.Adamax(0.1), tf.optimizers.Nadam(0.1),
    tf.optimizers.Adadelta(1.0), tf.optimizers.Ftrl(0.1), tf.optimizers.AdamW(0.1, weight_decay=0.01), tf.optimizers.Lion(0.01),
):  # fmt: skip
    w1 = tf.Variable([[0.5, -0.3, 0.2, 0.1], [0.4, 0.2, -0.1, 0.3]])
    b1 = tf.Variable(tf.zeros([4]))
    w2 = tf.Variable([[0.1, -0.1], [0.2, 0.3], [-0.4, 0.1], [0.3, 0.2]])
    for step in range(5):
        with tf.GradientTape() as tape:
            hidden = tf.tanh(rows @ w1 + b1)
            logits = hidden @ w2
            value = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
        variables = [w1, b1, w2]
        grads = tape.gradient(value, variables)
        grads, norm = tf.clip_by_global_norm(grads, 1.0)
        optimizer.apply_gradients(zip(grads, variables))
    print(type(optimizer).__name__, f"{value:.5f} {norm:.5f}", int(optimizer.iterations), f"{float(optimizer.learning_rate):.4f}")
schedule = tf.optimizers.schedules.ExponentialDecay(0.1, decay_steps=2, decay_rate=0.5, staircase=True)
opt = tf.optimizers.SGD(schedule)
v = tf.Variable([1.0, -1.0])
for _ in range(5):
    opt.apply_gradients([(2 * v, v)])
    print(v.numpy(), f"{float(opt.learning_rate):.4f}")
for s in (
    tf.optimizers.schedules.CosineDecay(1.0, 10), tf.optimizers.schedules.PiecewiseConstantDecay([2, 5], [1.0, 0.5, 0.1]),
    tf.optimizers.schedules.PolynomialDecay(1.0, 10, 0.1, power=2.0), tf.optimizers.schedules.InverseTimeDecay(1.0, 3, 0.5),
):  # fmt: skip
    print(type(s).__name__, [round(float(s(i)), 5) for i in (0, 3, 7, 12)])
metric = tf.metrics.Mean(name="loss")
accuracy = tf.metrics.SparseCategoricalAccuracy()
dataset = tf.data.Dataset.from_tensor_slices((rows, labels)).batch(3)
weights = tf.Variable(tf.ones([2, 2]) * [[0.1, -0.1]])


@tf.function
def step(features, target):
    with tf.GradientTape() as tape:
        logits = features @ weights
        value = tf.losses.SparseCategoricalCrossentropy(from_logits=True)(target, logits)
    weights.assign_sub(0.5 * tape.gradient(value, weights))
    metric.update_state(value)
    accuracy.update_state(target, logits)


for epoch in range(3):
    for features, target in dataset:
        step(features, target)
    print(f"{epoch} {metric.result():.5f} {accuracy.result():.3f}")
    metric.reset_state()
    accuracy.reset_state()
emb = tf.Variable(tf.reshape(tf.range(8.0), [4, 2]))
opt = tf.optimizers.SGD(0.5)
with tf.GradientTape() as tape:
    value = tf.reduce_sum(tf.nn.embedding_lookup(emb, [1, 3, 1]) ** 2)
g = tape.gradient(value, emb)
print(type(g).__name__, g.indices, g.values)
opt.apply_gradients([(g, emb)])
print(emb)
try:
    opt.apply_gradients([(None, emb)])
except ValueError as e:
    print(str(e)[:60])
try:
    tf.optimizers.SGD(0.5).apply_gradients([(tf.ones([3, 3]), emb)])
except Exception as e:
    print(type(e).__name__)
