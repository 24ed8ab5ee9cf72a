import tensorflow as tf

# An LSTM cell written out, over padded sequences with masks.
seqs = tf.ragged.constant([[1.0, 2.0, 3.0], [4.0], [5.0, 6.0]])
lengths = seqs.row_lengths()
padded = seqs.to_tensor(default_value=0.0)
mask = tf.sequence_mask(lengths, maxlen=padded.shape[1], dtype=tf.float32)
print(padded, lengths, mask)
n = 4
W = tf.Variable(tf.random.stateless_uniform([1 + n, 4 * n], [7, 8], -0.5, 0.5), name="kernel")
b = tf.Variable(tf.zeros([4 * n]), name="bias")


def lstm(x, m):
    batch = tf.shape(x)[0]
    c = h = tf.zeros([batch, n])
    outputs = []
    for xt, mt in zip(tf.unstack(x, axis=1), tf.unstack(m, axis=1)):
        gates = tf.nn.bias_add(tf.concat([xt[:, None], h], 1) @ W, b)
        i, j, f, o = tf.split(gates, 4, axis=1)
        new_c = tf.sigmoid(f + 1.0) * c + tf.sigmoid(i) * tf.tanh(j)
        new_h = tf.sigmoid(o) * tf.tanh(new_c)
        keep = mt[:, None]
        c, h = keep * new_c + (1 - keep) * c, keep * new_h + (1 - keep) * h
        outputs.append(h)
    return tf.stack(outputs, axis=1), (c, h)


with tf.GradientTape(persistent=True) as tape:
    out, (c, h) = lstm(padded, mask)
    loss = tf.reduce_sum(tf.square(h))
print(out.shape, tf.reduce_sum(out).numpy().round(4), "loss %.5f" % loss)
gW, gb = tape.gradient(loss, [W, b])
print(tf.norm(gW).numpy().round(5), gb.numpy().round(4))
last = tf.gather(out, lengths - 1, batch_dims=1)
print(tf.reduce_max(tf.abs(last - h)).numpy())
rev = tf.reverse_sequence(padded, lengths, seq_axis=1, batch_axis=0)
print(rev)
fw, _ = lstm(padded, mask)
bw, _ = lstm(rev, mask)
both = tf.concat([fw, tf.reverse_sequence(bw, lengths, seq_axis=1)], -1)
print(both.shape, tf.reduce_mean(both, axis=[1, 2]).numpy().round(4))
again = tf.RaggedTensor.from_tensor(padded, lengths=lengths)
print(again, tf.reduce_all(again == seqs).numpy(), again.bounding_shape())
scan = tf.scan(lambda a, x: a * 0.5 + x, tf.transpose(padded), initializer=tf.zeros([3]))
print(scan)
print(tf.foldl(lambda a, x: a + x, padded[0]), tf.foldr(lambda a, x: a - x, padded[0]))
del tape
