"""Tables, iterators, partitioned variables, accumulators and values of many kinds between tasks."""

import numpy as np
def run(tf, cluster):
    t = cluster.target("worker", 1)
    def err(name, f):
        try: print(name, f())
        except Exception as e: print(name, type(e).__name__, cluster.words(e))
    with tf.device("/job:ps/task:0"):
        table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b", "c"], tf.constant([1, 2, 3], tf.int64)), -1)
    with tf.device("/job:worker/task:0"):
        ds = tf.data.Dataset.range(10).map(lambda x: x * x).filter(lambda x: x % 2 == 0).batch(2)
        it = tf.data.make_initializable_iterator(ds)
        nxt = it.get_next()
    with tf.device("/job:ps/task:1"):
        emb = tf.get_variable("emb", [6, 2], partitioner=tf.fixed_size_partitioner(2), initializer=tf.ones_initializer())
        look = tf.nn.embedding_lookup(emb, [0, 5, 3])
        acc = tf.ConditionalAccumulator(tf.float32, [2], shared_name="acc")
        apply = acc.apply_grad([1.0, 2.0], 0)
        apply2 = acc.apply_grad([3.0, 4.0], 0)
        take = acc.take_grad(2)
    with tf.Session(t) as s:
        err("uninit table", lambda: s.run(table.lookup(tf.constant(["a"]))))
        s.run([tf.global_variables_initializer(), tf.tables_initializer()])
        err("table", lambda: s.run([table.lookup(tf.constant(["c", "z"])), table.size()]))
        err("uninit it", lambda: s.run(nxt))
        s.run(it.initializer)
        for _ in range(4): err("next", lambda: s.run(nxt).tolist())
        err("look", lambda: s.run(look).tolist())
        s.run([apply, apply2])
        err("take", lambda: s.run(take).tolist())
        err("n", lambda: s.run(acc.num_accumulated()))
        with tf.device("/job:worker/task:0"):
            sp = tf.SparseTensor([[0, 1], [1, 0]], [5.0, 6.0], [2, 2])
        with tf.device("/job:ps/task:0"):
            d = tf.sparse.to_dense(sp)
            st = tf.strings.join([tf.constant(["a", "b"]), tf.as_string(d[0])], "-")
        err("sparse", lambda: s.run([d, st, sp]))
        with tf.device("/job:worker/task:0"):
            h = tf.constant([1.5, 2.5], tf.float16)
            b = tf.constant([True, False])
            c = tf.constant([1 + 2j])
            q = tf.constant([2**40, -1], tf.int64)
            e = tf.zeros([0, 3])
            bf = tf.cast(tf.constant([1.0]), tf.bfloat16)
        with tf.device("/job:ps/task:1"):
            o = [h * 2, tf.logical_not(b), c * c, q + 1, tf.reduce_sum(e, 0), tf.cast(bf, tf.float32), tf.shape(e), tf.identity(e)]
        err("types", lambda: [x.tolist() for x in s.run(o)])
        ph = tf.placeholder(tf.float32, [None, 2])
        with tf.device("/job:ps/task:0"): r = tf.reduce_mean(ph, 0)
        f = s.make_callable(r, [ph])
        err("callable", lambda: f(np.ones((3, 2), np.float32)).tolist())
        err("bad feed", lambda: f(np.ones((3, 3), np.float32)))
        err("feed name", lambda: s.run(r, {ph: np.ones((2, 3))}))
        err("fetch str", lambda: s.run("nothere:0"))
        err("fetch int", lambda: s.run(3))
        err("nested", lambda: s.run({"a": [r, (look,)]}, {ph: [[1, 2]]}))
        err("fed inner", lambda: s.run(look, {look: [[1., 1.]]}))
