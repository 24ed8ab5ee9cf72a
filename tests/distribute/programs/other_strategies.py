"""One device, central storage, no strategy; ways of reducing; a step as a graph."""
import numpy as np
from two_replicas import D, context, mirrored, number, show, tf
o = D.OneDeviceStrategy('/cpu:0')
print(o, o.num_replicas_in_sync, o.extended.worker_devices)
with o.scope():
    v = tf.Variable(1.0, name='q')
    print(repr(v), type(v))
    print(D.get_replica_context(), D.in_cross_replica_context())
show('one run', lambda: o.run(lambda x: (v.assign_add(x), D.get_replica_context().replica_id_in_sync_group, type(D.get_replica_context())), args=(2.0,)))
show('one reduce', lambda: o.reduce('SUM', tf.constant([1.0, 2.0]), axis=None))
show('one reduce', lambda: o.reduce('MEAN', tf.constant([1.0, 2.0]), axis=0))
show('one reduce py', lambda: o.reduce('SUM', 3.0, axis=None))
d = o.experimental_distribute_dataset(tf.data.Dataset.range(3).batch(2))
print(type(d))
print([x for x in d])
show('one merge', lambda: o.run(lambda: D.get_replica_context().merge_call(lambda s, x: (x, D.in_cross_replica_context()), args=(1,))))
show('one gather', lambda: o.gather(tf.constant([1.0]), axis=0))
show('one local', lambda: o.experimental_local_results(tf.constant([1.0])))
show('one all_reduce', lambda: o.run(lambda: D.get_replica_context().all_reduce('SUM', tf.constant(1.0))))
c = D.experimental.CentralStorageStrategy(['CPU:0', 'CPU:1'])
with c.scope():
    v = tf.Variable(1.0, name='c')
    w = tf.Variable(1.0, aggregation=tf.VariableAggregation.MEAN)
    print(repr(v), type(v), v.device)
print(v)
show('c run agg', lambda: c.run(lambda: w.assign_add(tf.cast(number() + 1, tf.float32))))
print(w)
d = D.get_strategy()
show('def run', lambda: d.run(lambda x: x + 1, args=(1,)))
show('def reduce', lambda: d.reduce('SUM', tf.constant([1.0, 2.0]), axis=0))
show('def reduce none', lambda: d.reduce('SUM', 3, axis=None))
show('def local', lambda: d.experimental_local_results(3))
show('def dist', lambda: d.experimental_distribute_dataset(tf.data.Dataset.range(3)))
show('def fromfn', lambda: d.distribute_datasets_from_function(lambda c: (print(c), tf.data.Dataset.range(3))[1]))
show('def merge', lambda: context().merge_call(lambda s, x: (x, D.in_cross_replica_context(), s is d), args=(2,)))
show('def allred', lambda: context().all_reduce('SUM', tf.constant(2.0)))
show('def allg', lambda: context().all_gather(tf.constant([2.0]), axis=0))
show('def gather', lambda: d.gather(tf.constant([2.0]), axis=0))

def sc():
    with d.scope():
        return (D.has_strategy(), D.in_cross_replica_context(), D.get_replica_context())
show('def scope', sc)
show('def run in', lambda: d.run(lambda: (D.in_cross_replica_context(), D.get_replica_context())))
s = mirrored()
with s.scope():
    show('scope default reduce', lambda: s.reduce('SUM', s.run(lambda: tf.constant(1.0)), axis=None))
a = D.MirroredStrategy(['CPU:0', 'CPU:1'])
print(D.MirroredStrategy(['CPU:0']).num_replicas_in_sync)
h = D.HierarchicalCopyAllReduce(num_packs=2)
n = D.NcclAllReduce(num_packs=2)
print(h, n)
sh = D.MirroredStrategy(['CPU:0', 'CPU:1'], cross_device_ops=D.HierarchicalCopyAllReduce())
print('hier')
show('hier ar', lambda: sh.run(lambda: context().all_reduce('SUM', tf.constant(1.0))))
with s.scope():
    q = tf.Variable(tf.random.normal([2]), name='nn/q')
    with tf.name_scope('foo'):
        z = tf.Variable(1.0)
print(q.name, [x.name for x in z.values], [x.name for x in tf.nest.flatten(q.values)])
print(z.values[1].aggregation, z.aggregation, z.synchronization, q.dtype, q.shape, q.numpy().shape)

@tf.function
def step(x):

    def f(x):
        with tf.GradientTape() as t:
            l = tf.reduce_sum(z * x)
        g = t.gradient(l, z)
        g = context().all_reduce('SUM', g)
        z.assign_sub(0.1 * g) if z.aggregation != tf.VariableAggregation.NONE else s.extended
        return g
    return s.run(f, args=(x,))
show('step', lambda: step(tf.constant([1.0, 2.0])))
