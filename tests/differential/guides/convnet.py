import numpy as np
import tensorflow as tf

# A small convolutional net on made-up digits: conv, pool, dropout, dense.
rng = np.random.RandomState(0)
images = np.zeros((40, 8, 8, 1), np.float32)
labels = rng.randint(0, 2, 40)
for i, l in enumerate(labels):
    if l:
        images[i, :, rng.randint(2, 6)] = 1.0
    else:
        images[i, rng.randint(2, 6)] = 1.0
he = tf.initializers.HeNormal(seed=3)
w1 = tf.Variable(tf.random.stateless_normal([3, 3, 1, 4], [1, 2]) * 0.3)
w2 = tf.Variable(tf.random.stateless_normal([3, 3, 4, 8], [3, 4]) * 0.2)
w3 = tf.Variable(tf.random.stateless_normal([2 * 2 * 8, 2], [5, 6]) * 0.2)
gamma, beta = tf.Variable(tf.ones([4])), tf.Variable(tf.zeros([4]))
moving = tf.train.ExponentialMovingAverage(decay=0.9)
print(he([2, 3]).shape, he.get_config())


def net(x, training):
    x = tf.nn.conv2d(x, w1, strides=[1, 1, 1, 1], padding="SAME")
    mean, var = tf.nn.moments(x, axes=[0, 1, 2])
    x = tf.nn.batch_normalization(x, mean, var, beta, gamma, 1e-3)
    x = tf.nn.max_pool2d(tf.nn.relu(x), ksize=2, strides=2, padding="SAME")
    x = tf.nn.relu(tf.nn.conv2d(x, w2, 1, "SAME"))
    x = tf.nn.avg_pool2d(x, 2, 2, "VALID")
    x = tf.reshape(x, [-1, 2 * 2 * 8])
    if training:
        x = tf.nn.experimental.stateless_dropout(x, rate=0.25, seed=[1, 0])
    return x @ w3


trainable = [w1, w2, w3, gamma, beta]
opt = tf.optimizers.RMSprop(learning_rate=0.01)
ds = tf.data.Dataset.from_tensor_slices((images, labels)).batch(20).repeat(6).prefetch(tf.data.AUTOTUNE)


@tf.function
def train(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=tf.one_hot(y, 2), logits=net(x, True)))
        loss += 1e-4 * tf.add_n([tf.nn.l2_loss(v) for v in trainable])
    grads = tape.gradient(loss, trainable)
    opt.apply_gradients(zip(grads, trainable))
    return loss


for step, (x, y) in enumerate(ds):
    loss = train(x, y)
    if step % 4 == 0:
        print(f"step {step}: {loss:.3f}")
logits = net(images, False)
acc = np.mean(np.argmax(logits, 1) == labels)
print("accuracy above 0.8:", acc > 0.8, logits.shape)
print(tf.nn.conv2d(images[:1], w1, 2, "VALID").shape, tf.nn.depthwise_conv2d(images[:1], w1, [1, 1, 1, 1], "SAME").shape)
print(tf.nn.conv2d_transpose(tf.ones([1, 4, 4, 8]), w2, [1, 8, 8, 4], 2).numpy().mean().round(4))
patches = tf.image.extract_patches(images[:1], [1, 4, 4, 1], [1, 4, 4, 1], [1, 1, 1, 1], "VALID")
print(patches.shape, tf.reduce_sum(patches, -1))
print(tf.nn.space_to_depth(images[:1], 2).shape, tf.nn.depth_to_space(tf.ones([1, 2, 2, 4]), 2).shape)
try:
    tf.nn.conv2d(images[:1], w2, 1, "SAME")
except (tf.errors.InvalidArgumentError, ValueError) as e:
    print(type(e).__name__)
