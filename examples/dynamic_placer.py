"""A network that no GPU can hold, on four of them, without a word about devices.

    EMPLACE_VIRTUAL_GPUS=4:16M ./run examples/dynamic_placer.py

Eight layers of 3 MiB each: a GPU of 16 MiB has no room for them. The dynamic placer lays them one
after another over all four, so that only activations are copied, and says why each is where it is.
"""

import os
import time

os.environ.setdefault("EMPLACE_VIRTUAL_GPUS", "4:16M")

import numpy as np

import emplace.compat.v1 as tf

LAYERS, WIDTH = 8, 880
rng = np.random.default_rng(1)

x = tf.placeholder(tf.float32, [4, WIDTH], name="x")
h = x
for i in range(LAYERS):
    weights = tf.get_variable(f"w{i}", [WIDTH, WIDTH], initializer=tf.random_normal_initializer(stddev=0.03))
    h = tf.nn.relu(tf.matmul(h, weights, name=f"product{i}"), name=f"h{i}")

config = tf.ConfigProto(placer="dynamic", placer_evaluations=2000)
with tf.Session(config=config) as sess:
    sess.run(tf.global_variables_initializer())
    value = rng.normal(size=(4, WIDTH))
    out = sess.run(h, {x: value})
    print("output", out.shape)
    rows = sess.placement(h)
    for i in range(LAYERS):
        print(f"w{i} and product{i}: {rows[f'w{i}'].device[-5:]} and {rows[f'product{i}'].device[-5:]}")
    print("product5", rows["product5"].reason)

    # A step as it was expected beside steps as they were (`emplace run --timeline` draws both).
    took = []
    for _ in range(21):
        start = time.perf_counter()
        sess.run(h, {x: value})
        took.append(time.perf_counter() - start)
    expected = sess.forecast(h).step_seconds
    print(f"predicted {1e3 * expected:.2f} ms, measured {1e3 * sorted(took)[10]:.2f} ms")
