"""What fails on another task, by class, node and words."""

import numpy as np


def run(tf, cluster):
    def attempt(title, fetch, feeds=None, sess=None):
        try:
            print(title, (sess or session).run(fetch, feeds))
        except tf.errors.OpError as e:
            placing = "assign" in e.message  # engines name another node of those that can't be placed
            print(title, "|", type(e).__name__, "|", e.error_code, *(() if placing else ("|", e.op and e.op.name, "|", cluster.words(e))))
        except Exception as e:
            print(title, "|", type(e).__name__, "|", str(e)[:150])

    session = tf.Session(cluster.target("worker", 0))
    x = tf.placeholder(tf.float32, name="x")
    with tf.device("/job:worker/task:1"):
        inverse = tf.matrix_inverse([[0.0, 0.0], [0.0, 0.0]], name="inverse")
        product = tf.matmul(x, x, name="product")
        gathered = tf.gather([1, 2, 3], tf.cast(x, tf.int32), name="gathered")
        nan = tf.check_numerics(x, "bad number", name="nan")
        asserted = tf.Assert(tf.reduce_all(x > 0), [x], name="asserted")
        divided = tf.floordiv(tf.constant(3), tf.cast(x, tf.int32), name="divided")
        never = tf.get_variable("never", [2], use_resource=False)
        never_resource = tf.get_variable("never_resource", [2], use_resource=True)
        number = tf.string_to_number("abc", name="number")
        eye = tf.reshape(x, [7], name="reshaped")
        unfed = tf.identity(tf.placeholder(tf.float32, [2], name="unfed"))
    with tf.device("/job:worker/task:0"):
        here = tf.identity(x, name="here")
        users = [tf.identity(t) for t in (inverse, product, gathered, nan, divided, number, eye)]
    for name, t in zip("inverse product gathered nan divided number eye".split(), (inverse, product, gathered, nan, divided, number, eye)):
        feeds = {x: np.zeros([2, 3], np.float32) if name == "product" else np.float32("nan") if name == "nan" else np.float32(9) if name == "gathered" else np.float32(0)}
        attempt(name, t, feeds)
    attempt("user", users[0])
    attempt("both", [here, users[2]], {x: 9.0})
    attempt("assert", asserted, {x: [-1.0, 2.0]})
    attempt("assert well", [asserted, here], {x: [1.0, 2.0]})
    attempt("never", never.read_value())
    attempt("never resource", never_resource.read_value())
    attempt("unfed", unfed)
    attempt("feeding a wrong shape", unfed, {"unfed:0": [1.0, 2.0, 3.0]})
    with tf.device("/job:worker/task:7"):
        far = tf.constant(1.0, name="far") + 1.0
    attempt("no task", far)
    with tf.device("/job:chief/task:0"):
        strange = tf.constant(1.0, name="strange") + 1.0
    attempt("no job", strange)
    with tf.device("/job:worker/task:1/device:GPU:0"):
        card = tf.matmul([[1.0]], [[2.0]], name="card")
    attempt("no card", card)
    attempt("still", here, {x: 4.0})
    session.close()
    attempt("closed", here, {x: 4.0})
    with tf.Session(cluster.target("worker", 0), config=tf.ConfigProto(allow_soft_placement=True)) as soft:
        attempt("soft", card, sess=soft)
