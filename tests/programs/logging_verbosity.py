import emplace.compat.v1 as tf

print(tf.logging.get_verbosity() == tf.logging.WARN)
tf.logging.set_verbosity(tf.logging.INFO)
print(
    tf.logging.get_verbosity(),
    tf.logging.DEBUG,
    tf.logging.INFO,
    tf.logging.WARN,
    tf.logging.ERROR,
    tf.logging.FATAL,
)
tf.logging.info("step %d of %d", 1, 2)
tf.logging.warning("careful: %s", "thin ice")
tf.logging.error("it broke")
tf.logging.debug("not shown")
tf.logging.set_verbosity(tf.logging.ERROR)
tf.logging.info("not shown either")
tf.logging.log(tf.logging.ERROR, "level %s", "error")
print("done")
