"""Assertions about values and shapes."""

from __future__ import annotations

from typing import Any, TYPE_CHECKING

import numpy as np

from emplace.framework import constant_op, control_flow_ops, dispatch, dtypes, errors, math_ops, ops
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import convert_to_tensor as _convert
from emplace.framework.ops import name_scope

if TYPE_CHECKING:
    from emplace.framework.tensor import Tensor


def _prefix(message: str | None) -> str:
    return f"{message}.  " if message else ""


def _known(value: Any) -> str:
    """A tensor's value if it is known before a run; otherwise what it is called."""
    known = constant_op.constant_value(value) if ops.is_tensor(value) else None
    return str(value if known is None else known)


def _at_once(word: str, *operands: Any, **said: Any) -> None:
    from emplace.eager.functions import debugging

    getattr(debugging, f"assert_{word}")(*operands, **said)


def _binary(word: str, sign: str, op: str, test: Any) -> Any:
    def function(x: Any, y: Any, data: Any = None, summarize: Any = None, message: str | None = None, name: str | None = None) -> Any:
        if dispatch.executing_eagerly():
            return _at_once(word, x, y, message=message, summarize=summarize)
        if word == "equal":
            with name_scope(name, "assert_equal", [x, y, data]):
                if x is y:
                    return control_flow_ops.no_op("None")
        with name_scope(name, f"assert_{word}", [x, y, data]):
            x = _convert(x, name="x")
            y = _convert(y, name="y")
            x_name, y_name = x.name, y.name
            if data is None:
                data = [message or "", f"Condition x {sign} y did not hold element-wise:", f"x ({x_name}) = ", x, f"y ({y_name}) = ", y]
                if not message:
                    data = data[1:] if message is None else data
            condition = math_ops.reduce_all(_op(op, [x, y], {}))
            vx, vy = constant_op.constant_value(x), constant_op.constant_value(y)
            if vx is not None and vy is not None and not np.all(test(vx, vy)):
                raise errors.InvalidArgumentError(None, None, "\n".join(map(_known, data)))
            return control_flow_ops.Assert(condition, data, summarize=summarize)

    function.__name__ = function.__qualname__ = f"assert_{word}"
    function.__doc__ = f"An op that fails unless `x {sign} y` in every element; what is known already is checked now."
    return function


assert_equal = _binary("equal", "==", "Equal", np.equal)
assert_none_equal = _binary("none_equal", "!=", "NotEqual", np.not_equal)
assert_less = _binary("less", "<", "Less", np.less)
assert_less_equal = _binary("less_equal", "<=", "LessEqual", np.less_equal)
assert_greater = _binary("greater", ">", "Greater", np.greater)
assert_greater_equal = _binary("greater_equal", ">=", "GreaterEqual", np.greater_equal)


def _against_zero(word: str, text: str, check: Any, zero_first: bool) -> Any:
    def function(x: Any, data: Any = None, summarize: Any = None, message: str | None = None, name: str | None = None) -> Any:
        if dispatch.executing_eagerly():
            return _at_once(word, x, message=message, summarize=summarize)
        with name_scope(name, f"assert_{word}", [x, data]):
            x = _convert(x, name="x")
            if data is None:
                words = [f"Condition x {text} did not hold element-wise:", f"x ({x.name}) = "]
                data = [_prefix(message), *(["".join(words)] if word == "non_positive" else words), x]
            zero = _convert(0, dtype=x.dtype)
            return check(zero, x, data=data, summarize=summarize) if zero_first else check(x, zero, data=data, summarize=summarize)

    function.__name__ = function.__qualname__ = f"assert_{word}"
    function.__doc__ = f"An op that fails unless `x {text}` in every element; what is known already is checked now."
    return function


assert_positive = _against_zero("positive", "> 0", assert_less, True)
assert_negative = _against_zero("negative", "< 0", assert_less, False)
assert_non_negative = _against_zero("non_negative", ">= 0", assert_less_equal, True)
assert_non_positive = _against_zero("non_positive", "<= 0", assert_less_equal, False)


def assert_rank(x: Any, rank: Any, data: Any = None, summarize: Any = None, message: str | None = None, name: str | None = None) -> Any:
    """Fails unless `x` has this many dimensions: now where that is known, else by the op returned."""
    with name_scope(name, "assert_rank", [x]):
        x = _convert(x, name="x")
        return _by_rank(x, rank, f"rank {rank}", lambda r: r == rank, "Equal", data, summarize, message)


def assert_rank_at_least(x: Any, rank: Any, data: Any = None, summarize: Any = None, message: str | None = None, name: str | None = None) -> Any:
    """Fails if `x` has fewer dimensions: now where that is known, else by the op returned."""
    with name_scope(name, "assert_rank_at_least", [x]):
        x = _convert(x, name="x")
        return _by_rank(x, rank, f"rank at least {rank}", lambda r: r >= rank, "GreaterEqual", data, summarize, message)


def assert_rank_in(x: Any, ranks: Any, data: Any = None, summarize: Any = None, message: str | None = None, name: str | None = None) -> Any:
    """Fails unless the number of dimensions is one of `ranks`: now where that is known, else by the op returned."""
    with name_scope(name, "assert_rank_in", [x, *ranks]):
        x, ranks = _convert(x, name="x"), tuple(ranks)
        if x.shape.rank is None:
            fits = math_ops.reduce_any(_op("Equal", [_op("Rank", [x], {}), _convert(list(ranks))], {}))
            return control_flow_ops.Assert(fits, data or [_prefix(message), f"Tensor {x.name} must have rank in", *ranks, "Received shape: ", _op("Shape", [x], {})], summarize=summarize)
        return _by_rank(x, ranks, f"rank in {ranks}", lambda r: r in ranks, "Equal", data, summarize, message)


def _by_rank(x: Any, rank: Any, wanted: str, fits: Any, op: str, data: Any, summarize: Any, message: str | None) -> Any:
    """Looked at now if the rank is known, and when it runs otherwise."""
    known, kind = x.shape.rank, wanted.rpartition(" ")[0]
    if known is None:
        condition = _op(op, [_op("Rank", [x], {}), rank], {})
        return control_flow_ops.Assert(condition, data or [_prefix(message), f"Tensor {x.name} must have {kind}", rank, "Received shape: ", _op("Shape", [x], {})], summarize=summarize)
    if not fits(known):
        raise ValueError(f"{_prefix(message)}Tensor {x.name} must have {wanted}.  Received rank {known}, shape {x.shape}")
    return control_flow_ops.no_op(name="static_checks_determined_all_ok")


def assert_integer(x: Any, message: str | None = None, name: str | None = None) -> Any:
    """TypeError unless the dtype is an integer."""
    with name_scope(name, "assert_integer", [x]):
        x = _convert(x, name="x")
        if not x.dtype.is_integer:
            raise TypeError(f"{_prefix(message)}Expected \"x\" to be integer type.  Found: {x.name} of dtype {x.dtype}")
        return control_flow_ops.no_op("statically_determined_was_integer")


def assert_near(
    x: Any, y: Any, rtol: Any = None, atol: Any = None, data: Any = None, summarize: Any = None, message: str | None = None,
    name: str | None = None,
) -> Any:
    """An op that fails unless `|x - y| <= atol + rtol * |y|` in every element; both bounds default to ten times epsilon."""
    with name_scope(name, "assert_near", [x, y, rtol, atol, data]):
        x, y = _convert(x, name="x"), _convert(y, name="y")
        tolerance = 10 * (np.finfo(x.dtype.as_numpy_dtype).eps if x.dtype.as_numpy_dtype is not np.uint16 else 2**-7)
        rtol = _convert(tolerance if rtol is None else rtol, dtype=x.dtype, name="rtol")
        atol = _convert(tolerance if atol is None else atol, dtype=x.dtype, name="atol")
        if data is None:
            data = [_prefix(message), f"x and y not equal to tolerance rtol = {rtol}, atol = {atol}", f"x ({x.name}) = ", x, f"y ({y.name}) = ", y]
        near = _op("LessEqual", [math_ops.abs(x - y), atol + rtol * math_ops.abs(y)], {})
        return control_flow_ops.Assert(math_ops.reduce_all(near), data, summarize=summarize)


def assert_proper_iterable(values: Any) -> None:
    """TypeError unless it is a list, tuple or the like: tensors, arrays and texts do not count."""
    wrong = (ops.Tensor, np.ndarray, str, bytes)
    if not hasattr(values, "__iter__"):
        raise TypeError(f"Expected argument \"values\" to be iterable.  Found: {type(values)}")
    if isinstance(values, wrong):
        raise TypeError(f"Expected argument \"values\" to be a \"proper\" iterable.  Found: {type(values)}")


def assert_type(tensor: Any, tf_type: Any, message: str | None = None, name: str | None = None) -> Any:
    """TypeError unless the tensor has this dtype."""
    with name_scope(name, "assert_type", [tensor]):
        tensor = tensor if hasattr(tensor, "_parts") else _convert(tensor, name="tensor")
        if tensor.dtype != tf_type:
            what = "tensor" if hasattr(tensor, "numpy") else tensor.name
            raise TypeError(f"{_prefix(message)}{what} must be of type {tf_type!r}; got {tensor.dtype!r}")
        return None if not hasattr(tensor, "op") else control_flow_ops.no_op("statically_determined_correct_type")


def assert_scalar(tensor: Any, name: str | None = None, message: str | None = None) -> Tensor:
    """The tensor, if it is known to have no dimensions; else ValueError."""
    with name_scope(name, "assert_scalar", [tensor]) as scope:
        tensor = _convert(tensor, name=scope)
        if tensor.shape.rank != 0:
            raise ValueError(f"{_prefix(message)}Expected scalar shape for {tensor.name}, saw shape: {tensor.shape}.")
        return tensor


def _named(t: Any) -> Any:
    return t if hasattr(t, "numpy") else getattr(t, "name", t)


def assert_same_float_dtype(tensors: Any = None, dtype: Any = None) -> Any:
    """The one float dtype of all tensors (and `dtype`); ValueError if they differ or it is no float."""
    first = None
    for t in tensors or ():
        if dtype is None:
            dtype, first = t.dtype.base_dtype, _named(t)
        elif t.dtype.base_dtype != dtype:
            like = "" if first is None else f" as {first!s}"
            raise ValueError(f"{_named(t)!s}, type={t.dtype.base_dtype}, must be of the same type ({dtype}){like}.")
    if dtype is None:
        return dtypes.float32
    if not dtypes.as_dtype(dtype).is_floating:
        raise ValueError(f"Expected floating point type, got {dtype}.")
    return dtypes.as_dtype(dtype)


def is_numeric_tensor(tensor: Any) -> bool:
    """Whether it is a tensor of numbers."""
    return ops.is_tensor(tensor) and tensor.dtype.base_dtype.is_numeric


