import numpy as np
import tensorflow as tf

# Softmax regression over batches of a dataset; accuracy by hand.
rng = np.random.default_rng(0)
centers = rng.normal(size=(4, 8)).astype(np.float32) * 3
labels = rng.integers(0, 4, size=256)
points = centers[labels] + rng.normal(size=(256, 8)).astype(np.float32)
ds = tf.data.Dataset.from_tensor_slices((points, labels)).batch(32)
print(ds, ds.element_spec, len(ds))

W = tf.Variable(tf.zeros([8, 4]), name="weight")
b = tf.Variable(tf.zeros([4]), name="bias")
opt = tf.optimizers.SGD(learning_rate=0.5)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        logits = tf.nn.xw_plus_b(x, W, b) if hasattr(tf.nn, "xw_plus_b") else tf.matmul(x, W) + b
        l = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
    grads = tape.gradient(l, [W, b])
    opt.apply_gradients(zip(grads, [W, b]))
    return l, tf.nn.softmax(logits)


for epoch in range(3):
    total, hits, seen = 0.0, 0, 0
    for bx, by in ds:
        l, p = step(bx, by)
        total += float(l)
        hits += int(tf.reduce_sum(tf.cast(tf.equal(tf.argmax(p, 1), by), tf.int32)))
        seen += int(tf.shape(bx)[0])
    print("epoch", epoch, "loss %.4f" % (total / len(ds)), "accuracy %.4f" % (hits / seen))
pred = tf.argmax(tf.matmul(points, W) + b, axis=1)
cm = tf.math.confusion_matrix(labels, pred, num_classes=4)
print(cm)
print(tf.math.in_top_k(labels[:6].astype(np.int32), tf.matmul(points, W)[:6] + b, k=2))
print("per class", tf.linalg.diag_part(cm) / tf.reduce_sum(cm, axis=1))
print(step.pretty_printed_concrete_signatures() if hasattr(step, "pretty_printed_concrete_signatures") else "")
print(step.experimental_get_tracing_count())
