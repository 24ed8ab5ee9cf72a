"""Branches, loops and functions over elements."""

from __future__ import annotations

import functools
import logging
from typing import Any

import numpy as np

from emplace.eager import context, flow_graph, nest, tensor_array, tensor_spec
from emplace.framework import array_ops, dtypes, functional, ops
from emplace.framework.ops import convert_to_tensor as _convert


def _tensors(value: Any) -> Any:
    return nest.map_structure(lambda v: v if v is None or isinstance(v, ops.Operation) or hasattr(v, "_parts") or isinstance(v, tensor_array.TensorArray) else _convert(v), value)


def cond(pred: Any, true_fn: Any = None, false_fn: Any = None, name: str | None = None) -> Any:
    """What `true_fn()` gives where `pred` holds, else `false_fn()`. In a graph both are traced and must give like structures."""
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
    from emplace.framework import cond as branches
    from emplace.framework import while_loop as loops

    return getattr(loops if name == "while_loop" else branches, name)


def _plain(value: Any) -> Any:
    """What a branch gave, as it is: a list of one is its element."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def case(pred_fn_pairs: Any, default: Any = None, exclusive: bool = False, strict: bool = False, name: str = "case") -> Any:
    """What the function of the first true condition gives, else `default()`; without one it is an error that none holds."""
    pairs = list(pred_fn_pairs.items()) if isinstance(pred_fn_pairs, dict) else list(pred_fn_pairs)
    if flow_graph.inside_function():
        return _case_in_function(pairs, default, name)
    if not context.outside_graph():
        return _of_graphs("case")(pairs, default, exclusive, strict, name)
    for pred, fn in pairs:
        if bool(pred):
            return _plain(fn())
    if default is None:
        raise ValueError("None of the conditions evaluated as True, and there is no default")
    return _plain(default())


def _case_in_function(pairs: Any, default: Any, name: str) -> Any:
    """One branch inside the other; without a default the last is it."""
    if default is None:
        default = pairs.pop()[1]
    chosen = default
    for pred, fn in reversed(pairs):
        chosen = (lambda pred=pred, fn=fn, rest=chosen: flow_graph.cond(pred, fn, rest, "cond"))
    return chosen()


def switch_case(branch_index: Any, branch_fns: Any, default: Any = None, name: str = "switch_case") -> Any:
    """What the function at `branch_index` gives; `default()`, or the last one, for other numbers."""
    table = dict(enumerate(_of_graphs("_branches")(branch_fns)))
    if flow_graph.inside_function():
        return _switch_in_function(branch_index, table, default, name)
    if not context.outside_graph():
        return _of_graphs("switch_case")(branch_index, branch_fns, default, name)
    chosen = table.get(int(branch_index), default if default is not None else table[max(table)])
    return _plain(chosen())


def _switch_in_function(index: Any, table: dict[int, Any], default: Any, name: str) -> Any:
    """Numbers without a branch take the default, or else the last."""
    branches = [table.get(i, default or table[max(table)]) for i in range(max(table) + 1)]
    if default is not None:
        branches.append(default)
    return flow_graph.switch_case(index, branches, name or "switch_case")


@context.as_one
def while_loop(
    cond: Any, body: Any, loop_vars: Any, shape_invariants: Any = None, parallel_iterations: int = 10, back_prop: bool = True,  # noqa: A002
    swap_memory: bool = False, maximum_iterations: Any = None, name: str | None = None,
) -> Any:
    """Calls `body(*vars)` as long as `cond(*vars)` holds and returns the last variables. In a graph their shapes stay the same
    unless `shape_invariants` widens them."""
    if not callable(cond):
        raise TypeError("'cond' must be callable.")
    if not callable(body):
        raise TypeError("'body' must be callable.")
    if flow_graph.inside_function():
        return flow_graph.while_loop(cond, body, loop_vars, maximum_iterations, shape_invariants, name, parallel_iterations)
    if not context.outside_graph():
        return _of_graphs("while_loop")(cond, body, loop_vars, shape_invariants, parallel_iterations, back_prop, swap_memory, name, maximum_iterations, True)
    count, limit = 0, None if maximum_iterations is None else int(maximum_iterations)
    values = loop_vars  # numbers stay numbers on the way
    while (limit is None or count < limit) and bool(cond(*values)):
        result = body(*values)
        if not isinstance(result, (list, tuple)):
            result = type(values)([result])
        nest.assert_same_structure(list(values), list(result))
        values = result
        count += 1
    return _tensors(values)


def _rows(elems: Any) -> tuple[int, Any]:
    elems = nest.map_structure(lambda e: e if hasattr(e, "_parts") else _convert(e), elems)
    leaves = nest.flatten(elems)
    for e in leaves:
        if hasattr(e, "_part_specs") and not hasattr(e, "_row_of"):
            raise TypeError(f"map_fn can not consume {e._type_spec!r} inputs: got {e!r}")
    if not all(hasattr(e, "_row_of") or e.shape.rank for e in leaves):
        raise ValueError("Elements in elems must be 1+ dimensional Tensors, not scalars")
    n = leaves[0]._num_rows() if hasattr(leaves[0], "_row_of") else leaves[0].shape[0]
    return n, lambda i: nest.map_structure(lambda t: _row(t, i), elems)


def _row(value: Any, i: int) -> Any:
    if hasattr(value, "_row_of"):
        return value._row_of(i)
    if hasattr(value, "dense_shape") and hasattr(value, "_parts"):
        from emplace.framework import sparse_ops

        size = value.dense_shape.numpy()
        start, extent = [i] + [0] * (len(size) - 1), [1, *size[1:]]
        return sparse_ops.sparse_reshape(sparse_ops.sparse_slice(value, start, extent), size[1:])
    return value[i]


def _stacked(results: list[Any], signature: Any = None) -> Any:
    if not results:
        return nest.map_structure(lambda t: array_ops.zeros([0], t if not hasattr(t, "dtype") else t.dtype), signature)
    return nest.map_structure(_one_above_another, *results) if signature is None else _by_signature(results, signature)


def _by_signature(results: list[Any], signature: Any) -> Any:
    """Stacked as ragged tensors where the signature says so."""
    from emplace.eager.ragged import joining
    from emplace.eager.ragged.spec import RaggedTensorSpec

    specs = nest.flatten(signature)
    columns = zip(*(nest.flatten(r) for r in results))
    made = [joining.stack(list(c)) if isinstance(s, RaggedTensorSpec) else _one_above_another(*_of_dtype(c, s)) for s, c in zip(specs, columns)]
    return nest.pack_sequence_as(results[0], made)


def _of_dtype(values: Any, spec: Any) -> Any:
    """Python's values as tensors of what the signature says."""
    dtype = spec if isinstance(spec, dtypes.DType) else spec.dtype if isinstance(spec, tensor_spec.TensorSpec) else None
    return values if dtype is None else [_convert(v, dtype) if isinstance(v, (int, float, list, tuple, np.ndarray, np.generic)) else v for v in values]


def _one_above_another(*parts: Any) -> Any:
    if not hasattr(parts[0], "_parts"):
        return array_ops.stack([_convert(p) for p in parts])
    if hasattr(parts[0], "_row_of"):
        from emplace.eager import extension_batch

        return extension_batch.stacked(parts, len(parts))
    if hasattr(parts[0], "row_splits"):
        from emplace.eager.ragged import joining

        return joining.stack(list(parts))
    from emplace.framework import sparse_ops

    return sparse_ops.sparse_concat(0, [sparse_ops.expand_dims(p, 0) for p in parts], expand_nonconcat_dims=True)


@context.as_one
def map_fn(
    fn: Any, elems: Any, dtype: Any = None, parallel_iterations: Any = None, back_prop: bool = True, swap_memory: bool = False,
    infer_shape: bool = True, name: str | None = None, fn_output_signature: Any = None,
) -> Any:
    """Stacks what `fn` gives for each row of `elems`; `fn_output_signature` says what it gives where that differs from a row."""
    if not context.outside_graph():
        from emplace.eager import extension_batch as batches

        if any(map(batches.is_batchable, [*nest.flatten(elems), *nest.flatten(fn_output_signature)])):
            return batches.map_encoded(functional.map_fn, fn, elems, fn_output_signature if fn_output_signature is not None else dtype)
        return functional.map_fn(fn, elems, dtype, parallel_iterations, back_prop, swap_memory, infer_shape, name, fn_output_signature)
    n, row = _rows(elems)
    signature = fn_output_signature if fn_output_signature is not None else dtype
    if signature is None and hasattr(elems, "row_splits"):  # rows in, rows out
        signature = elems._type_spec
    return _stacked([fn(row(i)) for i in range(n)], signature)


def vectorized_map(fn: Any, elems: Any, fallback_to_while_loop: bool = True, warn: bool = True) -> Any:
    """Stacks what `fn` gives for each row of `elems`, computed for all rows at once; row by row where `fn` does something
    that can't be. Elements of one row belong to all rows."""
    leaves = nest.flatten(elems)
    if any(hasattr(e, "_parts") for e in leaves) or not (context.outside_graph() or flow_graph.inside_function()):
        return map_fn(fn, elems)
    tensors = [_convert(e) for e in leaves]
    sizes = {t.shape[0] if t.shape.rank else None for t in tensors} - {1}
    rows = next(iter(sizes)) if len(sizes) == 1 else None if sizes else 1
    if not rows:
        return map_fn(fn, elems)
    from emplace.eager import function, vectorize

    mapped = [t.shape[0] == rows for t in tensors]
    given = [(t, True) if many else (t[0], False) for t, many in zip(tensors, mapped)]
    specs = [tensor_spec.TensorSpec(t.shape[1:] if many else t.shape, t.dtype) for t, many in given]
    traced = function.function(lambda *flat: fn(nest.pack_sequence_as(elems, list(flat))))
    try:
        return vectorize.run_on_rows(traced.get_concrete_function(*specs), given, rows)
    except vectorize.NoRule as e:
        if not fallback_to_while_loop:
            raise ValueError(f"No pfor vectorization defined for {e.op.type}\n{e.op.node_def}") from None
        if warn:
            logging.getLogger("emplace").warning(f"tf.vectorized_map goes row by row: {e.op.type} ({e.op.name}) is not run on all rows at once")
        return map_fn(fn, elems)


def foldl(
    fn: Any, elems: Any, initializer: Any = None, parallel_iterations: int = 10, back_prop: bool = True, swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """Folds the rows of `elems` from the first: `fn(so_far, row)`, beginning with `initializer` or the first row."""
    return _fold(fn, elems, initializer, False)


def foldr(
    fn: Any, elems: Any, initializer: Any = None, parallel_iterations: int = 10, back_prop: bool = True, swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """Folds the rows of `elems` from the last: `fn(so_far, row)`, beginning with `initializer` or the last row."""
    return _fold(fn, elems, initializer, True)


@context.as_one
def _fold(fn: Any, elems: Any, initializer: Any, reverse: bool) -> Any:
    if not callable(fn):
        raise TypeError(f"{getattr(fn, '__name__', fn)} is not callable. Please provide a callable function.")
    if not context.outside_graph():
        return (functional.foldr if reverse else functional.foldl)(fn, elems, initializer)
    n, row = _rows(elems)
    order = list(range(n))[:: -1 if reverse else 1]
    total = row(order.pop(0)) if initializer is None else _tensors(initializer)
    for i in order:
        total = fn(total, row(i))
    return _tensors(total)


@context.as_one
def scan(
    fn: Any, elems: Any, initializer: Any = None, parallel_iterations: int = 10, back_prop: bool = True, swap_memory: bool = False,
    infer_shape: bool = True, reverse: bool = False, name: str | None = None,
) -> Any:
    """Like `foldl`, but stacks all intermediate results; `reverse` begins at the last row."""
    if not context.outside_graph():
        return functional.scan(fn, elems, initializer, parallel_iterations, back_prop, swap_memory, infer_shape, reverse, name)
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
    """An op that has run when all inputs have; None eagerly, where they have already."""
    if context.outside_graph():
        return None
    from emplace.framework import control_flow_ops

    return control_flow_ops.group(*inputs, **kwargs)


def tuple_(tensors: Any, control_inputs: Any = None, name: str | None = None) -> Any:
    """The tensors, none of them to be had before all are there; eagerly as they are."""
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
    """Calls a Python function with eager tensors, in a graph when that runs; gradients flow through it. `Tout` says the dtypes
    or specs of its results. Also a decorator."""
    if func is None:  # `@tf.py_function(Tout=…)`
        return lambda f: context.v2(functools.wraps(f)(lambda *args: py_function(f, list(args), Tout, name)))
    if not context.outside_graph():
        from emplace.framework import py_functions

        return py_functions.py_function(func, inp, Tout, name)
    return _called(func, [_convert(x) for x in inp], Tout)


def numpy_function(func: Any = None, inp: Any = None, Tout: Any = None, stateful: bool = True, name: str | None = None) -> Any:  # noqa: N803
    """Calls a Python function with arrays, in a graph when that runs; it has no gradient. `Tout` says the dtypes of its
    results. Also a decorator."""
    if func is None:  # `@tf.numpy_function(Tout=…)`
        return lambda f: context.v2(functools.wraps(f)(lambda *args: numpy_function(f, list(args), Tout, stateful, name)))
    if not context.outside_graph():
        from emplace.framework import py_functions

        return py_functions.numpy_function(func, inp, Tout, stateful, name)
    result = func(*(_array(x) for x in inp))
    results = [None if r is None else _convert(r) for r in nest.flatten(result)]
    return results[0] if len(results) == 1 else results


def _array(value: Any) -> Any:
    """What a NumPy function gets: arrays, and a single text as the bytes it is."""
    value = value.numpy() if hasattr(value, "numpy") else value
    return value if isinstance(value, bytes) else np.asarray(value)


def _called(func: Any, args: list[Any], types: Any) -> Any:
    result = func(*args)
    if isinstance(types, (list, tuple)):
        return [_convert(r, dtypes.as_dtype(t)) for r, t in zip(result if isinstance(result, (list, tuple)) else [result], types)]
    if isinstance(result, np.generic):
        result = np.asarray(result)
    return _convert(result, dtypes.as_dtype(types))


def tf_print(*inputs: Any, **kwargs: Any) -> Any:
    """Values as TensorFlow prints them: the first and last three of each axis, no commas."""
    import sys

    if not context.outside_graph():
        return _print_later(inputs, **kwargs)
    stream = kwargs.get("output_stream", sys.stderr)
    summarize = kwargs.get("summarize", 3)
    text = kwargs.get("sep", " ").join(_printed(v, summarize) for v in inputs) + kwargs.get("end", "\n")
    if isinstance(stream, str) and stream.startswith("file://"):
        with open(stream.removeprefix("file://"), "a", encoding="utf-8") as file:
            file.write(text)
        return
    stream = {"stdout": sys.stdout, "stderr": sys.stderr}.get(stream, stream) if isinstance(stream, str) else stream
    if not hasattr(stream, "write"):
        raise ValueError(f"Unsupported output stream, logging level, or file: {stream}.")
    stream.write(text)
    stream.flush()


def _print_later(inputs: Any, output_stream: Any = None, summarize: int = 3, sep: str = " ", end: str = "\n", name: str | None = None) -> Any:
    """In a graph: an operation prints whenever it runs."""
    import sys

    from emplace.framework import gen

    tensors: list[Any] = []

    def text(value: Any, top: bool = True) -> str:
        if isinstance(value, dict):
            return "{" + ", ".join(f"{k!r}: {text(v, False)}" for k, v in value.items()) + "}"
        if isinstance(value, (list, tuple)):
            inner = ", ".join(text(v, False) for v in value)
            return f"[{inner}]" if isinstance(value, list) else f"({inner}{',' * (len(value) == 1)})"
        if isinstance(value, ops.Tensor) or hasattr(value, "_dense_var_to_tensor"):
            tensors.append(_convert(value))
            return "{}"
        return str(value) if top or not isinstance(value, str) else repr(value)

    template = sep.join(text(v) for v in inputs)
    said = gen.apply("StringFormat", [tensors], {"template": template, "placeholder": "{}", "summarize": summarize})
    streams = {sys.stdout: "stdout", sys.stderr: "stderr", None: "stderr"}
    stream = streams.get(output_stream, output_stream) if not isinstance(output_stream, str) else output_stream
    return gen.apply("PrintV2", [said], {"output_stream": stream, "end": end})


def _ragged_text(row: Any) -> str:
    if isinstance(row, list):
        return f"[{', '.join(_ragged_text(v) for v in row)}]"
    if isinstance(row, bytes):
        return f"'{row.decode('utf-8', 'replace')}'"
    return f"{row:.6f}" if isinstance(row, float) else str(row)


def _printed(value: Any, summarize: int, inside: bool = False) -> str:
    if isinstance(value, str):
        return repr(value) if inside else value
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k!r}: {_printed(v, summarize, True)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        inner = ", ".join(_printed(v, summarize, True) for v in value)
        return f"[{inner}]" if isinstance(value, list) else f"({inner}{',' * (len(value) == 1)})"
    if hasattr(value, "dense_shape") and hasattr(value, "_parts"):
        parts = (f"{n}={_printed(t, summarize)}" for n, t in zip(("indices", "values", "shape"), value._parts()))
        return f"'SparseTensor({', '.join(parts)})'"
    if hasattr(value, "row_splits"):
        return f"[{', '.join(_ragged_text(row) for row in value.to_list())}]"
    if hasattr(value, "_dense_var_to_tensor") or hasattr(value, "numpy"):
        from emplace.framework import string_ops

        return string_ops.string_format("{}", [_convert(value)], summarize=summarize).numpy().decode()
    return str(value)
