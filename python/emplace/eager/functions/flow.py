"""Branches, loops and functions over elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from emplace.eager import context, flow_graph, nest
from emplace.framework import array_ops, dtypes, ops
from emplace.framework.ops import convert_to_tensor as _convert


def _tensors(value: Any) -> Any:
    return nest.map_structure(lambda v: v if v is None or isinstance(v, ops.Operation) else _convert(v), value)


def cond(pred: Any, true_fn: Any = None, false_fn: Any = None, name: str | None = None) -> Any:
    if not callable(true_fn):
        raise TypeError("'true_fn' must be callable.")
    if not callable(false_fn):
        raise TypeError("'false_fn' must be callable.")
    if context.outside_graph():
        return _plain(true_fn() if bool(pred) else false_fn())
    if flow_graph.inside_function():
        return flow_graph.cond(pred, true_fn, false_fn, name)
    return _of_graphs("cond")(pred, true_fn=true_fn, false_fn=false_fn, name=name)


def _of_graphs(name: str) -> Any:
    from emplace.framework import control_flow_ops

    function = getattr(control_flow_ops, name, None)
    if function is None:
        raise NotImplementedError(f"tf.{name} on symbolic tensors is not there yet: run it outside tf.function")
    return function


def _plain(value: Any) -> Any:
    """What a branch gave, as it is: a list of one is its element."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def case(pred_fn_pairs: Any, default: Any = None, exclusive: bool = False, strict: bool = False, name: str = "case") -> Any:
    pairs = list(pred_fn_pairs.items()) if isinstance(pred_fn_pairs, dict) else list(pred_fn_pairs)
    for pred, fn in pairs:
        if bool(pred):
            return _plain(fn())
    if default is None:
        raise ValueError("None of the conditions evaluated as True, and there is no default")
    return _plain(default())


def switch_case(branch_index: Any, branch_fns: Any, default: Any = None, name: str = "switch_case") -> Any:
    table = dict(branch_fns) if isinstance(branch_fns, dict) or branch_fns and isinstance(branch_fns[0], tuple) else dict(enumerate(branch_fns))
    chosen = table.get(int(branch_index), default if default is not None else table[max(table)])
    return _plain(chosen())


def while_loop(
    cond: Any, body: Any, loop_vars: Any, shape_invariants: Any = None, parallel_iterations: int = 10, back_prop: bool = True,  # noqa: A002
    swap_memory: bool = False, maximum_iterations: Any = None, name: str | None = None,
) -> Any:
    if not callable(cond):
        raise TypeError("'cond' must be callable.")
    if not callable(body):
        raise TypeError("'body' must be callable.")
    if flow_graph.inside_function():
        return flow_graph.while_loop(cond, body, loop_vars, maximum_iterations, shape_invariants, name)
    if not context.outside_graph():
        return _of_graphs("while_loop")(cond, body, loop_vars, shape_invariants, parallel_iterations, back_prop, swap_memory, name, maximum_iterations, True)
    count, limit = 0, None if maximum_iterations is None else int(maximum_iterations)
    values = _tensors(loop_vars)
    while (limit is None or count < limit) and bool(cond(*values)):
        result = body(*values)
        if not isinstance(result, (list, tuple)):
            result = (result,)
        nest.assert_same_structure(list(values), list(result))
        values = _tensors(type(values)(result) if type(values) in (list, tuple) else result)
        count += 1
    return values


def _rows(elems: Any) -> tuple[int, Any]:
    elems = _tensors(elems)
    n = nest.flatten(elems)[0].shape[0]
    return n, lambda i: nest.map_structure(lambda t: t[i], elems)


def _stacked(results: list[Any], signature: Any = None) -> Any:
    return nest.map_structure(lambda *parts: array_ops.stack([_convert(p) for p in parts]), *results)


def map_fn(
    fn: Any, elems: Any, dtype: Any = None, parallel_iterations: Any = None, back_prop: bool = True, swap_memory: bool = False,
    infer_shape: bool = True, name: str | None = None, fn_output_signature: Any = None,
) -> Any:
    n, row = _rows(elems)
    return _stacked([fn(row(i)) for i in range(n)])


def vectorized_map(fn: Any, elems: Any, fallback_to_while_loop: bool = True, warn: bool = True) -> Any:
    return map_fn(fn, elems)


def foldl(
    fn: Any, elems: Any, initializer: Any = None, parallel_iterations: int = 10, back_prop: bool = True, swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    return _fold(fn, elems, initializer, False)


def foldr(
    fn: Any, elems: Any, initializer: Any = None, parallel_iterations: int = 10, back_prop: bool = True, swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    return _fold(fn, elems, initializer, True)


def _fold(fn: Any, elems: Any, initializer: Any, reverse: bool) -> Any:
    if not callable(fn):
        raise TypeError(f"{getattr(fn, '__name__', fn)} is not callable. Please provide a callable function.")
    n, row = _rows(elems)
    order = list(range(n))[:: -1 if reverse else 1]
    total = row(order.pop(0)) if initializer is None else _tensors(initializer)
    for i in order:
        total = fn(total, row(i))
    return _tensors(total)


def scan(
    fn: Any, elems: Any, initializer: Any = None, parallel_iterations: int = 10, back_prop: bool = True, swap_memory: bool = False,
    infer_shape: bool = True, reverse: bool = False, name: str | None = None,
) -> Any:
    n, row = _rows(elems)
    order = list(range(n))[:: -1 if reverse else 1]
    results = []
    if initializer is None:
        total = row(order.pop(0))
        results.append(total)
    else:
        total = _tensors(initializer)
    for i in order:
        total = _tensors(fn(total, row(i)))
        results.append(total)
    return _stacked(results[:: -1 if reverse else 1])


def group(*inputs: Any, **kwargs: Any) -> Any:
    if context.outside_graph():
        return None
    from emplace.framework import control_flow_ops

    return control_flow_ops.group(*inputs, **kwargs)


def tuple_(tensors: Any, control_inputs: Any = None, name: str | None = None) -> Any:
    if context.outside_graph():
        return list(tensors)
    from emplace.framework import control_flow_ops

    return control_flow_ops.tuple(tensors, name, control_inputs)


def no_op(name: str | None = None) -> Any:
    if context.outside_graph():
        return None
    from emplace.framework import control_flow_ops

    return control_flow_ops.no_op(name)


def py_function(func: Any = None, inp: Any = None, Tout: Any = None, name: str | None = None) -> Any:  # noqa: N803
    return _called(func, [_convert(x) for x in inp], Tout)


def numpy_function(func: Any = None, inp: Any = None, Tout: Any = None, stateful: bool = True, name: str | None = None) -> Any:  # noqa: N803
    return _called(func, [_convert(x).numpy() for x in inp], Tout)


def _called(func: Any, args: list[Any], types: Any) -> Any:
    result = func(*args)
    if isinstance(types, (list, tuple)):
        return [_convert(r, dtypes.as_dtype(t)) for r, t in zip(result if isinstance(result, (list, tuple)) else [result], types)]
    if isinstance(result, np.generic):
        result = np.asarray(result)
    return _convert(result, dtypes.as_dtype(types))


def tf_print(*inputs: Any, **kwargs: Any) -> None:
    """Values as TensorFlow prints them: the first and last three of each axis, no commas."""
    import sys

    stream = kwargs.get("output_stream", sys.stderr)
    stream = {"stdout": sys.stdout, "stderr": sys.stderr}.get(stream, stream) if isinstance(stream, str) else stream
    summarize = kwargs.get("summarize", 3)
    text = kwargs.get("sep", " ").join(_printed(v, summarize) for v in inputs)
    stream.write(text + kwargs.get("end", "\n"))
    stream.flush()


def _printed(value: Any, summarize: int) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k!r}: {_printed(v, summarize)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        inner = ", ".join(_printed(v, summarize) for v in value)
        return f"[{inner}]" if isinstance(value, list) else f"({inner}{',' * (len(value) == 1)})"
    if hasattr(value, "_dense_var_to_tensor") or hasattr(value, "numpy"):
        from emplace.framework import string_ops

        return string_ops.string_format("{}", [_convert(value)], summarize=summarize).numpy().decode()
    return str(value)
