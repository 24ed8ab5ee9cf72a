"""Gradients of operations that call functions: branches, loops, calls.

The gradient of a function is a function too. What it needs of the forward one's inside the call is
made to give: a branch as an Optional (the other has none), a loop as a list with an element a round.
"""

from __future__ import annotations

from typing import Any

from emplace import _core
from emplace.eager import func_graph
from emplace.eager.func_graph import Body, FuncGraph
from emplace.framework import array_ops, constant_op, dtypes, ops
from emplace.framework.dispatch import execute as _op
from emplace.gradients import backprop
from emplace.gradients.registry import gradient, no_gradient

_RESOURCE, _VARIANT = 20, 21

no_gradient("OptionalNone")
no_gradient("OptionalHasValue")
no_gradient("EmptyTensorList")
no_gradient("TensorListReserve")


class GradGraph(FuncGraph):
    """The backward pass over a forward graph: what it takes from there is noted."""

    def __init__(self, name: str, forward: Body, outer: Any) -> None:
        super().__init__(name, outer)
        self.forward = forward
        self._positions = {id(t): i for i, t in enumerate(forward.inputs)}
        self.needed: list[tuple[Any, Any]] = []  # (tensor of the forward graph, what stands for it)
        self._of_forward: dict[int, Any] = {}

    def _capture(self, value: Any, name: str | None = None) -> Any:
        if func_graph.is_eager(value) or value.graph is not self.forward.graph:
            return super()._capture(value, name)
        found = self._of_forward.get(id(value))
        if found is None:
            found = self._of_forward[id(value)] = self._take(value)
            self.needed.append((value, found))
        return found

    def _take(self, value: Any) -> Any:
        if value.op.type == "Const" and id(value) not in self._positions:
            with self.as_default(), self.control_dependencies(None):
                return self._add("Const", [], {"dtype": value.dtype, "value": value.op._node.attr("value")}, None).outputs[0]
        at = self._positions.get(id(value))
        if at is not None and self._stays(at):
            return super()._capture(self._outer_input(at))
        return self._intermediate(value)

    def _stays(self, i: int) -> bool:
        """Is input i the same outside of the forward call?"""
        return True

    def _outer_input(self, i: int) -> Any:
        raise NotImplementedError

    def _intermediate(self, value: Any) -> Any:
        raise NotImplementedError

    def build(self, wanted: list[int], by: list[int]) -> list[Any]:
        """Arguments: a gradient for each of the forward outputs `wanted`. Gradients of the inputs `by`."""
        outputs, inputs = self.forward.outputs, self.forward.inputs
        from emplace.eager import context

        context._state.eager += 1
        saved, context._state.recorders = context._state.recorders, []
        try:
            with self.as_default():
                seeds = [self.argument(outputs[i].dtype, outputs[i].shape) for i in wanted]
                found = backprop.of_graph([outputs[i] for i in wanted], [inputs[i] for i in by], seeds)
                return [None if g is None else backprop.dense(g) for g in found]
        finally:
            context._state.recorders = saved
            context._state.eager -= 1


def _zeros(graph: GradGraph, like: Any, other: Any) -> Any:
    """For an input that nothing flows back to here; `other`: what flows back to it elsewhere."""
    with graph.as_default():
        if like.dtype._enum == _VARIANT:
            return _op("ZerosLike", [like], {})
        return _zeros_of(like, other) if like.dtype._enum == _RESOURCE else array_ops.zeros_like(like)


def _zeros_of(variable: Any, like: Any) -> Any:
    if like.shape.is_fully_defined():
        return array_ops.zeros(like.shape.as_list(), like.dtype.base_dtype)
    return array_ops.zeros(_op("VariableShape", [variable], {}), like.dtype.base_dtype)


def _seeded(outputs: Any, grads: Any) -> list[int]:
    return [i for i, (o, g) in enumerate(zip(outputs, grads)) if g is not None and func_graph.trainable(o.dtype)]


def _differentiable(tensors: Any) -> list[int]:
    return [i for i, t in enumerate(tensors) if func_graph.trainable(t.dtype)]


def _bodies(op: Any) -> list[Body]:
    found = getattr(op.graph, "bodies", {})
    names = func_graph.called(op)
    if any(n not in found for n in names):
        raise LookupError(f"No gradient defined for operation '{op.name}' (op type: {op.type}): its functions were not traced here")
    return [found[n] for n in names]


def _types(tensors: Any) -> list[Any]:
    return [t.dtype.base_dtype for t in tensors]


def _shapes(tensors: Any) -> list[Any]:
    return [t.shape for t in tensors]


# ---- Branches.


class _BranchGrad(GradGraph):
    def __init__(self, name: str, forward: Body, outer: Any, arguments: list[Any]) -> None:
        super().__init__(name, forward, outer)
        self._arguments = arguments
        self.extra: list[tuple[Any, Any, Any]] = []  # (optional in the forward graph, input here, value here)

    def _outer_input(self, i: int) -> Any:
        return self._arguments[i]

    def _intermediate(self, value: Any) -> Any:
        forward = self.forward.graph
        with forward.as_default(), forward.control_dependencies(None):
            optional = _op("OptionalFromValue", [[value]], {})
        stands_for = self._stand_in(dtypes.variant, [], None)
        with self.as_default():
            got = _op("OptionalGetValue", [stands_for], {"output_types": [value.dtype.base_dtype], "output_shapes": [value.shape]})[0]
        self.extra.append((optional, stands_for, got))
        return got


@gradient("If", "StatelessIf", "Case", "StatelessCase")
def _branches(record: Any, *grads: Any) -> Any:
    op = getattr(record, "op", record)
    bodies, names = _bodies(op), func_graph.called(op)
    arguments = list(record.inputs)[1:]
    wanted = _seeded(record.outputs, grads)
    by = _differentiable(arguments)
    if not wanted or not by:
        return [None] * len(record.inputs)
    outer = ops.get_default_graph()
    graphs, found = [], []
    for name, body in zip(names, bodies):
        # Optionals that an earlier gradient asked for are another branch's where this one has none.
        g = _BranchGrad(f"{name}_grad_{func_graph.number()}", body, outer, arguments)
        found.append(g.build(wanted, by))
        graphs.append(g)
    kept = [k for k in range(len(by)) if any(f[k] is not None for f in found)]
    if not kept:
        return [None] * len(record.inputs)
    for g, f in zip(graphs, found):
        others = [next(o[k] for o in found if o[k] is not None) for k in kept]
        g.finish([f[k] if f[k] is not None else _zeros(g, g.forward.inputs[by[k]], o) for k, o in zip(kept, others)])
    optionals = _give_optionals(op, bodies, names, graphs)
    head = [record.inputs[0], *(backprop.dense(grads[i]) for i in wanted)]
    made = _branch_call(op, graphs, head, optionals, len(wanted))
    result: list[Any] = [None] * len(record.inputs)
    for k, g in zip(kept, made):
        result[by[k] + 1] = g
    return result


def _give_optionals(op: Any, bodies: list[Body], names: list[str], graphs: list[_BranchGrad]) -> list[Any]:
    """The forward call gives what the gradient of each branch needs; those outputs."""
    total = sum(len(g.extra) for g in graphs)
    if not total:
        return []
    before = len(op.outputs)
    renamed = [f"{n}_rewritten" for n in names]
    for k, (body, name) in enumerate(zip(bodies, renamed)):
        more = []
        for j, g in enumerate(graphs):
            for optional, _, _ in g.extra:
                if j == k:
                    more.append(optional)
                    continue
                with body.graph.as_default(), body.graph.control_dependencies(None):
                    more.append(_op("OptionalNone", [], {}))
        op.graph.add_body(name, body.extended([], more))
    outputs = op.graph.bodies[renamed[0]].outputs
    attrs: dict[str, Any] = {"Tout": _types(outputs), "output_shapes": [*_shapes(op.outputs), *([[]] * total)]}
    if op.type in ("Case", "StatelessCase"):
        attrs["branches"] = renamed
    else:
        attrs["then_branch"], attrs["else_branch"] = renamed
    _core.extend_call(op, [], attrs)
    return list(op.outputs)[before:]


def _branch_call(op: Any, graphs: list[_BranchGrad], head: list[Any], optionals: list[Any], seeds: int) -> list[Any]:
    outer = ops.get_default_graph()
    outside: dict[int, Any] = {}
    for g in graphs:
        for value, _ in g.captures:
            outside.setdefault(id(value), value)
    own = [t for g in graphs for _, t, _ in g.extra]  # in the order of `optionals`
    for g in graphs:
        mine = {id(t) for _, t, _ in g.extra}
        variants = [t if id(t) in mine else g._stand_in(dtypes.variant, [], None) for t in own]
        g.inputs = [*g.inputs[:seeds], *(g._capture(v) for v in outside.values()), *variants]
        outer.add_body(g.name, Body(g, g.inputs, g.outputs))
    inside = getattr(outer, "inside", lambda t: t)
    inputs = [inside(t) for t in (*head[1:], *outside.values(), *optionals)]
    outputs = graphs[0].outputs
    shapes = _shapes(outputs)
    stateful = any(g.stateful for g in graphs)
    attrs: dict[str, Any] = {"Tin": _types(inputs), "Tout": _types(outputs), "output_shapes": shapes, "_lower_using_switch_merge": True}
    if op.type in ("Case", "StatelessCase"):
        attrs["branches"] = [g.name for g in graphs]
        kind = "Case" if stateful else "StatelessCase"
    else:
        attrs["then_branch"], attrs["else_branch"] = (g.name for g in graphs)
        kind = "If" if stateful else "StatelessIf"
    node = outer._add(kind, [inside(head[0]), *inputs], attrs, None)
    return [array_ops.identity(t) for t in node.outputs]


@gradient("OptionalFromValue")
def _optional_from_value(op: Any, grad: Any) -> Any:
    return _op("OptionalGetValue", [grad], {"output_types": _types(op.inputs), "output_shapes": _shapes(op.inputs)})


@gradient("OptionalGetValue")
def _optional_get_value(op: Any, *grads: Any) -> Any:
    return _op("OptionalFromValue", [list(grads)], {})


# ---- Loops.


class _LoopGrad(GradGraph):
    def __init__(self, name: str, op: Any, forward: Body, outer: Any) -> None:
        super().__init__(name, forward, outer)
        self._op = op
        self.lists: list[tuple[Any, Any, Any]] = []  # (list given to the loop, its input there, its output there)
        self.popped: list[tuple[Any, Any]] = []      # (input here, what is left of it after a round)

    def _stays(self, i: int) -> bool:
        return self.forward.outputs[i] is self.forward.inputs[i]

    def _outer_input(self, i: int) -> Any:
        return self._op.outputs[i]

    def _intermediate(self, value: Any) -> Any:
        forward, around = self.forward.graph, self._op.graph
        dtype, shape = value.dtype.base_dtype, value.shape
        with around.as_default(), around.control_dependencies(None):
            start = _op("EmptyTensorList", [_element_shape(shape), self._op.inputs[1]], {"element_dtype": dtype})
        kept = forward._stand_in(dtypes.variant, [], None)
        with forward.as_default(), forward.control_dependencies(None):
            pushed = _op("TensorListPushBack", [kept, value], {})
        here = self._stand_in(dtypes.variant, [], None)
        with self.as_default():
            rest, got = _op("TensorListPopBack", [here, _element_shape(shape)], {"element_dtype": dtype})
        got.set_shape(shape)
        self.lists.append((start, kept, pushed))
        self.popped.append((here, rest))
        return got


def _element_shape(shape: Any) -> Any:
    known = -1 if shape.rank is None else [-1 if d is None else d for d in shape.as_list()]
    return constant_op.constant(known, dtypes.int32)


@gradient("While", "StatelessWhile")
def _while(record: Any, *grads: Any) -> Any:
    op = getattr(record, "op", record)
    cond, body = _bodies(op)
    n = len(record.inputs)
    grads = _with_lists(record, body, grads[:n])
    wanted = [i for i in _seeded(record.outputs[:n], grads) if record.outputs[i].dtype._enum != _RESOURCE]
    if not wanted:
        return [None] * n
    handles = [i for i in range(n) if record.inputs[i].dtype._enum == _RESOURCE and body.outputs[i] is body.inputs[i]]
    outer = ops.get_default_graph()
    g = _LoopGrad(f"{func_graph.called(op)[1]}_grad_{func_graph.number()}", op, body, outer)
    counter, limit, total = (g.argument(dtypes.int32, []) for _ in range(3))
    found = g.build(wanted, wanted + handles)
    # Gradients of variables, which rounds read, are summed up.
    summed = [(i, f) for i, f in zip(handles, found[len(wanted) :]) if f is not None]
    sums = [g._stand_in(f.dtype, f.shape, None) for _, f in summed]
    seeds = g.inputs[3 : 3 + len(wanted)]
    g.inputs[3 + len(wanted) : 3 + len(wanted)] = sums
    with g.as_default():
        back = [array_ops.zeros_like(s) if f is None else f for f, s in zip(found, seeds)]
        g.finish([counter + 1, limit, total, *back, *(s + f for s, (_, f) in zip(sums, summed))])
    starts = [backprop.dense(grads[i]) for i in wanted] + [_zeros_of(record.inputs[i], f) for i, f in summed]
    _keep_lists(op, cond, body, g)
    return _loop_call(record, op, g, starts, wanted + [i for i, _ in summed], outer)


def _with_lists(record: Any, body: Body, grads: Any) -> list[Any]:
    """Lists that rounds take elements from gather gradients too: theirs start with zeros."""
    grads = list(grads)
    for i, t in enumerate(record.outputs[: len(grads)]):
        if grads[i] is None and t.dtype._enum == _VARIANT and _reads_list(body, i):
            grads[i] = _op("ZerosLike", [t], {})
    return grads


def _reads_list(body: Body, i: int) -> bool:
    readers = [u for u in body.graph.get_operations() if any(t is body.inputs[i] for t in u.inputs)]
    return any(
        u.type in ("TensorListGetItem", "TensorListPopBack", "OptionalGetValue") and func_graph.trainable(u.outputs[-1].dtype)
        or func_graph.called(u) for u in readers
    )


def _keep_lists(op: Any, cond: Body, body: Body, g: _LoopGrad) -> None:
    """The forward loop fills the lists."""
    if not g.lists:
        return
    names = [f"{name}_rewritten" for name in func_graph.called(op)]
    unused = [cond.graph._stand_in(dtypes.variant, [], None) for _ in g.lists]
    op.graph.add_body(names[0], cond.extended(unused, []))
    op.graph.add_body(names[1], body.extended([kept for _, kept, _ in g.lists], [pushed for _, _, pushed in g.lists]))
    starts = [op.graph.inside(start) for start, _, _ in g.lists]
    attrs = {
        "T": [*_types(op.inputs), *([dtypes.variant] * len(starts))], "cond": names[0], "body": names[1],
        "output_shapes": [*_shapes(op.outputs), *([[]] * len(starts))],
    }
    before = len(op.outputs)
    _core.extend_call(op, starts, attrs)
    g.filled = list(op.outputs)[before:]  # type: ignore[attr-defined]


def _loop_call(record: Any, op: Any, g: _LoopGrad, starts: list[Any], wanted: list[int], outer: Any) -> list[Any]:
    inside = getattr(outer, "inside", lambda t: t)
    outside = [value for value, _ in g.captures]
    passed = [inner for _, inner in g.captures]
    m = 3 + len(wanted)
    g.inputs = [*g.inputs[:m], *passed, *(here for here, _ in g.popped)]
    g.outputs = [*g.outputs, *passed, *(rest for _, rest in g.popped)]
    test = FuncGraph(f"{g.name}_cond", outer)
    with test.as_default():
        for t in g.inputs:
            test.argument(t.dtype, t.shape)
        test.finish([_op("Less", [test.inputs[0], test.inputs[2]], {})])
    for graph in (test, g):
        outer.add_body(graph.name, Body(graph, graph.inputs, graph.outputs))
    start = constant_op.constant(0)
    lists = getattr(g, "filled", [])
    inputs = [start, op.inputs[1], op.outputs[0], *starts, *outside, *lists]
    inputs = [inside(t) for t in inputs]
    attrs = {
        "cond": test.name, "body": g.name, "T": _types(inputs), "output_shapes": _shapes(g.inputs),
        "parallel_iterations": op.get_attr("parallel_iterations"), "_lower_using_switch_merge": True,
    }
    node = outer._add("While" if g.stateful else "StatelessWhile", inputs, attrs, None)
    made = [array_ops.identity(t) for t in node.outputs]
    result: list[Any] = [None] * len(record.inputs)
    for k, i in enumerate(wanted):
        result[i] = made[3 + k]
    return result


# ---- Calls.


class CallGrad(GradGraph):
    """`intermediates`: what the forward function must give besides its outputs."""

    def __init__(self, name: str, forward: Body, outer: Any, arguments: Any = None) -> None:
        super().__init__(name, forward, outer)
        self._arguments = arguments
        self.taken: list[tuple[Any, Any]] = []  # (tensor of the forward graph, input here)
        self._by_output = {id(t): i for i, t in enumerate(forward.outputs)}

    def _take(self, value: Any) -> Any:
        if value.op.type == "Const" and id(value) not in self._positions:
            return super()._take(value)
        here = self._stand_in(value.dtype, value.shape, None)
        self.taken.append((value, here))
        return here

    def close(self, results: list[Any]) -> None:
        self.finish([g for g in results if g is not None])
        captured = [inner for _, inner in self.captures]
        own = [t for t in self.inputs if all(t is not c for c in captured)]
        self.inputs = own + [here for _, here in self.taken] + captured


@gradient("PartitionedCall", "StatefulPartitionedCall")
def _call(record: Any, *grads: Any) -> Any:
    op = getattr(record, "op", record)
    (body,), (name,) = _bodies(op), func_graph.called(op)
    wanted, by = _seeded(record.outputs, grads), _differentiable(record.inputs)
    if not wanted or not by:
        return [None] * len(record.inputs)
    outer = ops.get_default_graph()
    g = CallGrad(f"__backward_{name}_{func_graph.number()}", body, outer)
    found = g.build(wanted, by)
    g.close(found)
    outside = _forward_values(op, body, name, [value for value, _ in g.taken])
    outer.add_body(g.name, Body(g, g.inputs, g.outputs))
    inside = getattr(outer, "inside", lambda t: t)
    inputs = [inside(t) for t in [*(backprop.dense(grads[i]) for i in wanted), *outside, *(v for v, _ in g.captures)]]
    kind = "StatefulPartitionedCall" if g.stateful else "PartitionedCall"
    node = outer._add(kind, inputs, {"Tin": _types(inputs), "Tout": _types(g.outputs), "f": g.name}, None)
    made = iter(node.outputs)
    result: list[Any] = [None] * len(record.inputs)
    for i, f in zip(by, found):
        if f is not None:
            result[i] = next(made)
            result[i].set_shape(record.inputs[i].shape) if record.inputs[i].dtype._enum != _RESOURCE else None
    return result


def _forward_values(op: Any, body: Body, name: str, needed: list[Any]) -> list[Any]:
    """Values of the forward function's inside as the caller has them; the call gives what it did not."""
    positions = {id(t): ("in", i) for i, t in enumerate(body.inputs)}
    positions.update((id(t), ("out", i)) for i, t in enumerate(body.outputs))
    more = [t for t in {id(t): t for t in needed}.values() if id(t) not in positions]
    if more:
        before = len(op.outputs)
        renamed = f"{name}_rewritten_{func_graph.number()}"
        op.graph.add_body(renamed, body.extended([], more))
        _core.extend_call(op, [], {"Tout": [*_types(op.outputs), *_types(more)], "f": renamed})
        for i, t in enumerate(more):
            positions[id(t)] = ("out", before + i)
            op.outputs[before + i].set_shape(t.shape)
    return [list(op.inputs)[i] if where == "in" else op.outputs[i] for where, i in (positions[id(t)] for t in needed)]

