"""tf.while_loop in TensorFlow 1's form: Enter, Merge, LoopCond, Switch, NextIteration, Exit."""

from __future__ import annotations

import contextlib
from typing import Any, Callable, Iterator

from emplace.eager import nest
from emplace.framework import array_ops, constant_op, flow_contexts, math_ops, ops, tensor_shape
from emplace.framework.dispatch import execute as _op
from emplace.framework.flow_contexts import Context, key
from emplace.framework.ops import GraphKeys, name_scope


def enter(data: Any, frame: str, is_constant: bool = False, parallel_iterations: int = 10, name: str | None = None) -> Any:
    """`data` in the frame of a loop."""
    kind = "RefEnter" if data.dtype._is_ref_dtype else "Enter"
    return _op(kind, [data], {"frame_name": frame, "is_constant": is_constant, "parallel_iterations": parallel_iterations}, name)


def leave(data: Any, name: str | None = None) -> Any:
    return _op("RefExit" if data.dtype._is_ref_dtype else "Exit", [data], {}, name)


def next_iteration(data: Any, name: str | None = None) -> Any:
    return _op("RefNextIteration" if data.dtype._is_ref_dtype else "NextIteration", [data], {}, name)


class WhileContext(Context):
    """The condition and the body of a loop."""

    is_loop = True

    def __init__(self, parallel_iterations: int = 10, back_prop: bool = True, swap_memory: bool = False, name: str = "while_context", grad_state: Any = None, maximum_iterations: Any = None) -> None:
        super().__init__()
        self.name = ops.get_default_graph().unique_name(name)
        # From now on nodes outside of all contexts could be given a loop's values: they are looked at.
        ops.get_default_graph()._on_node = flow_contexts._check_inputs
        self.parallel_iterations, self.back_prop, self.swap_memory = parallel_iterations, back_prop, swap_memory
        self.maximum_iterations = maximum_iterations
        self.grad_state = grad_state
        self.pivot_for_pred: Any = None
        self.pivot_for_body: Any = None
        self.enters: list[Any] = []
        self.exits: list[Any] = []

    @property
    def control_pivot(self) -> Any:
        return self.pivot_for_pred if self.pivot_for_body is None else self.pivot_for_body

    # ---- Taking up nodes.

    def add_value(self, value: Any) -> Any:
        if self.knows(value):
            return self.external.get(key(value), value)
        result = value
        self.note(value)
        if self.grad_state is not None and self.grad_state.owns(value):
            result = self.grad_state.real_value(value)
            self.external[key(value)] = result
            return result
        if self.outer is not None:
            result = self.outer.add_value(value)
        with flow_contexts.outside():
            entered = enter(result, self.name, True, self.parallel_iterations)
        entered.set_shape(result.shape)
        self.adopt(entered)
        self.external[key(value)] = entered
        return entered

    def adopt(self, entered: Any) -> None:
        """An Enter made outside of the context becomes a part of it."""
        flow_contexts.set_of_op(entered.op, self)
        self.note(entered)
        entered.graph.prevent_feeding(entered)
        flow_contexts._note_in(self.outer, entered.op)

    def _keep_in(self, op: Any) -> None:
        super()._keep_in(op)
        for t in op.outputs:
            op.graph.prevent_feeding(t)

    def _take_inputs(self, op: Any) -> None:
        super()._take_inputs(op)
        if not op.control_inputs and all(flow_contexts.is_constant_enter(t.op) for t in op.inputs) and self.control_pivot is not None:
            op._add_control_input(self.control_pivot.op)

    def _tie(self, op: Any) -> None:
        if not op.control_inputs:
            op._add_control_input(self.control_pivot.op)

    # ---- Building.

    def build(self, pred: Callable[..., Any], body: Callable[..., Any], loop_vars: Any, shape_invariants: Any) -> Any:
        flat = [_flow_of(v) for v in nest.flatten(loop_vars)]
        reals = [v if isinstance(v, ops.Tensor) else ops.convert_to_tensor(v) for v in flat]
        if self.outer is not None:
            reals = [self.outer.add_value(v) for v in reals]
        with flow_contexts.entered(self.outer):
            starts = [enter(v, self.name, False, self.parallel_iterations) for v in reals]
        self._set_shapes(reals, starts, shape_invariants)
        for s in starts:
            self.adopt(s)
        self.enters = starts
        with flow_contexts.entered(self), _no_controls():
            return self._build_inside(pred, body, loop_vars, starts, shape_invariants)

    def _set_shapes(self, reals: list[Any], starts: list[Any], invariants: Any) -> None:
        shapes = [v.shape for v in reals] if invariants is None else [tensor_shape.as_shape(s) for s in _flat_shapes(invariants)]
        if len(shapes) != len(starts):
            raise ValueError("`shape_invariants` must have the same structure as `loop_vars`")
        for real, start, shape in zip(reals, starts, shapes):
            if not _covers(shape, real.shape):
                raise ValueError(f"The shape invariant specified for {real.name} is not compatible with the initial shape of the loop variable. It enters the loop with shape {real.shape}, but the specified shape invariant is {shape}.")
            start.set_shape(shape)

    def _build_inside(self, pred: Any, body: Any, loop_vars: Any, starts: list[Any], invariants: Any) -> Any:
        merges = [flow_contexts.merge([s, s])[0] for s in starts]
        for m, s in zip(merges, starts):
            m.set_shape(s.shape)
        self.pivot_for_pred = merges[0]
        packed = nest.pack_sequence_as(loop_vars, _as_given(loop_vars, merges))
        holds = ops.convert_to_tensor(pred(*packed))
        self.pivot = _op("LoopCond", [holds], {}, "LoopCond")
        ways = [flow_contexts.switch(m, self.pivot) for m in merges]
        inside = [array_ops.identity(w[1]) for w in ways]
        for i, m in zip(inside, merges):
            i.set_shape(m.shape)
        self.pivot_for_body = inside[0]
        packed = nest.pack_sequence_as(loop_vars, _as_given(loop_vars, inside))
        given = body(*packed)
        if not nest.is_nested(given):
            given = [given]
        nest.assert_same_structure(list(packed), list(given))
        results = [_flow_of(v) for v in nest.flatten(given)]
        results = [v if isinstance(v, ops.Tensor) else ops.convert_to_tensor(v) for v in results]
        results = [self.add_value(v) for v in results]
        for m, v in zip(merges, results):
            _check_shape(m, v, invariants is not None)
            self._close(m, v)
        self.exits = [leave(w[0]) for w in ways]
        for e, m in zip(self.exits, merges):
            e.set_shape(m.shape)
        self.exit_result(self.exits)
        return nest.pack_sequence_as(given, _as_given(given, self.exits))

    def _close(self, merge: Any, value: Any) -> None:
        back = next_iteration(value)
        merge.op._update_input(1, back)


@contextlib.contextmanager
def _no_controls() -> Iterator[None]:
    """The Enters wait for what the loop was told to wait for; nothing inside needs to."""
    scope = ops.get_default_graph()._core.clear_control_dependencies()
    try:
        yield
    finally:
        scope.close()


def _flow_of(v: Any) -> Any:
    return v.flow if hasattr(v, "flow") else v


def _as_given(structure: Any, tensors: list[Any]) -> list[Any]:
    """Tensors, with arrays of tensors where there were such."""
    from emplace.framework import tensor_array_ops

    return [tensor_array_ops.with_flow(g, t) if hasattr(g, "flow") else t for g, t in zip(nest.flatten(structure), tensors)]


def _flat_shapes(invariants: Any) -> list[Any]:
    if isinstance(invariants, tensor_shape.TensorShape) or invariants is None:
        return [invariants]
    if isinstance(invariants, dict):
        return [s for k in sorted(invariants) for s in _flat_shapes(invariants[k])]
    return [s for i in invariants for s in _flat_shapes(i)]


def _covers(wide: Any, narrow: Any) -> bool:
    """Every shape that `narrow` allows, `wide` allows."""
    if wide.rank is None:
        return True
    if narrow.rank != wide.rank:
        return False
    return all(w is None or w == n for w, n in zip(wide.as_list(), narrow.as_list()))


def _check_shape(merge: Any, value: Any, given: bool) -> None:
    if value.dtype.base_dtype != merge.dtype.base_dtype:
        raise TypeError(f"Input 'input' of loop variable {merge.name} has type {merge.dtype.base_dtype.name} that does not match the type {value.dtype.base_dtype.name} after one iteration.")
    if not _covers(merge.shape, value.shape):
        hint = "" if given else " Provide shape invariants using either the `shape_invariants` argument of tf.while_loop or set_shape() on the loop variables."
        raise ValueError(f"Input tensor '{merge.op.inputs[0].op.inputs[0].name}' enters the loop with shape {merge.shape}, but has shape {value.shape} after one iteration. To allow the shape to vary across iterations, use the `shape_invariants` argument of tf.while_loop to specify a less-specific shape." if not given else f"The shape invariant specified for {merge.op.inputs[0].op.inputs[0].name} is not compatible with the shape of the loop variable. It enters the loop with shape {merge.shape}, but has shape {value.shape} after one iteration.{hint}")


def while_loop(
    cond: Any, body: Any, loop_vars: Any, shape_invariants: Any = None, parallel_iterations: int = 10, back_prop: bool = True,
    swap_memory: bool = False, name: str | None = None, maximum_iterations: Any = None, return_same_structure: bool = False,
) -> Any:
    """Repeats `body` while `cond` holds."""
    if not callable(cond):
        raise TypeError("'cond' must be callable.")
    if not callable(body):
        raise TypeError("'body' must be callable.")
    if parallel_iterations < 1:
        raise TypeError("'parallel_iterations' must be a positive integer.")
    if not loop_vars:
        raise ValueError("'loop_vars' must be provided.")
    with name_scope(name, "while"):
        loop_vars = list(loop_vars) if isinstance(loop_vars, (list, tuple)) and not hasattr(loop_vars, "_fields") else [loop_vars]
        counted = maximum_iterations is not None
        kinds: list[Any] = []
        if counted:
            limit = ops.convert_to_tensor(maximum_iterations, name="maximum_iterations")
            if limit.shape.rank not in (0, None):
                raise ValueError(f"'maximum_iterations' must be a scalar. Received shape: {limit.shape}")
            counter = constant_op.constant(0, dtype=limit.dtype.base_dtype, name="iteration_counter")
            loop_vars, shape_invariants = [counter, loop_vars], None if shape_invariants is None else [tensor_shape.TensorShape([]), shape_invariants]
            plain_cond, noted = cond, _noting_kind(body, kinds)
            cond = lambda i, v: math_ops.logical_and(i < limit, plain_cond(*v))  # noqa: E731
            body = lambda i, v: [i + 1, _listed(noted(*v), v)]  # noqa: E731
        context = WhileContext(
            parallel_iterations, back_prop, swap_memory, ops.get_default_graph().get_name_scope() + "/while_context",
            maximum_iterations=limit if counted else None,
        )
        if context.outer is None or context.outer.grad_state is None:
            ops.add_to_collection(GraphKeys.WHILE_CONTEXT, context)
        result = context.build(cond, body if counted else _noting_kind(body, kinds), loop_vars, shape_invariants)
        result = _as_kind(result[1] if counted else result, kinds)
        return result if return_same_structure or len(nest.flatten(result)) != 1 else nest.flatten(result)[0]


def _noting_kind(body: Any, kinds: list[Any]) -> Any:
    """The loop's result has the structure that its body gives: a tuple stays one."""
    def noting(*values: Any) -> Any:
        given = body(*values)
        kinds.append(given)
        return given

    return noting


def _as_kind(values: list[Any], kinds: list[Any]) -> Any:
    given = kinds[-1] if kinds else None
    if isinstance(given, tuple) and len(given) == len(values):
        return type(given)(*values) if hasattr(given, "_fields") else tuple(values)
    return values


def _listed(given: Any, like: Any) -> list[Any]:
    if isinstance(given, (list, tuple)) and not hasattr(given, "_fields") and (len(like) != 1 or len(given) == 1):
        return list(given)
    return [given]
