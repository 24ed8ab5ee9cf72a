"""`from_generator`: a Python generator behind operations that call it for the next element."""

from __future__ import annotations

import threading
from typing import Any, Iterator

import numpy as np

from emplace.eager import context, nest, tensor_spec
from emplace.eager.datasets import functions, structure
from emplace.framework import constant_op, dtypes, ops, py_functions, tensor_shape


def signature(generator: Any, output_types: Any, output_shapes: Any, output_signature: Any) -> Any:
    """The specs of what it yields."""
    if not callable(generator):
        raise TypeError("`generator` must be a Python callable.")
    if output_signature is not None:
        if output_types is not None:
            raise TypeError("The `output_types` argument can not be used together with the `output_signature` argument.")
        if output_shapes is not None:
            raise TypeError("The `output_shapes` argument can not be used together with the `output_signature` argument.")
        for spec in nest.flatten(output_signature):
            if not isinstance(spec, tensor_spec.TypeSpec):
                raise TypeError(f"`output_signature` must contain objects that are subclass of `tf.TypeSpec` but found {type(spec)} which is not.")
        return output_signature
    if output_types is None:
        raise TypeError("To specify the output signature you need to provide either the `output_signature` argument or the `output_types` argument.")
    return of_types(output_types, output_shapes)


def of_types(types: Any, shapes: Any) -> Any:
    """Specs in the structure of the dtypes; shapes in that structure too, None for what is open."""
    if isinstance(types, dict):
        return type(types)((k, of_types(t, None if shapes is None else shapes[k])) for k, t in types.items())
    if isinstance(types, tuple):
        inner = [of_types(t, None if shapes is None else s) for t, s in zip(types, types if shapes is None else shapes)]
        return type(types)(*inner) if hasattr(types, "_fields") else tuple(inner)
    return tensor_spec.TensorSpec(tensor_shape.as_shape(shapes), types)


class _Running:
    """The generators that iterators go through, by number. Threads that share one take turns."""

    def __init__(self, generator: Any, spec: Any) -> None:
        self._generator, self._spec = generator, spec
        self._lock = threading.Lock()
        self._open: dict[int, tuple[Any, Iterator[Any]]] = {}
        self._args: dict[int, Any] = {}
        self._next = 0

    def begin(self, *args: Any) -> Any:
        with self._lock:
            at, self._next = self._next, self._next + 1
            self._args[at] = args
        return np.int64(at)

    def _opened(self, at: int) -> tuple[Any, Iterator[Any]]:
        with self._lock:
            if at not in self._open:
                self._open[at] = threading.Lock(), iter(self._generator(*self._args.pop(at, ())))
            return self._open[at]

    def _next_of(self, at: Any) -> Any:
        lock, items = self._opened(int(at))
        with lock:
            try:
                return next(items)
            except StopIteration:
                raise StopIteration("Iteration finished.") from None

    def take(self, at: Any) -> list[Any]:
        return [np.asarray(v) for v in _flattened(self._next_of(at), self._spec)]

    def end(self, at: Any) -> Any:
        with self._lock:
            self._args.pop(int(at), None)
            self._open.pop(int(at), None)
        return np.int64(0)


def _flattened(element: Any, spec: Any) -> list[Any]:
    """The arrays of what was yielded, which must fit the specs."""
    if not nest.is_nested(spec):
        return [_array(element, spec, element, spec)]
    element = tuple(element) if isinstance(element, list) and isinstance(spec, tuple) else element
    found: list[Any] = []
    _pair(element, spec, found, element, spec)
    return [_array(v, s, element, spec) for v, s in found]


def _pair(value: Any, spec: Any, found: list[Any], whole: Any, whole_spec: Any) -> None:
    if isinstance(spec, dict) and isinstance(value, dict) and set(value) == set(spec):
        for key in nest._keys(spec):
            _pair(value[key], spec[key], found, whole, whole_spec)
    elif isinstance(spec, tuple) and isinstance(value, (tuple, list)) and len(value) == len(spec):
        for v, s in zip(value, spec):
            _pair(v, s, found, whole, whole_spec)
    elif not nest.is_nested(spec):
        found.append((value, spec))
    else:
        raise _unfitting(whole, whole_spec)


def _unfitting(element: Any, spec: Any) -> TypeError:
    return TypeError(f"`generator` yielded an element that did not match the expected structure. The expected structure was {spec}, but the yielded element was {element}.")


def _array(value: Any, spec: Any, whole: Any, whole_spec: Any) -> np.ndarray:
    try:
        if isinstance(value, ops.Tensor):
            value = value.numpy()
        if spec.dtype == dtypes.string:
            made = _text(value)
        else:
            made = np.asarray(value, order="C")
            if made.dtype.kind in "SUO":
                raise TypeError
            made = constant_op.held(made, spec.dtype, copy=False)
    except (TypeError, ValueError):
        said = f"The expected type was {spec.dtype.name}, but the yielded element was {value}."
        raise TypeError(f"`generator` yielded an element that could not be converted to the expected type. {said}") from None
    if not spec.shape.is_compatible_with(made.shape):
        raise TypeError(f"`generator` yielded an element of shape {made.shape} where an element of shape {spec.shape} was expected.")
    return made


def _text(value: Any) -> np.ndarray:
    made = np.asarray(value)
    if made.dtype.kind not in "SUO" or made.dtype.kind == "O" and not all(isinstance(v, (str, bytes)) for v in made.reshape(-1)):
        raise TypeError
    return np.asarray(value, dtype=object, order="C")


def dataset(owner: Any, generator: Any, spec: Any, args: Any, name: str | None) -> Any:
    """One element, for which an iterator begins the generator anew."""
    given = [ops.convert_to_tensor(v, name="args") for v in args or ()]
    plain = all(isinstance(s, tensor_spec.TensorSpec) for s in nest.flatten(spec))
    running = _Running(generator, spec) if plain else _OfComposites(generator, spec)
    kinds = structure.flat_kinds(spec)

    def get_iterator_id_fn(_: Any) -> Any:
        made = py_functions.py_func(running.begin, given, dtypes.int64)
        made.set_shape([])
        return made

    def generator_next_fn(at: Any) -> Any:
        make = py_functions.py_func if plain else py_functions.py_function
        made = make(running.take, [at], [k.dtype for k in kinds])
        for t, k in zip(made, kinds):
            t.set_shape(k.shape)
        return structure.from_tensors(spec, made)

    def finalize_fn(at: Any) -> Any:
        made = py_functions.py_func(running.end, [at], dtypes.int64)
        made.set_shape([])
        return made

    def flat_map_fn(first: Any) -> Any:
        begin = functions.Traced(get_iterator_id_fn, "Dataset_from_generator", structure.spec_of(first))
        following = functions.Traced(generator_next_fn, "Dataset_from_generator", begin.spec)
        end = functions.Traced(finalize_fn, "Dataset_from_generator", begin.spec)
        names = dict(init_func=begin.name, next_func=following.name, finalize_func=end.name)
        inputs = [[first, *begin.captured], following.captured, end.captured]
        return owner._made("_GeneratorDataset", "GeneratorDataset", inputs, spec, functions=[begin, following, end], name=name, **names)

    return owner.from_tensors(0, name=name).flat_map(flat_map_fn, name=name)


class _OfComposites(_Running):
    """Of elements that are not tensors alone: they are taken apart by eager operations."""

    def take(self, at: Any) -> list[Any]:
        element = self._next_of(at)
        with context.eager_mode():
            made = _fitted(element, self._spec)
            return structure.to_tensors(self._spec, made)


def _fitted(element: Any, spec: Any) -> Any:
    if isinstance(spec, dict):
        return {k: _fitted(element[k], s) for k, s in spec.items()}
    if isinstance(spec, tuple):
        if not isinstance(element, (tuple, list)) or len(element) != len(spec):
            raise _unfitting(element, spec)
        return tuple(_fitted(e, s) for e, s in zip(element, spec))
    if hasattr(spec, "_value_of"):
        made = spec._value_of(element)
    elif isinstance(spec, tensor_spec.TensorSpec):
        made = ops.convert_to_tensor(element, None if isinstance(element, ops.Tensor) else spec.dtype)
    else:
        return element
    if not spec.is_compatible_with(made):
        raise TypeError(f"`generator` yielded an element of {made!r} where an element of {spec} was expected.")
    return made
