import numpy as np
import tensorflow as tf

# Matrix factorisation on a sparse rating matrix, alternating least squares and SGD.
users, items, rank = 6, 5, 2
ratings = {(0, 0): 5.0, (0, 1): 3.0, (1, 0): 4.0, (1, 3): 1.0, (2, 2): 5.0, (3, 4): 4.0, (4, 1): 2.0, (5, 3): 3.0, (5, 4): 5.0}
R = tf.sparse.SparseTensor(indices=list(ratings), values=list(ratings.values()), dense_shape=[users, items])
print(R)
print(tf.sparse.to_dense(R), R.dtype, R.shape)
U = tf.Variable(tf.random.stateless_normal([users, rank], [0, 1], stddev=0.5))
V = tf.Variable(tf.random.stateless_normal([items, rank], [0, 2], stddev=0.5))


def build_rating(R, U, V):
    return tf.reduce_sum(tf.gather(U, R.indices[:, 0]) * tf.gather(V, R.indices[:, 1]), axis=1)


def loss_fn():
    err = R.values - build_rating(R, U, V)
    return tf.reduce_mean(err**2) + 0.01 * (tf.reduce_sum(U**2) / users + tf.reduce_sum(V**2) / items)


opt = tf.optimizers.Adagrad(0.5)
for i in range(61):
    with tf.GradientTape() as tape:
        l = loss_fn()
    g = tape.gradient(l, (U, V))
    if i == 0:
        print(type(g).__name__, type(g[0]).__name__, tf.convert_to_tensor(g[0]).shape)
    opt.apply_gradients(zip(g, (U, V)))
    if i % 20 == 0:
        print(i, "%.4f" % l)
full = tf.matmul(U, V, transpose_b=True)
print(full.shape, (full.numpy() >= 0).mean() > 0.3)
A = tf.constant(np.arange(12.0).reshape(4, 3) % 5 + np.eye(4, 3))
s, u, v = tf.linalg.svd(A)
print(s, u.shape, v.shape)
print(tf.reduce_max(tf.abs(A - u @ tf.linalg.diag(s) @ tf.linalg.adjoint(v))).numpy() < 1e-12)
x = tf.linalg.lstsq(A, tf.ones([4, 1], tf.float64), l2_regularizer=0.1)
print(x)
q, r = tf.linalg.qr(A)
print(tf.abs(tf.linalg.diag_part(r)), tf.linalg.matrix_rank(A), tf.linalg.pinv(A).shape)
sym = tf.matmul(A, A, transpose_a=True)
e = tf.linalg.eigvalsh(sym)
print(e, tf.linalg.trace(sym) - tf.reduce_sum(e) < 1e-9, tf.linalg.det(sym), tf.linalg.logdet(sym))
chol = tf.linalg.cholesky(sym)
print(tf.linalg.cholesky_solve(chol, tf.ones([3, 1], tf.float64)))
print(tf.sparse.sparse_dense_matmul(R, tf.ones([items, 1])), tf.sparse.reduce_sum(R, axis=1))
print(tf.sparse.transpose(R).dense_shape, tf.sparse.slice(R, [0, 0], [2, 2]).values, tf.sparse.retain(R, R.values > 3.0).indices)
R2 = R.with_values(R.values * 2)
print(tf.sparse.add(R, R2).values, tf.sparse.concat(1, [R, R2]).shape, tf.sparse.reorder(R).values[:2])
for x in tf.sparse.split(sp_input=R, num_split=2, axis=0):
    print(x.dense_shape, x.values)
