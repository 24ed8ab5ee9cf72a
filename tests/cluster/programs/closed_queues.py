"""Queues between workers, and what they say when they are closed."""

import threading
def run(tf, cluster):
    W = lambda i: tf.device("/job:worker/task:%d" % i)
    def q(**k):
        with tf.device("/job:ps/task:0"):
            return tf.FIFOQueue(3, [tf.int32, tf.string], shapes=[[], []], shared_name="jobs", name="jobs")
    got = []
    def consumer(i):
        with tf.Graph().as_default():
            j = q()
            item = j.dequeue()
            with tf.Session(cluster.target("worker", i)) as s:
                try:
                    while True:
                        a, b = s.run(item)
                        got.append((int(a), b))
                except tf.errors.OutOfRangeError as e:
                    got.append((100 + i, type(e).__name__.encode()))
    with tf.Graph().as_default():
        j = q()
        x = tf.placeholder(tf.int32)
        n = tf.placeholder(tf.string)
        put, size, close = j.enqueue((x, n)), j.size(), j.close()
        many = j.enqueue_many(([7, 8], ["seven", "eight"]))
        with tf.Session(cluster.target("worker", 0)) as s:
            ts = [threading.Thread(target=consumer, args=(i,)) for i in (0, 1)]
            [t.start() for t in ts]
            for i in range(5): s.run(put, {x: i, n: "n%d" % i})
            s.run(many)
            s.run(close)
            [t.join() for t in ts]
            print(sorted(got), s.run(size), s.run(j.is_closed()))
            for o in (put, close, many):
                try: print(s.run(o, {x: 1, n: "z"}))
                except Exception as e: print(type(e).__name__, cluster.words(e), e.op and e.op.type)
    with tf.Graph().as_default(), tf.Session(cluster.target("worker", 1)) as s:
        with tf.device("/job:ps/task:1"):
            pq = tf.PriorityQueue(10, [tf.string], [[]], shared_name="pq")
            rq = tf.RandomShuffleQueue(10, 1, [tf.float32], [[2]], shared_name="rq", seed=3)
            pf = tf.PaddingFIFOQueue(10, [tf.int32], [[None]], shared_name="pf")
            cq = tf.FIFOQueue(2, tf.float32, shared_name="cq")
        with W(0):
            for p, t in ((3, "c"), (1, "a"), (2, "b")): s.run(pq.enqueue((tf.constant(p, tf.int64), t)))
            print([s.run(pq.dequeue()) for _ in range(3)])
            s.run(rq.enqueue_many([[[1., 2.], [3., 4.], [5., 6.]]]))
            print(s.run(rq.size()), sorted(s.run(rq.dequeue_many(2)).tolist())[0] in ([1., 2.], [3., 4.]))
            for k in (1, 3, 2): s.run(pf.enqueue([list(range(k))]))
            print(s.run(pf.dequeue_many(3)).tolist())
            s.run(pf.enqueue([[9]]))
            s.run(pf.close())
            print(s.run(pf.dequeue_up_to(5)).tolist())
            for f in (lambda: pf.dequeue_up_to(5), lambda: pf.dequeue_many(2)):
                try: print(s.run(f()))
                except Exception as e: print(type(e).__name__, cluster.words(e))
            try: s.run(cq.dequeue(), options=tf.RunOptions(timeout_in_ms=300))
            except Exception as e: print(type(e).__name__, cluster.words(e))
            try: s.run(rq.enqueue([[1., 2., 3.]]))
            except Exception as e: print(type(e).__name__, cluster.words(e))
            print(s.run(cq.size()))
