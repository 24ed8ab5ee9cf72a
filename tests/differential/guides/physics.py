import numpy as np
import tensorflow as tf

# Small numerical programs: heat, pendulum, PageRank, Newton, PCA, power iteration, Monte Carlo.


def laplace(u):
    k = tf.constant([[0.5, 1.0, 0.5], [1.0, -6.0, 1.0], [0.5, 1.0, 0.5]])[:, :, None, None]
    return tf.nn.conv2d(u[None, :, :, None], k, [1, 1, 1, 1], padding="SAME")[0, :, :, 0]


u = tf.Variable(tf.tensor_scatter_nd_update(tf.zeros([8, 8]), [[2, 3], [5, 5]], [1.0, -1.0]))
ut = tf.Variable(tf.zeros([8, 8]))


@tf.function
def pond(eps, damping):
    u_ = u + eps * ut
    ut_ = ut + eps * (laplace(u) - damping * ut)
    u.assign(u_)
    ut.assign(ut_)


for _ in range(20):
    pond(0.03, 0.04)
print(tf.reduce_sum(u).numpy().round(4), tf.reduce_max(u).numpy().round(4), u[2].numpy().round(3))


@tf.function
def rk4(f, y, t, dt):
    k1 = f(t, y)
    k2 = f(t + dt / 2, y + dt / 2 * k1)
    k3 = f(t + dt / 2, y + dt / 2 * k2)
    k4 = f(t + dt, y + dt * k3)
    return y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


pendulum = lambda t, y: tf.stack([y[1], -tf.sin(y[0])])
y = tf.constant([1.0, 0.0], tf.float64)
for i in range(10):
    y = rk4(pendulum, y, tf.constant(0.0, tf.float64), tf.constant(0.1, tf.float64))
print(y)
links = tf.sparse.SparseTensor([[0, 2], [1, 0], [2, 0], [2, 1]], [1.0, 0.5, 0.5, 1.0], [3, 3])
rank = tf.fill([3, 1], 1 / 3)
for _ in range(30):
    rank = 0.15 / 3 + 0.85 * tf.sparse.sparse_dense_matmul(links, rank)
print("ranks", tf.squeeze(rank))


@tf.function
def newton(f, x, steps):
    for _ in tf.range(steps):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                v = f(x)
            g = inner.gradient(v, x)
        h = outer.jacobian(g, x)
        x = x - tf.linalg.solve(h, g[:, None])[:, 0]
    return x, v


rosen = lambda x: (1 - x[0]) ** 2 + 5 * (x[1] - x[0] ** 2) ** 2
print(newton(rosen, tf.constant([-1.0, 2.0], tf.float64), tf.constant(8)))
data = tf.constant(np.random.RandomState(0).randn(20, 3) @ np.diag([3.0, 1.0, 0.1]))
centred = data - tf.reduce_mean(data, axis=0)
e, v = tf.linalg.eigh(tf.matmul(centred, centred, transpose_a=True) / 19)
print("explained", (e / tf.reduce_sum(e)).numpy().round(4), tf.abs(v[:, -1]).numpy().round(3))
b = tf.ones([3, 1], tf.float64)
A = tf.matmul(centred, centred, transpose_a=True)
b = tf.while_loop(lambda i, b: i < 50, lambda i, b: (i + 1, tf.math.l2_normalize(A @ b)), [tf.constant(0), b])[1]
print(tf.squeeze(tf.transpose(b) @ A @ b).numpy().round(6), tf.math.reduce_euclidean_norm(b))
pts = tf.random.stateless_uniform([20000, 2], [3, 3])
inside = tf.reduce_mean(tf.cast(tf.norm(pts, axis=1) < 1, tf.float32)) * 4
print("pi about %.3f" % inside, tf.math.reduce_variance(pts, axis=0).numpy().round(3))
walk = tf.cumsum(tf.where(tf.random.stateless_uniform([50], [4, 4]) < 0.5, -1, 1))
print(walk[:10], tf.reduce_max(walk), tf.math.argmin(walk), tf.unique(walk).y.shape)
signal = tf.sin(2 * np.pi * 5 * tf.range(64, dtype=tf.float32) / 64) + 0.5 * tf.cos(2 * np.pi * 12 * tf.range(64, dtype=tf.float32) / 64)
spectrum = tf.abs(tf.signal.rfft(signal))
print(tf.math.top_k(spectrum, 2).indices, tf.signal.irfft(tf.signal.rfft(signal))[:3].numpy().round(4))
x = tf.linspace(0.0, 3.0, 301)
print("integral %.4f" % tf.reduce_sum((tf.exp(-x[1:]) + tf.exp(-x[:-1])) / 2 * 0.01), tf.math.cumulative_logsumexp(x[:3]))
M = tf.constant([[2.0, 1.0], [1.0, 3.0]])
print(tf.linalg.expm(M), tf.linalg.sqrtm(M), tf.linalg.inv(M) @ M, tf.linalg.band_part(M, 0, -1), tf.linalg.cross([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]))
