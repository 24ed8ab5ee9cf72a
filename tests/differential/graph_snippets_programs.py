"""Graph snippets as TensorFlow 1 programs were written: shared layers, training loops, scopes that
are opened again, moving parts put together by hand."""

import numpy as np

from snippet import Fed, Steps, Table, Told

snippet = Table()
DATA = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], np.float32)
LABELS = np.array([[0.0], [1.0], [1.0], [0.0]], np.float32)


def _dense(tf, x, units, name, activation=None):
    with tf.variable_scope(name):
        w = tf.get_variable("w", [x.shape[-1], units], initializer=tf.constant_initializer(0.1))
        b = tf.get_variable("b", [units], initializer=tf.zeros_initializer())
        y = tf.matmul(x, w) + b
        return y if activation is None else activation(y)


@snippet
def program_shared_layer(tf):
    x = tf.constant(DATA)
    with tf.variable_scope("net", reuse=tf.AUTO_REUSE):
        one = _dense(tf, x, 3, "hidden", tf.nn.relu)
        two = _dense(tf, x + 1.0, 3, "hidden", tf.nn.relu)
    names = [v.name for v in tf.trainable_variables()]
    assert names == ["net/hidden/w:0", "net/hidden/b:0"]
    return one, two


@snippet
def program_reuse_by_hand(tf):
    with tf.variable_scope("a") as scope:
        v = tf.get_variable("v", [2], initializer=tf.ones_initializer())
        scope.reuse_variables()
        again = tf.get_variable("v", [2])
    with tf.variable_scope("a", reuse=True):
        third = tf.get_variable("v")
    return Told([v is again, v is third, v.name, third.op.name])


@snippet
def program_scope_opened_again(tf):
    with tf.variable_scope("layer") as scope:
        a = tf.constant(1.0, name="c")
    with tf.variable_scope(scope):
        b = tf.constant(2.0, name="c")
    with tf.variable_scope(scope, auxiliary_name_scope=False):
        c = tf.constant(3.0, name="c")
    return a, b, c


@snippet
def program_two_layers_trained(tf):
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    y = tf.placeholder(tf.float32, [None, 1], name="y")
    hidden = _dense(tf, x, 4, "hidden", tf.tanh)
    logits = _dense(tf, hidden, 1, "out")
    loss = tf.reduce_mean(tf.square(logits - y), name="loss")
    step = tf.Variable(0, trainable=False, name="global_step")
    train = tf.train.GradientDescentOptimizer(0.5).minimize(loss, global_step=step)
    fed = {x: DATA, y: LABELS}
    return Steps([Fed(train, fed), Fed(loss, fed), Fed(train, fed), Fed([loss, step], fed)])


@snippet
def program_global_step(tf):
    step = tf.train.get_or_create_global_step()
    rate = tf.train.exponential_decay(0.1, step, 2, 0.5, staircase=True)
    return Steps([rate, tf.assign_add(step, 2), rate])


@snippet(cpus=2)
def program_towers(tf):
    x = tf.constant(DATA)
    losses = []
    for i, part in enumerate(tf.split(x, 2)):
        with tf.device(f"/cpu:{i}"), tf.name_scope(f"tower_{i}"):
            with tf.variable_scope("model", reuse=i > 0):
                losses.append(tf.reduce_sum(_dense(tf, part, 2, "d")))
    with tf.device("/cpu:0"):
        return tf.add_n(losses) / 2.0


@snippet
def program_accuracy(tf):
    logits = tf.constant([[1.0, 2.0], [3.0, 0.0], [0.0, 4.0]])
    labels = tf.constant([1, 0, 0], tf.int64)
    right = tf.equal(tf.argmax(logits, 1), labels)
    return tf.reduce_mean(tf.cast(right, tf.float32), name="accuracy")


@snippet
def program_softmax_regression(tf):
    x = tf.placeholder(tf.float32, [None, 2])
    w = tf.Variable(tf.zeros([2, 3]), name="w")
    b = tf.Variable(tf.zeros([3]), name="b")
    y = tf.nn.softmax(tf.matmul(x, w) + b)
    return Fed(y, {x: DATA})


@snippet(nodes=False)  # TensorFlow makes the loss three times over
def program_regularised(tf):
    w = tf.get_variable(
        "w", [2, 2], initializer=tf.ones_initializer(), regularizer=lambda v: 0.5 * tf.reduce_sum(v * v)
    )
    losses = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    return tf.add_n(losses) + tf.reduce_sum(w)


@snippet
def program_update_ops(tf):
    mean = tf.Variable(0.0, trainable=False, name="mean")
    tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, mean.assign(mean * 0.9 + 0.1))
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train = tf.identity(tf.constant(1.0), name="train")
    return Steps([train, train, mean])


@snippet
def program_clipped_gradients(tf):
    v = tf.Variable([3.0, 4.0], name="v")
    loss = tf.reduce_sum(v * v)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    pairs = optimizer.compute_gradients(loss)
    clipped = [(tf.clip_by_value(g, -1.0, 1.0), variable) for g, variable in pairs]
    return Steps([optimizer.apply_gradients(clipped), v])


@snippet
def program_embedding(tf):
    table = tf.get_variable("table", initializer=np.arange(12, dtype=np.float32).reshape(4, 3))
    ids = tf.placeholder(tf.int32, [None], name="ids")
    return Fed(tf.reduce_sum(tf.nn.embedding_lookup(table, ids), axis=1), {ids: [3, 0, 3]})


@snippet
def program_masked_mean(tf):
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    mask = tf.cast(x > 1.0, tf.float32)
    mean = tf.reduce_sum(x * mask) / tf.maximum(tf.reduce_sum(mask), 1.0)
    return Fed(mean, {x: [[0.0, 2.0, 4.0], [1.0, 0.5, 6.0]]})


@snippet
def program_batch_statistics(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 6.0]])
    mean, variance = tf.nn.moments(x, [0])
    return (x - mean) / tf.sqrt(variance + 1e-3)


@snippet
def program_summing_in_place(tf):
    total = tf.get_variable("total", [], tf.int32, tf.zeros_initializer(), trainable=False)
    add = tf.assign_add(total, 5)
    with tf.control_dependencies([add]):
        value = total.read_value()
    return Steps([value, value, total])


@snippet
def program_one_hot_loss(tf):
    labels = tf.constant([0, 2])
    logits = tf.constant([[2.0, 1.0, 0.0], [0.0, 1.0, 2.0]])
    one_hot = tf.one_hot(labels, 3)
    return -tf.reduce_sum(one_hot * tf.nn.log_softmax(logits)) / 2.0


@snippet
def program_reshaped_batch(tf):
    images = tf.placeholder(tf.float32, [None, 2, 2], name="images")
    flat = tf.reshape(images, [-1, 4])
    return Fed([flat, tf.shape(flat)], {images: np.arange(8.0).reshape(2, 2, 2)})


@snippet
def program_names_of_collections(tf):
    tf.get_variable("a", [1])
    tf.get_variable("b", [1], trainable=False)
    tf.get_variable("c", [1], collections=[tf.GraphKeys.LOCAL_VARIABLES])
    tf.add_to_collection("mine", 1)
    return Told(
        {
            "global": [v.name for v in tf.global_variables()],
            "trainable": [v.name for v in tf.trainable_variables()],
            "local": [v.name for v in tf.local_variables()],
            "keys": sorted(k for k in tf.get_default_graph().get_all_collection_keys()),
        }
    )


@snippet
def refused_variable_twice(tf):
    tf.get_variable("twice", [1])
    tf.get_variable("twice", [1])


@snippet
def refused_reuse_of_nothing(tf):
    with tf.variable_scope("empty", reuse=True):
        tf.get_variable("missing", [1])


@snippet
def refused_reuse_of_another_shape(tf):
    with tf.variable_scope("s", reuse=tf.AUTO_REUSE):
        tf.get_variable("v", [1])
        tf.get_variable("v", [2])
