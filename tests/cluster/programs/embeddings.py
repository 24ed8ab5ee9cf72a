"""A table in parts on two parameter servers, looked up and trained with sparse gradients."""

import numpy as np


def run(tf, cluster):
    setter = tf.train.replica_device_setter(cluster=cluster.spec, worker_device="/job:worker/task:1")
    values = np.arange(20, dtype=np.float32).reshape(10, 2)
    with tf.device(setter):
        ids = tf.constant([1, 7, 7, 9, 0])
        for strategy in ("mod", "div"):
            table = tf.get_variable("table_" + strategy, [10, 2], initializer=tf.random_uniform_initializer(-1, 1, seed=3), partitioner=tf.fixed_size_partitioner(2))
            rows = tf.nn.embedding_lookup(table, ids, partition_strategy=strategy)
            loss = tf.reduce_sum(tf.square(rows))
            opt = tf.train.AdagradOptimizer(0.1)
            train = opt.minimize(loss)
            sparse = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], tf.constant([1, 3, 5], tf.int64), [3, 2])
            combined = tf.nn.embedding_lookup_sparse(table, sparse, None, combiner="mean", partition_strategy=strategy)
            print([v.device for v in table], [type(g).__name__ for g in tf.gradients(loss, list(table))])
            with tf.Session(cluster.target("worker", 0)) as sess:
                sess.run(tf.global_variables_initializer())
                print(sess.run(rows).tolist(), sess.run(combined).tolist())
                for _ in range(2):
                    print("%.4f" % sess.run([loss, train])[0])
                print(np.round(sess.run(list(table)[0]), 3).tolist())
