# env: EMPLACE_VIRTUAL_GPUS=2
# oracle: none
"""Whole networks learn on GPUs what they learn on the CPU: ten steps, losses beside each other."""
import os
import sys
from pathlib import Path

import numpy as np

os.environ["EMPLACE_TF32"] = "0"
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench" / "gpu"))
import emplace.compat.v1 as tf  # noqa: E402
from models import bert, pictures, resnet, sentences  # noqa: E402

STEPS = 10
# At ResNet-50's depth rounding grows too fast: an input changed by 3e-7 changes gradients by 2 %.
COMPARED = {"resnet50": 2}


def draw(*shape, seed=3):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def variable(name, *shape):
    return tf.get_variable(name, initializer=draw(*shape, seed=len(name) + sum(shape)) / 8)


def classified(logits, labels):
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels.astype(np.int32), logits=logits))


def resnet50():
    x, y = pictures(8, 64, 10)
    logits = resnet(tf, tf.constant(x), ((3, 8), (4, 8), (6, 16), (3, 16)), 10)
    return tf.train.MomentumOptimizer(0.001, 0.9), classified(logits, y)


def residual():
    x, y = pictures(16, 64, 10)
    logits = resnet(tf, tf.constant(x), ((1, 8), (1, 8), (1, 16), (1, 16)), 10)
    return tf.train.MomentumOptimizer(0.01, 0.9), classified(logits, y)


def small_bert():
    ids, y = sentences(2, 50, 8)
    sizes = {"layers": 2, "hidden": 32, "heads": 4, "words": 50, "length": 8}
    return tf.train.AdamOptimizer(1e-3), classified(bert(tf, tf.constant(ids.astype(np.int32)), **sizes), y)


def adam():
    table = variable("table", 20, 16)
    x = tf.gather(table, np.arange(32) % 20)
    for i in range(4):
        x = tf.erf(tf.matmul(x, variable(f"w{i}", 16, 16)) + variable(f"b{i}", 16))
    return tf.train.AdamOptimizer(0.01), tf.reduce_mean(tf.square(x - draw(32, 16)))


def lstm():
    cell = tf.nn.rnn_cell.BasicLSTMCell(16)
    outputs, _ = tf.nn.dynamic_rnn(cell, tf.constant(draw(4, 12, 8)), dtype=tf.float32)
    return tf.train.AdamOptimizer(0.01), tf.reduce_mean(tf.square(outputs[:, -1] - draw(4, 16)))


def branches():
    x = tf.matmul(tf.constant(draw(8, 16)), variable("w", 16, 16))
    w = variable("inner", 16, 16)
    y = tf.cond(tf.reduce_sum(x) > 0, lambda: tf.tanh(tf.matmul(x, w)), lambda: tf.nn.relu(tf.matmul(x, w)) - 1.0)
    return tf.train.GradientDescentOptimizer(0.05), tf.reduce_mean(tf.square(y - draw(8, 16)))


def towers():
    """The CIFAR-10 tutorial's network, a tower on each GPU, their gradients averaged."""
    def tower(x, y):
        for i, (before, width) in enumerate(((3, 8), (8, 8))):
            x = tf.nn.conv2d(x, variable(f"conv{i}", 5, 5, before, width), [1, 1, 1, 1], "SAME")
            x = tf.nn.relu(tf.nn.bias_add(x, variable(f"bias{i}", width)))
            x = tf.nn.lrn(tf.nn.max_pool(x, [1, 3, 3, 1], [1, 2, 2, 1], "SAME"), 4, bias=1.0, alpha=0.001 / 9, beta=0.75)
        x = tf.reshape(x, [4, -1])
        x = tf.nn.relu(tf.matmul(x, variable("local", 6 * 6 * 8, 24)))
        return classified(tf.matmul(x, variable("softmax", 24, 10)), y)

    optimizer, losses, gradients = tf.train.GradientDescentOptimizer(0.05), [], []
    x, y = pictures(8, 24, 10)
    with tf.variable_scope("net", reuse=tf.AUTO_REUSE):
        for i in range(2):
            with tf.device(f"/gpu:{i}"):
                losses.append(tower(tf.constant(x[4 * i:4 * i + 4]), y[4 * i:4 * i + 4]))
                gradients.append(optimizer.compute_gradients(losses[-1]))
    averaged = [((one + other) / 2, v) for (one, v), (other, _) in zip(*gradients)]
    return optimizer, tf.add_n(losses) / 2, averaged


def losses(make, gpus: int) -> list:
    config = tf.ConfigProto(allow_soft_placement=True, device_count={"GPU": gpus})
    with tf.Graph().as_default(), tf.Session(config=config) as session:
        tf.set_random_seed(1)
        optimizer, loss, *gradients = make()
        train = optimizer.apply_gradients(gradients[0]) if gradients else optimizer.minimize(loss)
        session.run(tf.global_variables_initializer())
        seen = []
        for _ in range(STEPS):
            seen.append(session.run(loss))
            session.run(train)
        return seen


for network in (resnet50, residual, small_bert, adam, lstm, branches, towers):
    there, here = losses(network, 2), losses(network, 0)
    off = max(abs(a - b) / abs(b) for a, b in list(zip(there, here))[:COMPARED.get(network.__name__)])
    as_told = "as on the CPU" if off < 2e-3 else f"off by {off}: {there} {here}"
    print(f"{network.__name__}: {as_told}, {'falling' if there[-1] < there[0] else f'not falling: {there}'}")
