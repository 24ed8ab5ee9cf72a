"""Python's operators on tensors and variables, with the node names TensorFlow gives them."""

from __future__ import annotations

from typing import Any

from emplace import _core
from emplace.framework import dtypes, math_ops, ops, strided
from emplace.framework.dispatch import execute as _op


def _add(x: Any, y: Any, name: str) -> Any:
    y = ops.convert_to_tensor(y, dtype_hint=x.dtype.base_dtype, name="y")
    return _op("Add" if x.dtype.base_dtype is dtypes.string else "AddV2", [x, y], {}, name)


def _mul(x: Any, y: Any, name: str) -> Any:
    return _op("Mul", [x, y], {}, name)


def _sub(x: Any, y: Any, name: str) -> Any:
    return _op("Sub", [x, y], {}, name)


def _logical(bool_op: str, bit_op: str) -> Any:
    def function(x: Any, y: Any, name: str) -> Any:
        if x.dtype.base_dtype is dtypes.bool:
            return _op(bool_op, [x, y], {}, name)
        return _op(bit_op, [x, y], {})

    return function


def _xor(x: Any, y: Any, name: str) -> Any:
    if x.dtype.base_dtype is dtypes.bool:
        return math_ops.logical_xor(x, y, name)
    return _op("BitwiseXor", [x, y], {})


def _refused_in_place(sign: str, instead: str) -> Any:
    def operator(variable: Any, value: Any) -> Any:
        raise RuntimeError(
            f"`variable {sign}= value` with `tf.Variable`s is not supported. Use `variable.{instead}` to modify the variable, "
            f"or `out = variable {sign} value` if you need to get a new output Tensor."
        )

    return operator


# Of variables that are resources: Python would put a tensor in the variable's place.
IN_PLACE = {
    "__iadd__": _refused_in_place("+", "assign_add(value)"),
    "__isub__": _refused_in_place("-", "assign_sub(value)"),
    "__imul__": _refused_in_place("*", "assign(variable * value)"),
    "__itruediv__": _refused_in_place("/", "assign(variable / value)"),
    "__ipow__": _refused_in_place("**", "assign(variable ** value)"),
}

_BINARY = {
    "add": _add,
    "sub": _sub,
    "mul": _mul,
    "truediv": math_ops.truediv,
    "div": math_ops.div,
    "floordiv": math_ops.floordiv,
    "mod": math_ops.floormod,
    "pow": math_ops.pow,
    "matmul": lambda x, y, name: math_ops.matmul(x, y, name=name),
    "and": _logical("LogicalAnd", "BitwiseAnd"),
    "or": _logical("LogicalOr", "BitwiseOr"),
    "xor": _xor,
}
_COMPARISONS = {"lt": "Less", "le": "LessEqual", "gt": "Greater", "ge": "GreaterEqual"}


def _left(word: str, function: Any) -> Any:
    def operator(x: Any, y: Any) -> Any:
        if getattr(y, "__array_priority__", 0) > 1000:
            return NotImplemented
        with ops.name_scope(None, word, [x, y]) as scope:
            return function(x, y, name=scope)

    operator.__name__ = f"__{word}__"
    return operator


def _right(word: str, function: Any) -> Any:
    def operator(y: Any, x: Any) -> Any:
        with ops.name_scope(None, word, [x, y]) as scope:
            x = ops.convert_to_tensor(x, dtype=y.dtype.base_dtype, name="x")
            return function(x, y, name=scope)

    operator.__name__ = f"__r{word}__"
    return operator


def _compare(op: str) -> Any:
    return lambda x, y: _op(op, [x, y], {})


def _invert(x: Any) -> Any:
    return _op("LogicalNot" if x.dtype.base_dtype is dtypes.bool else "Invert", [x], {})


def table() -> dict[str, Any]:
    """Method name -> function, for Tensor."""
    found: dict[str, Any] = {}
    for word, function in _BINARY.items():
        found[f"__{word}__"] = _left(word, function)
        found[f"__r{word}__"] = _right(word, function)
    for word, op in _COMPARISONS.items():
        found[f"__{word}__"] = _compare(op)
    found["__neg__"] = lambda x: _op("Neg", [x], {})
    found["__abs__"] = lambda x: math_ops.abs(x)
    found["__invert__"] = _invert
    found["__getitem__"] = strided.getitem
    return found


def _of_variable(name: str, function: Any) -> Any:
    def operator(v: Any, *args: Any) -> Any:
        return function(v.value(), *args)

    operator.__name__ = name
    return operator


# Word -> (op, dtypes): between tensors of one such dtype, or one and a number, this is all there is.
_FLOATS = (1, 2, 14, 19)
_NUMBERS = (*_FLOATS, 3, 9, 8, 18)
_QUICK = {
    "add": ("AddV2", _NUMBERS),
    "sub": ("Sub", _NUMBERS),
    "mul": ("Mul", _NUMBERS),
    "truediv": ("RealDiv", _FLOATS),
} | {word: (op, (*_FLOATS, 3, 9)) for word, op in _COMPARISONS.items()}


def _quick(name: str, function: Any) -> Any:
    word = name.strip("_")
    if word not in _QUICK:
        return function
    op, numbers = _QUICK[word]
    return _core.make_operator(name, op if word in _COMPARISONS else word, op, numbers, function)


def install(tensor: type, variable: type | None = None) -> None:
    for name, function in table().items():
        setattr(tensor, name, _quick(name, function))
        ops.Tensor.OVERLOADABLE_OPERATORS.add(name)
    if variable is not None:
        for name, function in table().items():
            if name != "__getitem__":
                setattr(variable, name, _of_variable(name, function))
