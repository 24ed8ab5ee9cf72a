import emplace.compat.v1 as tf

config = tf.ConfigProto(device_count={"CPU": 3})
with tf.device("/cpu:1"):
    a = tf.constant([1.0, 2.0], name="a")
with tf.device("/cpu:2"):
    v = tf.Variable([10.0, 20.0], name="v")
    b = a * v
with tf.device("/job:localhost/replica:0/task:0/device:CPU:0"):
    c = tf.reduce_sum(b)
with tf.Session(config=config) as sess:
    for device in sess.list_devices():
        print(device.name, device.device_type, device.memory_limit_bytes > 0)
    sess.run(v.initializer)
    print(sess.run(c))
    print(sess.run([a, b, c]))
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    metadata = tf.RunMetadata()
    sess.run(c, options=options, run_metadata=metadata)
    where = {}
    for device in metadata.step_stats.dev_stats:
        for node in device.node_stats:
            where[node.node_name.split(":")[0]] = device.device
    print(sorted(where[name] for name in ("mul", "Sum") if name in where))

with tf.Graph().as_default():
    with tf.device("/cpu:9"):
        far = tf.constant(1.0, name="far")
    for soft in (False, True):
        with tf.Session(config=tf.ConfigProto(allow_soft_placement=soft)) as sess:
            try:
                print(sess.run(far))
            except tf.errors.InvalidArgumentError as error:
                print(
                    type(error).__name__, "far" in error.message, "/device:CPU:9" in error.message
                )
