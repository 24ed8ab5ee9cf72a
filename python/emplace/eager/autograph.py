"""Python's `if`, `while` and `for` on symbolic tensors become branches and loops of the graph.

The conversion of source code is the library diastatic-malt's (`pip install diastatic-malt`); this
module gives it the operators. Without the library functions run as they are written.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import sys
from typing import Any

from emplace.eager import flow_graph, func_graph, tensor_array
from emplace.framework import array_ops, constant_op, dtypes, gen, math_ops, ops

MISSING = "Install diastatic-malt to have Python's `if`, `while` and `for` on tensors converted."


def available() -> bool:
    return importlib.util.find_spec("malt") is not None


def _symbolic(*values: Any) -> bool:
    return any(isinstance(v, ops.Tensor) and not hasattr(v, "_numpy_of_eager") for v in values)


class _Silence:
    """What can't be converted runs as it is written, and says so itself where that fails."""

    def log(self, *_: Any, **__: Any) -> None:
        pass

    warning = error = trace = log

    def has_verbosity(self, _: int) -> bool:
        return False


@functools.cache
def _library() -> Any:
    """malt's converter, a copy of our own: its operators are ours."""
    from malt.impl import api

    spec = importlib.util.spec_from_file_location("emplace.eager._malt", api.__file__)
    assert spec is not None and spec.loader is not None
    own = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(own)
    own.logging = _Silence()  # type: ignore[attr-defined]
    offered = own._TRANSPILER.get_extra_locals()["ag__"]
    offered.__dict__.update(
        converted_call=converted_call, if_stmt=if_stmt, while_stmt=while_stmt, for_stmt=for_stmt,
        if_exp=if_exp, and_=and_, or_=or_, not_=not_, eq=eq, not_eq=not_eq,
    )  # fmt: skip
    return own


def call(function: Any, args: Any, kwargs: Any) -> Any:
    """`function(*args, **kwargs)`, converted."""
    if not available() or _is_ours(function):
        return function(*args, **kwargs)
    own = _library()
    features = own.converter.Feature.EQUALITY_OPERATORS
    options = own.converter.ConversionOptions(recursive=True, user_requested=True, optional_features=features)
    return own.converted_call(function, tuple(args), kwargs or None, options=options)


def _is_ours(f: Any) -> bool:
    owners = (getattr(f, "__module__", None), type(f).__module__)
    return any(isinstance(m, str) and m.partition(".")[0] in ("emplace", "numpy") for m in owners)


def converted_call(f: Any, args: Any, kwargs: Any, caller_fn_scope: Any = None, options: Any = None) -> Any:
    kwargs = kwargs or {}
    if _is_ours(f):
        return f(*args, **kwargs)
    ours = _BUILTINS.get(f) if isinstance(f, type) or callable(f) and getattr(f, "__module__", "") == "builtins" else None
    if ours is not None and _symbolic(*args):
        return ours(*args, **kwargs)
    return _library().converted_call(f, args, kwargs or None, caller_fn_scope, options)


def _op(name: str, *inputs: Any) -> Any:
    return gen.apply(name, list(inputs), {})


def _len(x: Any) -> Any:
    rows = x.shape.as_list()[0] if x.shape.rank else None
    return array_ops.shape(x)[0] if rows is None else rows


_BUILTINS: dict[Any, Any] = {
    range: lambda *a: math_ops.range(*a),
    len: _len,
    int: lambda x: math_ops.cast(x, dtypes.int32),
    float: lambda x: math_ops.cast(x, dtypes.float32),
    abs: lambda x: math_ops.abs(x),
}


def _undefined(v: Any) -> bool:
    return type(v).__name__ in ("Undefined", "UndefinedReturnValue")


def _tensorlike(v: Any) -> bool:
    return isinstance(v, (ops.Tensor, bool, int, float)) or hasattr(v, "_with_flow") and v._flow is not None


def _stand_in(other: Any) -> Any:
    """For a result that only the other branch gives: it is never looked at."""
    t = other if isinstance(other, ops.Tensor) else ops.convert_to_tensor(other)
    return array_ops.zeros([d or 1 for d in t.shape.as_list()] if t.shape.rank is not None else [], t.dtype)


def if_stmt(cond: Any, body: Any, orelse: Any, get_state: Any, set_state: Any, symbol_names: Any, nouts: int) -> None:
    if not _symbolic(cond):
        if cond:
            body()
        else:
            orelse()
        return
    graph, before = ops.get_default_graph(), get_state()
    scope = graph.unique_name(f"{graph.get_name_scope()}/cond".lstrip("/"), mark_as_used=False)
    branches = []
    for word, block in (("true", body), ("false", orelse)):
        def run(_: Any, block: Any = block) -> Any:
            set_state(before)
            block()
            return get_state()[:nouts]

        branches.append(flow_graph.trace(f"{scope.replace('/', '_')}_{word}", scope, run))
    ends = [b.result for b in branches]
    moving = [i for i in range(nouts) if _moves(ends[0][i], ends[1][i])]
    sides = _sides(branches, ends, moving, symbol_names)
    if not moving:  # branches are run for what they do
        for b, side in zip(branches, sides):
            with b.graph.as_default():
                side.append(ops.convert_to_tensor(1))
    merged = flow_graph.merge(cond, branches, sides, scope)
    after = [*ends[0], *before[nouts:]]
    for i, value in zip(moving, merged):
        like = ends[0][i]
        after[i] = like._with_flow(value) if hasattr(like, "_with_flow") else value
    set_state(tuple(after))


def _sides(branches: Any, ends: Any, moving: list[int], symbol_names: Any) -> list[list[Any]]:
    """What each branch results in, as tensors of its graph."""
    sides: list[list[Any]] = [[], []]
    for i in moving:
        a, b = ends[0][i], ends[1][i]
        _check_defined(symbol_names[i], a, b)
        hint = b.dtype.base_dtype if isinstance(b, ops.Tensor) else None
        with branches[0].graph.as_default():
            first = flow_graph.tensors([_stand_in(b) if _undefined(a) else a], [hint])[0]
        with branches[1].graph.as_default():
            second = flow_graph.tensors([_stand_in(a) if _undefined(b) else b], [first.dtype.base_dtype])[0]
        if first.dtype.base_dtype != second.dtype.base_dtype:
            raise TypeError(f"'{symbol_names[i]}' has dtype {first.dtype.name} in the main branch, but dtype {second.dtype.name} in the else branch")
        sides[0].append(first)
        sides[1].append(second)
    return sides


def _moves(a: Any, b: Any) -> bool:
    if a is b or _undefined(a) and _undefined(b):
        return False
    return not (type(a) is type(b) and isinstance(a, (bool, int, float, str)) and a == b)


def _check_defined(name: str, a: Any, b: Any) -> None:
    for v, other, where in ((a, b, "main"), (b, a, "else")):
        if _undefined(v) and not (name.startswith("retval_") and _tensorlike(other)):
            raise ValueError(f"'{name}' must also be initialized in the {where} branch")


def if_exp(cond: Any, if_true: Any, if_false: Any, expr_repr: str) -> Any:
    if not _symbolic(cond):
        return if_true() if cond else if_false()
    return flow_graph.cond(cond, if_true, if_false)


def and_(a: Any, b: Any) -> Any:
    left = a()
    return _op("LogicalAnd", left, b()) if _symbolic(left) else left and b()


def or_(a: Any, b: Any) -> Any:
    left = a()
    return _op("LogicalOr", left, b()) if _symbolic(left) else left or b()


def not_(a: Any) -> Any:
    return _op("LogicalNot", a) if _symbolic(a) else not a


def eq(a: Any, b: Any) -> Any:
    return math_ops.equal(a, b) if _symbolic(a, b) and a is not None and b is not None else a == b


def not_eq(a: Any, b: Any) -> Any:
    return math_ops.not_equal(a, b) if _symbolic(a, b) and a is not None and b is not None else a != b


def while_stmt(test: Any, body: Any, get_state: Any, set_state: Any, symbol_names: Any, opts: Any) -> None:
    with func_graph.FuncGraph("test", ops.get_default_graph() if flow_graph.inside_function() else None).as_default() if flow_graph.inside_function() else contextlib.nullcontext():
        first = test()  # what it is; in a function it is made again, as part of the loop
    if not _symbolic(first):
        while first:
            body()
            first = test()
        return
    _loop(test, body, get_state, set_state, symbol_names)


def _loop(test: Any, body: Any, get_state: Any, set_state: Any, symbol_names: Any, counter: Any = None, step: Any = 1) -> None:
    """`counter`: where an index starts that test and body receive."""
    before = get_state()
    moving = [i for i, v in enumerate(before) if _tensorlike(v)]
    own = 0 if counter is None else 1

    def entered(values: Any) -> None:
        state = list(before)
        for i, v in zip(moving, values):
            state[i] = v
        set_state(tuple(state))

    def run_test(*values: Any) -> Any:
        entered(values[own:])
        return test(*values[:own])

    def run_body(*values: Any) -> Any:
        entered(values[own:])
        body(*values[:own])
        after = get_state()
        for i, v in enumerate(after):
            if _undefined(before[i]) and _symbolic(v):
                raise ValueError(f"'{symbol_names[i]}' must be defined before the loop.")
        return [*(v + step for v in values[:own]), *(after[i] for i in moving)]

    initial = [*([] if counter is None else [counter]), *(before[i] for i in moving)]
    entered(flow_graph.while_loop(run_test, run_body, initial)[own:])


def for_stmt(iter_: Any, extra_test: Any, body: Any, get_state: Any, set_state: Any, symbol_names: Any, opts: Any) -> None:
    if not _symbolic(iter_):
        for target in iter_:
            if extra_test is not None and not extra_test():
                break
            body(target)
        return
    if isinstance(iter_, ops.Tensor) and iter_.op.type == "Range":
        _for_range(iter_, extra_test, body, get_state, set_state, symbol_names)
        return
    rows = _len(iter_)
    elements = tensor_array.TensorArray(iter_.dtype, size=rows).unstack(iter_)

    def test(i: Any) -> Any:
        more = i < rows
        return more if extra_test is None else _op("LogicalAnd", more, extra_test())

    start = ops.convert_to_tensor(0, dtype=dtypes.int32)
    _loop(test, lambda i: body(elements.read(i)), get_state, set_state, symbol_names, start)


def _for_range(iter_: Any, extra_test: Any, body: Any, get_state: Any, set_state: Any, symbol_names: Any) -> None:
    """Counts instead of making the numbers."""
    start, limit, delta = iter_.op.inputs
    _range_length(start, limit, delta)
    known = constant_op.constant_value(delta)

    def test(i: Any) -> Any:
        if known is not None:
            more = i < limit if known >= 0 else i > limit
        else:
            more = _op("LogicalOr", _op("LogicalAnd", delta > 0, i < limit), _op("LogicalAnd", delta < 0, i > limit))
        return more if extra_test is None else _op("LogicalAnd", more, extra_test())

    _loop(test, body, get_state, set_state, symbol_names, start, delta)


def _range_length(start: Any, limit: Any, delta: Any) -> Any:
    distance = limit - start
    whole = distance // delta
    rest = math_ops.cast(math_ops.not_equal(distance % delta, array_ops.zeros_like(distance)), distance.dtype)
    length = whole + rest
    return _op("Maximum", length, array_ops.zeros_like(length))
