"""Python's `if`, `while` and `for` on symbolic tensors become branches and loops of the graph.

The conversion of source code is the library diastatic-malt's (`pip install diastatic-malt`); this
module gives it the operators. Without the library functions run as they are written.
"""

from __future__ import annotations

import contextlib
import importlib.util
import sys
from typing import Any

from emplace import _core
from emplace.eager import autograph_errors, autograph_modules, flow_graph, func_graph, nest, tensor_array
from emplace.framework import array_ops, constant_op, dtypes, functional, gen, math_ops, ops, signals, tensor_shape
from emplace.framework.once import once

MISSING = "Install diastatic-malt to have Python's `if`, `while` and `for` on tensors converted."


def available() -> bool:
    return importlib.util.find_spec("malt") is not None


def _symbolic(*values: Any) -> bool:
    return any(isinstance(v, ops.Tensor) and not hasattr(v, "_numpy_of_eager") for v in values)


_functions: dict[str, Any] = {}  # the user's lines that were converted -> the functions they are in


def user_line(source: str) -> str:
    """"file:line" of code that may have been converted, as a traceback has it."""
    file, _, line = source.rpartition(":")
    return f'File "{file}", line {line}' + (f", in {_functions[source]}" if source in _functions else "")


ops.user_line = user_line  # type: ignore[attr-defined]


class _Silence:
    """What can't be converted runs as it is written, and says so itself where that fails."""

    def log(self, *_: Any, **__: Any) -> None:
        pass

    warning = error = trace = log

    def has_verbosity(self, _: int) -> bool:
        return False


class _Passing(BaseException):
    """Carries what a signal's handler raised past the converter, which runs what it can't convert."""


@once
def _library() -> Any:
    """malt's converter, a copy of our own: its operators are ours."""
    try:
        from malt.impl import api
    except BaseException:  # an import that Ctrl-C ended half-way can't be taken up again
        for name in [n for n in sys.modules if n.partition(".")[0] == "malt"]:
            del sys.modules[name]
        raise

    spec = importlib.util.spec_from_file_location("emplace.eager._malt", api.__file__)
    assert spec is not None and spec.loader is not None
    own = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(own)
    own.logging = _Silence()  # type: ignore[attr-defined]
    convert = own._convert_actual

    def remembering(entity: Any, context: Any) -> Any:
        try:
            made = convert(entity, context)
        except Exception as e:
            if signals.raised_by_handler(e):
                raise _Passing(e) from None
            raise
        for at, origin in made.ag_source_map.items():
            users = f"{origin.loc.filename}:{origin.loc.lineno}"
            _core.converted_lines[f"{at.filename}:{at.lineno}"] = users
            _functions[users] = origin.function_name
        return made

    own._convert_actual = remembering  # type: ignore[attr-defined]
    autograph_modules.write_no_files(type(own._TRANSPILER))
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
    try:
        return own.converted_call(function, tuple(args), kwargs or None, options=options)
    except _Passing as e:
        raise e.args[0] from None
    except Exception as e:
        told = autograph_errors.in_user_code(e, own)
        if told is None:
            e.__suppress_context__ = True  # the conversion's own troubles are no news
            raise
        raise told from None


def converted(function: Any) -> Any:
    """What the function becomes."""
    own = _library()
    features = own.converter.Feature.EQUALITY_OPERATORS
    options = own.converter.ConversionOptions(recursive=True, user_requested=True, optional_features=features)
    return own._convert_actual(function, own.converter.ProgramContext(options=options))


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
    sorted: lambda x, key=None, reverse=False: _sorted(x, key, reverse),
}


def _sorted(x: Any, key: Any, reverse: bool) -> Any:
    from emplace.eager.functions import array

    direction = "DESCENDING" if reverse else "ASCENDING"
    if key is None:
        return array.sort(x, direction=direction)
    order = array.argsort(functional.map_fn(key, x), direction=direction)
    return array_ops.gather(x, order)


def _undefined(v: Any) -> bool:
    return type(v).__name__ in ("Undefined", "UndefinedReturnValue")


def _tensorlike(v: Any) -> bool:
    return isinstance(v, (ops.Tensor, bool, int, float)) or hasattr(v, "_with_flow") and v._flow is not None


def _stand_in(other: Any, branch: Any) -> Any:
    """For a result that only the other branch gives: it is never looked at."""

    def one(leaf: Any) -> Any:
        t = leaf if isinstance(leaf, ops.Tensor) else ops.convert_to_tensor(leaf)
        return array_ops.zeros([d or 1 for d in t.shape.as_list()] if t.shape.rank is not None else [], t.dtype)

    with branch.graph.as_default():
        return nest.map_structure(one, other)


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
    likes, sides = _sides(branches, ends, moving, symbol_names)
    if not sides[0]:  # branches are run for what they do
        for b, side in zip(branches, sides):
            with b.graph.as_default():
                side.append(ops.convert_to_tensor(1))
    merged = flow_graph.merge(cond, branches, sides, scope)
    after = [*ends[0], *before[nouts:]]
    for i, like in zip(moving, likes):
        n = len(nest.flatten(like))
        after[i], merged = flow_graph.packed(like, merged[:n]), merged[n:]
    set_state(tuple(after))


def _sides(branches: Any, ends: Any, moving: list[int], symbol_names: Any) -> tuple[list[Any], list[list[Any]]]:
    """How each symbol is built up, and what each branch gives for it: tensors of its graph."""
    likes, sides = [], [[], []]
    for i in moving:
        name, a, b = symbol_names[i], ends[0][i], ends[1][i]
        _check_defined(name, a, b)
        a, b = (_stand_in(b, branches[0]) if _undefined(a) else a), (_stand_in(a, branches[1]) if _undefined(b) else b)
        _check_structures(name, a, b)
        likes.append(a)
        for x, y in zip(nest.flatten(a), nest.flatten(b)):
            first, second = _in_branch(branches[0], x, y), _in_branch(branches[1], y, x)
            if first.dtype.base_dtype != second.dtype.base_dtype:
                raise TypeError(f"'{name}' has dtype {first.dtype.name} in the main branch, but dtype {second.dtype.name} in the else branch")
            sides[0].append(first)
            sides[1].append(second)
    return likes, sides


def _in_branch(branch: Any, value: Any, other: Any) -> Any:
    """As a tensor of the branch; a number takes the dtype of what the other branch gives, if it can."""
    with branch.graph.as_default():
        if isinstance(other, ops.Tensor) and not isinstance(value, ops.Tensor):
            with contextlib.suppress(TypeError, ValueError):
                return flow_graph.tensors([value], [other.dtype.base_dtype])[0]
        return flow_graph.tensors([value], [None])[0]


def _check_structures(name: str, a: Any, b: Any) -> None:
    try:
        nest.assert_same_structure(a, b)
    except (TypeError, ValueError) as e:
        raise TypeError(f"'{name}' does not have the same nested structure in the main and else branches.\n\n{e}") from None


def _moves(a: Any, b: Any) -> bool:
    if a is b or _undefined(a) and _undefined(b):
        return False
    return not (type(a) is type(b) and isinstance(a, (bool, int, float, str)) and a == b)


def _check_defined(name: str, a: Any, b: Any) -> None:
    for v, other, where in ((a, b, "main"), (b, a, "else")):
        if _undefined(v) and not name.startswith("retval_"):
            raise ValueError(f"'{name}' must also be initialized in the {where} branch")
        if v is None and not name.startswith("retval_"):
            raise ValueError(f"'{name}' is None at the end of the {where} branch.")


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
            if _symbolic(first):
                raise NotImplementedError(
                    "The condition of while loop started as non-Tensor, then changed to Tensor. This may happen either because variables "
                    "changed type, or when a break or return statement inside the loop depends on a Tensor condition. In both cases, changing "
                    "to a TF loop should remove the error.\nSee https://github.com/tensorflow/tensorflow/blob/master/tensorflow/python/autograph/"
                    "g3doc/reference/limitations.md#consistency-of-control-flow-types for more info."
                )
        return
    _loop(test, body, get_state, set_state, symbol_names, opts)


def _carried(value: Any) -> bool:
    """Does it go round with the loop? Numbers and tensors do, and what is built of them."""
    leaves = nest.flatten(value)
    return bool(leaves) and all(_tensorlike(leaf) for leaf in leaves)


def _given_by(body: Any, args: list[Any], before: Any, get_state: Any, set_state: Any) -> Any:
    """What the body makes of symbols that have no value before it: found out in a graph that is thrown away."""
    graph = func_graph.FuncGraph("body", ops.get_default_graph())
    with graph.as_default():
        body(*[graph.argument(a.dtype, a.shape) for a in args])
        after = get_state()
    set_state(before)
    return after


def _first_values(names: Any, before: Any, after: Any) -> list[Any]:
    """Zeros for what only the body gives."""
    made = list(before)
    for i, (old, new) in enumerate(zip(before, after)):
        if _undefined(old) and _carried(new):
            made[i] = nest.map_structure(lambda t: _zero_like(names[i], t), new)
    return made


def _zero_like(name: str, t: Any) -> Any:
    t = t if isinstance(t, ops.Tensor) else ops.convert_to_tensor(t)
    if not t.shape.is_fully_defined():
        raise ValueError(f"'{name}' must be defined before the loop.")
    return array_ops.zeros(t.shape.as_list(), t.dtype.base_dtype)


def _loop(
    test: Any, body: Any, get_state: Any, set_state: Any, symbol_names: Any, opts: Any, counter: Any = None, step: Any = 1,
) -> None:
    """`counter`: where an index starts that test and body receive."""
    start, before = [] if counter is None else [counter], get_state()
    if any(_undefined(v) for v in before):
        before = tuple(_first_values(symbol_names, before, _given_by(body, start, before, get_state, set_state)))
        set_state(before)
    moving = [i for i, v in enumerate(before) if _carried(v)]
    own = len(start)

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
        for i, old in zip(moving, values[own:]):
            _check_round(symbol_names[i], old, after[i], _told(opts, before[i]))
        return [*(v + step for v in values[:own]), *(after[i] for i in moving)]

    initial = [*start, *(before[i] for i in moving)]
    shapes = [*([c.shape for c in start]), *(nest.map_structure(lambda t, v=before[i]: _told(opts, v) or _shape(t), before[i]) for i in moving)]
    limit = (opts or {}).get("maximum_iterations")
    made = flow_graph.while_loop(run_test, run_body, initial, limit, shapes if (opts or {}).get("shape_invariants") else None)
    entered(made[own:])


def _shape(value: Any) -> Any:
    return value.shape if isinstance(value, ops.Tensor) else tensor_shape.TensorShape([])


def _told(opts: Any, value: Any) -> Any:
    """The shape that tf.autograph.experimental.set_loop_options gives for a value."""
    for v, shape in (opts or {}).get("shape_invariants") or ():
        if v is value:
            return tensor_shape.as_shape(shape)
    return None


def _check_round(name: str, old: Any, new: Any, told: Any) -> None:
    """What goes round must stay what it was."""
    if _undefined(new):
        raise ValueError(f"'{name}' must be defined at the end of the iteration.")
    if new is None:
        raise ValueError(f"'{name}' is None at the end of the iteration.")
    try:
        nest.assert_same_structure(old, new)
    except (TypeError, ValueError) as e:
        raise TypeError(f"'{name}' does not have the same nested structure after one iteration.\n\n{e}") from None
    for a, b in zip(nest.flatten(old), nest.flatten(new)):
        if isinstance(a, ops.Tensor) and isinstance(b, float) and a.dtype.is_integer:
            raise TypeError(f"'{name}' has dtype {a.dtype.name} before the loop, but dtype float32 after one iteration")
        if not isinstance(b, ops.Tensor) or not isinstance(a, ops.Tensor):
            continue
        if a.dtype.base_dtype != b.dtype.base_dtype:
            raise TypeError(f"'{name}' has dtype {a.dtype.name} before the loop, but dtype {b.dtype.name} after one iteration")
        if told is None and (not a.shape.is_compatible_with(b.shape) or a.shape.is_fully_defined() and not b.shape.is_fully_defined()):
            raise ValueError(
                f"'{name}' has shape {a.shape} before the loop, but shape {b.shape} after one iteration. "
                "Use tf.autograph.experimental.set_loop_options to set shape invariants."
            )


def for_stmt(iter_: Any, extra_test: Any, body: Any, get_state: Any, set_state: Any, symbol_names: Any, opts: Any) -> None:
    if getattr(iter_, "_runs_in_graph", False) and flow_graph.inside_function():
        _for_elements(iter_, extra_test, body, get_state, set_state, symbol_names, opts)
        return
    if not _symbolic(iter_):
        for target in iter_:
            if extra_test is not None and not extra_test():
                break
            body(target)
        return
    if isinstance(iter_, ops.Tensor) and iter_.op.type == "Range":
        _for_range(iter_, extra_test, body, get_state, set_state, symbol_names, opts)
        return
    rows = _len(iter_)
    elements = tensor_array.TensorArray(iter_.dtype, size=rows).unstack(iter_)

    def test(i: Any) -> Any:
        more = i < rows
        return more if extra_test is None else _op("LogicalAnd", more, extra_test())

    start = ops.convert_to_tensor(0, dtype=dtypes.int32)
    _loop(test, lambda i: body(elements.read(i)), get_state, set_state, symbol_names, opts, start)


def _for_elements(source: Any, extra_test: Any, body: Any, get_state: Any, set_state: Any, symbol_names: Any, opts: Any) -> None:
    """Over a dataset or its iterator: elements are asked for as the function runs, each as an Optional."""
    first, following = source._optionals()
    box = first._parts()  # the variant goes round
    whole = getattr(source, "_packed", lambda parts: parts)  # what carries more than tensors is put together inside the loop

    def get() -> Any:
        return (*get_state(), *box)

    def set_(state: Any) -> None:
        box[:] = state[-1:]
        set_state(tuple(state[:-1]))

    def test() -> Any:
        there = first._rebuilt(box[:]).has_value()
        return there if extra_test is None else _op("LogicalAnd", there, extra_test())

    def step() -> None:
        body(whole(first._rebuilt(box[:]).get_value()))
        box[:] = following()._parts()

    _loop(test, step, get, set_, (*symbol_names, "next_element"), opts)


def _for_range(iter_: Any, extra_test: Any, body: Any, get_state: Any, set_state: Any, symbol_names: Any, opts: Any) -> None:
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

    _loop(test, body, get_state, set_state, symbol_names, opts, start, delta)


def _range_length(start: Any, limit: Any, delta: Any) -> Any:
    distance = limit - start
    whole = distance // delta
    rest = math_ops.cast(math_ops.not_equal(distance % delta, array_ops.zeros_like(distance)), distance.dtype)
    length = whole + rest
    return _op("Maximum", length, array_ops.zeros_like(length))
