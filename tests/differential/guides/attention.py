import numpy as np
import tensorflow as tf

# Scaled dot-product attention, positional encoding, masks, layer normalisation, label smoothing.


def positional_encoding(length, depth):
    depth = depth / 2
    positions = np.arange(length)[:, np.newaxis]
    depths = np.arange(depth)[np.newaxis, :] / depth
    angle_rads = positions / (10000**depths)
    return tf.cast(np.concatenate([np.sin(angle_rads), np.cos(angle_rads)], axis=-1), dtype=tf.float32)


def create_padding_mask(seq):
    seq = tf.cast(tf.math.equal(seq, 0), tf.float32)
    return seq[:, tf.newaxis, tf.newaxis, :]


def create_look_ahead_mask(size):
    return 1 - tf.linalg.band_part(tf.ones((size, size)), -1, 0)


def scaled_dot_product_attention(q, k, v, mask):
    matmul_qk = tf.matmul(q, k, transpose_b=True)
    dk = tf.cast(tf.shape(k)[-1], tf.float32)
    logits = matmul_qk / tf.math.sqrt(dk)
    if mask is not None:
        logits += mask * -1e9
    weights = tf.nn.softmax(logits, axis=-1)
    return tf.matmul(weights, v), weights


print(positional_encoding(4, 6))
print(create_padding_mask(tf.constant([[7, 6, 0, 0, 1], [1, 2, 3, 0, 0]])))
print(create_look_ahead_mask(3))
k = tf.constant([[10, 0, 0], [0, 10, 0], [0, 0, 10], [0, 0, 10]], dtype=tf.float32)
v = tf.constant([[1, 0], [10, 0], [100, 5], [1000, 6]], dtype=tf.float32)
for q in ([[0, 10, 0]], [[0, 0, 10]], [[10, 10, 0]]):
    out, w = scaled_dot_product_attention(tf.constant(q, tf.float32), k, v, None)
    print(w.numpy().round(3), out.numpy().round(3))


class MultiHead(tf.Module):
    def __init__(self, d_model, heads, name=None):
        super().__init__(name=name)
        self.heads, self.depth = heads, d_model // heads
        with self.name_scope:
            self.w = {n: tf.Variable(tf.random.stateless_normal([d_model, d_model], [i, 7]) * 0.2, name=n) for i, n in enumerate("qkvo")}

    def split(self, x):
        x = tf.reshape(x, (tf.shape(x)[0], -1, self.heads, self.depth))
        return tf.transpose(x, perm=[0, 2, 1, 3])

    @tf.Module.with_name_scope
    def __call__(self, q, k, v, mask=None):
        q, k, v = (self.split(tf.einsum("bld,de->ble", t, self.w[n])) for t, n in ((q, "q"), (k, "k"), (v, "v")))
        out, weights = scaled_dot_product_attention(q, k, v, mask)
        out = tf.reshape(tf.transpose(out, [0, 2, 1, 3]), (tf.shape(out)[0], -1, self.heads * self.depth))
        return tf.tensordot(out, self.w["o"], 1), weights


mha = MultiHead(8, 2, name="mha")
x = tf.random.stateless_uniform([2, 5, 8], [1, 2])
with tf.GradientTape() as tape:
    y, w = mha(x, x, x, create_look_ahead_mask(5))
    mean, var = tf.nn.moments(y, axes=[-1], keepdims=True)
    z = (y - mean) * tf.math.rsqrt(var + 1e-6)
    loss = tf.reduce_mean(tf.nn.gelu(z))
print(y.shape, w.shape, [(v.name, v.shape.as_list()) for v in mha.variables], "%.5f" % loss)
print([float(tf.norm(g).numpy().round(4)) for g in tape.gradient(loss, mha.trainable_variables)])
labels = tf.one_hot([1, 0], 3) * 0.9 + 0.1 / 3
print(tf.nn.softmax_cross_entropy_with_logits(labels, tf.constant([[1.0, 2.0, 0.0], [0.5, 0.5, 0.0]])), labels)
