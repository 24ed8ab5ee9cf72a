"""CIFAR-10 as a `tf.distribute.MirroredStrategy`: a copy of the variables on each GPU, one program a step.

    EMPLACE_VIRTUAL_GPUS=2 ./run examples/cifar10/mirrored.py
"""

import argparse
import time

import data
import network

import emplace as tf

parser = argparse.ArgumentParser()
parser.add_argument("--batch_size", type=int, default=128, help="of all replicas together")
parser.add_argument("--max_steps", type=int, default=1000)
parser.add_argument("--rate", type=float, default=network.FIRST_RATE, help="of learning, to begin with")
parser.add_argument("--filters", type=int, default=64)
parser.add_argument("--deterministic", action="store_true", help="the same weights, to the bit, on any number of GPUs")
parser.add_argument("--data_dir", default="/tmp/cifar10_data")
parser.add_argument("--train_dir", default="/tmp/cifar10_mirrored")
parser.add_argument("--evaluate", action="store_true", help="the last checkpoint's accuracy on the test set")
options = parser.parse_args()
strategy = tf.distribute.MirroredStrategy(deterministic=options.deterministic)


def batches(training):
    names, what = data.files(options.data_dir, training)
    print("data:", what)
    records = tf.data.FixedLengthRecordDataset(names, data.RECORD)
    if training:
        records = records.shuffle(4000, seed=1).repeat()
    examples = records.map(lambda record: network.example(tf, record, distorted=training), num_parallel_calls=2)
    return examples.batch(options.batch_size, drop_remainder=training).prefetch(2)


class Model(tf.Module):
    """Variables, their moving averages, and the step."""

    def __init__(self):
        super().__init__()
        with strategy.scope():
            first = {name: network.first_value(name, options.filters) for name in network.shapes(options.filters)}
            self.weights = {name: tf.Variable(value, name=name) for name, value in first.items()}
            self.averages = {name: tf.Variable(value, name=name + "/average", trainable=False) for name, value in first.items()}
            self.step = tf.Variable(0, dtype=tf.int64, trainable=False, aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA)

    @tf.function
    def train(self, images, labels):
        losses = strategy.run(self.replica_step, args=(images, labels))
        return strategy.reduce("SUM", losses, axis=None)

    def replica_step(self, images, labels):
        with tf.GradientTape() as tape:
            unlike = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, network.logits(tf, images, self.weights))
            decay = network.decay_of_weights(tf, self.weights, options.filters)
            loss = tf.reduce_sum(unlike) / options.batch_size + decay / strategy.num_replicas_in_sync
        names = list(self.weights)
        gradients = tape.gradient(loss, [self.weights[name] for name in names])
        replica = tf.distribute.get_replica_context()
        replica.merge_call(self.apply, args=(names, replica.all_reduce("SUM", gradients)))
        return loss

    def apply(self, strategy, names, gradients):
        step = tf.cast(self.step.read_value(), tf.float32)
        rate = options.rate * network.DECAY_OF_RATE ** tf.floor(step / network.STEPS_A_DECAY)
        kept = tf.minimum(network.DECAY_OF_AVERAGES, (1 + step) / (10 + step))
        for name, gradient in zip(names, gradients):
            strategy.extended.update(self.weights[name], lambda v, g: v.assign_sub(rate * g), args=(gradient,))
            average = strategy.extended.update(self.averages[name], lambda a, v: a.assign_sub((1 - kept) * (a - v)), args=(self.weights[name],))
        self.step.assign_add(1)
        return average


def train():
    model, writer = Model(), tf.summary.create_file_writer(options.train_dir)
    saved = tf.train.CheckpointManager(tf.train.Checkpoint(model=model), options.train_dir, max_to_keep=5)
    began = time.time()
    for i, (images, labels) in enumerate(strategy.experimental_distribute_dataset(batches(training=True)), 1):
        loss = model.train(images, labels)
        if i % 10 == 0:
            rate = 10 * options.batch_size / (time.time() - began)
            print(f"step {i}, loss = {float(loss):.2f} ({rate:.1f} examples/s)", flush=True)
            began = time.time()
        if i % 100 == 0 or i == options.max_steps:
            with writer.as_default():
                tf.summary.scalar("total_loss", loss, step=i)
            saved.save(checkpoint_number=i)
        if i == options.max_steps:
            break
    writer.close()


def evaluate():
    model = Model()
    tf.train.Checkpoint(model=model).restore(tf.train.latest_checkpoint(options.train_dir)).expect_partial()
    right = seen = 0
    for images, labels in batches(training=False):
        found = tf.math.in_top_k(labels, network.logits(tf, images, model.averages), 1)
        right, seen = right + int(tf.reduce_sum(tf.cast(found, tf.int32))), seen + len(labels)
    print(f"precision @ 1 = {right / seen:.3f}")


if __name__ == "__main__":
    evaluate() if options.evaluate else train()
