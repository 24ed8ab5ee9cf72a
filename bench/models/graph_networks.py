"""The networks as programs for sessions: the same text for Emplace and for TensorFlow."""

from __future__ import annotations

import importlib
import os
from typing import Any, Callable

import inputs as of


class Network:
    """Variables by number, of one graph."""

    def __init__(self, tf: Any, training: bool) -> None:
        self.tf, self.training, self.count = tf, training, 0

    def var(self, shape: list[int], value: float | None = None) -> Any:
        tf = self.tf
        self.count += 1
        start = tf.random_normal_initializer(stddev=0.05) if value is None else tf.constant_initializer(value)
        return tf.get_variable(f"v{self.count}", shape, initializer=start)

    def dense(self, x: Any, out: int) -> Any:
        return self.tf.nn.bias_add(self.tf.matmul(x, self.var([int(x.shape[-1]), out])), self.var([out], 0.0))

    def batch_norm(self, y: Any) -> Any:
        n = int(y.shape[-1])
        scale, shift = self.var([n], 1.0), self.var([n], 0.0)
        if self.training:
            return self.tf.nn.fused_batch_norm(y, scale, shift, is_training=True)[0]
        mean, variance = self.var([n], 0.0), self.var([n], 1.0)
        return self.tf.nn.fused_batch_norm(y, scale, shift, mean, variance, is_training=False)[0]

    def conv(self, x: Any, out: int, size: int, stride: int = 1) -> Any:
        w = self.var([size, size, int(x.shape[-1]), out])
        return self.batch_norm(self.tf.nn.conv2d(x, w, [1, stride, stride, 1], "SAME"))

    def norm(self, x: Any) -> Any:
        tf = self.tf
        mean, variance = tf.nn.moments(x, [-1], keep_dims=True)
        return (x - mean) * tf.rsqrt(variance + 1e-12) * self.var([int(x.shape[-1])], 1.0) + self.var([int(x.shape[-1])], 0.0)

    # ---- Each gives its result; what it should be is compared in `loss`.

    def resnet50(self, x: Any) -> Any:
        tf = self.tf
        x = tf.nn.relu(self.conv(x, 64, 7, 2))
        x = tf.nn.max_pool(x, [1, 3, 3, 1], [1, 2, 2, 1], "SAME")
        for stage, (blocks, width) in enumerate(of.STAGES):
            for i in range(blocks):
                stride = 2 if stage and not i else 1
                short = x if i else self.conv(x, 4 * width, 1, stride)
                y = tf.nn.relu(self.conv(x, width, 1))
                y = tf.nn.relu(self.conv(y, width, 3, stride))
                x = tf.nn.relu(self.conv(y, 4 * width, 1) + short)
        return self.dense(tf.reduce_mean(x, [1, 2]), 1000)

    def mobilenet(self, x: Any) -> Any:
        tf = self.tf

        def swish(y: Any) -> Any:
            return y * tf.nn.relu6(y + 3.0) * (1 / 6)

        x = swish(self.conv(x, 16, 3, 2))
        for size, inner, outer, squeezes, swishes, stride in of.MOBILE:
            act = swish if swishes else tf.nn.relu
            y = act(self.conv(x, inner, 1)) if inner != int(x.shape[-1]) else x
            w = self.var([size, size, inner, 1])
            y = act(self.batch_norm(tf.nn.depthwise_conv2d(y, w, [1, stride, stride, 1], "SAME")))
            if squeezes:
                s = tf.nn.relu(self.dense(tf.reduce_mean(y, [1, 2]), inner // 4))
                y = y * tf.reshape(tf.nn.relu6(self.dense(s, inner) + 3.0) * (1 / 6), [-1, 1, 1, inner])
            y = self.conv(y, outer, 1)
            x = x + y if stride == 1 and int(x.shape[-1]) == outer else y
        x = tf.reduce_mean(swish(self.conv(x, 960, 1)), [1, 2])
        return self.dense(swish(self.dense(x, 1280)), 1000)

    def bert(self, ids: Any) -> Any:
        tf, batch, head = self.tf, int(ids.shape[0]), of.HIDDEN // of.HEADS
        words = self.var([of.VOCABULARY, of.HIDDEN])
        x = tf.gather(words, ids) + self.var([of.WORDS, of.HIDDEN])
        x = tf.reshape(self.norm(x), [batch * of.WORDS, of.HIDDEN])
        for _ in range(of.LAYERS):
            qkv = tf.reshape(self.dense(x, 3 * of.HIDDEN), [batch, of.WORDS, 3, of.HEADS, head])
            q, k, v = tf.unstack(tf.transpose(qkv, [2, 0, 3, 1, 4]))
            a = tf.matmul(tf.nn.softmax(tf.matmul(q, k, transpose_b=True) * head**-0.5), v)
            a = tf.reshape(tf.transpose(a, [0, 2, 1, 3]), [batch * of.WORDS, of.HIDDEN])
            x = self.norm(x + self.dense(a, of.HIDDEN))
            h = self.dense(x, 4 * of.HIDDEN)
            h = 0.5 * h * (1.0 + tf.erf(h * 0.5**0.5))
            x = self.norm(x + self.dense(h, of.HIDDEN))
        return tf.matmul(x, words, transpose_b=True)

    def tagger(self, ids: Any) -> Any:
        tf = self.tf
        x = tf.gather(self.var([of.VOCABULARY, 100]), ids)
        cell = tf.nn.rnn_cell.LSTMCell(of.UNITS)
        back = tf.nn.rnn_cell.LSTMCell(of.UNITS)
        both, _ = tf.nn.bidirectional_dynamic_rnn(cell, back, x, dtype=tf.float32)
        return self.dense(tf.reshape(tf.concat(both, 2), [-1, 2 * of.UNITS]), of.TAGS)

    def autoencoder(self, x: Any) -> Any:
        for size in (512, 256, 64, 256, 512):
            x = self.tf.nn.relu(self.dense(x, size))
        return self.dense(x, 784)

    def word2vec(self, ids: Any) -> Any:
        return self.tf.reshape(self.tf.nn.embedding_lookup(self.var([of.VOCABULARY, of.EMBEDDED]), ids), [-1, of.EMBEDDED])


def loss(net: Network, network: str, result: Any, y: Any) -> Any:
    tf = net.tf
    if network == "autoencoder":
        return tf.reduce_mean(tf.square(result - y))
    if network == "word2vec":
        weights, biases = net.var([of.VOCABULARY, of.EMBEDDED]), net.var([of.VOCABULARY], 0.0)
        labels = tf.cast(tf.reshape(y, [-1, 1]), tf.int64)
        return tf.reduce_mean(tf.nn.nce_loss(weights, biases, labels, result, of.NEGATIVES, of.VOCABULARY))
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.reshape(y, [-1]), logits=result))


def step(library: str, network: str, mode: str, batch: int) -> Callable[[], Any]:
    os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", TF_USE_LEGACY_KERAS="1")  # the latter for rnn_cell
    tf = importlib.import_module(f"{library}.compat.v1")
    tf.disable_eager_execution()
    data, labels = of.given(network, batch)
    x, y = tf.placeholder(tf.as_dtype(data.dtype), data.shape), tf.placeholder(tf.as_dtype(labels.dtype), labels.shape)
    net = Network(tf, mode == "train")
    run = getattr(net, network)(x)
    if mode == "train":
        optimizers = {"resnet50": lambda: tf.train.MomentumOptimizer(0.01, 0.9), "word2vec": lambda: tf.train.GradientDescentOptimizer(0.1)}
        run = optimizers.get(network, lambda: tf.train.AdamOptimizer(1e-4))().minimize(loss(net, network, run, y))
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    return lambda: session.run(run, {x: data, y: labels} if mode == "train" else {x: data})
