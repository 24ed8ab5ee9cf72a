"""A program of version 1, unchanged: towers on two GPUs, tensors out of a queue that is kept filled, a layer of Keras."""

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = '''
import numpy as np
import tensorflow as tf

FLAGS = tf.app.flags.FLAGS
tf.app.flags.DEFINE_integer("num_gpus", 1, "how many towers")


def tower(images, labels):
    with tf.variable_scope("conv") as scope:
        with tf.device("/cpu:0"):
            kernel = tf.get_variable("weights", [3, 3, 3, 4], initializer=tf.truncated_normal_initializer(stddev=0.1, seed=1))
        found = tf.nn.relu(tf.nn.conv2d(images, kernel, [1, 1, 1, 1], padding="SAME"), name=scope.name)
    flat = tf.keras.layers.Flatten()(found)
    w = tf.get_variable("w", [flat.get_shape()[1].value, 2], initializer=tf.zeros_initializer())
    unlike = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=tf.matmul(flat, w))
    tf.add_to_collection("losses", tf.reduce_mean(unlike, name="cross_entropy"))
    return tf.add_n(tf.get_collection("losses", tf.get_default_graph().get_name_scope()))


def main(argv=None):
    rows = np.random.RandomState(0).rand(16, 6, 6, 3).astype("float32")
    with tf.Graph().as_default(), tf.device("/cpu:0"):
        image, label = tf.train.slice_input_producer([tf.constant(rows), tf.constant((rows.mean((1, 2, 3)) > 0.5).astype("int64"))], seed=1)
        images, labels = tf.train.batch([image, label], batch_size=8)
        queue = tf.contrib.slim.prefetch_queue.prefetch_queue([images, labels], capacity=2 * FLAGS.num_gpus)
        optimizer, gradients, losses = tf.train.GradientDescentOptimizer(0.5), [], []
        for i in range(FLAGS.num_gpus):
            with tf.variable_scope(tf.get_variable_scope(), reuse=i > 0), tf.device("/gpu:%d" % i), tf.name_scope("tower_%d" % i):
                losses.append(tower(*queue.dequeue()))
                gradients.append(optimizer.compute_gradients(losses[-1]))
        mean = [(tf.reduce_mean(tf.stack([g for g, _ in pairs]), 0), pairs[0][1]) for pairs in zip(*gradients)]
        train = optimizer.apply_gradients(mean)
        with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as session:
            session.run(tf.global_variables_initializer())
            threads = tf.train.start_queue_runners(sess=session)
            first, last = [[session.run([train] + losses)[1:] for _ in range(20)][i] for i in (0, -1)]
        print(sum(last) < sum(first), [l.op.name for l in losses], sorted({l.device for l in losses}), len(threads))


if __name__ == "__main__":
    tf.app.run()
'''


def test_towers_learn_on_two_gpus(tmp_path: Path) -> None:
    program = tmp_path / "towers.py"
    program.write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "-m", "emplace", "--as-tensorflow=v1", str(program), "--num_gpus=2"], capture_output=True, text=True, timeout=300,
        env={**os.environ, "EMPLACE_VIRTUAL_GPUS": "2"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == "True ['tower_0/cross_entropy', 'tower_1/cross_entropy'] ['/device:GPU:0', '/device:GPU:1'] 3".split(), done.stdout
