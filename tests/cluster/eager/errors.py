"""What goes wrong on other tasks."""


def run(tf, show):
    def on(device, f):
        with tf.device(device):
            return f()

    show(lambda: on("/job:worker/task:9", lambda: tf.constant(1.0) + 1.0))
    show(lambda: on("/job:nobody/task:0", lambda: tf.random.uniform([2])))
    show(lambda: on("/job:worker/task:1/gpu:0", lambda: tf.identity(tf.constant(1.0)) + 1.0))
    show(lambda: on("/job:worker/task:1", lambda: tf.debugging.assert_equal(tf.constant(1.0), 0.0)))
    show(lambda: on("/job:worker/task:1", lambda: tf.strings.to_number(tf.constant(["x"])).numpy()), True)
    show(lambda: tf.config.experimental_connect_to_host(None))
    print(on("/job:worker/task:1", lambda: tf.constant(1.0) + 1.0).numpy())
