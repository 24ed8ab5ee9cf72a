"""Recurrent nets: a cell repeated over time, by a loop (dynamic_rnn) or step by step (static_rnn)."""

from __future__ import annotations

from typing import Any

from emplace.eager import nest
from emplace.framework import array_ops, cond, constant_op, control_flow_ops, dtypes, flow_contexts, math_ops, ops, rnn_cells, tensor_shape, variable_scope
from emplace.framework.dispatch import execute as _op
from emplace.framework.tensor_array_ops import TensorArray
from emplace.framework.while_loop import while_loop


def _swapped(x: Any) -> Any:
    """The first two axes, batch and time, in the other order."""
    shape = x.shape
    if shape.rank is not None and shape.rank < 2:
        return x
    made = array_ops.transpose(x, array_ops.concat([[1, 0], math_ops.range(2, array_ops.rank(x))], 0))
    if shape.rank is not None:
        first, second, *rest = shape.as_list()
        made.set_shape([second, first, *rest])
    return made


def _cache(scope: Any) -> None:
    """Outside of loops what variables hold is read once, where the net runs."""
    inside = flow_contexts.enclosing_loop(flow_contexts.current()) is not None
    if not inside and scope.caching_device is None:
        scope.set_caching_device(lambda op: op.device)


def _check_cell(cell: Any, name: str) -> None:
    lacking = [f"{n!r} property is missing" for n in ("output_size", "state_size") if not hasattr(cell, n)]
    if not hasattr(cell, "zero_state") and not hasattr(cell, "get_initial_state"):
        lacking.append("either 'zero_state' or 'get_initial_state' method is required")
    if not callable(cell):
        lacking.append("is not callable")
    if lacking:
        raise TypeError(f"The argument {name!r} ({cell}) is not an RNNCell: {', '.join(lacking)}.")


def _batch_size(flat: Any) -> Any:
    """Of inputs with time first."""
    for x in flat:
        if x.shape.rank is None:
            continue
        if x.shape.rank < 2:
            raise ValueError(f"Input tensor should have rank >= 2. Received input={x} of rank {x.shape.rank}")
        if (known := x.shape.as_list()[1]) is not None:
            return known
    return array_ops.shape(flat[0])[1]


def _first_state(cell: Any, given: Any, batch: Any, dtype: Any) -> Any:
    if given is not None:
        return given
    if dtype is None:
        raise ValueError("If no initial_state is provided, argument `dtype` must be specified")
    if hasattr(cell, "get_initial_state"):
        return cell.get_initial_state(inputs=None, batch_size=batch, dtype=dtype)
    return cell.zero_state(batch, dtype)


def _state_dtype(given: Any, state: Any) -> Any:
    if given is not None:
        return dtypes.as_dtype(given)
    kinds = {s.dtype.base_dtype for s in nest.flatten(state)}
    if not kinds:
        raise ValueError(f"Unable to infer dtype from argument state={state}.")
    if len(kinds) > 1:
        raise ValueError("State has tensors of different inferred dtypes. Unable to infer a single representative dtype.")
    return kinds.pop()


def _step(time: Any, lengths: Any, shortest: Any, longest: Any, zero: Any, state: Any, call: Any, plain: bool) -> Any:
    """One step of sequences of different lengths: what has ended gives zeros and keeps its state."""
    flat_zero, flat_state = nest.flatten(zero), nest.flatten(state)
    ended = time >= lengths

    def chosen(old: Any, new: Any) -> Any:
        if hasattr(old, "flow") or old.shape.rank == 0:
            return new
        with ops.colocate_with(new):
            return array_ops.where(ended, old, new)

    def called() -> list[Any]:
        output, new = call()
        nest.assert_same_structure(zero, output)
        nest.assert_same_structure(state, new)
        return nest.flatten(output) + nest.flatten(new)

    def copied(new: list[Any]) -> list[Any]:
        return [chosen(old, n) for old, n in zip(flat_zero + flat_state, new)]

    def stepped() -> Any:
        new = called()
        return cond.cond(time < shortest, lambda: new, lambda: copied(new))

    found = copied(called()) if plain else cond.cond(time >= longest, lambda: flat_zero + flat_state, stepped)
    for made, like in zip(found, flat_zero + flat_state):
        if not hasattr(made, "flow"):
            made.set_shape(like.shape)
    split = len(flat_zero)
    return nest.pack_sequence_as(zero, list(found[:split])), nest.pack_sequence_as(state, list(found[split:]))


def _has_shape(x: Any, shape: list[Any]) -> Any:
    have, want = array_ops.shape(x), array_ops.stack(shape)
    return control_flow_ops.Assert(
        math_ops.reduce_all(math_ops.equal(have, want)),
        [f"Expected shape for Tensor {x.name} is ", want, " but saw shape: ", have],
    )


def dynamic_rnn(
    cell: Any, inputs: Any, sequence_length: Any = None, initial_state: Any = None, dtype: Any = None, parallel_iterations: int | None = None,
    swap_memory: bool = False, time_major: bool = False, scope: Any = None,
) -> Any:
    """The outputs of all steps, and the last state."""
    _check_cell(cell, "cell")
    with variable_scope.variable_scope(scope or "rnn") as entered:
        _cache(entered)
        flat = nest.flatten(inputs)
        if not time_major:
            flat = [_swapped(x) for x in [ops.convert_to_tensor(x) for x in flat]]
        if sequence_length is not None:
            sequence_length = math_ops.cast(sequence_length, dtypes.int32)
            if sequence_length.shape.rank not in (None, 1):
                raise ValueError(f"Argument sequence_length must be a vector of length batch_size. Received sequence_length={sequence_length} of shape: {sequence_length.shape}")
            sequence_length = array_ops.identity(sequence_length, name="sequence_length")
        batch = _batch_size(flat)
        state = _first_state(cell, initial_state, batch, dtype)
        if sequence_length is not None:
            with ops.control_dependencies([_has_shape(sequence_length, [batch])]):
                sequence_length = array_ops.identity(sequence_length, name="CheckSeqLen")
        loop = _Loop(cell, inputs, flat, sequence_length, _state_dtype(dtype, state))
        outputs, state = loop.run(state, parallel_iterations or 32, swap_memory)
        return outputs if time_major else nest.map_structure(_swapped, outputs), state


class _Loop:
    """dynamic_rnn over inputs whose first axis is time."""

    def __init__(self, cell: Any, structure: Any, flat: list[Any], lengths: Any, dtype: Any) -> None:
        self._cell, self._structure, self._inputs, self._lengths, self._dtype = cell, structure, flat, lengths, dtype
        self._output_sizes = nest.flatten(cell.output_size)
        self._steps = array_ops.shape(flat[0])[0]
        self._batch = _batch_size(flat)
        self._known = self._known_sizes()

    def _known_sizes(self) -> list[Any]:
        found = None
        for x in self._inputs:
            if x.shape.rank is not None and x.shape.rank < 3:
                raise ValueError(f"Shape {x.shape} must have rank at least 3")
            dims = x.shape.as_list() if x.shape.rank is not None else [None, None, None]
            if None in dims[2:]:
                raise ValueError(f"Input size (depth of inputs) must be accessible via shape inference, but saw value None for input={x}.")
            found = found or dims[:2]
            if found[0] != dims[0]:
                raise ValueError(f"Time steps is not the same for all the elements in the input in a batch. Received time steps={dims[0]} for input={x}.")
            if found[1] != dims[1]:
                raise ValueError(f"Batch_size is not the same for all the elements in the input. Received batch size={dims[1]} for input={x}.")
        return found or [None, None]

    def _arrays(self, base: str) -> tuple[Any, Any]:
        outputs = tuple(
            TensorArray(self._dtype, size=self._steps, element_shape=[self._known[1], *_dims(s)], tensor_array_name=f"{base}output_{i}")
            for i, s in enumerate(self._output_sizes)
        )
        made = [
            TensorArray(x.dtype.base_dtype, size=self._steps, element_shape=x.shape[1:], tensor_array_name=f"{base}input_{i}")
            for i, x in enumerate(self._inputs)
        ]
        return outputs, [array.unstack(x) for array, x in zip(made, self._inputs)]

    def run(self, state: Any, parallel_iterations: int, swap_memory: bool) -> Any:
        zeros = [array_ops.zeros(rnn_cells.sizes(self._batch, s), dtype=self._dtype) for s in self._output_sizes]
        zero = nest.pack_sequence_as(self._cell.output_size, zeros)
        lengths, longest, shortest = self._lengths, self._steps, None
        if lengths is not None:
            shortest, longest = math_ops.reduce_min(lengths), math_ops.reduce_max(lengths)
        time = constant_op.constant(0, dtype=dtypes.int32, name="time")
        with ops.name_scope("dynamic_rnn") as base:
            pass
        outputs, inputs = self._arrays(base)

        def body(time: Any, arrays: Any, state: Any) -> Any:
            now = [array.read(time) for array in inputs]
            for x, whole in zip(now, self._inputs):
                x.set_shape(whole.shape[1:])
            now = nest.pack_sequence_as(self._structure, now)
            if lengths is None:
                output, new = self._cell(now, state)
            else:
                output, new = _step(time, lengths, shortest, longest, zero, state, lambda: self._cell(now, state), plain=True)
            written = tuple(array.write(time, o) for array, o in zip(arrays, nest.flatten(output)))
            return time + 1, written, new

        bound = _op("Minimum", [self._steps, _op("Maximum", [1, longest], {})], {})
        _, arrays, state = while_loop(
            lambda time, *_: time < bound, body, (time, outputs, state), parallel_iterations=parallel_iterations,
            maximum_iterations=self._steps, swap_memory=swap_memory,
        )
        found = [array.stack() for array in arrays]
        for output, size in zip(found, self._output_sizes):
            output.set_shape(rnn_cells.known_sizes(self._known, size))
        return nest.pack_sequence_as(self._cell.output_size, found), state


def _dims(size: Any) -> list[Any]:
    return tensor_shape.as_shape(size if isinstance(size, (list, tuple, tensor_shape.TensorShape)) else [size]).as_list()


def bidirectional_dynamic_rnn(
    cell_fw: Any, cell_bw: Any, inputs: Any, sequence_length: Any = None, initial_state_fw: Any = None, initial_state_bw: Any = None,
    dtype: Any = None, parallel_iterations: int | None = None, swap_memory: bool = False, time_major: bool = False, scope: Any = None,
) -> Any:
    """One net forwards, one backwards: pairs of outputs and of last states."""
    _check_cell(cell_fw, "cell_fw")
    _check_cell(cell_bw, "cell_bw")
    how = {"sequence_length": sequence_length, "dtype": dtype, "parallel_iterations": parallel_iterations, "swap_memory": swap_memory, "time_major": time_major}
    batch, time = (1, 0) if time_major else (0, 1)

    def turned(x: Any) -> Any:
        if sequence_length is not None:
            return array_ops.reverse_sequence(x, sequence_length, seq_axis=time, batch_axis=batch)
        return _op("ReverseV2", [x, [time]], {})

    with variable_scope.variable_scope(scope or "bidirectional_rnn"):
        with variable_scope.variable_scope("fw") as fw:
            forward, state_fw = dynamic_rnn(cell_fw, inputs, initial_state=initial_state_fw, scope=fw, **how)
        with variable_scope.variable_scope("bw") as bw:
            reverse = nest.map_structure(turned, inputs)
            backward, state_bw = dynamic_rnn(cell_bw, reverse, initial_state=initial_state_bw, scope=bw, **how)
    return (forward, nest.map_structure(turned, backward)), (state_fw, state_bw)


def static_rnn(cell: Any, inputs: Any, initial_state: Any = None, dtype: Any = None, sequence_length: Any = None, scope: Any = None) -> Any:
    """`inputs`: a list, one for each step. A list of outputs, and the last state."""
    _check_cell(cell, "cell")
    if not nest.is_nested(inputs):
        raise TypeError(f"Argument `inputs` must be a sequence. Received: {inputs}")
    if not inputs:
        raise ValueError("Argument `inputs` must not be empty.")
    outputs = []
    with variable_scope.variable_scope(scope or "rnn") as entered:
        _cache(entered)
        first = nest.flatten(inputs[0])[0]
        if first.shape.rank == 1:
            raise ValueError(f"Input tensor should have rank >= 2. Received {first}")
        known = None if first.shape.rank is None else first.shape.as_list()[0]
        batch = known if known is not None else array_ops.shape(first)[0]
        state = _first_state(cell, initial_state, batch, dtype)
        zero = shortest = longest = None
        if sequence_length is not None:
            sequence_length = ops.convert_to_tensor(sequence_length, name="sequence_length")
            if sequence_length.shape.rank not in (None, 1):
                raise ValueError(f"Argument `sequence_length` must be a vector of length {batch}. Received sequence_length={sequence_length}.")
            kind = _state_dtype(dtype, state)
            zero = nest.map_structure(lambda s: _static_zeros(batch, s, kind), cell.output_size)
            sequence_length = math_ops.cast(sequence_length, dtypes.int32)
            shortest, longest = math_ops.reduce_min(sequence_length), math_ops.reduce_max(sequence_length)
        for time, x in enumerate(inputs):
            if time > 0:
                entered.reuse_variables()
            if sequence_length is None:
                output, state = cell(x, state)
            else:
                output, state = _step(time, sequence_length, shortest, longest, zero, state, lambda: cell(x, state), plain=False)
            outputs.append(output)
    return outputs, state


def _static_zeros(batch: Any, size: Any, dtype: Any) -> Any:
    made = array_ops.zeros(rnn_cells.sizes(batch, size), dtype=dtype)
    made.set_shape(rnn_cells.known_sizes(batch if not isinstance(batch, ops.Tensor) else [None], size))
    return made


def static_bidirectional_rnn(
    cell_fw: Any, cell_bw: Any, inputs: Any, initial_state_fw: Any = None, initial_state_bw: Any = None, dtype: Any = None,
    sequence_length: Any = None, scope: Any = None,
) -> Any:
    """A list of outputs, forward and backward side by side, and both last states."""
    _check_cell(cell_fw, "cell_fw")
    _check_cell(cell_bw, "cell_bw")
    if not nest.is_nested(inputs):
        raise TypeError(f"Argument `inputs` must be a sequence. Received: {inputs}")
    if not inputs:
        raise ValueError("Argument `inputs` must not be empty.")
    with variable_scope.variable_scope(scope or "bidirectional_rnn"):
        with variable_scope.variable_scope("fw") as fw:
            forward, state_fw = static_rnn(cell_fw, inputs, initial_state_fw, dtype, sequence_length, scope=fw)
        with variable_scope.variable_scope("bw") as bw:
            backward, state_bw = static_rnn(cell_bw, _turned(inputs, sequence_length), initial_state_bw, dtype, sequence_length, scope=bw)
    pairs = zip(forward, _turned(backward, sequence_length))
    outputs = [nest.map_structure(lambda a, b: array_ops.concat([a, b], 1), f, b) for f, b in pairs]
    return outputs, state_fw, state_bw


def _turned(steps: Any, lengths: Any) -> list[Any]:
    """The steps last first; of sequences that end early, only as far as they go."""
    if lengths is None:
        return list(reversed(steps))
    columns = []
    for column in zip(*(nest.flatten(s) for s in steps)):
        turned = array_ops.reverse_sequence(array_ops.stack(list(column)), lengths, seq_axis=0, batch_axis=1)
        columns.append(array_ops.unstack(turned, num=len(steps)))
    return [nest.pack_sequence_as(steps[0], list(row)) for row in zip(*columns)]


def raw_rnn(cell: Any, loop_fn: Any, parallel_iterations: int | None = None, swap_memory: bool = False, scope: Any = None) -> Any:
    """The user's function gives each step's input and says what has finished: arrays of outputs, the last state, its own last state."""
    _check_cell(cell, "cell")
    if not callable(loop_fn):
        raise TypeError("Argument `loop_fn` must be a callable.")
    with variable_scope.variable_scope(scope or "rnn") as entered:
        _cache(entered)
        time = constant_op.constant(0, dtype=dtypes.int32)
        done, first, state, shape, own = loop_fn(time, None, None, None)
        flat = nest.flatten(first)
        own = own if own is not None else constant_op.constant(0, dtype=dtypes.int32)
        known = flat[0].shape.as_list()[0]
        batch = known if known is not None else array_ops.shape(flat[0])[0]
        nest.assert_same_structure(state, cell.state_size)
        if shape is not None:
            sizes = [s.shape for s in nest.flatten(shape)]
            kinds = [s.dtype.base_dtype for s in nest.flatten(shape)]
        else:
            shape = cell.output_size
            sizes = [tensor_shape.as_shape(_dims(s)) for s in nest.flatten(shape)]
            kinds = [_state_dtype(None, state)] * len(sizes)
        arrays = [
            TensorArray(k, size=0, dynamic_size=True, element_shape=[known, *s.as_list()], name=f"rnn_output_{i}")
            for i, (k, s) in enumerate(zip(kinds, sizes))
        ]
        zero = nest.pack_sequence_as(shape, [array_ops.zeros(rnn_cells.sizes(batch, s), dtype=k) for k, s in zip(kinds, sizes)])

        def body(time: Any, done: Any, now: Any, arrays: Any, state: Any, own: Any) -> Any:
            output, new = cell(now, state)
            nest.assert_same_structure(state, new)
            later = time + 1
            now_done, following, new, emit, after = loop_fn(later, output, new, own)
            after = after if after is not None else own
            emit = nest.map_structure(lambda e, z: _kept(done, z, e), emit, zero)
            new = nest.map_structure(lambda n, s: _kept(done, s, n), new, state)
            written = [array.write(time, e) for array, e in zip(arrays, nest.flatten(emit))]
            return [later, _op("LogicalOr", [done, now_done], {}), following, written, new, after]

        found = while_loop(
            lambda time, done, *_: _op("LogicalNot", [math_ops.reduce_all(done)], {}), body, [time, done, first, arrays, state, own],
            parallel_iterations=parallel_iterations or 32, swap_memory=swap_memory,
        )
        return nest.pack_sequence_as(shape, list(found[3])), found[4], found[5]


def _kept(done: Any, old: Any, new: Any) -> Any:
    if hasattr(old, "flow") or old.shape.rank == 0:
        return new
    with ops.colocate_with(new):
        return array_ops.where(done, old, new)
