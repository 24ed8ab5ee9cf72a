"""Gradients of loops: a loop that runs as often as the forward loop did, backwards.

The forward loop counts its iterations and pushes what its gradient will need on stacks; the
backward loop counts down and pops. One GradState for each loop and each call of tf.gradients.
"""

from __future__ import annotations

from typing import Any

from emplace.framework import array_ops, constant_op, dtypes, flow_contexts, math_ops, ops, while_loop
from emplace.framework.dispatch import execute as _op
from emplace.framework.flow_contexts import CondContext, entered, key

_PASSED_ON = ("Switch", "RefSwitch", "Identity", "RefIdentity")


def _constant_enter(value: Any) -> Any:
    """The Enter of a loop's invariant that `value` is, if it is one."""
    op = value.op
    while op.type in _PASSED_ON:
        op = op.inputs[0].op
    return op if flow_contexts.is_constant_enter(op) else None


class GradContext(while_loop.WhileContext):
    """The backward loop."""

    def enter_gradient(self, grad: Any) -> Any:
        """The gradient of an Exit starts in the loop."""
        with entered(self.outer):
            result = while_loop.enter(grad, self.name, False, self.parallel_iterations, name="b_exit")
        result.set_shape(grad.shape)
        self.adopt(result)
        self.enters.append(result)
        return result

    def count_down(self, count: Any) -> Any:
        """From the number of iterations to none. The value in the body is what all wait for."""
        with entered(self.outer):
            one = constant_op.constant(1, name="b_count")
            start = while_loop.enter(count, self.name, False, self.parallel_iterations, name="b_count")
        start.set_shape([])
        self.adopt(start)
        self.enters.append(start)
        with entered(self):
            head = _op("Merge", [[start, start]], {})[0]
            self.pivot_for_pred = head
            self.pivot = _op("LoopCond", [_op("GreaterEqual", [head, one], {})], {}, "b_count")
            done, going = _op("Switch", [head, self.pivot], {})
            index = math_ops.subtract(going, one)
            self.pivot_for_body = index
            back = while_loop.next_iteration(index)
            head.op._update_input(1, back)
            final = while_loop.leave(done, name="b_count")
        self.exits.append(final)
        self.exit_result([final])
        self.last, self.counted = back.op, final.op
        return index

    def add_accumulator(self, op: Any, grad: Any) -> Any:
        """The gradient of a loop's invariant: the sum over all iterations."""
        outside = op.inputs[0]
        with entered(self.outer):
            if grad.shape.is_fully_defined():
                acc = constant_op.constant(0, dtype=grad.dtype.base_dtype, shape=grad.shape.as_list(), name="b_acc")
            else:
                shape = array_ops.shape_internal(outside, optimize=False)
                acc = array_ops.zeros(shape, grad.dtype.base_dtype, name="b_acc")
            start = while_loop.enter(acc, self.name, False, self.parallel_iterations, name="b_acc")
        start.set_shape(grad.shape)
        self.adopt(start)
        self.enters.append(start)
        head = _op("Merge", [[start, start]], {}, "b_acc")[0]
        head.set_shape(grad.shape)
        done, going = _op("Switch", [head, self.pivot], {})
        total = math_ops.add(going, grad)
        head.op._update_input(1, while_loop.next_iteration(total))
        result = while_loop.leave(done, name="b_acc")
        result.set_shape(grad.shape)
        self.exits.append(result)
        self.exit_result([result])
        return result


class GradState:
    """What one loop's gradient keeps: both counters, and the history of forward values."""

    def __init__(self, forward: Any, outer: "GradState | None") -> None:
        self.forward, self.outer = forward, outer
        self.history: dict[tuple[int, int], Any] = {}
        self.stacks: dict[tuple[int, int], Any] = {}
        self.switch_map: dict[int, Any] = {}
        self.sync: Any = None
        self.forward_sync: Any = None
        self.waiting = len(forward.exits)
        self.deferred: list[Any] = []
        self.started = False  # one of the loop's results is a target
        count = self._count_up()
        around = None if outer is None else outer.context
        with entered(around):
            self.context = GradContext(forward.parallel_iterations, forward.back_prop, forward.swap_memory, forward.name, grad_state=self, maximum_iterations=forward.maximum_iterations)
            if outer is not None:
                stack = outer.push(count)
                count = outer.pop(stack, count)
            self.index = self.context.count_down(count)
            if outer is not None:  # a round of the loop around ends when this loop has
                outer.sync._add_control_input(self.context.counted)

    # ---- Forward.

    def _count_up(self) -> Any:
        forward = self.forward
        with entered(forward.outer):
            zero = constant_op.constant(0, name="f_count")
            if self.outer is not None:  # each round of the loop around counts anew
                zero.op._add_control_input(self.outer.forward_index.op)
            start = while_loop.enter(zero, forward.name, False, forward.parallel_iterations, name="f_count")
        start.set_shape([])
        forward.adopt(start)
        forward.enters.append(start)
        with entered(forward):
            head = _op("Merge", [[start, start]], {})[0]
            done, going = _op("Switch", [head, forward.pivot], {})
            index = math_ops.add(going, 1)
            back = while_loop.next_iteration(index)
            head.op._update_input(1, back)
            total = while_loop.leave(done, name="f_count")
        forward.exit_result([total])
        self.forward_index, self.forward_last = index, back.op
        return total

    def push(self, value: Any) -> Any:
        """A stack that gets the value in each iteration; its handle, outside of all loops."""
        found = self.stacks.get(key(value))
        if found is not None:
            return found
        with entered(None), ops.control_dependencies(None), ops.colocate_with(value):
            limit = self._limit()
            stack = _op("StackV2", [limit], {"elem_type": value.dtype.base_dtype, "stack_name": ""}, "f_acc")
        context = flow_contexts.output_context(value.op) or self.forward
        with ops.control_dependencies(None):
            handle = stack
            if self.outer is not None:  # it comes in by the loop around first
                with entered(self.forward.outer):
                    handle = self.outer.forward.add_value(stack)
            with flow_contexts.outside():
                inside = while_loop.enter(handle, self.forward.name, True, self.forward.parallel_iterations)
            self.forward.adopt(inside)
            if isinstance(context, CondContext) and self.forward.contains(context):
                with entered(context):
                    pushed = _op("StackPushV2", [inside, value], {"swap_memory": self.forward.swap_memory})
            else:
                with entered(self.forward):
                    pushed = _op("StackPushV2", [inside, value], {"swap_memory": self.forward.swap_memory})
        pushed.op._add_control_input(self.forward_index.op)
        if isinstance(context, CondContext) and self.forward.contains(context):
            self._wait_in_branch(pushed.op)
        else:
            self.forward_last._add_control_input(pushed.op)
        self.stacks[key(value)] = stack
        return stack

    def _wait_in_branch(self, pushed: Any) -> None:
        """A push in a branch may not happen: a trigger waits for it, and goes on all the same."""
        if self.forward_sync is None:
            with ops.control_dependencies(None):
                self.forward_sync = _op("ControlTrigger", [], {}, "f_sync")
            flow_contexts.set_of_op(self.forward_sync, self.forward)
            self.forward_last._add_control_input(self.forward_sync)
        self.forward_sync._add_control_input(pushed)

    def _limit(self) -> Any:
        limit = self.forward.maximum_iterations
        known = None if limit is None else constant_op.constant_value(limit)
        return constant_op.constant(-1 if known is None or self.outer is not None else int(known), dtype=dtypes.int32)

    # ---- Backward.

    def pop(self, stack: Any, value: Any) -> Any:
        """The value of the iteration that is being gone back over."""
        context = flow_contexts.output_context(value.op)
        with ops.control_dependencies(None), entered(self.context):
            handle = stack
            if isinstance(context, CondContext) and self.forward.contains(context):
                pred = self.real_pred(context.pred)
                handle = flow_contexts.switch(stack, pred)[context.branch]
            found = _op("StackPopV2", [handle], {"elem_type": value.dtype.base_dtype})
        found.set_shape(value.shape)
        if self.sync is None:
            with ops.control_dependencies(None):
                self.sync = _op("ControlTrigger", [], {}, "b_sync")
            flow_contexts.set_of_op(self.sync, self.context)
            self.context.last._add_control_input(self.sync)
        self.sync._add_control_input(found.op)
        return found

    def owns(self, value: Any) -> bool:
        """Whether the value is computed in the forward loop (or in one around it that is being gone
        back over)."""
        context = flow_contexts.output_context(value.op)
        if context is None:
            return False
        if self.forward.contains(context):
            return not self.context.contains(context)
        return self.outer is not None and self.outer.owns(value)

    def real_value(self, value: Any) -> Any:
        """A forward value as the backward loop has it."""
        found = self.history.get(key(value))
        if found is None:
            found = self.history[key(value)] = self._find(value)
        return found

    def _find(self, value: Any) -> Any:
        current, state = value, self
        while True:
            opened = _constant_enter(current)
            if opened is None:
                break
            current, state = opened.inputs[0], state.outer
            if state is None or not state.owns(current):
                return self.context.add_value(current)
        context = flow_contexts.output_context(current.op)
        while not state.forward.contains(context) and state.outer is not None:
            state = state.outer
        known = constant_op.constant_value(current) if current.op.type == "Const" else None
        if known is not None:
            with entered(self.context):
                return constant_op.constant(known, dtype=current.dtype.base_dtype)
        found = state.pop(state.push(current), current)
        return found if state is self else self.context.add_value(found)

    def real_pred(self, pred: Any) -> Any:
        return self.real_value(pred) if self.owns(pred) else self.context.add_value(pred)


class LoopStates:
    """The states of all loops that a backward pass goes through."""

    def __init__(self) -> None:
        self._of: dict[Any, GradState] = {}

    def add(self, exit_op: Any) -> GradState:
        forward = flow_contexts.of_op(exit_op)
        if forward not in self._of:
            around = flow_contexts.enclosing_loop(forward.outer)
            self._of[forward] = GradState(forward, self._of.get(around))
        return self._of[forward]

    def of(self, op: Any, before: bool) -> GradState | None:
        """The state of the loop an operation is in; an Exit is in its own only afterwards."""
        context = flow_contexts.of_op(op)
        if before and flow_contexts.is_exit(op) and context is not None:
            context = context.outer
        loop = flow_contexts.enclosing_loop(context)
        return None if loop is None else self._of.get(loop)

    def states(self) -> list[GradState]:
        return list(self._of.values())

    def __bool__(self) -> bool:
        return bool(self._of)


def is_loop_switch(op: Any) -> bool:
    if not flow_contexts.is_switch(op):
        return False
    context = flow_contexts.of_op(op)
    return context is not None and context.is_loop
