"""Keras under a strategy as users write it, each a program of its own: own loops, callbacks, mixed precision, saving."""
import os
import tempfile

import numpy as np
import tensorflow as tf

CPU = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(CPU, [tf.config.LogicalDeviceConfiguration()] * 2)
tf.get_logger().setLevel("ERROR")
keras, layers, D = tf.keras, tf.keras.layers, tf.distribute
X, Y = np.linspace(-1, 1, 40, dtype=np.float32).reshape(10, 4), np.linspace(0, 1, 10, dtype=np.float32).reshape(10, 1)
PROGRAMS = []


def program(function):
    PROGRAMS.append(function)
    return function


def told(x, digits=3):
    return (np.round(np.asarray(x, np.float64), digits) + 0.0).tolist()


def losses(history):
    return {k: told(v) for k, v in sorted(history.history.items())}


def mlp():
    return keras.Sequential([layers.Input([4]), layers.Dense(3, "relu", kernel_initializer="ones"), layers.Dense(1, kernel_initializer="ones")])


@program
def own_loop_with_metrics(s):
    """The guide of tf.distribute: model, optimizer and metrics in the scope, the loop in a function."""
    with s.scope():
        model, optimizer = mlp(), keras.optimizers.Adam(0.01)
        seen, error = keras.metrics.Mean(), keras.metrics.MeanAbsoluteError()
        loss_of = keras.losses.MeanSquaredError(reduction="none")

    def step(x, y):
        with tf.GradientTape() as tape:
            out = model(x, training=True)
            loss = tf.nn.compute_average_loss(loss_of(y, out), global_batch_size=4)
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        seen.update_state(loss)
        error.update_state(y, out)
        return loss

    @tf.function
    def train(x, y):
        return s.reduce("SUM", s.run(step, args=(x, y)), axis=None)

    data = s.experimental_distribute_dataset(tf.data.Dataset.from_tensor_slices((X, Y)).batch(4))
    for _ in range(2):
        print([told(train(x, y)) for x, y in data], told(seen.result()), told(error.result()))
        seen.reset_state()
        error.reset_state()
    print(told(optimizer.iterations), [told(w) for w in model.get_weights()][-1])


@program
def subclassed_model(s):
    """A model of classes, with a layer's own variables and training flag."""
    class Scale(layers.Layer):
        def build(self, shape):
            self.w = self.add_weight(shape=(shape[-1],), initializer="ones", name="w")
            self.calls = self.add_weight(shape=(), initializer="zeros", trainable=False, name="calls", aggregation="only_first_replica")

        def call(self, x, training=False):
            if training:
                self.calls.assign_add(1.0)
            return x * self.w

    class Model(keras.Model):
        def __init__(self):
            super().__init__()
            self.scale, self.out = Scale(), layers.Dense(1, kernel_initializer="ones")

        def call(self, x, training=False):
            return self.out(self.scale(x, training=training))

    with s.scope():
        model = Model()
        model.compile("sgd", "mse", metrics=["mae"])
    print(losses(model.fit(X, Y, batch_size=4, epochs=2, shuffle=False, verbose=0)), told(model.scale.calls))
    print(told(model.predict(X[:3], verbose=0)), [told(v) for v in model.evaluate(X, Y, batch_size=4, verbose=0)])


@program
def own_train_step(s):
    """train_step of one's own, with a metric kept by the model."""
    class Model(keras.Model):
        def __init__(self, *args, **how):
            super().__init__(*args, **how)
            self.seen = keras.metrics.Mean(name="seen")

        def train_step(self, data):
            x, y = data
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(self(x, training=True) - y))
            self.optimizer.apply_gradients(zip(tape.gradient(loss, self.trainable_variables), self.trainable_variables))
            self.seen.update_state(loss)
            return {"seen": self.seen.result()}

        metrics = property(lambda self: [self.seen])

    with s.scope():
        inputs = keras.Input([4])
        model = Model(inputs, layers.Dense(1, kernel_initializer="ones")(inputs))
        model.compile(keras.optimizers.SGD(0.05))
    print(losses(model.fit(X[:8], Y[:8], batch_size=4, epochs=3, shuffle=False, verbose=0)))


@program
def callbacks(s):
    """Learning rates, early stopping, checkpoints, a log of one's own."""
    folder, said = tempfile.mkdtemp(), []
    with s.scope():
        model = mlp()
        model.compile(keras.optimizers.SGD(0.02), "mse")
    history = model.fit(
        X, Y, batch_size=4, epochs=6, shuffle=False, verbose=0, validation_data=(X, Y),
        callbacks=[
            keras.callbacks.LearningRateScheduler(lambda epoch, rate: rate * 0.5 if epoch else rate), keras.callbacks.EarlyStopping("loss", min_delta=0.01, patience=1),
            keras.callbacks.ModelCheckpoint(os.path.join(folder, "{epoch}.weights.h5"), save_weights_only=True), keras.callbacks.CSVLogger(os.path.join(folder, "log.csv")),
            keras.callbacks.LambdaCallback(on_epoch_end=lambda e, logs: said.append((e, sorted(logs))), on_train_batch_end=lambda b, logs: said.append(b)),
        ],
    )  # fmt: skip
    print(losses(history), sorted(os.listdir(folder)), said[:3], len(said))
    print(open(os.path.join(folder, "log.csv")).readline().strip())


@program
def mixed_precision(s):
    """Half precision with a scaled loss."""
    keras.mixed_precision.set_global_policy("mixed_float16")
    try:
        with s.scope():
            model = keras.Sequential([layers.Input([4]), layers.Dense(3, kernel_initializer="ones"), layers.Dense(1, kernel_initializer=keras.initializers.Constant(0.1), dtype="float32")])
            model.compile(keras.mixed_precision.LossScaleOptimizer(keras.optimizers.SGD(0.01), initial_scale=128.0), "mse")
        print(type(model.optimizer).__name__, model.layers[0].compute_dtype, model.layers[0].kernel.dtype)
        print({k: told(v, 1) for k, v in model.fit(X, Y, batch_size=4, epochs=2, shuffle=False, verbose=0).history.items()}, told(model.optimizer.dynamic_scale))
    finally:
        keras.mixed_precision.set_global_policy("float32")


@program
def compiled(s):
    """jit_compile in compile, where there is no strategy, beside the plain way."""
    for jit in (True, False):
        model = mlp()
        model.compile(keras.optimizers.SGD(0.02), "mse", jit_compile=jit)
        print(losses(model.fit(X, Y, batch_size=4, epochs=2, shuffle=False, verbose=0)))


@program
def saved_and_loaded(s):
    """.keras, weights and an exported model, saved under two replicas, loaded under none and under two."""
    folder = tempfile.mkdtemp()
    with s.scope():
        model = mlp()
        model.compile(keras.optimizers.Adam(0.01), "mse")
    model.fit(X, Y, batch_size=4, epochs=2, shuffle=False, verbose=0)
    want = told(model.predict(X[:2], verbose=0))
    model.save(os.path.join(folder, "m.keras"))
    model.save_weights(os.path.join(folder, "m.weights.h5"))
    model.export(os.path.join(folder, "served"), verbose=False)
    alone = keras.models.load_model(os.path.join(folder, "m.keras"))
    with s.scope():
        together = keras.models.load_model(os.path.join(folder, "m.keras"))
        fresh = mlp()
        fresh.load_weights(os.path.join(folder, "m.weights.h5"))
    served = tf.saved_model.load(os.path.join(folder, "served"))
    print(want, [told(m.predict(X[:2], verbose=0)) == want for m in (alone, together, fresh)], told(served.serve(tf.constant(X[:2]))) == want, told(alone.optimizer.iterations))
    print(losses(together.fit(X, Y, batch_size=4, epochs=1, shuffle=False, verbose=0)), losses(alone.fit(X[:4], Y[:4], batch_size=4, epochs=1, verbose=0)))


@program
def class_and_sample_weights(s):
    """Weights of classes and samples, several outputs and losses."""
    with s.scope():
        inputs = keras.Input([4])
        h = layers.Dense(2, kernel_initializer="ones")(inputs)
        model = keras.Model(inputs, {"a": layers.Dense(1, name="a", kernel_initializer="ones")(h), "b": layers.Dense(2, activation="softmax", name="b", kernel_initializer="ones")(h)})
        model.compile("sgd", {"a": "mse", "b": "sparse_categorical_crossentropy"}, loss_weights={"a": 0.5, "b": 2.0}, metrics={"b": ["accuracy"]})
    kinds = (np.arange(10) % 2).astype(np.int32)
    print(losses(model.fit(X, {"a": Y, "b": kinds}, sample_weight={"a": np.arange(10.0), "b": np.ones(10)}, batch_size=4, epochs=1, shuffle=False, verbose=0)))


@program
def datasets_in_fit(s):
    """A dataset, a generator and validation in fit; steps_per_epoch."""
    with s.scope():
        model = mlp()
        model.compile(keras.optimizers.SGD(0.01), "mse")
    data = tf.data.Dataset.from_tensor_slices((X, Y))
    print(losses(model.fit(data.batch(4), epochs=2, shuffle=False, verbose=0, validation_data=data.batch(6))))
    print(losses(model.fit(data.repeat().batch(4), steps_per_epoch=3, epochs=2, shuffle=False, verbose=0)))
    print(told(model.predict(data.map(lambda x, y: x).batch(4), verbose=0))[-1])


@program
def stateful_layers(s):
    """Batch normalisation, dropout of nothing, an embedding and a recurrent layer."""
    with s.scope():
        model = keras.Sequential([
            layers.Input([5], dtype="int32"), layers.Embedding(7, 4, embeddings_initializer=keras.initializers.Constant(0.1)), layers.LSTM(3, kernel_initializer="ones", recurrent_initializer="ones"),
            layers.BatchNormalization(), layers.Dropout(0.0), layers.Dense(1, kernel_initializer="ones"),
        ])  # fmt: skip
        model.compile(keras.optimizers.RMSprop(0.01), "mse")
    ids = (np.arange(50) % 7).reshape(10, 5).astype(np.int32)
    print(losses(model.fit(ids, Y, batch_size=4, epochs=2, shuffle=False, verbose=0)), told(model.predict(ids[:2], verbose=0), 2))


@program
def initialisation_by_seed(s):
    """set_random_seed gives each copy of a variable the same numbers."""
    keras.utils.set_random_seed(3)
    with s.scope():
        model = keras.Sequential([layers.Input([2]), layers.Dense(2)])
    kernel = model.layers[0].kernel.value
    print([told(c) for c in kernel.values], model.count_params(), [w.path.partition("/")[2] for w in model.weights])


@program
def one_device(s):
    """OneDeviceStrategy and the default strategy train alike."""
    for chosen in (D.OneDeviceStrategy("/cpu:1"), D.get_strategy()):
        with chosen.scope():
            model = mlp()
            model.compile(keras.optimizers.SGD(0.02), "mse")
        print(losses(model.fit(X, Y, batch_size=4, epochs=2, shuffle=False, verbose=0)), model.layers[0].kernel.value.device.rpartition("/")[2])


@program
def frozen_layers(s):
    """What is not trained stays; weights are set and read while it trains."""
    with s.scope():
        model = mlp()
        model.layers[0].trainable = False
        model.compile(keras.optimizers.SGD(0.02), "mse")
    model.fit(X, Y, batch_size=4, epochs=1, shuffle=False, verbose=0)
    print(told(model.layers[0].kernel)[0], told(model.layers[1].kernel), len(model.trainable_variables))
    model.set_weights([w * 0 + 1 for w in model.get_weights()])
    print(told(model.train_on_batch(X[:4], Y[:4])), told(model.test_on_batch(X[:4], Y[:4])), told(model.predict_on_batch(X[:1])))


for p in PROGRAMS:
    print("==", p.__name__)
    try:
        p(D.MirroredStrategy(["CPU:0", "CPU:1"], cross_device_ops=D.ReductionToOneDevice()))
    except Exception as e:
        print("!!", type(e).__name__, str(e).splitlines()[0] if str(e) else "")
    keras.backend.clear_session()
