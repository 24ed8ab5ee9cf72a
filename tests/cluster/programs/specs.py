"""Cluster specifications, servers and resolvers."""

def run(tf, cluster):
    C = tf.train.ClusterSpec
    def err(f):
        try: print(f())
        except Exception as e: print(type(e).__name__, str(e).splitlines()[0][:170])
    a = C({"ps": ["h1:1", "h2:2"], "worker": {1: "w1:1", 5: "w5:5"}})
    for f in (lambda: a.jobs, lambda: a.as_dict(), lambda: a.num_tasks("worker"), lambda: a.task_indices("worker"), lambda: a.task_address("worker", 5), lambda: a.job_tasks("worker"), lambda: str(a), lambda: repr(a), lambda: bool(a), lambda: bool(C({})), lambda: a == C(a), lambda: a != C({}), lambda: a == a.as_cluster_def(), lambda: str(a.as_cluster_def()),
              lambda: a.task_address("worker", 0), lambda: a.task_address("x", 0), lambda: a.num_tasks("x"), lambda: a.task_indices("y"), lambda: a.job_tasks("z"), lambda: C(3), lambda: C({"a": 3}), lambda: C({"a": [1]}), lambda: C({1: ["a"]}), lambda: C({"a": {"x": "y"}}), lambda: C({"a": "hostonly"}).as_dict(), lambda: C(None), lambda: C({"b": ["x:1"], "a": ["y:2"]}).as_cluster_def().job[0].name, lambda: hash(a) is not None):
        err(f)
    S = tf.train.Server
    for f in (lambda: S({"worker": ["localhost:0"]}, job_name="chief"), lambda: S({"worker": ["localhost:0"]}, "worker", 3), lambda: S({"worker": ["localhost:0"], "ps": ["localhost:0"]}), lambda: S({"worker": ["nohost"]}), lambda: S(7), lambda: S({"a": ["localhost:0"]}, start=False).target[:17], lambda: S({})):
        err(f)
    s = S.create_local_server(start=False)
    print(s.server_def.job_name, s.server_def.task_index, s.server_def.protocol, dict(C(s.server_def.cluster).as_dict()) == {"local": ["localhost:0"]} , s.target[:17])
    s.start()
    s.start()
    with tf.Session(s.target) as sess: print(sess.run(tf.constant(3) + 4), [d.name for d in sess.list_devices()][0])
    d = tf.train.ServerDef(cluster=C({"local": ["localhost:0"]}).as_cluster_def(), job_name="local", task_index=0, protocol="grpc")
    s2 = S(d)
    print(s2.server_def.task_index, s2.server_def.default_session_config.device_count)
    s3 = S(d, config=tf.ConfigProto(device_count={"CPU": 3}))
    with tf.Session(s3.target) as sess: print([x.name for x in sess.list_devices()])
    with tf.Session(s3.target, graph=tf.Graph()) as sess:
        with sess.graph.as_default():
            v = tf.Variable(1.0); 
            with tf.device("/cpu:2"): w = v + 1
        sess.run(v.initializer)
        err(lambda: sess.run(w))
    cfg = tf.ConfigProto()
    err(lambda: tf.Session("grpc://" , config=cfg).run(tf.constant(1)))
    import os, json
    for c in ({"cluster": cluster.spec, "task": {"type": "worker", "index": 1}}, {"cluster": cluster.spec, "task": {"type": "ps", "index": "0"}, "rpc_layer": "grpc"}, {}, {"cluster": {"worker": ["a:1"]}}, {"task": {"type": "worker", "index": 0}}, {"cluster": {"chief": ["c:1"], "worker": ["w:1"], "evaluator": ["e:1"]}, "task": {"type": "evaluator", "index": 0}}):
        os.environ["TF_CONFIG"] = json.dumps(c)
        r = tf.distribute.cluster_resolver.TFConfigClusterResolver()
        err(lambda: (r.task_type, r.task_id, r.rpc_layer, r.environment))
        err(lambda: r.cluster_spec().jobs)
        err(lambda: r.master().replace(cluster.spec["worker"][1], "W1").replace(cluster.spec["ps"][0], "P0"))
    del os.environ["TF_CONFIG"]
    r = tf.distribute.cluster_resolver.SimpleClusterResolver(C({"worker": ["a:1", "b:2"]}), task_type="worker", task_id=1, rpc_layer="grpc")
    err(lambda: (r.master(), r.task_type, r.task_id, r.rpc_layer, r.master("worker", 0, "http"), r.environment))
    u = tf.distribute.cluster_resolver.UnionResolver(r, tf.distribute.cluster_resolver.SimpleClusterResolver(C({"ps": ["c:3"]})))
    err(lambda: (u.master(), u.cluster_spec().as_dict(), u.task_type))
    err(lambda: tf.distribute.cluster_resolver.UnionResolver())
    err(lambda: tf.distribute.cluster_resolver.UnionResolver(1))
