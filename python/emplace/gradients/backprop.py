"""The backward pass: gradients of targets by sources over a list of operations."""

from __future__ import annotations

from typing import Any, Iterable

from emplace.framework import array_ops, graph, ops
from emplace.framework.dispatch import execute as _op
from emplace.gradients import registry


def aggregate(grads: list[Any]) -> Any:
    if len(grads) == 1:
        return grads[0]
    if all(isinstance(g, ops.IndexedSlices) for g in grads):
        values = array_ops.concat([g.values for g in grads], 0)
        return ops.IndexedSlices(values, array_ops.concat([g.indices for g in grads], 0), grads[0].dense_shape)
    return _op("AddN", [[dense(g) for g in grads]], {})


def dense(grad: Any) -> Any:
    return ops.convert_to_tensor(grad) if isinstance(grad, ops.IndexedSlices) else grad


def zeros_like(t: Any) -> Any:
    if isinstance(t, ops.SymbolicTensor) and t.shape.is_fully_defined() and t.dtype._enum not in (20, 21):
        return array_ops.zeros(t.shape.as_list(), t.dtype.base_dtype)
    return array_ops.zeros_like(t)


def run(records: Iterable[Any], targets: list[Any], target_grads: list[Any], sources: list[Any]) -> list[Any]:
    """`records`: operations, last first. A gradient for each source, None where nothing connects."""
    pending: dict[int, list[Any]] = {}
    keep: dict[int, Any] = {}
    for t, g in zip(targets, target_grads):
        pending.setdefault(id(t), []).append(g)
    wanted = {id(s) for s in sources}
    found: dict[int, Any] = {}
    for record in records:
        outputs = record.outputs
        if not any(id(o) in pending for o in outputs):
            continue
        grads: list[Any] = []
        for o in outputs:
            got = pending.pop(id(o), None)
            g = None if got is None else aggregate(got)
            if g is not None and id(o) in wanted:
                found[id(o)] = g
            grads.append(g)
        for x, g in zip(record.inputs, _of_inputs(record, grads)):
            if g is not None:
                keep[id(x)] = x
                pending.setdefault(id(x), []).append(g)
    for key, got in pending.items():
        found[key] = aggregate(got + ([found[key]] if key in found else []))
    return [found.get(id(s)) for s in sources]


def _of_inputs(record: Any, grads: list[Any]) -> list[Any]:
    custom = getattr(record, "backward", None)
    function = custom or registry.lookup(record.type)
    if function is None:
        return [None] * len(record.inputs)
    whole = record.type.startswith("function ")  # a traced function: it knows what to do without
    return call((lambda _, *g: custom(*g)) if custom else function, record, grads, fill_all=bool(custom), fill=not whole)


def call(function: Any, record: Any, grads: list[Any], fill_all: bool = False, fill: bool = True) -> list[Any]:
    """What `function` gives for the inputs; zeros stand for the gradients no output received."""
    if fill and record.type not in _NONE_ALLOWED:
        grads = [
            (zeros_like(o) if o.dtype.is_floating or o.dtype.is_complex or fill_all else None) if g is None else g
            for g, o in zip(grads, record.outputs)
        ]
    if record.type not in _SLICES_ALLOWED and not isinstance(record, graph.Operation):
        grads = [dense(g) for g in grads]
    result = function(record, *grads)
    result = list(result) if isinstance(result, (list, tuple)) else [result]
    if len(result) != len(record.inputs):
        raise ValueError(f"Num gradients {len(result)} generated for op {record.type} do not match num inputs {len(record.inputs)}")
    return result


_NONE_ALLOWED = ("SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits", "FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3", "TopKV2", "TopK")
_SLICES_ALLOWED = ("Identity", "ReadVariableOp", "CheckNumerics")


def of_graph(targets: list[Any], sources: list[Any], target_grads: list[Any], among: Any = None) -> list[Any]:
    """Over the operations of a graph between sources and targets (`among`: those of these ids)."""
    order: dict[int, Any] = {}
    stack = [t.op for t in targets]
    while stack:
        op = stack.pop()
        if op._id in order or among is not None and op._id not in among:
            continue
        order[op._id] = op
        stack.extend(t.op for t in op.inputs)
    reached = _between(order, sources)
    return run((_Node(op) for i, op in sorted(order.items(), reverse=True) if i in reached), targets, target_grads, sources)


def _between(order: dict[int, Any], sources: list[Any]) -> set[int]:
    """Operations that a source leads to (nodes are numbered in the order they were made)."""
    start = {s.op._id for s in sources}
    reached: set[int] = set()
    for i, op in sorted(order.items()):
        if any(t.op._id in reached or t.op._id in start for t in op.inputs):
            reached.add(i)
    return reached


class _Node:
    """A graph's operation, whose tensors keep their identity during the pass."""

    def __init__(self, op: Any) -> None:
        self.op, self.type, self.inputs, self.outputs = op, _gradient_type(op), list(op.inputs), list(op.outputs)
        self.get_attr = op.get_attr


def _gradient_type(op: Any) -> str:
    """Whose gradient an operation has: its own, or one that was made for it."""
    if op.type != "IdentityN":
        return op.type
    try:
        chosen = op.get_attr("_gradient_op_type")
    except ValueError:
        return op.type
    return chosen.decode() if isinstance(chosen, bytes) else chosen
