"""Queues between tasks: values, barriers, closing, errors."""

import threading


def run(tf, cluster):
    with tf.device("/job:ps/task:0"):
        q = tf.FIFOQueue(3, [tf.float32, tf.string], shapes=[[2], []], shared_name="work")
        done = tf.FIFOQueue(10, tf.int32, shapes=[[]], shared_name="done")
    with tf.device("/job:worker/task:0"):
        put = q.enqueue([[1.0, 2.0], "a"])
        many = q.enqueue_many([[[3.0, 4.0], [5.0, 6.0]], ["b", "c"]])
    with tf.device("/job:worker/task:1"):
        take = q.dequeue()
        sent = [take[0] * 2.0, take[1]]
    close, size = q.close(), q.size()
    signal, wait = done.enqueue(7), done.dequeue_many(3)
    with tf.Session(cluster.target("worker", 0)) as sess:
        sess.run(put)
        sess.run(many)
        print(sess.run(size))
        for _ in range(3):
            print([x.tolist() if hasattr(x, "tolist") else x for x in sess.run(sent)])
        results = []

        def waits():
            with tf.Session(cluster.target("worker", 1), graph=tf.get_default_graph()) as other:
                results.append(other.run(wait).tolist())

        graph = tf.get_default_graph()

        def barrier():
            with graph.as_default():
                waits()

        thread = threading.Thread(target=barrier)
        thread.start()
        for _ in range(3):
            sess.run(signal)
        thread.join()
        print(results)
        sess.run(put)
        sess.run(close)
        print(sess.run(take))
        for op in (take, put):
            try:
                sess.run(op)
            except tf.errors.OpError as e:
                print(type(e).__name__, e.op.name, e.op.type, "is closed" in e.message)
    with tf.Graph().as_default(), tf.Session(cluster.target("worker", 0)) as sess:
        with tf.device("/job:ps/task:0"):
            wrong = tf.FIFOQueue(5, [tf.float32, tf.string], shapes=[[2], []], shared_name="work")
            types = tf.FIFOQueue(3, [tf.int32], shapes=[[]], shared_name="work")
        for x in (wrong, types):
            try:
                sess.run(x.size())
            except tf.errors.OpError as e:
                print(type(e).__name__, [line for line in e.message.splitlines() if "Shared queue" in line][0].split("\n")[0])
    with tf.Graph().as_default(), tf.Session(cluster.target("worker", 0)) as sess:
        with tf.device("/job:worker/task:1"):
            queue = tf.PriorityQueue(5, [tf.int64], shapes=[[]])
            padded = tf.PaddingFIFOQueue(5, [tf.int32], shapes=[[None]])
            shuffled = tf.RandomShuffleQueue(10, 0, [tf.int32], shapes=[[]], seed=3)
        sess.run(queue.enqueue_many([[5, 1, 3], tf.constant([50, 10, 30], tf.int64)]))
        print([x.tolist() for x in sess.run(queue.dequeue_many(3))])
        sess.run([padded.enqueue([[1, 2]]), padded.enqueue([[3]])])
        print(sorted(sess.run(padded.dequeue_many(2)).tolist()))
        sess.run(shuffled.enqueue_many([[1, 2, 3, 4]]))
        print(sorted(sess.run(shuffled.dequeue_many(4)).tolist()))
