"""Devices that a replica_device_setter gives, by strategies, scopes and parts."""

def run(tf, cluster):
    spec = tf.train.ClusterSpec(cluster.spec)
    def show(title, setter, part=None, n=5):
        with tf.Graph().as_default() as g:
            with tf.device(setter):
                for i in range(n):
                    tf.get_variable("v%d" % i, [4, i + 1], partitioner=part)
                x = tf.constant(1.0, name="x")
                with tf.device("/cpu:1"): tf.get_variable("on1", [1])
                with tf.device("/job:worker/task:1"): tf.get_variable("there", [1])
                tf.train.get_or_create_global_step()
                t = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a"], [1]), 0)
                y = tf.identity(x, name="y")
                q = tf.FIFOQueue(1, tf.float32)
                e = tf.train.ExponentialMovingAverage(0.9)
                e.apply([v for v in tf.trainable_variables() if "v0" in v.name])
            print("--", title)
            for o in g.get_operations():
                if o.type in ("Variable", "VariableV2", "VarHandleOp", "Const", "Identity", "HashTableV2", "FIFOQueueV2", "Assign", "AssignVariableOp") and "ead" not in o.name:
                    print(o.name, o.type.replace("VariableV2", "Variable"), o.device)
    show("default", tf.train.replica_device_setter(cluster=spec))
    show("worker", tf.train.replica_device_setter(worker_device="/job:worker/task:1/cpu:0", ps_device="/job:ps/cpu:0", cluster=spec), n=2)
    show("tasks", tf.train.replica_device_setter(ps_tasks=3), n=4)
    show("none", tf.train.replica_device_setter(ps_tasks=0) , n=1)
    show("unmerged", tf.train.replica_device_setter(2, merge_devices=False), n=2)
    show("ops", tf.train.replica_device_setter(2, ps_ops=["Const"]), n=1)
    show("strategy", tf.train.replica_device_setter(2, ps_strategy=lambda op: len(op.name) % 2), n=2)
    show("parts", tf.train.replica_device_setter(3), tf.fixed_size_partitioner(3), n=2)
    for bad in (dict(ps_tasks=2, cluster=1), dict(cluster=spec, ps_device="/job:nope"), dict(ps_tasks=2, ps_strategy=3), dict(cluster={"worker": ["a:1"]})):
        try: print(tf.train.replica_device_setter(**bad))
        except Exception as e: print(type(e).__name__, e)
