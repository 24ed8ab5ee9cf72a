"""A client: every kind of value, branches, loops, growing graphs, prepared calls, errors."""

import importlib
import sys

import numpy as np

tf = importlib.import_module(sys.argv[1])
tf.disable_v2_behavior()
target = sys.argv[2]

with tf.device("/job:ps/task:0"):
    weights = tf.get_variable("weights", initializer=[1.0, 2.0], use_resource=False)
    bias = tf.get_variable("bias", initializer=0.5, use_resource=True)
with tf.device("/job:worker/task:0"):
    x = tf.placeholder(tf.float32, [None, 2])
    scaled = x * weights
with tf.device("/job:worker/task:1"):
    total = tf.reduce_sum(scaled) + bias
    text = tf.strings.join(["total ", tf.as_string(total, precision=2)])
    whole = tf.cast(total, tf.int32)


def double(value):
    with tf.device("/job:worker/task:1"):
        return value * 2.0


rows = np.array([[1, 2], [3, 4]], np.float32)
with tf.Session(target) as sess:
    print(sorted(d.name for d in sess.list_devices()))
    sess.run(tf.global_variables_initializer())
    for value in sess.run([scaled, total, text, whole], {x: rows}):
        print(value)
    sess.run([weights.assign_add([1.0, 1.0]), bias.assign(2.0)])
    print(sess.run(total, {x: rows[:1]}))
    chosen = tf.cond(total > 10.0, lambda: total * 2.0, lambda: scaled[0, 0])
    print(sess.run(chosen, {x: rows}), sess.run(chosen, {x: rows * 0}))
    print(sess.run(tf.while_loop(lambda i: i < 10, lambda i: i + 3, [tf.constant(0)])))
    _, powered = tf.while_loop(lambda i, x: i < 5, lambda i, x: (i + 1, double(x)), [0, total])
    print(sess.run(powered, {x: rows}))
    piecewise = sess.partial_run_setup([scaled, total], [x])
    print(sess.partial_run(piecewise, scaled, {x: rows}), sess.partial_run(piecewise, total))
    call = sess.make_callable([total, whole.op], [x])
    print(call(rows), call(rows[1:]))
    with tf.device("/job:worker/task:1"):
        checked = tf.check_numerics(tf.log(-total), "no logarithm")
    try:
        sess.run(checked, {x: rows})
    except tf.errors.InvalidArgumentError as e:
        print(type(e).__name__, "no logarithm : Tensor had NaN values" in e.message, e.op.name)
    try:
        sess.run(tf.FIFOQueue(3, tf.float32).dequeue(), options=tf.RunOptions(timeout_in_ms=100))
    except tf.errors.DeadlineExceededError as e:
        print(type(e).__name__)
    print(sess.run(total, {x: rows}))
with tf.Session(target) as sess:
    print(sess.run([weights, bias]))
tf.Session.reset(target, ["ps"])
with tf.Session(target) as sess:
    print(sess.run(tf.report_uninitialized_variables()))
