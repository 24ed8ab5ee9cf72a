"""Deadlines, closed sessions and queues that nobody fills."""

import time, threading
def run(tf, cluster):
    t = cluster.target("worker", 0)
    def err(name, f):
        try: print(name, f())
        except Exception as e: print(name, type(e).__name__, cluster.words(e))
    with tf.device("/job:ps/task:0"): q = tf.FIFOQueue(3, tf.float32, shared_name="w", shapes=[[]])
    with tf.device("/job:worker/task:1"): d = q.dequeue() * 2.0
    e = q.enqueue(4.0)
    s = tf.Session(t, config=tf.ConfigProto(operation_timeout_in_ms=500))
    err("op timeout", lambda: s.run(d))
    s.run(e)
    err("then", lambda: s.run(d))
    s2 = tf.Session(t)
    err("run timeout", lambda: s2.run(d, options=tf.RunOptions(timeout_in_ms=300)))
    r = []
    def wait():
        try: r.append(s2.run(d))
        except Exception as ex: r.append((type(ex).__name__, cluster.words(ex)))
    th = threading.Thread(target=wait)
    th.start()
    time.sleep(1.0)
    s3 = tf.Session(t)
    s3.run(e)
    th.join()
    print(r)
    r.clear()
    th = threading.Thread(target=wait)
    th.start()
    time.sleep(1.0)
    s2.close()
    th.join()
    print(r)
    err("closed", lambda: s2.run(d))
    s2.close()
    print(s3.run(q.size()))
    with tf.Session(t) as s4:
        print(s4.run(tf.constant(1)), tf.get_default_session() is s4)
    err("as default", lambda: tf.constant(1).eval())
    err("two graphs", lambda: tf.Session(t, graph=tf.Graph()).run(d))
    for k in range(3):
        with tf.Session(t) as x: x.run(e)
    print(s3.run(q.size()))
    err("full", lambda: s3.run(e, options=tf.RunOptions(timeout_in_ms=200)))
    s3.run(q.close(cancel_pending_enqueues=True))
    err("after close", lambda: s3.run(e))
    err("rest", lambda: [s3.run(d) for _ in range(3)])
    err("empty", lambda: s3.run(d))
    coord = tf.train.Coordinator()
    with tf.device("/job:ps/task:1"):
        inq = tf.train.string_input_producer(["a", "b", "c"], shuffle=False, num_epochs=2)
        one = inq.dequeue()
        batch = tf.train.batch([one], 2, allow_smaller_final_batch=True)
    with tf.Session(t) as s5:
        s5.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        ths = tf.train.start_queue_runners(s5, coord)
        got = []
        try:
            while not coord.should_stop(): got += s5.run(batch).tolist()
        except tf.errors.OutOfRangeError as ex: print("end", type(ex).__name__)
        coord.request_stop()
        coord.join(ths)
        print(got)
