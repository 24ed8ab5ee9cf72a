import tempfile
import tensorflow as tf

# Learning-rate schedules, moving averages, checkpoint managers, summaries, metrics.
for sched in (
    tf.optimizers.schedules.ExponentialDecay(0.1, 10, 0.5, staircase=True),
    tf.optimizers.schedules.PiecewiseConstantDecay([5, 10], [1.0, 0.5, 0.1]),
    tf.optimizers.schedules.PolynomialDecay(0.1, 20, 0.01, power=2.0),
    tf.optimizers.schedules.CosineDecay(0.1, 20, alpha=0.1),
    tf.optimizers.schedules.InverseTimeDecay(0.1, 5, 0.5),
    tf.optimizers.schedules.CosineDecayRestarts(0.1, 6),
):
    print(type(sched).__name__, [round(float(sched(s)), 5) for s in (0, 4, 9, 15, 25)], sorted(sched.get_config())[:2])
v = tf.Variable([1.0, 2.0], name="v")
ema = tf.train.ExponentialMovingAverage(0.9)
for i in range(3):
    v.assign_add([1.0, -1.0])
    ema.apply([v])
print(ema.average(v), v, ema.average_name(v))
opt = tf.optimizers.SGD(tf.optimizers.schedules.ExponentialDecay(0.1, 2, 0.5), momentum=0.9, nesterov=True)
w = tf.Variable([1.0, -1.0], name="w")
step = tf.Variable(0, dtype=tf.int64, name="step")
folder = tempfile.mkdtemp()
ckpt = tf.train.Checkpoint(step=step, optimizer=opt, w=w)
manager = tf.train.CheckpointManager(ckpt, folder, max_to_keep=2, checkpoint_name="model")
print(manager.latest_checkpoint, manager.checkpoints)
writer = tf.summary.create_file_writer(folder + "/logs")
with writer.as_default():
    for _ in range(6):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(w**2)
        opt.apply_gradients([(tape.gradient(loss, w), w)])
        step.assign_add(1)
        tf.summary.write("loss", loss, step=step)
        if int(step) % 2 == 0:
            print(manager.save().replace(folder, ""), w.numpy().round(4), "%.4f" % loss)
print([c.replace(folder, "") for c in manager.checkpoints], opt.iterations.numpy())
final = w.numpy().copy()
w.assign([0.0, 0.0])
ckpt.restore(manager.latest_checkpoint).expect_partial()
print((w.numpy() == final).all(), int(step), tf.train.latest_checkpoint(folder).replace(folder, ""))
reader = tf.train.load_checkpoint(folder)
print(sorted(reader.get_variable_to_shape_map())[:3], reader.get_tensor("w/.ATTRIBUTES/VARIABLE_VALUE").round(4))
fresh = tf.train.Checkpoint(w=tf.Variable([0.0, 0.0]))
fresh.restore(manager.latest_checkpoint).expect_partial()
print(fresh.w.numpy().round(4))
try:
    tf.train.Checkpoint(other=tf.Variable(1.0)).restore(manager.latest_checkpoint).assert_existing_objects_matched()
except AssertionError as e:
    print("AssertionError", str(e)[:40])
import glob
tags = []
for f in glob.glob(folder + "/logs/*"):
    for e in tf.compat.v1.train.summary_iterator(f):
        tags += [(val.tag, e.step) for val in e.summary.value]
print(len(tags), tags[:2])
for metric, args in (
    (tf.metrics.Mean(), ([1.0, 3.0],)),
    (tf.metrics.Accuracy(), ([1, 2, 3], [1, 2, 0])),
    (tf.metrics.MeanSquaredError(), ([1.0, 2.0], [1.5, 2.0])),
    (tf.metrics.SparseCategoricalAccuracy(), ([1, 0], [[0.1, 0.9], [0.4, 0.6]])),
    (tf.metrics.AUC(), ([0, 0, 1, 1], [0.0, 0.5, 0.3, 0.9])),
    (tf.metrics.Precision(), ([0, 1, 1, 1], [1, 0, 1, 1])),
):
    metric.update_state(*args)
    print(metric.name, round(float(metric.result()), 4), len(metric.variables))
    metric.reset_state()
for loss in (tf.losses.MeanSquaredError(), tf.losses.Huber(), tf.losses.CategoricalCrossentropy(from_logits=True), tf.losses.BinaryCrossentropy(), tf.losses.KLDivergence()):
    print(loss.name, round(float(loss(tf.constant([[0.0, 1.0]]), tf.constant([[0.4, 0.6]]))), 5))
print(tf.losses.SparseCategoricalCrossentropy(reduction="none")(tf.constant([1, 0]), tf.constant([[0.2, 0.8], [0.5, 0.5]])))
