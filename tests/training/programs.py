"""Training programs as a user would write them, each a function of `tf` and the devices to use.

A program builds its graph in the default graph and returns a Model; both sides start from the same
seeds, so that they start from the same weights.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass
class Model:
    images: Any
    labels: Any
    loss: Any
    logits: Any
    train: Any


def inputs(tf: Any) -> tuple[Any, Any]:
    return tf.placeholder(tf.float32, [None, 64], "images"), tf.placeholder(tf.int32, [None], "labels")


def cross_entropy(tf: Any, logits: Any, labels: Any) -> Any:
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))


def finish(tf: Any, images: Any, labels: Any, logits: Any, optimizer: Any) -> Model:
    loss = cross_entropy(tf, logits, labels)
    return Model(images, labels, loss, logits, optimizer.minimize(loss, global_step=tf.train.get_or_create_global_step()))


def logistic_regression(tf: Any) -> Model:
    images, labels = inputs(tf)
    weights = tf.get_variable("weights", [64, 10], initializer=tf.zeros_initializer())
    bias = tf.get_variable("bias", [10], initializer=tf.zeros_initializer())
    return finish(tf, images, labels, tf.matmul(images, weights) + bias, tf.train.GradientDescentOptimizer(0.5))


def layers(tf: Any, images: Any, use_resource: bool = False) -> Any:
    with tf.variable_scope("net", use_resource=use_resource, reuse=tf.AUTO_REUSE):
        x = images
        for i, size in enumerate((32, 32, 10)):
            w = tf.get_variable(f"w{i}", [x.shape.as_list()[-1], size])
            b = tf.get_variable(f"b{i}", [size], initializer=tf.zeros_initializer())
            x = tf.nn.bias_add(tf.matmul(x, w), b)
            if size != 10:
                x = tf.nn.relu(x)
        return x


def mlp(tf: Any, make: Callable[[Any], Any], use_resource: bool = False) -> Model:
    images, labels = inputs(tf)
    return finish(tf, images, labels, layers(tf, images, use_resource), make(tf))


def clipped(tf: Any) -> Model:
    """A rate that decays, gradients that are clipped, a moving average that follows."""
    images, labels = inputs(tf)
    logits = layers(tf, images)
    loss = cross_entropy(tf, logits, labels)
    step = tf.train.get_or_create_global_step()
    rate = tf.train.exponential_decay(0.3, step, 5, 0.9, staircase=True)
    optimizer = tf.train.MomentumOptimizer(rate, 0.9)
    gradients, variables = zip(*optimizer.compute_gradients(loss))
    gradients, _ = tf.clip_by_global_norm(gradients, 1.0)
    return Model(images, labels, loss, logits, optimizer.apply_gradients(zip(gradients, variables), step))


def embeddings(tf: Any, make: Callable[[Any], Any], use_resource: bool = False) -> Model:
    """Each pixel's brightness is a word; the words of an image are averaged."""
    images, labels = inputs(tf)
    words = tf.cast(images * 16.0, tf.int32) + 17 * tf.range(64)
    with tf.variable_scope("words", use_resource=use_resource):
        table = tf.get_variable("table", [17 * 64, 8], initializer=tf.random_uniform_initializer(-0.1, 0.1))
        out = tf.get_variable("out", [8, 10])
    rows = tf.nn.embedding_lookup(table, words)
    return finish(tf, images, labels, tf.matmul(tf.reduce_mean(rows, 1), out), make(tf))


def convolution(tf: Any) -> Model:
    images, labels = inputs(tf)
    x = tf.reshape(images, [-1, 8, 8, 1])
    for i, (before, after) in enumerate(((1, 8), (8, 16))):
        filters = tf.get_variable(f"filters{i}", [3, 3, before, after])
        bias = tf.get_variable(f"bias{i}", [after], initializer=tf.zeros_initializer())
        x = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, filters, [1, 1, 1, 1], "SAME"), bias))
        x = tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    out = tf.get_variable("out", [64, 10])
    return finish(tf, images, labels, tf.matmul(tf.reshape(x, [-1, 64]), out), tf.train.AdamOptimizer(0.01))


def lstm(tf: Any) -> Model:
    """Rows of the image, one after the other, through a cell that a while_loop repeats."""
    images, labels = inputs(tf)
    rows = tf.transpose(tf.reshape(images, [-1, 8, 8]), [1, 0, 2])
    size = 16
    w = tf.get_variable("w", [8 + size, 4 * size])
    b = tf.get_variable("b", [4 * size], initializer=tf.zeros_initializer())
    out = tf.get_variable("out", [size, 10])
    start = tf.zeros(tf.stack([tf.shape(images)[0], size]))

    def step(i: Any, h: Any, c: Any) -> Any:
        gates = tf.matmul(tf.concat([tf.gather(rows, i), h], 1), w) + b
        enter, new, forget, leave = tf.split(gates, 4, 1)
        c = tf.sigmoid(forget + 1.0) * c + tf.sigmoid(enter) * tf.tanh(new)
        return i + 1, tf.sigmoid(leave) * tf.tanh(c), c

    shapes = [tf.TensorShape([]), tf.TensorShape([None, size]), tf.TensorShape([None, size])]
    _, h, _ = tf.while_loop(lambda i, *_: i < 8, step, [0, start, start], shape_invariants=shapes)
    return finish(tf, images, labels, tf.matmul(h, out), tf.train.AdamOptimizer(0.01))


def towers(tf: Any, devices: list[str]) -> Model:
    """Each device takes a part of the batch; the CPU averages the gradients and updates."""
    with tf.device("/cpu:0"):
        images, labels = inputs(tf)
        optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
        parts = zip(tf.split(images, len(devices)), tf.split(labels, len(devices)))
        found, losses, outputs = [], [], []
        for device, (x, y) in zip(devices, parts):
            with tf.device(device):
                x = tf.reshape(x, [-1, 64])
                logits = tower_layers(tf, x)
                loss = cross_entropy(tf, logits, y)
                found.append(optimizer.compute_gradients(loss))
                losses.append(loss)
                outputs.append(logits)
        averaged = [
            (tf.add_n([g for g, _ in pairs]) / float(len(devices)), pairs[0][1]) for pairs in zip(*found)
        ]
        train = optimizer.apply_gradients(averaged)
        return Model(images, labels, tf.add_n(losses) / float(len(devices)), tf.concat(outputs, 0), train)


def tower_layers(tf: Any, x: Any) -> Any:
    with tf.variable_scope("net", reuse=tf.AUTO_REUSE):
        with tf.device("/cpu:0"):
            w = tf.get_variable("w", [64, 32])
            v = tf.get_variable("v", [32, 10])
        return tf.matmul(tf.tanh(tf.matmul(x, w)), v)


OPTIMIZERS: dict[str, Callable[[Any], Any]] = {
    "sgd": lambda tf: tf.train.GradientDescentOptimizer(0.2),
    "momentum": lambda tf: tf.train.MomentumOptimizer(0.05, 0.9),
    "nesterov": lambda tf: tf.train.MomentumOptimizer(0.05, 0.9, use_nesterov=True),
    "adam": lambda tf: tf.train.AdamOptimizer(0.01),
    "adagrad": lambda tf: tf.train.AdagradOptimizer(0.1),
    "rmsprop": lambda tf: tf.train.RMSPropOptimizer(0.01),
    "rmsprop_centered": lambda tf: tf.train.RMSPropOptimizer(0.01, momentum=0.5, centered=True),
    "ftrl": lambda tf: tf.train.FtrlOptimizer(0.1),
    "adadelta": lambda tf: tf.train.AdadeltaOptimizer(1.0),
}
PROGRAMS: dict[str, Callable[[Any], Model]] = {
    "logistic_regression": logistic_regression,
    "clipped": clipped,
    "convolution": convolution,
    "lstm": lstm,
    **{f"mlp_{n}": lambda tf, m=m: mlp(tf, m) for n, m in OPTIMIZERS.items()},
    **{f"mlp_resource_{n}": lambda tf, m=m: mlp(tf, m, True) for n, m in OPTIMIZERS.items()},
    **{f"embeddings_{n}": lambda tf, m=m: embeddings(tf, m) for n, m in OPTIMIZERS.items()},
    **{f"embeddings_resource_{n}": lambda tf, m=m: embeddings(tf, m, True) for n, m in OPTIMIZERS.items()},
}
