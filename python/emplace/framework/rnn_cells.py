"""tf.nn.rnn_cell: one step of a recurrent net, as layers."""

from __future__ import annotations

import collections
import hashlib
from typing import Any

from emplace.eager import nest
from emplace.framework import array_ops, clip_ops, constant_op, dtypes, index_values, init_ops, layers, math_ops, nn_ops, ops, tensor_shape, variable_scope
from emplace.framework.dispatch import execute as _op

PUBLIC = (
    "RNNCell", "BasicRNNCell", "GRUCell", "BasicLSTMCell", "LSTMCell", "LSTMStateTuple", "MultiRNNCell", "DropoutWrapper", "ResidualWrapper",
    "DeviceWrapper",
)


class LSTMStateTuple(collections.namedtuple("LSTMStateTuple", ("c", "h"))):
    """What an LSTM keeps from step to step."""

    __slots__ = ()

    @property
    def dtype(self) -> Any:
        if self.c.dtype != self.h.dtype:
            raise TypeError(f"Inconsistent internal state: {self.c.dtype} vs {self.h.dtype}")
        return self.c.dtype




def sizes(prefix: Any, suffix: Any) -> Any:
    """The shape [*prefix, *suffix] as a tensor."""
    return array_ops.concat([_vector(prefix), _vector(suffix)], 0)


def _vector(size: Any) -> Any:
    if isinstance(size, ops.Tensor):
        return array_ops.expand_dims(size, 0) if size.shape.rank == 0 else size
    dims = size.as_list() if isinstance(size, tensor_shape.TensorShape) else list(size) if isinstance(size, (list, tuple)) else [size]
    return index_values.tensor(dims, "Const")


def known_sizes(prefix: Any, suffix: Any) -> list[Any]:
    """The same as numbers, None for what is not known. TensorFlow leaves its nodes behind."""
    found: list[Any] = []
    for part in (prefix, suffix):
        if isinstance(part, ops.Tensor):
            _vector(part)
            found.append(None)
            continue
        dims = tensor_shape.as_shape(part if isinstance(part, (list, tuple, tensor_shape.TensorShape)) else [part]).as_list()
        if None not in dims:
            _vector(dims)
        found += dims
    return found


def _zeros(size: Any, batch: Any, dtype: Any) -> Any:
    made = array_ops.zeros(sizes(batch, size), dtype=dtype)
    made.set_shape(known_sizes(batch, size))
    return made


def _map_sizes(function: Any, structure: Any) -> Any:
    """Over the sizes of states: numbers and shapes are leaves."""
    return nest.pack_sequence_as(structure, [function(s) for s in nest.flatten(structure)])


class RNNCell(layers.Layer):
    """A step: `output, new_state = cell(input, state)`. A subclass has `call`, `state_size`, `output_size`."""

    _base = "rnn_cell"

    def __init__(self, trainable: bool = True, name: str | None = None, dtype: Any = None, **how: Any) -> None:
        super().__init__(trainable, name, dtype, **how)
        if type(self)._base == RNNCell._base and type(self) is not RNNCell:
            self._base = layers.snake_case(type(self).__name__)

    @property
    def state_size(self) -> Any:
        raise NotImplementedError("Abstract method")

    @property
    def output_size(self) -> Any:
        raise NotImplementedError("Abstract method")

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        """Variables that `call` makes are found by name; TensorFlow opens the scope around them anew."""
        if scope is None:
            with variable_scope.variable_scope(variable_scope.get_variable_scope()):
                return self._step(inputs, state)
        with variable_scope.variable_scope(scope) as entered:
            if not self.built:
                self._scope = entered
            return self._step(inputs, state)

    def _step(self, inputs: Any, state: Any) -> Any:
        self._ensure_scope()
        with self._entered():
            if not self.built:
                first = nest.flatten(inputs)[0]
                self._dtype = self._dtype or first.dtype.base_dtype
                self.build(first.shape)
                self.built = True
            return self.call(inputs, state)

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        """One step: (output, new state) from inputs and the state before. Cells override it; call the cell itself."""
        raise NotImplementedError

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """A state of zeros for a batch, in the structure of `state_size`."""
        with ops.name_scope(type(self).__name__ + "ZeroState"):
            return _map_sizes(lambda s: _zeros(s, batch_size, dtypes.as_dtype(dtype)), self.state_size)

    def get_initial_state(self, inputs: Any = None, batch_size: Any = None, dtype: Any = None) -> Any:
        """The state to begin with: zeros, their batch size and dtype taken from the inputs if these are given."""
        if inputs is not None:
            inputs = ops.convert_to_tensor(inputs, name="inputs")
            batch_size = inputs.shape.as_list()[0] or array_ops.shape(inputs)[0]
            dtype = inputs.dtype
        if batch_size is None or dtype is None:
            raise ValueError(f"batch_size and dtype cannot be None while constructing initial state: batch_size={batch_size}, dtype={dtype}")
        return self.zero_state(batch_size, dtype)


def _depth(shape: Any) -> int:
    depth = None if shape.rank is None else shape.as_list()[-1]
    if depth is None:
        raise ValueError(f"Expected inputs.shape[-1] to be known, received shape: {shape}")
    return depth


def _affine(parts: list[Any], kernel: Any, bias: Any) -> Any:
    return nn_ops.bias_add(math_ops.matmul(array_ops.concat(parts, 1), kernel), bias)


def _activation(given: Any) -> Any:
    if isinstance(given, str):
        return {"tanh": _tanh, "sigmoid": math_ops.sigmoid, "relu": _relu, "linear": array_ops.identity}[given]
    return given or _tanh


def _tanh(x: Any) -> Any:
    return _op("Tanh", [x], {})


def _relu(x: Any) -> Any:
    return _op("Relu", [x], {})


class _LayerCell(RNNCell):
    """A cell that makes its variables in `build`, as layers do."""

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        if scope is not None and not self.built:
            self._scope = scope
        return self._step(inputs, state)


class _Units(_LayerCell):
    """Cells whose state and output are so many units."""

    def __init__(self, num_units: int, activation: Any = None, reuse: Any = None, name: str | None = None, dtype: Any = None, **how: Any) -> None:
        super().__init__(name=name, dtype=dtype, _reuse=reuse, **how)
        self._num_units, self._activation = num_units, _activation(activation)

    @property
    def state_size(self) -> Any:
        return self._num_units

    @property
    def output_size(self) -> Any:
        return self._num_units


class BasicRNNCell(_Units):
    """output = new state = activation(W [input, state] + B)."""

    _base = "basic_rnn_cell"

    def build(self, input_shape: Any) -> None:
        self._kernel = self.add_variable("kernel", [_depth(input_shape) + self._num_units, self._num_units])
        self._bias = self.add_variable("bias", [self._num_units], initializer=init_ops.Zeros())

    def call(self, inputs: Any, state: Any) -> Any:
        output = self._activation(_affine([inputs, state], self._kernel, self._bias))
        return output, output


class GRUCell(_Units):
    """A gated recurrent unit: a reset and an update gate, one state."""

    _base = "gru_cell"

    def __init__(
        self, num_units: int, activation: Any = None, reuse: Any = None, kernel_initializer: Any = None, bias_initializer: Any = None,
        name: str | None = None, dtype: Any = None, **how: Any,
    ) -> None:
        super().__init__(num_units, activation, reuse, name, dtype, **how)
        self._initializers = kernel_initializer, bias_initializer

    def build(self, input_shape: Any) -> None:
        depth, units = _depth(input_shape) + self._num_units, self._num_units
        kernel, bias = self._initializers
        self._gates = (
            self.add_variable("gates/kernel", [depth, 2 * units], initializer=kernel),
            self.add_variable("gates/bias", [2 * units], initializer=bias or init_ops.Constant(1.0, dtype=self._dtype)),
        )
        self._candidate = (
            self.add_variable("candidate/kernel", [depth, units], initializer=kernel),
            self.add_variable("candidate/bias", [units], initializer=bias or init_ops.Zeros(dtype=self._dtype)),
        )

    def call(self, inputs: Any, state: Any) -> Any:
        both = math_ops.sigmoid(_affine([inputs, state], *self._gates))
        reset, update = array_ops.split(both, 2, axis=1)
        candidate = self._activation(_affine([inputs, reset * state], *self._candidate))
        new = update * state + (1 - update) * candidate
        return new, new


class BasicLSTMCell(_Units):
    """A long short-term memory without peepholes, clipping or projection; `forget_bias` is added to its gate."""

    _base = "basic_lstm_cell"

    def __init__(
        self, num_units: int, forget_bias: float = 1.0, state_is_tuple: bool = True, activation: Any = None, reuse: Any = None,
        name: str | None = None, dtype: Any = None, **how: Any,
    ) -> None:
        super().__init__(num_units, activation, reuse, name, dtype, **how)
        self._forget_bias, self._state_is_tuple = forget_bias, state_is_tuple

    @property
    def state_size(self) -> Any:
        return LSTMStateTuple(self._num_units, self._num_units) if self._state_is_tuple else 2 * self._num_units

    def build(self, input_shape: Any) -> None:
        self._kernel = self.add_variable("kernel", [_depth(input_shape) + self._num_units, 4 * self._num_units])
        self._bias = self.add_variable("bias", [4 * self._num_units], initializer=init_ops.Zeros(dtype=self._dtype))

    def call(self, inputs: Any, state: Any) -> Any:
        one = constant_op.constant(1, dtype=dtypes.int32)
        c, h = state if self._state_is_tuple else array_ops.split(state, 2, axis=one)
        enter, new, forget, leave = array_ops.split(_affine([inputs, h], self._kernel, self._bias), 4, axis=one)
        bias = constant_op.constant(self._forget_bias, dtype=forget.dtype)
        kept = math_ops.multiply(c, math_ops.sigmoid(math_ops.add(forget, bias)))
        c = math_ops.add(kept, math_ops.multiply(math_ops.sigmoid(enter), self._activation(new)))
        h = math_ops.multiply(self._activation(c), math_ops.sigmoid(leave))
        return h, LSTMStateTuple(c, h) if self._state_is_tuple else array_ops.concat([c, h], 1)


class LSTMCell(_LayerCell):
    """With peepholes, clipping and a projection, if wanted."""

    _base = "lstm_cell"

    def __init__(
        self, num_units: int, use_peepholes: bool = False, cell_clip: Any = None, initializer: Any = None, num_proj: int | None = None,
        proj_clip: Any = None, num_unit_shards: Any = None, num_proj_shards: Any = None, forget_bias: float = 1.0, state_is_tuple: bool = True,
        activation: Any = None, reuse: Any = None, name: str | None = None, dtype: Any = None, **how: Any,
    ) -> None:
        super().__init__(name=name, dtype=dtype, _reuse=reuse, **how)
        if num_unit_shards is not None or num_proj_shards is not None:
            raise NotImplementedError("LSTMCell: num_unit_shards and num_proj_shards are not supported")
        self._num_units, self._peepholes, self._cell_clip, self._initializer = num_units, use_peepholes, cell_clip, initializer
        self._num_proj, self._proj_clip, self._forget_bias, self._state_is_tuple = num_proj, proj_clip, forget_bias, state_is_tuple
        self._activation = _activation(activation)

    @property
    def output_size(self) -> Any:
        return self._num_proj or self._num_units

    @property
    def state_size(self) -> Any:
        both = LSTMStateTuple(self._num_units, self.output_size)
        return both if self._state_is_tuple else sum(both)

    def build(self, input_shape: Any) -> None:
        units, start = self._num_units, self._initializer
        self._kernel = self.add_variable("kernel", [_depth(input_shape) + self.output_size, 4 * units], initializer=start)
        self._bias = self.add_variable("bias", [4 * units], initializer=init_ops.Zeros(dtype=self._dtype or dtypes.float32))
        if self._peepholes:
            self._w_f, self._w_i, self._w_o = (self.add_variable(f"w_{g}_diag", [units], initializer=start) for g in "fio")
        if self._num_proj is not None:
            self._projection = self.add_variable("projection/kernel", [units, self._num_proj], initializer=start)

    def call(self, inputs: Any, state: Any) -> Any:
        if self._state_is_tuple:
            c, h = state
        else:
            c = array_ops.slice(state, [0, 0], [-1, self._num_units])
            h = array_ops.slice(state, [0, self._num_units], [-1, self.output_size])
        enter, new, forget, leave = array_ops.split(_affine([inputs, h], self._kernel, self._bias), 4, axis=1)
        if self._peepholes:
            c = math_ops.sigmoid(forget + self._forget_bias + self._w_f * c) * c + math_ops.sigmoid(enter + self._w_i * c) * self._activation(new)
        else:
            c = math_ops.sigmoid(forget + self._forget_bias) * c + math_ops.sigmoid(enter) * self._activation(new)
        if self._cell_clip is not None:
            c = clip_ops.clip_by_value(c, -self._cell_clip, self._cell_clip)
        h = math_ops.sigmoid(leave + self._w_o * c if self._peepholes else leave) * self._activation(c)
        if self._num_proj is not None:
            h = math_ops.matmul(h, self._projection)
            if self._proj_clip is not None:
                h = clip_ops.clip_by_value(h, -self._proj_clip, self._proj_clip)
        return h, LSTMStateTuple(c, h) if self._state_is_tuple else array_ops.concat([c, h], 1)


class MultiRNNCell(RNNCell):
    """One cell after the other; the state is a tuple of theirs."""

    _base = "multi_rnn_cell"

    def __init__(self, cells: Any, state_is_tuple: bool = True) -> None:
        super().__init__()
        if not cells:
            raise ValueError("Must specify at least one cell for MultiRNNCell.")
        if not nest.is_nested(cells):
            raise TypeError(f"cells must be a list or tuple, but received: {cells}.")
        if not state_is_tuple and any(nest.is_nested(c.state_size) for c in cells):
            raise ValueError("Some cells return tuples of states, but the flag state_is_tuple is not set. State sizes are: " + str([c.state_size for c in cells]))
        self._cells, self._state_is_tuple = list(cells), state_is_tuple

    @property
    def state_size(self) -> Any:
        found = tuple(c.state_size for c in self._cells)
        return found if self._state_is_tuple else sum(found)

    @property
    def output_size(self) -> Any:
        return self._cells[-1].output_size

    @property
    def variables(self) -> list[Any]:
        return [v for c in self._cells for v in c.variables]

    weights = variables

    @property
    def trainable_variables(self) -> list[Any]:
        return [v for c in self._cells for v in c.trainable_variables]

    trainable_weights = trainable_variables

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        with ops.name_scope(type(self).__name__ + "ZeroState"):
            if self._state_is_tuple:
                return tuple(c.zero_state(batch_size, dtype) for c in self._cells)
            return _zeros(self.state_size, batch_size, dtypes.as_dtype(dtype))

    def call(self, inputs: Any, state: Any) -> Any:
        new: list[Any] = []
        at = 0
        for i, cell in enumerate(self._cells):
            with variable_scope.variable_scope(f"cell_{i}"):
                if self._state_is_tuple:
                    own = state[i]
                else:
                    own = array_ops.slice(state, [0, at], [-1, cell.state_size])
                    at += cell.state_size
                inputs, after = cell(inputs, own)
                new.append(after)
        return inputs, tuple(new) if self._state_is_tuple else array_ops.concat(new, 1)


class _Wrapper(RNNCell):
    """A cell around a cell: it has no variables and no scope of its own."""

    def __init__(self, cell: Any) -> None:
        super().__init__()
        if not hasattr(cell, "output_size") or not callable(cell):
            raise TypeError(f"The parameter cell is not a RNNCell: {cell!r}")
        self.cell = self._cell = cell

    @property
    def wrapped_cell(self) -> Any:
        return self.cell

    @property
    def state_size(self) -> Any:
        return self.cell.state_size

    @property
    def output_size(self) -> Any:
        return self.cell.output_size

    @property
    def variables(self) -> list[Any]:
        return self.cell.variables

    weights = variables

    @property
    def trainable_variables(self) -> list[Any]:
        return self.cell.trainable_variables

    trainable_weights = trainable_variables

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        with ops.name_scope(type(self).__name__ + "ZeroState"):
            return self.cell.zero_state(batch_size, dtype)

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        return self._around(inputs, state, lambda x, s: self.cell(x, s, scope=scope) if scope is not None else self.cell(x, s))

    def _around(self, inputs: Any, state: Any, call: Any) -> Any:
        raise NotImplementedError


class DropoutWrapper(_Wrapper):
    """Drops of inputs, outputs and states; a variational one drops the same at every step."""

    def __init__(
        self, cell: Any, input_keep_prob: Any = 1.0, output_keep_prob: Any = 1.0, state_keep_prob: Any = 1.0, variational_recurrent: bool = False,
        input_size: Any = None, dtype: Any = None, seed: Any = None, dropout_state_filter_visitor: Any = None, **how: Any,
    ) -> None:
        super().__init__(cell)
        if dropout_state_filter_visitor is not None and not callable(dropout_state_filter_visitor):
            raise TypeError(f"dropout_state_filter_visitor must be callable. Received: {dropout_state_filter_visitor}")
        self._visitor = dropout_state_filter_visitor or (lambda s: _all_but_arrays(s))
        given = {"input": input_keep_prob, "state": state_keep_prob, "output": output_keep_prob}
        with ops.name_scope("DropoutWrapperInit"):
            self._keep = {which: self._checked(keep, which) for which, keep in given.items()}
        self._seed, self._noise = seed, {}
        if variational_recurrent:
            self._make_noise(input_size, dtype)

    @staticmethod
    def _checked(keep: Any, name: str) -> Any:
        """As a number, where it is known."""
        known = constant_op.constant_value(ops.convert_to_tensor(keep))
        if known is None:
            return keep
        if not 0.0 <= known <= 1.0:
            raise ValueError(f"Parameter {name}_keep_prob must be between 0 and 1. Received {known}")
        return float(known)

    def _make_noise(self, input_size: Any, dtype: Any) -> None:
        if dtype is None:
            raise ValueError("When variational_recurrent=True, dtype must be provided")
        dtype = dtypes.as_dtype(dtype)
        if self._drops("input"):
            if input_size is None:
                raise ValueError("When variational_recurrent=True and input_keep_prob < 1.0 or is unknown, input_size must be provided")
            self._noise["input"] = [self._draw("input", i, s, dtype) for i, s in enumerate(nest.flatten(input_size))]
        self._noise["state"] = [self._draw("state", i, s, dtype) for i, s in enumerate(nest.flatten(self.cell.state_size))]
        self._noise["output"] = [self._draw("output", i, s, dtype) for i, s in enumerate(nest.flatten(self.cell.output_size))]

    def _draw(self, which: str, i: int, size: Any, dtype: Any) -> Any:
        from emplace.framework import random_ops

        return random_ops.random_uniform(array_ops.concat([[1], [size] if isinstance(size, int) else size], 0), seed=self._seed_of(which, i), dtype=dtype)

    def _seed_of(self, which: str, i: int) -> Any:
        if self._seed is None:
            return None
        digest = hashlib.md5(f"{self._seed}{which}_{i}".encode()).hexdigest()
        return int(digest[:8], 16) & 0x7FFFFFFF

    def _drops(self, which: str) -> bool:
        keep = self._keep[which]
        return not isinstance(keep, (int, float)) or keep < 1.0

    def _dropped(self, which: str, values: Any, visit: Any = None) -> Any:
        flat, chosen = nest.flatten(values), nest.flatten(visit) if visit is not None else None
        keep = self._keep[which]
        made = []
        for i, v in enumerate(flat):
            if chosen is not None and not chosen[i]:
                made.append(v)
            elif which in self._noise:
                made.append(self._variational(v, self._noise[which][i], keep))
            else:
                made.append(nn_ops.dropout(v, rate=1.0 - keep, seed=self._seed_of(which, i)))
        return nest.pack_sequence_as(values, made)

    @staticmethod
    def _variational(value: Any, noise: Any, keep: Any) -> Any:
        mask = _op("Floor", [keep + noise], {})
        made = math_ops.divide(value, keep) * mask
        made.set_shape(value.shape)
        return made

    def _around(self, inputs: Any, state: Any, call: Any) -> Any:
        if self._drops("input"):
            inputs = self._dropped("input", inputs)
        output, new = call(inputs, state)
        if self._drops("state"):
            visit = self._visitor(new)
            new = self._dropped("state", new, nest.map_structure(lambda _: visit, new) if isinstance(visit, bool) else visit)
        if self._drops("output"):
            output = self._dropped("output", output)
        return output, new


def _all_but_arrays(state: Any) -> Any:
    """What of a state is dropped: not an LSTM's memory, nor arrays of tensors."""
    if isinstance(state, LSTMStateTuple):
        return LSTMStateTuple(False, True)
    if nest.is_nested(state):
        return type(state)(*(_all_but_arrays(s) for s in state)) if hasattr(state, "_fields") else type(state)(_all_but_arrays(s) for s in state)
    return not hasattr(state, "flow")


class ResidualWrapper(_Wrapper):
    """The input is added to the output."""

    def __init__(self, cell: Any, residual_fn: Any = None, **how: Any) -> None:
        super().__init__(cell)
        self._residual = residual_fn or (lambda x, y: nest.map_structure(lambda a, b: a + b, x, y))

    def _around(self, inputs: Any, state: Any, call: Any) -> Any:
        output, new = call(inputs, state)
        return self._residual(inputs, output), new


class DeviceWrapper(_Wrapper):
    """The cell on a device."""

    def __init__(self, cell: Any, device: Any, **how: Any) -> None:
        super().__init__(cell)
        self._device = device

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        with ops.device(self._device):
            return super().zero_state(batch_size, dtype)

    def _around(self, inputs: Any, state: Any, call: Any) -> Any:
        with ops.device(self._device):
            return call(inputs, state)
