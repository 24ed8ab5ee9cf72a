"""Staging areas, maps, tensor arrays, sessions' own things on other tasks."""


def run(tf, cluster):
    with tf.device("/job:worker/task:1"):
        stage = tf.raw_ops.Stage(values=[tf.constant(4.0), tf.constant([1, 2])], shared_name="stage")
        unstage = tf.raw_ops.Unstage(dtypes=[tf.float32, tf.int32], shared_name="stage")
        array = tf.TensorArray(tf.float32, 4).scatter([0, 1, 2], [1.0, 2.0, 3.0]).write(3, 9.0)
        stacked = array.stack()
        stack = tf.raw_ops.StackV2(max_size=5, elem_type=tf.float32)
        pushed = tf.raw_ops.StackPushV2(handle=stack, elem=7.0)
        with tf.control_dependencies([pushed]):
            popped = tf.raw_ops.StackPopV2(handle=stack, elem_type=tf.float32)
    with tf.device("/job:ps/task:0"):
        summed = tf.reduce_sum(stacked) + popped
        static = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["x", "y"], [1, 2]), -1)
    with tf.device("/job:worker/task:0"):
        found = static.lookup(tf.constant(["y", "q"]))
    with tf.Session(cluster.target("worker", 0)) as sess:
        sess.run(stage)
        print([x.tolist() for x in sess.run(unstage)])
        print(sess.run(stacked).tolist(), sess.run(summed))
        sess.run(tf.tables_initializer())
        print(sess.run(found).tolist())
        x = tf.Variable(3.0, name="own")
        sess.run(x.initializer)
        print(x.eval(sess), sess.run(tf.is_variable_initialized(x)))
