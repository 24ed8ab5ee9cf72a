"""Gradients of special functions."""

from __future__ import annotations

import math
from typing import Any, Callable

from emplace.framework import array_ops, math_ops, ops
from emplace.framework.dispatch import execute as _op
from emplace.gradients.common import after
from emplace.gradients.registry import gradient


def _f(op: str, *args: Any) -> Any:
    return _op(op, list(args), {})


def _bessel(op: str, x: Any) -> Any:
    """As `tf.math.special` makes it, under its own name."""
    with ops.name_scope(None, "bessel_" + op.removeprefix("Bessel").lower(), [x]):
        return _op(op, [x], {})


def _slope(op_type: str, slope: Callable[[Any, Any], Any]) -> None:
    def function(op: Any, grad: Any) -> Any:
        with after(grad):
            return grad * slope(op.inputs[0], op.outputs[0])

    gradient(op_type)(function)


def _unless_zero(x: Any, at_zero: float, elsewhere: Callable[[], Any]) -> Any:
    zero = math_ops.equal(x, 0.0)
    value = math_ops.cast(at_zero, x.dtype)
    return array_ops.where_v2(zero, value, elsewhere())


_slope("BesselI0", lambda x, y: _bessel("BesselI1", x))
_slope("BesselI0e", lambda x, y: _bessel("BesselI1e", x) - math_ops.sign(x) * y)
_slope("BesselI1", lambda x, y: _unless_zero(x, 1.0, lambda: _bessel("BesselI0", x) - math_ops.div(y, x)))
_slope("BesselI1e", lambda x, y: _unless_zero(x, 0.5, lambda: _bessel("BesselI0e", x) - y * (math_ops.sign(x) + _f("Reciprocal", x))))
_slope("BesselK0", lambda x, y: -_bessel("BesselK1", x))
_slope("BesselK0e", lambda x, y: y - _bessel("BesselK1e", x))
_slope("BesselK1", lambda x, y: -_bessel("BesselK0", x) - math_ops.div(y, x))
_slope("BesselK1e", lambda x, y: y * (1.0 - _f("Reciprocal", x)) - _bessel("BesselK0e", x))
_slope("BesselJ0", lambda x, y: -_bessel("BesselJ1", x))
_slope("BesselJ1", lambda x, y: _unless_zero(x, 0.5, lambda: _bessel("BesselJ0", x) - math_ops.div(y, x)))
_slope("BesselY0", lambda x, y: -_bessel("BesselY1", x))
_slope("BesselY1", lambda x, y: _bessel("BesselY0", x) - math_ops.div(y, x))
_slope("Dawsn", lambda x, y: 1.0 - 2 * x * y)
_slope("FresnelCos", lambda x, y: _f("Cos", (math.pi / 2.0) * _f("Square", x)))
_slope("FresnelSin", lambda x, y: _f("Sin", (math.pi / 2.0) * _f("Square", x)))


@gradient("Spence")
def _spence(op: Any, grad: Any) -> Any:
    """log(x) / (1 - x), which is -1 at 1."""
    x = op.inputs[0]
    with after(grad):
        slope = _f("Log", x) / (1 - x)
        return grad * array_ops.where(math_ops.equal(x, 1.0), -array_ops.ones_like(x), slope)


@gradient("Expint")
def _expint(op: Any, grad: Any) -> Any:
    x = op.inputs[0]
    with after(grad):
        return grad * _f("Exp", x) / x
