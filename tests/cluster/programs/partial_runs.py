"""Steps in pieces on a server."""


def run(tf, cluster):
    with tf.device("/job:worker/task:0"):
        a = tf.placeholder(tf.float32, [], name="a")
        b = tf.placeholder(tf.float32, [], name="b")
        c = tf.placeholder(tf.float32, [], name="c")
    with tf.device("/job:worker/task:1"):
        r1 = tf.add(a, b, name="r1")
    with tf.device("/job:ps/task:0"):
        r2 = tf.multiply(r1, c, name="r2")
        counter = tf.get_variable("counter", initializer=0.0)
        counted = tf.assign_add(counter, r1)

    def attempt(f):
        try:
            print(f())
        except Exception as e:
            print(type(e).__name__, cluster.words(e))

    with tf.Session(cluster.target("worker", 0)) as sess:
        sess.run(tf.global_variables_initializer())
        h = sess.partial_run_setup([r1, r2], [a, b, c])
        print(sess.partial_run(h, r1, feed_dict={a: 1, b: 2}))
        print(sess.partial_run(h, r2, feed_dict={c: 17}))
        h = sess.partial_run_setup([r1, r2, counted], [a, b, c])
        other = sess.partial_run_setup([r1, r2], [a, b, c])
        print(sess.partial_run(other, r1, feed_dict={a: 5, b: 6}))
        print(sess.partial_run(h, [r1, counted], feed_dict={a: 1, b: 2}))
        print(sess.partial_run(h, r2, feed_dict={c: 2}), sess.partial_run(other, r2, feed_dict={c: 3}))
        print(sess.run(counter))
        h = sess.partial_run_setup([r1, r2], [a, b, c])
        attempt(lambda: sess.partial_run(h, r1, feed_dict={a: 1, b: 2}))
        attempt(lambda: sess.partial_run(h, r1, feed_dict={c: 2}))
        h = sess.partial_run_setup([r1, r2], [a, b, c])
        attempt(lambda: sess.partial_run(h, counted, feed_dict={a: 1}))
        attempt(lambda: sess.partial_run_setup([], [a]))
        print(sess.run(r2, {a: 1, b: 1, c: 1}))
