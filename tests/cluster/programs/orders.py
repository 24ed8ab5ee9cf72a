"""Control dependencies over tasks keep the order of effects; assignments from other tasks."""


def run(tf, cluster):
    with tf.device("/job:ps/task:0"):
        log = tf.get_variable("log", initializer=tf.constant("", tf.string), use_resource=True)
        ref = tf.get_variable("ref", initializer=[1.0, 2.0], use_resource=False)
        res = tf.get_variable("res", initializer=[1.0, 2.0], use_resource=True)

    def say(word):
        return log.assign(tf.strings.join([log.read_value(), word]))

    with tf.device("/job:ps/task:0"):
        a = say("a")
    with tf.device("/job:worker/task:1"), tf.control_dependencies([a]):
        slow = tf.reduce_sum(tf.matmul(tf.ones([200, 200]), tf.ones([200, 200])))
    with tf.device("/job:ps/task:0"), tf.control_dependencies([slow]):
        b = say("b")
    with tf.device("/job:worker/task:0"), tf.control_dependencies([b]):
        nothing = tf.no_op()
    with tf.device("/job:ps/task:0"), tf.control_dependencies([nothing]):
        c = say("c")
        group = tf.group(c)
    with tf.device("/job:worker/task:1"):
        from_worker = [tf.assign(ref, [5.0, 6.0]), tf.assign_add(res, [1.0, 1.0])]
        sub = tf.assign_sub(ref, [1.0, 1.0])
        scattered = tf.scatter_update(ref, [0], [9.0])
        print([x.device for x in (*from_worker, sub, scattered)])
        sliced = ref[1:]
        read = ref.read_value()
    with tf.device("/job:worker/task:0"), tf.control_dependencies([sub]):
        after = tf.identity(ref)
    with tf.Session(cluster.target("worker", 0)) as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(3):
            sess.run(group)
        print(sess.run(log))
        sess.run(from_worker)
        print(sess.run([ref, res, read, sliced]))
        print(sess.run(after), sess.run(scattered), sess.run(ref))
        print(sess.run(tf.tuple([sub, res])))
