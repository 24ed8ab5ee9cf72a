"""Optimizers of graph programs: steps that end where TensorFlow's end, slot names, a model that learns."""

import numpy as np
import pytest

import emplace.compat.v1 as tf

MAKERS = {
    "momentum": lambda: tf.train.MomentumOptimizer(0.1, 0.9),
    "nesterov": lambda: tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    "adagrad": lambda: tf.train.AdagradOptimizer(0.1),
    "rmsprop": lambda: tf.train.RMSPropOptimizer(0.1, momentum=0.5),
    "centered": lambda: tf.train.RMSPropOptimizer(0.1, centered=True),
    "adadelta": lambda: tf.train.AdadeltaOptimizer(1.0),
    "adam": lambda: tf.train.AdamOptimizer(0.1),
}
AFTER_THREE = {
    "momentum": [-0.11632663011550903, -27.304370880126953],
    "nesterov": [-0.18581968545913696, -161.4023895263672],
    "adagrad": [0.7900323867797852, -2.236192226409912],
    "rmsprop": [0.35074862837791443, -3.160017490386963],
    "centered": [0.5401004552841187, -2.87398099899292],
    "adadelta": [0.9986438155174255, -2.001357316970825],
    "adam": [0.7041547894477844, -2.300492525100708],
}


@pytest.mark.parametrize("name", MAKERS)
def test_three_steps_end_where_tensorflow_ends(name):
    with tf.Graph().as_default():
        w = tf.Variable([1.0, -2.0], name="w")
        train = MAKERS[name]().minimize(tf.reduce_sum(w * w * w))
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for _ in range(3):
                session.run(train)
            np.testing.assert_allclose(session.run(w), AFTER_THREE[name], rtol=1e-5)


def test_slots_are_named_as_in_tensorflow():
    with tf.Graph().as_default():
        w = tf.Variable([1.0], name="w")
        adam = tf.train.AdamOptimizer(0.1)
        assert adam.minimize(tf.reduce_sum(w * w)).name == "Adam"
        assert [v.name for v in tf.global_variables()] == ["w:0", "beta1_power:0", "beta2_power:0", "w/Adam:0", "w/Adam_1:0"]
        assert adam.get_slot(w, "v").name == "w/Adam_1:0"


def test_two_layers_learn_exclusive_or():
    with tf.Graph().as_default():
        random = np.random.default_rng(3)
        x = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], np.float32)
        y = np.array([[0], [1], [1], [0]], np.float32)
        w1, b1 = tf.Variable(random.normal(size=(2, 8)).astype(np.float32)), tf.Variable(np.zeros(8, np.float32))
        w2, b2 = tf.Variable(random.normal(size=(8, 1)).astype(np.float32)), tf.Variable(np.zeros(1, np.float32))
        out = tf.sigmoid(tf.matmul(tf.tanh(tf.matmul(tf.constant(x), w1) + b1), w2) + b2)
        train = tf.train.AdamOptimizer(0.1).minimize(tf.reduce_mean(tf.square(out - y)))
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for _ in range(200):
                session.run(train)
            np.testing.assert_array_equal(np.round(session.run(out)), y)
