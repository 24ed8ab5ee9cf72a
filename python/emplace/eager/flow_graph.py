"""Branches and loops inside a traced function.

Their blocks are traced into the function's own graph and remembered as lists of nodes: the function
runs those of the branch taken, or those of a loop as often as its condition holds. A `NoOp` marks
the place; placeholders stand for the results.
"""

from __future__ import annotations

from typing import Any, Callable

from emplace.eager import nest
from emplace.framework import array_ops, ops, tensor_shape


class Block:
    """Nodes of one branch, condition or body, and what it results in."""

    __slots__ = ("nodes", "outputs", "plan")

    def __init__(self, nodes: range, outputs: list[Any]) -> None:
        self.nodes, self.outputs, self.plan = nodes, outputs, None


class Flow:
    """A branch (`pred` chooses a block) or a loop (blocks: condition, body)."""

    __slots__ = ("pred", "blocks", "outputs", "variables", "initial", "limit")

    def __init__(self, blocks: list[Block], outputs: list[Any], pred: Any = None, variables: Any = (), initial: Any = ()) -> None:
        self.blocks, self.outputs, self.pred = blocks, outputs, pred
        self.variables, self.initial = list(variables), list(initial)


def inside_function() -> bool:
    return bool(ops._default_graphs.stack) and hasattr(ops._default_graphs.stack[-1], "flows")


def _count(graph: Any) -> int:
    return len(graph.get_operations())


def traced(graph: Any, function: Callable[[], Any]) -> tuple[Any, range]:
    start = _count(graph)
    result = function()
    return result, range(start, _count(graph))


def tensors(values: list[Any], hints: list[Any]) -> list[Any]:
    converted = []
    for v, hint in zip(values, hints):
        if v is None or isinstance(v, ops.Operation):
            converted.append(None)
        elif isinstance(v, ops.Tensor) and not hasattr(v, "_numpy_of_eager"):
            converted.append(v)
        elif hasattr(v, "_numpy_of_eager"):
            converted.append(ops._default_graphs.stack[-1]._capture(v))
        else:
            converted.append(ops.convert_to_tensor(v, None if isinstance(v, ops.Tensor) or hint is None else hint))
    return converted


def _common(a: Any, b: Any) -> Any:
    if a.shape.rank is None or b.shape.rank is None or a.shape.rank != b.shape.rank:
        return None
    return [x if x == y else None for x, y in zip(a.shape.as_list(), b.shape.as_list())]


def _add(graph: Any, flow: Flow, kinds: list[tuple[Any, Any]], name: str) -> list[Any]:
    """Marks the place and makes a placeholder for each (dtype, shape)."""
    anchor = graph._add("NoOp", [], {}, name)
    graph.flows[anchor._id] = flow
    for dtype, shape in kinds:
        p = array_ops.placeholder(dtype, shape, name=f"{name}/output")
        graph.flow_outputs[p.op._id] = anchor
        flow.outputs.append(p)
    return flow.outputs


def cond(pred: Any, true_fn: Any, false_fn: Any, name: str | None = None) -> Any:
    graph = ops.get_default_graph()
    structures, blocks = [], []
    hints: list[Any] = []
    for fn in (true_fn, false_fn):
        def run(fn: Any = fn) -> Any:
            result = fn()
            leaves = nest.flatten(result)
            return result, tensors(leaves, hints or [None] * len(leaves))

        (result, leaves), nodes = traced(graph, run)
        hints = [None if t is None else t.dtype.base_dtype for t in leaves]
        structures.append(result)
        blocks.append(Block(nodes, leaves))
    try:
        nest.assert_same_structure(structures[0], structures[1])
    except (TypeError, ValueError):
        raise TypeError(_UNLIKE) from None
    return nest.pack_sequence_as(structures[0], merge(pred, blocks, name))


def merge(pred: Any, blocks: list[Block], name: str | None = None) -> list[Any]:
    """The results of two traced blocks, of which `pred` chooses one."""
    _check_branches(blocks)
    pred = tensors([pred], [None])[0]
    a, b = (block.outputs for block in blocks)
    kinds = [(x.dtype, _common(x, y)) for x, y in zip(a, b) if x is not None]
    for block in blocks:
        block.outputs = [t for t in block.outputs if t is not None]
    made = iter(_add(ops.get_default_graph(), Flow(blocks, [], pred), kinds, name or "cond"))
    return [None if x is None else next(made) for x in a]


_UNLIKE = "true_fn and false_fn arguments to tf.cond must have the same number, type, and overall structure of return values."


def _check_branches(blocks: list[Block]) -> None:
    for i, (x, y) in enumerate(zip(blocks[0].outputs, blocks[1].outputs)):
        if (x is None) != (y is None) or x is not None and x.dtype.base_dtype != y.dtype.base_dtype:
            kinds = ["None" if t is None else t.dtype.name for t in (x, y)]
            raise TypeError(f"{_UNLIKE} Error details:\nTensor {i} has dtype {kinds[0]} in true_fn and {kinds[1]} in false_fn.")


def while_loop(
    test: Any, body: Any, loop_vars: Any, maximum_iterations: Any = None, shape_invariants: Any = None, name: str | None = None,
) -> Any:
    graph = ops.get_default_graph()
    leaves = nest.flatten(loop_vars)
    initial = tensors(leaves, [None] * len(leaves))
    shapes = [t.shape for t in initial]
    if shape_invariants is not None:
        shapes = [tensor_shape.as_shape(getattr(s, "shape", s)) for s in nest.flatten(shape_invariants)]
    if maximum_iterations is not None:
        initial.append(tensors([maximum_iterations], [None])[0])
        shapes.append(initial[-1].shape)
    variables = [array_ops.placeholder(t.dtype, s, name="while/variable") for t, s in zip(initial, shapes)]
    given = nest.pack_sequence_as(loop_vars, variables[: len(leaves)])
    limited = maximum_iterations is not None

    def run_test() -> Any:
        go_on = tensors([test(*given)], [None])[0]
        return (variables[-1] > 0) & go_on if limited else go_on

    def run_body() -> Any:
        result = body(*given)
        if not isinstance(result, (list, tuple)):
            result = (result,)
        nest.assert_same_structure(list(given), list(result))
        out = tensors(nest.flatten(list(result)), [v.dtype.base_dtype for v in variables])
        return [*out, variables[-1] - 1] if limited else out

    go_on, test_nodes = traced(graph, run_test)
    results, body_nodes = traced(graph, run_body)
    for before, after in zip(variables, results):
        if before.dtype.base_dtype != after.dtype.base_dtype:
            raise TypeError(f"Loop var {before.name} enters the loop with type {before.dtype.name}, but has type {after.dtype.name} after one iteration.")
        if not before.shape.is_compatible_with(after.shape) or before.shape.is_fully_defined() and not after.shape.is_fully_defined():
            raise ValueError(f"Input tensor '{before.name}' enters the loop with shape {before.shape}, but has shape {after.shape} after one iteration. To allow the shape to vary across iterations, use the `shape_invariants` argument of tf.while_loop to specify a less-specific shape.")
    flow = Flow([Block(test_nodes, [go_on]), Block(body_nodes, results)], [], None, variables, initial)
    made = _add(graph, flow, [(v.dtype, s) for v, s in zip(variables, shapes)], name or "while")
    return nest.pack_sequence_as(loop_vars, made[: len(leaves)])


# ---- Planning: which nodes run, in which order.


def plan(graph: Any, outputs: list[Any], effects: list[Any], given: set[int], within: Any = None) -> tuple[list[Any], list[Any]]:
    """(operations and flows in order, operations outside `within` that they need)."""
    stack = [o.op for o in outputs] + [e for e in effects if _home(graph, e._id) == within]
    needed: dict[int, Any] = {}
    outside: list[Any] = []
    while stack:
        op = stack.pop()
        if op._id in needed or op._id in given:
            continue
        if within is not None and op._id not in within:
            outside.append(op)
            continue
        anchor = graph.flow_outputs.get(op._id)
        if anchor is not None:
            stack.append(anchor)
            continue
        flow = graph.flows.get(op._id)
        needed[op._id] = op if flow is None else flow
        stack.extend(t.op for t in op.inputs)
        stack.extend(op.control_inputs)
        if flow is not None:
            stack.extend(_plan_flow(graph, flow, effects, given))
    return [needed[i] for i in sorted(needed) if isinstance(needed[i], Flow) or needed[i].type != "NoOp"], outside


def _home(graph: Any, node: int) -> range | None:
    """The innermost block that the node belongs to."""
    around = [b.nodes for f in graph.flows.values() for b in f.blocks if node in b.nodes]
    return min(around, key=len) if around else None


def _plan_flow(graph: Any, flow: Flow, effects: list[Any], given: set[int]) -> list[Any]:
    wanted = [t.op for t in flow.initial] + ([flow.pred.op] if flow.pred is not None else [])
    known = given | {v.op._id for v in flow.variables}
    for block in flow.blocks:
        block.plan, outside = plan(graph, block.outputs, effects, known, block.nodes)
        wanted.extend(outside)
    return wanted


def with_flows(graph: Any, effects: list[Any]) -> list[Any]:
    """`effects`, and the places of branches and loops that contain some of them."""
    anchors = [op for op in graph.get_operations() if op._id in graph.flows] if graph.flows else []
    return effects + [
        a for a in anchors if any(e._id in b.nodes for e in effects for b in graph.flows[a._id].blocks)
    ]


def run(plan_: list[Any], known: dict[Any, Any], step: Any) -> None:
    """Runs a plan over `known`, values by (node, output); `step` runs one operation."""
    for entry in plan_:
        if not isinstance(entry, Flow):
            step(entry, known)
        elif entry.pred is not None:
            block = entry.blocks[0 if bool(known[_at(entry.pred)]) else 1]
            run(block.plan, known, step)
            for place, value in zip(entry.outputs, [known[_at(o)] for o in block.outputs]):
                known[_at(place)] = value
        else:
            _run_loop(entry, known, step)


def _run_loop(flow: Flow, known: dict[Any, Any], step: Any) -> None:
    test, body = flow.blocks
    values = [known[_at(t)] for t in flow.initial]
    while True:
        known.update((_at(v), value) for v, value in zip(flow.variables, values))
        run(test.plan, known, step)
        if not bool(known[_at(test.outputs[0])]):
            break
        run(body.plan, known, step)
        values = [known[_at(o)] for o in body.outputs]
    known.update((_at(o), value) for o, value in zip(flow.outputs, values))


def _at(t: Any) -> tuple[int, int]:
    return t.op._id, t._index


def lead_to(graph: Any, targets: list[Any]) -> bool:
    """Is one of the targets computed from what a branch or a loop gave?"""
    stack, seen = [t.op for t in targets], set()
    while stack:
        op = stack.pop()
        if op._id in graph.flow_outputs:
            return True
        if op._id not in seen:
            seen.add(op._id)
            stack.extend(t.op for t in op.inputs)
    return False
