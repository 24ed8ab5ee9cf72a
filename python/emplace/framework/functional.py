"""tf.map_fn, tf.foldl, tf.foldr, tf.scan: loops over the first axis."""

from __future__ import annotations

from typing import Any

from emplace.eager import nest
from emplace.framework import array_ops, constant_op, ops
from emplace.framework.ops import name_scope
from emplace.framework import tensor_array_ops
from emplace.framework import while_loop as while_loops


def _in_function() -> bool:
    return bool(ops._default_graphs.stack) and ops._default_graphs.stack[-1]._captures


def TensorArray(*args: Any, **kwargs: Any) -> Any:  # noqa: N802
    """The graph's kind, or that of functions."""
    if _in_function():
        from emplace.eager import tensor_array

        return tensor_array.TensorArray(*args, **kwargs)
    return tensor_array_ops.TensorArray(*args, **kwargs)


def while_loop(*args: Any, **kwargs: Any) -> Any:
    if _in_function():
        from emplace.eager.functions import flow

        return flow.while_loop(*args, **kwargs)
    return while_loops.while_loop(*args, **kwargs)


def _elements(elems: Any) -> list[Any]:
    found = [ops.convert_to_tensor(e, name="elem") for e in nest.flatten(elems)]
    for e in found:
        if e.shape.rank == 0:
            raise ValueError("Elements in elems must be 1+ dimensional Tensors, not scalars")
    return found


def _count(elems: list[Any]) -> Any:
    first = elems[0].shape.as_list()[0] if elems[0].shape.rank is not None else None
    return array_ops.shape(elems[0])[0] if first is None else first


def _arrays(elems: list[Any], n: Any) -> list[Any]:
    made = [TensorArray(e.dtype.base_dtype, size=n, dynamic_size=False, infer_shape=True) for e in elems]
    return [array.unstack(e) for array, e in zip(made, elems)]


def _leading(elems: list[Any]) -> Any:
    """How many elements, if it is known."""
    sizes = {e.shape.as_list()[0] for e in elems if e.shape.rank is not None} - {None}
    if len(sizes) > 1:
        raise ValueError(f"elements differ in their first axis: {sorted(sizes)}")
    return sizes.pop() if sizes else None


def map_fn(
    fn: Any, elems: Any, dtype: Any = None, parallel_iterations: int | None = None, back_prop: bool = True, swap_memory: bool = False,
    infer_shape: bool = True, name: str | None = None, fn_output_signature: Any = None,
) -> Any:
    """`fn` of each element, stacked."""
    if not callable(fn):
        raise TypeError(f"The provided function {getattr(fn, '__name__', fn)} is not callable.")
    kinds = fn_output_signature if fn_output_signature is not None else dtype
    with name_scope(name, "map", nest.flatten(elems)):
        flat = _elements(elems)
        if kinds is None:
            kinds = nest.pack_sequence_as(elems, [e.dtype.base_dtype for e in flat])
        n = _count(flat)
        inputs = _arrays(flat, n)
        start = constant_op.constant(0)
        out = [TensorArray(k, size=n, dynamic_size=False, infer_shape=infer_shape) for k in nest.flatten(kinds)]

        def body(i: Any, arrays: Any) -> Any:
            value = fn(nest.pack_sequence_as(elems, [a.read(i) for a in inputs]))
            nest.assert_same_structure(kinds, value)
            written = [a.write(i, v) for a, v in zip(arrays, nest.flatten(value))]
            return i + 1, written

        _, out = while_loop(
            lambda i, _: i < n, body, (start, out), parallel_iterations=parallel_iterations or 10, back_prop=back_prop,
            swap_memory=swap_memory, maximum_iterations=n,
        )
        results = [a.stack() for a in out]
        known = _leading(flat)
        for r in results:
            if r.shape.rank is not None:
                r.set_shape([known, *r.shape.as_list()[1:]])
        return nest.pack_sequence_as(kinds, results)


def _fold(fn: Any, elems: Any, initializer: Any, parallel_iterations: int, back_prop: bool, swap_memory: bool, name: str | None, word: str, reverse: bool) -> Any:
    if not callable(fn):
        raise TypeError(f"{getattr(fn, '__name__', fn)} is not callable.")
    with name_scope(name, word, nest.flatten(elems)):
        flat = _elements(elems)
        n = _count(flat)
        arrays = _arrays(flat, n)
        read = lambda i: nest.pack_sequence_as(elems, [a.read(i) for a in arrays])  # noqa: E731
        if not reverse:
            value = read(0) if initializer is None else initializer
            start = constant_op.constant(1 if initializer is None else 0)

            def step(i: Any, a: Any) -> Any:
                new = fn(a, read(i))
                return [i + 1, new]

            _, out = while_loop(
                lambda i, a: i < n, step, [start, value], parallel_iterations=parallel_iterations, back_prop=back_prop,
                swap_memory=swap_memory, maximum_iterations=n,
            )
            return out
        start, value = n, initializer
        if initializer is None:
            start = n - 1
            value = read(start)

        def back(i: Any, a: Any) -> Any:
            i -= 1
            return [i, fn(a, read(i))]

        _, out = while_loop(
            lambda i, a: i > 0, back, [start, value], parallel_iterations=parallel_iterations, back_prop=back_prop,
            swap_memory=swap_memory, maximum_iterations=n,
        )
        return out


def foldl(fn: Any, elems: Any, initializer: Any = None, parallel_iterations: int = 10, back_prop: bool = True, swap_memory: bool = False, name: str | None = None) -> Any:
    """Folds the rows of `elems` from the first: `fn(so_far, row)`, beginning with `initializer` or the first row."""
    return _fold(fn, elems, initializer, parallel_iterations, back_prop, swap_memory, name, "foldl", False)


def foldr(fn: Any, elems: Any, initializer: Any = None, parallel_iterations: int = 10, back_prop: bool = True, swap_memory: bool = False, name: str | None = None) -> Any:
    """Folds the rows of `elems` from the last: `fn(so_far, row)`, beginning with `initializer` or the last row."""
    return _fold(fn, elems, initializer, parallel_iterations, back_prop, swap_memory, name, "foldr", True)


def scan(
    fn: Any, elems: Any, initializer: Any = None, parallel_iterations: int = 10, back_prop: bool = True, swap_memory: bool = False,
    infer_shape: bool = True, reverse: bool = False, name: str | None = None,
) -> Any:
    """All the values a fold goes through."""
    if not callable(fn):
        raise TypeError(f"{getattr(fn, '__name__', fn)} is not callable.")
    with name_scope(name, "scan", nest.flatten(elems)):
        flat = _elements(elems)
        n = _count(flat)
        arrays = _arrays(flat, n)
        shape_like = elems if initializer is None else initializer
        if initializer is None:
            values = [a.read(n - 1 if reverse else 0) for a in arrays]
            start = 1
        else:
            values, start = [ops.convert_to_tensor(v) for v in nest.flatten(initializer)], 0
        out = [TensorArray(v.dtype.base_dtype, size=n, element_shape=v.shape if infer_shape else None, dynamic_size=False, infer_shape=infer_shape) for v in values]
        if initializer is None:
            out = [a.write(n - 1 if reverse else 0, v) for a, v in zip(out, values)]

        def body(i: Any, current: Any, kept: Any) -> Any:
            item = nest.pack_sequence_as(elems, [a.read(i) for a in arrays])
            new = fn(nest.pack_sequence_as(shape_like, current), item)
            nest.assert_same_structure(shape_like, new)
            flat_new = [ops.convert_to_tensor(v) for v in nest.flatten(new)]
            kept = [a.write(i, v) for a, v in zip(kept, flat_new)]
            return (i - 1 if reverse else i + 1), flat_new, kept

        first = n - 1 - start if reverse else start
        holds = (lambda i, *_: i >= 0) if reverse else (lambda i, *_: i < n)
        _, _, out = while_loop(
            holds, body, (first, values, out), parallel_iterations=parallel_iterations, back_prop=back_prop, swap_memory=swap_memory,
            maximum_iterations=n,
        )
        results = [a.stack() for a in out]
        known = _leading(flat)
        for r in results:
            if r.shape.rank is not None:
                r.set_shape([known, *r.shape.as_list()[1:]])
        return nest.pack_sequence_as(shape_like, results)
