"""Variables of a strategy: mirrored ones, and those that are brought together when they are read."""
import numpy as np
from two_replicas import D, context, mirrored, number, show, tf
print('--default')
d = tf.distribute.get_strategy()
print(d, d.num_replicas_in_sync, tf.distribute.has_strategy(), tf.distribute.in_cross_replica_context(), tf.distribute.get_replica_context())
s = tf.distribute.MirroredStrategy(['CPU:0', 'CPU:1'], cross_device_ops=tf.distribute.ReductionToOneDevice())
print(s.extended.worker_devices, s.extended.parameter_devices)
with s.scope():
    v = tf.Variable(1.0, name='v')
    w = tf.Variable([1.0, 2.0], name='w', aggregation=tf.VariableAggregation.MEAN)
    sv = tf.Variable(0.0, synchronization=tf.VariableSynchronization.ON_READ, aggregation=tf.VariableAggregation.SUM, name='sv')
    svm = tf.Variable(0.0, synchronization=tf.VariableSynchronization.ON_READ, aggregation=tf.VariableAggregation.MEAN, name='svm')
    svf = tf.Variable(0.0, synchronization=tf.VariableSynchronization.ON_READ, aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA, name='svf')
    svn = tf.Variable(0.0, synchronization=tf.VariableSynchronization.ON_READ, aggregation=tf.VariableAggregation.NONE, name='svn')
    print('scope', tf.distribute.has_strategy(), tf.distribute.in_cross_replica_context(), tf.distribute.get_replica_context(), tf.distribute.get_strategy())
print(repr(v))
print(str(v))
print(v.values)
print([x.name for x in v.values], [x.device for x in v.values], v.name, v.device)
print(repr(sv))
print(type(v), type(sv))
print('trainables', v.trainable, sv.trainable)
show('none assign', lambda: s.run(lambda: v.assign(3.0)))
print(v.values)
show('none assign_add', lambda: s.run(lambda: v.assign_add(3.0)))

def f():
    r = tf.distribute.get_replica_context()
    return w.assign_add([1.0, 2.0] * 1) if 0 else w.assign(tf.constant([1.0, 2.0]) * tf.cast(r.replica_id_in_sync_group + 1, tf.float32))
show('mean assign', lambda: s.run(f))
print(w)
show('cross assign', lambda: w.assign([5.0, 6.0]))
print(w)

def add_sv():
    r = tf.distribute.get_replica_context().replica_id_in_sync_group
    for x in (sv, svm, svf, svn):
        x.assign_add(tf.cast(r + 1, tf.float32))
    return sv.read_value()
show('sv add', lambda: s.run(add_sv))
show('sv read', lambda: [x.read_value() for x in (sv, svm, svf)])
show('svn read', lambda: svn.read_value())
show('sv numpy', lambda: sv.numpy())
with s.scope():
    show('svscope add', lambda: sv.assign_add(1.0))
    show('svscope read', lambda: sv.read_value())
    show('svscope assign', lambda: sv.assign(10.0))
    print(sv.values)
    show('svnscope read', lambda: svn.read_value())
    show('svnscope assign', lambda: svn.assign(10.0))
    show('svmscope assign', lambda: svm.assign(10.0))
    print(svm.values)
    show('svmscope assign_add', lambda: svm.assign_add(10.0))
    print(svm.values)
