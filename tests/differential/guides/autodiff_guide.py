"""Gradients, watched and not, of scalars, matrices, models and control flow."""
import tensorflow as tf

x = tf.Variable(3.0)
with tf.GradientTape() as tape:
    y = x**2
print(tape.gradient(y, x).numpy())
w = tf.Variable([[0.1, -0.2], [0.3, 0.4], [-0.5, 0.6]], name="w")
b = tf.Variable(tf.zeros(2, dtype=tf.float32), name="b")
x = [[1.0, 2.0, 3.0]]
with tf.GradientTape(persistent=True) as tape:
    y = x @ w + b
    loss = tf.reduce_mean(y**2)
dl_dw, dl_db = tape.gradient(loss, [w, b])
print(dl_dw, dl_db)
print(tape.gradient(loss, {"w": w, "b": b})["b"])
x0 = tf.Variable(3.0, name="x0")
x1 = tf.Variable(3.0, name="x1", trainable=False)
x2 = tf.Variable(2.0, name="x2") + 1.0
x3 = tf.constant(3.0, name="x3")
with tf.GradientTape() as tape:
    y = (x0**2) + (x1**2) + (x2**2)
for g in tape.gradient(y, [x0, x1, x2, x3]):
    print(g)
print([var.name for var in tape.watched_variables()])
x = tf.constant(3.0)
with tf.GradientTape() as tape:
    tape.watch(x)
    y = x**2
print(tape.gradient(y, x).numpy())
x0, x1 = tf.Variable(0.0), tf.Variable(10.0)
with tf.GradientTape(watch_accessed_variables=False) as tape:
    tape.watch(x1)
    y0 = tf.math.sin(x0)
    y1 = tf.nn.softplus(x1)
    ys = tf.reduce_sum(y0 + y1)
grad = tape.gradient(ys, {"x0": x0, "x1": x1})
print("dy/dx0:", grad["x0"], "dy/dx1:", grad["x1"].numpy())
x = tf.constant([1, 3.0])
with tf.GradientTape(persistent=True) as tape:
    tape.watch(x)
    y = x * x
    z = y * y
print(tape.gradient(z, x).numpy(), tape.gradient(y, x).numpy())
del tape
x = tf.Variable(2.0)
with tf.GradientTape() as tape:
    y = x * [3.0, 4.0]
print(tape.gradient(y, x).numpy())
x = tf.linspace(-10.0, 10.0, 5)
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tf.nn.sigmoid(x)
print(tape.gradient(y, x))
x = tf.constant(1.0)
v0, v1 = tf.Variable(2.0), tf.Variable(2.0)
with tf.GradientTape(persistent=True) as tape:
    tape.watch(x)
    if x > 0.0:
        result = v0
    else:
        result = v1**2
dv0, dv1 = tape.gradient(result, [v0, v1])
print(dv0, dv1, tape.gradient(result, x))
x = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
with tf.GradientTape() as tape:
    x2 = x**2
    y = tf.reduce_mean(x2.numpy(), axis=0)
    y = tf.reduce_mean(y, axis=0)
print(tape.gradient(y, x))
x = tf.constant(10)
with tf.GradientTape() as g:
    g.watch(x)
    y = x * x
print(g.gradient(y, x))
x0, x1 = tf.Variable(3.0), tf.Variable(0.0)
with tf.GradientTape() as tape:
    x1.assign_add(x0)
    y = x1**2
print(tape.gradient(y, x0))
x = tf.Variable([2.0, 2.0])
y = tf.Variable(3.0)
with tf.GradientTape() as tape:
    z = y**2
print(tape.gradient(z, x, unconnected_gradients=tf.UnconnectedGradients.ZERO))
try:
    tape.gradient(z, y)
except RuntimeError as e:
    print(e)
image = tf.Variable([[[0.5, 0.0, 0.0]]])
delta = tf.Variable(0.1)
try:
    with tf.GradientTape() as tape:
        new_image = tf.image.adjust_contrast(image, delta)
    print(tape.gradient(new_image, [image, delta]))
except LookupError as e:
    print("LookupError", e)
x = tf.Variable(2.0)
y = tf.Variable(3.0)
with tf.GradientTape() as t:
    x_sq = x * x
    with t.stop_recording():
        y_sq = y * y
    z = x_sq + y_sq
print(t.gradient(z, {"x": x, "y": y}))
with tf.GradientTape() as t:
    y_sq = y**2
    z = x**2 + tf.stop_gradient(y_sq)
print(t.gradient(z, {"x": x, "y": y}))
reset = True
with tf.GradientTape() as t:
    y_sq = y * y
    if reset:
        t.reset()
    z = x * x + y_sq
print(t.gradient(z, {"x": x, "y": y}))
x = tf.Variable(1.0)
with tf.GradientTape() as t2:
    with tf.GradientTape() as t1:
        y = x * x * x
    dy_dx = t1.gradient(y, x)
d2y_dx2 = t2.gradient(dy_dx, x)
print(dy_dx.numpy(), d2y_dx2.numpy())
