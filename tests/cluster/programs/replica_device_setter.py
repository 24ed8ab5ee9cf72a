"""Where a replica_device_setter puts what a training program makes."""


def run(tf, cluster):
    def show(title, setter):
        with tf.Graph().as_default(), tf.device(setter):
            step = tf.train.get_or_create_global_step()
            v = [tf.get_variable(f"v{i}", [4, 2], initializer=tf.zeros_initializer()) for i in range(3)]
            part = tf.get_variable("part", [6, 2], partitioner=tf.fixed_size_partitioner(3))
            with tf.device("/task:1"):
                inner = tf.get_variable("inner", [2])
            with tf.device("/job:worker/task:1/device:CPU:0"):
                pinned = tf.get_variable("pinned", [2])
            table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a"], [1]), -1)
            loss = tf.reduce_sum([tf.reduce_sum(x) for x in v]) + tf.reduce_sum(tf.concat(list(part), 0))
            tf.train.AdamOptimizer(0.1).minimize(loss, global_step=step)
            print(title)
            for op in tf.get_default_graph().get_operations():
                if op.type in ("Variable", "VariableV2", "VarHandleOp", "Assign", "AssignAdd", "ApplyAdam", "ResourceApplyAdam", "HashTableV2", "Sum"):
                    if "Initializer" not in op.name or "v0" in op.name:
                        print("  ", op.type.replace("VariableV2", "Variable"), op.name, op.device)
            del inner, pinned, table

    spec = cluster.spec
    show("tasks", tf.train.replica_device_setter(ps_tasks=2))
    show("cluster", tf.train.replica_device_setter(cluster=spec, worker_device="/job:worker/task:1"))
    show("cluster spec", tf.train.replica_device_setter(cluster=tf.train.ClusterSpec(spec), ps_device="/job:ps/device:CPU:0"))
    show("no merge", tf.train.replica_device_setter(ps_tasks=2, merge_devices=False))
    show("few ops", tf.train.replica_device_setter(ps_tasks=2, ps_ops=["Const"]))
    show("strategy", tf.train.replica_device_setter(ps_tasks=2, ps_strategy=lambda op: len(op.name) % 2))
    print(tf.train.replica_device_setter(ps_tasks=0))
    for bad in (dict(ps_tasks=1, ps_strategy=5), dict(cluster="localhost:1"), dict(cluster={"worker": ["a:1"]})):
        try:
            print(tf.train.replica_device_setter(**bad))
        except Exception as e:
            print(type(e).__name__, str(e)[:60])
