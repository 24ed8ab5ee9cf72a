"""Recurrent nets. TensorFlow's cells come from tf_keras, as its layers do: hence the names."""

from typing import Any

import numpy as np
from snippet import Fed, Steps, Table

snippet = Table()
BATCH = np.linspace(-1, 1, 2 * 5 * 3).reshape(2, 5, 3).astype(np.float32)
LENGTHS = [3, 5]


def cells(tf: Any) -> dict[str, Any]:
    c = tf.nn.rnn_cell
    return {
        "basic_rnn": lambda: c.BasicRNNCell(4),
        "basic_rnn_relu": lambda: c.BasicRNNCell(4, activation=tf.nn.relu),
        "basic_lstm": lambda: c.BasicLSTMCell(4),
        "basic_lstm_forget": lambda: c.BasicLSTMCell(4, forget_bias=0.0, name="mine"),
        "lstm": lambda: c.LSTMCell(4),
        "lstm_peepholes": lambda: c.LSTMCell(4, use_peepholes=True, initializer=tf.random_uniform_initializer(-0.1, 0.1, seed=3)),
        "lstm_projected": lambda: c.LSTMCell(4, num_proj=2, cell_clip=0.5, proj_clip=0.3),
        "gru": lambda: c.GRUCell(4),
        "multi": lambda: c.MultiRNNCell([c.BasicLSTMCell(4), c.GRUCell(3)]),
        "residual": lambda: c.ResidualWrapper(c.BasicRNNCell(3)),
        "device": lambda: c.DeviceWrapper(c.BasicRNNCell(3), "/cpu:0"),
        "dropout_none": lambda: c.DropoutWrapper(c.GRUCell(4)),
    }


NAMES = (
    "basic_rnn basic_rnn_relu basic_lstm basic_lstm_forget lstm lstm_peepholes lstm_projected gru multi residual device dropout_none"
).split()


def put(name: str, build: Any) -> None:
    def seeded(tf: Any) -> Any:
        tf.set_random_seed(5)
        return build(tf)

    snippet.put(f"layer_rnn_{name}", seeded)


for _name in NAMES:
    put(f"dynamic_{_name}", lambda tf, n=_name: tf.nn.dynamic_rnn(cells(tf)[n](), tf.constant(BATCH), dtype=tf.float32))
    put(f"static_{_name}", lambda tf, n=_name: tf.nn.static_rnn(cells(tf)[n](), tf.unstack(tf.constant(BATCH), axis=1), dtype=tf.float32))


def unknown(tf: Any) -> Any:
    return tf.placeholder(tf.float32, [None, None, 3])


@snippet
def layer_rnn_unknown_sizes(tf: Any) -> Any:
    tf.set_random_seed(5)
    x = unknown(tf)
    return Fed(tf.nn.dynamic_rnn(tf.nn.rnn_cell.BasicLSTMCell(4), x, dtype=tf.float32), {x: BATCH})


@snippet
def layer_rnn_lengths(tf: Any) -> Any:
    tf.set_random_seed(5)
    x = unknown(tf)
    return Fed(tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(4), x, sequence_length=LENGTHS, dtype=tf.float32), {x: BATCH})


@snippet
def layer_rnn_time_major(tf: Any) -> Any:
    tf.set_random_seed(5)
    x = tf.constant(BATCH.transpose(1, 0, 2))
    return tf.nn.dynamic_rnn(tf.nn.rnn_cell.BasicRNNCell(4), x, LENGTHS, dtype=tf.float32, time_major=True, swap_memory=True, scope="mine")


@snippet
def layer_rnn_first_state(tf: Any) -> Any:
    tf.set_random_seed(5)
    cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.LSTMCell(4), tf.nn.rnn_cell.LSTMCell(4)])
    start = cell.zero_state(2, tf.float32)
    return tf.nn.dynamic_rnn(cell, tf.constant(BATCH), initial_state=start)


@snippet
def layer_rnn_bidirectional(tf: Any) -> Any:
    tf.set_random_seed(5)
    return tf.nn.bidirectional_dynamic_rnn(tf.nn.rnn_cell.GRUCell(4), tf.nn.rnn_cell.GRUCell(4), tf.constant(BATCH), dtype=tf.float32)


@snippet
def layer_rnn_bidirectional_lengths(tf: Any) -> Any:
    tf.set_random_seed(5)
    c = tf.nn.rnn_cell
    return tf.nn.bidirectional_dynamic_rnn(c.BasicRNNCell(4), c.BasicLSTMCell(4), tf.constant(BATCH), LENGTHS, dtype=tf.float32)


@snippet
def layer_rnn_static_bidirectional(tf: Any) -> Any:
    tf.set_random_seed(5)
    c, steps = tf.nn.rnn_cell, tf.unstack(tf.constant(BATCH), axis=1)
    return tf.nn.static_bidirectional_rnn(c.BasicRNNCell(4), c.BasicRNNCell(4), steps, dtype=tf.float32)


@snippet
def layer_rnn_static_lengths(tf: Any) -> Any:
    tf.set_random_seed(5)
    steps = tf.unstack(tf.constant(BATCH), axis=1)
    return tf.nn.static_rnn(tf.nn.rnn_cell.BasicRNNCell(4), steps, dtype=tf.float32, sequence_length=LENGTHS)


@snippet
def layer_rnn_dropout(tf: Any) -> Any:
    tf.set_random_seed(5)
    c = tf.nn.rnn_cell
    cell = c.DropoutWrapper(c.LSTMCell(4), input_keep_prob=0.8, output_keep_prob=0.5, state_keep_prob=0.7, seed=11)
    return tf.nn.dynamic_rnn(cell, tf.constant(BATCH), dtype=tf.float32, parallel_iterations=1)  # steps draw in order


@snippet
def layer_rnn_dropout_variational(tf: Any) -> Any:
    tf.set_random_seed(5)
    c = tf.nn.rnn_cell
    cell = c.DropoutWrapper(c.GRUCell(4), input_keep_prob=0.8, output_keep_prob=0.5, variational_recurrent=True, input_size=3, dtype=tf.float32, seed=11)
    return tf.nn.dynamic_rnn(cell, tf.constant(BATCH), dtype=tf.float32)


@snippet
def layer_rnn_dropout_fed(tf: Any) -> Any:
    tf.set_random_seed(5)
    keep = tf.placeholder_with_default(1.0, [])
    cell = tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.BasicLSTMCell(4), output_keep_prob=keep)
    return tf.nn.dynamic_rnn(cell, tf.constant(BATCH), dtype=tf.float32)


@snippet
def layer_rnn_cell_by_hand(tf: Any) -> Any:
    tf.set_random_seed(5)
    cell = tf.nn.rnn_cell.BasicLSTMCell(4)
    state = cell.zero_state(2, tf.float32)
    with tf.variable_scope("net"):
        for t in range(3):
            output, state = cell(tf.constant(BATCH[:, t]), state)
    return output, state, tf.convert_to_tensor([v.name for v in cell.trainable_variables])


@snippet
def layer_rnn_own_cell(tf: Any) -> Any:
    class Counter(tf.nn.rnn_cell.RNNCell):
        @property
        def state_size(self) -> Any:
            return 3

        @property
        def output_size(self) -> Any:
            return 3

        def call(self, inputs: Any, state: Any) -> Any:
            scale = tf.get_variable("scale", [3], initializer=tf.ones_initializer())
            new = state + inputs * scale
            return new * 2.0, new

    return tf.nn.dynamic_rnn(Counter(), tf.constant(BATCH), dtype=tf.float32)


@snippet
def layer_rnn_raw(tf: Any) -> Any:
    tf.set_random_seed(5)
    cell = tf.nn.rnn_cell.BasicRNNCell(4)
    inputs = tf.TensorArray(tf.float32, size=5).unstack(tf.constant(BATCH.transpose(1, 0, 2)))

    def loop(time: Any, output: Any, state: Any, own: Any) -> Any:
        state = cell.zero_state(2, tf.float32) if output is None else state
        done = time >= tf.constant(LENGTHS)
        now = tf.cond(tf.reduce_all(done), lambda: tf.zeros([2, 3]), lambda: inputs.read(time))
        return done, now, state, output, None

    outputs, state, _ = tf.nn.raw_rnn(cell, loop)
    return outputs.stack(), state


def _train(tf: Any, cell: Any, optimizer: Any) -> Any:
    tf.set_random_seed(5)
    outputs, _ = tf.nn.dynamic_rnn(cell, tf.constant(BATCH), sequence_length=LENGTHS, dtype=tf.float32)
    loss = tf.reduce_mean(tf.square(outputs - 0.3))
    step = optimizer.minimize(loss)
    return Steps([[loss, step], [loss, step], loss, tf.trainable_variables()])


for _name in ("basic_rnn", "basic_lstm", "gru", "lstm_peepholes", "multi"):
    snippet.put(f"layer_rnn_train_{_name}", lambda tf, n=_name: _train(tf, cells(tf)[n](), tf.train.GradientDescentOptimizer(0.5)), nodes=False)
