# env: EMPLACE_VIRTUAL_GPUS=1
# oracle: none
"""Which ops a GPU has kernels for, and what soft placement does about the others."""

import emplace.compat.v1 as tf


def try_on_gpu(name, build):
    for soft in (False, True):
        with tf.Graph().as_default():
            with tf.device("/gpu:0"):
                fetch = build()
            with tf.Session(config=tf.ConfigProto(allow_soft_placement=soft)) as sess:
                try:
                    print(name, "soft" if soft else "hard", sess.run(fetch))
                except tf.errors.InvalidArgumentError as error:
                    print(
                        name,
                        "hard",
                        type(error).__name__,
                        error.op.name,
                        "Could not satisfy explicit device specification '/device:GPU:0'"
                        in error.message,
                    )


def variable(value):
    v = tf.Variable(value)
    with tf.control_dependencies([v.initializer]):
        return v.read_value()


try_on_gpu("float variable", lambda: variable(1.5))
try_on_gpu("int64 variable", lambda: variable(tf.constant(2, tf.int64)))
try_on_gpu("int32 variable", lambda: variable(3))
try_on_gpu("int32 add", lambda: tf.constant(1) + tf.constant(2))
try_on_gpu("string", lambda: tf.as_string(tf.constant(7), name="text"))
