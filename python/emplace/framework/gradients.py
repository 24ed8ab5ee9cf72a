"""Symbolic gradients: operations that compute the derivatives of others, added to their graph."""

from __future__ import annotations

import collections
import contextlib
import enum
import functools
import inspect
import itertools
from typing import Any, Callable, Iterable

from emplace.framework import array_ops, constant_op, control_flow_ops, dispatch, flow_contexts, loop_gradients, ops, while_loop
from emplace.framework.dispatch import execute as _op
from emplace.gradients import backprop, registry


class AggregationMethod:
    """How several gradients of one tensor are summed; all of them make an AddN here."""

    ADD_N = 0
    DEFAULT = ADD_N
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


_AGGREGATIONS = [None, AggregationMethod.ADD_N, AggregationMethod.EXPERIMENTAL_TREE, AggregationMethod.EXPERIMENTAL_ACCUMULATE_N]


class UnconnectedGradients(enum.Enum):
    """What a gradient is where the target does not depend on the source: None or zeros."""

    NONE = "none"
    ZERO = "zero"


class RegisterGradient(registry.RegisterGradient):
    """`@tf.RegisterGradient("Square")`; an operation has one gradient."""

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        with contextlib.suppress(LookupError):  # ours are read first, so that a second one is seen
            registry.lookup(self._op_type)
        return super().__call__(function)


def NotDifferentiable(op_type: str) -> None:  # noqa: N802
    """Says that ops of a type have no gradient, so that asking for one gives None."""
    if not isinstance(op_type, str):
        raise TypeError("op_type must be a string")
    with contextlib.suppress(LookupError):
        registry.lookup(op_type)
    registry.no_gradient(op_type)


NoGradient = NotDifferentiable


def gradients(
    ys: Any, xs: Any, grad_ys: Any = None, name: str = "gradients", colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False, aggregation_method: Any = None, stop_gradients: Any = None,
    unconnected_gradients: Any = UnconnectedGradients.NONE,
) -> list[Any]:
    """The derivatives of the sum of `ys` by each of `xs`; None where nothing connects them."""
    if dispatch.executing_eagerly():
        raise RuntimeError("tf.gradients is not supported when eager execution is enabled. Use tf.GradientTape instead.")
    try:
        unconnected = UnconnectedGradients(getattr(unconnected_gradients, "value", unconnected_gradients))
    except ValueError:
        with ops.name_scope(name, "gradients"):  # TensorFlow finds out inside of it
            pass
        raise ValueError(f"Unknown value for unconnected_gradients: '{unconnected_gradients}'") from None
    targets, sources = _tensors(ys, "y"), _tensors(xs, "x")
    stops = _tensors(stop_gradients, "stop") if stop_gradients is not None else []
    given = [None] * len(targets) if grad_ys is None else _listed(grad_ys)
    if len(given) != len(targets):
        raise ValueError(f"Length mismatch. Passed {len(given)} grad_ys for {len(targets)} ys")
    with ops.name_scope(name, "gradients", [*targets, *sources, *stops, *(g for g in given if g is not None)]):
        given = [g if g is None or isinstance(g, ops.IndexedSlices) else ops.convert_to_tensor(g, name=f"grad_y_{i}") for i, g in enumerate(given)]
        seeds = []
        for i, (y, g) in enumerate(zip(targets, given)):
            with ops.colocate_with(y) if colocate_gradients_with_ops else contextlib.nullcontext():
                seeds.append(_seed(y, g, i))
        if aggregation_method not in _AGGREGATIONS:
            raise ValueError(f"Invalid `aggregation_method` specified {aggregation_method}. Accepted values are {_AGGREGATIONS[1:]}.")
        walk = _Walk(targets, sources, stops, bool(colocate_gradients_with_ops), bool(gate_gradients), bool(aggregation_method))
        found = walk.run(targets, seeds, sources)
    if unconnected is UnconnectedGradients.ZERO:
        found = [_no_gradient(x) if g is None else g for g, x in zip(found, sources)]
    return found


def _no_gradient(x: Any) -> Any:
    """Zeros like what nothing connects; a handle stands for its variable."""
    if x.dtype.base_dtype.name != "resource":
        return array_ops.zeros_like(x)
    from emplace.gradients.gather_grad import variable_shape

    dtype = x.op.get_attr("dtype")
    return array_ops.zeros(variable_shape(x), dtype=dtype)


def _listed(values: Any) -> list[Any]:
    return list(values) if isinstance(values, (list, tuple)) else [values]


def _tensors(values: Any, name: str) -> list[Any]:
    """A variable stands for the reference it hands out, so that all its reads lead to it."""
    found = []
    for i, v in enumerate(_listed(values)):
        if hasattr(v, "_should_act_as_resource_variable") and hasattr(v, "handle"):
            v = v.handle
        if not isinstance(v, (ops.Tensor, ops.IndexedSlices)):
            v = ops.convert_to_tensor(v, name=f"{name}_{i}", as_ref=hasattr(v, "_as_graph_element"))
        found.append(v.values if isinstance(v, ops.IndexedSlices) else v)
    return found


def _seed(y: Any, given: Any, i: int) -> Any:
    """The gradient a target starts with: ones, unless given."""
    if given is None:
        if y.dtype.is_complex:
            raise TypeError(f"Gradients of complex tensors ({y}) must set grad_ys (y.dtype = {y.dtype.base_dtype!r})")
        shape = array_ops.shape(y)
        with ops.name_scope(f"grad_ys_{i}") as scope:
            one = ops.convert_to_tensor(1, dtype=y.dtype.base_dtype, name="Const")
            return _op("Fill", [shape, one], {}, scope)
    if isinstance(given, ops.IndexedSlices):
        return given
    have, want = given.dtype.base_dtype, y.dtype.base_dtype
    if have.is_complex != want.is_complex or have.is_integer != want.is_integer:
        raise TypeError(f"Gradient type {have.name} generated for tensor {y} with type {want.name}")
    return array_ops.identity(given, name=f"grad_ys_{i}")


def _differentiable(t: Any) -> bool:
    base = t.dtype.base_dtype
    return base.is_floating or base.is_complex or base.name in ("resource", "variant")


class _Walk:
    """The backward pass over the operations between sources and targets.

    An operation's turn comes when every consumer between it and the targets has had its own; the
    walk keeps a queue, so that deep graphs need no deep stack.
    """

    def __init__(self, targets: list[Any], sources: list[Any], stops: list[Any], colocate: bool, gate: bool, one_by_one: bool) -> None:
        self._colocate, self._gate, self._one_by_one = colocate, gate, one_by_one
        self._between = _between(targets, sources)
        self._loops = loop_gradients.LoopStates()
        self._add_loops()
        self._pending: dict[int, int] = collections.Counter(
            t.op._id for op in self._between.values() for t in op.inputs if t.op._id in self._between
        )
        # A source whose inputs lead to no other source ends the walk.
        self._ends = {x.op._id for x in sources if not any(self._pending[t.op._id] for t in x.op.inputs)}
        self._ends |= {s.op._id for s in stops}
        self._grads: dict[tuple[int, int], list[Any]] = {}

    def _add_loops(self) -> None:
        """A loop is gone back over as a whole: all its results take part, and what its variables begin with."""
        for op in list(self._between.values()):
            if flow_contexts.is_exit(op):
                forward = self._loops.add(op).forward
                for other in [*forward.exits, *forward.enters]:
                    self._between.setdefault(other.op._id, other.op)

    def run(self, targets: list[Any], seeds: list[Any], sources: list[Any]) -> list[Any]:
        for y, g in zip(targets, seeds):
            self._grads.setdefault(_key(y), []).append(g)
        ready = {y.op._id: y.op for y in targets if y.op._id in self._between and not self._pending[y.op._id]}
        queue = collections.deque(ready.values())
        self._unread_exits(queue, ready)
        thread = ops.get_default_graph()._thread
        saved, thread.loop_states = thread.loop_states, self._loops
        while queue:
            op = queue.popleft()
            self._visit(op)
            for t in op.inputs:
                if t.op._id in self._between:
                    self._count_down(t.op, queue)
        self._close_loops()
        thread.loop_states = saved
        found = [self._grads.get(_key(x)) for x in sources]
        return [g[0] if g else None for g in found]

    def _count_down(self, op: Any, queue: Any) -> None:
        self._pending[op._id] -= 1
        left = self._pending[op._id]
        # The head of a loop is visited twice: from its result, and from the end of its body.
        if left and not (left > 0 and self._loops and loop_gradients.is_loop_switch(op)):
            return
        if flow_contexts.is_exit(op) and self._loops:
            state = self._loops.of(op, before=False)
            state.deferred.append(op)
            self._exit_ready(state, queue)
        else:
            queue.append(op)

    def _unread_exits(self, queue: Any, ready: dict[int, Any]) -> None:
        """Results of loops that nothing between reads (or that are targets) are not waited for."""
        for state in self._loops.states():
            for t in state.forward.exits:
                if not self._pending[t.op._id]:
                    if t.op._id not in ready:
                        state.deferred.append(t.op)
                    self._exit_ready(state, queue, started=t.op._id in ready)

    def _exit_ready(self, state: Any, queue: Any, started: bool = False) -> None:
        """When all results of a loop have their gradients, it is gone back over."""
        state.waiting -= 1
        state.started = state.started or started
        if state.waiting:
            return
        reached = [op for op in state.deferred if self._grads.get((op._id, 0))]
        rest = [op for op in state.deferred if op not in reached]
        queue.extend(reached)
        for op in rest:
            if (reached or state.started) and _differentiable(op.outputs[0]):
                self._grads.setdefault((op._id, 0), []).append(_zeros_of_exit(op.outputs[0]))
            queue.append(op)

    def _close_loops(self) -> None:
        """A variable of the loop whose gradient does not come round again gets zeros from there."""
        for state in self._loops.states():
            for head in state.switch_map.values():
                first, second = head.op.inputs
                if _key(first) == _key(second):
                    with flow_contexts.entered(state.context):
                        head.op._update_input(1, while_loop.next_iteration(array_ops.zeros_like(head)))

    def _visit(self, op: Any) -> None:
        state = self._loops.of(op, before=True) if self._loops else None
        with flow_contexts.entered(state.context) if state is not None else contextlib.nullcontext():
            with self._placed(op):
                grads = [self._summed(op, i) for i in range(len(op.outputs))]
            if op._id in self._ends or all(g is None for g in grads):
                return
            with self._placed(op):
                wanted = self._backward(op, grads)
        for t, g in zip(op.inputs, wanted):
            if g is None:
                continue
            if isinstance(g, ops.Tensor) and t.dtype.base_dtype.name != "resource":
                _note_shape(op, t, g)
            self._grads.setdefault(_key(t), []).append(g)

    def _backward(self, op: Any, grads: list[Any]) -> list[Any]:
        """The gradients of the inputs."""
        function = self._function(op)
        if function is None:
            return [None] * len(op.inputs)
        grads = [_zeros(op, o) if g is None and (o.dtype.is_floating or o.dtype.is_complex) else g for g, o in zip(grads, op.outputs)]
        with ops.name_scope(op.name + "_grad"):
            wanted = backprop.call(function, op, grads, fill=False)
            if self._gate and sum(g is not None for g in wanted) > 1:
                with ops.device(None), ops.colocate_with(None, ignore_existing=True):
                    wanted = control_flow_ops.tuple(wanted)
        return wanted

    def _placed(self, op: Any) -> Any:
        return ops.colocate_with(op) if self._colocate else contextlib.nullcontext()

    def _summed(self, op: Any, i: int) -> Any:
        """All gradients of one tensor as one; kept, for it may be asked for."""
        found = self._grads.get((op._id, i))
        if not found:
            return None
        if len(found) > 1:
            found[:] = [_sum_one_by_one(op, found) if self._one_by_one else _sum(found)]
        return found[0]

    def _function(self, op: Any) -> Any:
        """What gives the gradients of the inputs; None where nothing flows back."""
        try:
            chosen = op.get_attr("_gradient_op_type")
        except ValueError:
            chosen = None
        try:
            return registry.lookup(_text(chosen) if chosen else op.type)
        except LookupError:
            raise LookupError(f"No gradient defined for operation '{op.name}' (op type: {op.type})") from None


def _zeros(op: Any, output: Any) -> Any:
    """For an output that no gradient reached. What a Switch did not take has no value: its zeros are
    made on the way that was taken."""
    context = flow_contexts.of_op(op)
    if loop_gradients.is_loop_switch(op):
        return None  # the other way comes later
    loop = flow_contexts.enclosing_loop(flow_contexts.current())
    state = None if loop is None else loop.grad_state
    if not flow_contexts.is_switch(op) or not isinstance(context, flow_contexts.CondContext):
        return array_ops.zeros_like(output, optimize=state is not None)
    if state is not None:
        known = output.shape.is_fully_defined()
        zeros = constant_op.constant(0, output.dtype.base_dtype, output.shape.as_list()) if known else array_ops.zeros_like(op.inputs[0])
        return flow_contexts.switch(zeros, state.real_pred(context.pred))[1 - context.branch]
    taken = _op("Switch", [op.inputs[0], context.pred], {})[1 - context.branch]
    pivot = array_ops.identity(taken)
    shape = array_ops.shape_internal(taken, optimize=False)
    with ops.control_dependencies([pivot]):
        return array_ops.zeros(shape, dtype=output.dtype.base_dtype)


def _zeros_of_exit(result: Any) -> Any:
    if result.shape.is_fully_defined():
        return array_ops.zeros(result.shape.as_list(), dtype=result.dtype.base_dtype)
    return array_ops.zeros_like(result, optimize=False)


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else value


def _key(t: Any) -> tuple[int, int]:
    return t.op._id, t.value_index


def _note_shape(op: Any, t: Any, g: Any) -> None:
    try:
        g.set_shape(t.shape)
    except ValueError:
        raise ValueError(
            f"Incompatible shapes between op input and calculated input gradient. Forward operation: {op.name}. "
            f"Original input shape: {t.shape}. Calculated input gradient shape: {g.shape}"
        ) from None


def _between(targets: list[Any], sources: list[Any]) -> dict[int, Any]:
    """The operations on a differentiable way from a source to a target, nearest the targets first."""
    above: dict[int, Any] = {}
    readers: dict[int, list[Any]] = collections.defaultdict(list)
    stack = [y.op for y in targets]
    while stack:
        op = stack.pop()
        if op._id in above:
            continue
        above[op._id] = op
        for t in op.inputs:
            if _differentiable(t):
                readers[t.op._id].append(op)
            stack.append(t.op)
    reached: set[int] = set()
    stack = [x.op for x in sources if x.op._id in above]
    while stack:
        op = stack.pop()
        if op._id not in reached:
            reached.add(op._id)
            stack.extend(readers[op._id])
    # From the targets back, so that one whose result no gradient can follow (a Rank) is left out.
    found: dict[int, Any] = {}
    queue = collections.deque(y.op for y in targets)
    while queue:
        op = queue.popleft()
        if op._id in reached and op._id not in found:
            found[op._id] = op
            queue.extend(t.op for t in op.inputs)
    return found


def _sum(grads: list[Any]) -> Any:
    """Slices stay slices, unless a whole tensor is among them."""
    slices = [isinstance(g, ops.IndexedSlices) for g in grads]
    if not any(slices):
        return _sum_by_device(grads)
    if not all(slices):
        return _op("AddN", [list(grads)], {})
    values = array_ops.concat([g.values for g in grads], 0)
    return ops.IndexedSlices(values, array_ops.concat([g.indices for g in grads], 0), grads[0].dense_shape)


def _sum_by_device(grads: list[Any]) -> Any:
    """On each device what is there, and then those sums."""
    there: dict[str, list[Any]] = {}
    for g in grads:
        there.setdefault(g.device, []).append(g)
    sums = []
    for device in sorted(there):
        first, *rest = there[device]
        with ops.colocate_with(first.op, ignore_existing=True):
            sums.append(_op("AddN", [[first, *rest]], {}) if rest else first)
    return _op("AddN", [sums], {}) if len(sums) > 1 else sums[0]


def _sum_one_by_one(op: Any, grads: list[Any]) -> Any:
    """What the experimental methods do: little is held at once."""
    if any(isinstance(g, ops.IndexedSlices) for g in grads):
        return _sum(grads)
    with ops.name_scope(op.name + "_gradient_sum"):
        return functools.reduce(lambda total, g: _op("AddN", [[total, g]], {}), grads)


def hessians(
    ys: Any, xs: Any, name: str = "hessians", colocate_gradients_with_ops: bool = False, gate_gradients: bool = False,
    aggregation_method: Any = None,
) -> list[Any]:
    """Second derivatives: for each x, a tensor of its shape twice. The size of x must be known."""
    how = {"colocate_gradients_with_ops": colocate_gradients_with_ops, "gate_gradients": gate_gradients}
    found = []
    for x, first in zip(_listed(xs), gradients(ys, xs, **how)):
        if not x.shape.is_fully_defined():
            raise ValueError(f"hessians needs the shape of {x} to be known")
        flat = array_ops.reshape(backprop.dense(first), [-1])
        with ops.name_scope("while"):  # where TensorFlow's loop over the rows has its names
            rows = [gradients(flat[i], x, unconnected_gradients="zero", **how)[0] for i in range(x.shape.num_elements())]
            matrix = array_ops.stack([backprop.dense(r) for r in rows])
        found.append(array_ops.reshape(matrix, x.shape.as_list() * 2))
    return found


_customs = itertools.count()


def custom_gradient(f: Any = None) -> Any:
    """`f` returns its value and the function that gives its gradient."""
    if f is None:
        return custom_gradient

    @functools.wraps(f)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        inputs = [ops.convert_to_tensor(a) for a in args]
        before = len(ops.get_default_graph().get_operations())
        result, grad_fn = f(*inputs, **kwargs)
        used = _variables_read(before) if "variables" in inspect.signature(grad_fn).parameters else []
        outputs = [ops.convert_to_tensor(r) for r in _listed(result)]
        for o in outputs:
            array_ops.identity(o)  # TensorFlow makes it, and leaves it
        key = f"CustomGradient-{next(_customs)}"

        def backward(op: Any, *grads: Any) -> Any:
            given, of_variables = grad_fn(*grads[: len(outputs)], variables=used) if used else (grad_fn(*grads[: len(outputs)]), [])
            given = _listed(given)
            if len(given) != len(inputs):
                raise ValueError(f"Must return gradient for each of the {len(inputs)} arguments, got {len(given)}")
            if len(of_variables) != len(used):
                raise ValueError(f"Must return gradient for each variable from @custom_gradient grad_fn: {len(used)}, got {len(of_variables)}")
            return [None] * len(outputs) + given + list(of_variables)

        registry.gradient(key)(backward)
        made = _identity_n(outputs + inputs + [v.handle for v in used], key)[: len(outputs)]
        return type(result)(made) if isinstance(result, (list, tuple)) else made[0]

    return decorated


def _variables_read(before: int) -> list[Any]:
    """The trainable variables that operations made since then read."""
    from emplace.framework import variables

    read = {_key(t) for op in ops.get_default_graph().get_operations()[before:] for t in op.inputs}
    known = variables.trainable_variables()
    if any(not hasattr(v, "handle") and _key(v._ref()) in read for v in known):
        raise TypeError("All variables used by `f` wrapped with @custom_gradient must be `ResourceVariable`s. Ensure that no `variable_scope` is created with `use_resource=False`.")
    return [v for v in known if hasattr(v, "handle") and _key(v.handle) in read]


def _identity_n(values: Iterable[Any], gradient_type: str) -> list[Any]:
    values = list(values)
    with ops.graph_of(values).gradient_override_map({"IdentityN": gradient_type}):
        return list(_op("IdentityN", [values], {}))


def grad_pass_through(f: Any) -> Any:
    """`f` forwards, nothing backwards."""
    @custom_gradient
    def function(*args: Any, **kwargs: Any) -> Any:
        return f(*args, **kwargs), lambda *grads: grads if len(grads) != 1 else grads[0]

    return function
