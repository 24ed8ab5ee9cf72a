import numpy as np
import tensorflow as tf

# The Mandelbrot set and Conway's game of life.
Y, X = np.mgrid[-1.3:1.3:0.13, -2:1:0.1]
Z = X + 1j * Y
c = tf.constant(Z.astype(np.complex64))
zs = tf.Variable(c)
ns = tf.Variable(tf.zeros_like(c, tf.float32))


@tf.function
def step(c, zs, ns):
    zs_ = zs * zs + c
    not_diverged = tf.abs(zs_) < 4
    ns.assign_add(tf.cast(not_diverged, tf.float32))
    zs.assign(tf.where(not_diverged, zs_, zs))


for _ in tf.range(12):
    step(c, zs, ns)
for row in ns.numpy().astype(int):
    print("".join(" .:-=+*#%@@@@"[v] for v in row))
print(zs.dtype, zs.shape, tf.math.real(zs)[0, :3], tf.math.conj(c)[0, 0].numpy(), tf.math.angle(c)[0, 0])


@tf.function
def life(board):
    kernel = tf.reshape(tf.constant([1, 1, 1, 1, 0, 1, 1, 1, 1], tf.float32), [3, 3, 1, 1])
    n = tf.nn.conv2d(tf.cast(board, tf.float32)[None, :, :, None], kernel, strides=1, padding="SAME")
    n = tf.cast(tf.squeeze(n), tf.int32)
    born = tf.logical_and(tf.equal(board, 0), tf.equal(n, 3))
    stays = tf.logical_and(tf.equal(board, 1), tf.logical_or(tf.equal(n, 2), tf.equal(n, 3)))
    return tf.cast(tf.logical_or(born, stays), tf.int32)


board = tf.scatter_nd([[0, 1], [1, 2], [2, 0], [2, 1], [2, 2]], tf.ones([5], tf.int32), [6, 6])
for generation in range(3):
    print(tf.strings.reduce_join(tf.gather([".", "#"], board), axis=1, separator="").numpy())
    board = life(board)
print(tf.where(board), tf.reduce_sum(board), tf.math.count_nonzero(board))
shifted = sum(tf.roll(board, [i, j], axis=[0, 1]) for i in (-1, 0, 1) for j in (-1, 0, 1)) - board
print(shifted)
