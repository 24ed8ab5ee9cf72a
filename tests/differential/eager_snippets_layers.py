"""Eager snippets: Keras's layers and models, as far as they are there."""

import tempfile

import numpy as np
from snippet import Table

snippet = Table()


def _dense(tf, units=2, **more):
    return tf.keras.layers.Dense(units, kernel_initializer="ones", bias_initializer=tf.constant_initializer(0.5), **more)


def _scaled(tf):
    class Scaled(tf.keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.inner = _dense(tf)

        def build(self, shape):
            self.scale = self.add_weight(shape=(shape[-1],), initializer="ones", trainable=False, name="scale")

        def call(self, x, training=False):
            self.add_loss(tf.reduce_sum(x))
            return x if training else self.inner(x * self.scale)

    return Scaled()


def _refusal(call):
    try:
        return call()
    except Exception as e:  # noqa: BLE001
        return f"{type(e).__name__}: {e}"


snippet.one_liners(
    "layer",
    [
        ("dense", lambda tf: [_dense(tf)(np.array([[1, 2, 3]], np.float64)), _dense(tf, activation="relu")(-tf.ones([1, 2])), _dense(tf)(tf.ones([2, 3, 4]))]),
        ("dense_no_bias", lambda tf: _dense(tf, use_bias=False)(tf.ones([1, 2]))),
        ("flatten", lambda tf: tf.keras.layers.Flatten()(tf.ones([2, 3, 4]))),
        ("activation", lambda tf: [tf.keras.layers.Activation(a)(tf.constant([[-1.0, 2.0]])) for a in ("relu", "tanh", "softmax", "linear", tf.nn.elu)]),
        ("dropout_at_rest", lambda tf: tf.keras.layers.Dropout(0.5)(tf.ones([2, 2]))),
        ("dropout_of_all", lambda tf: tf.keras.layers.Dropout(1.0)(tf.ones([2, 2]), training=True)),
        ("lambda", lambda tf: tf.keras.layers.Lambda(lambda x, k: x * k, arguments={"k": 3})(tf.ones([2]))),
        ("input", lambda tf: [str(tf.keras.Input(**a).shape) for a in ({"shape": [10]}, {"shape": (None, 3), "batch_size": 4}, {"batch_shape": (2, 3)})]),
    ],
)


@snippet
def layer_weights(tf):
    layer = _dense(tf)
    before = [len(layer.weights), layer.built]
    layer.build([None, 3])
    wrong = [lambda: layer.set_weights([np.zeros([3, 2])]), lambda: layer.set_weights([np.zeros([3, 3]), np.zeros([2])]), lambda: _dense(tf).kernel]
    layer.set_weights([np.full([3, 2], 2.0), np.ones([2])])
    text = [_refusal(w).replace(layer.name, "dense") for w in wrong]
    return [str(before), *layer.get_weights(), *text, str([w.name for w in layer.weights]), layer.count_params(), layer.dtype]


@snippet
def layer_of_its_own(tf):
    layer = _scaled(tf)
    out = [layer(tf.ones([1, 3])), layer(tf.ones([1, 3]), training=True)]
    counts = [len(layer.weights), len(layer.trainable_weights), len(layer.non_trainable_weights)]
    layer.trainable = False
    return [*out, str(counts + [len(layer.trainable_weights)]), [float(loss) for loss in layer.losses], [w.name for w in layer.variables]]


@snippet
def layer_trained(tf):
    layer, sgd = _dense(tf, 1), tf.optimizers.SGD(0.1)
    for _ in range(3):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(layer(tf.constant([[1.0, 2.0]])) ** 2)
        sgd.apply_gradients(zip(tape.gradient(loss, layer.trainable_variables), layer.trainable_variables))
    return [*layer.get_weights(), loss]


@snippet
def layer_in_function(tf):
    model = tf.keras.Sequential([_dense(tf, 3), tf.keras.layers.Lambda(lambda x: x * 2)])
    run = tf.function(lambda x: model(x))
    return [run(tf.ones([1, 2])), run(tf.ones([2, 2])), len(model.layers), model.built, len(model.weights)]


@snippet
def model_of_symbols(tf):
    a, b = tf.keras.Input((2,)), tf.keras.Input((2,))

    class Sum(tf.keras.layers.Layer):
        def call(self, pair):
            return pair[0] + pair[1]

    both, dense = Sum()([a, b]), _dense(tf, 3)
    model = tf.keras.Model([a, b], [dense(both), dense(dense.__class__(2, kernel_initializer="ones")(both))])
    named = tf.keras.Model({"x": a, "y": b}, {"sum": both})
    shapes = [str(both.shape), both.dtype, str(model.input_shape), str(model.output_shape)]
    return [*model([tf.ones([1, 2]), tf.ones([1, 2])]), named({"x": tf.ones([1, 2]), "y": tf.zeros([1, 2])}), *shapes, len(model.weights)]


@snippet
def model_that_shrinks(tf):
    runs = []

    class Counted(tf.keras.layers.Layer):
        def call(self, x):
            runs.append(1)
            return x

    model = tf.keras.Sequential([tf.keras.Input((2,)), _dense(tf, 3), Counted(), _dense(tf, 4)])
    shapes = [str(model.output_shape)]
    model.pop()
    shapes.append(str(model.output_shape))
    model.add(_dense(tf, 5))
    return [*shapes, str(model.output_shape), len(model.layers), model(tf.ones([1, 2])), len(runs) < 12]


@snippet
def model_of_a_class(tf):
    class Net(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.blocks = [_dense(tf, 2), _dense(tf, 1)]

        def call(self, x):
            for block in self.blocks:
                x = block(x)
            return x

    net = Net()
    return [net(tf.ones([1, 3])), len(net.layers), len(net.trainable_variables)]


@snippet
def model_in_a_checkpoint(tf):
    def make():
        x = tf.keras.Input((2,))
        return tf.keras.Sequential([tf.keras.Input((2,)), _dense(tf)]), tf.keras.Model(x, _dense(tf)(x))

    with tempfile.TemporaryDirectory() as folder:
        first, second = make()
        first.set_weights([np.full([2, 2], 3.0), np.zeros([2])])
        saved = tf.train.Checkpoint(a=first, b=second).save(f"{folder}/x")
        fresh, other = make()
        tf.train.Checkpoint(a=fresh, b=other).restore(saved).expect_partial()
        return [fresh(tf.ones([1, 2])), [name for name, _ in tf.train.list_variables(saved)]]


@snippet
def recomputed_gradient(tf):
    runs, y = [], tf.Variable(2.0)

    @tf.recompute_grad
    def cube(x):
        runs.append("run")
        return x * x * y

    with tf.GradientTape() as tape:
        x = tf.constant(3.0)
        tape.watch(x)
        z = cube(x) + 1.0
    before = len(runs)
    return [z, *tape.gradient(z, [x, y]), before, len(runs)]
