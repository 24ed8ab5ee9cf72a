import tensorflow as tf

# A line fitted with a GradientTape, as the basic training guide does it.
TRUE_W, TRUE_B, N = 3.0, 2.0, 201
x = tf.linspace(-2, 2, N)
x = tf.cast(x, tf.float32)
noise = tf.random.stateless_normal(shape=[N], seed=(1, 2))
y = x * TRUE_W + TRUE_B + noise


class MyModel(tf.Module):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.w = tf.Variable(5.0)
        self.b = tf.Variable(0.0)

    def __call__(self, x):
        return self.w * x + self.b


model = MyModel()
print("Variables:", model.variables)
assert model(3.0).numpy() == 15.0


def loss(target_y, predicted_y):
    return tf.reduce_mean(tf.square(target_y - predicted_y))


print("Untrained model loss: %1.6f" % loss(y, model(x)).numpy())


def train(model, x, y, learning_rate):
    with tf.GradientTape() as t:
        current_loss = loss(y, model(x))
    dw, db = t.gradient(current_loss, [model.w, model.b])
    model.w.assign_sub(learning_rate * dw)
    model.b.assign_sub(learning_rate * db)


weights, biases = [], []
epochs = range(10)


def report(model, loss):
    return f"W = {model.w.numpy():1.2f}, b = {model.b.numpy():1.2f}, loss={loss:2.5f}"


def training_loop(model, x, y):
    for epoch in epochs:
        train(model, x, y, learning_rate=0.1)
        weights.append(model.w.numpy())
        biases.append(model.b.numpy())
        current_loss = loss(y, model(x))
        print(f"Epoch {epoch:2d}:")
        print("    ", report(model, current_loss))


current_loss = loss(y, model(x))
print("Starting:")
print("    ", report(model, current_loss))
training_loop(model, x, y)
print([round(float(w), 3) for w in weights], [round(float(b), 3) for b in biases])
print(model.trainable_variables[0].name, model.submodules, model.name, model.name_scope)
