"""Checks that raise at once."""

from __future__ import annotations

from typing import Any, TYPE_CHECKING

import numpy as np

from emplace.eager import context
from emplace.framework import dtypes, errors, ops, settings
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import convert_to_tensor as _convert

if TYPE_CHECKING:
    from emplace.framework.tensor import Tensor


def _fail(words: list[str]) -> None:
    raise errors.InvalidArgumentError(None, None, "\n".join(words))


def _lead(message: str | None) -> str:
    return f"{message}.  " if message else ""


def _graph_check(word: str, *args: Any, **kwargs: Any) -> Any:
    from emplace.framework import check_ops

    return getattr(check_ops, f"assert_{word}")(*args, **kwargs)


def _differing(a: np.ndarray, b: np.ndarray, held: np.ndarray, shown: int) -> list[str]:
    """Where the condition failed and what stands there, then how both begin."""
    words = []
    if a.shape == b.shape and a.ndim:
        at = np.argwhere(~held)[:shown]
        places = tuple(at.T)
        words += [f"Indices of first {len(at)} different values:", f"{at}"]
        words += ["Corresponding x values:", f"{a[places]}", "Corresponding y values:", f"{b[places]}"]
    for name, whole in (("x", a), ("y", b)):
        first = whole.reshape(-1)[:shown]
        words += [f"First {len(first)} elements of {name}:", f"{first}"]
    return words


def _binary(word: str, sign: str, op: str) -> Any:
    def function(x: Any, y: Any, message: str | None = None, summarize: int | None = None, name: str | None = None) -> None:
        x, y = _convert(x, name="x"), _convert(y, name="y")
        if not context.outside_graph():
            return _graph_check(word, x, y, message=message, summarize=summarize, name=name)
        held = _op(op, [x, y], {}).numpy()
        if not np.all(held):
            shown = 3 if summarize is None else summarize
            _fail([*([message] if message else []), f"Condition x {sign} y did not hold.", *_differing(x.numpy(), y.numpy(), held, shown)])
        return None

    function.__name__ = function.__qualname__ = f"assert_{word}"
    function.__doc__ = f"InvalidArgumentError unless `x {sign} y` in every element; in a graph an op that checks."
    return function


assert_equal = _binary("equal", "==", "Equal")
assert_none_equal = _binary("none_equal", "!=", "NotEqual")
assert_less = _binary("less", "<", "Less")
assert_less_equal = _binary("less_equal", "<=", "LessEqual")
assert_greater = _binary("greater", ">", "Greater")
assert_greater_equal = _binary("greater_equal", ">=", "GreaterEqual")


def _unary(word: str, sign: str, test: Any) -> Any:
    def function(x: Any, message: str | None = None, summarize: int | None = None, name: str | None = None) -> None:
        x = _convert(x, name="x")
        if not context.outside_graph():
            return _graph_check(word, x, message=message, summarize=summarize, name=name)
        if not np.all(test(x.numpy(), 0)):
            break_ = "" if word == "non_positive" else "\n"
            values = [str(v) for v in x.numpy().reshape(-1)[: 3 if summarize is None else summarize]]
            _fail([_lead(message), f"Condition x {sign} 0 did not hold element-wise:{break_}x (shape={x.shape} dtype={x.dtype.name}) = ", f"{values}"])
        return None

    function.__name__ = function.__qualname__ = f"assert_{word}"
    function.__doc__ = f"InvalidArgumentError unless `x {sign} 0` in every element; in a graph an op that checks."
    return function


assert_positive = _unary("positive", ">", np.greater)
assert_negative = _unary("negative", "<", np.less)
assert_non_negative = _unary("non_negative", ">=", np.greater_equal)
assert_non_positive = _unary("non_positive", "<=", np.less_equal)


def assert_near(x: Any, y: Any, rtol: Any = None, atol: Any = None, message: str | None = None, summarize: Any = None, name: str | None = None) -> None:
    """InvalidArgumentError unless `|x - y| <= atol + rtol * |y|` in every element; both bounds default to ten times epsilon."""
    x, y = _convert(x), _convert(y)
    if not context.outside_graph():
        return _graph_check("near", x, y, rtol=rtol, atol=atol, message=message, summarize=summarize, name=name)
    eps = 10 * np.finfo(x.dtype.as_numpy_dtype).eps
    rtol, atol = (_convert(eps if r is None else r, x.dtype) for r in (rtol, atol))
    held = np.all(np.abs(x.numpy() - y.numpy()) <= atol.numpy() + rtol.numpy() * np.abs(y.numpy()))
    sizes = [f"{n} (shape={v.shape} dtype={v.dtype.name}) = " for n, v in (("x", x), ("y", y))]
    return Assert(_convert(bool(held)), [_lead(message), f"x and y not equal to tolerance rtol = {rtol!s}, atol = {atol!s}", sizes[0], x, sizes[1], y], summarize)


def _rank(value: Any) -> int:
    value = _convert(value, name="rank")
    if value.dtype != dtypes.int32:
        raise TypeError(f"tensor must be of type tf.int32; got {value.dtype!r}")
    if value.shape.rank != 0:
        raise ValueError("Rank must be a scalar.")
    return int(value)


def _refuse_rank(x: Any, wanted: str, message: str | None) -> None:
    raise ValueError(f"{_lead(message)}Tensor {getattr(x, '_print_name', '')} must have rank {wanted}.  Received rank {x.shape.rank}, shape {x.shape}")


def assert_rank(x: Any, rank: Any, message: str | None = None, name: str | None = None) -> None:
    """ValueError unless `x` has this many dimensions."""
    x, rank = _convert(x, name="x"), _rank(rank)
    if x.shape.rank != rank:
        _refuse_rank(x, f"{rank}", message)


def assert_rank_at_least(x: Any, rank: Any, message: str | None = None, name: str | None = None) -> None:
    """ValueError if `x` has fewer dimensions."""
    x, rank = _convert(x, name="x"), _rank(rank)
    if x.shape.rank < rank:
        _refuse_rank(x, f"at least {rank}", message)


def assert_rank_in(x: Any, ranks: Any, message: str | None = None, name: str | None = None) -> None:
    """ValueError unless the number of dimensions is one of `ranks`."""
    x, ranks = _convert(x, name="x"), tuple(_rank(r) for r in ranks)
    if x.shape.rank not in ranks:
        _refuse_rank(x, f"in {ranks}", message)


def assert_integer(x: Any, message: str | None = None, name: str | None = None) -> None:
    """TypeError unless the dtype is an integer."""
    x = _convert(x, name="x")
    if not x.dtype.is_integer:
        raise TypeError(f'{_lead(message)}Expected "x" to be integer type.  Found: tensor of dtype {x.dtype}')


def assert_scalar(tensor: Any, message: str | None = None, name: str | None = None) -> None:
    """ValueError unless the tensor has no dimensions."""
    tensor = _convert(tensor)
    if tensor.shape.rank != 0:
        raise ValueError(f"{_lead(message)}Expected scalar shape, saw shape: {tensor.shape}.")


def assert_type(tensor: Any, tf_type: Any, message: str | None = None, name: str | None = None) -> None:
    """TypeError unless the tensor has this dtype."""
    tensor, wanted = tensor if hasattr(tensor, "_parts") else _convert(tensor), dtypes.as_dtype(tf_type)
    if tensor.dtype != wanted:
        raise TypeError(f"{_lead(message)}tensor must be of type {wanted!r}; got {tensor.dtype!r}")


def assert_shapes(shapes: Any, data: Any = None, summarize: Any = None, message: str | None = None, name: str | None = None) -> None:
    """ValueError unless tensors have the shapes paired with them: sizes, None for any, or letters that mean one size each."""
    sizes: dict[Any, tuple[int, str]] = {}  # symbol -> size, who said so
    for x, wanted in shapes.items() if isinstance(shapes, dict) else shapes:
        x = _convert(x)
        wanted = tuple(wanted) if isinstance(wanted, (list, tuple, str)) else (wanted,)
        _assert_shape(x, wanted, sizes, message)


def _assert_shape(x: Any, wanted: tuple[Any, ...], sizes: dict[Any, tuple[int, str]], message: str | None) -> None:
    actual = x.shape.as_list()
    first = 0
    if wanted and wanted[0] in ("...", Ellipsis, "*"):  # any dimensions before these
        wanted, first = wanted[1:], len(actual) - len(wanted) + 1
        if first < 0:
            _refuse_rank(x, f"at least {len(wanted)}", message)
    elif not wanted:
        if len(actual) > 1:
            _refuse_rank(x, "in (0, 1)", message)
        return
    elif len(actual) != len(wanted):
        _refuse_rank(x, f"{len(wanted)}", message)
    called = f"shape={x.shape} dtype={x.dtype.name}"
    for i, (size, want) in enumerate(zip(actual[first:], wanted), first):
        if want in (None, "."):
            continue
        known, source = (want, "Specified explicitly") if isinstance(want, int) else sizes.setdefault(want, (size, f"Specified by tensor {called} dimension {i}"))
        if known != size:
            raise ValueError(f"{_lead(message)}{source}.  Tensor {called} dimension {i} must have size {known}.  Received size {size}, shape {x.shape}")


def assert_all_finite(x: Any, message: str, name: str | None = None) -> Tensor:
    """`x` itself; InvalidArgumentError with the message if an element is infinite or NaN."""
    with ops.name_scope(name, "VerifyFinite"):
        x = _convert(x, name="x")
        return _op("CheckNumerics", [x], {"message": message})


def Assert(condition: Any, data: Any, summarize: int | None = None, name: str | None = None) -> None:  # noqa: N802
    """InvalidArgumentError that shows `data` unless the condition holds; in a graph an op that checks."""
    if not context.outside_graph():
        from emplace.framework import control_flow_ops

        return control_flow_ops.Assert(condition, data, summarize, name)
    if not bool(condition):
        shown = [_summary(_convert(d).numpy(), 3 if summarize is None else summarize) for d in data]
        raise errors.InvalidArgumentError(None, None, f"Expected '{condition!s}' to be true. Summarized data: " + "\n".join(shown))
    return None


def _summary(value: Any, count: int) -> str:
    flat = np.asarray(value).reshape(-1)
    words = [str(v) for v in flat[:count]]
    return ", ".join([*words, "..."] if len(flat) > count >= 0 else words)


def get_log_device_placement() -> bool:
    """Whether each op run is reported with its device."""
    return bool(settings.log_device_placement)
