"""`tf.function`: a Python function traced into a graph once a signature, then run as a whole."""

from __future__ import annotations

import copy
import functools
import inspect
import re
from typing import Any

import numpy as np

from emplace import _core
from emplace.eager import autograph, config, context, func_graph, function_types, nest, retracing, structured_values, tape, tensor_array, tensor_spec
from emplace.eager.func_graph import Body, FuncGraph
from emplace.eager.trace_lock import TraceLock
from emplace.framework import dtypes, errors, gen, ops
from emplace.framework.thread_state import own
from emplace.gradients import backprop


_SHORT = 8  # operations that are run one after another, without the graph engine


class ConcreteFunction:
    """One trace: a graph, its inputs and its results."""

    _random_scope = ""  # functions of one scope draw their random numbers from the same streams

    def __init__(self, graph: FuncGraph, num_arguments: int, structure: Any, signature: Any, name: str, kind: Any = None) -> None:
        self.graph, self._structure, self._name = graph, structure, name
        self.function_type = kind
        self._arguments = graph.inputs[:num_arguments]
        self.structured_input_signature = signature
        self._programs: dict[Any, Any] = {}
        self._backwards: list[_Backward] = []
        self._lock = TraceLock()  # while one of them is made

    @functools.cached_property
    def draws_random(self) -> bool:
        graphs = (self.graph, *self.graph.graphs_inside())
        return any(draws_random(kind) for graph in graphs for kind in {op.type for op in graph.get_operations()})

    def for_scope(self, random_scope: str) -> "ConcreteFunction":
        """The same function at its own place among the random numbers."""
        made = copy.copy(self)
        made._random_scope, made._programs, made._backwards, made._lock = random_scope, {}, [], TraceLock()
        return made

    @property
    def name(self) -> bytes:
        return self._name.encode()

    @property
    def inputs(self) -> list[Any]:
        return list(self.graph.inputs)

    @property
    def outputs(self) -> list[Any]:
        return list(self.graph.outputs)

    @property
    def captured_inputs(self) -> list[Any]:
        return [outside for outside, _ in self.graph.captures]

    @property
    def structured_outputs(self) -> Any:
        return self._structure

    @property
    def function_def(self) -> Any:
        return self.graph.as_graph_def()

    @property
    def variables(self) -> tuple[Any, ...]:
        return tuple(self.graph.all_variables().values())

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        return tuple(v for v in self.variables if v.trainable)

    @property
    def output_dtypes(self) -> Any:
        return nest.map_structure(lambda t: None if t is None else t.dtype, self._structure)

    @property
    def output_shapes(self) -> Any:
        return nest.map_structure(lambda t: None if t is None else t.shape, self._structure)

    def pretty_printed_signature(self, verbose: bool = True) -> str:
        """Arguments, captures and results as text; without `verbose` in one line."""
        kind = self.function_type
        return f"{kind}" if not verbose or kind is None else kind.pretty(self.graph.captures)

    def __str__(self) -> str:
        return object.__repr__(self) if self.function_type is None else f"ConcreteFunction {self.pretty_printed_signature()}"

    def __repr__(self) -> str:
        return object.__repr__(self) if self.function_type is None else f"<ConcreteFunction {self.function_type} at 0x{id(self):X}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.function_type is None:
            leaves = [x for x in nest.flatten(list(args) + [kwargs[k] for k in sorted(kwargs)]) if _is_value(x)]
        else:
            leaves = self._bound(args, kwargs)
        with context.eager_mode() if context.outside_graph() else _nothing():
            values = [_as_tensor(x, p.dtype) for x, p in zip(leaves, self._arguments)]
        for i, (v, p) in enumerate(zip(values, self._arguments)):
            if v.dtype.base_dtype != p.dtype.base_dtype:
                raise errors.InvalidArgumentError(None, None, function_types.wrong_dtype(self._name, i, p.dtype.base_dtype, v.dtype.base_dtype))
        return self._call_flat(values)

    def _bound(self, args: Any, kwargs: dict[str, Any]) -> list[Any]:
        """What takes the places of the arguments: by parameters, or by the names of the inputs."""
        kind = self.function_type
        try:
            leaves = []
            for (_, _, wanted), value in zip(kind.parameters, kind.bound(args, kwargs)):
                leaves += _leaves_for(wanted, value)
            return leaves
        except TypeError as e:
            names = [t.op.name for t in self._arguments]
            flat = dict(zip(names, args)) | kwargs
            if len(args) <= len(names) and set(flat) == set(names):
                return [flat[n] for n in names]
            failed = function_types.binding_error(e, args, kwargs, str(kind))
            raise TypeError(f"{failed}\nFallback to flat signature also failed due to: {self._flat_error(names, args, kwargs)}") from None

    def _flat_error(self, names: list[str], args: Any, kwargs: dict[str, Any]) -> str:
        called = f"{self.graph.name}({', '.join(names)})"
        if len(args) > len(names):
            return f"{called} takes {len(names)} positional arguments, got {len(args)}."
        missing = [n for n in names[len(args) :] if n not in kwargs]
        if missing:
            return f"{called} missing required arguments: {', '.join(missing)}."
        return f"{called} got unexpected keyword arguments: {', '.join(k for k in kwargs if k not in names)}."

    def _call_flat(self, values: list[Any]) -> Any:
        return _repacked(self._structure, self._results(values + self.captured_inputs))

    def _results(self, values: list[Any]) -> list[Any]:
        if not context.outside_graph():
            return self._call_in_graph(values)
        context.engine()
        try:
            if context._state.recorders:
                return self._recorded(values)
            return self._program(self.graph.outputs).run(values)
        except errors.OpError as e:
            raise self._told(e) from None

    def _told(self, e: Any) -> Any:
        """The error of an operation, saying which of the function it was."""
        if not isinstance(e, errors.OpError) or e._message.startswith("Graph execution error:"):
            return e
        node, source = self._node(e._node_name), e._source
        if f"Shape of tensor {node} " in e._message:  # it is the input's shape that does not fit
            made = next((op for op in self.graph.get_operations() if op.name == node), None)
            if made is not None and made.inputs:
                e._message = e._message.replace(f"tensor {node} ", f"tensor {made.inputs[0].op.name} ", 1)
        if not source:
            source = next((op.traceback[0] for op in self.graph.get_operations() if op.name == node), "")
        where = f"  {autograph.user_line(source)}\n\n" if source else "<stack traces unavailable>\n"
        e._source = ""
        e._message = f"Graph execution error:\n\nDetected at node {node} defined at (most recent call last):\n{where}{e._message}\n\t [[{{{{node {node}}}}}]] [Op:{self._name}]"
        return e

    def _node(self, said: str) -> str:
        """Its name; a short program knows an operation by its type only."""
        operations = self.graph.get_operations()
        if any(op.name == said for op in operations):
            return said
        return next((op.name for op in operations if op.type == said), said)

    def _program(self, outputs: list[Any]) -> Any:
        """What runs the trace where it is called: by the graph engine, or one operation after another where there
        are few."""
        key = (context.current_device(), context.connections, tuple(map(id, outputs)))
        made = self._programs.get(key)
        if made is None:
            with self._lock.held():
                made = self._programs.get(key) or _short_program(self.graph, outputs, key[0]) or _long_program(self.graph, outputs, key[0], random_scope=self._random_scope)
                self._programs[key] = made
        return made

    def _offer(self, cache: Any, args: Any) -> None:
        """Calls with such arguments need no Python from now on."""
        if not self.graph.outputs or not context.outside_graph() or context.current_device():
            return
        single = isinstance(self._structure, ops.Tensor)
        context.engine()
        cache.add(args, self._program(self.graph.outputs), self.captured_inputs, None if single else self._repack, self._told)

    def _repack(self, outputs: list[Any]) -> Any:
        return _repacked(self._structure, outputs)

    # ---- Inside another graph.

    def _call_in_graph(self, values: list[Any]) -> list[Any]:
        target = ops.get_default_graph()
        body = Body(self.graph, self.graph.inputs, self.graph.outputs)
        if isinstance(target, FuncGraph):
            target.add_body(self._name, body)
        else:
            func_graph.define_in(target, self._name, body)
        values = [target.inside(v) if isinstance(target, FuncGraph) else ops.convert_to_tensor(v) for v in values]
        kind = "StatefulPartitionedCall" if self.graph.stateful else "PartitionedCall"
        attrs = {"Tin": [v.dtype.base_dtype for v in values], "Tout": [o.dtype.base_dtype for o in self.graph.outputs], "f": self._name}
        node = target._add(kind, values, attrs, None)
        for made, o in zip(node.outputs, self.graph.outputs):
            made.set_shape(o.shape)
        return list(node.outputs)

    # ---- Gradients.

    def _backward(self, level: int) -> "_Backward":
        """Level 0: of the outputs; 1: of what level 0 needs besides, too; …"""
        if len(self._backwards) <= level:
            with self._lock.held():
                while len(self._backwards) <= level:
                    outputs = self._backwards[-1].all_outputs if self._backwards else self.graph.outputs
                    self._backwards.append(_Backward(self, outputs))
        return self._backwards[level]

    def _recorded(self, values: list[Any]) -> list[Any]:
        """A run that tapes follow: it also gives what the way back needs, as deep as tapes are nested."""
        for v in self.graph.all_variables().values():
            for watcher in own.watchers:
                watcher._variable_read(v)
        depth = min(len(context._state.recorders), 3)
        given = self._backward(depth - 1)
        with tape.not_recording():
            found = self._program(given.all_outputs).run(values)
        known = found[: len(given.outputs)]
        kept = {id(t): v for t, v in zip(given.all_outputs, found)}

        def backward(*grads: Any) -> list[Any]:
            n = len(self.graph.outputs)
            level = next((k for k in range(depth) if all(g is None for g in grads[len(self._backward(k).outputs) :])), depth - 1)
            return self._backward(level).run(values, known[:n] if level == 0 else known, grads, kept)

        tape.record_custom(f"function {self._name}", values, known, backward)
        return found[: len(self.graph.outputs)]


class _Backward:
    """The way back through a function: from gradients of `outputs` to those of its inputs."""

    def __init__(self, function: ConcreteFunction, outputs: list[Any]) -> None:
        from emplace.gradients import call_grad

        self._function, self.outputs = function, outputs
        forward = Body(function.graph, function.graph.inputs, outputs)
        graph = call_grad.CallGrad(f"__backward_{function._name}_{func_graph.number()}", forward, None)
        self._seeds = [i for i, o in enumerate(outputs) if tape._trainable(o.dtype) and o.dtype._enum != 20]
        self._by = [i for i, t in enumerate(forward.inputs) if tape._trainable(t.dtype)]
        self._found = graph.build(self._seeds, self._by)
        graph.close(self._found)
        self._needed = [t for t, _ in graph.taken]
        places = {id(t) for t in forward.inputs} | {id(t) for t in outputs}
        more = {id(t): t for t in self._needed if id(t) not in places}
        self.all_outputs = outputs + list(more.values())
        self._concrete = ConcreteFunction(graph, len(graph.inputs) - len(graph.captures), list(graph.outputs), None, graph.name)

    def run(self, values: list[Any], outputs: list[Any], grads: Any, kept: dict[int, Any]) -> list[Any]:
        function = self._function
        kept = {**kept, **{id(t): v for t, v in zip(function.graph.inputs, values)}}
        missing = [t for t in self._needed if id(t) not in kept]
        if missing:  # a tape that follows its own gradient
            with tape.not_recording():
                kept.update((id(t), v) for t, v in zip(missing, _long_program(function.graph, missing, "", effects=False).run(values)))
        seeds = []
        for i in self._seeds:
            g = grads[i] if i < len(grads) else None
            seeds.append(backprop.dense(g) if g is not None else backprop.zeros_like(kept[id(self.outputs[i])]))
        got = iter(self._concrete._results(seeds + [kept[id(t)] for t in self._needed] + self._concrete.captured_inputs))
        result: list[Any] = [None] * len(values)
        for i, f in zip(self._by, self._found):
            if f is not None:
                result[i] = next(got)
        return result


class _nothing:
    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: Any) -> None:
        pass


def _long_program(graph: FuncGraph, outputs: list[Any], device: str, effects: bool = True, random_scope: str = "") -> Any:
    context.engine()
    graph.define()
    targets = [op._node for op in graph.control_outputs] if effects else []
    full = context.engine().resolve(device) if device else ""
    if not outputs and not targets:
        return _core.EagerProgram(len(graph.inputs))
    # The last Identities only wait for what the function does: so does the run.
    ends = {id(t): t.op.inputs[0] for t in graph.outputs if t.op.type == "Identity"}
    results = [ends.get(id(t), t)._out for t in outputs]
    return _core.graph_program(graph._core, [t._out for t in graph.inputs], results, targets, full, random_scope)


def draws_random(kind: str) -> bool:
    return kind != "NoOp" and "seed2" in gen.definition(kind).attr_types


def _short_program(graph: FuncGraph, outputs: list[Any], device: str) -> Any:
    """The operations laid out for the C side, where they are few and in a straight line; else None."""
    given = {(t.op._id, t._index): i for i, t in enumerate(graph.inputs)}
    skipped = {t.op._id for t in graph.inputs}
    plan = [op for op in _needed(graph, outputs, skipped) if op.type != "NoOp"]
    if any(draws_random(op.type) for op in plan):
        return None  # its place among the random numbers is the program's own
    if graph.bodies or sum(op.type != "Identity" for op in plan) > _SHORT or any(op.type.startswith(("Optional", "Placeholder")) for op in plan):
        return None
    program = _core.EagerProgram(len(graph.inputs))
    numbers = dict(given)
    for op in plan:
        sources = [numbers[(t.op._id, t._index)] for t in op.inputs]
        if op.type == "Identity":
            numbers[(op._id, 0)] = sources[0]
            continue
        first = program.add(op.type, _attributes(op), op.device or device, sources, len(op.outputs))
        numbers.update(((op._id, i), first + i) for i in range(len(op.outputs)))
    program.set_results([numbers[(o.op._id, o._index)] for o in outputs])
    return program


def _needed(graph: FuncGraph, outputs: list[Any], given: set[int]) -> list[Any]:
    found: dict[int, Any] = {}
    stack = [o.op for o in outputs] + list(graph.control_outputs)
    while stack:
        op = stack.pop()
        if op._id not in found and op._id not in given:
            found[op._id] = op
            stack.extend(t.op for t in op.inputs)
            stack.extend(op.control_inputs)
    return _in_order(found)


def _in_order(ops_by_id: dict[int, Any]) -> list[Any]:
    """As they were made, but after what they wait for (an Identity waits for a later NoOp)."""
    done: dict[int, Any] = {}

    def add(op: Any) -> None:
        stack = [op]
        while stack:
            top = stack[-1]
            waits = [b for b in (*(t.op for t in top.inputs), *top.control_inputs) if b._id in ops_by_id and b._id not in done]
            if waits:
                stack.append(waits[0])
            else:
                done[top._id] = top
                stack.pop()

    for i in sorted(ops_by_id):
        if i not in done:
            add(ops_by_id[i])
    return list(done.values())


def _attributes(op: Any) -> dict[str, Any]:
    node = op._node
    return {a.name: node.attr(a.name) for a in ops._core.find_op(op.type).attrs}


def _repacked(structure: Any, outputs: list[Any]) -> Any:
    rest = iter(outputs)
    return nest.map_structure(lambda leaf: None if leaf is None else next(rest), structure, expand_composites=True)


def _leaves_for(wanted: Any, value: Any) -> list[Any]:
    """What of `value` takes the places of the specs in `wanted`."""
    if not nest.is_nested(wanted):
        if not isinstance(wanted, tensor_spec.TypeSpec):
            return []
        return value._parts() if hasattr(value, "_parts") else [value]
    nest.assert_same_structure(wanted, value)
    pairs = zip(nest.flatten(wanted), nest.flatten(value))
    return [leaf for v, given in pairs if isinstance(v, tensor_spec.TypeSpec) for leaf in nest.flatten(given, True)]


def _is_value(x: Any) -> bool:
    return isinstance(x, (ops.Tensor, np.ndarray, np.generic)) or isinstance(x, (int, float, complex, str, bytes, bool)) and x is not None


def _as_tensor(x: Any, dtype: Any = None) -> Any:
    if isinstance(x, ops.Tensor):
        return x
    if hasattr(x, "_dense_var_to_tensor"):
        return x._dense_var_to_tensor()
    return ops.convert_to_tensor(x, dtype)


class _Made(list[Any]):
    """The variables that a trace makes; where it may make none it is refused the first."""

    def __init__(self, allowed: bool) -> None:
        super().__init__()
        self._allowed = allowed

    def append(self, variable: Any) -> None:
        if not self._allowed:
            raise ValueError("tf.function only supports singleton tf.Variables created on the first call. Make sure the tf.Variable is only created once or created outside tf.function. See https://www.tensorflow.org/guide/function#creating_tfvariables for more information.")
        super().append(variable)


def _bears(concrete: ConcreteFunction, leaves: list[Any], specs: list[Any]) -> bool:
    """Do the inputs have the names that were asked for?"""
    asked = [leaf for leaf, spec in zip(leaves, specs) if spec is not None]
    return all(not isinstance(leaf, tensor_spec.TensorSpec) or leaf.name in (None, p.op.name) for leaf, p in zip(asked, concrete._arguments))


class Function:
    """What `tf.function` makes of a Python function."""

    def __init__(self, python_function: Any, input_signature: Any, autograph: bool, reduce_retracing: bool) -> None:
        self._python_function = python_function
        self._signature = None if input_signature is None else tuple(input_signature)
        self._autograph = autograph
        self._reduce_retracing = reduce_retracing
        self._traces: dict[Any, ConcreteFunction] = {}
        self._lock = TraceLock()
        self._quick_calls = {None: _core.FunctionCache()}  # calls with tensors alone, by where in a strategy
        self._hits = 0  # of those, when last asked
        self._shapes: dict[Any, Any] = {}
        self._traced = False
        self._made_variables: list[Any] = []  # kept until the user's own objects hold them
        self._spec = inspect.signature(python_function)
        if self._signature is not None:
            function_types.check_input_signature(self._signature, self._spec)
        functools.update_wrapper(self, python_function)

    def __deepcopy__(self, memo: Any) -> "Function":
        """A method's is the copied object's, and traced anew."""
        return Function(copy.deepcopy(self._python_function, memo), self._signature, self._autograph, self._reduce_retracing)

    @property
    def _quick(self) -> Any:
        if not own.distribution:
            return self._quick_calls[None]
        return self._quick_calls.setdefault(own.distribution[-1].key, _core.FunctionCache())

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
                bound = instance.__dict__.setdefault(key, bound)
        return bound

    @property
    def name(self) -> str:
        return getattr(self._python_function, "__name__", "function")

    def pretty_printed_concrete_signatures(self, verbose: bool = True) -> str:
        """The signatures of all traces so far as text."""
        return "\n\n".join(t.pretty_printed_signature(verbose) for t in self._traces.values())

    def _list_all_concrete_functions(self) -> list[ConcreteFunction]:
        """The traces so far; Keras asks for them."""
        return list(self._traces.values())

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        """Its traces, where a model is saved with its functions."""
        return {f"trace_{i}": c for i, c in enumerate(self._traces.values())} if save_type != "checkpoint" else {}

    def experimental_get_tracing_count(self) -> int:
        """How many times the function has been traced."""
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
        hits, self._hits = self._quick.hits - self._hits, self._quick.hits
        concrete, values, traced = self._specialised(args, kwargs)
        if context.outside_graph():
            retracing.called(self._python_function, hits, traced)
        if given is not None and not self._reduce_retracing and len(values) == len(given) and all(a is b for a, b in zip(given, values)):
            concrete._offer(self._quick, given)
        return concrete._call_flat(values)

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """The trace for these arguments, values or specs; traced now if there is none."""
        if not args and not kwargs and self._signature is not None:
            args = self._signature
        args, kwargs = nest.map_structure(structured_values.awaited, self._canonical(args, kwargs))
        return self._specialised(args, kwargs)[0]

    def _canonical(self, args: Any, kwargs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        try:
            bound = self._spec.bind(*args, **kwargs)
        except TypeError as e:
            raise function_types.binding_error(e, args, kwargs, self._shown()) from None
        bound.apply_defaults()
        given, args, kwargs = (args, kwargs), bound.args, dict(sorted(bound.kwargs.items()))
        if self._signature is not None:
            try:
                args = tuple(self._fitted(a, s) for a, s in zip(args, self._signature)) + args[len(self._signature) :]
            except (TypeError, ValueError) as e:
                raise function_types.binding_error(e, *given, self._shown()) from None
        return args, kwargs

    def _shown(self) -> str:
        return function_types.signature_text(self._spec, self._signature)

    def _fitted(self, value: Any, spec: Any) -> Any:
        if isinstance(value, tensor_spec.TypeSpec):
            return value
        with context.eager_mode() if context.outside_graph() else _nothing():
            value = _as_spec(spec, value)
        for s, v in zip(nest.flatten(spec), nest.flatten(value)):
            if not s.is_compatible_with(v):
                given, wanted = s._mismatch(v) if hasattr(s, "_mismatch") else (tensor_spec.type_spec_from_value(v), s)
                raise TypeError(f"Can not cast {given!r} to {wanted!r}")
        return value

    def _specialised(self, args: Any, kwargs: Any) -> tuple[ConcreteFunction, list[Any], bool]:
        """The trace for these arguments, the tensors among them, and whether it was made now, by this call."""
        structure = [list(args), kwargs]
        leaves, given = _opened(structure)
        key, values, specs = [], [], []
        signature = _opened_specs(self._signature, args) if self._signature is not None else []
        for i, (leaf, spec) in enumerate(zip(leaves, given)):
            if spec is not None and i < len(signature) and signature[i] is not None:
                spec = signature[i]
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
        outline = _shape_of_nest(structure), (*key, own.distribution[-1].key) if own.distribution else tuple(key)
        concrete, traced = self._known(outline, leaves, given)[1], False
        if concrete is None:
            with self._lock.held():  # who comes meanwhile finds it made
                full, concrete = self._known(outline, leaves, given)
                if traced := concrete is None:
                    concrete = self._trace(structure, leaves, specs)
                    bound = any(isinstance(v, ops.SymbolicTensor) for v in concrete.captured_inputs)
                    self._traces[full if bound else full[:2]] = concrete
        return concrete, values, traced

    def _known(self, full: Any, leaves: list[Any], given: list[Any]) -> tuple[Any, ConcreteFunction | None]:
        """Under which key, and the trace that is there."""
        if not context.outside_graph() and full not in self._traces:
            # A trace that uses tensors of the graph around belongs to that graph.
            full = (*full, ops.get_default_graph())
        concrete = self._traces.get(full)
        if concrete is not None and not _bears(concrete, leaves, given):  # inputs of other names: another trace
            full = (full[0], (*full[1], *(getattr(leaf, "name", None) for leaf in leaves if isinstance(leaf, tensor_spec.TensorSpec))), *full[2:])
            concrete = self._traces.get(full)
        return full, concrete

    def _relaxed(self, i: int, spec: Any) -> Any:
        known = self._shapes.get(i)
        if known is None or known.dtype != spec.dtype:
            self._shapes[i] = spec
            return spec
        dims = None
        if known.shape.rank is not None and known.shape.rank == spec.shape.rank:
            dims = [a if a == b else None for a, b in zip(known.shape.as_list(), spec.shape.as_list())]
        relaxed = self._shapes[i] = tensor_spec.TensorSpec(dims, spec.dtype)
        return relaxed

    def _trace(self, structure: Any, leaves: list[Any], specs: list[Any]) -> ConcreteFunction:
        """Variables may be made by the first trace alone: where they are, a second shows whether that is so."""
        first, self._traced = not self._traced, True
        for allowed in (first, False):
            made = _Made(allowed)
            own.made_variables.append(made)
            try:
                concrete = self._traced_once(structure, leaves, specs)
            finally:
                own.made_variables.pop()
            if not made:
                break
            self._made_variables += made
        return concrete

    def _traced_once(self, structure: Any, leaves: list[Any], specs: list[Any]) -> ConcreteFunction:
        name = getattr(self._python_function, "__name__", "function")
        outer = ops._default_graphs.stack[-1] if ops._default_graphs.stack else None
        graph = FuncGraph(name, outer if isinstance(outer, FuncGraph) else None)
        with graph.as_default():
            inner: list[Any] = []
            for leaf, spec, called in zip(leaves, specs, _argument_names(self._spec, structure)):
                if spec is not None:
                    leaf = graph.argument(spec.dtype, spec.shape, spec.name or called)
                inner.append(leaf)
            num_arguments = len(graph.inputs)
            args, kwargs = nest.pack_sequence_as(structure, inner, expand_composites=True)
            context._state.eager += 1
            saved, context._state.recorders = context._state.recorders, []
            converting, own.converting = own.converting, self._autograph
            try:
                result = autograph.call(self._python_function, args, kwargs) if self._autograph else self._python_function(*args, **kwargs)
                if isinstance(result, ops.Operation):
                    result = None
                result = nest.map_structure(lambda r: self._result(graph, r), result, expand_composites=True)
                graph.finish([r for r in nest.flatten(result, True) if r is not None])
            finally:
                context._state.recorders = saved
                own.converting = converting
                context._state.eager -= 1
        made = iter(graph.outputs)
        result = graph.structured_outputs = nest.map_structure(lambda r: None if r is None else next(made), result, expand_composites=True)
        typed = _typed(structure, specs)
        kind = function_types.FunctionType(self._spec, tuple(typed[0]), typed[1], nest.map_structure(_output_type, result))
        names = iter(t.op.name for t in graph.inputs)
        named = [s if s is None or s.name else tensor_spec.TensorSpec(s.shape, s.dtype, next(names, None)) for s in specs]
        typed = _typed(structure, named)
        return ConcreteFunction(graph, num_arguments, result, (tuple(typed[0]), typed[1]), f"__inference_{_plain(name)}_{func_graph.number()}", kind)

    def _result(self, graph: FuncGraph, value: Any) -> Any:
        if value is None or isinstance(value, ops.Operation):
            return None
        try:
            return _result(graph, value)
        except (TypeError, ValueError):
            if isinstance(value, ops.Tensor) or hasattr(value, "_dense_var_to_tensor"):
                raise
            raise TypeError(
                "To be compatible with tf.function, Python functions must return zero or more Tensors or ExtensionTypes or None values; "
                f"in compilation of {self._python_function}, found return value of type {type(value).__name__}, which is not a Tensor or ExtensionType."
            ) from None


def _plain(name: str) -> str:
    return re.sub(r"\W", "_", name)


def _argument_names(signature: Any, structure: Any) -> list[str]:
    """For each leaf of [arguments, keywords] the name of the parameter it came by."""
    positional: list[str] = []
    for p in signature.parameters.values():
        if p.kind is p.VAR_POSITIONAL:
            positional += [f"{p.name}_{i}" for i in range(len(structure[0]) - len(positional))]
        elif p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD):
            positional.append(p.name)
    named = [*zip(positional, structure[0]), *((k, structure[1][k]) for k in nest._keys(structure[1]))]
    return [name if name.isidentifier() else "args_0" for name, value in named for _ in _opened([value])[0]]


def _result(graph: FuncGraph, value: Any) -> Any:
    if isinstance(value, tensor_array.TensorArray):
        value = value.stack()
    return graph.inside(_as_tensor(value))


def _as_spec(spec: Any, value: Any) -> Any:
    """A list where one tensor is wanted is that tensor's value."""
    if isinstance(spec, tensor_spec.TypeSpec) and not isinstance(spec, tensor_spec.ShapedSpec):
        return value  # an iterator, an optional: as it is
    if hasattr(spec, "_value_of"):
        return spec._value_of(value)  # ragged, sparse
    if isinstance(spec, tensor_spec.TensorSpec):
        return value if isinstance(value, tensor_spec.TypeSpec) else _as_tensor(value, None if isinstance(value, ops.Tensor) else spec.dtype)
    if type(spec) is dict and isinstance(value, dict) and set(spec) == set(value):
        return {k: _as_spec(spec[k], v) for k, v in value.items()}
    if type(spec) is type(value) and type(spec) in (list, tuple) and len(spec) == len(value):
        return type(spec)(map(_as_spec, spec, value))
    return nest.map_structure(_as_spec, spec, value)


def _spec_of(leaf: Any) -> Any:
    if isinstance(leaf, tensor_spec.TensorSpec):
        return leaf
    if isinstance(leaf, ops.Tensor):
        return tensor_spec.TensorSpec(leaf.shape, leaf.dtype)
    if isinstance(leaf, (np.ndarray, np.generic)):
        return tensor_spec.TensorSpec(leaf.shape, dtypes.as_dtype(leaf.dtype))
    return None


def _opened(structure: Any) -> tuple[list[Any], list[Any]]:
    """The leaves, composites by their tensors, and a spec for each that is a tensor."""
    leaves, specs = [], []
    for leaf in nest.flatten(structure):
        if hasattr(leaf, "_parts"):
            leaves += leaf._parts()
            specs += function_types.part_specs(leaf)
        else:
            leaves.append(leaf)
            specs.append(_spec_of(leaf))
    return leaves, specs


def _opened_specs(signature: Any, args: Any) -> list[Any]:
    """Of the leading arguments; None for the tensors of a composite, which know themselves."""
    found: list[Any] = []
    for value, spec in zip(nest.flatten(list(args)), nest.flatten(list(signature))):
        if hasattr(spec, "_part_specs"):
            found += spec._part_specs()
        else:
            found += [None] * len(value._parts()) if hasattr(value, "_parts") else [spec if isinstance(spec, tensor_spec.TensorSpec) else None]
    return found


def _typed(structure: Any, specs: list[Any]) -> Any:
    """The structure with specs for tensors; composites by their own."""
    rest = iter(specs)

    def one(leaf: Any) -> Any:
        if hasattr(leaf, "_parts"):
            for _ in leaf._parts():
                next(rest)
            return leaf._type_spec
        spec = next(rest)
        return leaf if spec is None else spec

    return nest.map_structure(one, structure)


def _output_type(value: Any) -> Any:
    if value is None or hasattr(value, "_parts"):
        return None if value is None else value._type_spec
    return tensor_spec.TensorSpec(value.shape, value.dtype)


def _hashable(leaf: Any) -> Any:
    """Equal values are one to a trace, as 1 and True are; variables are told apart by what they are."""
    if hasattr(leaf, "_dense_var_to_tensor"):
        return type(leaf), id(leaf)
    try:
        hash(leaf)
        return leaf
    except TypeError:
        raise TypeError(
            f"Could not generate a generic TraceType for {leaf!r}.Please verify that it is immutable/hashable. Otherwise, consider implementing "
            "the Tracing Protocol for it."
        ) from None


def _shape_of_nest(structure: Any) -> str:
    return str(nest.map_structure(lambda leaf: leaf._outline() if hasattr(leaf, "_parts") else 0, structure))


def function(
    func: Any = None, input_signature: Any = None, autograph: bool = True, jit_compile: Any = None, reduce_retracing: bool = False,
    experimental_implements: Any = None, experimental_autograph_options: Any = None, experimental_attributes: Any = None,
    experimental_relax_shapes: Any = None, experimental_compile: Any = None, experimental_follow_type_hints: Any = None,
) -> Any:
    """Turns a Python function into one that is traced as a graph once for each kind of arguments, then runs that graph; also a
    decorator. `input_signature` allows one trace only, `reduce_retracing` relaxes shapes, `autograph` turns Python's `if`
    and loops on tensors into ops."""
    def decorate(inner: Any) -> Function:
        return Function(inner, input_signature, autograph, reduce_retracing)

    return decorate if func is None else decorate(func)
