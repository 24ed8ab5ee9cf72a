"""`tf.function`: a Python function traced into a graph once a signature, then run as a whole."""

from __future__ import annotations

import functools
import inspect
from typing import Any

import numpy as np

from emplace import _core
from emplace.eager import autograph, config, context, flow_graph, nest, tape, tensor_spec
from emplace.eager import tensor as eager_tensor
from emplace.framework import array_ops, dtypes, errors, ops
from emplace.gradients import backprop


_HINT = (
    "in tf.function '{}': {} Python's `if`, `while` and `for` on tensors are not converted here{}: decide outside"
    " the function, use tf.where, tf.cond or tf.while_loop, or call tf.config.run_functions_eagerly(True)."
)


class FuncGraph(ops.Graph):
    """The graph of one trace: values from outside come in as captured inputs."""

    def __init__(self, name: str, outer: Any = None) -> None:
        super().__init__()
        self.name = name
        self.outer = outer
        self.captures: dict[int, tuple[Any, Any]] = {}  # id -> (value outside, placeholder)
        self.variables: dict[int, Any] = {}
        self.effects: list[Any] = []  # operations that must run though nothing asks for their values
        self.flows: dict[int, Any] = {}  # branches and loops by the node that marks their place
        self.flow_outputs: dict[int, Any] = {}  # placeholder of a result -> that node

    def _capture(self, value: Any) -> Any:
        found = self.captures.get(id(value))
        if found is None:
            with self.as_default():
                inner = array_ops.placeholder(value.dtype, None if value.dtype._enum == 20 else value.shape)
            found = self.captures[id(value)] = (value, inner)
        return found[1]


class ConcreteFunction:
    """One trace: a graph, its inputs and its results."""

    def __init__(self, graph: FuncGraph, inputs: list[Any], structure: Any, outputs: list[Any], signature: Any, name: str) -> None:
        self.graph, self._structure, self._name = graph, structure, name
        self._inputs, self._outputs = inputs, outputs
        self.structured_input_signature = signature
        self._backward: Any = None
        self._plans: dict[Any, list[Any]] = {}
        self._all_inputs: Any = None
        self._program: Any = None

    @property
    def name(self) -> str:
        return self._name

    @property
    def inputs(self) -> list[Any]:
        return self._inputs + [inner for _, inner in self.graph.captures.values()]

    @property
    def outputs(self) -> list[Any]:
        return list(self._outputs)

    @property
    def captured_inputs(self) -> list[Any]:
        return [outside for outside, _ in self.graph.captures.values()]

    @property
    def structured_outputs(self) -> Any:
        return self._structure

    @property
    def variables(self) -> tuple[Any, ...]:
        return tuple(self.graph.variables.values())

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        return tuple(v for v in self.variables if v.trainable)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        leaves = [x for x in nest.flatten(list(args) + [kwargs[k] for k in sorted(kwargs)]) if _is_value(x)]
        with context.eager_mode() if context.outside_graph() else _nothing():
            values = [_as_tensor(x, p.dtype) for x, p in zip(leaves, self._inputs)]
        return self._call_flat(values)

    def _call_flat(self, values: list[Any]) -> Any:
        values = values + self.captured_inputs
        if not context.outside_graph():
            return self._inline(values)
        if self._all_inputs is None:
            self._all_inputs = self.inputs
        recording = bool(context._state.recorders)
        step = _recorded_step if recording and self.graph.flows else None
        outputs = _run(self, self._all_inputs, self._outputs, self.graph.effects, values, step)
        if recording and step is None and outputs:
            tape.record_custom(f"function {self._name}", values, outputs, lambda *g: self._gradient(values, g))
        return _repacked(self._structure, outputs)

    def _offer(self, cache: Any, args: Any) -> None:
        """Calls with such arguments need no Python from now on, where the trace is a straight line."""
        if self.graph.flows or not self._outputs or not context.outside_graph():
            return
        if self._program is None:
            self._program = _program(self)
        single = isinstance(self._structure, ops.Tensor)
        cache.add(args, self._program, self.captured_inputs, None if single else self._repack)

    def _repack(self, outputs: list[Any]) -> Any:
        return _repacked(self._structure, outputs)

    def _inline(self, values: list[Any]) -> Any:
        """Inside another trace: this graph's nodes are copied there."""
        target = ops.get_default_graph()
        values = [target._capture(v) if hasattr(v, "_numpy_of_eager") else v for v in values]
        return _repacked(self._structure, _copied(self, values, target))

    def _gradient(self, values: list[Any], grads: Any) -> list[Any]:
        if self._backward is None:
            self._backward = self._make_backward()
        inner, seeds, results = self._backward
        wanted = [r for r in results if r is not None]
        given = [backprop.dense(g) if g is not None else None for g in grads]
        given = [backprop.zeros_like(v) if g is None else g for g, v in zip(given, self._outputs)]
        feeds = [g for g, s in zip(given, seeds) if s is not None]
        got = iter(_run(self, inner + [s for s in seeds if s is not None], wanted, [], values + feeds))
        return [None if r is None else next(got) for r in results]

    def _make_backward(self) -> Any:
        inner = self.inputs
        with self.graph.as_default():
            seeds = [array_ops.placeholder(o.dtype, o.shape) if tape._trainable(o.dtype) else None for o in self._outputs]
            targets = [o for o, s in zip(self._outputs, seeds) if s is not None]
            found = backprop.of_graph(targets, inner, [s for s in seeds if s is not None])
            return inner, seeds, [None if g is None else backprop.dense(g) for g in found]


class _nothing:
    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: Any) -> None:
        pass


def _run(owner: Any, inputs: list[Any], outputs: list[Any], effects: list[Any], values: list[Any], step: Any = None) -> list[Any]:
    """Runs the graph operation by operation over eager values, as its nodes are numbered.

    A node runs on the device its pin names; kernels and memory are those of the eager engine.
    """
    context.engine()
    key = tuple(map(id, outputs))
    made = owner._plans.get(key)
    if made is None:
        effects = flow_graph.with_flows(owner.graph, effects)
        plan, _ = flow_graph.plan(owner.graph, outputs, effects, {p.op._id for p in inputs})
        made = owner._plans[key] = (
            _prepared(plan), [(p.op._id, p._index) for p in inputs], [(o.op._id, o._index) for o in outputs]
        )
    plan, places, results_at = made
    known = dict(zip(places, values))
    flow_graph.run(plan, known, step or _step)
    return [known[r] for r in results_at]


def _program(function: ConcreteFunction) -> Any:
    """The function's operations, laid out for the C side."""
    graph, inputs = function.graph, function.inputs
    plan, _ = flow_graph.plan(graph, function._outputs, graph.effects, {p.op._id for p in inputs})
    program = _core.EagerProgram(len(inputs))
    numbers = {(p.op._id, p._index): i for i, p in enumerate(inputs)}
    for op in plan:
        sources = [numbers[(t.op._id, t._index)] for t in op.inputs]
        first = program.add(op.type, _attributes(op), op.device, sources, len(op.outputs))
        numbers.update(((op._id, i), first + i) for i in range(len(op.outputs)))
    program.set_results([numbers[(o.op._id, o._index)] for o in function._outputs])
    return program


class _Step:
    """One operation of a plan."""

    __slots__ = ("op", "type", "attrs", "device", "node", "sources")

    def __init__(self, op: Any) -> None:
        self.op, self.type, self.attrs, self.device, self.node = op, op.type, _attributes(op), op.device, op._id
        self.sources = [(t.op._id, t._index) for t in op.inputs]


def _prepared(plan: list[Any]) -> list[Any]:
    for entry in plan:
        if isinstance(entry, flow_graph.Flow):
            for block in entry.blocks:
                block.plan = _prepared(block.plan)
    return [e if isinstance(e, (flow_graph.Flow, _Step)) else _Step(e) for e in plan]


def _step(s: _Step, known: dict[Any, Any]) -> None:
    for i, r in enumerate(_core.execute_call(s.type, [known[x] for x in s.sources], s.attrs, s.device)):
        known[(s.node, i)] = r


def _recorded_step(s: _Step, known: dict[Any, Any]) -> None:
    """… and tells the tapes: the way back through branches and loops is the way that was taken."""
    _step(s, known)
    outputs = [known[(s.node, i)] for i in range(len(s.op.outputs))]
    attrs = {a.name: s.op.get_attr(a.name) for a in ops._core.find_op(s.type).attrs}
    for r in list(context._state.recorders):
        r.record(s.type, attrs, [known[x] for x in s.sources], outputs)


def _attributes(op: Any) -> dict[str, Any]:
    cached = op._extra.get("attrs") if op._extra else None
    if cached is None:
        node = op._node
        cached = {a.name: node.attr(a.name) for a in ops._core.find_op(op.type).attrs}
        op._extra = {**(op._extra or {}), "attrs": cached}
    return cached


def _copied(function: ConcreteFunction, values: list[Any], target: Any) -> list[Any]:
    known = {(p.op._id, p._index): v for p, v in zip(function.inputs, values)}
    given = {p.op._id for p in function.inputs}
    copies: dict[int, Any] = {}
    for op in function.graph.get_operations():
        if op._id in given or op.type == "Placeholder":
            continue
        with target.control_dependencies([copies[c._id] for c in op.control_inputs if c._id in copies]):
            made = target._add(op.type, [known[(t.op._id, t._index)]._out for t in op.inputs], _attributes(op), op.name)
        copies[op._id] = made
        for i, o in enumerate(made.outputs):
            known[(op._id, i)] = o
    return [known[(o.op._id, o._index)] for o in function._outputs]


def _repacked(structure: Any, outputs: list[Any]) -> Any:
    rest = iter(outputs)
    return nest.map_structure(lambda leaf: None if leaf is None else next(rest), structure)


def _is_value(x: Any) -> bool:
    return isinstance(x, (ops.Tensor, np.ndarray, np.generic)) or isinstance(x, (int, float, complex, str, bytes, bool)) and x is not None


def _as_tensor(x: Any, dtype: Any = None) -> Any:
    if isinstance(x, ops.Tensor):
        return x
    if hasattr(x, "_dense_var_to_tensor"):
        return x._dense_var_to_tensor()
    return ops.convert_to_tensor(x, dtype)


_names: dict[str, int] = {}


class Function:
    """What `tf.function` makes of a Python function."""

    def __init__(self, python_function: Any, input_signature: Any, autograph: bool, reduce_retracing: bool) -> None:
        self._python_function = python_function
        self._signature = None if input_signature is None else tuple(input_signature)
        self._autograph = autograph
        self._reduce_retracing = reduce_retracing
        self._traces: dict[Any, ConcreteFunction] = {}
        self._quick = _core.FunctionCache()  # calls with tensors alone
        self._shapes: dict[Any, Any] = {}
        self._instance: Any = None
        self._spec = inspect.signature(python_function)
        functools.update_wrapper(self, python_function)

    @property
    def python_function(self) -> Any:
        return self._python_function

    @property
    def input_signature(self) -> Any:
        return self._signature

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        key = f"_tf_function_{self._python_function.__name__}"
        bound = instance.__dict__.get(key) if hasattr(instance, "__dict__") else None
        if bound is None:
            bound = Function(self._python_function.__get__(instance, owner), self._signature, self._autograph, self._reduce_retracing)
            if hasattr(instance, "__dict__"):
                instance.__dict__[key] = bound
        return bound

    def experimental_get_tracing_count(self) -> int:
        return len(self._traces)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not kwargs:
            done = self._quick(*args)
            if done is not NotImplemented:
                return done
        if config.functions_run_eagerly():
            return self._python_function(*args, **kwargs)
        given = None if kwargs else args
        args, kwargs = self._canonical(args, kwargs)
        concrete, values = self._specialised(args, kwargs)
        if concrete.graph.flows and not context.outside_graph():  # its blocks belong to its own graph
            return autograph.call(self._python_function, args, kwargs)
        if given is not None and not self._reduce_retracing and len(values) == len(given) and all(a is b for a, b in zip(given, values)):
            concrete._offer(self._quick, given)
        return concrete._call_flat(values)

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        if not args and not kwargs and self._signature is not None:
            args = self._signature
        args, kwargs = self._canonical(args, kwargs)
        return self._specialised(args, kwargs)[0]

    def _canonical(self, args: Any, kwargs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        try:
            bound = self._spec.bind(*args, **kwargs)
        except TypeError as e:
            raise TypeError(f"Binding inputs to tf.function failed due to `{e}`. Received args: {args} and kwargs: {kwargs} for signature: {self._spec}.") from None
        bound.apply_defaults()
        args, kwargs = bound.args, bound.kwargs
        if self._signature is not None:
            args = tuple(self._fitted(a, s) for a, s in zip(args, self._signature)) + args[len(self._signature) :]
        return args, kwargs

    def _fitted(self, value: Any, spec: Any) -> Any:
        if isinstance(value, tensor_spec.TensorSpec):
            return value
        with context.eager_mode() if context.outside_graph() else _nothing():
            try:
                value = _as_spec(spec, value)
            except (TypeError, ValueError) as e:
                raise TypeError(f"Binding inputs to tf.function failed: {e}") from None
        for s, v in zip(nest.flatten(spec), nest.flatten(value)):
            if not s.is_compatible_with(v):
                raise TypeError(f"Binding inputs to tf.function failed due to `Can not cast {tensor_spec.TensorSpec(v.shape, v.dtype)!r} to {s!r}`.")
        return value

    def _specialised(self, args: Any, kwargs: Any) -> tuple[ConcreteFunction, list[Any]]:
        structure = [list(args), kwargs]
        leaves = nest.flatten(structure)
        key, values, specs = [], [], []
        flat_signature = nest.flatten(list(self._signature)) if self._signature is not None else []
        for i, leaf in enumerate(leaves):
            spec = _spec_of(leaf)
            if spec is not None and i < len(flat_signature):
                spec = flat_signature[i]
            elif spec is not None and self._reduce_retracing and not isinstance(leaf, tensor_spec.TensorSpec):
                spec = self._relaxed(i, spec)
            specs.append(spec)
            if spec is None:
                key.append(_hashable(leaf))
                continue
            key.append((spec.dtype.name, str(spec.shape)))
            if not isinstance(leaf, tensor_spec.TensorSpec):
                with context.eager_mode() if context.outside_graph() else _nothing():
                    values.append(_as_tensor(leaf))
        full = (_shape_of_nest(structure), tuple(key), not context.outside_graph() and None)
        concrete = self._traces.get(full)
        if concrete is None:
            concrete = self._traces[full] = self._trace(structure, leaves, specs)
        return concrete, values

    def _relaxed(self, i: int, spec: Any) -> Any:
        known = self._shapes.get(i)
        if known is None or known.dtype != spec.dtype or known.shape.rank != spec.shape.rank:
            self._shapes[i] = spec
            return spec
        dims = [a if a == b else None for a, b in zip(known.shape.as_list(), spec.shape.as_list())]
        relaxed = self._shapes[i] = tensor_spec.TensorSpec(dims, spec.dtype)
        return relaxed

    def _trace(self, structure: Any, leaves: list[Any], specs: list[Any]) -> ConcreteFunction:
        name = getattr(self._python_function, "__name__", "function")
        outer = ops._default_graphs.stack[-1] if ops._default_graphs.stack else None
        graph = FuncGraph(name, outer)
        with graph.as_default():
            inputs = []
            inner: list[Any] = []
            for leaf, spec in zip(leaves, specs):
                if spec is None:
                    inner.append(leaf)
                    continue
                p = array_ops.placeholder(spec.dtype, spec.shape, name=spec.name or _argument(self._spec, len(inputs)))
                inputs.append(p)
                inner.append(p)
            args, kwargs = nest.pack_sequence_as(structure, inner)
            context._state.eager += 1
            saved, context._state.recorders = context._state.recorders, []
            try:
                try:
                    result = (
                        autograph.call(self._python_function, args, kwargs) if self._autograph else self._python_function(*args, **kwargs)
                    )
                except errors.OperatorNotAllowedInGraphError as e:
                    raise errors.OperatorNotAllowedInGraphError(_HINT.format(name, e, "" if autograph.available() else f" ({autograph.MISSING})")) from None
                if isinstance(result, ops.Operation):
                    result = None
                result = nest.map_structure(lambda r: None if r is None or isinstance(r, ops.Operation) else _result(graph, r), result)
            finally:
                context._state.recorders = saved
                context._state.eager -= 1
        outputs = [r for r in nest.flatten(result) if r is not None]
        graph.effects = [op for op in graph.get_operations() if _has_effect(op)]
        spec_structure = nest.pack_sequence_as(structure, [l if s is None else s for l, s in zip(leaves, specs)])
        signature = (tuple(spec_structure[0]), spec_structure[1])
        _names[name] = _names.get(name, -1) + 1
        return ConcreteFunction(graph, inputs, result, outputs, signature, f"__inference_{name}_{_names[name]}")


def _has_effect(op: Any) -> bool:
    return op.type.startswith(("Assign", "ResourceApply", "ResourceScatter", "ResourceStridedSliceAssign", "LookupTableI", "LookupTableR", "Assert", "Print"))


def _argument(signature: Any, i: int) -> str:
    names = list(signature.parameters)
    return names[i] if i < len(names) and names[i].isidentifier() else f"args_{i}"


def _result(graph: FuncGraph, value: Any) -> Any:
    value = _as_tensor(value)
    if hasattr(value, "_numpy_of_eager"):
        return graph._capture(value)
    if value.op.type == "Placeholder":
        return array_ops.identity(value)
    return value


def _as_spec(spec: Any, value: Any) -> Any:
    """A list where one tensor is wanted is that tensor's value."""
    if isinstance(spec, tensor_spec.TensorSpec):
        return _as_tensor(value, None if isinstance(value, ops.Tensor) else spec.dtype)
    return nest.map_structure(lambda s, v: _as_tensor(v, None if isinstance(v, ops.Tensor) else s.dtype), spec, value)


def _spec_of(leaf: Any) -> Any:
    if isinstance(leaf, tensor_spec.TensorSpec):
        return leaf
    if isinstance(leaf, ops.Tensor):
        return tensor_spec.TensorSpec(leaf.shape, leaf.dtype)
    if isinstance(leaf, (np.ndarray, np.generic)):
        return tensor_spec.TensorSpec(leaf.shape, dtypes.as_dtype(leaf.dtype))
    return None


def _hashable(leaf: Any) -> Any:
    try:
        hash(leaf)
        return type(leaf), leaf
    except TypeError:
        return type(leaf), id(leaf)


def _shape_of_nest(structure: Any) -> str:
    return str(nest.map_structure(lambda _: 0, structure))


def function(
    func: Any = None, input_signature: Any = None, autograph: bool = True, jit_compile: Any = None, reduce_retracing: bool = False,
    experimental_implements: Any = None, experimental_autograph_options: Any = None, experimental_attributes: Any = None,
    experimental_relax_shapes: Any = None, experimental_compile: Any = None, experimental_follow_type_hints: Any = None,
) -> Any:
    def decorate(inner: Any) -> Function:
        return Function(inner, input_signature, autograph, reduce_retracing)

    return decorate if func is None else decorate(func)
