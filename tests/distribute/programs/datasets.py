"""Datasets divided among replicas."""
import numpy as np
from two_replicas import D, context, mirrored, number, show, tf
s = mirrored()

def its(ds, fn=lambda x: x):
    out = []
    for x in ds:
        out.append([v.numpy().tolist() if hasattr(v, 'numpy') else v for v in s.experimental_local_results(x)])
    return out
R = tf.data.Dataset.range
for n, b in ((8, 4), (7, 4), (5, 4), (9, 4), (6, 3), (3, 4), (1, 4), (5, 1), (10, 5)):
    show(('dist', n, b), lambda: its(s.experimental_distribute_dataset(R(n).batch(b))))
    show(('distdrop', n, b), lambda: its(s.experimental_distribute_dataset(R(n).batch(b, drop_remainder=True))))
show('empty', lambda: its(s.experimental_distribute_dataset(R(0).batch(2))))
d = s.experimental_distribute_dataset(R(8).batch(4))
print(type(d), d.element_spec)
it = iter(d)
print(type(it), it.element_spec)
x = next(it)
print(x, [v.device for v in x.values], type(x))
d = s.experimental_distribute_dataset(R(8).batch(4, drop_remainder=True))
print(d.element_spec)
d1 = mirrored(1).experimental_distribute_dataset(R(8).batch(4))
print(type(d1), d1.element_spec)
x = next(iter(d1))
print(type(x), x)

def fn(ctx):
    print(ctx, ctx.num_input_pipelines, ctx.input_pipeline_id, ctx.num_replicas_in_sync, ctx.get_per_replica_batch_size(4))
    show('bad bs', lambda: ctx.get_per_replica_batch_size(3))
    return R(7).batch(ctx.get_per_replica_batch_size(4))
show('from fn', lambda: its(s.distribute_datasets_from_function(fn)))
show('from fn5', lambda: its(s.distribute_datasets_from_function(lambda c: R(10).batch(2))))
df = s.distribute_datasets_from_function(lambda c: R(10).batch(2))
print(df.element_spec, type(df))
d = s.experimental_distribute_dataset(tf.data.Dataset.from_tensor_slices(({'a': np.arange(6.0).reshape(3, 2)}, np.arange(3))).batch(3))
for x in d:
    print(x)
print(d.element_spec)

@tf.function
def f(x):
    return s.run(lambda v: tf.reduce_sum(v), args=(x,))
for x in s.experimental_distribute_dataset(R(5).batch(4)):
    print(f(x))

@tf.function
def g(d):
    t = tf.constant(0, tf.int64)
    for x in d:
        t += s.reduce('SUM', s.run(lambda v: tf.reduce_sum(v), args=(x,)), axis=None)
    return t
show('loop in fn', lambda: g(s.experimental_distribute_dataset(R(9).batch(4))))

@tf.function
def h(it):
    return s.run(lambda v: tf.reduce_sum(v), args=(next(it),))
show('it in fn', lambda: [h(it2) for it2 in [iter(s.experimental_distribute_dataset(R(9).batch(4)))] for _ in range(2)])

@tf.function
def h2(it):
    t = tf.constant(0, tf.int64)
    for _ in tf.range(2):
        t += s.reduce('SUM', s.run(lambda v: tf.reduce_sum(v), args=(next(it),)), axis=None)
    return t
show('it in fn2', lambda: h2(iter(s.experimental_distribute_dataset(R(9).batch(4)))))
show('fn spec', lambda: tf.function(lambda x: s.run(lambda v: v + 1, args=(x,)), input_signature=[s.experimental_distribute_dataset(R(9).batch(4)).element_spec])(next(iter(s.experimental_distribute_dataset(R(9).batch(4))))))
show('repr', lambda: repr(d))
show('len', lambda: len(d))
show('iter ctx', lambda: s.run(lambda: iter(d)))
show('InputOptions', lambda: D.InputOptions())
show('numpy', lambda: s.extended.experimental_make_numpy_dataset(np.arange(3)))
show('mean axis', lambda: s.reduce('MEAN', next(iter(s.experimental_distribute_dataset(tf.data.Dataset.from_tensor_slices([1.0, 2.0, 3.0]).batch(3)))), axis=0))
show('mean axis empty', lambda: s.reduce('MEAN', next(iter(s.experimental_distribute_dataset(tf.data.Dataset.from_tensor_slices([1.0]).batch(2)))), axis=0))
show('gather uneven', lambda: s.gather(next(iter(s.experimental_distribute_dataset(tf.data.Dataset.from_tensor_slices([1.0, 2.0, 3.0]).batch(3)))), axis=0))
