"""A training loop of two workers: gradients of dense and sparse variables, uneven data, checkpoints and SavedModels."""
import os
import sys

import numpy as np
import tensorflow as tf

options = tf.distribute.experimental.CommunicationOptions(bytes_per_pack=64, timeout_seconds=300.0)
strategy = tf.distribute.MultiWorkerMirroredStrategy(communication_options=options)
me = strategy.cluster_resolver.task_id
folder = sys.argv[1]

with strategy.scope():
    w = tf.Variable(tf.random.stateless_normal([3, 2], [me, 7]), name="w")
    table = tf.Variable(tf.ones([5, 3]), name="table")
    seen = tf.Variable(0, dtype=tf.int64, trainable=False, synchronization=tf.VariableSynchronization.ON_READ, aggregation=tf.VariableAggregation.SUM, name="seen")
    rate = tf.Variable(0.5, trainable=False, aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA, name="rate")
print([v.name for v in (w, table, seen, rate)], np.round(w.numpy(), 4).tolist())

def batches(context):
    n = 10 if context.input_pipeline_id == 0 else 5  # the second worker has less
    ids = tf.data.Dataset.range(n).map(lambda i: (tf.cast(i % 5, tf.int32), tf.cast(i, tf.float32)))
    return ids.batch(context.get_per_replica_batch_size(8))

data = strategy.distribute_datasets_from_function(batches)
print(data.element_spec)

def step(ids, y):
    context = tf.distribute.get_replica_context()
    with tf.GradientTape() as tape:
        rows = tf.nn.embedding_lookup(table, ids)
        out = tf.matmul(rows, w)
        loss = tf.reduce_sum((out - y[:, None]) ** 2) / 80.0
    dw, dt = tape.gradient(loss, [w, table])
    dw, = context.all_reduce("SUM", [dw])
    def apply(strategy, dw, dt):
        total = strategy.extended.batch_reduce_to(tf.distribute.ReduceOp.SUM, [(dt, table)])[0]
        strategy.extended.update(w, lambda v, g: v.assign_sub(rate * g), (dw,))
        strategy.extended.update(table, lambda v, g: v.scatter_sub(tf.IndexedSlices(g.values * 0.1, g.indices)), (total,))
    context.merge_call(apply, (dw, dt))
    seen.assign_add(tf.size(ids, out_type=tf.int64))
    return loss

@tf.function
def train(ids, y):
    return strategy.reduce("SUM", strategy.run(step, args=(ids, y)), axis=None)

for epoch in range(2):
    losses = [float(train(*batch)) for batch in data]
    print(epoch, [round(l, 4) for l in losses])
print(np.round(w.numpy(), 4).tolist(), np.round(table.numpy(), 3)[0].tolist(), int(seen.read_value()))

@tf.function
def epoch_in_graph(it):
    total = 0.0
    for _ in tf.range(2):
        total += strategy.reduce("SUM", strategy.run(step, args=next(it)), axis=None)
    return total
print(round(float(epoch_in_graph(iter(data))), 4), round(float(strategy.reduce("MEAN", tf.cast(me, tf.float32), axis=None)), 4))

checkpoint = tf.train.Checkpoint(w=w, table=table, seen=seen, rate=rate)
mine = os.path.join(folder, "ckpt" if me == 0 else f"ckpt_{me}")
path = checkpoint.save(os.path.join(mine, "at"))
strategy.reduce("SUM", 1, axis=None)  # both have written
before = w.numpy()
w.assign(tf.zeros_like(w))
checkpoint.restore(tf.train.latest_checkpoint(os.path.join(folder, "ckpt"))).assert_consumed()
print(np.array_equal(before, w.numpy()), int(seen.read_value()), os.path.basename(path))
print(sorted(tf.train.list_variables(path)))

for policy in ("OFF", "DATA"):
    o = tf.data.Options()
    o.experimental_distribute.auto_shard_policy = getattr(tf.data.experimental.AutoShardPolicy, policy)
    ds = tf.data.Dataset.range(7).batch(4).with_options(o)
    print(policy, [strategy.experimental_local_results(x)[0].numpy().tolist() for x in strategy.experimental_distribute_dataset(ds)])
ds = tf.data.Dataset.from_tensor_slices((np.arange(6.), np.arange(6))).batch(4, drop_remainder=True)
print([tuple(a.values[0].numpy().tolist() for a in x) for x in strategy.experimental_distribute_dataset(ds)])
@tf.function
def total(d):
    s = tf.constant(0.0, tf.float64)
    for x, y in d:
        s += strategy.reduce("SUM", strategy.run(lambda a: tf.reduce_sum(a), (x,)), axis=None)
    return s
print(float(total(strategy.experimental_distribute_dataset(ds))))
print(strategy.reduce("SUM", strategy.experimental_distribute_values_from_function(lambda c: tf.ones([2]) * (c.replica_id_in_sync_group + 1)), axis=0).numpy())
it = iter(strategy.experimental_distribute_dataset(tf.data.Dataset.range(4).batch(4)))
print(it.get_next_as_optional().has_value().numpy(), it.get_next_as_optional().has_value().numpy())
try: next(it)
except StopIteration: print("end")
try: it.get_next()
except tf.errors.OutOfRangeError as e: print("out of range")
print(strategy.run(lambda: tf.distribute.get_replica_context().all_reduce("MEAN", tf.constant([1.0 * me, 2.0]))).numpy())
def gather():
    return tf.distribute.get_replica_context().all_gather(tf.fill([me + 1, 2], me), axis=0)
print(strategy.run(gather).numpy().tolist())
print(strategy.gather(tf.fill([2, me + 1], float(me)), axis=1).numpy().tolist())
