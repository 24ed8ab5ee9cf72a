"""Training programs: optimizers, their slots and updates; variables held as resources; averages,
decays, losses and layers."""

from typing import Any

import numpy as np
from snippet import Fed, Steps, Table, Told

snippet = Table()

OPTIMIZERS = {
    "sgd": lambda tf: tf.train.GradientDescentOptimizer(0.1),
    "sgd_named": lambda tf: tf.train.GradientDescentOptimizer(tf.constant(0.1), use_locking=True, name="Descent"),
    "momentum": lambda tf: tf.train.MomentumOptimizer(0.1, 0.9),
    "nesterov": lambda tf: tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    "adam": lambda tf: tf.train.AdamOptimizer(0.1),
    "adagrad": lambda tf: tf.train.AdagradOptimizer(0.1),
    "rmsprop": lambda tf: tf.train.RMSPropOptimizer(0.1, momentum=0.5),
    "rmsprop_centered": lambda tf: tf.train.RMSPropOptimizer(0.1, centered=True),
    "ftrl": lambda tf: tf.train.FtrlOptimizer(0.1),
    "ftrl_regularized": lambda tf: tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.01, l2_regularization_strength=0.02),
    "adadelta": lambda tf: tf.train.AdadeltaOptimizer(1.0),
    "proximal_sgd": lambda tf: tf.train.ProximalGradientDescentOptimizer(0.1, 0.01, 0.01),
    "proximal_adagrad": lambda tf: tf.train.ProximalAdagradOptimizer(0.1, l1_regularization_strength=0.01),
    "adagrad_da": lambda tf: tf.train.AdagradDAOptimizer(0.1, tf.train.get_or_create_global_step()),
}
X = np.array([[1.0, 2.0], [3.0, -1.0], [0.5, 0.25]], np.float32)


def dense(tf: Any, make: Any, use_resource: bool) -> Any:
    with tf.variable_scope("model", use_resource=use_resource):
        w = tf.get_variable("w", initializer=np.array([[0.5], [-0.3]], np.float32))
        b = tf.get_variable("b", initializer=np.zeros([1], np.float32))
    loss = tf.reduce_mean(tf.square(tf.matmul(tf.constant(X), w) + b - 1.0))
    optimizer = make(tf)
    train = optimizer.minimize(loss, global_step=tf.train.get_or_create_global_step())
    return Steps([train, train, train, [w, b, loss, *optimizer.variables()]])


def sparse(tf: Any, make: Any, use_resource: bool) -> Any:
    with tf.variable_scope("model", use_resource=use_resource):
        table = tf.get_variable("table", initializer=np.arange(12, dtype=np.float32).reshape(4, 3) / 10)
    ids = tf.placeholder(tf.int32, [None])
    rows = tf.nn.embedding_lookup(table, ids)
    loss = tf.reduce_sum(tf.square(rows - 0.5))
    optimizer = make(tf)
    train = optimizer.minimize(loss)
    return Steps([Fed(train, {ids: [1, 3, 1]}), Fed(train, {ids: [3, 0]}), [table, *optimizer.variables()]])


for _name, _make in OPTIMIZERS.items():
    snippet.put(f"train_{_name}", lambda tf, m=_make: dense(tf, m, False))
    snippet.put(f"train_resource_{_name}", lambda tf, m=_make: dense(tf, m, True))
    snippet.put(f"train_sparse_{_name}", lambda tf, m=_make: sparse(tf, m, False))
    snippet.put(f"train_sparse_resource_{_name}", lambda tf, m=_make: sparse(tf, m, True))


# ---- What minimize, compute_gradients and apply_gradients take.


def model(tf: Any) -> Any:
    w = tf.Variable([[0.5], [-0.3]], name="w")
    b = tf.Variable([0.1], name="b")
    return w, b, tf.reduce_mean(tf.square(tf.matmul(tf.constant(X), w) + b), name="loss")


@snippet
def train_slots_and_names(tf: Any) -> Any:
    w, b, loss = model(tf)
    optimizer = tf.train.AdamOptimizer(0.1)
    optimizer.minimize(loss)
    slots = [optimizer.get_slot(v, s).name for v in (w, b) for s in optimizer.get_slot_names()]
    return Told([optimizer.get_name(), optimizer.get_slot_names(), slots, [v.name for v in optimizer.variables()]])


for _gate in ("GATE_NONE", "GATE_OP", "GATE_GRAPH"):

    def _gated(tf: Any, gate: str = _gate) -> Any:
        w, b, loss = model(tf)
        optimizer = tf.train.MomentumOptimizer(0.1, 0.5)
        train = optimizer.minimize(loss, gate_gradients=getattr(tf.train.Optimizer, gate))
        return Steps([train, [w, b]])

    snippet.put(f"train_{_gate.lower()}", _gated)


@snippet
def train_colocated(tf: Any) -> Any:
    with tf.device("/cpu:0"):
        w, b, loss = model(tf)
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, colocate_gradients_with_ops=True)
    return Steps([train, [w, b]])


@snippet
def train_clipped(tf: Any) -> Any:
    w, b, loss = model(tf)
    optimizer = tf.train.AdagradOptimizer(0.1)
    pairs = optimizer.compute_gradients(loss, var_list=[w, b])
    clipped, _ = tf.clip_by_global_norm([g for g, _ in pairs], 0.5)
    train = optimizer.apply_gradients(zip(clipped, [v for _, v in pairs]), name="training")
    return Steps([train, [w, b]])


@snippet
def train_twice_over_two_losses(tf: Any) -> Any:
    w, b, loss = model(tf)
    first = tf.train.AdamOptimizer(0.1).minimize(loss)
    second = tf.train.AdamOptimizer(0.1).minimize(loss * 2.0, var_list=[b])
    return Steps([first, second, [w, b]])


@snippet
def train_rate_decays(tf: Any) -> Any:
    w, b, loss = model(tf)
    step = tf.train.get_or_create_global_step()
    rate = tf.train.exponential_decay(0.5, step, 2, 0.5, staircase=True)
    train = tf.train.GradientDescentOptimizer(rate).minimize(loss, global_step=step)
    return Steps([train, train, train, [w, b, rate, step]])


@snippet
def train_rate_fed(tf: Any) -> Any:
    w, _, loss = model(tf)
    rate = tf.placeholder(tf.float32, [])
    train = tf.train.MomentumOptimizer(rate, 0.9).minimize(loss)
    return Steps([Fed(train, {rate: 0.1}), Fed(train, {rate: 0.01}), w])


@snippet
def train_with_grad_loss(tf: Any) -> Any:
    w, b, loss = model(tf)
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, grad_loss=tf.constant(2.0))
    return Steps([train, [w, b]])


@snippet
def train_under_a_scope(tf: Any) -> Any:
    with tf.name_scope("outer"):
        w, b, loss = model(tf)
        train = tf.train.AdamOptimizer(0.1).minimize(loss)
    return Steps([train, [w, b]])


@snippet
def train_mixed_sparse_and_dense(tf: Any) -> Any:
    table = tf.get_variable("table", initializer=np.arange(12, dtype=np.float32).reshape(4, 3) / 10)
    loss = tf.reduce_sum(tf.square(tf.gather(table, [1, 2]))) + tf.reduce_sum(table)
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    return Steps([train, table])


@snippet
def train_two_lookups(tf: Any) -> Any:
    table = tf.get_variable("table", initializer=np.arange(12, dtype=np.float32).reshape(4, 3) / 10)
    first, second = tf.nn.embedding_lookup(table, [1, 2]), tf.nn.embedding_lookup(table, [2, 0])
    train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(first * second))
    return Steps([train, table])


@snippet
def refused_optimizer_without_gradients(tf: Any) -> Any:
    w = tf.Variable([1.0], name="w")
    return tf.train.GradientDescentOptimizer(0.1).minimize(tf.constant(1.0), var_list=[w])


@snippet
def refused_optimizer_without_variables(tf: Any) -> Any:
    return tf.train.GradientDescentOptimizer(0.1).minimize(tf.constant(1.0))


@snippet
def refused_apply_nothing(tf: Any) -> Any:
    return tf.train.GradientDescentOptimizer(0.1).apply_gradients([])


# ---- Variables held as resources.


@snippet
def resource_variable_nodes(tf: Any) -> Any:
    v = tf.get_variable("v", [2, 2], use_resource=True, initializer=tf.ones_initializer())
    w = tf.Variable([1.0, 2.0], use_resource=True, name="w")
    update = v.assign_add([[1.0, 1.0], [2.0, 2.0]])
    with tf.control_dependencies([update]):
        after = v.read_value()
    return Steps([update, after, [v, w, v * w]])


@snippet
def resource_variable_assign(tf: Any) -> Any:
    v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=True)
    return Steps([v.assign([3.0, 4.0]), v.assign_sub([1.0, 1.0]), tf.assign_add(v, [5.0, 5.0]), v])


@snippet
def resource_variable_sparse(tf: Any) -> Any:
    v = tf.get_variable("v", initializer=[1.0, 2.0, 3.0], use_resource=True)
    return Steps([tf.gather(v, [2, 0]), v.scatter_add(tf.IndexedSlices([5.0], [1])), v.is_initialized()])


@snippet
def resource_variable_facts(tf: Any) -> Any:
    v = tf.get_variable("v", [2], use_resource=True)
    return Told([v.name, v.op.type, v.dtype.name, str(v.shape), v.op.name, v.initializer.name, v.trainable])


@snippet
def resource_variable_initializers(tf: Any) -> Any:
    tf.get_variable("v", [2], use_resource=True, initializer=tf.zeros_initializer())
    tf.Variable(1.0, use_resource=True, trainable=False)
    tf.global_variables_initializer()
    return tf.report_uninitialized_variables()


# ---- Averages, decays.


@snippet
def average_of_variables(tf: Any) -> Any:
    v = tf.Variable([1.0, 2.0], name="v")
    average = tf.train.ExponentialMovingAverage(0.9)
    kept = average.apply([v])
    with tf.control_dependencies([v.assign([3.0, 5.0])]):
        later = tf.identity(1.0)
    shadow = average.average(v)
    return Steps([kept, shadow, later, kept, [shadow]])


@snippet
def average_of_tensors(tf: Any) -> Any:
    v = tf.Variable(2.0, name="v")
    t = tf.multiply(v, 3.0, name="t")
    average = tf.train.ExponentialMovingAverage(0.5, zero_debias=True)
    kept = average.apply([t])
    return Steps([kept, kept, average.average(t)])


@snippet
def average_with_steps(tf: Any) -> Any:
    v = tf.Variable(2.0, name="v")
    average = tf.train.ExponentialMovingAverage(0.99, num_updates=tf.constant(3))
    kept = average.apply()
    return Steps([v.assign(5.0), kept, average.average(v), Told(average.average_name(v)), Told(sorted(average.variables_to_restore()))])


DECAYS = {
    "exponential": lambda tf, s: tf.train.exponential_decay(0.1, s, 5, 0.9),
    "natural_exp": lambda tf, s: tf.train.natural_exp_decay(0.1, s, 5, 0.9, staircase=True),
    "inverse_time": lambda tf, s: tf.train.inverse_time_decay(0.1, s, 5, 0.9),
    "polynomial": lambda tf, s: tf.train.polynomial_decay(0.1, s, 5, 0.01, power=2.0),
    "polynomial_cycle": lambda tf, s: tf.train.polynomial_decay(0.1, s, 5, 0.01, cycle=True),
    "piecewise": lambda tf, s: tf.train.piecewise_constant(s, [2, 6], [1.0, 0.5, 0.1]),
    "cosine": lambda tf, s: tf.train.cosine_decay(0.1, s, 10, alpha=0.1),
    "cosine_restarts": lambda tf, s: tf.train.cosine_decay_restarts(0.1, s, 3),
    "linear_cosine": lambda tf, s: tf.train.linear_cosine_decay(0.1, s, 10),
}
for _name, _decay in DECAYS.items():
    snippet.put(f"decay_{_name}", lambda tf, f=_decay: f(tf, tf.Variable(7, name="step", trainable=False)))


# ---- Losses, layers.

LOSSES = {
    "mean_squared": lambda tf, p, y: tf.losses.mean_squared_error(y, p),
    "mean_squared_weighted": lambda tf, p, y: tf.losses.mean_squared_error(y, p, weights=[[1.0], [0.5], [0.0]]),
    "absolute_sum": lambda tf, p, y: tf.losses.absolute_difference(y, p, reduction=tf.losses.Reduction.SUM),
    "absolute_none": lambda tf, p, y: tf.losses.absolute_difference(y, p, reduction=tf.losses.Reduction.NONE),
    "absolute_mean": lambda tf, p, y: tf.losses.absolute_difference(y, p, reduction=tf.losses.Reduction.MEAN),
    "huber": lambda tf, p, y: tf.losses.huber_loss(y, p),
    "hinge": lambda tf, p, y: tf.losses.hinge_loss(tf.constant([[1.0, 0.0]] * 3), p),
    "log": lambda tf, p, y: tf.losses.log_loss(y, tf.sigmoid(p)),
    "cosine": lambda tf, p, y: tf.losses.cosine_distance(y, p, axis=1),
    "sigmoid": lambda tf, p, y: tf.losses.sigmoid_cross_entropy(tf.constant([[1.0, 0.0]] * 3), p),
    "softmax": lambda tf, p, y: tf.losses.softmax_cross_entropy(tf.constant([[1.0, 0.0]] * 3), p, label_smoothing=0.1),
    "sparse_softmax": lambda tf, p, y: tf.losses.sparse_softmax_cross_entropy(tf.constant([0, 1, 1]), p),
}
for _name, _loss in LOSSES.items():
    snippet.put(f"loss_{_name}", lambda tf, f=_loss: f(tf, tf.constant(X), tf.constant(np.abs(X[::-1]) / 4)))


@snippet
def losses_collected(tf: Any) -> Any:
    tf.losses.mean_squared_error(tf.constant([1.0]), tf.constant([3.0]))
    tf.losses.absolute_difference(tf.constant([1.0]), tf.constant([3.0]))
    tf.get_variable("w", [2], initializer=tf.ones_initializer(), regularizer=lambda v: 0.1 * tf.reduce_sum(v))
    return tf.losses.get_total_loss()


# ---- Summaries.


@snippet
def summary_of_a_number(tf: Any) -> Any:
    return tf.summary.scalar("loss", tf.constant(2.5))


@snippet
def summary_of_values(tf: Any) -> Any:
    return tf.summary.histogram("weights", tf.constant(X))


@snippet
def summaries_merged(tf: Any) -> Any:
    with tf.name_scope("model"):
        tf.summary.scalar("loss", tf.constant(2.5))
        tf.summary.histogram("all weights", tf.constant([1.0, -1.0, 0.0, 1e-3]))
    return tf.summary.merge_all()


@snippet
def run_fails_summary_nan(tf: Any) -> Any:
    return tf.summary.histogram("weights", tf.log(tf.constant(-1.0)))


# ---- Input by queues.


@snippet
def queue_batches(tf: Any) -> Any:
    rows = tf.train.slice_input_producer([np.arange(4), X[:1].repeat(4, 0)], shuffle=False, num_epochs=1)
    tf.train.batch(rows, 2)
    return Told([q.name for q in tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)])
