"""Steps that are ended: by timeouts, close and coordinators; sessions go on."""

import threading


def run(tf, cluster):
    with tf.device("/job:worker/task:1"):
        waits = tf.FIFOQueue(1, tf.float32, shapes=[[]], shared_name="stops").dequeue(name="waits")
    with tf.device("/job:ps/task:0"):
        user = -waits
    with tf.device("/job:worker/task:0"):
        here = tf.constant(2.0) * 3.0
    with tf.device("/job:worker/task:0"):
        under_way = tf.FIFOQueue(1, tf.float32, shapes=[[]], shared_name="under_way")
        begin, begun = under_way.enqueue(1.0), under_way.dequeue()
    sess = tf.Session(cluster.target("worker", 0))
    print(sess.run(here))
    try:
        sess.run(user, options=tf.RunOptions(timeout_in_ms=300))
    except tf.errors.OpError as e:
        print(type(e).__name__)
    print(sess.run(here))
    told = []

    def wait():
        try:
            sess.run([user, begin])
        except tf.errors.OpError as e:
            told.append(type(e).__name__)

    thread = threading.Thread(target=wait)
    thread.start()
    sess.run(begun)
    sess.close()
    thread.join()
    print(told)
    try:
        sess.run(here)
    except Exception as e:
        print(type(e).__name__, e)
    with tf.Session(cluster.target("worker", 0), config=tf.ConfigProto(operation_timeout_in_ms=500)) as sess:
        try:
            sess.run(user)
        except tf.errors.OpError as e:
            print(type(e).__name__, cluster.words(e))
        print(sess.run(here))
    for target in ("localhost:1", "http://localhost:1"):
        try:
            tf.Session(target).run(here)
        except Exception as e:
            print(type(e).__name__, str(e)[:80])
    try:
        tf.Session("grpc://localhost:1", config=tf.ConfigProto(operation_timeout_in_ms=500)).run(here)
    except Exception as e:
        print(type(e).__name__)
