"""Several CPU devices, pins, colocation: values here, devices in test_placement."""

import numpy as np

from case import Case, table


def _pins(function, soft=False):
    def build(tf):
        made = function(tf)
        if not isinstance(made, Case):
            made = Case(list(made) if isinstance(made, (list, tuple)) else [made])
        made.cpus, made.soft = 4, soft
        return made

    return build


def _chain(tf):
    x = tf.placeholder(tf.float32, [2])
    y = x
    for i in range(4):
        with tf.device(f"/cpu:{i}"):
            y = y * 2.0 + i
    return Case([y], {x: np.float32([1, 2])})


def _variable_on(tf, resource):
    with tf.device("/cpu:2"):
        v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=resource)
    with tf.device("/cpu:1"):
        bump = tf.assign_add(v, [1.0, 1.0])
        read = v.read_value() * 3.0
    return Case([read], {}, [v.initializer, bump.op])


def _colocated(tf):
    with tf.device("/cpu:3"):
        a = tf.constant([1.0, 2.0])
    with tf.colocate_with(a.op):
        b = tf.identity(a) + 1.0
    with tf.device("/cpu:1"):
        return b * 2.0


def _colocated_variables(tf):
    with tf.device("/cpu:1"):
        v = tf.get_variable("v", initializer=1.0, use_resource=False)
    with tf.colocate_with(v.op):
        w = tf.get_variable("w", initializer=2.0, use_resource=False)
    return Case([v + w], {}, [tf.global_variables_initializer()])


def _device_function(tf):
    with tf.device(lambda op: "/cpu:2" if op.type == "Mul" else "/cpu:1"):
        return (tf.constant(2.0) * 3.0) + 1.0


def _partial(tf):
    with tf.device("/job:localhost"):
        a = tf.constant(1.0)
        with tf.device("/device:CPU:3"):
            b = a + 1.0
        with tf.device("/task:0/cpu:1"):
            return b * a


def _towers(tf):
    towers = []
    for i in range(3):
        with tf.device(f"/cpu:{i + 1}"), tf.name_scope(f"tower_{i}"):
            towers.append(tf.matmul(tf.constant([[1.0, 2.0]]), tf.constant([[float(i)], [1.0]])))
    with tf.device("/cpu:0"):
        return tf.add_n(towers)


def _training(tf):
    with tf.device("/cpu:1"):
        w = tf.get_variable("w", initializer=[[0.5], [0.5]], use_resource=False)
    x = tf.placeholder(tf.float32, [None, 2])
    with tf.device("/cpu:2"):
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w)))
    train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss, colocate_gradients_with_ops=True)
    return Case([loss, w.read_value()], {x: np.float32([[1, 2]])}, [tf.global_variables_initializer(), train, train])


def _missing(tf):
    with tf.device("/cpu:7"):
        return tf.constant(1.0) + 1.0


def _gpu(tf):
    with tf.device("/device:GPU:0"):
        return tf.constant(1.0) + 1.0


def _round_robin(tf):
    with tf.device(tf.train.replica_device_setter(ps_tasks=0, worker_device="/cpu:1")):
        v = tf.get_variable("v", initializer=2.0, use_resource=False)
        return Case([v * 2.0], {}, [v.initializer])


def _identity_chain(tf):
    with tf.device("/cpu:3"):
        a = tf.constant([3.0]) * 2.0
    return tf.identity(tf.identity(a))


table("pins", [
    ("chain", _pins(_chain)), ("variable_ref", _pins(lambda tf: _variable_on(tf, False))), ("variable_resource", _pins(lambda tf: _variable_on(tf, True))),
    ("colocated", _pins(_colocated)), ("colocated_variables", _pins(_colocated_variables)), ("device_function", _pins(_device_function)),
    ("partial_names", _pins(_partial)), ("towers", _pins(_towers)), ("training", _pins(_training)), ("missing_device", _pins(_missing)),
    ("missing_device_soft", _pins(_missing, True)), ("missing_gpu", _pins(_gpu)), ("missing_gpu_soft", _pins(_gpu, True)),
    ("replica_setter", _pins(_round_robin)), ("identity_chain", _pins(_identity_chain)),
])
