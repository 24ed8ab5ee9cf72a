"""Gradients of operations over sparse tensors."""

from __future__ import annotations

from typing import Any

from emplace.framework import array_ops, dtypes, math_ops, ops
from emplace.framework.dispatch import execute as _op
from emplace.gradients.registry import gradient, no_gradient

for _name in ("SparseReorderIndices", "SetSize", "SparseReshape", "EditDistance", "CTCGreedyDecoder", "SparseConcat"):
    no_gradient(_name)


@gradient("SparseTensorDenseMatMul")
def _dense_matmul(op: Any, grad: Any) -> list[Any]:
    indices, values, shape, b = op.inputs
    adjoint_a, adjoint_b = op.get_attr("adjoint_a"), op.get_attr("adjoint_b")
    b_grad = _op("SparseTensorDenseMatMul", [indices, values, shape, grad], {"adjoint_a": not adjoint_a, "adjoint_b": False})
    if adjoint_b:
        b_grad = array_ops.transpose(b_grad)
    rows, columns = indices[:, 0], indices[:, 1]
    of_grad = array_ops.gather(grad, columns if adjoint_a else rows)
    of_b = array_ops.gather(array_ops.transpose(b) if adjoint_b else b, rows if adjoint_a else columns)
    return [None, math_ops.reduce_sum(of_grad * of_b, axis=1), None, b_grad]


@gradient("SparseToDense")
def _to_dense(op: Any, grad: Any) -> list[Any]:
    indices, shape, _, _ = op.inputs
    values = array_ops.gather_nd(grad, indices) if indices.shape.rank != 0 else grad
    return [None, None, values, math_ops.reduce_sum(grad) - math_ops.reduce_sum(values)]


@gradient("SparseAdd")
def _add(op: Any, *grads: Any) -> list[Any]:
    made = _op("SparseAddGrad", [grads[1], op.inputs[0], op.inputs[3], op.outputs[0]], {})
    made[0].set_shape(op.inputs[1].shape)
    made[1].set_shape(op.inputs[4].shape)
    return [None, made[0], None, None, made[1], None, None]


@gradient("SparseTensorDenseAdd")
def _dense_add(op: Any, grad: Any) -> list[Any]:
    return [None, array_ops.gather_nd(grad, op.inputs[0]), None, grad]


@gradient("SparseReduceSum")
def _reduce_sum(op: Any, grad: Any) -> list[Any]:
    indices, _, shape, axes = op.inputs
    counts = math_ops._reduced_shape(shape, axes) if hasattr(math_ops, "_reduced_shape") else _kept(shape, axes)
    spread = array_ops.reshape(grad, counts)
    scale = shape // math_ops.cast(counts, dtypes.int64)
    return [None, array_ops.gather_nd(spread, indices // scale), None, None]


def _kept(shape: Any, axes: Any) -> Any:
    """The shape with ones where it was summed over."""
    sizes = math_ops.cast(shape, dtypes.int32)
    rank = array_ops.size(sizes)
    at = (axes + rank) % rank
    places = [math_ops.range(rank), at]
    return _op("DynamicStitch", [places, [sizes, array_ops.fill(array_ops.shape(at), 1)]], {})


@gradient("SparseReorder")
def _reorder(op: Any, _: Any, values_grad: Any) -> list[Any]:
    indices, _, shape = op.inputs
    count = array_ops.shape(indices)[0]
    order = _op("SparseReorder", [indices, math_ops.range(count), shape], {})[1]
    return [None, array_ops.gather(values_grad, _op("InvertPermutation", [order], {})), None]


@gradient("SparseSlice")
def _slice(op: Any, *grads: Any) -> list[Any]:
    indices, _, _, start, _ = op.inputs
    made = _op("SparseSliceGrad", [grads[1], indices, start, op.outputs[0]], {})
    made.set_shape(op.inputs[1].shape)
    return [None, made, None, None, None]


@gradient("SparseSoftmax")
def _softmax(op: Any, grad: Any) -> list[Any]:
    indices, shape, out = op.inputs[0], op.inputs[2], op.outputs[0]
    products = out * grad
    sums = _op("SparseReduceSum", [indices, products, shape, ops.convert_to_tensor([-1])], {"keep_dims": True})
    added = _op("SparseDenseCwiseAdd", [indices, grad, shape, -sums], {})
    return [None, added * out, None]


@gradient("SparseFillEmptyRows")
def _fill(op: Any, _: Any, values_grad: Any, *__: Any) -> list[Any]:
    values, default = _op("SparseFillEmptyRowsGrad", [op.outputs[3], values_grad], {})
    return [None, values, None, default]


@gradient("SparseDenseCwiseMul")
def _times(op: Any, grad: Any) -> list[Any]:
    indices, values, shape, dense = op.inputs
    of_dense = _op("SparseDenseCwiseMul", [indices, grad, shape, dense], {})
    return [None, of_dense, None, None]


def _segment(kind: str) -> None:
    def grad_of(op: Any, grad: Any) -> list[Any]:
        rows = array_ops.shape(op.inputs[0])[0]
        inputs = [grad, op.inputs[1], op.inputs[2], rows]
        return [_op(f"SparseSegment{kind}Grad", inputs, {}), None, None]

    def counted(op: Any, grad: Any) -> list[Any]:
        return [*grad_of(op, grad), None]

    gradient(f"SparseSegment{kind}")(grad_of)
    gradient(f"SparseSegment{kind}WithNumSegments")(counted)


for _kind in ("Sum", "Mean", "SqrtN"):
    _segment(_kind)
