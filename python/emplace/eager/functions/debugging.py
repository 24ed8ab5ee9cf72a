"""Checks that raise at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from emplace.eager import context
from emplace.framework import errors, settings
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import convert_to_tensor as _convert


def _fail(words: list[str], message: str | None) -> None:
    raise errors.InvalidArgumentError(None, None, "\n".join(([message] if message else [""]) + words))


def _binary(word: str, sign: str, test: Any) -> Any:
    def function(x: Any, y: Any, message: str | None = None, summarize: int | None = None, name: str | None = None) -> None:
        x, y = _convert(x, name="x"), _convert(y, name="y")
        if not context.outside_graph():
            from emplace.framework import check_ops

            return getattr(check_ops, f"assert_{word}")(x, y, message=message, summarize=summarize, name=name)
        a, b = x.numpy(), y.numpy()
        try:
            held = test(a, b)
        except ValueError as e:
            raise errors.InvalidArgumentError(None, None, str(e)) from None
        if not np.all(held):
            _fail([f"Condition x {sign} y did not hold.", f"x (shape={x.shape} dtype={x.dtype.name}) = ", str(a), f"y (shape={y.shape} dtype={y.dtype.name}) = ", str(b)], message)
        return None

    function.__name__ = function.__qualname__ = f"assert_{word}"
    return function


assert_equal = _binary("equal", "==", np.equal)
assert_none_equal = _binary("none_equal", "!=", np.not_equal)
assert_less = _binary("less", "<", np.less)
assert_less_equal = _binary("less_equal", "<=", np.less_equal)
assert_greater = _binary("greater", ">", np.greater)
assert_greater_equal = _binary("greater_equal", ">=", np.greater_equal)


def _unary(word: str, sign: str, test: Any) -> Any:
    def function(x: Any, message: str | None = None, summarize: int | None = None, name: str | None = None) -> None:
        x = _convert(x, name="x")
        if not context.outside_graph():
            from emplace.framework import check_ops

            return getattr(check_ops, f"assert_{word}")(x, message=message, summarize=summarize, name=name)
        if not np.all(test(x.numpy(), 0)):
            _fail([f"Condition x {sign} 0 did not hold.", f"x (shape={x.shape} dtype={x.dtype.name}) = ", str(x.numpy())], message)
        return None

    function.__name__ = function.__qualname__ = f"assert_{word}"
    return function


assert_positive = _unary("positive", ">", np.greater)
assert_negative = _unary("negative", "<", np.less)
assert_non_negative = _unary("non_negative", ">=", np.greater_equal)
assert_non_positive = _unary("non_positive", "<=", np.less_equal)


def assert_near(x: Any, y: Any, rtol: Any = None, atol: Any = None, message: str | None = None, summarize: Any = None, name: str | None = None) -> None:
    x, y = _convert(x), _convert(y)
    eps = 10 * np.finfo(x.dtype.as_numpy_dtype).eps
    rtol, atol = eps if rtol is None else rtol, eps if atol is None else atol
    if not np.all(np.abs(x.numpy() - y.numpy()) <= atol + rtol * np.abs(y.numpy())):
        _fail(["x and y not equal to tolerance"], message)


def assert_rank(x: Any, rank: Any, message: str | None = None, name: str | None = None) -> None:
    x = _convert(x, name="x")
    if x.shape.rank != int(rank):
        raise ValueError(f"{message or ''} Tensor must have rank {rank}.  Received rank {x.shape.rank}, shape {x.shape}")


def assert_rank_at_least(x: Any, rank: Any, message: str | None = None, name: str | None = None) -> None:
    x = _convert(x, name="x")
    if x.shape.rank < int(rank):
        raise ValueError(f"{message or ''} Tensor must have rank at least {rank}.  Received rank {x.shape.rank}, shape {x.shape}")


def assert_rank_in(x: Any, ranks: Any, message: str | None = None, name: str | None = None) -> None:
    x = _convert(x, name="x")
    if x.shape.rank not in [int(r) for r in ranks]:
        raise ValueError(f"{message or ''} Tensor must have rank in {tuple(ranks)}.  Received rank {x.shape.rank}, shape {x.shape}")


def assert_integer(x: Any, message: str | None = None, name: str | None = None) -> None:
    x = _convert(x)
    if not x.dtype.is_integer:
        raise TypeError(f"{message or ''} Expected type to be an integer type, found {x.dtype}")


def assert_scalar(tensor: Any, message: str | None = None, name: str | None = None) -> Any:
    tensor = _convert(tensor)
    if tensor.shape.rank != 0:
        raise ValueError(f"{message or ''}Expected scalar shape, saw shape: {tensor.shape}.")
    return tensor


def assert_shapes(shapes: Any, data: Any = None, summarize: Any = None, message: str | None = None, name: str | None = None) -> None:
    sizes: dict[Any, int] = {}
    for x, wanted in shapes.items() if isinstance(shapes, dict) else shapes:
        x = _convert(x)
        wanted = tuple(wanted) if isinstance(wanted, (list, tuple, str)) else (wanted,)
        actual = x.shape.as_list()
        if len(actual) != len(wanted):
            raise ValueError(f"{message or ''} Tensor must have rank {len(wanted)}. Received rank {len(actual)}, shape {x.shape}")
        for size, want in zip(actual, wanted):
            if want in (None, "."):
                continue
            known = want if isinstance(want, int) else sizes.setdefault(want, size)
            if known != size:
                raise ValueError(f"{message or ''} Specified by tensor dimension {want}: size {size}, not {known}.")


def assert_all_finite(x: Any, message: str, name: str | None = None) -> Any:
    return _op("CheckNumerics", [x], {"message": message}, name)


def Assert(condition: Any, data: Any, summarize: int | None = None, name: str | None = None) -> None:  # noqa: N802
    if not context.outside_graph():
        from emplace.framework import control_flow_ops

        return control_flow_ops.Assert(condition, data, summarize, name)
    if not bool(condition):
        shown = [str(_convert(d).numpy()) for d in data]
        raise errors.InvalidArgumentError(None, None, f"Expected '{_convert(condition)}' to be true. Summarized data: " + "\n".join(shown))
    return None


def get_log_device_placement() -> bool:
    return bool(settings.log_device_placement)
