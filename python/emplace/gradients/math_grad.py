"""Gradients of arithmetic and reductions."""

from __future__ import annotations

import math
from typing import Any

from emplace.framework import array_ops, math_ops
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import convert_to_tensor as _convert
from emplace.gradients.registry import gradient, no_gradient

for _name in (
    "Floor Ceil Round Rint FloorDiv FloorMod TruncateDiv TruncateMod Equal NotEqual Less LessEqual Greater"
    " GreaterEqual LogicalAnd LogicalOr LogicalNot ApproximateEqual ArgMax ArgMin All Any Range LinSpace IsNan"
    " IsInf IsFinite NextAfter BitwiseAnd BitwiseOr BitwiseXor Invert Bincount"
).split():
    no_gradient(_name)


def like(value: float, x: Any) -> Any:
    return _convert(value, dtype=x.dtype.base_dtype)


def conj(x: Any) -> Any:
    return math_ops.conj(x) if x.dtype.is_complex else x


def to_shape(grad: Any, x: Any) -> Any:
    """`grad` summed over the axes along which `x` was broadcast."""
    if grad is None:
        return None
    have, want = grad.shape, x.shape
    if have.is_fully_defined() and want.is_fully_defined():
        if have == want:
            return grad
        have, want = have.as_list(), want.as_list()
        extra = len(have) - len(want)
        axes = list(range(extra)) + [extra + i for i, d in enumerate(want) if d == 1 and have[extra + i] != 1]
        if axes:
            grad = math_ops.reduce_sum(grad, axes)
        return array_ops.reshape(grad, want)
    target = array_ops.shape(x)
    axes, _ = _op("BroadcastGradientArgs", [target, array_ops.shape(grad)], {})
    return array_ops.reshape(math_ops.reduce_sum(grad, axes), target)


# ---- One argument.


def _unary(op_type: str, factor: Any) -> None:
    """The gradient is that of the output times `factor(x, y)`."""

    def function(op: Any, grad: Any) -> Any:
        return grad * conj(factor(op.inputs[0], op.outputs[0]))

    gradient(op_type)(function)


_ROOT_PI = 2 / math.sqrt(math.pi)
_unary("Exp", lambda x, y: y)
_unary("Expm1", lambda x, y: math_ops.exp(x))
_unary("Log", lambda x, y: _op("Reciprocal", [x], {}))
_unary("Log1p", lambda x, y: _op("Reciprocal", [1 + x], {}))
_unary("Sin", lambda x, y: _op("Cos", [x], {}))
_unary("Cos", lambda x, y: -_op("Sin", [x], {}))
_unary("Tan", lambda x, y: _op("Square", [_op("Reciprocal", [_op("Cos", [x], {})], {})], {}))
_unary("Asin", lambda x, y: _op("Reciprocal", [math_ops.sqrt(1 - _op("Square", [x], {}))], {}))
_unary("Acos", lambda x, y: -_op("Reciprocal", [math_ops.sqrt(1 - _op("Square", [x], {}))], {}))
_unary("Atan", lambda x, y: _op("Reciprocal", [1 + _op("Square", [x], {})], {}))
_unary("Sinh", lambda x, y: _op("Cosh", [x], {}))
_unary("Cosh", lambda x, y: _op("Sinh", [x], {}))
_unary("Asinh", lambda x, y: _op("Reciprocal", [_op("Cosh", [y], {})], {}))
_unary("Acosh", lambda x, y: _op("Reciprocal", [_op("Sinh", [y], {})], {}))
_unary("Atanh", lambda x, y: _op("Reciprocal", [1 - _op("Square", [x], {})], {}))
_unary("Erf", lambda x, y: like(_ROOT_PI, x) * math_ops.exp(-_op("Square", [x], {})))
_unary("Erfc", lambda x, y: like(-_ROOT_PI, x) * math_ops.exp(-_op("Square", [x], {})))
_unary("Erfinv", lambda x, y: like(math.sqrt(math.pi) / 2, x) * math_ops.exp(_op("Square", [y], {})))
_unary("Ndtri", lambda x, y: like(math.sqrt(2 * math.pi), x) * math_ops.exp(_op("Square", [y], {}) / 2))
_unary("Lgamma", lambda x, y: _op("Digamma", [x], {}))
_unary("Digamma", lambda x, y: _op("Polygamma", [like(1, x), x], {}))
_unary("Square", lambda x, y: x * like(2, x))


@gradient("Neg")
def _neg(op: Any, grad: Any) -> Any:
    return -grad


@gradient("Abs")
def _abs(op: Any, grad: Any) -> Any:
    return grad * math_ops.sign(op.inputs[0])


@gradient("ComplexAbs")
def _complex_abs(op: Any, grad: Any) -> Any:
    size = op.outputs[0]
    safe = _op("DivNoNan", [grad, size], {})
    return math_ops.complex(safe, array_ops.zeros_like(safe)) * op.inputs[0]


@gradient("Sign")
def _sign(op: Any, grad: Any) -> Any:
    return array_ops.zeros_like(op.inputs[0])


@gradient("Sqrt")
def _sqrt(op: Any, grad: Any) -> Any:
    return _op("SqrtGrad", [op.outputs[0], grad], {})


@gradient("SqrtGrad")
def _sqrt_grad(op: Any, grad: Any) -> Any:
    a, y = op.inputs[0], op.outputs[0]
    ga = grad / a
    return -conj(ga) * y, 0.5 * ga


@gradient("Rsqrt")
def _rsqrt(op: Any, grad: Any) -> Any:
    return _op("RsqrtGrad", [op.outputs[0], grad], {})


@gradient("RsqrtGrad")
def _rsqrt_grad(op: Any, grad: Any) -> Any:
    a, b = op.inputs
    return like(-1.5, a) * grad * b * _op("Square", [a], {}), like(-0.5, a) * grad * a * a * a


@gradient("Reciprocal", "Inv")
def _reciprocal(op: Any, grad: Any) -> Any:
    y = op.outputs[0]
    return -grad * conj(y * y)


@gradient("Tanh")
def _tanh(op: Any, grad: Any) -> Any:
    return _op("TanhGrad", [conj(op.outputs[0]), grad], {})


@gradient("TanhGrad")
def _tanh_grad(op: Any, grad: Any) -> Any:
    a, b = op.inputs
    return grad * -2.0 * b * a, _op("TanhGrad", [a, grad], {})


@gradient("Sigmoid")
def _sigmoid(op: Any, grad: Any) -> Any:
    return _op("SigmoidGrad", [conj(op.outputs[0]), grad], {})


@gradient("SigmoidGrad")
def _sigmoid_grad(op: Any, grad: Any) -> Any:
    a, b = op.inputs
    gb = grad * b
    return gb - 2.0 * gb * a, _op("SigmoidGrad", [a, grad], {})


# ---- Two arguments.


def _both(op: Any, gx: Any, gy: Any) -> tuple[Any, Any]:
    return to_shape(gx, op.inputs[0]), to_shape(gy, op.inputs[1])


@gradient("Add", "AddV2")
def _add(op: Any, grad: Any) -> Any:
    return _both(op, grad, grad)


@gradient("Sub")
def _sub(op: Any, grad: Any) -> Any:
    return _both(op, grad, -grad)


@gradient("Mul")
def _mul(op: Any, grad: Any) -> Any:
    x, y = op.inputs
    return _both(op, grad * conj(y), conj(x) * grad)


@gradient("MulNoNan")
def _mul_no_nan(op: Any, grad: Any) -> Any:
    x, y = op.inputs
    return _both(op, _op("MulNoNan", [grad, y], {}), _op("MulNoNan", [x, grad], {}))


@gradient("Div", "RealDiv")
def _div(op: Any, grad: Any) -> Any:
    x, y = (conj(v) for v in op.inputs)
    return _both(op, grad / y, grad * (-x / y) / y)


@gradient("DivNoNan")
def _div_no_nan(op: Any, grad: Any) -> Any:
    x, y = (conj(v) for v in op.inputs)
    return _both(op, math_ops.div_no_nan(grad, y), grad * math_ops.div_no_nan(math_ops.div_no_nan(-x, y), y))


@gradient("Pow")
def _pow(op: Any, grad: Any) -> Any:
    x, y, z = (conj(v) for v in (*op.inputs, op.outputs[0]))
    gx = grad * y * math_ops.pow(x, y - like(1, y))
    positive = x > like(0, x) if not x.dtype.is_complex else math_ops.not_equal(x, like(0, x))
    safe = array_ops.where_v2(positive, x, array_ops.ones_like(x))
    log = array_ops.where_v2(positive, _op("Log", [safe], {}), array_ops.zeros_like(x))
    return _both(op, gx, grad * z * log)


def _extreme(op: Any, grad: Any, first: Any) -> Any:
    zeros = array_ops.zeros_like(grad)
    return _both(op, array_ops.where_v2(first, grad, zeros), array_ops.where_v2(first, zeros, grad))


@gradient("Maximum")
def _maximum(op: Any, grad: Any) -> Any:
    return _extreme(op, grad, op.inputs[0] >= op.inputs[1])


@gradient("Minimum")
def _minimum(op: Any, grad: Any) -> Any:
    return _extreme(op, grad, op.inputs[0] <= op.inputs[1])


@gradient("SquaredDifference")
def _squared_difference(op: Any, grad: Any) -> Any:
    x, y = op.inputs
    g = like(2, grad) * grad * (x - y)
    return _both(op, g, -g)


@gradient("Atan2")
def _atan2(op: Any, grad: Any) -> Any:
    y, x = op.inputs
    g = grad / (_op("Square", [x], {}) + _op("Square", [y], {}))
    return _both(op, x * g, -y * g)


@gradient("Xlogy")
def _xlogy(op: Any, grad: Any) -> Any:
    x, y = op.inputs
    known = math_ops.cast(math_ops.not_equal(x, like(0, x)), x.dtype)
    return _both(op, grad * _op("Xlogy", [known, y], {}), grad * _op("Xdivy", [x, y], {}))


@gradient("Xdivy")
def _xdivy(op: Any, grad: Any) -> Any:
    x, y = op.inputs
    known = math_ops.cast(math_ops.not_equal(x, like(0, x)), x.dtype)
    return _both(op, grad * _op("Xdivy", [known, y], {}), grad * _op("Xdivy", [-x, _op("Square", [y], {})], {}))


@gradient("AddN", "AccumulateNV2")
def _add_n(op: Any, grad: Any) -> Any:
    return [grad] * len(op.inputs)


# ---- Products.


@gradient("MatMul")
def _matmul(op: Any, grad: Any) -> Any:
    a, b = (conj(v) for v in op.inputs)
    mm = math_ops.matmul
    flags = op.get_attr("transpose_a"), op.get_attr("transpose_b")
    if flags == (False, False):
        return mm(grad, b, transpose_b=True), mm(a, grad, transpose_a=True)
    if flags == (False, True):
        return mm(grad, b), mm(grad, a, transpose_a=True)
    if flags == (True, False):
        return mm(b, grad, transpose_b=True), mm(a, grad)
    return mm(b, grad, transpose_a=True, transpose_b=True), mm(grad, a, transpose_a=True, transpose_b=True)


@gradient("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3")
def _batch_matmul(op: Any, grad: Any) -> Any:
    x, y = op.inputs
    mm = math_ops.matmul
    flags = bool(op.get_attr("adj_x")), bool(op.get_attr("adj_y"))
    if flags == (False, False):
        gx, gy = mm(grad, y, adjoint_b=True), mm(x, grad, adjoint_a=True)
    elif flags == (False, True):
        gx, gy = mm(grad, y), mm(grad, x, adjoint_a=True)
    elif flags == (True, False):
        gx, gy = mm(y, grad, adjoint_b=True), mm(x, grad)
    else:
        gx, gy = mm(y, grad, adjoint_a=True, adjoint_b=True), mm(grad, x, adjoint_a=True, adjoint_b=True)
    return _both(op, gx, gy)


# ---- Reductions.


def _kept_shape(x: Any, axes: Any) -> Any:
    """The shape of a reduction that keeps its axes."""
    from emplace.framework.constant_op import constant_value

    known = constant_value(axes) if not hasattr(axes, "_numpy_of_eager") else axes._numpy_of_eager()
    if x.shape.is_fully_defined() and known is not None:
        sizes = x.shape.as_list()
        for a in known.reshape(-1):
            sizes[int(a)] = 1
        return sizes
    n = array_ops.size(array_ops.shape(x))
    wrapped = (axes + n) % n
    return _op("DynamicStitch", [[math_ops.range(n), array_ops.reshape(wrapped, [-1])], [array_ops.shape(x), array_ops.ones_like(array_ops.reshape(wrapped, [-1]))]], {})


def _spread(op: Any, grad: Any) -> Any:
    x = op.inputs[0]
    grad = array_ops.reshape(grad, _kept_shape(x, op.inputs[1]))
    return _op("BroadcastTo", [grad, array_ops.shape(x)], {})


@gradient("Sum")
def _sum(op: Any, grad: Any) -> Any:
    return _spread(op, grad), None


@gradient("Mean")
def _mean(op: Any, grad: Any) -> Any:
    x, y = op.inputs[0], op.outputs[0]
    if x.shape.is_fully_defined() and y.shape.is_fully_defined():
        factor: Any = like(float(x.shape.num_elements() // max(y.shape.num_elements(), 1)), grad)
    else:
        factor = math_ops.cast(array_ops.size(x) // array_ops.size(y), grad.dtype)
    return _spread(op, grad) / factor, None


@gradient("Max", "Min")
def _max(op: Any, grad: Any) -> Any:
    x = op.inputs[0]
    shape = _kept_shape(x, op.inputs[1])
    y = array_ops.reshape(op.outputs[0], shape)
    grad = array_ops.reshape(grad, shape)
    chosen = math_ops.cast(math_ops.equal(y, x), grad.dtype)
    count = array_ops.reshape(math_ops.reduce_sum(chosen, op.inputs[1]), shape)
    return chosen / count * grad, None


@gradient("Prod")
def _prod(op: Any, grad: Any) -> Any:
    """The product of all others, from products of those before and of those after."""
    x = op.inputs[0]
    rank = x.shape.rank
    axes = sorted({int(a) % max(rank, 1) for a in op.inputs[1]._numpy_of_eager().reshape(-1)}) if hasattr(op.inputs[1], "_numpy_of_eager") else _constant_axes(op)
    grad = array_ops.reshape(grad, _kept_shape(x, op.inputs[1]))
    rest = [i for i in range(rank) if i not in axes]
    order = axes + rest
    moved = array_ops.transpose(x, order)
    sizes = moved.shape.as_list()
    flat = array_ops.reshape(moved, [math.prod(sizes[: len(axes)]), *sizes[len(axes) :]])
    left = math_ops.cumprod(flat, axis=0, exclusive=True)
    right = math_ops.cumprod(flat, axis=0, exclusive=True, reverse=True)
    others = array_ops.reshape(conj(left) * conj(right), sizes)
    back = [order.index(i) for i in range(rank)]
    return grad * array_ops.transpose(others, back), None


def _constant_axes(op: Any) -> list[int]:
    from emplace.framework.constant_op import constant_value

    return sorted({int(a) % op.inputs[0].shape.rank for a in constant_value(op.inputs[1]).reshape(-1)})


@gradient("Cumsum")
def _cumsum(op: Any, grad: Any) -> Any:
    return math_ops.cumsum(grad, op.inputs[1], exclusive=op.get_attr("exclusive"), reverse=not op.get_attr("reverse")), None


@gradient("Cumprod")
def _cumprod(op: Any, grad: Any) -> Any:
    exclusive, reverse = op.get_attr("exclusive"), op.get_attr("reverse")
    out = math_ops.cumsum(op.outputs[0] * grad, op.inputs[1], exclusive=exclusive, reverse=not reverse)
    return math_ops.div_no_nan(out, op.inputs[0]), None


@gradient("SegmentSum")
def _segment_sum(op: Any, grad: Any) -> Any:
    return array_ops.gather(grad, op.inputs[1]), None


@gradient("UnsortedSegmentSum")
def _unsorted_segment_sum(op: Any, grad: Any) -> Any:
    ids = op.inputs[1]
    rows = array_ops.gather(grad, _op("Maximum", [ids, array_ops.zeros_like(ids)], {}))
    known = ids >= like(0, ids)
    for _ in range(rows.shape.rank - ids.shape.rank):
        known = array_ops.expand_dims(known, -1)
    return array_ops.where_v2(known, rows, array_ops.zeros_like(rows)), None, None


# ---- Parts of complex numbers, choices, casts.


@gradient("Select")
def _select(op: Any, grad: Any) -> Any:
    zeros = array_ops.zeros_like(grad)
    return None, array_ops.where(op.inputs[0], grad, zeros), array_ops.where(op.inputs[0], zeros, grad)


@gradient("SelectV2")
def _select_v2(op: Any, grad: Any) -> Any:
    c, x, y = op.inputs
    zeros = array_ops.zeros_like(grad)
    return None, to_shape(array_ops.where_v2(c, grad, zeros), x), to_shape(array_ops.where_v2(c, zeros, grad), y)


@gradient("Cast")
def _cast(op: Any, grad: Any) -> Any:
    source = op.inputs[0].dtype.base_dtype
    if (source.is_floating or source.is_complex) and (grad.dtype.is_floating or grad.dtype.is_complex):
        return math_ops.cast(grad, source)
    return None


@gradient("Complex")
def _complex(op: Any, grad: Any) -> Any:
    return _both(op, math_ops.real(grad), math_ops.imag(grad))


@gradient("Real")
def _real(op: Any, grad: Any) -> Any:
    return math_ops.complex(grad, array_ops.zeros_like(grad))


@gradient("Imag")
def _imag(op: Any, grad: Any) -> Any:
    return math_ops.complex(array_ops.zeros_like(grad), grad)


@gradient("Conj")
def _conj(op: Any, grad: Any) -> Any:
    return math_ops.conj(grad)
