"""Programs of TensorFlow 1 as strangers write them: clusters, shards, hooks, ragged rows, refused shapes."""

import os
import tempfile
from typing import Any


def cluster_messages(tf: Any, np: Any, say: Any, fails: Any) -> None:
    cluster = tf.train.ClusterSpec({"worker": ["w0:2222", "w1:2222"], "ps": {1: "ps1:2222"}})
    definition = cluster.as_cluster_def()
    say(definition, type(definition).__name__, cluster.as_dict())
    say(tf.train.ClusterSpec(definition) == cluster, tf.train.ClusterSpec(definition).as_dict())
    server = tf.train.ServerDef(cluster=definition, job_name="worker", task_index=1, protocol="grpc")
    say(server.job_name, server.cluster.job[0].name, tf.train.JobDef(name="a"), tf.train.SaverDef(max_to_keep=3))


def odd_device_functions(tf: Any, np: Any, say: Any, fails: Any) -> None:
    def returns_number(op: Any) -> Any:
        return 12

    def make() -> Any:
        with tf.device(returns_number):
            return tf.constant(1.0)

    fails(make)
    spec = tf.DeviceSpec(job="a", device_type="GPU", device_index=1)
    say(repr(spec), repr(spec.replace(task=2)), spec.make_merged_spec(tf.DeviceSpec(job="b")))


def sharded_checkpoints(tf: Any, np: Any, say: Any, fails: Any) -> None:
    with tf.device("/cpu:0"):
        a = tf.Variable(1.0, name="a")
    with tf.device("/cpu:1"):
        b = tf.Variable([2.0, 3.0], name="b")
    c = tf.get_variable("c", initializer=[4, 5])
    before = len(tf.get_default_graph().get_operations())
    saver = tf.train.Saver(sharded=True, max_to_keep=2)
    say(saver.saver_def)
    for op in tf.get_default_graph().get_operations()[before:]:
        say(op.name, op.type, op.device, [i.name for i in op.inputs], [i.name for i in op.control_inputs])
    folder = tempfile.mkdtemp()
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as sess:
        sess.run(tf.global_variables_initializer())
        path = saver.save(sess, os.path.join(folder, "m"), global_step=3)
        say(os.path.basename(path), sorted(os.listdir(folder)), tf.train.list_variables(path))
        sess.run([a.assign(0.0), b.assign([0.0, 0.0])])
        saver.restore(sess, path)
        say(*sess.run([a, b, c]))
        fails(saver.save, "sess", path)
    say(tf.train.NewCheckpointReader(path).debug_string().decode())


def hooks_and_events(tf: Any, np: Any, say: Any, fails: Any) -> None:
    fails(tf.train.SecondOrStepTimer)
    fails(tf.train.SecondOrStepTimer, 1, 2)
    fails(tf.train.CheckpointSaverHook, "d", save_secs=1, save_steps=2)
    step = tf.train.get_or_create_global_step()
    up = tf.assign_add(step, 1)
    folder = tempfile.mkdtemp()
    with tf.train.MonitoredTrainingSession(checkpoint_dir=folder, save_checkpoint_secs=None, save_checkpoint_steps=5, log_step_count_steps=None) as sess:
        for _ in range(3):
            sess.run(up)
    events = [f for f in os.listdir(folder) if "events" in f]
    for e in tf.train.summary_iterator(os.path.join(folder, events[0])):
        if e.step == 0:  # what comes last may still be in a buffer
            say(e.step, e.WhichOneof("what"))


def refused_shapes(tf: Any, np: Any, say: Any, fails: Any) -> None:
    a, c = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32, [2, None, 4])
    fails(tf.concat, [a, c], 0)
    fails(tf.concat, [c, a], 0)
    fails(tf.stack, [a, c], 1)
    fails(tf.reshape, c, [3, 5, 7])
    fails(tf.transpose, c, [0, 1])
    fails(tf.split, c, 3, axis=2)
    fails(tf.broadcast_static_shape, tf.TensorShape([2, 2]), tf.TensorShape([3]))
    fails(tf.graph_util.extract_sub_graph, tf.GraphDef(), "name")
    say(tf.reshape(c, [2, 5, 4]).shape, tf.get_default_graph().graph_def_versions)


def made_twice(tf: Any, np: Any, say: Any, fails: Any) -> None:
    def layer() -> Any:
        with tf.variable_scope("layer"):
            return tf.get_variable("w", [2])

    layer()
    try:
        layer()
    except ValueError as e:
        say(*str(e).splitlines()[:3])
    shared = tf.make_template("shared", lambda: tf.get_variable("k", []))
    say(shared().name, shared().name, shared.var_scope.name)


def ragged_in_graphs(tf: Any, np: Any, say: Any, fails: Any) -> None:
    rows = tf.ragged.constant([[1, 2], [], [3]])
    say(rows, rows.shape, rows.ragged_rank, rows.dtype)
    words = tf.strings.split(["a b", "c"], result_type="RaggedTensor")
    given = tf.ragged.placeholder(tf.int32, 1, value_shape=())
    value = tf.ragged.constant_value([[7], [8, 9]], dtype="int32")
    say(value, repr(value), value.to_list(), value.shape, value.ragged_rank)
    with tf.Session() as sess:
        say(sess.run(rows), repr(sess.run(rows + 1)))
        say(sess.run([rows.to_tensor(), rows.row_lengths(), rows[0], tf.reduce_sum(rows, axis=1)]))
        say(sess.run(words), sess.run(tf.strings.length(words)), sess.run(tf.concat([rows, rows], 0)))
        say(sess.run(given * 2, {given: value}), sess.run(tf.cast(given, tf.float32), feed_dict={given: value}))
        say(sess.run(tf.strings.unicode_decode(["ab", "c"], "UTF-8")), sess.run(tf.ragged.range([2, 0, 1])))
    say(tf.RaggedTensor.from_row_lengths([1, 2, 3], [1, 2]).shape)


def shared_names(tf: Any, np: Any, say: Any, fails: Any) -> None:
    ones = tf.dtypes.cast(tf.constant([1, 2]), tf.float32)
    joined = tf.strings.unsorted_segment_join(["a", "b", "c"], [1, 0, 1], 2, separator="+")
    operator = tf.linalg.LinearOperatorDiag([1.0, 2.0])
    say(ones, tf.dtypes.as_string(ones).dtype, tf.debugging.is_non_decreasing(ones).dtype, tf.config.get_soft_device_placement() in (True, False))
    say(tf.config.threading.get_intra_op_parallelism_threads(), tf.SparseTensorSpec([2, 2], tf.int32))
    with tf.Session() as sess:
        say(sess.run([ones, joined, operator.matmul(tf.eye(2)), tf.sets.size(tf.sparse.from_dense([[1, 2]]))]))


def datasets_printed(tf: Any, np: Any, say: Any, fails: Any) -> None:
    kind = tf.data.Dataset
    r = kind.range(5)
    for d in (
        r, r.map(lambda x: x), r.batch(2), r.shuffle(3), r.repeat(), r.take(1), r.skip(1), r.filter(lambda x: x > 1), kind.zip((r, r)),
        kind.from_tensors(1), kind.from_tensor_slices([1]), r.prefetch(1), r.cache(), r.concatenate(r), r.flat_map(kind.from_tensors),
        tf.data.TextLineDataset(["a"]), tf.data.TFRecordDataset("a"), r.enumerate(), r.shard(2, 0), r.map(lambda x: x, num_parallel_calls=2),
    ):
        say(d)
    taken = tf.data.make_one_shot_iterator(r.take_while(lambda x: x < 2)).get_next()
    once = tf.data.make_one_shot_iterator(kind.from_tensor_slices([3, 3, 1]).unique()).get_next()
    with tf.Session() as sess:
        say(sess.run([taken, once]), sess.run([taken, once]))
        fails(sess.run, taken)


def looked_up_and_looped(tf: Any, np: Any, say: Any, fails: Any) -> None:
    words = tf.string_split(["the cat sat", "the dog"])
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["the", "cat"], tf.constant([1, 2], tf.int64)), -1)
    ids = table.lookup(words)
    rows = table.lookup(tf.ragged.constant([["cat"], ["the", "mat"]]))
    say(ids, rows)
    counted = tf.while_loop(lambda i, a: i < 5, lambda i, a: (i + 1, a * 2.0), (0, 1.0), maximum_iterations=3)
    say(counted, tf.while_loop(lambda i, a: i < 5, lambda i, a: [i + 1, a], [0, 1.0], maximum_iterations=3))
    say(tf.cond(tf.constant(True), lambda: [tf.constant(1)], lambda: (tf.constant(2),)))
    v = tf.Variable([1.0, 2.0], name="v")
    again = tf.Variable.from_proto(v.to_proto())
    say(again, again.initializer.name, again.value())
    with tf.Session() as sess:
        sess.run([tf.tables_initializer(), v.initializer])
        say(sess.run([tf.sparse.to_dense(ids, default_value=0), rows, counted]), sess.run(again))
