"""Keras's fit, evaluate and predict under a strategy of two replicas, uneven last batches among them."""
import numpy as np
import tensorflow as tf

CPU = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(CPU, [tf.config.LogicalDeviceConfiguration()] * 2)
tf.get_logger().setLevel("ERROR")
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"], cross_device_ops=tf.distribute.ReductionToOneDevice())
layers, r = tf.keras.layers, np.random.RandomState(0)
images, kinds = r.randn(52, 8, 8, 3).astype("f"), r.randint(0, 5, 52)


def fit(name, optimizer, **how):
    with strategy.scope():
        model = tf.keras.Sequential(
            [layers.Input((8, 8, 3)), layers.Conv2D(4, 3), layers.BatchNormalization(), layers.ReLU(), layers.Flatten(), layers.Dense(5)]
        )
        first = np.random.RandomState(1)
        model.set_weights([first.rand(*w.shape).astype("f") * 0.3 for w in model.get_weights()])
        loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile(optimizer=optimizer(), loss=loss, metrics=["accuracy"], **how)
    history = model.fit(images, kinds, batch_size=16, epochs=2, shuffle=False, verbose=0).history
    print(name, [[f"{x:.3f}" for x in history[k]] for k in sorted(history)], [f"{float(w.sum()):.2f}" for w in model.get_weights()])
    print([f"{x:.2f}" for x in model.evaluate(images, kinds, batch_size=16, verbose=0)], model.predict(images[:5], verbose=0).shape)


optimizers = tf.keras.optimizers
fit("sgd", lambda: optimizers.SGD(0.1))
fit("momentum", lambda: optimizers.SGD(0.05, momentum=0.9))
fit("ema", lambda: optimizers.SGD(0.05, use_ema=True))
fit("rmsprop", lambda: optimizers.RMSprop(0.01))
fit("two steps at once", lambda: optimizers.SGD(0.1), steps_per_execution=2)
fit("eagerly", lambda: optimizers.SGD(0.1), run_eagerly=True)
