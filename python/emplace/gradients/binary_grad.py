"""Gradients of functions of two numbers, which broadcast."""

from __future__ import annotations

from typing import Any

from emplace.framework import array_ops, dtypes, math_ops
from emplace.framework.dispatch import execute as _op
from emplace.gradients.common import Broadcast, after, conj, is_eager, same_known_shape, summed_over, unbroadcast
from emplace.gradients.registry import gradient, no_gradient

for _name in (
    "FloorDiv TruncateDiv TruncateMod Equal NotEqual Less LessEqual Greater GreaterEqual LogicalAnd LogicalOr"
    " ApproximateEqual BitwiseAnd BitwiseOr BitwiseXor LeftShift RightShift"
).split():
    no_gradient(_name)


def _f(op: str, *args: Any) -> Any:
    return _op(op, list(args), {})


@gradient("Add", "AddV2")
def _add(op: Any, grad: Any) -> Any:
    x, y = op.inputs
    if same_known_shape(x, y, grad):
        return grad, grad
    return unbroadcast(x, y, grad, grad)


@gradient("Sub")
def _sub(op: Any, grad: Any) -> Any:
    x, y = op.inputs
    if same_known_shape(x, y, grad):
        return grad, -grad
    return unbroadcast(x, y, grad, -grad)


@gradient("Mul")
def _mul(op: Any, grad: Any) -> Any:
    x, y = op.inputs
    if same_known_shape(x, y, grad) and grad.dtype in (dtypes.int32, dtypes.float32):
        return _f("Mul", grad, y), _f("Mul", grad, x)
    gx = _f("Mul", grad, conj(y))
    return unbroadcast(x, y, gx, _f("Mul", conj(x), grad))


@gradient("MulNoNan")
def _mul_no_nan(op: Any, grad: Any) -> Any:
    x, y = op.inputs
    if same_known_shape(x, y, grad):
        return _f("MulNoNan", grad, y), _f("MulNoNan", x, grad)
    gx = _f("MulNoNan", grad, y)
    return unbroadcast(x, y, gx, _f("MulNoNan", x, grad))


@gradient("RealDiv", "Div")
def _div(op: Any, grad: Any) -> Any:
    x, y = op.inputs
    cx, cy = conj(x), conj(y)
    divide = (lambda a, b: _f("RealDiv", a, b)) if op.type == "RealDiv" else math_ops.divide
    gx = divide(grad, cy)
    return unbroadcast(x, y, gx, grad * divide(divide(-cx, cy), cy))


@gradient("DivNoNan")
def _div_no_nan(op: Any, grad: Any) -> Any:
    x, y = op.inputs
    cx, cy = conj(x), conj(y)
    gx = math_ops.div_no_nan(grad, cy)
    return unbroadcast(x, y, gx, grad * math_ops.div_no_nan(math_ops.div_no_nan(-cx, cy), cy))


@gradient("FloorMod")
def _floor_mod(op: Any, grad: Any) -> Any:
    x, y = op.inputs
    return unbroadcast(x, y, grad, grad * -_f("FloorDiv", conj(x), conj(y)))


@gradient("Pow")
def _pow(op: Any, grad: Any) -> Any:
    """The logarithm is taken only where it exists, so that no NaN leaks from the other branch."""
    x, y = op.inputs
    cx, cy = conj(x), conj(y)
    gx = grad * cy * math_ops.pow(cx, cy - 1)
    usable = math_ops.not_equal(cx, 0) if x.dtype.is_complex else cx > 0
    select = array_ops.where_v2 if is_eager(x) else array_ops.where
    log = _f("Log", select(usable, cx, array_ops.ones_like(x)))
    log = select(usable, log, array_ops.zeros_like(x))
    return unbroadcast(x, y, gx, grad * conj(op.outputs[0]) * log)


def _extreme(comparison: str) -> Any:
    def function(op: Any, grad: Any) -> Any:
        x, y = op.inputs
        zeros = array_ops.zeros_like(grad)
        first = _f(comparison, x, y)
        gx = _f("SelectV2", first, grad, zeros)
        return unbroadcast(x, y, gx, _f("SelectV2", first, zeros, grad))

    return function


gradient("Maximum")(_extreme("GreaterEqual"))
gradient("Minimum")(_extreme("LessEqual"))


@gradient("SquaredDifference")
def _squared_difference(op: Any, grad: Any) -> Any:
    x, y = op.inputs
    with after(grad):
        gx = math_ops.scalar_mul(2.0, grad) * (x - y)
    if same_known_shape(x, y, grad):
        return gx, -gx
    return unbroadcast(x, y, gx, -gx)


@gradient("Atan2")
def _atan2(op: Any, grad: Any) -> Any:
    y, x = op.inputs
    with after(grad):
        scaled = grad / (_f("Square", y) + _f("Square", x))
        gy = x * scaled
        return unbroadcast(y, x, gy, -y * scaled)


@gradient("Xlogy", "Xlog1py", "Xdivy")
def _with_zero(op: Any, grad: Any) -> Any:
    """x * f(y), zero where x is; so is the slope by x."""
    x, y = op.inputs
    broadcast = Broadcast(x, y)
    with after(grad):
        nonzero = math_ops.cast(math_ops.not_equal(x, math_ops.cast(0.0, x.dtype)), x.dtype)
        name = {"Xlogy": "Xlogy", "Xlog1py": "Xlog1py", "Xdivy": "Xdivy"}[op.type]
        px = _f(name, nonzero, y)
        if op.type == "Xlogy":
            py = _f("Xdivy", x, y)
        elif op.type == "Xlog1py":
            py = _f("Xdivy", x, y + 1.0)
        else:
            py = _f("Xdivy", -x, y**2)
        return broadcast.reduce(0, px, grad), broadcast.reduce(1, py, grad)


@gradient("Zeta")
def _zeta(op: Any, grad: Any) -> Any:
    x, q = op.inputs
    broadcast = Broadcast(x, q)
    with after(grad):
        return None, broadcast.reduce(1, -x * _f("Zeta", x + 1.0, q), grad)


@gradient("Polygamma")
def _polygamma(op: Any, grad: Any) -> Any:
    n, x = op.inputs
    broadcast = Broadcast(n, x)
    with after(grad):
        return None, broadcast.reduce(1, _f("Polygamma", n + 1.0, x), grad)


@gradient("Igamma")
def _igamma(op: Any, grad: Any) -> Any:
    a, x = op.inputs
    broadcast = Broadcast(a, x)
    with after(grad):
        pa = _f("IgammaGradA", a, x)
        px = _f("Exp", -x + (a - 1.0) * _f("Log", x) - _f("Lgamma", a))
        return broadcast.reduce(0, pa, grad), broadcast.reduce(1, px, grad)


@gradient("Igammac")
def _igammac(op: Any, grad: Any) -> Any:
    ga, gx = _igamma(op, grad)
    return -ga, -gx


@gradient("Betainc")
def _betainc(op: Any, grad: Any) -> Any:
    a, b, x = op.inputs
    broadcast = Broadcast(a, x)
    log_beta = _f("Lgamma", a) + _f("Lgamma", b) - _f("Lgamma", a + b)
    log_slope = math_ops.xlog1py(b - 1, -x) + _f("Xlogy", a - 1, x) - log_beta
    return None, None, broadcast.reduce(1, _f("Exp", log_slope), grad)


@gradient("NextAfter")
def _next_after(op: Any, grad: Any) -> Any:
    x, y = op.inputs
    if is_eager(x):
        return unbroadcast(x, y, grad, array_ops.zeros_like(grad))
    shapes = array_ops.shape(x), array_ops.shape(y)
    axes = _op("BroadcastGradientArgs", list(shapes), {})
    with after(grad):
        slopes = array_ops.ones(shapes[0], dtype=x.dtype), array_ops.zeros(shapes[1], dtype=y.dtype)
        return tuple(array_ops.reshape(summed_over(p * grad, r, x, y, i), s) for i, (p, r, s) in enumerate(zip(slopes, axes, shapes)))


@gradient("AddN", "AccumulateNV2")
def _add_n(op: Any, grad: Any) -> Any:
    return [grad] * len(op.inputs)


@gradient("Cross")
def _cross(op: Any, grad: Any) -> Any:
    u, v = op.inputs
    return _f("Cross", v, grad), _f("Cross", grad, u)


# ---- Choices.


@gradient("Select")
def _select(op: Any, grad: Any) -> Any:
    chosen, x = op.inputs[0], op.inputs[1]
    zeros = array_ops.zeros_like(x)
    return None, _f("Select", chosen, grad, zeros), _f("Select", chosen, zeros, grad)


@gradient("SelectV2")
def _select_v2(op: Any, grad: Any) -> Any:
    chosen, x, y = op.inputs
    z = op.outputs[0]
    zeros = array_ops.zeros([], dtype=grad.dtype.base_dtype)
    gx, gy = _f("SelectV2", chosen, grad, zeros), _f("SelectV2", chosen, zeros, grad)
    gx, _ = unbroadcast(x, z, gx, None)
    gy, _ = unbroadcast(y, z, gy, None)
    return None, gx, gy


@gradient("ClipByValue")
def _clip_by_value(op: Any, grad: Any) -> Any:
    x, low, high = op.inputs
    zeros = array_ops.zeros_like(grad)
    below, above = x < low, x > high
    inside = _f("SelectV2", math_ops.logical_and(math_ops.logical_not(below), math_ops.logical_not(above)), grad, zeros)
    gx, glow = unbroadcast(x, low, inside, _f("SelectV2", below, grad, zeros))
    _, ghigh = unbroadcast(x, high, None, _f("SelectV2", above, grad, zeros))
    return gx, glow, ghigh


# ---- Complex numbers, types.


@gradient("Cast")
def _cast(op: Any, grad: Any) -> Any:
    source, target = op.inputs[0].dtype.base_dtype, grad.dtype.base_dtype
    if all(t.is_floating or t.is_complex for t in (source, target)):
        return math_ops.cast(grad, source)
    return None


@gradient("Complex")
def _complex(op: Any, grad: Any) -> Any:
    re, im = math_ops.real(grad), math_ops.imag(grad)
    return unbroadcast(*op.inputs, re, im)


def _zero(x: Any) -> Any:
    from emplace.framework import constant_op

    return array_ops.zeros_like(x) if is_eager(x) else constant_op.constant(0, dtype=x.dtype)


@gradient("Real")
def _real(op: Any, grad: Any) -> Any:
    zero = _zero(grad)
    return math_ops.complex(grad, zero)


@gradient("Imag")
def _imag(op: Any, grad: Any) -> Any:
    zero = _zero(grad)
    return math_ops.complex(zero, grad)


@gradient("Conj")
def _conj(op: Any, grad: Any) -> Any:
    return math_ops.conj(grad)


@gradient("ComplexAbs")
def _complex_abs(op: Any, grad: Any) -> Any:
    size = op.outputs[0]
    turned = math_ops.complex(grad, array_ops.zeros_like(grad)) * op.inputs[0]
    return math_ops.div_no_nan(turned, math_ops.complex(size, array_ops.zeros_like(size)))


@gradient("Angle")
def _angle(op: Any, grad: Any) -> Any:
    x = op.inputs[0]
    with after(grad):
        re, im = math_ops.real(x), math_ops.imag(x)
        slope = _f("Reciprocal", math_ops.complex(im, re))
        zero = _zero(grad)
        return -math_ops.complex(grad, zero) * slope
