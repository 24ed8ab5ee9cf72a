"""Gradients of branches, loops and arrays of tensors."""

from __future__ import annotations

from typing import Any

from emplace.framework import array_ops, flow_contexts, math_ops, ops
from emplace.framework.dispatch import execute as _op
from emplace.gradients.common import is_eager
from emplace.gradients.registry import gradient, no_gradient

for _name in (
    "NoOp ControlTrigger LoopCond Stack StackV2 StackPush StackPushV2 StackPop StackPopV2 StackClose StackCloseV2"
    " TensorArrayV3 TensorArrayGradV3 TensorArraySizeV3 TensorArrayCloseV3 TensorListLength TensorListElementShape"
    " TensorArrayV2 TensorArrayGradV2 TensorArraySizeV2 TensorArrayCloseV2 TensorArray TensorArrayGrad TensorArraySize"
    " TensorArrayClose TensorArrayGradWithShape TensorListConcatLists TensorListPushBackBatch PyFunc PyFuncStateless"
    " QueueClose QueueDequeue QueueDequeueMany QueueDequeueUpTo QueueEnqueue QueueEnqueueMany QueueSize"
).split():
    no_gradient(_name)


# ---- Branches: a Merge's gradient goes the way its value came, a Switch's comes back by either.


@gradient("Merge", "RefMerge")
def _merge(op: Any, grad: Any, _: Any) -> Any:
    context = flow_contexts.output_context(op.inputs[0].op)
    if isinstance(context, flow_contexts.CondContext):
        pred = context.pred
        state = _state_around()
        if state is not None:
            pred = state.real_pred(pred)
        return list(flow_contexts.switch(grad, pred, name="cond_grad"))
    if context is not None:  # the head of a loop
        return list(flow_contexts.switch(grad, flow_contexts.current().pivot))
    chosen = [math_ops.equal(op.outputs[1], i) for i in range(len(op.inputs))]
    return [flow_contexts.switch(grad, c)[1] for c in chosen]


def _state_around() -> Any:
    """What keeps the history of the loop whose gradient is being built."""
    context = flow_contexts.enclosing_loop(flow_contexts.current())
    return None if context is None else context.grad_state


@gradient("Switch", "RefSwitch")
def _switch(op: Any, *grads: Any) -> Any:
    context = flow_contexts.of_op(op)
    if context is not None and context.is_loop:
        return _loop_switch(op, grads)
    if isinstance(context, flow_contexts.CondContext):
        if grads[context.branch] is None:
            return None, None
        if grads[1 - context.branch] is None:
            raise ValueError(f"no gradient for one way of {op.name}")
        return flow_contexts.merge(list(grads), name="cond_grad")[0], None
    other = flow_contexts.switch(grads[0], op.inputs[1])[0], flow_contexts.switch(grads[1], op.inputs[1])[1]
    return flow_contexts.merge(list(other))[0], None


def _loop_switch(op: Any, grads: Any) -> Any:
    """The head of the gradient's loop: its second visit closes the back edge."""
    context = flow_contexts.current()
    made = context.grad_state.switch_map.get(op._id)
    if made is None:
        if grads[0] is None:
            return None, None
        value = flow_contexts.merge([grads[0], grads[0]], name="b_switch")[0]
        context.grad_state.switch_map[op._id] = value
        return value, None
    if grads[1] is not None:
        from emplace.framework import while_loop

        made.op._update_input(1, while_loop.next_iteration(grads[1]))
    return None, None


# ---- Loops.


@gradient("Exit", "RefExit")
def _exit(op: Any, grad: Any) -> Any:
    loop = flow_contexts.of_op(op)
    if not loop.back_prop:
        return None
    if isinstance(grad, ops.IndexedSlices):
        grad = ops.convert_to_tensor(grad)
    return op.graph._thread.loop_states.of(op, before=False).context.enter_gradient(grad)


@gradient("NextIteration", "RefNextIteration")
def _next_iteration(op: Any, grad: Any) -> Any:
    return grad


@gradient("Enter", "RefEnter")
def _enter(op: Any, grad: Any) -> Any:
    context = flow_contexts.current()
    if not flow_contexts.of_op(op).back_prop:
        return grad
    if context.grad_state is None:
        return grad
    if op.get_attr("is_constant"):
        if isinstance(grad, ops.IndexedSlices):
            grad = ops.convert_to_tensor(grad)
        return context.add_accumulator(op, grad)
    from emplace.framework import while_loop

    result = while_loop.leave(grad)
    context.exits.append(result)
    context.exit_result([result])
    return result


# ---- Arrays of tensors: the gradient is an array of its own, kept by name beside the array.


def _source(op_or_grad: Any) -> str:
    """Arrays of gradients of different calls of tf.gradients are kept apart."""
    parts = [p for p in op_or_grad.name.split("/") if p.startswith("gradients")]
    if not parts:
        raise ValueError("Expected op/tensor name to start with gradients (excluding while_loop name)")
    return "/".join(op_or_grad.name.split("/")[: op_or_grad.name.split("/").index(parts[-1]) + 1])


def _array(op: Any, flow: Any, dtype: Any, grad: Any) -> Any:
    from emplace.framework import tensor_array_ops

    array = tensor_array_ops.TensorArray(dtype, handle=op.inputs[0], flow=flow, colocate_with_first_write_call=False)
    return array.grad(source=_source(grad), flow=flow)


def _after_write(op: Any, flow: Any) -> Any:
    """The flow of the gradients, once the values have been written."""
    written = array_ops.identity(op.outputs[0], "flow_out")
    with ops.control_dependencies([written]):
        return array_ops.identity(flow, "write_barrier")


@gradient("TensorArrayReadV3", "TensorArrayReadV2", "TensorArrayRead")
def _array_read(op: Any, grad: Any) -> Any:
    handle, index, flow = op.inputs
    written = _array(op, flow, op.get_attr("dtype"), grad).write(index, grad)
    return None, None, written.flow


@gradient("TensorArrayWriteV3", "TensorArrayWriteV2", "TensorArrayWrite")
def _array_write(op: Any, flow: Any) -> Any:
    index = op.inputs[1]
    barrier = _after_write(op, flow)
    return None, None, _array(op, barrier, op.get_attr("T"), flow).read(index), barrier


@gradient("TensorArrayGatherV3", "TensorArrayGatherV2", "TensorArrayGather")
def _array_gather(op: Any, grad: Any) -> Any:
    handle, indices, flow = op.inputs
    return None, None, _array(op, flow, op.get_attr("dtype"), grad).scatter(indices, grad).flow


@gradient("TensorArrayScatterV3", "TensorArrayScatterV2", "TensorArrayScatter")
def _array_scatter(op: Any, flow: Any) -> Any:
    indices = op.inputs[1]
    barrier = _after_write(op, flow)
    return None, None, _array(op, barrier, op.get_attr("T"), flow).gather(indices), barrier


@gradient("TensorArrayConcatV3", "TensorArrayConcatV2", "TensorArrayConcat")
def _array_concat(op: Any, grad: Any, _: Any) -> Any:
    flow, lengths = op.inputs[1], op.outputs[1]
    return None, _array(op, flow, op.get_attr("dtype"), grad).split(grad, lengths=lengths).flow


@gradient("TensorArraySplitV3", "TensorArraySplitV2", "TensorArraySplit")
def _array_split(op: Any, flow: Any) -> Any:
    return None, _array(op, flow, op.get_attr("T"), flow).concat(), None, flow


# ---- Lists of tensors.


@gradient("TensorListPushBack")
def _push_back(op: Any, grad: Any) -> Any:
    shape = _op("Shape", [op.inputs[1]], {}) if not is_eager(op.inputs[1]) else array_ops.shape(op.inputs[1])
    return _op("TensorListPopBack", [grad, shape], {"element_dtype": op.get_attr("element_dtype")})


@gradient("TensorListPopBack")
def _pop_back(op: Any, grad_list: Any, grad: Any) -> Any:
    if grad_list is None:
        shape = _op("TensorListElementShape", [op.outputs[0]], {"shape_type": "int32"})
        grad_list = _op("TensorListReserve", [shape, _op("TensorListLength", [op.outputs[0]], {})], {"element_dtype": grad.dtype})
    if grad is None:  # only the rest of the list was used
        grad = array_ops.zeros_like(op.outputs[1])
    return _op("TensorListPushBack", [grad_list, grad], {}), None


@gradient("TensorListStack")
def _list_stack(op: Any, grad: Any) -> Any:
    return _op("TensorListFromTensor", [grad, op.inputs[1]], {}), None


@gradient("TensorListFromTensor")
def _list_from_tensor(op: Any, grad: Any) -> Any:
    x = op.inputs[0]
    attrs = {"element_dtype": op.get_attr("element_dtype"), "num_elements": x.shape.as_list()[0] if x.shape.rank and x.shape.as_list()[0] is not None else -1}
    shape = array_ops.shape(x)[1:] if x.shape.rank is None or None in x.shape.as_list()[1:] else x.shape.as_list()[1:]
    return _op("TensorListStack", [grad, ops.convert_to_tensor(shape, dtype="int32") if not isinstance(shape, ops.Tensor) else shape], attrs), None


@gradient("TensorListGetItem")
def _list_get(op: Any, grad: Any) -> Any:
    size = _op("TensorListLength", [op.inputs[0]], {})
    shape = _op("Shape", [grad], {}) if not is_eager(grad) else array_ops.shape(grad)
    empty = _op("TensorListReserve", [shape, size], {"element_dtype": grad.dtype.base_dtype})
    return _op("TensorListSetItem", [empty, op.inputs[1], grad], {}), None, None


@gradient("TensorListSetItem")
def _list_set(op: Any, grad: Any) -> Any:
    _, index, item = op.inputs
    shape = array_ops.shape(item)
    back = _op("TensorListGetItem", [grad, index, shape], {"element_dtype": item.dtype.base_dtype})
    cleared = _op("TensorListSetItem", [grad, index, array_ops.zeros_like(item)], {})
    return cleared, None, back


@gradient("TensorListGather")
def _list_gather(op: Any, grad: Any) -> Any:
    """Into a list as long as the one that was read."""
    values, indices, shape = op.inputs
    size = _op("TensorListLength", [values], {})
    return _op("TensorListScatterV2", [grad, indices, shape, size], {}), None, None


@gradient("TensorListScatter", "TensorListScatterV2")
def _list_scatter(op: Any, grad: Any) -> Any:
    item, indices = op.inputs[:2]
    back = _op("TensorListGather", [grad, indices, array_ops.shape(item)[1:]], {"element_dtype": item.dtype.base_dtype})
    return [back, *(None for _ in op.inputs[1:])]


@gradient("TensorListScatterIntoExistingList")
def _list_scatter_into(op: Any, grad: Any) -> Any:
    _, item, indices = op.inputs
    kept = _op("TensorListScatterIntoExistingList", [grad, array_ops.zeros_like(item), indices], {})
    back = _op("TensorListGather", [grad, indices, array_ops.shape(item)[1:]], {"element_dtype": item.dtype.base_dtype})
    return kept, back, None


@gradient("TensorListConcat", "TensorListConcatV2")
def _list_concat(op: Any, grad: Any, _: Any) -> Any:
    shape = _op("TensorListElementShape", [op.inputs[0]], {"shape_type": "int32"})
    split = _op("TensorListSplit", [grad, shape, op.outputs[1]], {})
    return [split, *(None for _ in op.inputs[1:])]


@gradient("TensorListSplit")
def _list_split(op: Any, grad: Any) -> Any:
    item, shape, lengths = op.inputs
    inputs = [grad, array_ops.slice(array_ops.shape(item), [1], [-1]), lengths]
    inputs[1] = array_ops.concat([[-1], inputs[1]], 0)
    return _op("TensorListConcatV2", inputs, {"element_dtype": item.dtype.base_dtype})[0], None, None


@gradient("TensorListResize")
def _list_resize(op: Any, grad: Any) -> Any:
    size = _op("TensorListLength", [op.inputs[0]], {})
    return _op("TensorListResize", [grad, size], {}), None


@gradient("OptionalFromValue")
def _optional_from_value(op: Any, grad: Any) -> Any:
    kinds = [t.dtype.base_dtype for t in op.inputs]
    got = _op("OptionalGetValue", [grad], {"output_types": kinds, "output_shapes": [t.shape for t in op.inputs]})
    return list(got) if isinstance(got, (list, tuple)) else [got]


@gradient("OptionalGetValue")
def _optional_get_value(op: Any, *grads: Any) -> Any:
    return _op("OptionalFromValue", [list(grads)], {})
