"""The program of a coordinator, two workers and two parameter servers, as TensorFlow's guide has it."""
import os
import sys

import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
if resolver.task_type in ("worker", "ps"):
    server = tf.distribute.Server(resolver.cluster_spec(), job_name=resolver.task_type, task_index=resolver.task_id, protocol=resolver.rpc_layer or "grpc", start=True)
    server.join()

strategy = tf.distribute.ParameterServerStrategy(resolver)
print(strategy.num_replicas_in_sync)
with strategy.scope():
    w = tf.Variable([[1.0], [2.0]], name="w")
    b = tf.Variable([0.5], name="b")
    steps = tf.Variable(0, dtype=tf.int64, trainable=False, name="steps", aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA)
print([(v.name, v.device) for v in (w, b, steps)], w)
print(tf.constant(1.0).device)
coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
print(coordinator is tf.distribute.coordinator.ClusterCoordinator(strategy), coordinator.strategy is strategy)

def dataset_fn():
    x = tf.constant([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 1.0]])
    y = tf.constant([[3.0], [5.0], [7.0], [9.0]])
    return tf.data.Dataset.from_tensor_slices((x, y)).map(lambda x, y: (x * 1.0, y)).repeat().batch(4)

@tf.function
def per_worker_dataset_fn():
    return strategy.distribute_datasets_from_function(lambda c: dataset_fn())

def replica(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((tf.matmul(x, w) + b - y) ** 2)
    dw, db = tape.gradient(loss, [w, b])
    w.assign_sub(0.1 * dw)
    b.assign_sub(0.1 * db)
    steps.assign_add(1)
    return loss

@tf.function
def step(iterator):
    losses = strategy.run(replica, args=next(iterator))
    return strategy.reduce("SUM", losses, axis=None)

data = coordinator.create_per_worker_dataset(dataset_fn)
iterator = iter(data)
first = coordinator.schedule(step, args=(iterator,))
print(round(float(first.fetch()), 4), type(first.fetch()).__name__)
results = [coordinator.schedule(step, args=(iterator,)) for _ in range(60)]
coordinator.join()
print(coordinator.done(), int(steps.numpy()), all(r.fetch() < 20 for r in results), float(results[-1].get()) < 1.5)
print({k: v.shape for k, v in coordinator.fetch({"w": coordinator.schedule(tf.function(lambda: w.read_value())), "c": tf.constant([1, 2])}).items()})

@tf.function
def bad(x):
    tf.debugging.assert_positive(x, message="must be positive")
    return x
r = coordinator.schedule(bad, args=(tf.constant(-1.0),))
try:
    coordinator.join()
except tf.errors.InvalidArgumentError as e:
    print("join", type(e).__name__, "must be positive" in str(e))
try:
    r.fetch()
except tf.errors.InvalidArgumentError as e:
    print("fetch", type(e).__name__)
print(float(coordinator.schedule(bad, args=(tf.constant(2.0),)).fetch()))
coordinator.join()
try:
    coordinator.schedule(step, args=(first,))
except Exception as e:
    print(type(e).__name__, str(e)[:80])
for make in (lambda: strategy.run(replica, args=(tf.ones([1, 2]), tf.ones([1, 1]))), lambda: next(iterator)):
    try:
        make()
    except Exception as e:
        print(type(e).__name__, str(e)[:100])
checkpoint = tf.train.Checkpoint(w=w, b=b)
path = checkpoint.save(os.path.join(sys.argv[1], "at"))
saved = w.numpy()
w.assign(w * 0.0)
checkpoint.restore(path).assert_consumed()
print((saved == w.numpy()).all(), sorted(n for n, _ in tf.train.list_variables(path)))
ticks = tf.Variable(0)
@tf.function
def local(n):
    i = tf.constant(0)
    while i < n:
        i += 1
    return i * 2
print([int(r.fetch()) for r in [coordinator.schedule(local, args=(tf.constant(k),)) for k in range(4)]])
