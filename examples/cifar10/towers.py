"""CIFAR-10 in version 1's words: a tower on each GPU, averaged gradients, variables on the CPU.

    ./run examples/cifar10/towers.py --num_gpus=2
"""

import argparse
import os
import time

import data
import network

import emplace.compat.v1 as tf

parser = argparse.ArgumentParser()
parser.add_argument("--num_gpus", type=int, default=1)
parser.add_argument("--batch_size", type=int, default=128, help="of each tower")
parser.add_argument("--max_steps", type=int, default=1000)
parser.add_argument("--rate", type=float, default=network.FIRST_RATE, help="of learning, to begin with")
parser.add_argument("--filters", type=int, default=64)
parser.add_argument("--data_dir", default="/tmp/cifar10_data")
parser.add_argument("--train_dir", default="/tmp/cifar10_towers")
parser.add_argument("--evaluate", action="store_true", help="the last checkpoint's accuracy on the test set")
options = parser.parse_args()


def batches(training):
    names, what = data.files(options.data_dir, training)
    print("data:", what)
    records = tf.data.FixedLengthRecordDataset(names, data.RECORD)
    if training:
        records = records.shuffle(4000, seed=1).repeat()
    examples = records.map(lambda record: network.example(tf, record, distorted=training), num_parallel_calls=2)
    return tf.data.make_one_shot_iterator(examples.batch(options.batch_size, drop_remainder=training).prefetch(2))


def variable(name):
    return tf.get_variable(name, initializer=network.first_value(name, options.filters))


def tower_loss(images, labels):
    v = {name: variable(name) for name in network.shapes(options.filters)}
    unlike = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=network.logits(tf, images, v))
    return tf.reduce_mean(unlike) + network.decay_of_weights(tf, v, options.filters)


def averaged(towers):
    """For each variable its gradients in all towers, averaged."""
    return [(tf.reduce_mean(tf.stack([g for g, _ in pairs]), 0), pairs[0][1]) for pairs in zip(*towers)]


def training():
    step = tf.train.get_or_create_global_step()
    rate = tf.train.exponential_decay(options.rate, step, network.STEPS_A_DECAY, network.DECAY_OF_RATE, staircase=True)
    optimizer, iterator = tf.train.GradientDescentOptimizer(rate), batches(training=True)
    towers, losses = [], []
    for i in range(options.num_gpus):
        with tf.variable_scope("", reuse=i > 0), tf.device(f"/gpu:{i}"), tf.name_scope(f"tower_{i}"):
            losses.append(tower_loss(*iterator.get_next()))
            towers.append(optimizer.compute_gradients(losses[-1]))
    gradients = averaged(towers)
    averages = tf.train.ExponentialMovingAverage(network.DECAY_OF_AVERAGES, step)
    with tf.control_dependencies([optimizer.apply_gradients(gradients, global_step=step)]):
        train = averages.apply(tf.trainable_variables())
    loss = tf.add_n(losses) / options.num_gpus
    tf.summary.scalar("total_loss", loss)
    tf.summary.scalar("learning_rate", rate)
    for gradient, v in gradients:
        tf.summary.histogram(v.op.name + "/gradients", gradient)
    return train, loss


def train():
    with tf.Graph().as_default(), tf.device("/cpu:0"):
        step, loss = training()
        summaries, saver = tf.summary.merge_all(), tf.train.Saver()
        with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as session:
            session.run(tf.global_variables_initializer())
            writer = tf.summary.FileWriter(options.train_dir, session.graph)
            began = time.time()
            for i in range(1, options.max_steps + 1):
                _, value = session.run([step, loss])
                if i % 10 == 0:
                    rate = 10 * options.batch_size * options.num_gpus / (time.time() - began)
                    print(f"step {i}, loss = {value:.2f} ({rate:.1f} examples/s)", flush=True)
                    began = time.time()
                if i % 100 == 0 or i == options.max_steps:
                    writer.add_summary(session.run(summaries), i)
                    saver.save(session, os.path.join(options.train_dir, "model.ckpt"), global_step=i)
            writer.close()


def evaluate():
    with tf.Graph().as_default():
        images, labels = batches(training=False).get_next()
        v = {name: variable(name) for name in network.shapes(options.filters)}
        right = tf.nn.in_top_k(network.logits(tf, images, v), labels, 1)
        averages = tf.train.ExponentialMovingAverage(network.DECAY_OF_AVERAGES)
        with tf.Session() as session:
            tf.train.Saver(averages.variables_to_restore()).restore(session, tf.train.latest_checkpoint(options.train_dir))
            seen = []
            try:
                while True:
                    seen.extend(session.run(right))
            except tf.errors.OutOfRangeError:
                print(f"precision @ 1 = {sum(seen) / len(seen):.3f}")


if __name__ == "__main__":
    evaluate() if options.evaluate else train()
