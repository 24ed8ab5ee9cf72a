import tensorflow as tf

# Beyond the guide: stop_recording, reset, custom gradients, nested tapes, jacobians, forward mode.
x, y = tf.Variable(2.0), tf.Variable(3.0)
with tf.GradientTape() as t:
    x_sq = x * x
    with t.stop_recording():
        y_sq = y * y
    z = x_sq + y_sq
print("dz/dx:", t.gradient(z, {"x": x, "y": y}))
reset = True
with tf.GradientTape() as t:
    y_sq = y * y
    if reset:
        t.reset()
    z = x * x + y_sq
print(t.gradient(z, [x, y], unconnected_gradients=tf.UnconnectedGradients.ZERO))


@tf.custom_gradient
def clip_gradients(y):
    def backward(dy):
        return tf.clip_by_norm(dy, 0.5)

    return y, backward


v = tf.Variable(2.0)
with tf.GradientTape() as t:
    output = clip_gradients(v * v)
print(t.gradient(output, v))


@tf.custom_gradient
def log1pexp(x):
    e = tf.exp(x)

    def grad(upstream):
        return upstream * (1 - 1 / (1 + e))

    return tf.math.log(1 + e), grad


p = tf.constant(100.0)
with tf.GradientTape() as g:
    g.watch(p)
    q = log1pexp(p)
print(g.gradient(q, p), q)
with tf.GradientTape(persistent=True) as t2:
    with tf.GradientTape(persistent=True) as t1:
        f = x**3 + x * y
    d1 = t1.gradient(f, [x, y])
d2 = [t2.gradient(d, [x, y]) for d in d1]
print(d1, d2)
w = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
with tf.GradientTape(persistent=True) as tape:
    o = tf.tanh(tf.constant([[0.1, 0.2], [0.3, -0.1], [0.0, 1.0]]) @ w)
j = tape.jacobian(o, w)
print(j.shape, tf.reduce_sum(j, [0, 1]).numpy().round(4), tape.batch_jacobian if False else "")
inp = tf.constant([[1.0, 2.0], [3.0, 4.0]])
with tf.GradientTape() as tape:
    tape.watch(inp)
    s = inp * inp * tf.constant([[1.0], [2.0]])
print(tape.batch_jacobian(s, inp))
with tf.autodiff.ForwardAccumulator(primals=x, tangents=tf.constant(1.0)) as acc:
    f = tf.sin(x) * x
print(acc.jvp(f))
with tf.GradientTape() as t:
    t.watch(inp)
    pieces = [tf.reduce_sum(r) ** 2 for r in tf.unstack(inp)]
print(t.gradient(pieces, inp), t.watched_variables())
with tf.GradientTape(watch_accessed_variables=False) as t:
    t.watch(x)
    f = x * y
print(t.gradient(f, [x, y]))
with tf.GradientTape() as t:
    f = tf.cast(tf.cast(x, tf.int32), tf.float32) * y
print(t.gradient(f, [x, y]))
try:
    t.gradient(f, x)
except Exception as e:
    print(f"{type(e).__name__}: {e}")
image = tf.Variable([[0.0, 0.0, 0.0]])
with tf.GradientTape() as t:
    e = tf.image.adjust_brightness(image[None, :, :] + 0.1, 2.0)
print(t.gradient(e, image))
with tf.GradientTape() as t:
    m = tf.where(image > -1, tf.exp(image), image) + tf.maximum(image, 0.0)
print(t.gradient(m, image, output_gradients=tf.constant([[1.0, 2.0, 3.0]])))


@tf.function
def hvp(vec):
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            f = tf.reduce_sum(w**3)
        g = inner.gradient(f, w)
        prod = tf.reduce_sum(g * vec)
    return outer.gradient(prod, w)


print(hvp(tf.ones([2, 2])), tf.gradients if False else "")
print(tf.recompute_grad(lambda a: a * a)(tf.constant(3.0)), tf.grad_pass_through(tf.round)(2.6), tf.stop_gradient(x))
