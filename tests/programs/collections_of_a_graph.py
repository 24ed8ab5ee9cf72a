import emplace.compat.v1 as tf

graph = tf.Graph()
with graph.as_default():
    v = tf.Variable(1.0, name="v")
    w = tf.Variable(2.0, name="w", trainable=False)
    loc = tf.Variable(3.0, name="loc", collections=[tf.GraphKeys.LOCAL_VARIABLES])
    mine = tf.get_variable("mine", [1], collections=["mine", tf.GraphKeys.GLOBAL_VARIABLES])
    tf.add_to_collection("losses", tf.constant(1.0, name="l1"))
    tf.add_to_collection("losses", tf.constant(2.0, name="l2"))
    tf.add_to_collections(["x", "y"], 5)
    tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, tf.assign(w, 3.0, name="update"))
    print([t.name for t in tf.get_collection("losses")])
    print([t.name for t in tf.get_collection("losses", scope="l2")])
    print(tf.get_collection("x"), tf.get_collection("y"), tf.get_collection("nothing"))
    print([x.op.name for x in tf.global_variables()])
    print([x.op.name for x in tf.trainable_variables()])
    print([x.op.name for x in tf.local_variables()])
    print([x.name for x in tf.get_collection(tf.GraphKeys.UPDATE_OPS)])
    reference = tf.get_collection_ref("losses")
    reference.append("more")
    print(len(tf.get_collection("losses")), tf.get_collection("losses") is not reference)
    print(sorted(graph.get_all_collection_keys()))
    graph.clear_collection("losses")
    print(tf.get_collection("losses"))
    print(
        tf.GraphKeys.GLOBAL_VARIABLES,
        tf.GraphKeys.TRAINABLE_VARIABLES,
        tf.GraphKeys.LOCAL_VARIABLES,
        tf.GraphKeys.LOSSES,
        tf.GraphKeys.SUMMARIES,
        tf.GraphKeys.REGULARIZATION_LOSSES,
    )
    print(tf.report_uninitialized_variables().dtype)
    with tf.Session() as sess:
        print(sorted(sess.run(tf.report_uninitialized_variables())))
        sess.run(tf.global_variables_initializer())
        print(sess.run(tf.report_uninitialized_variables()))
        sess.run(tf.local_variables_initializer())
        print(sess.run(tf.report_uninitialized_variables()))
        print(sess.run([tf.is_variable_initialized(loc), loc]))
