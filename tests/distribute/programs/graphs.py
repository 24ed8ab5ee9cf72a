"""Version 1's strategies in graphs: variables of all kinds, contexts, iterators, a monitored session."""
import tempfile

import numpy as np
import tensorflow as tf2
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf2.config.set_logical_device_configuration(tf2.config.list_physical_devices("CPU")[0], [tf2.config.LogicalDeviceConfiguration()] * 2)
tf.logging.set_verbosity(tf.logging.ERROR)
D = tf.distribute
strategy = D.MirroredStrategy(["CPU:0", "CPU:1"], cross_device_ops=D.ReductionToOneDevice())
options, context = tf.ConfigProto(allow_soft_placement=True), D.get_replica_context


def show(name, tried):
    try:
        print(name, "->", tried())
    except Exception as e:  # noqa: BLE001
        print(name, "!!", type(e).__name__, "" if isinstance(e, tf.errors.OpError) else e)


print(strategy.num_replicas_in_sync, D.has_strategy(), D.in_cross_replica_context())
with strategy.scope():
    print(D.has_strategy(), D.in_cross_replica_context(), D.get_strategy() is strategy)
    mean = tf.Variable(2.0, name="mean", aggregation=tf.VariableAggregation.MEAN)
    drawn = tf.get_variable("drawn", [2], initializer=tf.random_normal_initializer(seed=1), trainable=False)
    how = dict(synchronization=tf.VariableSynchronization.ON_READ, aggregation=tf.VariableAggregation.SUM)
    count = tf.Variable(0.0, trainable=False, name="count", **how)
    rows = tf.get_variable("rows", [5, 2], initializer=tf.ones_initializer())
    print(type(mean).__name__, mean.name, mean.dtype, mean.shape, [v.name for v in strategy.experimental_local_results(mean)])
    print(type(count).__name__, [v.name for v in strategy.unwrap(count)])

    def replica():
        number = context().replica_id_in_sync_group
        changed, counted = mean.assign_add(tf.cast(number, tf.float32) + 1.0), count.assign_add(1.0)
        with tf.control_dependencies([counted]):
            changed = tf.identity(changed)
        summed = context().all_reduce(D.ReduceOp.SUM, tf.cast(number, tf.float32) + 1.0)
        merged = context().merge_call(lambda s, v: s.reduce(D.ReduceOp.MEAN, v), args=(tf.cast(number, tf.float32),))
        return changed, summed, merged, number

    given = strategy.run(replica)
    found = [strategy.unwrap(v) for v in given]
    reduced = [strategy.reduce(op, given[0]) for op in (D.ReduceOp.SUM, "MEAN")]
    scaled = strategy.run(lambda: tf.constant([1.0, 2.0]) * tf.cast(context().replica_id_in_sync_group + 1, tf.float32))
    reduced.append(strategy.reduce(D.ReduceOp.SUM, scaled, axis=0))
    assigned = mean.assign(7.0), count.assign(8.0)
    show("add to a sum", lambda: count.assign_add(1.0))
    optimizer = tf.train.AdagradOptimizer(0.1)

    def sparse():
        number = context().replica_id_in_sync_group
        loss = tf.reduce_sum(tf.gather(rows, [number, number + 1, number + 1]) ** 2)
        return optimizer.apply_gradients(optimizer.compute_gradients(loss, [rows]))

    train = strategy.group(strategy.run(sparse))
    show("across", lambda: optimizer.apply_gradients([(tf.ones([5, 2]), rows)]))
    print([v.name for v in optimizer.variables()], optimizer.get_slot(rows, "accumulator").name)
    named = tf.data.Dataset.from_tensor_slices({"a": np.arange(7.0), "t": [b"x%d" % i for i in range(7)]}).batch(4)
    divided = strategy.experimental_distribute_dataset(named)
    show("iter", lambda: iter(divided))
    iterators = [tf.data.make_initializable_iterator(divided)]
    made = strategy.experimental_distribute_datasets_from_function(lambda c: tf.data.Dataset.range(8).batch(2))
    iterators.append(tf.data.make_initializable_iterator(made))
    iterators.append(strategy.make_input_fn_iterator(lambda c: (print(c.num_replicas_in_sync, c.num_input_pipelines), tf.data.Dataset.range(4))[1]))
    elements = [tf.nest.map_structure(strategy.unwrap, it.get_next()) if i else [strategy.unwrap(v) for v in it.get_next().values()] for i, it in enumerate(iterators)]
    initialize = tf.global_variables_initializer()

with tf.Session(config=options) as session:
    show("not yet", lambda: session.run(mean))
    session.run(initialize)
    print(session.run(mean), session.run(count), np.array_equal(*session.run(strategy.unwrap(drawn))))
    print(session.run(found), session.run(mean), session.run(strategy.unwrap(mean)), session.run(count), session.run(strategy.unwrap(count)))
    print(session.run(assigned), session.run(mean), session.run(count), session.run(strategy.unwrap(count)))
    for r in reduced:
        session.run(initialize)
        print(session.run(r))
    session.run([it.initialize() if hasattr(it, "initialize") else it.initializer for it in iterators])
    for element in elements:
        for _ in range(3):
            show("next", lambda: [[part.tolist() for part in parts] for parts in session.run(element)])
    session.run(train)
    print(np.round(session.run(rows), 4).tolist(), np.array_equal(*session.run(strategy.unwrap(rows))), session.run(mean) == mean.eval())

with tf.Graph().as_default(), strategy.scope():
    step = tf.train.get_or_create_global_step()
    batches = strategy.make_dataset_iterator(tf.data.Dataset.from_tensors(([1.0], [2.0])).repeat(40).batch(2))

    def one_step(inputs):
        w, b = tf.get_variable("w", [1, 1], initializer=tf.zeros_initializer()), tf.Variable(0.0, name="b")
        loss = tf.reduce_sum((tf.matmul(inputs[0], w) + b - inputs[1]) ** 2) / 2
        with tf.control_dependencies([tf.train.GradientDescentOptimizer(0.05).minimize(loss, step)]):
            return tf.identity(loss)

    loss = strategy.reduce(D.ReduceOp.SUM, strategy.experimental_run(one_step, batches))
    scaffold, folder = tf.train.Scaffold(local_init_op=tf.group(tf.local_variables_initializer(), batches.initialize())), tempfile.mkdtemp()
    hooks = [tf.train.StopAtStepHook(10)]
    with tf.train.MonitoredTrainingSession(checkpoint_dir=folder, scaffold=scaffold, hooks=hooks, config=options, log_step_count_steps=None) as session:
        losses = []
        while not session.should_stop():
            losses.append(f"{session.run(loss):.4f}")
    print(losses, tf.train.list_variables(tf.train.latest_checkpoint(folder)))
