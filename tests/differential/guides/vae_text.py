import tensorflow as tf

# A variational autoencoder's arithmetic, then a bag-of-words classifier on ragged text.
tf.random.set_seed(0)


def log_normal_pdf(sample, mean, logvar, raxis=1):
    log2pi = tf.math.log(2.0 * 3.14159265)
    return tf.reduce_sum(-0.5 * ((sample - mean) ** 2.0 * tf.exp(-logvar) + logvar + log2pi), axis=raxis)


enc, dec = tf.Variable(tf.random.stateless_normal([6, 4], [1, 0]) * 0.3), tf.Variable(tf.random.stateless_normal([2, 6], [2, 0]) * 0.3)
x = tf.cast(tf.random.stateless_uniform([16, 6], [3, 0]) > 0.5, tf.float32)
opt = tf.optimizers.Adam(5e-2)


@tf.function
def step(seed):
    with tf.GradientTape() as tape:
        mean, logvar = tf.split(x @ enc, num_or_size_splits=2, axis=1)
        z = mean + tf.exp(logvar * 0.5) * tf.random.stateless_normal(tf.shape(mean), seed=seed)
        logits = z @ dec
        ce = tf.nn.sigmoid_cross_entropy_with_logits(logits=logits, labels=x)
        logpx_z = -tf.reduce_sum(ce, axis=[1])
        loss = -tf.reduce_mean(logpx_z + log_normal_pdf(z, 0.0, 0.0) - log_normal_pdf(z, mean, logvar))
    opt.apply_gradients(zip(tape.gradient(loss, [enc, dec]), [enc, dec]))
    return loss


print(["%.4f" % step(tf.constant([i, 1])) for i in range(21)][::5])
texts = ["good great fun", "bad awful", "great great movie", "awful boring bad film", "fun", "boring"]
labels = tf.constant([1.0, 0.0, 1.0, 0.0, 1.0, 0.0])
tokens = tf.strings.split(tf.strings.lower(tf.strings.regex_replace(texts, r"[^\w\s]", "")))
words, _, counts = tf.unique_with_counts(tokens.flat_values)
order = tf.argsort(counts, direction="DESCENDING", stable=True)
vocab = tf.gather(words, order)
print(vocab, tf.gather(counts, order), tokens.row_lengths())
table = tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer(vocab, tf.range(tf.size(vocab), dtype=tf.int64)), num_oov_buckets=2)
ids = tf.ragged.map_flat_values(table.lookup, tokens)
print(ids, table.lookup(tf.constant(["good", "unseen"])).shape, table.size())
emb = tf.Variable(tf.random.stateless_normal([int(table.size()), 3], [5, 5]) * 0.1)
w = tf.Variable(tf.ones([3, 1]) * 0.1)


def predict(ids):
    return tf.squeeze(tf.reduce_mean(tf.gather(emb, ids), axis=1) @ w, 1)


for i in range(40):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels, predict(ids)))
    g = tape.gradient(loss, [emb, w])
    emb.assign_sub(2.0 * tf.convert_to_tensor(g[0]))
    w.assign_sub(2.0 * g[1])
    if i % 13 == 0:
        print(i, "%.4f" % loss)
print(tf.round(tf.sigmoid(predict(ids))), tf.reduce_mean(tf.cast(tf.equal(tf.round(tf.sigmoid(predict(ids))), labels), tf.float32)))
bow = tf.math.bincount(tf.cast(ids.to_tensor(-1), tf.int32) + 1, axis=-1, minlength=13)[:, 1:] if False else tf.reduce_sum(tf.one_hot(ids.to_tensor(-1), 11), axis=1)
tf_idf = bow * tf.math.log(6.0 / (1.0 + tf.reduce_sum(tf.cast(bow > 0, tf.float32), 0)))
print(bow.shape, tf_idf[0].numpy().round(3), tf.matmul(tf.math.l2_normalize(tf_idf, 1), tf.math.l2_normalize(tf_idf, 1), transpose_b=True)[0].numpy().round(3))
bigrams = tf.strings.ngrams(tokens, 2, separator="_")
print(bigrams, tf.strings.to_hash_bucket_fast(bigrams, 10), tf.strings.reduce_join(tokens, axis=-1, separator="-"))
for row, label in tf.data.Dataset.from_tensor_slices((ids, labels)).padded_batch(3, padded_shapes=([None], []), padding_values=(tf.constant(-1, tf.int64), 0.0)) if False else zip(ids, labels):
    print(row.numpy().tolist(), label.numpy(), end="; ")
print()
