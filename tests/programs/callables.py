import emplace.compat.v1 as tf

x = tf.placeholder(tf.float32, [None], name="x")
y = tf.placeholder(tf.float32, [], name="y")
scaled = tf.multiply(x, y, name="scaled")
total = tf.reduce_sum(scaled)
state = tf.Variable(0.0, name="state")
bump = tf.assign_add(state, total)

with tf.Session() as sess:
    sess.run(state.initializer)
    scale = sess.make_callable(scaled, feed_list=[x, y])
    print(scale([1.0, 2.0], 3.0))
    print(scale([1.0, 2.0, 3.0], -1.0))
    both = sess.make_callable({"scaled": scaled, "pair": (total, [bump])}, feed_list=[x, y])
    print(both([1.0, 2.0], 10.0))
    print(both([1.0], 1.0))
    read = sess.make_callable(state)
    print(read(), read())
    run_op = sess.make_callable(bump.op, feed_list=[x, y])
    print(run_op([2.0], 2.0), read())
    by_name = sess.make_callable("scaled:0", feed_list=["x:0", "y:0"])
    print(by_name([4.0], 0.5))
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    metadata = tf.RunMetadata()
    traced = sess.make_callable(total, feed_list=[x, y], accept_options=True)
    print(traced([1.0, 1.0], 2.0, options=options, run_metadata=metadata))
    print(len(metadata.step_stats.dev_stats) > 0)
    try:
        sess.make_callable(scaled, feed_list=x)
    except TypeError as error:
        print("TypeError -", error)
try:
    print(scale([1.0], 2.0))
except RuntimeError as error:
    print("RuntimeError -", error)
