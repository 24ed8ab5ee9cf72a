"""Run metadata, options and what a session says about its devices."""


import numpy as np


def run(tf, cluster):
    with tf.device("/job:ps/task:0"):
        a = tf.random_uniform([40, 40])
    with tf.device("/job:worker/task:1"):
        b = tf.matmul(a, a)
    with tf.device("/job:worker/task:0"):
        c = tf.reduce_sum(b)
    with tf.Session(cluster.target("worker", 0)) as sess:
        sess.run(c)
        metadata = tf.RunMetadata()
        sess.run(c, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE, output_partition_graphs=False), run_metadata=metadata)
        names = {}
        for d in metadata.step_stats.dev_stats:
            names.setdefault(d.device, set()).update(n.node_name.split(":")[0] for n in d.node_stats)
        for name in ("/job:ps/replica:0/task:0/device:CPU:0", "/job:worker/replica:0/task:1/device:CPU:0", "/job:worker/replica:0/task:0/device:CPU:0"):
            print(name, sorted(n for n in names.get(name, ()) if n in ("MatMul", "Sum", "random_uniform/RandomUniform")))
        print(sorted(d.name for d in sess.list_devices()))
        print({d.device_type for d in sess.list_devices()})
        print(sess.sess_str.startswith("grpc://") if isinstance(sess.sess_str, str) else sess.sess_str.startswith(b"grpc://"))
        call = sess.make_callable(c, [a])
        print(call(np.ones([40, 40])))
    sess = tf.InteractiveSession(cluster.target("worker", 1))
    print(tf.constant(3.0).eval(), b.get_shape())
    sess.close()
