"""Branches and loops inside a traced function: `If`, `Case` and `While` over functions of their own."""

from __future__ import annotations

import functools
from typing import Any, Callable

from emplace.eager import func_graph, nest, tensor_array
from emplace.eager.func_graph import Body, FuncGraph
from emplace.framework import array_ops, constant_op, dtypes, index_values, math_ops, ops, tensor_shape


def inside_function() -> bool:
    return func_graph.innermost() is not None


def _convert(value: Any, dtype: Any = None) -> Any:
    if isinstance(value, tensor_array.TensorArray):
        return value.flow
    if isinstance(value, ops.Tensor):
        return ops.get_default_graph().inside(value)
    return ops.convert_to_tensor(value, dtype)


def tensors(values: list[Any], hints: list[Any]) -> list[Any]:
    """As tensors of the graph being built; None for what is none (an operation)."""
    return [
        None if v is None or isinstance(v, ops.Operation) else _convert(v, None if isinstance(v, ops.Tensor) else hint)
        for v, hint in zip(values, hints)
    ]


def leaves_of(structure: Any) -> list[Any]:
    """Composites by their tensors."""
    return nest.flatten(structure, True)


def packed(structure: Any, leaves: list[Any]) -> Any:
    """`leaves` in the shape of `structure`; where that has arrays, they go on from the leaf."""
    like = leaves_of(structure)
    made = [a._with_flow(t) if isinstance(a, tensor_array.TensorArray) else t for a, t in zip(like, leaves)]
    return nest.pack_sequence_as(structure, made, True)


class Traced:
    """A branch or body whose Python has run: its graph, and what the Python returned."""

    def __init__(self, graph: FuncGraph, result: Any) -> None:
        self.graph, self.result = graph, result

    def tensors(self, hints: list[Any] | None = None) -> list[Any]:
        leaves = leaves_of(self.result)
        with self.graph.as_default():
            return tensors(leaves, hints or [None] * len(leaves))


def trace(name: str, scope: str, function: Callable[..., Any]) -> Traced:
    outer = ops.get_default_graph()
    graph = FuncGraph(f"{name}_{func_graph.number()}", outer)
    device = getattr(outer, "_extra", {}).get("device")
    with graph.as_default(), graph.name_scope(scope + "/"), graph.device(device):
        return Traced(graph, function(graph))


def _common(shapes: list[Any]) -> Any:
    return functools.reduce(tensor_shape.TensorShape.most_specific_compatible_shape, shapes)


# ---- Branches.


_UNLIKE = "true_fn and false_fn arguments to tf.cond must have the same number, type, and overall structure of return values."


def cond(pred: Any, true_fn: Any, false_fn: Any, name: str | None = None) -> Any:
    graph = ops.get_default_graph()
    scope = graph.unique_name(name or "cond", mark_as_used=False)
    branches = [trace(f"{scope.replace('/', '_')}_{word}", scope, lambda _, fn=fn: fn()) for word, fn in (("true", true_fn), ("false", false_fn))]
    _widen_rows(branches)
    first = branches[0].tensors()
    second = branches[1].tensors([None if t is None else t.dtype.base_dtype for t in first] if len(leaves_of(branches[1].result)) == len(first) else None)
    try:
        nest.assert_same_structure(branches[0].result, branches[1].result)
    except (TypeError, ValueError):
        raise TypeError(_UNLIKE) from None
    _check_branches([first, second])
    made = merge(pred, branches, [first, second], scope)
    return packed(branches[0].result, made)


def _widen_rows(branches: list[Traced]) -> None:
    """IndexedSlices of int32 and of int64 are both given as of int64."""
    leaves = [nest.flatten(b.result) for b in branches]
    if len(leaves[0]) != len(leaves[1]):
        return
    for i, pair in enumerate(zip(*leaves)):
        if all(isinstance(v, ops.IndexedSlices) for v in pair) and pair[0].indices.dtype != pair[1].indices.dtype:
            for branch, found in zip(branches, leaves):
                with branch.graph.as_default():
                    parts = found[i]._parts()
                    found[i] = ops.IndexedSlices(parts[0], *(math_ops.cast(p, dtypes.int64) for p in parts[1:]))
                branch.result = nest.pack_sequence_as(branch.result, found)


def _check_branches(results: list[list[Any]]) -> None:
    for i, (x, y) in enumerate(zip(*results)):
        if (x is None) != (y is None) or x is not None and x.dtype.base_dtype != y.dtype.base_dtype:
            kinds = ["None" if t is None else t.dtype.name for t in (x, y)]
            raise TypeError(f"{_UNLIKE} Error details:\nTensor {i} has dtype {kinds[0]} in true_fn and {kinds[1]} in false_fn.")


def merge(pred: Any, branches: list[Traced], results: list[list[Any]], scope: str) -> list[Any]:
    """The results of the traced branches, of which `pred` chooses one: the first where it holds."""
    pred = _convert(pred)
    if pred.dtype.base_dtype != dtypes.bool and pred.shape.rank != 0:
        raise TypeError("pred must not be a Python bool")
    kept = [i for i, t in enumerate(results[0]) if t is not None]
    graphs = _finished(branches, [[r[i] for i in kept] for r in results])
    names = [g.name for g in graphs]
    stateful = any(g.stateful for g in graphs)
    attrs = {"then_branch": names[0], "else_branch": names[1], "Tcond": pred.dtype.base_dtype}
    made = iter(_call("If" if stateful else "StatelessIf", graphs, [pred], attrs, scope))
    return [None if t is None else next(made) for t in results[0]]


def _finished(branches: list[Traced], results: list[list[Any]]) -> list[FuncGraph]:
    """Functions over the same inputs: what one captures the others take too."""
    graphs = [b.graph for b in branches]
    for g, r in zip(graphs, results):
        g.finish(r)
    same_inputs(graphs)
    return graphs


def same_inputs(graphs: list[FuncGraph]) -> list[Any]:
    """All take what any of them captures, in one order; the values outside."""
    outside: dict[int, Any] = {}
    for g in graphs:
        for value, _ in g.captures:
            outside.setdefault(id(value), value)
    resources_first = sorted(outside.values(), key=lambda t: t.dtype._enum != 20)
    for g in graphs:
        g.inputs = [g._capture(v) for v in resources_first]
    return resources_first


def _call(op: str, graphs: list[FuncGraph], head: list[Any], attrs: dict[str, Any], scope: str) -> list[Any]:
    """The node that calls the branches, and an Identity for each of its results."""
    graph = ops.get_default_graph()
    for g in graphs:
        graph.add_body(g.name, Body(g, g.inputs, g.outputs))
    outside = [outer for outer, _ in graphs[0].captures]
    shapes = [_common([g.outputs[i].shape for g in graphs]) for i in range(len(graphs[0].outputs))]
    attrs = {
        **attrs, "Tin": [t.dtype.base_dtype for t in outside], "Tout": [t.dtype.base_dtype for t in graphs[0].outputs],
        "output_shapes": shapes, "_lower_using_switch_merge": True,
    }
    node = graph._add(op, head + [graph.inside(t) for t in outside], attrs, scope.split("/")[-1])
    with graph.name_scope(scope + "/"):
        return [array_ops.identity(t) for t in node.outputs]


def switch_case(index: Any, branch_fns: list[Any], name: str = "switch_case") -> Any:
    graph = ops.get_default_graph()
    with graph.name_scope(name):
        scope = graph.unique_name("indexed_case", mark_as_used=False)
        branches = [trace(f"{scope.replace('/', '_')}_branch{i}", scope, lambda _, fn=fn: fn()) for i, fn in enumerate(branch_fns)]
        results = [branches[0].tensors()]
        for b in branches[1:]:
            results.append(b.tensors([None if t is None else t.dtype.base_dtype for t in results[0]]))
            nest.assert_same_structure(branches[0].result, b.result)
        _check_cases(results)
        kept = [i for i, t in enumerate(results[0]) if t is not None]
        index = _convert(index)
        graphs = _finished(branches, [[r[i] for i in kept] for r in results])
        stateful = any(g.stateful for g in graphs)
        attrs = {"branches": [g.name for g in graphs]}
        made = iter(_call("Case" if stateful else "StatelessCase", graphs, [index], attrs, scope))
        return packed(branches[0].result, [None if t is None else next(made) for t in results[0]])


def _check_cases(results: list[list[Any]]) -> None:
    for k, other in enumerate(results[1:], 1):
        if len(other) != len(results[0]) or any(
            (x is None) != (y is None) or x is not None and x.dtype.base_dtype != y.dtype.base_dtype for x, y in zip(results[0], other)
        ):
            raise TypeError(f"branches[0] and branches[{k}] arguments to tf.switch_case must have the same number, type, and overall structure of return values.")


# ---- Loops.


def while_loop(
    test: Any, body: Any, loop_vars: Any, maximum_iterations: Any = None, shape_invariants: Any = None, name: str | None = None,
    parallel_iterations: int = 10,
) -> Any:
    graph = ops.get_default_graph()
    like = leaves_of(loop_vars)
    initial = tensors(like, [None] * len(like))
    scope = graph.unique_name(name or "while", mark_as_used=False)
    shapes = [_loop_shape(a, t) for a, t in zip(like, initial)]
    if shape_invariants is not None:
        given = nest.flatten(shape_invariants)
        shapes = [tensor_shape.as_shape(getattr(s, "shape", s)) if len(given) == len(shapes) else old for s, old in zip(given, shapes)]
    with graph.name_scope(scope + "/"):
        limit = index_values.narrow(-1 if maximum_iterations is None else maximum_iterations, "maximum_iterations")
        counter = constant_op.constant(0, name="loop_counter")
    all_initial = [counter, limit, *initial]
    all_shapes = [counter.shape, limit.shape, *shapes]

    def entered(g: FuncGraph) -> list[Any]:
        for t, s in zip(all_initial, all_shapes):
            g.argument(t.dtype, s)
        return list(g.inputs)

    def run_test(g: FuncGraph) -> Any:
        args = entered(g)
        go_on = _convert(test(*packed(list(loop_vars), args[2:])))
        if go_on.shape.rank not in (0, None):
            raise TypeError(f"cond returned a tensor of shape {go_on.shape}; a scalar is wanted")
        if maximum_iterations is not None:
            go_on = math_ops.logical_and(args[0] < args[1], go_on)
        return go_on

    def run_body(g: FuncGraph) -> Any:
        args = entered(g)
        given = packed(list(loop_vars), args[2:])
        result = body(*given)
        if not isinstance(result, (list, tuple)):
            result = (result,)
        elif len(given) == 1 and len(result) != 1 or hasattr(result, "_fields"):
            result = (result,)
        nest.assert_same_structure(list(given), list(result))
        out = tensors(leaves_of(list(result)), [a.dtype.base_dtype for a in args[2:]])
        return [args[0] + 1, args[1], *out]

    word = scope.replace("/", "_")
    cond_, body_ = trace(f"{word}_cond", scope, run_test), trace(f"{word}_body", scope, run_body)
    n = len(all_initial)
    _check_loop(body_.graph.inputs[:n], body_.result)
    with cond_.graph.as_default():
        cond_.graph.finish([cond_.result])
    with body_.graph.as_default():
        body_.graph.finish(body_.result)
    outside = _loop_inputs(cond_.graph, body_.graph, n)
    return packed(loop_vars, _loop_node(graph, cond_.graph, body_.graph, all_initial + outside, all_shapes, scope, parallel_iterations)[2 : len(like) + 2])


def _loop_shape(like: Any, t: Any) -> Any:
    return tensor_shape.TensorShape([]) if isinstance(like, tensor_array.TensorArray) else t.shape


def _check_loop(before: list[Any], after: list[Any]) -> None:
    for b, a in zip(before, after):
        if b.dtype.base_dtype != a.dtype.base_dtype:
            raise TypeError(f"Loop var {b.name} enters the loop with type {b.dtype.name}, but has type {a.dtype.name} after one iteration.")
        if b.dtype._enum == 21:
            continue
        if not b.shape.is_compatible_with(a.shape) or b.shape.is_fully_defined() and not a.shape.is_fully_defined():
            raise ValueError(f"Input tensor '{b.name}' enters the loop with shape {b.shape}, but has shape {a.shape} after one iteration. To allow the shape to vary across iterations, use the `shape_invariants` argument of tf.while_loop to specify a less-specific shape.")


def _loop_inputs(cond_: FuncGraph, body: FuncGraph, n: int) -> list[Any]:
    """What either captures goes round with the variables, unchanged; the values outside."""
    own = {g: g.inputs[:n] for g in (cond_, body)}
    outside: dict[int, Any] = {}
    for g in (cond_, body):
        for value, _ in g.captures:
            outside.setdefault(id(value), value)
    for g in (cond_, body):
        g.inputs = own[g] + [g._capture(v) for v in outside.values()]
    body.outputs = body.outputs + body.inputs[n:]
    return list(outside.values())


def _loop_node(graph: Any, cond_: FuncGraph, body: FuncGraph, inputs: list[Any], shapes: list[Any], scope: str, parallel: int) -> list[Any]:
    for g in (cond_, body):
        graph.add_body(g.name, Body(g, g.inputs, g.outputs))
    shapes = shapes + [t.shape for t in inputs[len(shapes) :]]
    op = "While" if cond_.stateful or body.stateful else "StatelessWhile"
    attrs = {
        "cond": cond_.name, "body": body.name, "T": [t.dtype.base_dtype for t in inputs], "output_shapes": shapes,
        "parallel_iterations": parallel, "_lower_using_switch_merge": True,
    }
    node = graph._add(op, [graph.inside(t) for t in inputs], attrs, scope.split("/")[-1])
    return list(node.outputs)
