# args: --steps=3 --name=first --verbose --rate 0.25 --list=a,b rest
import emplace.compat.v1 as tf

flags = tf.flags
FLAGS = flags.FLAGS
flags.DEFINE_integer("steps", 10, "How many steps.")
flags.DEFINE_string("name", "none", "A name.")
flags.DEFINE_float("rate", 0.5, "The rate.")
flags.DEFINE_bool("verbose", False, "Say more.")
tf.app.flags.DEFINE_boolean("quiet", True, "Say less.")
tf.app.flags.DEFINE_string("unset", None, "Nothing.")
flags.DEFINE_enum("mode", "train", ["train", "eval"], "What to do.")
flags.DEFINE_list("list", [], "Things.")


def main(argv):
    print(argv[1:])
    print(
        FLAGS.steps,
        FLAGS.name,
        FLAGS.rate,
        FLAGS.verbose,
        FLAGS.quiet,
        FLAGS.unset,
        FLAGS.mode,
        FLAGS.list,
    )
    print(FLAGS.flag_values_dict()["steps"], "steps" in FLAGS)
    FLAGS.steps = 4
    print(FLAGS.steps)
    with tf.Session() as sess:
        print(sess.run(tf.constant(FLAGS.rate) * FLAGS.steps))
    return 0


if __name__ == "__main__":
    tf.app.run()
