"""Programs over devices, threads and steps, as they stand in tutorials and repositories."""

import collections
import os
import tempfile
import threading
import time
from typing import Any


def average_gradients_towers(tf: Any, np: Any, say: Any, fails: Any) -> None:
    def average_gradients(tower_grads: Any) -> Any:
        average_grads = []
        for grad_and_vars in zip(*tower_grads):
            grads = []
            for g, _ in grad_and_vars:
                expanded_g = tf.expand_dims(g, 0)
                grads.append(expanded_g)
            grad = tf.concat(axis=0, values=grads)
            grad = tf.reduce_mean(grad, 0)
            v = grad_and_vars[0][1]
            average_grads.append((grad, v))
        return average_grads

    with tf.device("/cpu:0"):
        global_step = tf.get_variable("global_step", [], initializer=tf.constant_initializer(0), trainable=False)
        lr = tf.train.exponential_decay(0.1, global_step, 2, 0.5, staircase=True)
        opt = tf.train.GradientDescentOptimizer(lr)
        tower_grads = []
        with tf.variable_scope(tf.get_variable_scope()):
            for i in range(2):
                with tf.device("/cpu:%d" % 0):
                    with tf.name_scope("%s_%d" % ("tower", i)) as scope:
                        w = tf.get_variable("w", [3, 1], initializer=tf.constant_initializer(0.5))
                        b = tf.get_variable("b", [1], initializer=tf.zeros_initializer())
                        x = tf.constant(np.arange(6).reshape(2, 3) + i, tf.float32)
                        loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - 1.0), name="loss")
                        tf.add_to_collection("losses", loss)
                        losses = tf.get_collection("losses", scope)
                        say(scope, [l.name for l in losses])
                        tf.get_variable_scope().reuse_variables()
                        grads = opt.compute_gradients(loss)
                        tower_grads.append(grads)
        grads = average_gradients(tower_grads)
        apply_gradient_op = opt.apply_gradients(grads, global_step=global_step)
        variable_averages = tf.train.ExponentialMovingAverage(0.9, global_step)
        variables_averages_op = variable_averages.apply(tf.trainable_variables())
        train_op = tf.group(apply_gradient_op, variables_averages_op)
    say(train_op.name, [v.name for v in tf.global_variables()])
    say([g.name for g, _ in grads])
    with tf.Session(config=tf.ConfigProto(allow_soft_placement=True, log_device_placement=False)) as sess:
        sess.run(tf.global_variables_initializer())
        for step in range(4):
            _, l, r = sess.run([train_op, loss, lr])
            say("step %d, loss = %.5g lr %.3f" % (step, l, r))
        say(sess.run(variable_averages.average(tf.trainable_variables()[0])).shape)


def coordinator_threads(tf: Any, np: Any, say: Any, fails: Any) -> None:
    queue = tf.RandomShuffleQueue(capacity=20, min_after_dequeue=0, dtypes=[tf.float32, tf.int32], shapes=[[2], []], seed=3)
    x = tf.placeholder(tf.float32, [2])
    y = tf.placeholder(tf.int32, [])
    enqueue = queue.enqueue([x, y])
    dx, dy = queue.dequeue_many(4)
    close = queue.close(cancel_pending_enqueues=True)
    say(queue.name, queue.dtypes, queue.shapes, queue.names, dx.shape, dy.shape, enqueue.type, close.type)
    with tf.Session() as sess:
        coord = tf.train.Coordinator()

        def load() -> None:
            i = 0
            try:
                while not coord.should_stop():
                    sess.run(enqueue, {x: [i, i], y: i})
                    i += 1
                    if i == 8:
                        coord.request_stop()
            except tf.errors.CancelledError:
                pass

        threads = [threading.Thread(target=load)]
        for t in threads:
            t.start()
        coord.join(threads)
        got = []
        for _ in range(2):
            a, b = sess.run([dx, dy])
            say(a.shape, b.dtype, (a[:, 0] == b).all())
            got += b.tolist()
        say(sorted(got), sess.run(queue.size()))
        sess.run(close)
        fails(sess.run, enqueue, {x: [0, 0], y: 0})
        fails(sess.run, dx)


def coordinator_exceptions(tf: Any, np: Any, say: Any, fails: Any) -> None:
    coord = tf.train.Coordinator()

    def worker(n: int) -> None:
        with coord.stop_on_exception():
            if n == 1:
                raise ValueError("worker 1 broke")
            coord.wait_for_stop(5)

    threads = [threading.Thread(target=worker, args=(i,)) for i in range(3)]
    [t.start() for t in threads]
    fails(coord.join, threads)
    say(coord.should_stop())
    coord.clear_stop()
    say(coord.should_stop())
    loops = []
    c2 = tf.train.Coordinator()

    def tick() -> None:
        loops.append(1)
        if len(loops) == 3:
            c2.request_stop()

    t = tf.train.LooperThread.loop(c2, 0.001, tick)
    c2.join([t])
    say(len(loops))


def queue_runner_pipeline(tf: Any, np: Any, say: Any, fails: Any) -> None:
    d = tempfile.mkdtemp()
    for n in range(2):
        with open(os.path.join(d, "part%d.csv" % n), "w") as f:
            for i in range(3):
                f.write("%d,%f,name%d\n" % (n * 3 + i, i * 0.5, i))
    filename_queue = tf.train.string_input_producer([os.path.join(d, "part0.csv"), os.path.join(d, "part1.csv")], num_epochs=1, shuffle=False)
    reader = tf.TextLineReader()
    key, value = reader.read(filename_queue)
    a, b, c = tf.decode_csv(value, record_defaults=[[0], [0.0], [""]])
    batch = tf.train.batch([a, b, c], batch_size=2, num_threads=1, capacity=10)
    say([t.shape for t in batch], [t.dtype for t in batch])
    say(len(tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)))
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess=sess, coord=coord)
        try:
            while not coord.should_stop():
                say(sess.run(batch))
        except tf.errors.OutOfRangeError:
            say("Done training -- epoch limit reached")
        finally:
            coord.request_stop()
        coord.join(threads)


def device_scopes_nested(tf: Any, np: Any, say: Any, fails: Any) -> None:
    g = tf.get_default_graph()
    with tf.device("/job:worker/task:1"):
        a = tf.constant(1.0)
        with tf.device("/gpu:0"):
            b = tf.constant(2.0)
            with tf.device(None):
                c = tf.constant(3.0)
            with tf.device("/job:ps"):
                d = tf.constant(4.0)
        with tf.device(lambda op: "/cpu:3" if op.type == "Const" else "/gpu:7"):
            e = tf.constant(5.0)
            f = e + 1.0
            with tf.device("/job:x"):
                h = tf.identity(f)
    for t in (a, b, c, d, e, f, h):
        say(t.name, repr(t.device), t.op.device)
    with g.device(tf.DeviceSpec(job="ps", device_type="GPU", device_index=1)):
        say(tf.no_op().device)
    with tf.device(tf.train.replica_device_setter(ps_tasks=3)):
        vs = [tf.Variable(float(i), name="v%d" % i) for i in range(4)]
        say([v.device for v in vs], tf.constant(0).device)
    with tf.colocate_with(b):
        i = tf.constant(9)
        say(i.device, i.op.colocation_groups())
        with tf.device("/gpu:3"):
            j = tf.constant(9)
            say(j.device, j.op.colocation_groups())
    with tf.colocate_with(b), tf.colocate_with(a, ignore_existing=True):
        say(tf.constant(2).op.colocation_groups())
    s1 = tf.DeviceSpec.from_string("/job:worker/replica:0/task:2/device:CPU:0")
    say(s1.job, s1.replica, s1.task, s1.device_type, s1.device_index, s1.to_string())
    fails(tf.DeviceSpec.from_string, "/job:a/bogus:1")


def partial_run_steps(tf: Any, np: Any, say: Any, fails: Any) -> None:
    a = tf.placeholder(tf.float32, shape=[])
    b = tf.placeholder(tf.float32, shape=[])
    c = tf.placeholder(tf.float32, shape=[])
    r1 = tf.add(a, b)
    r2 = tf.multiply(r1, c)
    r3 = tf.negative(r2)
    with tf.Session() as sess:
        h = sess.partial_run_setup([r1, r2, r3], [a, b, c])
        say(sess.partial_run(h, r1, feed_dict={a: 1, b: 2}))
        say(sess.partial_run(h, {"two": r2, "three": [r3]}, feed_dict={c: 3}))
        fails(sess.partial_run, h, r1)
        h = sess.partial_run_setup([r1, r2], [a, b, c])
        fails(sess.partial_run, h, r2, feed_dict={a: 1, b: 2})
        h = sess.partial_run_setup([r1], [a, b])
        fails(sess.partial_run, h, r1, feed_dict={c: 2})
        fails(sess.partial_run, h, r3, feed_dict={a: 2, b: 1})


def feed_misuse(tf: Any, np: Any, say: Any, fails: Any) -> None:
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    n = tf.placeholder(tf.int32, [], name="n")
    y = tf.reduce_sum(x) * 2.0
    v = tf.Variable(1.0)
    with tf.Session() as sess:
        fails(sess.run, y)
        fails(sess.run, y, {x: [1, 2, 3]})
        fails(sess.run, y, {x: [[1, 2]]})
        fails(sess.run, y, {x: [["a", "b", "c"]]})
        fails(sess.run, y, {x: None})
        fails(sess.run, y, {"x": [[1, 2, 3]]})
        say(sess.run(y, {"x:0": [[1, 2, 3]]}))
        fails(sess.run, y, {x: tf.ones([1, 3])})
        fails(sess.run, y, [x, [[1, 2, 3]]])
        fails(sess.run, tf.identity(n), {n: 1.5})
        fails(sess.run, tf.identity(n), {n: 2**40})
        fails(sess.run, v)
        fails(sess.run, None)
        fails(sess.run, [y, None], {x: [[1, 2, 3]]})
        fails(sess.run, "nope")
        fails(sess.run, "nope:0")
        fails(sess.run, 3)
        fails(sess.run, [[y, "y"]], {x: [[1, 2, 3]]})
        with tf.Graph().as_default():
            z = tf.constant(1.0)
        fails(sess.run, z)
        fails(sess.run, y, {z: 1.0})
        say(sess.run({"a": y, "b": (y, [y])}, {x: np.ones((2, 3))}))
        say(sess.run([], {}), sess.run({}), sess.run(()))
        say(sess.run(y, feed_dict={y: 5.0}), sess.run([y, y], feed_dict={x: [[0, 0, 1]]}))
        fails(sess.run, y, {x: [[1, 2, 3], [4, 5]]})
        Pair = collections.namedtuple("Pair", "first second")
        say(sess.run(Pair(y, v.initializer), {x: [[1, 1, 1]]}))
        od = collections.OrderedDict([("k", y), ("j", n)])
        say(sess.run(od, {x: [[1, 1, 1]], n: 3}))
    fails(sess.run, y)
    fails(y.eval)
    fails(tf.Session(graph=tf.Graph()).run, y)


def make_callable_and_options(tf: Any, np: Any, say: Any, fails: Any) -> None:
    x = tf.placeholder(tf.float32, [2], name="x")
    y = x * 2
    with tf.Session() as sess:
        f = sess.make_callable(y, [x])
        say(f([1, 2]), f(np.array([3, 4])))
        g = sess.make_callable([y, {"z": y + 1}], feed_list=[x])
        say(g([1, 1]))
        h = sess.make_callable(tf.no_op())
        say(h())
        fails(f)
        fails(f, 1, 2)
        md = tf.RunMetadata()
        o = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE, timeout_in_ms=10000)
        say(sess.run(y, {x: [1, 2]}, options=o, run_metadata=md), len(md.step_stats.dev_stats) > 0)
        fails(sess.run, y, {x: [1, 2]}, options=3)
        fails(sess.run, y, {x: [1, 2]}, run_metadata=3)
    q = tf.FIFOQueue(1, tf.float32)
    with tf.Session(config=tf.ConfigProto(operation_timeout_in_ms=100)) as sess:
        fails(sess.run, q.dequeue())


def threads_share_session(tf: Any, np: Any, say: Any, fails: Any) -> None:
    v = tf.get_variable("v", [], initializer=tf.zeros_initializer(), dtype=tf.int64)
    up = tf.assign_add(v, 1, use_locking=True)
    with tf.Session() as sess:
        sess.run(v.initializer)

        def work() -> None:
            with sess.as_default(), sess.graph.as_default():
                for _ in range(25):
                    up.eval()

        ts = [threading.Thread(target=work) for _ in range(4)]
        [t.start() for t in ts]
        [t.join() for t in ts]
        say(sess.run(v))


def finalize_graph(tf: Any, np: Any, say: Any, fails: Any) -> None:
    g = tf.Graph()
    with g.as_default():
        a = tf.constant([1, 2])
        tf.get_default_graph().finalize()
        fails(tf.constant, 3)
        fails(tf.Variable, 3.0)
        say(g.finalized, g.version, tf.get_default_graph() is g)
        with tf.Session() as s:
            say(s.run(a), s.graph is g)
            fails(s.run, "Const_9:0")


def parameter_server_style(tf: Any, np: Any, say: Any, fails: Any) -> None:
    cluster = tf.train.ClusterSpec({"ps": ["a:1", "b:2"], "worker": ["c:3", "d:4"]})
    say(cluster.as_dict(), cluster.jobs, cluster.num_tasks("ps"), cluster.job_tasks("worker"), cluster.task_address("ps", 1))
    with tf.device(tf.train.replica_device_setter(cluster=cluster, worker_device="/job:worker/task:1")):
        with tf.variable_scope("m"):
            w = tf.get_variable("w", [2, 2])
            b = tf.get_variable("b", [2])
        x = tf.placeholder(tf.float32, [None, 2])
        y = tf.matmul(x, w) + b
        gs = tf.train.get_or_create_global_step()
        opt = tf.train.AdamOptimizer()
        train = opt.minimize(tf.reduce_mean(y), global_step=gs)
    for op in tf.get_default_graph().get_operations():
        if op.device and op.type in ("VariableV2", "Variable", "MatMul", "ApplyAdam", "Placeholder", "AssignAdd"):
            say(op.name, op.device)
    greedy = tf.train.replica_device_setter(ps_tasks=2, ps_device="/job:params", merge_devices=False)
    with tf.device(greedy):
        say(tf.Variable(1.0).device, tf.Variable(1.0).device, tf.constant(1.0).device)


def placement_logging_off(tf: Any, np: Any, say: Any, fails: Any) -> None:
    config = tf.ConfigProto(device_count={"CPU": 2}, inter_op_parallelism_threads=2, intra_op_parallelism_threads=1)
    config.gpu_options.allow_growth = True
    config.gpu_options.per_process_gpu_memory_fraction = 0.5
    config.graph_options.optimizer_options.opt_level = tf.OptimizerOptions.L0
    say(str(config))
    with tf.device("/cpu:1"):
        a = tf.constant([1.0, 2.0])
    with tf.device("/cpu:0"):
        b = a + 1
    with tf.Session(config=config) as sess:
        say(sess.run(b), [d.name for d in sess.list_devices() if "CPU" in d.name])
        say([(d.device_type, d.memory_limit_bytes > 0) for d in sess.list_devices() if d.device_type == "CPU"])
    fails(setattr, config, "nonsense", 1)
    fails(tf.ConfigProto, nonsense=1)
    fails(setattr, config, "log_device_placement", "yes")
    with tf.device("/job:nowhere"):
        c = tf.constant(1.0) + a
    with tf.Session() as sess:
        try:
            sess.run(c)
        except tf.errors.InvalidArgumentError as e:
            say(type(e).__name__, e.error_code, "Cannot assign a device" in e.message)
