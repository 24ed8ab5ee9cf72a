"""The tutorial's network and its distortions, in words that both versions of TensorFlow have."""

import numpy as np

CROP, CLASSES = 24, 10
DECAY_OF_AVERAGES, STEPS_A_DECAY, DECAY_OF_RATE, FIRST_RATE = 0.9999, 25000, 0.1, 0.1


def shapes(filters):
    """Name -> shape, spread of the first values (None: the constant behind it), constant, decay of the weights."""
    flat, wide, narrow = 6 * 6 * filters, 6 * filters, 3 * filters
    return {
        "conv1/weights": ((5, 5, 3, filters), 0.05, 0.0, 0.0), "conv1/biases": ((filters,), None, 0.0, 0.0),
        "conv2/weights": ((5, 5, filters, filters), 0.05, 0.0, 0.0), "conv2/biases": ((filters,), None, 0.1, 0.0),
        "local3/weights": ((flat, wide), 0.04, 0.0, 0.004), "local3/biases": ((wide,), None, 0.1, 0.0),
        "local4/weights": ((wide, narrow), 0.04, 0.0, 0.004), "local4/biases": ((narrow,), None, 0.1, 0.0),
        "softmax_linear/weights": ((narrow, CLASSES), 1 / narrow, 0.0, 0.0), "softmax_linear/biases": ((CLASSES,), None, 0.0, 0.0),
    }  # fmt: skip


def first_value(name, filters):
    shape, spread, constant, _ = shapes(filters)[name]
    r = np.random.default_rng(sum(map(ord, name)))
    value = np.full(shape, constant) if spread is None else np.clip(r.standard_normal(shape), -2, 2) * spread
    return value.astype(np.float32)


def logits(tf, images, v):
    """`v`: the variables by name."""
    x = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(images, v["conv1/weights"], strides=[1, 1, 1, 1], padding="SAME"), v["conv1/biases"]))
    x = tf.nn.max_pool2d(x, 3, 2, "SAME")
    x = tf.nn.local_response_normalization(x, 4, bias=1.0, alpha=0.001 / 9.0, beta=0.75)
    x = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, v["conv2/weights"], strides=[1, 1, 1, 1], padding="SAME"), v["conv2/biases"]))
    x = tf.nn.local_response_normalization(x, 4, bias=1.0, alpha=0.001 / 9.0, beta=0.75)
    x = tf.nn.max_pool2d(x, 3, 2, "SAME")
    x = tf.reshape(x, [-1, 6 * 6 * v["conv2/biases"].shape[0]])
    for layer in ("local3", "local4"):
        x = tf.nn.relu(tf.matmul(x, v[layer + "/weights"]) + v[layer + "/biases"])
    return tf.matmul(x, v["softmax_linear/weights"]) + v["softmax_linear/biases"]


def decay_of_weights(tf, v, filters):
    return tf.add_n([decay * tf.nn.l2_loss(v[name]) for name, (_, _, _, decay) in shapes(filters).items() if decay])


def example(tf, record, distorted):
    """A record of a file as an image and its label; for training cropped, turned and lit at random."""
    values = tf.cast(tf.io.decode_raw(record, tf.uint8), tf.float32)
    image = tf.transpose(tf.reshape(values[1:], [3, 32, 32]), [1, 2, 0])
    if distorted:
        image = tf.image.random_flip_left_right(tf.image.random_crop(image, [CROP, CROP, 3]))
        image = tf.image.random_contrast(tf.image.random_brightness(image, max_delta=63), lower=0.2, upper=1.8)
    else:
        image = image[4 : 4 + CROP, 4 : 4 + CROP]
    return tf.image.per_image_standardization(image), tf.cast(values[0], tf.int32)
