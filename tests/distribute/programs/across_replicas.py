"""Running, reducing, gathering and merging, and what is refused where."""
import numpy as np
from two_replicas import D, context, mirrored, number, show, tf
s = mirrored()
show('run ids', lambda: s.run(number))
show('run none', lambda: s.run(lambda: None))
show('run nest', lambda: s.run(lambda: (number(), {'a': number() + 1 if 0 else tf.cast(number(), tf.float32)})))
show('run const', lambda: s.run(lambda: 3))
show('run str', lambda: s.run(lambda: 'x'))
show('run rng', lambda: s.run(lambda: context().replica_id_in_sync_group))
pr = s.run(lambda: tf.cast(number(), tf.float32) + 1.0)
print(type(pr), pr.values, repr(pr))
for op in ('SUM', 'MEAN', 'sum', 'mean', D.ReduceOp.SUM, 'max'):
    show(('reduce', op), lambda: s.reduce(op, pr, axis=None))
v2 = s.run(lambda: tf.cast(number(), tf.float32) + tf.constant([1.0, 2.0, 3.0]))
print(v2)
for ax in (0, None, [0], -1):
    show(('reduce axis', ax), lambda: s.reduce('SUM', v2, axis=ax))
    show(('reduce mean axis', ax), lambda: s.reduce('MEAN', v2, axis=ax))
show('reduce nest', lambda: s.reduce('SUM', {'a': pr, 'b': v2}, axis=None))
show('reduce plain', lambda: s.reduce('SUM', tf.constant(2.0), axis=None))
show('reduce py', lambda: s.reduce('SUM', 2.0, axis=None))
show('reduce plain mean', lambda: s.reduce('MEAN', tf.constant([2.0, 4.0]), axis=0))
show('reduce dev', lambda: s.reduce('SUM', v2, axis=None).device)
show('gather', lambda: s.gather(v2, axis=0))
show('gather ax1', lambda: s.gather(v2, axis=1))
show('local', lambda: s.experimental_local_results(v2))
show('local plain', lambda: s.experimental_local_results(tf.constant(1.0)))
show('local nest', lambda: s.experimental_local_results({'a': pr}))
show('reduce in replica', lambda: s.run(lambda: s.reduce('SUM', tf.constant(1.0), axis=None)))
show('run in replica', lambda: s.run(lambda: s.run(lambda: 1)))
show('gather in replica', lambda: s.run(lambda: s.gather(tf.constant([1.0]), axis=0)))
show('rc cross', lambda: context())

def inscope(f):
    with s.scope():
        return f()
show('rc scope', lambda: inscope(lambda: context()))
show('rc.merge in cross', lambda: inscope(lambda: D.get_replica_context().merge_call(lambda s: 1)))
show('merge', lambda: s.run(lambda: context().merge_call(lambda st, x: st.reduce('SUM', x, axis=None), args=(tf.cast(number(), tf.float32) + 1.0,))))
show('merge None', lambda: s.run(lambda: context().merge_call(lambda st: None)))
show('merge perreplica', lambda: s.run(lambda: context().merge_call(lambda st, x: (print('in merge', x, D.in_cross_replica_context()), x)[1], args=(number(),))))
show('merge const', lambda: s.run(lambda: context().merge_call(lambda st, x: (print(x), x)[1], args=(5,))))
show('merge kwargs', lambda: s.run(lambda: context().merge_call(lambda st, x=None: x, kwargs={'x': number()})))
show('all_reduce', lambda: s.run(lambda: context().all_reduce('SUM', tf.cast(number(), tf.float32) + 1.0)))
show('all_reduce nest', lambda: s.run(lambda: context().all_reduce(D.ReduceOp.MEAN, {'a': tf.cast(number(), tf.float32) + 1.0, 'b': [tf.constant([1.0, 2.0])]})))
show('all_gather', lambda: s.run(lambda: context().all_gather(tf.cast(number(), tf.float32) + tf.constant([1.0, 2.0]), axis=0)))
show('all_gather nest', lambda: s.run(lambda: context().all_gather({'a': tf.cast(number(), tf.float32) + tf.constant([[1.0, 2.0]])}, axis=1)))
show('reduce in merge? all_reduce max', lambda: s.run(lambda: context().all_reduce('MAX', tf.constant(1.0))))
show('uneven merge', lambda: s.run(lambda: context().merge_call(lambda st: None) if int(number()) == 0 else 1))
show('replica error', lambda: s.run(lambda: 1 / 0 if int(number()) == 1 else 1))
show('merge error', lambda: s.run(lambda: context().merge_call(lambda st: 1 / 0)))
with s.scope():
    v = tf.Variable(2.0)
    u = tf.Variable([1.0, 2.0], aggregation=tf.VariableAggregation.SUM)
show('update', lambda: s.extended.update(v, lambda v, x: v.assign(x), args=(pr,)))
show('update nogroup', lambda: s.extended.update(v, lambda v, x: v.assign_add(x), args=(pr,), group=False))
show('update fn tensor', lambda: s.extended.update(v, lambda v, x: v.assign_add(x).read_value(), args=(1.0,), group=False))
print(v)

def scoped(f):

    def g():
        with s.scope():
            return f()
    return g
show('update scoped', scoped(lambda: s.extended.update(v, lambda v, x: v.assign(x), args=(pr,))))
show('reduce_to', scoped(lambda: s.extended.reduce_to('SUM', pr, v)))
show('reduce_to str', scoped(lambda: s.extended.reduce_to('SUM', pr, 'CPU:0')))
show('batch_reduce_to', scoped(lambda: s.extended.batch_reduce_to('SUM', [(pr, v), (v2, u)])))
show('broadcast', scoped(lambda: s.extended.broadcast_to(tf.constant(3.0), v)))
show('read_var', scoped(lambda: s.extended.read_var(v)))
show('value_container', lambda: s.extended.value_container(v.values[1]) is v)
show('nested scope', scoped(lambda: mirrored().scope().__enter__()))

def outscope():
    sc = s.scope()
    sc.__enter__()
    sc2 = mirrored()
    try:
        with sc2.scope():
            pass
    finally:
        sc.__exit__(None, None, None)
show('nested scope2', outscope)

def reent():
    with s.scope():
        with s.scope():
            return 'ok'
show('reenter', reent)
show('var other strategy', lambda: s.run(lambda: tf.Variable(1.0)))
show('bad dev', lambda: D.MirroredStrategy(['CPU:7']))
show('bad dup', lambda: D.MirroredStrategy(['CPU:0', 'CPU:0']))
show('empty', lambda: D.MirroredStrategy([]))
show('gpu', lambda: D.MirroredStrategy(['GPU:0']))
show('bad reduceop', lambda: s.reduce(3, pr, axis=None))
show('pos', lambda: s.reduce(D.ReduceOp.SUM, pr, None))
show('var add', lambda: v + 1.0)
show('pr add', lambda: pr + 1.0)
show('pr np', lambda: pr.numpy())
show('convert pr', lambda: tf.convert_to_tensor(pr))
show('bool', lambda: len(pr.values))
show('MULTI', lambda: s.run(lambda x, y: x * y, args=(pr, 2.0)))
show('MULTI kw', lambda: s.run(lambda x, y: x * y, args=(pr,), kwargs={'y': v2}))
show('distribute vals fn', lambda: s.experimental_distribute_values_from_function(lambda ctx: (ctx.replica_id_in_sync_group, ctx.num_replicas_in_sync)))
show('distribute vals fn', lambda: s.experimental_distribute_values_from_function(lambda ctx: tf.constant(float(ctx.replica_id_in_sync_group))))
show('valuectx', lambda: s.experimental_distribute_values_from_function(lambda ctx: print(ctx)))
