"""Gradients of moving, joining and cutting."""

from __future__ import annotations

from typing import Any

from emplace.framework import array_ops, dtypes, math_ops, ops
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import convert_to_tensor as _convert
from emplace.gradients.math_grad import to_shape
from emplace.gradients.registry import gradient, no_gradient

for _name in (
    "Const StopGradient ZerosLike OnesLike Shape ShapeN Size Rank Where Unique UniqueWithCounts OneHot ListDiff"
    " InvertPermutation Bitcast RandomUniform RandomStandardNormal TruncatedNormal RandomUniformInt VarHandleOp"
    " AssignVariableOp AssignAddVariableOp AssignSubVariableOp VarIsInitializedOp BroadcastArgs BroadcastGradientArgs"
    " VariableShape Assert NoOp Placeholder Variable VariableV2 Assign AssignAdd AssignSub"
).split():
    no_gradient(_name)


@gradient("Identity", "ReadVariableOp", "CheckNumerics", "PlaceholderWithDefault", "Snapshot", "EnsureShape", "RefIdentity", "PreventGradient")
def _identity(op: Any, grad: Any) -> Any:
    return grad


@gradient("IdentityN")
def _identity_n(op: Any, *grads: Any) -> Any:
    return grads


@gradient("Reshape")
def _reshape(op: Any, grad: Any) -> Any:
    return _as(grad, op.inputs[0]), None


def _as(grad: Any, x: Any) -> Any:
    return array_ops.reshape(grad, x.shape.as_list() if x.shape.is_fully_defined() else array_ops.shape(x))


@gradient("ExpandDims")
def _expand_dims(op: Any, grad: Any) -> Any:
    return _as(grad, op.inputs[0]), None


@gradient("Squeeze")
def _squeeze(op: Any, grad: Any) -> Any:
    return _as(grad, op.inputs[0])


@gradient("Transpose")
def _transpose(op: Any, grad: Any) -> Any:
    return array_ops.transpose(grad, _op("InvertPermutation", [op.inputs[1]], {})), None


@gradient("BroadcastTo")
def _broadcast_to(op: Any, grad: Any) -> Any:
    return to_shape(grad, op.inputs[0]), None


@gradient("Fill")
def _fill(op: Any, grad: Any) -> Any:
    return None, math_ops.reduce_sum(grad)


@gradient("ConcatV2")
def _concat(op: Any, grad: Any) -> Any:
    *parts, axis = op.inputs
    if isinstance(grad, ops.IndexedSlices):
        grad = _convert(grad)
    at = int(_known(axis))
    sizes = [p.shape.as_list()[at] for p in parts]
    if None in sizes:
        sizes = array_ops.stack([array_ops.shape(p)[at] for p in parts])
        return [*_op("SplitV", [grad, sizes, axis], {"num_split": len(parts)}), None]
    return [*_op("SplitV", [grad, _convert(sizes, dtypes.int32), axis], {"num_split": len(parts)}), None]


def _known(x: Any) -> Any:
    from emplace.framework.constant_op import constant_value

    return x._numpy_of_eager() if hasattr(x, "_numpy_of_eager") else constant_value(x)


@gradient("Pack")
def _pack(op: Any, grad: Any) -> Any:
    return array_ops.unstack(grad, num=len(op.inputs), axis=op.get_attr("axis"))


@gradient("Unpack")
def _unpack(op: Any, *grads: Any) -> Any:
    return array_ops.stack(list(grads), axis=op.get_attr("axis"))


@gradient("Split")
def _split(op: Any, *grads: Any) -> Any:
    return None, array_ops.concat(list(grads), op.inputs[0])


@gradient("SplitV")
def _split_v(op: Any, *grads: Any) -> Any:
    return array_ops.concat(list(grads), op.inputs[2]), None, None


@gradient("Slice")
def _slice(op: Any, grad: Any) -> Any:
    x, begin = op.inputs[0], op.inputs[1]
    begin = math_ops.cast(begin, dtypes.int32)
    after = array_ops.shape(x) - array_ops.shape(grad) - begin
    return _op("Pad", [grad, array_ops.stack([begin, after], axis=1)], {}), None, None


@gradient("StridedSlice")
def _strided_slice(op: Any, grad: Any) -> Any:
    x, begin, end, strides = op.inputs
    masks = {m: op.get_attr(m) for m in ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")}
    shape = math_ops.cast(array_ops.shape(x), begin.dtype)
    return _op("StridedSliceGrad", [shape, begin, end, strides, grad], masks), None, None, None


@gradient("StridedSliceGrad")
def _strided_slice_grad(op: Any, grad: Any) -> Any:
    begin, end, strides = op.inputs[1:4]
    masks = {m: op.get_attr(m) for m in ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")}
    return None, None, None, None, _op("StridedSlice", [grad, begin, end, strides], masks)


@gradient("GatherV2")
def _gather(op: Any, grad: Any) -> Any:
    x, indices, axis = op.inputs
    batch = op.get_attr("batch_dims")
    at = int(_known(axis))
    if at == 0 and not batch:
        rows = array_ops.reshape(grad, [-1, *x.shape.as_list()[1:]] if x.shape[1:].is_fully_defined() else array_ops.concat([[-1], array_ops.shape(x)[1:]], 0))
        return ops.IndexedSlices(rows, array_ops.reshape(indices, [-1]), array_ops.shape(x)), None, None
    rank = x.shape.rank
    at %= rank
    if batch:
        raise LookupError("gradient of GatherV2 with batch_dims")
    inner = indices.shape.rank
    # The picked axes to the front, summed by row, and back to their place.
    order = list(range(at, at + inner)) + list(range(at)) + list(range(at + inner, grad.shape.rank))
    moved = array_ops.transpose(grad, order)
    rest = [d for i, d in enumerate(x.shape.as_list()) if i != at]
    flat = array_ops.reshape(moved, [-1, *rest])
    total = _op("UnsortedSegmentSum", [flat, array_ops.reshape(indices, [-1]), x.shape.as_list()[at]], {})
    back = list(range(1, at + 1)) + [0] + list(range(at + 1, rank))
    return array_ops.transpose(total, back), None, None


@gradient("ResourceGather")
def _resource_gather(op: Any, grad: Any) -> Any:
    handle, indices = op.inputs
    shape = _op("VariableShape", [handle], {})
    rows = array_ops.reshape(grad, array_ops.concat([[-1], shape[1:]], 0))
    return ops.IndexedSlices(rows, array_ops.reshape(indices, [-1]), shape), None


@gradient("GatherNd")
def _gather_nd(op: Any, grad: Any) -> Any:
    x, indices = op.inputs
    return _op("ScatterNd", [indices, grad, math_ops.cast(array_ops.shape(x), indices.dtype)], {}), None


@gradient("ScatterNd")
def _scatter_nd(op: Any, grad: Any) -> Any:
    return None, array_ops.gather_nd(grad, op.inputs[0]), None


@gradient("TensorScatterAdd")
def _tensor_scatter_add(op: Any, grad: Any) -> Any:
    return grad, None, array_ops.gather_nd(grad, op.inputs[1])


@gradient("TensorScatterUpdate")
def _tensor_scatter_update(op: Any, grad: Any) -> Any:
    _, indices, updates = op.inputs
    kept = _op("TensorScatterUpdate", [grad, indices, array_ops.zeros_like(updates)], {})
    return kept, None, array_ops.gather_nd(grad, indices)


@gradient("Tile")
def _tile(op: Any, grad: Any) -> Any:
    x, multiples = op.inputs
    pairs = array_ops.reshape(array_ops.transpose(array_ops.stack([multiples, math_ops.cast(array_ops.shape(x), multiples.dtype)])), [-1])
    axes = math_ops.range(0, array_ops.size(pairs), 2)
    return _as(math_ops.reduce_sum(array_ops.reshape(grad, pairs), axes), x), None


@gradient("Pad", "PadV2")
def _pad(op: Any, grad: Any) -> Any:
    x, paddings = op.inputs[0], op.inputs[1]
    begin = math_ops.cast(array_ops.reshape(paddings[:, 0], [-1]), dtypes.int32)
    gx = array_ops.slice(grad, begin, array_ops.shape(x))
    return (gx, None) if len(op.inputs) == 2 else (gx, None, None)


@gradient("MirrorPad")
def _mirror_pad(op: Any, grad: Any) -> Any:
    return _op("MirrorPadGrad", [grad, op.inputs[1]], {"mode": op.get_attr("mode")}), None


@gradient("ReverseV2")
def _reverse(op: Any, grad: Any) -> Any:
    return _op("ReverseV2", [grad, op.inputs[1]], {}), None


@gradient("Roll")
def _roll(op: Any, grad: Any) -> Any:
    return array_ops.roll(grad, -op.inputs[1], op.inputs[2]), None, None


@gradient("MatrixDiagV3")
def _matrix_diag(op: Any, grad: Any) -> Any:
    part = array_ops.matrix_diag_part(grad, k=op.inputs[1], align=_text(op.get_attr("align")))
    return part, None, None, None, None


@gradient("MatrixDiagPartV3")
def _matrix_diag_part(op: Any, grad: Any) -> Any:
    x, k = op.inputs[0], op.inputs[1]
    align = _text(op.get_attr("align"))
    return array_ops.matrix_set_diag(array_ops.zeros_like(x), grad, k=k, align=align), None, None


@gradient("MatrixSetDiagV3")
def _matrix_set_diag(op: Any, grad: Any) -> Any:
    _, diagonal, k = op.inputs
    align = _text(op.get_attr("align"))
    kept = array_ops.matrix_set_diag(grad, array_ops.zeros_like(diagonal), k=k, align=align)
    return kept, array_ops.matrix_diag_part(grad, k=k, align=align), None


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else value


@gradient("MatrixBandPart")
def _band_part(op: Any, grad: Any) -> Any:
    return _op("MatrixBandPart", [grad, op.inputs[1], op.inputs[2]], {}), None, None


@gradient("DiagPart")
def _diag_part(op: Any, grad: Any) -> Any:
    return _op("Diag", [grad], {})


@gradient("Diag")
def _diag(op: Any, grad: Any) -> Any:
    return _op("DiagPart", [grad], {})


@gradient("DynamicStitch")
def _dynamic_stitch(op: Any, grad: Any) -> Any:
    n = len(op.inputs) // 2
    return [None] * n + [array_ops.gather(grad, i) for i in op.inputs[:n]]


@gradient("SpaceToDepth")
def _space_to_depth(op: Any, grad: Any) -> Any:
    return array_ops.depth_to_space(grad, op.get_attr("block_size"))


@gradient("DepthToSpace")
def _depth_to_space(op: Any, grad: Any) -> Any:
    return array_ops.space_to_depth(grad, op.get_attr("block_size"))


@gradient("TopKV2")
def _top_k(op: Any, grad: Any, _: Any) -> Any:
    x, at = op.inputs[0], op.outputs[1]
    n = x.shape.as_list()[-1]
    rows = array_ops.one_hot(at, n, dtype=grad.dtype)
    return math_ops.reduce_sum(array_ops.expand_dims(grad, -1) * rows, -2), None
