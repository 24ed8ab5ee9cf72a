"""Gradients of functions of one number."""

from __future__ import annotations

import math
from typing import Any, Callable

from emplace.framework import array_ops, math_ops
from emplace.framework.dispatch import execute as _op
from emplace.gradients.common import after, conj, number
from emplace.gradients.registry import gradient, no_gradient

for _name in "Floor Ceil Round Rint IsNan IsInf IsFinite Invert LogicalNot PopulationCount".split():
    no_gradient(_name)


def _f(op: str, *args: Any) -> Any:
    return _op(op, list(args), {})


def _times(op_type: str, factor: Callable[[Any, Any], Any]) -> None:
    """dx = grad * factor(x, y)."""

    def function(op: Any, grad: Any) -> Any:
        with after(grad):
            x, y = conj(op.inputs[0]), op.outputs[0]
            return grad * factor(x, y)

    gradient(op_type)(function)


def _one(x: Any) -> Any:
    return number(1, x)


_times("Log", lambda x, y: _f("Reciprocal", x))
_times("Log1p", lambda x, y: _f("Reciprocal", 1 + x))
_times("Expm1", lambda x, y: _f("Exp", x))
_times("Sin", lambda x, y: _f("Cos", x))
_times("Sinh", lambda x, y: _f("Cosh", x))
_times("Cosh", lambda x, y: _f("Sinh", x))
_times("Lgamma", lambda x, y: _f("Digamma", x))
_times("Digamma", lambda x, y: _f("Polygamma", number(1, x), x))


def _square_then_one(x: Any) -> tuple[Any, Any]:
    squared = _f("Square", x)
    return squared, number(1, x)


@gradient("Exp")
def _exp(op: Any, grad: Any) -> Any:
    y = op.outputs[0]
    with after(grad):
        return grad * conj(y)


@gradient("Cos")
def _cos(op: Any, grad: Any) -> Any:
    with after(grad):
        return -grad * _f("Sin", conj(op.inputs[0]))


@gradient("Tan")
def _tan(op: Any, grad: Any) -> Any:
    with after(grad):
        return _f("Square", _f("Reciprocal", _f("Cos", conj(op.inputs[0])))) * grad


@gradient("Asin")
def _asin(op: Any, grad: Any) -> Any:
    with after(grad):
        squared, one = _square_then_one(conj(op.inputs[0]))
        return grad * _f("Reciprocal", _f("Sqrt", _f("Sub", one, squared)))


@gradient("Acos")
def _acos(op: Any, grad: Any) -> Any:
    with after(grad):
        squared, one = _square_then_one(conj(op.inputs[0]))
        slope = _f("Reciprocal", _f("Sqrt", _f("Sub", one, squared)))
        return -grad * slope


@gradient("Atan")
def _atan(op: Any, grad: Any) -> Any:
    with after(grad):
        squared, one = _square_then_one(conj(op.inputs[0]))
        return grad * _f("Reciprocal", math_ops.add(one, squared))


@gradient("Atanh")
def _atanh(op: Any, grad: Any) -> Any:
    with after(grad):
        squared, one = _square_then_one(conj(op.inputs[0]))
        return grad * _f("Reciprocal", _f("Sub", one, squared))


@gradient("Asinh")
def _asinh(op: Any, grad: Any) -> Any:
    with after(grad):
        return grad / _f("Cosh", conj(op.outputs[0]))


@gradient("Acosh")
def _acosh(op: Any, grad: Any) -> Any:
    with after(grad):
        return grad / _f("Sinh", conj(op.outputs[0]))


@gradient("Square")
def _square(op: Any, grad: Any) -> Any:
    with after(grad):
        two = number(2.0, op.inputs[0])
        return _f("Mul", grad, _f("Mul", conj(op.inputs[0]), two))


@gradient("Neg")
def _neg(op: Any, grad: Any) -> Any:
    return -grad


@gradient("Abs")
def _abs(op: Any, grad: Any) -> Any:
    return grad * math_ops.sign(op.inputs[0])


@gradient("Sign")
def _sign(op: Any, grad: Any) -> Any:
    return array_ops.zeros_like(op.inputs[0])


@gradient("Sqrt")
def _sqrt(op: Any, grad: Any) -> Any:
    return _f("SqrtGrad", op.outputs[0], grad)


@gradient("SqrtGrad")
def _sqrt_grad(op: Any, grad: Any) -> Any:
    a, y = op.inputs[0], op.outputs[0]
    with after(grad):
        ga = grad / a
        return -conj(ga) * y, 0.5 * ga


@gradient("Rsqrt")
def _rsqrt(op: Any, grad: Any) -> Any:
    return _f("RsqrtGrad", op.outputs[0], grad)


@gradient("RsqrtGrad")
def _rsqrt_grad(op: Any, grad: Any) -> Any:
    a, b = op.inputs
    with after(grad):
        ca, cg = conj(a), conj(grad)
        return -1.5 * cg * b * _f("Square", ca), _f("RsqrtGrad", ca, grad)


@gradient("Reciprocal", "Inv")
def _reciprocal(op: Any, grad: Any) -> Any:
    return _f("ReciprocalGrad", op.outputs[0], grad)


@gradient("ReciprocalGrad", "InvGrad")
def _reciprocal_grad(op: Any, grad: Any) -> Any:
    b = op.inputs[1]
    with after(grad):
        ca, cg = conj(op.inputs[0]), conj(grad)
        return cg * -2.0 * b * ca, _f("ReciprocalGrad", ca, grad)


@gradient("Tanh")
def _tanh(op: Any, grad: Any) -> Any:
    with after(grad):
        return _f("TanhGrad", conj(op.outputs[0]), grad)


@gradient("TanhGrad")
def _tanh_grad(op: Any, grad: Any) -> Any:
    with after(grad):
        a, b = conj(op.inputs[0]), conj(op.inputs[1])
        return grad * -2.0 * b * a, _f("TanhGrad", a, grad)


@gradient("Sigmoid")
def _sigmoid(op: Any, grad: Any) -> Any:
    with after(grad):
        return _f("SigmoidGrad", conj(op.outputs[0]), grad)


@gradient("SigmoidGrad")
def _sigmoid_grad(op: Any, grad: Any) -> Any:
    with after(grad):
        a, b = conj(op.inputs[0]), conj(op.inputs[1])
        gb = grad * b
        return gb - 2.0 * gb * a, _f("SigmoidGrad", a, grad)


# ---- Of the normal distribution.


def _bell(op_type: str, scale: float, exponent: Callable[[Any, Any], Any]) -> None:
    """dx = grad * scale * exp(exponent(x, y))."""

    def function(op: Any, grad: Any) -> Any:
        factor = number(scale, grad)
        with after(grad):
            return grad * factor * _f("Exp", exponent(conj(op.inputs[0]), op.outputs[0]))

    gradient(op_type)(function)


_bell("Erf", 2 / math.sqrt(math.pi), lambda x, y: -_f("Square", x))
_bell("Erfc", -2 / math.sqrt(math.pi), lambda x, y: -_f("Square", x))
_bell("Erfinv", math.sqrt(math.pi) / 2, lambda x, y: _f("Square", y))
_bell("Ndtri", math.sqrt(2 * math.pi), lambda x, y: _f("Square", y) / 2.0)
