"""tf.nn.rnn_cell: cells of recurrent nets."""

from emplace.framework.rnn_cells import (
    BasicLSTMCell, BasicRNNCell, DeviceWrapper, DropoutWrapper, GRUCell, LSTMCell, LSTMStateTuple, MultiRNNCell, ResidualWrapper, RNNCell,
)

__all__ = [
    "BasicLSTMCell", "BasicRNNCell", "DeviceWrapper", "DropoutWrapper", "GRUCell", "LSTMCell", "LSTMStateTuple", "MultiRNNCell",
    "ResidualWrapper", "RNNCell",
]
