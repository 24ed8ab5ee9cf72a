"""`tf.GradientTape` and its relatives."""

from __future__ import annotations

import contextlib
import enum
import functools
import inspect
from typing import Any, Iterator

from emplace.eager import context, func_graph, nest, op_errors
from emplace.eager import tensor as eager_tensor
from emplace.framework import array_ops, gen, math_ops, ops
from emplace.framework.thread_state import own
from emplace.gradients import backprop


class UnconnectedGradients(enum.Enum):
    """What a gradient is where the target does not depend on the source: None or zeros."""

    NONE = "none"
    ZERO = "zero"


class Record:
    """An operation that has run."""

    __slots__ = ("type", "attrs", "inputs", "outputs", "backward")

    def __init__(self, op_type: str, attrs: Any, inputs: Any, outputs: Any, backward: Any = None) -> None:
        self.type, self.attrs, self.inputs, self.outputs, self.backward = op_type, attrs, inputs, outputs, backward

    def get_attr(self, name: str) -> Any:
        if name in self.attrs:
            return self.attrs[name]
        for a in gen.definition(self.type).attrs:
            if a.name == name and a.has_default:
                return gen._plain_default(a)
        raise ValueError(f"Operation of type {self.type} has no attr named '{name}'.")


def _trainable(dtype: Any) -> bool:
    return dtype.is_floating or dtype.is_complex or dtype._enum in (20, 21)


def _bare(value: Any) -> Any:
    """The tensor of a composite that is differentiated: its values. What acts as a variable (Keras's) has one."""
    if getattr(value, "_should_act_as_resource_variable", False) is True and not hasattr(value, "_handle"):
        return value.value
    if hasattr(value, "_part_specs"):
        raise ValueError(f"Type {type(value).__name__} is not supported as a gradient source or gradient target.")
    if hasattr(value, "_parts"):
        return value.flat_values if hasattr(value, "flat_values") else value.values
    return value


def _dressed(source: Any, gradient: Any) -> Any:
    """The gradient of a composite is one like it."""
    if gradient is None or not hasattr(source, "_parts"):
        return gradient
    return source.with_flat_values(gradient) if hasattr(source, "flat_values") else source.with_values(gradient)


class GradientTape:
    """Records operations on what it watches, for `gradient`."""

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self._persistent = persistent
        self._watch_accessed = watch_accessed_variables
        self._recording = False
        self._entered = False
        self._clear()

    def _clear(self) -> None:
        self._records: list[Record] | None = []
        self._watched: dict[int, Any] = {}
        self._variables: dict[int, Any] = {}
        self._spans: dict[int, Any] = {}  # of graphs being built: [graph, [first, last] …]

    # ---- Recording.

    def __enter__(self) -> "GradientTape":
        self._push()
        return self

    def __exit__(self, *_: Any) -> None:
        if self._recording:
            self._pop()

    def _push(self) -> None:
        if self._recording:
            raise ValueError("Tape is still recording, This can happen if you try to re-enter an already-active tape.")
        if self._records is None:
            self._clear()
        self._entered = True
        self._listen()

    def _listen(self) -> None:
        eager_tensor._recorders().append(self)
        own.watchers.append(self)
        self._recording = True
        graph = func_graph.innermost()
        if graph is not None:
            self._spans.setdefault(id(graph), [graph]).append([graph._core.num_nodes(), None])

    def _pop(self) -> None:
        eager_tensor._recorders().remove(self)
        own.watchers.remove(self)
        self._recording = False
        for graph, *spans in self._spans.values():
            if spans[-1][1] is None:
                spans[-1][1] = graph._core.num_nodes()

    def record(self, op_type: str, attrs: Any, inputs: Any, outputs: Any, backward: Any = None) -> None:
        """Notes an op that ran, if an input is watched; the package calls it."""
        watched = self._watched
        if self._records is None or not any(id(t) in watched for t in inputs):
            return
        for o in outputs:
            if _trainable(o._dtype):
                watched[id(o)] = o
        self._records.append(Record(op_type, attrs, inputs, outputs, backward))

    def _variable_read(self, variable: Any) -> None:
        if self._watch_accessed and variable.trainable:
            self._watch_variable(variable)

    def _watch_variable(self, variable: Any) -> None:
        if id(variable) not in self._variables:
            self._variables[id(variable)] = variable
            self._watched[id(variable._handle)] = variable._handle

    def watch(self, tensor: Any) -> None:
        """Follows what is computed from these tensors; trainable variables are followed without it."""
        if not self._entered:
            raise AttributeError("'NoneType' object has no attribute '_tape'")
        for t in nest.flatten(nest.map_structure(lambda t: t._parts() if hasattr(t, "_part_specs") else t, tensor)):
            t = _bare(t)
            if hasattr(t, "_handle"):
                self._watch_variable(t)
            elif not isinstance(t, ops.Tensor):
                raise ValueError(f"Passed in object {t} of type {type(t).__name__!r}, not tf.Tensor or tf.Variable or ExtensionType.")
            else:
                self._watched[id(t)] = t

    @contextlib.contextmanager
    def stop_recording(self) -> Iterator[None]:
        """What is computed within it is not followed."""
        if not self._recording:
            raise RuntimeError("Trying to stop recording a tape which is not recording.")
        self._pop()
        try:
            yield
        finally:
            self._listen()

    def reset(self) -> None:
        """Forgets all that was recorded."""
        self._clear()

    def watched_variables(self) -> tuple[Any, ...]:
        """The variables that were read while recording, as a tuple."""
        return tuple(self._variables.values())

    # ---- Gradients.

    def gradient(
        self, target: Any, sources: Any, output_gradients: Any = None, unconnected_gradients: Any = UnconnectedGradients.NONE
    ) -> Any:
        """Gradients of the target (summed, or weighed by `output_gradients`) by each source, in the structure of the sources.
        A tape that is not persistent can do it once."""
        if self._records is None or not self._entered:
            raise RuntimeError("A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians)")
        if self._recording and not self._persistent:
            self._pop()
        context._state.eager += 1
        try:
            result = self._gradient(target, sources, output_gradients, unconnected_gradients)
        finally:
            context._state.eager -= 1
        if not self._persistent:
            self._records = None
        return result

    def _gradient(self, target: Any, sources: Any, output_gradients: Any, unconnected: Any) -> Any:
        if target is None:
            raise TypeError("Argument `target` should be a list or nested structure of Tensors, Variables or CompositeTensors to be differentiated, but received None.")
        if unconnected not in (*UnconnectedGradients, "none", "zero"):
            raise ValueError(f"Unknown value for unconnected_gradients: {unconnected!r}")
        flat_sources = [_tensor_like(_bare(s)) for s in nest.flatten(sources)]
        targets, grads = [], []
        given = nest.flatten(output_gradients) if output_gradients is not None else None
        for i, t in enumerate(nest.flatten(target)):
            t = _tensor_like(_bare(t))
            if not _trainable(t.dtype):
                continue
            g = given[i] if given is not None else None
            grads.append(_ones(t) if g is None else _seed(t, _bare(g)))
            targets.append(_key(t) if hasattr(t, "_handle") else t)
        keys = [_key(s) for s in flat_sources]
        if func_graph.innermost() is not None:
            found = self._of_graph(func_graph.innermost(), targets, keys, grads)
        else:
            # A copy: a persistent tape that still records takes down the backward pass too.
            found = backprop.run((self._records or [])[::-1], targets, grads, keys)
            itself = {id(t) for t in targets}  # a target is known, read or not
            found = [g if id(k) in self._watched or id(k) in itself else None for g, k in zip(found, keys)]
        if unconnected in (UnconnectedGradients.ZERO, "zero"):
            found = [_zeros(s) if g is None else g for g, s in zip(found, flat_sources)]
        found = [_dressed(s, g) for s, g in zip(nest.flatten(sources), found)]
        return nest.pack_sequence_as(sources, found)

    def _of_graph(self, graph: Any, targets: list[Any], sources: list[Any], grads: list[Any]) -> list[Any]:
        """Inside a function that is being traced: over the operations made while the tape listened."""
        targets = [graph.inside(t) for t in targets]
        watched = {id(graph.inside(t)) for t in self._watched.values() if self._known_to(graph, t)}
        watched |= {id(graph.inside(v._handle)) for v in self._variables.values()}
        spans = self._spans.get(id(graph), [graph, [0, None]])[1:]
        among = set()
        for op in graph.get_operations():
            if any(first <= op._id < (op._id + 1 if last is None else last) for first, last in spans):
                if any(id(t) in watched for t in op.inputs):
                    among.add(op._id)
                    watched.update(id(t) for t in op.outputs if _trainable(t.dtype))
        found = backprop.of_graph(targets, sources, grads, among)
        return [g if id(s) in watched else None for g, s in zip(found, sources)]

    @staticmethod
    def _known_to(graph: Any, t: Any) -> bool:
        """Can operations of the graph take it?"""
        if hasattr(t, "_numpy_of_eager"):
            return id(t) in graph.captured
        while graph is not None and t.graph is not graph:
            graph = graph.outer_graph
        return graph is not None

    def jacobian(
        self, target: Any, sources: Any, unconnected_gradients: Any = UnconnectedGradients.NONE, parallel_iterations: Any = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """All partial derivatives: for each source a tensor of the target's shape followed by the source's."""
        if self._records is None or not self._entered:
            raise RuntimeError("A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians)")
        if self._recording and not self._persistent:
            self._pop()
        flat_sources = nest.flatten(sources)
        shape, n = target.shape.as_list(), target.shape.num_elements()
        context._state.eager += 1
        try:
            rows = []
            for i in range(n):
                unit = array_ops.reshape(array_ops.one_hot(i, n, dtype=target.dtype), shape)
                rows.append(self._gradient(target, flat_sources, unit, unconnected_gradients))
            stacked = []
            for j, s in enumerate(flat_sources):
                parts = [backprop.dense(r[j]) for r in rows]
                stacked.append(None if any(p is None for p in parts) else array_ops.reshape(array_ops.stack(parts), shape + s.shape.as_list()))
        finally:
            context._state.eager -= 1
        if not self._persistent:
            self._records = None
        return nest.pack_sequence_as(sources, stacked)

    def batch_jacobian(
        self, target: Any, source: Any, unconnected_gradients: Any = UnconnectedGradients.NONE, parallel_iterations: Any = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """Partial derivatives of each row of the target by the same row of the source."""
        shape = target.shape.with_rank_at_least(2).as_list()
        source.shape.with_rank_at_least(2)
        if shape[0] != source.shape[0]:
            raise ValueError(f"Need first dimension of target shape ({target.shape}) and source shape ({source.shape}) to match.")
        n = target.shape.num_elements() // shape[0]
        context._state.eager += 1
        try:
            flat = []
            for i in range(n):
                unit = array_ops.zeros_like(array_ops.reshape(target, [shape[0], n])) + array_ops.one_hot(i, n, dtype=target.dtype)
                g = self._gradient(target, source, array_ops.reshape(unit, shape), unconnected_gradients)
                flat.append(g)
            result = None if any(g is None for g in flat) else array_ops.reshape(array_ops.stack(flat, axis=1), shape + source.shape.as_list()[1:])
        finally:
            context._state.eager -= 1
        if not self._persistent:
            if self._recording:
                self._pop()
            self._records = None
        return result


def _tensor_like(value: Any) -> Any:
    if not hasattr(value, "dtype"):
        raise TypeError(f"Cannot convert the argument `type_value`: {value!r} to a TensorFlow DType.")
    return value


def _seed(target: Any, gradient: Any) -> Any:
    """The gradient a program gives for a target must be as large."""
    gradient = ops.convert_to_tensor(gradient)
    have, want = gradient.shape.num_elements(), target.shape.num_elements()
    if have is not None and want is not None and have != want:
        raise op_errors.refused("Reshape", f"Input to reshape is a tensor with {have} values, but the requested shape has {want}")
    return gradient


def _key(source: Any) -> Any:
    graph = func_graph.innermost()
    if hasattr(source, "_handle"):
        return source._captured() if not context.outside_graph() else source._handle
    if not isinstance(source, ops.Tensor):
        raise ValueError(f"Passed in object {source} of type {type(source).__name__!r}, not tf.Tensor or tf.Variable or ExtensionType.")
    return source if graph is None else graph.inside(source)


def _ones(t: Any) -> Any:
    if hasattr(t, "_handle"):
        return array_ops.ones(t.shape.as_list(), t.dtype)
    if not hasattr(t, "_numpy_of_eager") and t.shape.is_fully_defined() and t.dtype._enum not in (20, 21):
        return array_ops.ones(t.shape.as_list(), t.dtype.base_dtype)
    return array_ops.ones_like(t)


def _zeros(source: Any) -> Any:
    return array_ops.zeros_like(ops.convert_to_tensor(source))


@contextlib.contextmanager
def not_recording() -> Iterator[None]:
    recorders = eager_tensor._recorders()
    saved = list(recorders)
    recorders.clear()
    try:
        yield
    finally:
        recorders[:] = saved


def record_custom(name: str, inputs: list[Any], outputs: list[Any], backward: Any) -> None:
    for r in list(eager_tensor._recorders()):
        r.record(name, {}, inputs, outputs, backward)


class _Reads:
    """Notes which variables are read."""

    def __init__(self) -> None:
        self._found: dict[int, Any] = {}

    def _variable_read(self, variable: Any) -> None:
        self._found[id(variable)] = variable

    def trainable(self) -> list[Any]:
        return [v for v in self._found.values() if v.trainable]


def _takes_variables(function: Any) -> bool:
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
    return "variables" in parameters


def custom_gradient(f: Any = None) -> Any:
    """`f` returns its value and the function of its gradient."""
    if f is None:
        return custom_gradient

    @functools.wraps(f)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        context._state.eager += 1
        try:
            tensors = nest.map_structure(lambda a: ops.convert_to_tensor(a) if not isinstance(a, ops.Tensor) else a, list(args))
            reads = _Reads()
            own.watchers.append(reads)
            try:
                with not_recording():
                    result, grad_fn = f(*tensors, **kwargs)
            finally:
                own.watchers.remove(reads)
            outputs = [array_ops.identity(ops.convert_to_tensor(r)) for r in nest.flatten(result)]
            flat_inputs = nest.flatten(tensors)
            watched, count = reads.trainable(), len(flat_inputs)
            if watched and not _takes_variables(grad_fn):
                raise TypeError("If using @custom_gradient with a function that uses variables, then grad_fn must accept a 'variables' keyword argument.")

            def backward(*grads: Any) -> Any:
                given, of_variables = grad_fn(*grads, variables=watched) if watched else (grad_fn(*grads), [])
                given = nest.flatten(given) if isinstance(given, (list, tuple)) else [given]
                if len(given) != count:
                    raise ValueError(f"custom_gradient function expected to return {count} gradients, but returned {len(given)} instead.")
                return [*given, *of_variables]

            if context.outside_graph():
                flat_inputs += [v._handle for v in watched]
                record_custom(f"custom {getattr(f, '__name__', 'function')}", flat_inputs, outputs, backward)
            else:
                outputs = _with_gradient(outputs, flat_inputs + [v._captured() for v in watched], backward)
            return nest.pack_sequence_as(result, outputs)
        finally:
            context._state.eager -= 1

    return decorated


def _with_gradient(outputs: list[Any], inputs: list[Any], backward: Any) -> list[Any]:
    """In a graph: an operation that hands the outputs on and has this gradient."""
    from emplace.framework import gradients as of_graphs
    from emplace.gradients import registry

    key, n = f"CustomGradient-{next(of_graphs._customs)}", len(outputs)
    inputs = [ops.convert_to_tensor(t) for t in inputs]

    def gradient(op: Any, *grads: Any) -> list[Any]:
        given = list(backward(*grads[:n]))
        if len(given) != len(inputs):
            raise ValueError(f"Must return gradient for each of the {len(inputs)} arguments, got {len(given)}")
        return [None] * n + given

    registry.gradient(key)(gradient)
    return of_graphs._identity_n(outputs + inputs, key)[:n]


class ForwardAccumulator:
    """Jacobian-vector products: the derivative of the backward pass by its seed."""

    def __init__(self, primals: Any, tangents: Any) -> None:
        self._primals, self._tangents = nest.flatten(primals), nest.flatten(tangents)
        self._tape = GradientTape(persistent=True)
        self._around: list[ForwardAccumulator] = []

    def __enter__(self) -> "ForwardAccumulator":
        self._around = list(own.accumulators)
        own.accumulators.append(self)
        self._tape.__enter__()
        self._tape.watch(self._primals)
        return self

    def __exit__(self, *e: Any) -> None:
        self._tape.__exit__(*e)
        own.accumulators.remove(self)

    @contextlib.contextmanager
    def _followed(self) -> Iterator[None]:
        """Accumulators around this one take down its products too, whenever they are asked for."""
        silent = [a._tape for a in self._around if not a._tape._recording]
        for t in silent:
            t._listen()
        try:
            yield
        finally:
            for t in silent:
                t._pop()

    def jvp(self, primals: Any, unconnected_gradients: Any = UnconnectedGradients.NONE) -> Any:
        """How fast values computed within change as the primals move along their tangents."""
        with self._followed():
            return nest.map_structure(lambda y: self._one(y, unconnected_gradients), primals)

    def _one(self, y: Any, unconnected: Any) -> Any:
        context._state.eager += 1
        try:
            seed = array_ops.ones_like(y)
            with GradientTape() as outer:
                outer.watch(seed)
                back = self._tape.gradient(y, self._primals, output_gradients=seed)
                total = None
                for g, t in zip(back, self._tangents):
                    if g is not None:
                        part = math_ops.reduce_sum(backprop.dense(g) * t)
                        total = part if total is None else total + part
            result = None if total is None else outer.gradient(total, seed)
            return array_ops.zeros_like(y) if result is None and unconnected in (UnconnectedGradients.ZERO, "zero") else result
        finally:
            context._state.eager -= 1


def gradients(
    ys: Any, xs: Any, grad_ys: Any = None, name: str = "gradients", gate_gradients: bool = False, aggregation_method: Any = None,
    stop_gradients: Any = None, unconnected_gradients: Any = UnconnectedGradients.NONE,
) -> Any:
    """In a graph: gradients of the sum of `ys` by each of `xs`, None where there is none. Eagerly use GradientTape."""
    if context.outside_graph():
        raise RuntimeError("tf.gradients is not supported when eager execution is enabled. Use tf.GradientTape instead.")
    from emplace.framework import gradients as of_graphs

    targets, sources = nest.flatten(ys), [_key(x) for x in nest.flatten(xs)]
    stops = None if stop_gradients is None else [_key(s) for s in nest.flatten(stop_gradients)]
    return of_graphs.gradients(
        targets, sources, grad_ys, name, gate_gradients=gate_gradients, aggregation_method=aggregation_method,
        stop_gradients=stops, unconnected_gradients=unconnected_gradients,
    )  # fmt: skip


def hessians(ys: Any, xs: Any, gate_gradients: bool = False, aggregation_method: Any = None, name: str = "hessians") -> Any:
    """In a graph: the matrix of second derivatives of `ys` by each of `xs`."""
    if context.outside_graph():
        raise RuntimeError("tf.gradients is not supported when eager execution is enabled. Use tf.GradientTape instead.")
    from emplace.framework import gradients as of_graphs

    return of_graphs.hessians(nest.flatten(ys), [_key(x) for x in nest.flatten(xs)], name, gate_gradients=gate_gradients)
