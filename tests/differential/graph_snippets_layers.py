"""tf.layers, tf.nn's layers, tf.metrics: nodes, variables and values."""

from typing import Any

import numpy as np
from snippet import Fed, Steps, Table, Told

snippet = Table()
X = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)
IMAGE = np.linspace(-1, 1, 72, dtype=np.float32).reshape(2, 6, 6, 1)


@snippet
def layer_dense(tf: Any) -> Any:
    tf.set_random_seed(1)
    return tf.layers.dense(tf.constant(X), 2)


@snippet
def layer_dense_relu_twice(tf: Any) -> Any:
    tf.set_random_seed(1)
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    hidden = tf.layers.dense(x, 3, activation=tf.nn.relu)
    return Fed(tf.layers.dense(hidden, 2, use_bias=False, name="out"), {x: X})


@snippet
def layer_dense_reused(tf: Any) -> Any:
    tf.set_random_seed(1)
    x = tf.constant(X)
    a = tf.layers.dense(x, 2, name="shared")
    b = tf.layers.dense(x, 2, name="shared", reuse=True)
    return [a, b, a - b]


@snippet
def layer_dense_initializers(tf: Any) -> Any:
    tf.set_random_seed(1)
    with tf.variable_scope("net"):
        return tf.layers.dense(
            tf.constant(X), 2, kernel_initializer=tf.truncated_normal_initializer(stddev=0.1), bias_initializer=tf.ones_initializer(),
            kernel_regularizer=lambda w: 0.1 * tf.nn.l2_loss(w),
        )


@snippet
def layer_dense_class(tf: Any) -> Any:
    tf.set_random_seed(1)
    layer = tf.layers.Dense(2, activation=tf.tanh)
    first = layer(tf.constant(X))
    second = layer.apply(tf.constant(X * 2))
    assert len(layer.trainable_variables) == 2
    return [first, second, layer.kernel, layer.bias]


@snippet
def layer_dense_rank3(tf: Any) -> Any:
    tf.set_random_seed(1)
    return tf.layers.dense(tf.constant(X.reshape(3, 2, 2)), 3)


@snippet
def layer_flatten(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [None, 2, 2], name="x")
    return Fed(tf.layers.flatten(x), {x: X.reshape(3, 2, 2)})


@snippet
def layer_conv(tf: Any) -> Any:
    tf.set_random_seed(1)
    return tf.layers.conv2d(tf.constant(IMAGE), 3, 3, padding="same", activation=tf.nn.relu)


@snippet
def layer_conv_pool_dense(tf: Any) -> Any:
    tf.set_random_seed(1)
    x = tf.layers.conv2d(tf.constant(IMAGE), 2, [3, 3], name="conv1")
    x = tf.layers.max_pooling2d(x, 2, 2, name="pool1")
    return tf.layers.dense(tf.layers.flatten(x), 2)


@snippet
def layer_average_pool(tf: Any) -> Any:
    return tf.layers.average_pooling2d(tf.constant(IMAGE), [2, 2], [1, 1], padding="same")


@snippet
def layer_dropout_off(tf: Any) -> Any:
    return tf.layers.dropout(tf.constant(X), 0.5)


@snippet
def layer_dropout_on(tf: Any) -> Any:
    return tf.layers.dropout(tf.constant(X), 0.5, training=True, seed=3)


@snippet
def layer_dropout_asked(tf: Any) -> Any:
    p = tf.placeholder(tf.bool, [], name="training")
    out = tf.layers.dropout(tf.constant(X), 0.5, training=p, seed=3)
    return Steps([Fed(out, {p: False})])


@snippet
def layer_batch_norm_frozen(tf: Any) -> Any:
    return tf.layers.batch_normalization(tf.constant(X))


@snippet
def layer_batch_norm_training(tf: Any) -> Any:
    out = tf.layers.batch_normalization(tf.constant(X), training=True)
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    return Steps([out, updates, tf.global_variables()])


@snippet
def layer_batch_norm_image(tf: Any) -> Any:
    out = tf.layers.batch_normalization(tf.constant(IMAGE), training=True, momentum=0.9)
    return Steps([out, tf.get_collection(tf.GraphKeys.UPDATE_OPS), tf.global_variables()])


@snippet
def layer_trainable_names(tf: Any) -> Any:
    x = tf.layers.dense(tf.constant(X), 3)
    x = tf.layers.batch_normalization(x, training=True)
    tf.layers.dense(x, 1)
    return Told([[v.name for v in tf.trainable_variables()], [v.name for v in tf.global_variables()]])


@snippet
def nn_dropout_seeded(tf: Any) -> Any:
    return tf.nn.dropout(tf.constant(X), keep_prob=0.5, seed=5)


@snippet
def nn_dropout_rate(tf: Any) -> Any:
    return tf.nn.dropout(tf.constant(X), rate=0.25, seed=5)


@snippet
def nn_dropout_fed(tf: Any) -> Any:
    keep = tf.placeholder(tf.float32, [], name="keep")
    return Fed(tf.nn.dropout(tf.constant(X), keep, seed=5), {keep: 0.5})


@snippet
def nn_moments_kept(tf: Any) -> Any:
    return tf.nn.moments(tf.constant(X), [0], keep_dims=True)


@snippet
def nn_weighted_cross_entropy(tf: Any) -> Any:
    return tf.nn.weighted_cross_entropy_with_logits(labels=tf.constant(np.abs(X)), logits=tf.constant(X), pos_weight=2.0)


@snippet
def nn_embedding_parts(tf: Any) -> Any:
    parts = [tf.constant(np.arange(6, dtype=np.float32).reshape(3, 2)), tf.constant(np.arange(6, 12, dtype=np.float32).reshape(3, 2))]
    ids = tf.placeholder(tf.int32, [None])
    return Fed(tf.nn.embedding_lookup(parts, ids), {ids: [0, 1, 5, 2]})


@snippet
def nn_log_poisson(tf: Any) -> Any:
    return tf.nn.log_poisson_loss(tf.constant(np.abs(X)), tf.constant(X))


INITIALIZERS = {
    "glorot_uniform": lambda tf: tf.glorot_uniform_initializer(seed=1),
    "glorot_normal": lambda tf: tf.glorot_normal_initializer(seed=1),
    "he_normal": lambda tf: tf.initializers.he_normal(seed=1),
    "he_uniform": lambda tf: tf.initializers.he_uniform(seed=1),
    "lecun_normal": lambda tf: tf.initializers.lecun_normal(seed=1),
    "lecun_uniform": lambda tf: tf.initializers.lecun_uniform(seed=1),
    "variance_scaling": lambda tf: tf.variance_scaling_initializer(2.0, "fan_avg", "uniform", seed=1),
    "orthogonal": lambda tf: tf.orthogonal_initializer(seed=1),
    "identity": lambda tf: tf.initializers.identity(gain=2.0),
    "random_uniform": lambda tf: tf.random_uniform_initializer(-1.0, 1.0, seed=1),
    "random_normal": lambda tf: tf.random_normal_initializer(stddev=0.5, seed=1),
    "truncated_normal": lambda tf: tf.truncated_normal_initializer(stddev=0.5, seed=1),
    "constant": lambda tf: tf.constant_initializer(3.0),
    "uniform_unit_scaling": lambda tf: tf.uniform_unit_scaling_initializer(seed=1),
}
for _name, _make in INITIALIZERS.items():
    snippet.put(f"initializer_{_name}", lambda tf, m=_make: tf.get_variable("v", [3, 4], initializer=m(tf)), exact=_name != "orthogonal")


@snippet
def metric_accuracy(tf: Any) -> Any:
    labels, guesses = tf.placeholder(tf.int64, [None]), tf.placeholder(tf.int64, [None])
    value, update = tf.metrics.accuracy(labels, guesses)
    return Steps([Fed(update, {labels: [1, 2, 3], guesses: [1, 2, 0]}), Fed(update, {labels: [1], guesses: [1]}), value])


@snippet
def metric_mean(tf: Any) -> Any:
    values = tf.placeholder(tf.float32, [None])
    value, update = tf.metrics.mean(values)
    return Steps([Fed(update, {values: [1.0, 2.0]}), Fed(update, {values: [6.0]}), value])
