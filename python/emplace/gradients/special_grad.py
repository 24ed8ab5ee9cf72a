"""Gradients of special functions."""

from __future__ import annotations

import math
from typing import Any, Callable

from emplace.framework import array_ops, math_ops
from emplace.framework.dispatch import execute as _op
from emplace.gradients.common import after, number
from emplace.gradients.registry import gradient


def _f(op: str, *args: Any) -> Any:
    return _op(op, list(args), {})


def _slope(op_type: str, slope: Callable[[Any, Any], Any]) -> None:
    def function(op: Any, grad: Any) -> Any:
        with after(grad):
            return grad * slope(op.inputs[0], op.outputs[0])

    gradient(op_type)(function)


def _unless_zero(x: Any, at_zero: Any, elsewhere: Any) -> Any:
    return array_ops.where_v2(math_ops.equal(x, number(0.0, x)), at_zero, elsewhere)


_slope("BesselI0", lambda x, y: _f("BesselI1", x))
_slope("BesselI0e", lambda x, y: _f("BesselI1e", x) - math_ops.sign(x) * y)
_slope("BesselI1", lambda x, y: _unless_zero(x, number(1.0, x), _f("BesselI0", x) - _f("Div", y, x)))
_slope("BesselI1e", lambda x, y: _unless_zero(x, number(0.5, x), _f("BesselI0e", x) - y * (math_ops.sign(x) + _f("Reciprocal", x))))
_slope("BesselK0", lambda x, y: -_f("BesselK1", x))
_slope("BesselK0e", lambda x, y: y - _f("BesselK1e", x))
_slope("BesselK1", lambda x, y: -_f("BesselK0", x) - _f("Div", y, x))
_slope("BesselK1e", lambda x, y: y * (1.0 - _f("Reciprocal", x)) - _f("BesselK0e", x))
_slope("BesselJ0", lambda x, y: -_f("BesselJ1", x))
_slope("BesselJ1", lambda x, y: _unless_zero(x, number(0.5, x), _f("BesselJ0", x) - _f("Div", y, x)))
_slope("BesselY0", lambda x, y: -_f("BesselY1", x))
_slope("BesselY1", lambda x, y: _f("BesselY0", x) - _f("Div", y, x))
_slope("Dawsn", lambda x, y: 1.0 - 2 * x * y)
_slope("Expint", lambda x, y: _f("Exp", x) / x)
_slope("FresnelCos", lambda x, y: _f("Cos", (math.pi / 2.0) * _f("Square", x)))
_slope("FresnelSin", lambda x, y: _f("Sin", (math.pi / 2.0) * _f("Square", x)))


@gradient("Spence")
def _spence(op: Any, grad: Any) -> Any:
    """log(x) / (1 - x), which is -1 at 1."""
    x = op.inputs[0]
    with after(grad):
        slope = _f("Log", x) / (1 - x)
        return grad * array_ops.where_v2(math_ops.equal(x, number(1.0, x)), -array_ops.ones_like(x), slope)
