"""Version 1's strategies in graphs: each optimizer over two replicas, what it saves and restores."""
import os
import tempfile

import numpy as np
import tensorflow as tf2
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf2.config.set_logical_device_configuration(tf2.config.list_physical_devices("CPU")[0], [tf2.config.LogicalDeviceConfiguration()] * 2)
tf.logging.set_verbosity(tf.logging.ERROR)
x = np.random.RandomState(0).rand(32, 3).astype("float32")
y = x.sum(1, keepdims=True)


def build(strategy, optimizer):
    step = tf.train.get_or_create_global_step()

    def replica_step(inputs):
        images, wanted = inputs
        w = tf.get_variable("w", [3, 1], initializer=tf.constant_initializer(0.5))
        b = tf.Variable(0.25, name="b")
        with tf.variable_scope("net"):
            out = tf.matmul(tf.matmul(images, w) + b, tf.get_variable("k", [1, 1], initializer=tf.ones_initializer()))
        loss = tf.reduce_mean(tf.square(out - wanted)) / strategy.num_replicas_in_sync
        with tf.control_dependencies([optimizer.minimize(loss, global_step=step)]):
            return tf.identity(loss)

    iterator = strategy.make_dataset_iterator(tf.data.Dataset.from_tensor_slices((x, y)).repeat().batch(8))
    return strategy.reduce(tf.distribute.ReduceOp.SUM, strategy.experimental_run(replica_step, iterator)), iterator.initialize(), step


def train(name, optimizer):
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"], cross_device_ops=tf.distribute.ReductionToOneDevice())
    with strategy.scope():
        loss, initialize, step = build(strategy, optimizer)
        saver = tf.train.Saver()
    everything = tf.global_variables()
    print(name, [v.name for v in everything])
    with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as session:
        session.run(tf.global_variables_initializer())
        session.run(initialize)
        print([f"{session.run(loss):.4f}" for _ in range(5)], session.run(step))
        before = session.run(everything)
        for v in everything[1:4]:
            print(v.name, [np.round(copy, 3).tolist() for copy in session.run(strategy.unwrap(v))])
        path = saver.save(session, os.path.join(tempfile.mkdtemp(), "model"))
        print(tf.train.list_variables(path))
        session.run(tf.global_variables_initializer())
        saver.restore(session, path)
        print(all(np.array_equal(a, b) for a, b in zip(before, session.run(everything))), f"{session.run(loss):.4f}")


for name, make in {
    "descent": lambda: tf.train.GradientDescentOptimizer(0.1), "adam": lambda: tf.train.AdamOptimizer(0.1),
    "momentum": lambda: tf.train.MomentumOptimizer(0.1, 0.9), "adagrad": lambda: tf.train.AdagradOptimizer(0.1),
    "rmsprop": lambda: tf.train.RMSPropOptimizer(0.1), "ftrl": lambda: tf.train.FtrlOptimizer(0.1),
}.items():  # fmt: skip
    with tf.Graph().as_default():
        train(name, make())
