import tensorflow as tf

# Skip-grams with negative sampling, and NCE.
sentence = "The wide road shimmered in the hot sun the road was wide"
tokens = list(sentence.lower().split())
vocab, index = {}, 1
vocab["<pad>"] = 0
for token in tokens:
    if token not in vocab:
        vocab[token] = index
        index += 1
inverse_vocab = {i: t for t, i in vocab.items()}
ids = [vocab[w] for w in tokens]
print(ids, len(vocab))
pairs = [(ids[i], ids[j]) for i in range(len(ids)) for j in range(max(0, i - 2), min(len(ids), i + 3)) if i != j]
print(len(pairs), [(inverse_vocab[a], inverse_vocab[b]) for a, b in pairs[:3]])
target, context = pairs[0]
context_class = tf.reshape(tf.constant(context, dtype="int64"), (1, 1))
negatives, true_expected, sampled_expected = tf.random.log_uniform_candidate_sampler(
    true_classes=context_class, num_true=1, num_sampled=4, unique=True, range_max=len(vocab), seed=42, name="negative_sampling")
print(negatives.shape, true_expected.shape, bool(tf.reduce_all(negatives < len(vocab))))
emb = tf.Variable(tf.random.stateless_uniform([len(vocab), 6], [1, 1], -1, 1))
nce_w = tf.Variable(tf.random.stateless_truncated_normal([len(vocab), 6], [2, 2], stddev=0.4))
nce_b = tf.Variable(tf.zeros([len(vocab)]))
x = tf.constant([p[0] for p in pairs])
y = tf.constant([[p[1]] for p in pairs], tf.int64)
sampled = (tf.constant([1, 2, 3, 5], tf.int64), tf.fill([len(pairs), 1], 0.5), tf.fill([4], 0.25))
opt = tf.optimizers.SGD(0.5)
for i in range(6):
    with tf.GradientTape() as tape:
        e = tf.nn.embedding_lookup(emb, x)
        loss = tf.reduce_mean(tf.nn.nce_loss(nce_w, nce_b, y, e, num_sampled=4, num_classes=len(vocab), sampled_values=sampled))
        ss = tf.reduce_mean(tf.nn.sampled_softmax_loss(nce_w, nce_b, y, e, 4, len(vocab), sampled_values=sampled))
        both = loss + ss
    g = tape.gradient(both, [emb, nce_w, nce_b])
    if i == 0:
        print([type(v).__name__ for v in g], g[0].indices.shape, g[0].values.shape, g[0].dense_shape)
    opt.apply_gradients(zip(g, [emb, nce_w, nce_b]))
    print(i, "%.4f %.4f" % (loss, ss))
norm = tf.math.l2_normalize(emb, axis=1)
sim = tf.matmul(norm, norm, transpose_b=True)
v, i = tf.math.top_k(sim[vocab["road"]], 3)
print(v.numpy().round(3), [inverse_vocab[j] for j in i.numpy()])
table = tf.random.learned_unigram_candidate_sampler(y, 1, 3, True, len(vocab), seed=1)
print(table.sampled_candidates.shape, table._fields)
