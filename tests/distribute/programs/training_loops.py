"""Custom training loops as users write them, each a program of its own; numbers of three or four digits."""
import os
import tempfile

import numpy as np
from two_replicas import D, context, mirrored, number, tf

PROGRAMS = []


def program(function):
    PROGRAMS.append(function)
    return function


def told(x):
    return np.round(np.asarray(x, np.float64), 4).tolist()


X, Y = np.linspace(-1, 1, 20, dtype=np.float32).reshape(10, 2), np.linspace(0, 1, 10, dtype=np.float32).reshape(10, 1)


def batches(size, repeat=1):
    return tf.data.Dataset.from_tensor_slices((X, Y)).repeat(repeat).batch(size)


@program
def linear_regression(s):
    """strategy.run in a tf.function, gradients by hand, uneven last batch (10 rows in batches of 4)."""
    with s.scope():
        w = tf.Variable(tf.ones([2, 1]), name="w", aggregation=tf.VariableAggregation.MEAN)

    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.nn.compute_average_loss(tf.square(x @ w - y)[:, 0], global_batch_size=4)
        g = context().all_reduce("SUM", tape.gradient(loss, w))
        w.assign_sub(0.1 * g)
        return loss

    @tf.function
    def train(batch):
        return s.reduce("SUM", s.run(step, args=batch), axis=None)

    for epoch in range(2):
        print(epoch, [told(train(b)) for b in s.experimental_distribute_dataset(batches(4))], told(w))


@program
def loop_in_the_function(s):
    """for over the distributed dataset inside of one tf.function."""
    with s.scope():
        total = tf.Variable(0.0, synchronization=tf.VariableSynchronization.ON_READ, aggregation=tf.VariableAggregation.SUM)
        steps = tf.Variable(0, aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA)

    @tf.function
    def epoch(data):
        n = tf.constant(0)
        for x, y in data:
            s.run(lambda x, y: (total.assign_add(tf.reduce_sum(x * y)), steps.assign_add(1)), args=(x, y))
            n += 1
        return n

    print(told(epoch(s.experimental_distribute_dataset(batches(4)))), told(total.read_value()), told(steps), [told(v) for v in total.values])


@program
def steps_at_once(s):
    """tf.range steps over an iterator, as TensorFlow's guide has them."""
    with s.scope():
        seen = tf.Variable(0.0, aggregation=tf.VariableAggregation.SUM)

    @tf.function
    def steps(it, n):
        for _ in tf.range(n):
            s.run(lambda x, y: seen.assign_add(tf.reduce_sum(y)), args=next(it))

    it = iter(s.experimental_distribute_dataset(batches(4, 3)))
    steps(it, tf.constant(3))
    print(told(seen))
    steps(it, tf.constant(2))
    print(told(seen))


@program
def iterator_with_optional(s):
    """get_next_as_optional until there is nothing."""
    @tf.function
    def step(it):
        found = it.get_next_as_optional()
        if found.has_value():
            return tf.constant(True), s.reduce("SUM", s.run(lambda x, y: tf.reduce_sum(y), args=found.get_value()), axis=None)
        return tf.constant(False), tf.constant(-1.0)

    it = iter(s.experimental_distribute_dataset(batches(4)))
    for _ in range(5):
        there, value = step(it)
        print(bool(there), told(value))


@program
def input_function(s):
    """distribute_datasets_from_function with a batch per replica."""
    def made(c):
        print(c.num_input_pipelines, c.input_pipeline_id, c.num_replicas_in_sync, c.get_per_replica_batch_size(4))
        return batches(c.get_per_replica_batch_size(4)).shard(c.num_input_pipelines, c.input_pipeline_id)

    for x, y in s.distribute_datasets_from_function(made):
        print([told(v)[:1] for v in s.experimental_local_results(y)], told(s.gather(y, axis=0))[-1])


@program
def gathered_predictions(s):
    """gather of parts that differ in size; reduce along an axis."""
    for x, y in s.experimental_distribute_dataset(batches(5)):
        p = s.run(lambda x: tf.reduce_sum(x, 1), args=(x,))
        print([v.shape.as_list() for v in s.experimental_local_results(p)], told(s.gather(p, axis=0)), told(s.reduce("MEAN", p, axis=0)))


@program
def merged_update(s):
    """merge_call that clips by the norm over all replicas."""
    with s.scope():
        v = tf.Variable([1.0, 2.0])

    def merge(strategy, g):
        total = strategy.extended.reduce_to("SUM", g, v)
        clipped = tf.clip_by_norm(strategy.experimental_local_results(total)[0], 1.0)
        return strategy.extended.update(v, lambda v, g: v.assign_sub(g), args=(clipped,))

    def step():
        g = tf.constant([3.0, 4.0]) * tf.cast(number() + 1, tf.float32)
        context().merge_call(merge, args=(g,))

    tf.function(lambda: s.run(step))()
    print([told(c) for c in v.values])


@program
def batch_statistics(s):
    """synchronized batch normalisation by hand: all_reduce within the model, and its gradient."""
    with s.scope():
        scale = tf.Variable([1.0, 1.0])

    def step(x):
        with tf.GradientTape() as tape:
            mean = context().all_reduce("MEAN", tf.reduce_mean(x, 0))
            spread = context().all_reduce("MEAN", tf.reduce_mean(tf.square(x - mean), 0))
            y = scale * (x - mean) / tf.sqrt(spread + 1e-3)
            loss = tf.reduce_sum(y**2) / 4
        return loss, context().all_reduce("SUM", tape.gradient(loss, scale))

    for x, _ in s.experimental_distribute_dataset(batches(4).take(2)):
        loss, g = tf.function(lambda x: s.run(step, args=(x,)))(x)
        print(told(s.reduce("SUM", loss, axis=None)), [told(v) for v in s.experimental_local_results(g)])


@program
def gradient_accumulation(s):
    """a copy of the sum on each replica, brought together every second step."""
    with s.scope():
        w = tf.Variable([[1.0], [1.0]])
        kept = tf.Variable([[0.0], [0.0]], trainable=False, synchronization=tf.VariableSynchronization.ON_READ, aggregation=tf.VariableAggregation.SUM)

    def gather(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(x @ w - y))
        kept.assign_add(tape.gradient(loss, w))

    def apply():
        g = context().all_reduce("SUM", kept.read_value())
        context().merge_call(lambda st, g: st.extended.update(w, lambda w, g: w.assign_sub(0.01 * g), args=(g,)), args=(g,))
        kept.assign(tf.zeros_like(kept))

    run = tf.function(lambda x, y: s.run(gather, args=(x, y)))
    change = tf.function(lambda: s.run(apply))
    for i, (x, y) in enumerate(s.experimental_distribute_dataset(batches(2))):
        run(x, y)
        if i % 2:
            change()
    print(told(w), [told(v) for v in kept.values])


@program
def checkpoints(s):
    """saved under two replicas, restored under one and under none."""
    folder = tempfile.mkdtemp()
    with s.scope():
        v, n = tf.Variable([1.0, 2.0]), tf.Variable(0.0, synchronization=tf.VariableSynchronization.ON_READ, aggregation=tf.VariableAggregation.SUM)
    s.run(lambda: n.assign_add(2.0))
    v.assign([3.0, 4.0])
    path = tf.train.Checkpoint(v=v, n=n).save(os.path.join(folder, "c"))
    print(sorted((k, shape) for k, shape in tf.train.list_variables(path) if "CHECKPOINTABLE" not in k and "save_counter" not in k))
    other = tf.Variable([0.0, 0.0])
    tf.train.Checkpoint(v=other).restore(path).expect_partial()
    one = mirrored(1)
    with one.scope():
        w, m = tf.Variable([0.0, 0.0]), tf.Variable(0.0, synchronization=tf.VariableSynchronization.ON_READ, aggregation=tf.VariableAggregation.SUM)
    tf.train.Checkpoint(v=w, n=m).restore(path).assert_consumed()
    v.assign([0.0, 0.0])
    tf.train.Checkpoint(v=v, n=n).restore(path).assert_consumed()
    print(told(other), told(w), told(m), told(v), [told(c) for c in v.values], [told(c) for c in n.values])


@program
def values_from_function(s):
    """experimental_distribute_values_from_function."""
    made = s.experimental_distribute_values_from_function(lambda c: tf.constant(10.0 * (c.replica_id_in_sync_group + 1)))
    print([told(v) for v in s.experimental_local_results(made)], told(s.reduce("SUM", s.run(lambda v: v + 1, args=(made,)), axis=None)))


@program
def nested_structures(s):
    """dictionaries in and out."""
    data = tf.data.Dataset.from_tensor_slices({"a": X, "b": {"c": Y}}).batch(6)
    for row in s.experimental_distribute_dataset(data):
        out = s.run(lambda row: {"sum": tf.reduce_sum(row["a"]), "rows": tf.shape(row["b"]["c"])[0]}, args=(row,))
        print({k: [told(v) for v in s.experimental_local_results(out[k])] for k in sorted(out)})


@program
def sparse_and_ragged_inputs(s):
    """sparse and ragged elements are cut as dense ones."""
    data = tf.data.Dataset.from_tensor_slices({"x": tf.sparse.from_dense(np.diag(np.arange(1.0, 7.0))), "r": tf.ragged.constant([[1], [2, 3], [], [4], [5, 6], [7]])}).batch(4)
    for row in s.experimental_distribute_dataset(data):
        out = s.run(lambda row: (tf.sparse.reduce_sum(row["x"]), tf.reduce_sum(row["r"])), args=(row,))
        print([[told(v) for v in s.experimental_local_results(o)] for o in out])


@program
def embedding_gradients(s):
    """IndexedSlices summed over replicas."""
    with s.scope():
        table = tf.Variable(tf.zeros([4, 2]))

    def step(ids):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.gather(table, ids) * [1.0, 2.0])
        g = tape.gradient(loss, table)
        context().merge_call(lambda st, g: st.extended.update(table, lambda t, g: t.scatter_sub(g), args=(st.extended.reduce_to("SUM", g, table),)), args=(g,))
        return type(g).__name__

    for ids in s.experimental_distribute_dataset(tf.data.Dataset.from_tensor_slices([0, 1, 1, 3]).batch(4)):
        print(s.run(step, args=(ids,)))
    print([told(t) for t in table.values])


@program
def control_flow_in_a_step(s):
    """tf.cond and tf.while_loop within replicas, on values that differ."""
    def step(x):
        n = tf.while_loop(lambda i, t: i < number() + 2, lambda i, t: (i + 1, t * 2.0), [tf.constant(0), tf.reduce_sum(x)])[1]
        return tf.cond(n > 0, lambda: n, lambda: -n)

    for x, _ in s.experimental_distribute_dataset(batches(4).take(2)):
        print([told(v) for v in s.experimental_local_results(tf.function(lambda x: s.run(step, args=(x,)))(x))])


@program
def metrics_of_sums(s):
    """sync-on-read totals and counts, read and reset across replicas."""
    with s.scope():
        total, count = (tf.Variable(0.0, synchronization=tf.VariableSynchronization.ON_READ, aggregation=tf.VariableAggregation.SUM) for _ in range(2))
        mean = tf.Variable(0.0, synchronization=tf.VariableSynchronization.ON_READ, aggregation=tf.VariableAggregation.MEAN)
        first = tf.Variable(0.0, synchronization=tf.VariableSynchronization.ON_READ, aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA)

    def step(x, y):
        total.assign_add(tf.reduce_sum(y))
        count.assign_add(tf.cast(tf.shape(y)[0], tf.float32))
        mean.assign(tf.reduce_sum(y))
        first.assign(tf.reduce_sum(y))

    for b in s.experimental_distribute_dataset(batches(4)):
        s.run(step, args=b)
    print(told(total), told(count), told(total / count), told(mean), told(first), repr(total.aggregation))
    total.assign(6.0)
    print([told(v) for v in total.values], told(total))


def within(strategy, call):
    with strategy.scope():
        return call()


@program
def what_is_refused(s):
    """errors users meet."""
    with s.scope():
        v = tf.Variable(1.0)
    tries = {
        "not a dataset": lambda: s.experimental_distribute_dataset([1, 2]),
        "assign without aggregation": lambda: s.run(lambda: v.assign(tf.cast(number(), tf.float32))),
        "reduce without an op": lambda: s.reduce("PRODUCT", 1.0, axis=None),
        "other strategy's scope": lambda: within(s, lambda: within(mirrored(1), lambda: 1)),
    }
    for name, tried in tries.items():
        try:
            print(name, "->", type(tried()).__name__)
        except Exception as e:
            print(name, "!!", type(e).__name__, str(e).partition(":")[0])


@program
def devices_and_names(s):
    """where things are and what they are called."""
    with s.scope():
        v = tf.Variable([1.0], name="layer/kernel")
    print([c.name for c in v.values], [c.device.rpartition("/")[2] for c in v.values], s.extended.worker_devices, s.extended.parameter_devices)
    print(s.run(lambda: tf.constant(1.0).device.rpartition("/")[2]).values, s.extended.variable_created_in_scope(v), s.extended.variable_created_in_scope(tf.Variable(1.0)))


@program
def random_numbers(s):
    """stateless numbers by replica; a generator made within the scope."""
    out = s.run(lambda: tf.random.stateless_uniform([2], seed=[1, number()]))
    print([told(v) for v in s.experimental_local_results(out)])
    with s.scope():
        g = tf.random.Generator.from_seed(7)
    print([told(v) for v in s.experimental_local_results(s.run(lambda: g.normal([2])))], [told(v) for v in s.experimental_local_results(s.run(lambda: g.normal([2])))])


for p in PROGRAMS:
    print("==", p.__name__)
    try:
        p(mirrored())
    except Exception as e:
        print("!!", type(e).__name__, str(e).splitlines()[0] if str(e) else "")
