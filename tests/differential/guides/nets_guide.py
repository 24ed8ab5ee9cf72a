"""Networks by hand: convolutions, pools, norms, attention, recurrence, losses, linear algebra, images, signals."""
import numpy as np
import tensorflow as tf

img = tf.reshape(tf.range(32.0) / 32, [1, 4, 4, 2])
k = tf.reshape(tf.range(24.0) / 24 - 0.5, [2, 2, 2, 3])
print(tf.nn.conv2d(img, k, 1, "SAME").shape, tf.reduce_sum(tf.nn.conv2d(img, k, 2, "VALID")), tf.nn.conv2d(img, k, [1, 1, 1, 1], [[0, 0], [1, 1], [1, 1], [0, 0]]).shape)
print(tf.nn.max_pool2d(img, 2, 2, "VALID")[0, :, :, 0], tf.nn.avg_pool2d(img, 2, 1, "SAME").shape, tf.nn.depthwise_conv2d(img, k, [1, 1, 1, 1], "SAME").shape, tf.nn.conv2d_transpose(img, tf.ones([2, 2, 3, 2]), [1, 8, 8, 3], 2).shape)
print(tf.nn.conv1d(tf.ones([1, 5, 2]), tf.ones([3, 2, 1]), 1, "VALID"), tf.nn.conv3d(tf.ones([1, 2, 2, 2, 1]), tf.ones([1, 1, 1, 1, 1]), [1] * 5, "SAME").shape, tf.nn.separable_conv2d(img, tf.ones([2, 2, 2, 1]), tf.ones([1, 1, 2, 3]), [1, 1, 1, 1], "VALID").shape)
x = tf.constant([[1.0, 2.0, 3.0], [-1.0, 0.0, 1.0]])
for f in (tf.nn.relu, tf.nn.relu6, tf.nn.elu, tf.nn.selu, tf.nn.gelu, tf.nn.silu, tf.nn.softplus, tf.nn.softsign, tf.nn.softmax, tf.nn.log_softmax, tf.nn.sigmoid, tf.nn.tanh, tf.nn.leaky_relu, tf.nn.l2_normalize):
    print(tf.round(f(x)[1] * 1e4))
mean, var = tf.nn.moments(x, axes=[0])
print(mean, var, tf.nn.batch_normalization(x, mean, var, 0.1, 2.0, 1e-3), tf.nn.weighted_moments(x, 0, [[1.0], [3.0]]), tf.nn.local_response_normalization(img)[0, 0, 0])
labels = tf.constant([2, 0])
print(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, x), tf.nn.softmax_cross_entropy_with_logits(tf.one_hot(labels, 3), x), tf.nn.sigmoid_cross_entropy_with_logits(tf.zeros_like(x), x)[0], tf.nn.weighted_cross_entropy_with_logits(tf.ones_like(x), x, 2.0)[1], tf.nn.l2_loss(x), tf.nn.log_poisson_loss(tf.ones_like(x), x)[0])
print(tf.math.in_top_k([0, 2], x, 1), tf.nn.top_k(x, 2), tf.math.confusion_matrix([0, 1, 1], [0, 1, 0]), tf.nn.embedding_lookup(x, [1, 0]), tf.nn.bias_add(x, [1.0, 2.0, 3.0]), tf.nn.zero_fraction(x))
for loss in (tf.losses.MeanSquaredError(), tf.losses.MeanAbsoluteError(), tf.losses.Huber(), tf.losses.CategoricalCrossentropy(from_logits=True), tf.losses.KLDivergence(), tf.losses.CosineSimilarity(), tf.losses.Hinge(), tf.losses.LogCosh(), tf.losses.Poisson(), tf.losses.BinaryCrossentropy(label_smoothing=0.1), tf.losses.MeanSquaredError(reduction="none"), tf.losses.MeanSquaredError(reduction="sum")):
    print(type(loss).__name__, loss.name, loss([[0.0, 1.0], [1.0, 0.0]], [[0.2, 0.7], [0.6, 0.3]]), loss([[0.0, 1.0], [1.0, 0.0]], [[0.2, 0.7], [0.6, 0.3]], sample_weight=[1.0, 0.5]))
for metric in (tf.metrics.Mean(), tf.metrics.Sum(), tf.metrics.RootMeanSquaredError(), tf.metrics.BinaryAccuracy(), tf.metrics.AUC(), tf.metrics.Precision(), tf.metrics.Recall(), tf.metrics.MeanAbsoluteError()):
    if isinstance(metric, (tf.metrics.Mean, tf.metrics.Sum)) and not isinstance(metric, tf.metrics.RootMeanSquaredError) and type(metric).__name__ in ("Mean", "Sum"):
        metric.update_state([1.0, 2.0, 4.0])
    else:
        metric.update_state([0.0, 1.0, 1.0], [0.2, 0.7, 0.4])
    print(metric.name, metric.result())


def attention(q, k, v, mask=None):
    scores = tf.matmul(q, k, transpose_b=True) / tf.sqrt(tf.cast(tf.shape(k)[-1], tf.float32))
    if mask is not None:
        scores += mask * -1e9
    weights = tf.nn.softmax(scores, axis=-1)
    return tf.einsum("bhqk,bhkd->bhqd", weights, v), weights


q = tf.reshape(tf.sin(tf.range(24.0)), [1, 2, 3, 4])
out, weights = attention(q, q, q, 1 - tf.linalg.band_part(tf.ones([3, 3]), -1, 0))
print(out[0, 0], weights[0, 1])


class GRU(tf.Module):
    def __init__(self, n_in, n):
        super().__init__()
        self.n = n
        self.w = tf.Variable(tf.sin(tf.reshape(tf.range(float((n_in + n) * 2 * n)), [n_in + n, 2 * n])))
        self.c = tf.Variable(tf.cos(tf.reshape(tf.range(float((n_in + n) * n)), [n_in + n, n])))

    @tf.function
    def __call__(self, xs):
        h = tf.zeros([tf.shape(xs)[0], self.n])
        outputs = tf.TensorArray(tf.float32, size=tf.shape(xs)[1])
        for t in tf.range(tf.shape(xs)[1]):
            x = xs[:, t]
            r, z = tf.split(tf.sigmoid(tf.concat([x, h], 1) @ self.w), 2, axis=1)
            candidate = tf.tanh(tf.concat([x, r * h], 1) @ self.c)
            h = z * h + (1 - z) * candidate
            outputs = outputs.write(t, h)
        return tf.transpose(outputs.stack(), [1, 0, 2]), h


gru = GRU(2, 3)
xs = tf.reshape(tf.range(12.0) / 12, [2, 3, 2])
with tf.GradientTape() as tape:
    ys, h = gru(xs)
    loss = tf.reduce_sum(ys**2)
print(ys[0], h, [tf.reduce_sum(g).numpy() for g in tape.gradient(loss, gru.trainable_variables)])
a = tf.constant([[4.0, 1.0], [1.0, 3.0]])
print(tf.linalg.inv(a), tf.linalg.det(a), tf.linalg.cholesky(a), tf.linalg.solve(a, [[1.0], [2.0]]), tf.linalg.eigvalsh(a), tf.linalg.svd(a, compute_uv=False), tf.linalg.trace(a), tf.norm(a), tf.linalg.expm(tf.zeros([2, 2])), tf.linalg.lstsq(a, [[1.0], [2.0]]), tf.linalg.matrix_rank(a), tf.linalg.logdet(a), tf.linalg.qr(a)[1].shape, tf.linalg.pinv(a), tf.linalg.cross([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]), tf.linalg.adjoint(a), tf.linalg.normalize(a)[1], tf.linalg.band_part(a, 0, -1), tf.linalg.triangular_solve(tf.linalg.cholesky(a), [[1.0], [2.0]]))
print(tf.image.resize(img, [2, 2])[0, :, :, 0], tf.image.resize(img, [8, 8], method="nearest").shape, tf.image.flip_left_right(img)[0, 0, :, 0], tf.image.rgb_to_grayscale(tf.ones([2, 2, 3])).shape, tf.image.adjust_brightness(img, 0.1)[0, 0, 0], tf.image.central_crop(img[0], 0.5).shape, tf.image.convert_image_dtype(tf.constant([[[255]]], tf.uint8), tf.float32), tf.image.per_image_standardization(img[0])[0, 0], tf.image.ssim(img[..., :1], img[..., :1], 1.0, filter_size=3), tf.image.psnr(img, img + 0.1, 1.0), tf.image.total_variation(img), tf.image.rot90(img)[0, 0, 0])
print(tf.signal.fft(tf.constant([1, 2, 3, 4], tf.complex64)), tf.signal.rfft([1.0, 2.0, 3.0]), tf.signal.frame(tf.range(6), 3, 2), tf.signal.hann_window(4), tf.signal.dct([1.0, 2.0, 3.0]), tf.signal.stft(tf.ones([8]), 4, 2).shape, tf.signal.overlap_and_add(tf.ones([2, 3]), 2))
print(tf.math.erf(0.5), tf.math.lgamma(3.5), tf.math.digamma(1.0), tf.math.igamma(1.0, 2.0), tf.math.betainc(1.0, 2.0, 0.5), tf.math.zeta(2.0, 1.0), tf.math.polygamma(1.0, 2.0), tf.math.bessel_i0(1.0), tf.math.atan2(1.0, 2.0), tf.math.expm1(0.1), tf.math.log1p(0.1), tf.math.xlogy(0.0, 0.0), tf.math.nextafter(1.0, 2.0), tf.math.cumulative_logsumexp([1.0, 2.0]), tf.math.reduce_variance([1.0, 2.0, 4.0]), tf.math.reduce_std([1.0, 2.0, 4.0]), tf.math.reduce_euclidean_norm([3.0, 4.0]), tf.math.squared_difference(1.0, 3.0), tf.math.rsqrt(4.0), tf.math.ndtri(0.3))
print(np.mean(tf.constant([1.0, 2.0])), np.asarray(tf.constant([1, 2])) + 1, tf.constant(np.float32(1.5)) * np.array([1.0, 2.0], np.float32), tf.experimental.numpy.mean(tf.constant([1, 2])))
