"""Gradients of moving, joining and cutting."""

from __future__ import annotations

from typing import Any

import numpy as np

from emplace.framework import array_ops, constant_op, dtypes, math_ops, ops
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import convert_to_tensor as _convert
from emplace.gradients.common import attributes, is_eager, known, text, to_shape
from emplace.gradients.registry import gradient, no_gradient

for _name in (
    "Const StopGradient ZerosLike OnesLike Shape ShapeN Size Rank Where Unique UniqueWithCounts OneHot ListDiff"
    " InvertPermutation Bitcast RandomUniform RandomStandardNormal TruncatedNormal RandomUniformInt VarHandleOp"
    " AssignVariableOp AssignAddVariableOp AssignSubVariableOp VarIsInitializedOp BroadcastArgs BroadcastGradientArgs"
    " VariableShape Assert NoOp Placeholder Variable VariableV2 Assign AssignAdd AssignSub ConcatOffset Timestamp"
    # Text, bytes, summaries.
    " AsString DecodeBase64 DecodePaddedRaw DecodeRaw EncodeBase64 HistogramSummary MergeSummary ScalarSummary ReduceJoin"
    " RegexReplace StringJoin StringSplit StringToHashBucket StringToHashBucketFast StringToHashBucketStrong StringToNumber"
    # Images.
    " HSVToRGB CTCBeamSearchDecoder ExtractGlimpse NonMaxSuppression NonMaxSuppressionV2 NonMaxSuppressionWithOverlaps ResizeBilinearGrad"
    # Random numbers.
    " Multinomial RandomShuffle StatelessMultinomial StatelessRandomNormal StatelessRandomNormalV2 StatelessRandomPoisson"
    " StatelessRandomUniform StatelessRandomUniformV2 StatelessRandomUniformFullInt StatelessRandomUniformFullIntV2"
    " StatelessRandomUniformInt StatelessRandomUniformIntV2 StatelessTruncatedNormal StatelessTruncatedNormalV2"
    # Writes to parts of variables.
    " ScatterAdd ScatterDiv ScatterMul ScatterSub ScatterNdAdd ScatterNdSub ScatterNdUpdate"
).split():
    no_gradient(_name)


@gradient("Identity", "ReadVariableOp", "PlaceholderWithDefault", "Snapshot", "EnsureShape", "RefIdentity", "PreventGradient")
def _identity(op: Any, grad: Any) -> Any:
    return grad


@gradient("CheckNumerics", "CheckNumericsV2")
def _check_numerics(op: Any, grad: Any) -> Any:
    words = "Not a number (NaN) or infinity (Inf) values detected in gradient. "
    return _op("CheckNumerics", [grad], {"message": words + text(op.get_attr("message"))})


@gradient("Print")
def _print(op: Any, grad: Any) -> Any:
    return [grad, *(None for _ in op.inputs[1:])]


@gradient("IdentityN")
def _identity_n(op: Any, *grads: Any) -> Any:
    return grads


@gradient("Reshape")
def _reshape(op: Any, grad: Any) -> Any:
    x = op.inputs[0]
    sizes = x.shape.as_list() if x.shape.rank is not None and not is_eager(x) else []
    if sizes.count(None) == 1 and 0 not in sizes:  # the one that is not known follows from the rest
        return array_ops.reshape(grad, [-1 if d is None else d for d in sizes]), None
    return _as(grad, x), None


def _as(grad: Any, x: Any) -> Any:
    """`grad` in the shape of `x`."""
    grad = _convert(grad)
    if is_eager(x):
        return array_ops.reshape(grad, x.shape.as_list())
    return array_ops.reshape(grad, array_ops.shape(x))


@gradient("ExpandDims")
def _expand_dims(op: Any, grad: Any) -> Any:
    return _as(grad, op.inputs[0]), None


@gradient("Squeeze")
def _squeeze(op: Any, grad: Any) -> Any:
    return _as(grad, op.inputs[0])


@gradient("Transpose")
def _transpose(op: Any, grad: Any) -> Any:
    return array_ops.transpose(grad, _op("InvertPermutation", [op.inputs[1]], {})), None


@gradient("ConjugateTranspose")
def _conjugate_transpose(op: Any, grad: Any) -> Any:
    return array_ops.transpose(grad, _op("InvertPermutation", [op.inputs[1]], {}), conjugate=True), None


@gradient("BroadcastTo")
def _broadcast_to(op: Any, grad: Any) -> Any:
    x, target = op.inputs
    if is_eager(x):
        return to_shape(grad, x), None
    shape = array_ops.shape(x)
    sizes = known(target)
    wide = target if sizes is None else constant_op.constant(sizes, dtype=target.dtype)
    axes = _op("BroadcastGradientArgs", [wide, shape], {})[1]
    return array_ops.reshape(math_ops.reduce_sum(grad, axes, keepdims=True), shape), None


@gradient("Fill")
def _fill(op: Any, grad: Any) -> Any:
    return None, math_ops.reduce_sum(grad)


_MANY = 16  # more parts than this are cut by one split


@gradient("ConcatV2")
def _concat(op: Any, grad: Any) -> Any:
    *parts, axis = op.inputs
    grad = _convert(grad)
    if len(parts) == 1:
        return grad, None
    if is_eager(grad) or len(parts) > _MANY:
        at = int(known(axis))
        sizes: Any = [p.shape.as_list()[at] for p in parts]
        if None in sizes:
            sizes = array_ops.stack([array_ops.shape(p)[at] for p in parts])
        return [*_op("SplitV", [grad, _convert(sizes, dtypes.int32), axis], {"num_split": len(parts)}), None]
    at = axis % array_ops.rank(parts[0])
    shapes = _shapes(parts)
    offsets = _op("ConcatOffset", [at, shapes], {})
    return [*(array_ops.slice(grad, o, s) for o, s in zip(offsets, shapes)), None]


def _shapes(parts: list[Any]) -> list[Any]:
    """Their shapes: constants as long as they are known, otherwise all by one operation."""
    found = []
    for p in parts:
        found.append(array_ops.shape(p))
        if found[-1].op.type != "Const":
            return list(_op("ShapeN", [parts], {"out_type": dtypes.int32}))
    return found


@gradient("Concat")
def _concat_v1(op: Any, grad: Any) -> Any:
    axis, *parts = op.inputs
    at = axis % array_ops.rank(parts[0])
    shapes = _shapes(parts)
    offsets = _op("ConcatOffset", [at, shapes], {})
    return [None, *(array_ops.slice(grad, o, s) for o, s in zip(offsets, shapes))]


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
    """The cut part, padded on both sides."""
    x, begin = op.inputs[0], op.inputs[1]
    if is_eager(x):
        first = math_ops.cast(begin, dtypes.int32)
        after = array_ops.shape(x) - array_ops.shape(grad) - first
        return _op("Pad", [grad, array_ops.stack([first, after], axis=1)], {}), None, None
    rank = array_ops.rank(x)
    size = array_ops.shape(op.outputs[0])
    if begin.dtype.base_dtype != dtypes.int32:
        size = math_ops.cast(size, begin.dtype.base_dtype)
    column = array_ops.stack([rank, 1])
    before = array_ops.reshape(begin, column)
    shape = array_ops.shape(x)
    if begin.dtype.base_dtype != dtypes.int32:
        shape = math_ops.cast(shape, begin.dtype.base_dtype)
    after = array_ops.reshape(shape - size - begin, column)
    return array_ops.pad(grad, array_ops.concat([before, after], 1)), None, None


_MASKS = "begin_mask end_mask ellipsis_mask new_axis_mask shrink_axis_mask"


@gradient("StridedSlice")
def _strided_slice(op: Any, grad: Any) -> Any:
    x, begin, end, strides = op.inputs
    masks = attributes(op, _MASKS)
    if is_eager(x):
        shape = math_ops.cast(array_ops.shape(x), begin.dtype)
        return _op("StridedSliceGrad", [shape, begin, end, strides, grad], masks), None, None, None
    kind = begin.dtype.base_dtype
    shape = array_ops.shape(x, out_type=kind)
    bounds = [known(v) for v in (shape, begin, end, strides)]
    bounds = [v if k is None else k for k, v in zip(bounds, (shape, begin, end, strides))]
    return _op("StridedSliceGrad", [*bounds, grad], masks), None, None, None


@gradient("StridedSliceGrad")
def _strided_slice_grad(op: Any, grad: Any) -> Any:
    begin, end, strides = op.inputs[1:4]
    return None, None, None, None, _op("StridedSlice", [grad, begin, end, strides], attributes(op, _MASKS))


@gradient("TensorStridedSliceUpdate")
def _strided_slice_update(op: Any, grad: Any) -> Any:
    bounds, value, masks = op.inputs[1:4], op.inputs[4], attributes(op, _MASKS)
    picked = _op("StridedSlice", [grad, *bounds], masks)
    kept = _op("TensorStridedSliceUpdate", [grad, *bounds, array_ops.zeros_like(picked)], masks)
    if is_eager(value):
        return kept, None, None, None, to_shape(picked, value)
    wide, shape = array_ops.shape(picked), array_ops.shape(value)
    along = _op("BroadcastGradientArgs", [wide, shape], {})[1]
    return kept, None, None, None, array_ops.reshape(math_ops.reduce_sum(picked, along), shape)


@gradient("Tile")
def _tile(op: Any, grad: Any) -> Any:
    x, multiples = op.inputs
    shape = array_ops.shape(x, out_type=multiples.dtype)
    pairs = array_ops.reshape(array_ops.transpose(array_ops.stack([multiples, shape])), [-1])
    axes = math_ops.range(0, array_ops.size(pairs), 2)
    apart = array_ops.reshape(grad, pairs)
    times = known(multiples)
    if isinstance(apart, ops.SymbolicTensor) and times is not None and x.shape.rank is not None:
        apart.set_shape([d for pair in zip(times.tolist(), x.shape.as_list()) for d in pair])
    summed = math_ops.reduce_sum(apart, axes)
    if isinstance(summed, ops.Tensor):
        summed.set_shape(x.shape)
    return summed, None


@gradient("Pad", "PadV2")
def _pad(op: Any, grad: Any) -> Any:
    x, paddings = op.inputs[0], op.inputs[1]
    column = array_ops.stack([array_ops.rank(x), 1])
    before = array_ops.reshape(array_ops.slice(paddings, [0, 0], column), [-1])
    size = array_ops.shape(x, out_type=paddings.dtype)
    return [array_ops.slice(grad, before, size)] + [None] * (len(op.inputs) - 1)


@gradient("MirrorPad")
def _mirror_pad(op: Any, grad: Any) -> Any:
    return _op("MirrorPadGrad", [grad, op.inputs[1]], attributes(op, "mode")), None


@gradient("MirrorPadGrad")
def _mirror_pad_grad(op: Any, grad: Any) -> Any:
    return _op("MirrorPad", [grad, op.inputs[1]], attributes(op, "mode")), None


@gradient("ReverseV2", "Reverse")
def _reverse(op: Any, grad: Any) -> Any:
    return _op(op.type, [grad, op.inputs[1]], {}), None


@gradient("ReverseSequence")
def _reverse_sequence(op: Any, grad: Any) -> Any:
    return _op("ReverseSequence", [grad, op.inputs[1]], attributes(op, "batch_dim seq_dim")), None


@gradient("Roll")
def _roll(op: Any, grad: Any) -> Any:
    return array_ops.roll(grad, -op.inputs[1], op.inputs[2]), None, None


def _align(op: Any) -> str:
    """How the diagonals of unequal length stand; before it could be said, to the left."""
    return text(op.get_attr("align")) if op.type.endswith("V3") else "LEFT_LEFT"


@gradient("MatrixDiag")
def _matrix_diag_v1(op: Any, grad: Any) -> Any:
    return array_ops.matrix_diag_part(grad)


@gradient("MatrixDiagPart")
def _matrix_diag_part_v1(op: Any, grad: Any) -> Any:
    x = op.inputs[0]
    sizes = x.shape.as_list()[-2:] if x.shape.rank is not None else [None]
    if None not in sizes and sizes[0] == sizes[1]:
        return array_ops.matrix_diag(grad)
    return array_ops.matrix_set_diag(array_ops.zeros_like(x), grad)


@gradient("MatrixSetDiag")
def _matrix_set_diag_v1(op: Any, grad: Any) -> Any:
    diagonal = op.inputs[1]
    if is_eager(grad):
        zeros = array_ops.zeros_like(diagonal)
    elif diagonal.shape.is_fully_defined():
        zeros = array_ops.zeros(diagonal.shape.as_list(), dtype=grad.dtype)
    else:
        with ops.colocate_with(grad):
            shape, rank = array_ops.shape(grad), array_ops.rank(grad)
            batches = array_ops.slice(shape, [0], [rank - 2])
            length = math_ops.reduce_min(array_ops.slice(shape, [rank - 2], [2]))
            narrow = array_ops.concat([batches, [length]], 0)
        zeros = array_ops.zeros(narrow, dtype=grad.dtype)
    return array_ops.matrix_set_diag(grad, zeros), array_ops.matrix_diag_part(grad)


@gradient("MatrixDiagV3", "MatrixDiagV2")
def _matrix_diag(op: Any, grad: Any) -> Any:
    part = array_ops.matrix_diag_part(grad, k=op.inputs[1], align=_align(op))
    return part, None, None, None, None


@gradient("MatrixDiagPartV3", "MatrixDiagPartV2")
def _matrix_diag_part(op: Any, grad: Any) -> Any:
    x, k = op.inputs[0], op.inputs[1]
    align = _align(op)
    sizes = x.shape.as_list()[-2:] if x.shape.rank is not None else [None]
    if None not in sizes:
        return array_ops.matrix_diag(grad, k=k, num_rows=sizes[0], num_cols=sizes[1], align=align), None, None
    return array_ops.matrix_set_diag(array_ops.zeros_like(x), grad, k=k, align=align), None, None


@gradient("MatrixSetDiagV3", "MatrixSetDiagV2")
def _matrix_set_diag(op: Any, grad: Any) -> Any:
    x, diagonal, k = op.inputs
    align = _align(op)
    if is_eager(x):
        zeros = array_ops.zeros_like(diagonal)
    elif diagonal.shape.is_fully_defined():
        zeros = array_ops.zeros(diagonal.shape.as_list(), dtype=grad.dtype)
    else:
        zeros = array_ops.zeros(_diagonals_shape(grad, k), dtype=grad.dtype)
    kept = array_ops.matrix_set_diag(grad, zeros, k=k, align=align)
    return kept, array_ops.matrix_diag_part(grad, k=k, align=align), None


def _diagonals_shape(matrix: Any, k: Any) -> Any:
    """That of the diagonals number `k`, or from `k[0]` to `k[1]`, as they are put side by side."""
    from emplace.framework.cond import cond

    shape = array_ops.shape(matrix)
    batches, sizes = shape[:-2], shape[-2:]
    bounds = array_ops.reshape(k, [-1])
    lowest, highest = bounds[0], bounds[-1]
    fewer_rows = cond(highest < 0, lambda: highest, lambda: 0)
    fewer_columns = cond(lowest > 0, lambda: -lowest, lambda: 0)
    longest = _op("Minimum", [sizes[0] + fewer_rows, sizes[1] + fewer_columns], {})
    last = cond(math_ops.equal(lowest, highest), lambda: _convert([longest]), lambda: _convert([highest - lowest + 1, longest]))
    return array_ops.concat([batches, last], 0)


@gradient("MatrixBandPart")
def _band_part(op: Any, grad: Any) -> Any:
    return _op("MatrixBandPart", [grad, op.inputs[1], op.inputs[2]], {}), None, None


@gradient("DiagPart")
def _diag_part(op: Any, grad: Any) -> Any:
    return _op("Diag", [grad], {})


@gradient("Diag")
def _diag(op: Any, grad: Any) -> Any:
    return _op("DiagPart", [grad], {})


@gradient("DynamicStitch", "ParallelDynamicStitch")
def _dynamic_stitch(op: Any, grad: Any) -> Any:
    n = len(op.inputs) // 2
    return [None] * n + [array_ops.gather(grad, i) for i in op.inputs[:n]]


@gradient("DynamicPartition")
def _dynamic_partition(op: Any, *grads: Any) -> Any:
    data, partitions = op.inputs
    shape = array_ops.shape(partitions)
    numbers = array_ops.reshape(math_ops.range(math_ops.reduce_prod(shape)), shape)
    places = _op("DynamicPartition", [numbers, partitions], {"num_partitions": op.get_attr("num_partitions")})
    stitched = _op("ParallelDynamicStitch", [list(places), list(grads)], {})
    if not is_eager(data) and partitions.shape.is_fully_defined() and data.shape.rank is not None:
        stitched.set_shape([partitions.shape.num_elements(), *data.shape.as_list()[partitions.shape.rank :]])
    return array_ops.reshape(stitched, array_ops.shape(data)), None


@gradient("SpaceToBatchND")
def _space_to_batch(op: Any, grad: Any) -> Any:
    return _op("BatchToSpaceND", [grad, op.inputs[1], op.inputs[2]], {}), None, None


@gradient("BatchToSpaceND")
def _batch_to_space(op: Any, grad: Any) -> Any:
    return _op("SpaceToBatchND", [grad, op.inputs[1], op.inputs[2]], {}), None, None


def _block(op: Any) -> Any:
    return np.full(2, op.get_attr("block_size"), np.int64)


@gradient("SpaceToBatch")
def _space_to_batch_v1(op: Any, grad: Any) -> Any:
    return _op("BatchToSpaceND", [grad, _block(op), op.inputs[1]], {}), None


@gradient("BatchToSpace")
def _batch_to_space_v1(op: Any, grad: Any) -> Any:
    return _op("SpaceToBatchND", [grad, _block(op), op.inputs[1]], {}), None


@gradient("SpaceToDepth")
def _space_to_depth(op: Any, grad: Any) -> Any:
    return array_ops.depth_to_space(grad, op.get_attr("block_size"))


@gradient("DepthToSpace")
def _depth_to_space(op: Any, grad: Any) -> Any:
    return array_ops.space_to_depth(grad, op.get_attr("block_size"))


@gradient("TopKV2", "TopK")
def _top_k(op: Any, grad: Any, _: Any) -> Any:
    """The gradients put back to where the values were found, row by row."""
    x, at = op.inputs[0], op.outputs[1]
    rest = [None] * (len(op.inputs) - 1)
    if is_eager(x):
        rows = array_ops.one_hot(at, x.shape.as_list()[-1], dtype=grad.dtype)
        return [math_ops.reduce_sum(array_ops.expand_dims(grad, -1) * rows, -2), *rest]
    shape, at_shape = array_ops.shape(x), array_ops.shape(at)
    at_last = _last(at_shape)
    flat = array_ops.reshape(at, array_ops.stack([-1, at_last]))
    last = _last(shape)
    rows = math_ops.cast(array_ops.shape(flat)[0], dtypes.int64)
    start = math_ops.range(0, rows * last, last)
    flat = array_ops.reshape(flat + math_ops.cast(array_ops.expand_dims(start, -1), dtypes.int32), [-1])
    places = array_ops.expand_dims(flat, -1)
    total = _op("ScatterNd", [places, array_ops.reshape(grad, [-1]), [math_ops.reduce_prod(shape)]], {})
    back = array_ops.reshape(total, shape)
    if rest:
        rest = [array_ops.zeros([], dtype=dtypes.int32)]
    return [back, *rest]


def _last(shape: Any) -> Any:
    wide = math_ops.cast(shape, dtypes.int64)
    return array_ops.gather(wide, array_ops.size(shape) - 1)
