#!/usr/bin/env python3
"""Training steps of whole networks on one GPU, ours beside torch: the same network, loss, optimizer and
batch, float32 in TF32 on both sides.

    models.py emplace|torch NAME:BATCH... [--steps N] [--json FILE]     NAME: resnet50, bert

A JSON line a network: median and least ms a step, seconds of the first step, losses of the first and last.
"""
import argparse
import json
import statistics
import sys
import time

import numpy as np

STAGES = ((3, 64), (4, 128), (6, 256), (3, 512))  # of ResNet-50: blocks, width
BERT = {"layers": 12, "hidden": 768, "heads": 12, "words": 30522, "length": 128}
WARM_UP = 5


def pictures(batch: int, size: int = 224, classes: int = 1000):
    draw = np.random.default_rng(1)
    return draw.standard_normal((batch, size, size, 3), np.float32), draw.integers(0, classes, batch)


def sentences(batch: int, words: int, length: int):
    draw = np.random.default_rng(2)
    return draw.integers(0, words, (batch, length)), draw.integers(0, words, batch * length)


# ---- Ours, in version 1's words.

def resnet(tf, x, stages=STAGES, classes=1000):
    def weight(name, shape, initializer):
        return tf.get_variable(name, shape, initializer=initializer)

    def convolved(x, width, size, stride, name):
        with tf.variable_scope(name):
            w = weight("w", [size, size, int(x.shape[-1]), width], tf.random_normal_initializer(stddev=0.02, seed=len(name)))
            y = tf.nn.conv2d(x, w, [1, stride, stride, 1], "SAME")
            scale, shift = weight("scale", [width], tf.ones_initializer()), weight("shift", [width], tf.zeros_initializer())
            return tf.nn.fused_batch_norm(y, scale, shift, is_training=True)[0]

    def block(x, width, stride, name):
        same = stride == 1 and int(x.shape[-1]) == 4 * width
        y = tf.nn.relu(convolved(x, width, 1, 1, name + "a"))
        y = tf.nn.relu(convolved(y, width, 3, stride, name + "b"))
        y = convolved(y, 4 * width, 1, 1, name + "c")
        return tf.nn.relu(y + (x if same else convolved(x, 4 * width, 1, stride, name + "s")))

    x = tf.nn.max_pool(tf.nn.relu(convolved(x, 64, 7, 2, "stem")), [1, 3, 3, 1], [1, 2, 2, 1], "SAME")
    for stage, (blocks, width) in enumerate(stages):
        for i in range(blocks):
            x = block(x, width, 2 if stage and i == 0 else 1, f"{stage}_{i}")
    x = tf.reduce_mean(x, [1, 2])
    w = weight("w", [int(x.shape[-1]), classes], tf.random_normal_initializer(stddev=0.02, seed=7))
    return tf.matmul(x, w) + weight("b", [classes], tf.zeros_initializer())


def bert(tf, ids, layers, hidden, heads, words, length):
    draw = tf.random_normal_initializer(stddev=0.02, seed=5)
    batch = int(ids.shape[0])

    def normed(x, name):
        mean, variance = tf.nn.moments(x, [-1], keep_dims=True)
        scale = tf.get_variable(name + "_scale", [hidden], initializer=tf.ones_initializer())
        shift = tf.get_variable(name + "_shift", [hidden], initializer=tf.zeros_initializer())
        return (x - mean) * tf.rsqrt(variance + 1e-12) * scale + shift

    def dense(x, width, name):
        w = tf.get_variable(name + "_w", [int(x.shape[-1]), width], initializer=draw)
        return tf.matmul(x, w) + tf.get_variable(name + "_b", [width], initializer=tf.zeros_initializer())

    def attended(x, name):
        qkv = tf.reshape(dense(x, 3 * hidden, name + "_qkv"), [batch, length, 3, heads, hidden // heads])
        q, k, v = tf.unstack(tf.transpose(qkv, [2, 0, 3, 1, 4]))
        weights = tf.nn.softmax(tf.matmul(q, k, transpose_b=True) / (hidden // heads) ** 0.5)
        together = tf.transpose(tf.matmul(weights, v), [0, 2, 1, 3])
        return dense(tf.reshape(together, [batch * length, hidden]), hidden, name + "_out")

    def gelu(x):
        return 0.5 * x * (1.0 + tf.erf(x / 2**0.5))

    table = tf.get_variable("words", [words, hidden], initializer=draw)
    x = tf.gather(table, ids) + tf.get_variable("places", [length, hidden], initializer=draw)
    x = tf.reshape(normed(x, "first"), [batch * length, hidden])
    for i in range(layers):
        x = normed(x + attended(x, f"{i}"), f"{i}_attended")
        x = normed(x + dense(gelu(dense(x, 4 * hidden, f"{i}_up")), hidden, f"{i}_down"), f"{i}_fed")
    return tf.matmul(x, table, transpose_b=True)


def ours(name: str, batch: int, steps: int) -> dict:
    import emplace.compat.v1 as tf

    tf.reset_default_graph()
    data, labels = pictures(batch) if name == "resnet50" else sentences(batch, BERT["words"], BERT["length"])
    whole = np.int32 if name == "bert" else np.float32
    x = tf.get_variable("x", initializer=data.astype(whole), trainable=False)
    y = tf.get_variable("y", initializer=labels.astype(np.int32), trainable=False)
    logits = resnet(tf, x) if name == "resnet50" else bert(tf, x, **BERT)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
    optimizer = tf.train.MomentumOptimizer(0.01, 0.9) if name == "resnet50" else tf.train.AdamOptimizer(1e-4)
    train = optimizer.minimize(loss)
    config = tf.ConfigProto(allow_soft_placement=True)
    config.gpu_options.allow_growth = True
    with tf.Session(config=config) as session:
        session.run(tf.global_variables_initializer())
        first_loss = session.run(loss)
        row = timed(lambda: session.run(train), steps)
        return row | {"first_loss": float(first_loss), "loss": float(session.run(loss))}


# ---- torch's.

def torch_resnet(torch):
    nn = torch.nn

    def convolved(before, width, size, stride):
        return nn.Sequential(nn.Conv2d(before, width, size, stride, size // 2, bias=False), nn.BatchNorm2d(width))

    class Block(nn.Module):
        def __init__(self, before, width, stride):
            super().__init__()
            self.a, self.b, self.c = convolved(before, width, 1, 1), convolved(width, width, 3, stride), convolved(width, 4 * width, 1, 1)
            same = stride == 1 and before == 4 * width
            self.short = nn.Identity() if same else convolved(before, 4 * width, 1, stride)

        def forward(self, x):
            y = torch.relu(self.b(torch.relu(self.a(x))))
            return torch.relu(self.c(y) + self.short(x))

    layers, before = [convolved(3, 64, 7, 2), nn.ReLU(), nn.MaxPool2d(3, 2, 1)], 64
    for stage, (blocks, width) in enumerate(STAGES):
        for i in range(blocks):
            layers.append(Block(before, width, 2 if stage and i == 0 else 1))
            before = 4 * width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(before, 1000))


def torch_bert(torch):
    nn, hidden, heads = torch.nn, BERT["hidden"], BERT["heads"]

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.qkv, self.out = nn.Linear(hidden, 3 * hidden), nn.Linear(hidden, hidden)
            self.up, self.down = nn.Linear(hidden, 4 * hidden), nn.Linear(4 * hidden, hidden)
            self.attended, self.fed = nn.LayerNorm(hidden, 1e-12), nn.LayerNorm(hidden, 1e-12)

        def forward(self, x):
            q, k, v = (t.transpose(1, 2) for t in self.qkv(x).view(*x.shape[:2], 3, heads, -1).unbind(2))
            a = nn.functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(x.shape)
            x = self.attended(x + self.out(a))
            return self.fed(x + self.down(nn.functional.gelu(self.up(x))))

    class Bert(nn.Module):
        def __init__(self):
            super().__init__()
            self.words = nn.Embedding(BERT["words"], hidden)
            self.places = nn.Parameter(torch.randn(BERT["length"], hidden) * 0.02)
            nn.init.normal_(self.words.weight, std=0.02)
            self.first = nn.LayerNorm(hidden, 1e-12)
            self.layers = nn.Sequential(*(Layer() for _ in range(BERT["layers"])))

        def forward(self, ids):
            x = self.layers(self.first(self.words(ids) + self.places))
            return x.reshape(-1, hidden) @ self.words.weight.t()

    return Bert()


def torchs(name: str, batch: int, steps: int) -> dict:
    import torch

    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    torch.backends.cudnn.benchmark = True
    data, labels = pictures(batch) if name == "resnet50" else sentences(batch, BERT["words"], BERT["length"])
    x, y = torch.from_numpy(data).cuda(), torch.from_numpy(labels).cuda()
    if name == "resnet50":
        model = torch_resnet(torch).cuda().to(memory_format=torch.channels_last)
        x = x.permute(0, 3, 1, 2)
        optimizer = torch.optim.SGD(model.parameters(), 0.01, 0.9)
    else:
        model = torch_bert(torch).cuda()
        optimizer = torch.optim.Adam(model.parameters(), 1e-4, fused=True)
    losses = []

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss)
        torch.cuda.synchronize()

    row = timed(step, steps)
    return row | {"first_loss": losses[0].item(), "loss": losses[-1].item()}


def timed(step, steps: int) -> dict:
    start = time.perf_counter()
    step()
    first = time.perf_counter() - start
    for _ in range(WARM_UP):
        step()
    times = []
    for _ in range(steps):
        start = time.perf_counter()
        step()
        times.append(1e3 * (time.perf_counter() - start))
    return {"ms": round(statistics.median(times), 3), "least": round(min(times), 3), "first_s": round(first, 2)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("side", choices=["emplace", "torch"])
    parser.add_argument("networks", nargs="+", metavar="NAME:BATCH")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--json")
    given = parser.parse_args()
    for network in given.networks:
        name, batch = network.split(":")
        if name not in ("resnet50", "bert"):
            parser.error(f"no network is called {name}: resnet50, bert")
        row = (ours if given.side == "emplace" else torchs)(name, int(batch), given.steps)
        line = json.dumps({"name": network, "side": given.side} | row)
        print(line, flush=True)
        if given.json:
            with open(given.json, "a", encoding="utf-8") as file:
                print(line, file=file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
