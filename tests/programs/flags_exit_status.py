# exit: 3
import emplace.compat.v1 as tf


def main(_):
    print(tf.app.flags.FLAGS.color)
    return 3


tf.app.flags.DEFINE_string("color", "blue", "A color.")
tf.app.run(main=main)
