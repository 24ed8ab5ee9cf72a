"""State: containers, sessions, resets, isolation, sharing by name."""


def run(tf, cluster):
    target = cluster.target("worker", 0)

    def attempt(sess, fetch, title):
        try:
            print(title, sess.run(fetch))
        except tf.errors.OpError as e:
            print(title, type(e).__name__)

    with tf.device("/job:ps/task:0"):
        v = tf.get_variable("v", initializer=1.0, use_resource=False)
        with tf.container("kept"):
            k = tf.get_variable("k", initializer=2.0, use_resource=True)
        with tf.device("/job:worker/task:1"):
            o = tf.get_variable("o", initializer=3.0, use_resource=True)
    init = tf.global_variables_initializer()
    with tf.Session(target) as sess:
        sess.run(init)
        sess.run(v.assign_add(10.0))
    with tf.Session(cluster.target("worker", 1)) as sess:
        print(sess.run([v, k, o]))
    with tf.Session(target, config=tf.ConfigProto(isolate_session_state=True)) as sess:
        attempt(sess, v, "isolated")
        sess.run(init)
        attempt(sess, v, "isolated")
    with tf.Session(target) as sess:
        attempt(sess, v, "shared")
    tf.Session.reset(target, ["localhost"])
    with tf.Session(target) as sess:
        attempt(sess, [v, k, o], "after localhost")
    tf.Session.reset(target, ["kept"])
    with tf.Session(target) as sess:
        attempt(sess, v, "v after kept")
        attempt(sess, k, "k after kept")
        sess.run(k.initializer)
    tf.Session.reset(target)
    with tf.Session(target) as sess:
        attempt(sess, v, "v after all")
        attempt(sess, k, "k after all")
        attempt(sess, o, "o after all")
        sess.run(init)
    old = tf.Session(target)
    old.run(v)
    tf.Session.reset(target, ["worker"])
    try:
        old.run(v)
    except tf.errors.OpError as e:
        print(type(e).__name__, "is not found" in e.message)
    with tf.Session(target) as sess:
        attempt(sess, v, "v after worker")
        attempt(sess, o, "o after worker")
        extended = v * 2.0 + k
        print(sess.run(extended))
        with tf.device("/job:ps/task:1"):
            print(sess.run(extended + 1.0))
        table = tf.lookup.experimental.DenseHashTable(tf.int64, tf.float32, -1.0, empty_key=-1, deleted_key=-2) if hasattr(tf.lookup, "experimental") else None
        print(table is not None and sess.run(table.size()).tolist())
    with tf.Graph().as_default():
        with tf.device("/job:ps/task:1"):
            shared = tf.raw_ops.MutableHashTableV2(key_dtype=tf.string, value_dtype=tf.int64, shared_name="counts")
            insert = tf.raw_ops.LookupTableInsertV2(table_handle=shared, keys=["a", "b"], values=tf.constant([1, 2], tf.int64))
            find = tf.raw_ops.LookupTableFindV2(table_handle=shared, keys=["b", "z"], default_value=tf.constant(-1, tf.int64))
        with tf.Session(target) as a, tf.Session(cluster.target("worker", 1)) as b:
            a.run(insert)
            print(b.run(find).tolist())
