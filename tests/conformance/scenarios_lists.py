"""Tensor arrays, tensor lists, tensor maps, stacks, optionals, ragged variants."""

from __future__ import annotations

from typing import Any

import numpy as np

from scenario import Run, as_of, rows, scenario

X = np.float32([[1, 2], [3, 4], [5, 6]])


def _array(v: str) -> Any:
    def build(tf: Any, raw: Any, run: Run) -> None:
        as_of(tf, 15)

        def op(name: str, **args: Any) -> Any:
            return getattr(raw, f"TensorArray{name}{v}")(**args)

        def made(size: int = 3, **attrs: Any) -> tuple[Any, Any]:
            out = op("", size=size, dtype=tf.float32, **attrs)
            return (out[0], out[1]) if v == "V3" else (out, tf.constant(0.0))

        def read(handle: Any, flow: Any, i: int) -> Any:
            return op("Read", handle=handle, index=i, flow_in=flow, dtype=tf.float32)

        def kept() -> Any:
            handle, flow = made(clear_after_read=False)
            for i in range(3):
                flow = op("Write", handle=handle, index=i, value=X[i], flow_in=flow)
            return handle, flow

        handle, flow = kept()
        run(read(handle, flow, 1), op("Size", handle=handle, flow_in=flow))
        handle, flow = kept()
        run(op("Gather", handle=handle, indices=[2, 0], flow_in=flow, dtype=tf.float32), op("Concat", handle=handle, flow_in=flow, dtype=tf.float32))
        handle, flow = kept()
        run(read(handle, flow, 3))
        handle, flow = kept()
        run(op("Write", handle=handle, index=1, value=X[0], flow_in=flow))
        handle, flow = kept()
        run(op("Write", handle=handle, index=7, value=X[0], flow_in=flow))
        handle, flow = made(0, dynamic_size=True)
        flow = op("Scatter", handle=handle, indices=[4, 0, 1], value=X, flow_in=flow)
        run(op("Size", handle=handle, flow_in=flow), read(handle, flow, 4))
        handle, flow = made()
        flow = op("Split", handle=handle, value=X, lengths=np.int64([1, 0, 2]), flow_in=flow)
        run(read(handle, flow, 0), read(handle, flow, 1), read(handle, flow, 2))
        handle, flow = made()
        run(op("Split", handle=handle, value=X, lengths=np.int64([1, 1, 2]), flow_in=flow))
        handle, flow = made()
        flow = op("Write", handle=handle, index=0, value=X[0], flow_in=flow)
        first = read(handle, flow, 0)
        with tf.control_dependencies([first]):
            run(read(handle, flow, 0))  # it was cleared
        handle, flow = kept()
        with tf.control_dependencies([flow]):
            run(op("Close", handle=handle))
        _gradient(tf, raw, run, v, op, kept)

    return build


def _gradient(tf: Any, raw: Any, run: Run, v: str, op: Any, kept: Any) -> None:
    """What is written twice is added up."""
    for name, more in (("Grad", {}), ("GradWithShape", {"shape_to_prepend": [1]})):
        if name == "GradWithShape" and v != "V3":
            continue
        handle, flow = kept()
        made = raw.TensorArrayGradWithShape(handle=handle, flow_in=flow, source="g", **more) if more else op("Grad", handle=handle, flow_in=flow, source="g")
        back, then = (made[0], made[1]) if v == "V3" else (made, flow)
        value = X[:1] if more else X[0]
        for _ in range(2):
            then = op("Write", handle=back, index=0, value=value, flow_in=then)
        run(op("Read", handle=back, index=0, flow_in=then, dtype=tf.float32), op("Size", handle=back, flow_in=then))
        run(op("Gather", handle=back, indices=[1, 2], flow_in=then, dtype=tf.float32))


rows("array_", {"first": _array(""), "second": _array("V2"), "third": _array("V3")})


@scenario
def array_packed(tf: Any, raw: Any, run: Run) -> None:
    as_of(tf, 15)
    handle = raw.TensorArray(size=3, dtype=tf.float32)
    flow = raw.TensorArrayUnpack(handle=handle, value=X, flow_in=0.0)
    run(raw.TensorArrayPack(handle=handle, flow_in=flow, dtype=tf.float32))


@scenario
def list_back(tf: Any, raw: Any, run: Run) -> None:
    """Pushed and popped."""
    one = raw.EmptyTensorList(element_shape=[2], max_num_elements=2, element_dtype=tf.float32)
    two = raw.TensorListPushBack(input_handle=one, tensor=X[0])
    three = raw.TensorListPushBack(input_handle=two, tensor=X[1])
    run(raw.TensorListLength(input_handle=one), raw.TensorListLength(input_handle=three))
    rest, last = raw.TensorListPopBack(input_handle=three, element_shape=[2], element_dtype=tf.float32)
    run(last, raw.TensorListLength(input_handle=rest))
    run(lambda: raw.TensorListLength(input_handle=raw.TensorListPushBack(input_handle=three, tensor=X[2])))
    run(raw.TensorListPopBack(input_handle=one, element_shape=[2], element_dtype=tf.float32)[1])
    run(lambda: raw.TensorListLength(input_handle=raw.TensorListPushBack(input_handle=one, tensor=[1.0, 2.0, 3.0])))
    run(lambda: raw.TensorListLength(input_handle=raw.TensorListPushBack(input_handle=one, tensor=[1, 2])))
    run(raw.TensorListElementShape(input_handle=one, shape_type=tf.int32), raw.TensorListElementShape(input_handle=one, shape_type=tf.int64))
    any_shape = raw.EmptyTensorList(element_shape=-1, max_num_elements=-1, element_dtype=tf.int32)
    run(raw.TensorListElementShape(input_handle=any_shape, shape_type=tf.int32))


@scenario
def list_items(tf: Any, raw: Any, run: Run) -> None:
    """By their places."""

    def item(handle: Any, i: int, shape: Any = (2,)) -> Any:
        return raw.TensorListGetItem(input_handle=handle, index=i, element_shape=list(shape), element_dtype=tf.float32)

    empty = raw.TensorListReserve(element_shape=[2], num_elements=3, element_dtype=tf.float32)
    run(item(empty, 1))  # zeros
    one = raw.TensorListSetItem(input_handle=empty, index=1, item=X[2])
    run(lambda: item(one, 1), item(empty, 1), item(one, 0))
    run(lambda: item(one, 3))
    run(lambda: item(one, -1))
    run(lambda: item(one, 1, (3,)))
    run(lambda: item(raw.TensorListSetItem(input_handle=empty, index=3, item=X[0]), 0))
    run(lambda: raw.TensorListLength(input_handle=raw.TensorListSetItem(input_handle=empty, index=5, item=X[0], resize_if_index_out_of_bounds=True)))
    run(lambda: raw.TensorListStack(input_handle=one, element_shape=[2], element_dtype=tf.float32))
    run(lambda: raw.TensorListStack(input_handle=one, element_shape=[2], element_dtype=tf.float32, num_elements=4))
    for n in (5, 1, 0, -1):
        sized = raw.TensorListResize(input_handle=one, size=n)
        run(raw.TensorListLength(input_handle=sized), raw.TensorListStack(input_handle=sized, element_shape=[2], element_dtype=tf.float32))
    run(lambda: raw.TensorListLength(input_handle=raw.TensorListReserve(element_shape=[2], num_elements=-1, element_dtype=tf.float32)))


@scenario
def list_of_a_tensor(tf: Any, raw: Any, run: Run) -> None:
    all_ = raw.TensorListFromTensor(tensor=X, element_shape=[2])
    f = tf.float32
    run(lambda: raw.TensorListStack(input_handle=all_, element_shape=[-1], element_dtype=f), raw.TensorListLength(input_handle=all_))
    run(lambda: raw.TensorListGather(input_handle=all_, indices=[2, 2, 0], element_shape=[2], element_dtype=f))
    run(lambda: raw.TensorListGather(input_handle=all_, indices=[3], element_shape=[2], element_dtype=f))
    both = raw.TensorListConcatLists(input_a=all_, input_b=all_, element_dtype=f)
    run(lambda: raw.TensorListStack(input_handle=both, element_shape=[2], element_dtype=f))
    run(lambda: raw.TensorListLength(input_handle=raw.TensorListFromTensor(tensor=X, element_shape=[3])))
    run(lambda: raw.TensorListLength(input_handle=raw.TensorListFromTensor(tensor=1.0, element_shape=[])))


@scenario
def list_scattered(tf: Any, raw: Any, run: Run) -> None:
    f = tf.float32

    def stacked(handle: Any) -> Any:
        return raw.TensorListStack(input_handle=handle, element_shape=[2], element_dtype=f)

    run(lambda: stacked(raw.TensorListScatter(tensor=X, indices=[3, 0, 1], element_shape=[2])))
    run(lambda: stacked(raw.TensorListScatterV2(tensor=X, indices=[3, 0, 1], element_shape=[2], num_elements=5)))
    run(lambda: stacked(raw.TensorListScatterV2(tensor=X, indices=[3, 0, 1], element_shape=[2], num_elements=-1)))
    run(lambda: stacked(raw.TensorListScatterV2(tensor=X, indices=[3, 0, 1], element_shape=[2], num_elements=2)))
    there = raw.TensorListFromTensor(tensor=X, element_shape=[2])
    run(lambda: stacked(raw.TensorListScatterIntoExistingList(input_handle=there, tensor=X[:2] * 10, indices=[2, 0])))
    run(lambda: stacked(raw.TensorListScatterV2(tensor=X, indices=[-1, 0, 1], element_shape=[2], num_elements=5)))
    run(lambda: stacked(raw.TensorListScatterV2(tensor=X, indices=[0, 1], element_shape=[2], num_elements=5)))


@scenario
def list_joined(tf: Any, raw: Any, run: Run) -> None:
    f = tf.float32
    parts = raw.TensorListSplit(tensor=X, element_shape=[-1, 2], lengths=np.int64([1, 0, 2]))
    run(raw.TensorListLength(input_handle=parts), raw.TensorListGetItem(input_handle=parts, index=2, element_shape=[2, 2], element_dtype=f))
    run(raw.TensorListConcat(input_handle=parts, element_dtype=f))
    run(raw.TensorListConcat(input_handle=parts, element_dtype=f, element_shape=[None, 2]))
    run(lambda: raw.TensorListConcatV2(input_handle=parts, element_shape=[-1, 2], leading_dims=np.int64([]), element_dtype=f))
    holes = raw.TensorListReserve(element_shape=[-1, 2], num_elements=2, element_dtype=f)
    run(lambda: raw.TensorListConcatV2(input_handle=holes, element_shape=[-1, 2], leading_dims=np.int64([1, 2]), element_dtype=f))
    run(lambda: raw.TensorListConcatV2(input_handle=holes, element_shape=[-1, 2], leading_dims=np.int64([]), element_dtype=f))
    run(lambda: raw.TensorListConcatV2(input_handle=parts, element_shape=[-1, 3], leading_dims=np.int64([]), element_dtype=f))
    run(lambda: raw.TensorListLength(input_handle=raw.TensorListSplit(tensor=X, element_shape=[-1, 2], lengths=np.int64([1, 1]))))


@scenario
def lists_pushed_at_once(tf: Any, raw: Any, run: Run) -> None:
    f = tf.float32
    lists = tf.stack([raw.TensorListFromTensor(tensor=X, element_shape=[2]), raw.EmptyTensorList(element_shape=[2], max_num_elements=-1, element_dtype=f)])
    more = tf.unstack(raw.TensorListPushBackBatch(input_handles=lists, tensor=X[1:]), num=2)
    run(*(raw.TensorListStack(input_handle=m, element_shape=[2], element_dtype=f) for m in more))
    run(lambda: raw.TensorListLength(input_handle=tf.unstack(raw.TensorListPushBackBatch(input_handles=lists, tensor=X), num=2)[0]))


@scenario
def lists_added(tf: Any, raw: Any, run: Run) -> None:
    a, b = (raw.TensorListFromTensor(tensor=X * k, element_shape=[2]) for k in (1, 10))
    run(lambda: raw.TensorListStack(input_handle=raw.AddN(inputs=[a, b, a]), element_shape=[2], element_dtype=tf.float32))
    run(lambda: raw.TensorListStack(input_handle=raw.ZerosLike(x=a), element_shape=[2], element_dtype=tf.float32))


@scenario
def maps(tf: Any, raw: Any, run: Run) -> None:
    f = tf.float32
    none = raw.EmptyTensorMap()
    one = raw.TensorMapInsert(input_handle=none, key="a", value=[1.0, 2.0])
    two = raw.TensorMapInsert(input_handle=one, key="b", value=[3.0])
    run(*(raw.TensorMapSize(input_handle=m) for m in (none, one, two)))
    run(raw.TensorMapHasKey(input_handle=one, key="a"), raw.TensorMapHasKey(input_handle=one, key="b"))
    run(raw.TensorMapLookup(input_handle=two, key="b", value_dtype=f))
    run(raw.TensorMapLookup(input_handle=one, key="b", value_dtype=f))
    less = raw.TensorMapErase(input_handle=two, key="a", value_dtype=f)
    run(raw.TensorMapSize(input_handle=less), raw.TensorMapStackKeys(input_handle=less, key_dtype=tf.string))
    run(raw.TensorMapSize(input_handle=raw.TensorMapErase(input_handle=less, key="a", value_dtype=f)))
    again = raw.TensorMapInsert(input_handle=one, key="a", value=[9.0])
    run(raw.TensorMapSize(input_handle=again), raw.TensorMapLookup(input_handle=again, key="a", value_dtype=f))


@scenario
def stack_of_resources(tf: Any, raw: Any, run: Run) -> None:
    s = raw.StackV2(max_size=2, elem_type=tf.float32, stack_name="s")
    first = raw.StackPushV2(handle=s, elem=X[0])
    with tf.control_dependencies([first]):
        second = raw.StackPushV2(handle=s, elem=X[1])
    with tf.control_dependencies([second]):
        last = raw.StackPopV2(handle=s, elem_type=tf.float32)
    with tf.control_dependencies([last]):
        before = raw.StackPopV2(handle=s, elem_type=tf.float32)
    run(first, second, last, before)
    with tf.control_dependencies([second]):
        third = raw.StackPushV2(handle=s, elem=X[2])
    with tf.control_dependencies([third]):
        run(third, raw.StackPopV2(handle=s, elem_type=tf.float32))
    with tf.control_dependencies([before]):
        run(raw.StackPopV2(handle=s, elem_type=tf.float32))
    with tf.control_dependencies([first]):
        run(raw.StackCloseV2(handle=s))
    wrong = raw.StackPushV2(handle=s, elem=[1, 2])
    with tf.control_dependencies([wrong]):
        run(wrong, raw.StackPopV2(handle=s, elem_type=tf.float32))


@scenario
def stack_of_references(tf: Any, raw: Any, run: Run) -> None:
    s = raw.Stack(elem_type=tf.int32, stack_name="old")
    pushed = raw.StackPush(handle=s, elem=7)
    with tf.control_dependencies([pushed]):
        popped = raw.StackPop(handle=s, elem_type=tf.int32)
    run(pushed, popped)
    with tf.control_dependencies([popped]):
        run(raw.StackClose(handle=s))


@scenario
def optionals(tf: Any, raw: Any, run: Run) -> None:
    some, none = raw.OptionalFromValue(components=[X, "text"]), raw.OptionalNone()
    run(raw.OptionalHasValue(optional=some), raw.OptionalHasValue(optional=none))
    kinds = {"output_types": [tf.float32, tf.string], "output_shapes": [[3, 2], []]}
    run(lambda: raw.OptionalGetValue(optional=some, **kinds))
    run(lambda: raw.OptionalGetValue(optional=none, **kinds))
    run(lambda: raw.OptionalGetValue(optional=some, output_types=[tf.int32, tf.string], output_shapes=[[3, 2], []]))
    run(lambda: raw.OptionalGetValue(optional=some, output_types=[tf.float32, tf.string], output_shapes=[[4, 2], []]))
    run(lambda: raw.OptionalGetValue(optional=some, output_types=[tf.float32], output_shapes=[[3, 2]]))


@scenario
def ragged_variants(tf: Any, raw: Any, run: Run) -> None:
    splits, values = np.int64([0, 2, 2, 3]), np.float32([1, 2, 3])
    for batched, rank in ((True, 0), (False, 1)):
        one = raw.RaggedTensorToVariant(rt_nested_splits=[splits], rt_dense_values=values, batched_input=batched)
        run(tf.shape(one))
        back = raw.RaggedTensorFromVariant(encoded_ragged=one, input_ragged_rank=rank, output_ragged_rank=1, Tvalues=tf.float32)
        run(*back.output_nested_splits, back.output_dense_values)
    back = raw.RaggedTensorFromVariant(encoded_ragged=one, input_ragged_rank=1, output_ragged_rank=1, Tvalues=tf.int32)
    run(*back.output_nested_splits, back.output_dense_values)
