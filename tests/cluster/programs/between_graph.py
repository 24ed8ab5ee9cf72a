"""Two workers, each with a graph of its own, share variables by name on the parameter servers."""

import threading


def run(tf, cluster):
    def build(worker):
        graph = tf.Graph()
        with graph.as_default():
            with tf.device(tf.train.replica_device_setter(cluster=cluster.spec, worker_device=f"/job:worker/task:{worker}")):
                step = tf.train.get_or_create_global_step()
                w = tf.get_variable("w", initializer=[1.0, 2.0, 3.0])
                b = tf.get_variable("b", initializer=0.0)
                x = tf.placeholder(tf.float32, [3])
                loss = tf.square(tf.reduce_sum(w * x) + b - 1.0)
                train = tf.train.GradientDescentOptimizer(0.01).minimize(loss, global_step=step)
                return graph, x, loss, train, step, w, tf.global_variables_initializer()

    a, b = build(0), build(1)
    with tf.Session(cluster.target("worker", 0), graph=a[0]) as first, tf.Session(cluster.target("worker", 1), graph=b[0]) as second:
        first.run(a[6])
        for i in range(3):
            for sess, (_, x, loss, train, step, w, _) in ((first, a), (second, b)):
                value, _ = sess.run([loss, train], {x: [0.1, 0.2, 0.3 + i]})
                print("%.5f" % value, sess.run(step), ["%.5f" % v for v in sess.run(w)])
        done = []

        def many(sess, g):
            for _ in range(25):
                sess.run(g[3], {g[1]: [0.0, 0.0, 0.0]})
            done.append(1)

        threads = [threading.Thread(target=many, args=p) for p in ((first, a), (second, b))]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        print(len(done), first.run(a[4]), second.run(b[4]))
    with tf.Session(cluster.target("ps", 1), graph=b[0]) as sess:
        print(sess.run(b[4]))
