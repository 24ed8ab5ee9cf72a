import tensorflow as tf

# Characters to ids, windows of text, a GRU by hand, sampling.
text = "hello world, hello there, general words"
chars = tf.strings.unicode_split(text, input_encoding="UTF-8")
vocab = sorted(set(text))
print(len(vocab), chars[:5])
table = tf.lookup.StaticHashTable(
    tf.lookup.KeyValueTensorInitializer(tf.constant(vocab), tf.range(len(vocab), dtype=tf.int64)), default_value=-1)
ids = table.lookup(chars)
print(ids.dtype, ids.shape, ids[:8])
back = tf.gather(vocab, ids)
print(tf.strings.reduce_join(back).numpy().decode())
ds = tf.data.Dataset.from_tensor_slices(ids).batch(11, drop_remainder=True).map(lambda c: (c[:-1], c[1:]))
print(ds.element_spec)
for a, b in ds.take(1):
    print("in ", tf.strings.reduce_join(tf.gather(vocab, a)).numpy())
    print("out", tf.strings.reduce_join(tf.gather(vocab, b)).numpy())
H, V = 12, len(vocab)


def weight(shape, k):
    return tf.Variable(tf.random.stateless_normal(shape, [k, 1], stddev=0.3))


E_, Wz, Wr, Wh, Wo = weight([V, H], 1), weight([2 * H, H], 2), weight([2 * H, H], 3), weight([2 * H, H], 4), weight([H, V], 5)
params = [E_, Wz, Wr, Wh, Wo]


def cell(x, h):
    xh = tf.concat([x, h], -1)
    z, r = tf.sigmoid(xh @ Wz), tf.sigmoid(xh @ Wr)
    n = tf.tanh(tf.concat([x, r * h], -1) @ Wh)
    return z * h + (1 - z) * n


@tf.function(input_signature=[tf.TensorSpec([None, None], tf.int64), tf.TensorSpec([None, None], tf.int64)])
def loss_of(x, y):
    h = tf.zeros([tf.shape(x)[0], H])
    outs = tf.TensorArray(tf.float32, size=tf.shape(x)[1])
    for t in tf.range(tf.shape(x)[1]):
        h = cell(tf.gather(E_, x[:, t]), h)
        h.set_shape([None, H])
        outs = outs.write(t, h @ Wo)
    logits = tf.transpose(outs.stack(), [1, 0, 2])
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))


opt = tf.optimizers.Adam(0.05)
batch = next(iter(ds.batch(3)))
for i in range(25):
    with tf.GradientTape() as tape:
        l = loss_of(*batch)
    g = tape.gradient(l, params)
    g, norm = tf.clip_by_global_norm(g, 1.0)
    opt.apply_gradients(zip(g, params))
    if i % 8 == 0:
        print(i, "loss %.3f norm %.3f" % (l, norm))
h, c, said = tf.zeros([1, H]), tf.constant([vocab.index("h")], tf.int64), "h"
for i in range(6):
    h = cell(tf.gather(E_, c), h)
    c = tf.random.stateless_categorical(h @ Wo / 0.5, 1, seed=[i, 3])[:, 0]
    said += vocab[int(c[0])]
print(len(said), type(said))
print(table.size(), table.key_dtype, table.value_dtype, table.export()[1].shape)
