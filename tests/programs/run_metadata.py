import emplace.compat.v1 as tf

a = tf.placeholder(tf.float32, [None, 4], name="a")
w = tf.Variable(tf.ones([4, 2]), name="w")
b = tf.matmul(a, w, name="b")
c = tf.nn.relu(b, name="c")
with tf.Session() as sess:
    sess.run(w.initializer)
    plain = tf.RunMetadata()
    sess.run(c, {a: [[1, 2, 3, 4]]}, run_metadata=plain)
    print(len(plain.step_stats.dev_stats), len(plain.partition_graphs))
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE, output_partition_graphs=True)
    metadata = tf.RunMetadata()
    print(sess.run(c, {a: [[1, 2, 3, 4]]}, options=options, run_metadata=metadata))
    stats = metadata.step_stats.dev_stats
    print([d.device for d in stats])
    nodes = {n.node_name: n for d in stats for n in d.node_stats}
    print(all(name in nodes for name in ("b", "c")))
    print(all(n.all_start_micros > 0 and n.op_end_rel_micros >= 0 for n in nodes.values()))
    print(len(metadata.partition_graphs) > 0)
    names = [n.name for g in metadata.partition_graphs for n in g.node]
    print("b" in names and "c" in names)
    again = tf.RunMetadata()
    again.ParseFromString(metadata.SerializeToString())
    print(again == metadata, metadata.ByteSize() > 0)
