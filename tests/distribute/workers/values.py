"""What a strategy of two workers says of itself; its variables, reductions and datasets."""
import tensorflow as tf
s = tf.distribute.MultiWorkerMirroredStrategy()
me = s.cluster_resolver.task_id
print(s.num_replicas_in_sync, s.extended.worker_devices, s.extended.parameter_devices, s.extended.should_checkpoint, s.extended.should_save_summary, s.extended._in_multi_worker_mode(), s.cluster_resolver.task_type, s.cluster_resolver.task_id, s.cluster_resolver.rpc_layer)
print(tf.config.list_logical_devices())
print(tf.constant(1.0).device, (tf.constant(1.)+1).device)
with s.scope():
    v = tf.Variable(float(me+1), name="v")
    m = tf.Variable(1.0, synchronization=tf.VariableSynchronization.ON_READ, aggregation=tf.VariableAggregation.SUM, name='m')
    mm = tf.Variable(1.0, synchronization=tf.VariableSynchronization.ON_READ, aggregation=tf.VariableAggregation.MEAN, name='mm')
    a = tf.Variable(1.0, aggregation=tf.VariableAggregation.MEAN)
print(repr(v), v.name, v.device, v.handle.device, type(v).__name__, v.numpy())
print(repr(m), m.device)
@tf.function
def f():
    def step():
        c = tf.distribute.get_replica_context()
        m.assign_add(tf.cast(c.replica_id_in_sync_group, tf.float32)+1.0)
        mm.assign_add(tf.cast(c.replica_id_in_sync_group, tf.float32)+1.0)
        return c.all_reduce("SUM", tf.cast(c.replica_id_in_sync_group, tf.float32)+1.0)
    return s.run(step)
r = f()
print(repr(r), type(r).__name__, r.device)
print(m.numpy(), m.read_value(), mm.numpy(), s.experimental_local_results(m))
print(s.reduce("SUM", r, axis=None), s.reduce("MEAN", tf.constant(me*1.0), axis=None), s.reduce("SUM", tf.constant([1.,2.]) , axis=0))
ds = tf.data.Dataset.range(16).batch(4)
dd = s.experimental_distribute_dataset(ds)
for x in dd: print(x, type(x).__name__)
print(dd.element_spec)
def fn(ctx):
    print(ctx, ctx.num_replicas_in_sync, ctx.input_pipeline_id, ctx.num_input_pipelines, ctx.get_per_replica_batch_size(8))
    return tf.data.Dataset.range(8).shard(ctx.num_input_pipelines, ctx.input_pipeline_id).batch(ctx.get_per_replica_batch_size(8))
for x in s.distribute_datasets_from_function(fn): print(x)
print(s.gather(tf.constant([me]), 0))
def g():
    c = tf.distribute.get_replica_context()
    a.assign_add(tf.cast(c.replica_id_in_sync_group,tf.float32))
    return c.all_gather(tf.constant([[me]]), 0), c.replica_id_in_sync_group, c.num_replicas_in_sync
print(s.run(g), a.numpy())
print(s.experimental_distribute_values_from_function(lambda c: tf.constant(c.replica_id_in_sync_group)), )
try: s.reduce("SUM", 1, axis=None); print(s.reduce("SUM", 1, axis=None))
except Exception as e: print(type(e), e)
