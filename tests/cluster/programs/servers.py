"""Cluster definitions and servers in this process: names, targets, errors."""


def run(tf, cluster):
    spec = tf.train.ClusterSpec({"worker": ["a:1", "b:2"], "ps": {3: "c:3", 1: "d:4"}})
    print(spec, spec == tf.train.ClusterSpec(spec.as_dict()), spec.jobs, bool(spec), bool(tf.train.ClusterSpec({})))
    print(spec.as_dict(), spec.num_tasks("ps"), spec.task_indices("ps"), spec.task_address("ps", 3), spec.job_tasks("ps"))
    print(spec.as_cluster_def())
    for f in (lambda: spec.num_tasks("chief"), lambda: spec.task_address("ps", 0), lambda: spec.task_address("worker", 5), lambda: tf.train.ClusterSpec("x"), lambda: tf.train.ClusterSpec({"a": 5}), lambda: tf.train.ClusterSpec({"a": [5]}), lambda: tf.train.ClusterSpec({1: ["a"]})):
        try:
            print(f())
        except Exception as e:
            print(type(e).__name__, e)
    server = tf.train.Server.create_local_server()
    print(server.target.startswith("grpc://localhost:"), server.server_def.job_name, server.server_def.task_index, server.server_def.protocol)
    with tf.Session(server.target) as sess:
        print(sess.run(tf.constant("here")), [d.name for d in sess.list_devices()])
    for args in (({"worker": ["localhost:0"]}, "chief", 0), ({"worker": ["localhost:0"]}, "worker", 5), ({"worker": ["127.0.0.1"]}, "worker", 0), ({"a": ["localhost:0"], "b": ["localhost:0"]},)):
        try:
            tf.train.Server(*args)
        except Exception as e:
            print(type(e).__name__, str(e).splitlines()[0][:150])
    two = tf.train.Server({"local": ["localhost:0"]}, protocol="grpc", config=tf.ConfigProto(device_count={"CPU": 2}), start=True)
    two.start()
    with tf.Session(two.target) as sess:
        print([d.name for d in sess.list_devices()])
        with tf.device("/job:local/task:0/cpu:1"):
            print(sess.run(tf.constant(1) + 2))
