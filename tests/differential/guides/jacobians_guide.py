"""Jacobians, Hessians, products, custom gradients."""
import tensorflow as tf

x = tf.linspace(-1.0, 1.0, 5)
delta = tf.Variable(0.0)
with tf.GradientTape() as tape:
    y = tf.nn.sigmoid(x + delta)
print(tape.jacobian(y, delta))
kernel = tf.Variable(tf.reshape(tf.range(10.0) / 10, [5, 2]))
x = tf.reshape(tf.range(15.0), [3, 5]) / 15
with tf.GradientTape(persistent=True) as tape:
    y = tf.nn.relu(x @ kernel - 0.3)
j = tape.jacobian(y, kernel)
print(y.shape, kernel.shape, j.shape, tf.reduce_sum(j, axis=[0, 1]), tape.gradient(y, kernel))
with tf.GradientTape() as t2:
    t2.watch(x)
    with tf.GradientTape() as t1:
        t1.watch(x)
        loss = tf.reduce_sum(tf.sin(x) ** 2)
    g = t1.gradient(loss, x)
h = t2.jacobian(g, x)
print(h.shape, tf.linalg.diag_part(tf.reshape(h, [15, 15])))
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tf.math.cumsum(x**2, axis=1)
bj = tape.batch_jacobian(y, x)
print(bj.shape, bj[1])


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


x = tf.constant(100.0)
with tf.GradientTape() as tape:
    tape.watch(x)
    y = log1pexp(x)
print(y, tape.gradient(y, x))


@tf.custom_gradient
def two(a, b):
    def grad(da, db):
        return da * 10.0, db * 100.0

    return (a * b, a + b), grad


a, b = tf.constant(2.0), tf.constant(5.0)
with tf.GradientTape() as tape:
    tape.watch([a, b])
    p, q = two(a, b)
    s = p + 2.0 * q
print(tape.gradient(s, [a, b]))
w = tf.Variable([1.0, 2.0])


@tf.custom_gradient
def with_variable(x):
    y = x * w

    def grad(dy, variables=None):
        return tf.reduce_sum(dy * w), [dy * x + len(variables)]

    return y, grad


with tf.GradientTape() as tape:
    tape.watch(a)
    y = with_variable(a)
print(tape.gradient(y, [a, w]))
primal, tangent = tf.constant([1.0, 2.0]), tf.constant([0.5, 0.25])
with tf.autodiff.ForwardAccumulator(primals=primal, tangents=tangent) as acc:
    y = tf.reduce_sum(primal**3)
print(acc.jvp(y))
with tf.autodiff.ForwardAccumulator(primal, tangent) as acc:
    with tf.GradientTape() as tape:
        tape.watch(primal)
        y = tf.reduce_sum(tf.exp(primal))
    g = tape.gradient(y, primal)
print(acc.jvp(g), acc.jvp(tf.constant(1.0)))


@tf.function
def newton(x):
    for _ in tf.range(6):
        with tf.GradientTape() as t:
            t.watch(x)
            y = x**2 - 2.0
        x = x - y / t.gradient(y, x)
    return x


print(newton(tf.constant(1.0)))
try:
    with tf.GradientTape() as t:
        y = v * [1.0, 2.0]
    t.gradient(y, "a")
except Exception as e:
    print(type(e).__name__)
print(tf.autodiff.ForwardAccumulator.__name__, tf.test.compute_gradient(lambda x: x**2, [tf.constant([1.0, 2.0])])[0])
print(tf.hessians is not None if hasattr(tf, "hessians") else None)
