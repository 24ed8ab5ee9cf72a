"""Functions of a SavedModel: which of its traces a call means, and the call."""

from __future__ import annotations

import collections.abc
import inspect
import re
from typing import Any

import numpy as np

from emplace.eager import context, function, function_types, nest, structured_values, tensor_spec, variables
from emplace.eager.func_graph import FuncGraph
from emplace.eager.structured_values import decoded
from emplace.framework import ops


class _out_of_plain_graphs:
    """What was loaded lives in eager code and in functions; a graph program that calls it gets values."""

    def __enter__(self) -> None:
        stack = ops._default_graphs.stack
        self._saved = stack if stack and not isinstance(stack[-1], FuncGraph) else None
        if self._saved is not None:
            ops._default_graphs.stack = []
            context._state.eager += 1

    def __exit__(self, *_: Any) -> None:
        if self._saved is not None:
            ops._default_graphs.stack = self._saved
            context._state.eager -= 1


class Concrete(function.ConcreteFunction):
    """One trace, whose results may be ragged or sparse."""

    def _call_flat(self, values: list[Any]) -> Any:
        return self._packed(self._structure, iter(self._results(values + self.captured_inputs)))

    def _packed(self, structure: Any, results: Any) -> Any:
        def leaf(spec: Any) -> Any:
            if not isinstance(spec, tensor_spec.TypeSpec):
                return spec
            value = structured_values.from_parts(spec, [next(results) for _ in range(structured_values.num_parts(spec))])
            if isinstance(spec, tensor_spec.TensorSpec) and isinstance(value, ops.SymbolicTensor):
                value.set_shape(spec.shape)
            return value

        return nest.map_structure(leaf, structure)


def concrete(loader: Any, name: str) -> Concrete:
    saved = loader.saved_concrete(name)
    graph = loader.library.fresh_body(name).graph
    outside = [loader.captured(i) for i in saved.bound_inputs]
    num_arguments = len(graph.inputs) - len(outside)
    for i, (value, inner) in enumerate(zip(outside, graph.inputs[num_arguments:])):
        graph.captured[i] = (value, inner, value)
    graph.variables = {id(v): v for v in (loader.objects[i] for i in saved.bound_inputs) if isinstance(v, variables.Variable)}
    args, kwargs = decoded(saved.canonicalized_input_signature)
    return Concrete(graph, num_arguments, decoded(saved.output_signature), (args, kwargs), name)


class Signature:
    """A function that is called by the names of its inputs and gives results by name."""

    def __init__(self, loader: Any, saved: Any) -> None:
        self._loader, self._saved = loader, saved

    @property
    def _concrete(self) -> Concrete:
        return self._loader.concrete(self._saved.concrete_function_name)

    @property
    def name(self) -> str:
        return self._saved.concrete_function_name

    def __getattr__(self, name: str) -> Any:
        return getattr(self._concrete, name)

    def _type(self) -> function_types.FunctionType:
        named = self._concrete.structured_input_signature[1]
        return function_types.FunctionType(inspect.Signature(), (), named, self._concrete.structured_outputs)

    def __repr__(self) -> str:
        return f"<ConcreteFunction {self._type()} at 0x{id(self):X}>"

    def __str__(self) -> str:
        return f"ConcreteFunction {self._type().pretty(self._concrete.graph.captures)}"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        names = list(self._saved.argument_keywords)
        made = self._concrete
        given = {**dict(zip(names, args)), **kwargs}
        missing, unknown = [n for n in names if n not in given], [n for n in given if n not in names]
        if missing or unknown or len(args) > max(1, self._saved.allowed_positional_arguments):
            why = f"missing a required argument: '{missing[0]}'" if missing else f"got an unexpected keyword argument '{unknown[0]}'" if unknown else "too many positional arguments"
            called = re.sub(r"^__inference_|_\d+$", "", self._saved.concrete_function_name)
            flat = f"missing required arguments: {', '.join(missing)}" if missing else f"got unexpected keyword arguments: {', '.join(unknown)}"
            if len(args) > len(names):
                flat = f"takes {len(names)} positional arguments, got {len(args)}"
            raise TypeError(
                f"{function_types.binding_error(why, args, kwargs, str(self._type()))}\n"
                f"Fallback to flat signature also failed due to: {called}({', '.join(names)}) {flat}."
            )
        with _out_of_plain_graphs():
            return made._call_flat([_tensor(given[n], p.dtype) for n, p in zip(names, made._arguments)])


def _tensor(value: Any, dtype: Any = None) -> Any:
    with context.eager_mode() if context.outside_graph() else function._nothing():
        return function._as_tensor(value, dtype)


class Function:
    """A `tf.function` that was saved: its traces are all there is of it."""

    def __init__(self, loader: Any, saved: Any) -> None:
        self._loader, self._saved = loader, saved
        spec = decoded(saved.function_spec.fullargspec)
        self._names = list(spec.args)[1 if saved.function_spec.is_method and spec.args else 0 :] if spec else []
        self._defaults = dict(zip(reversed(self._names), reversed(spec.defaults or ()))) if spec else {}
        self._keyword_defaults = dict(spec.kwonlydefaults or {}) if spec else {}
        self.input_signature = decoded(saved.function_spec.input_signature)

    @property
    def concrete_functions(self) -> list[Concrete]:
        return [self._loader.concrete(n) for n in self._saved.concrete_functions]

    def _canonical(self, args: Any, kwargs: Any) -> tuple[list[Any], dict[str, Any]]:
        bound, kwargs = list(args), dict(kwargs)
        for name in self._names[len(bound) :]:
            if name in kwargs:
                bound.append(kwargs.pop(name))
            elif name in self._defaults:
                bound.append(self._defaults[name])
            else:
                raise TypeError(f"missing a required argument: '{name}'")
        return bound, {**self._keyword_defaults, **kwargs}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self._saved.concrete_functions:
            raise ValueError("Found zero restored functions for caller function.")
        with _out_of_plain_graphs():
            made, values = self._chosen(*self._canonical(args, kwargs))
            return made._call_flat(values)

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> Concrete:
        if not args and not kwargs and len(self._saved.concrete_functions) == 1:
            return self._loader.concrete(self._saved.concrete_functions[0])
        return self._chosen(*self._canonical(args, kwargs))[0]

    def _chosen(self, args: list[Any], kwargs: dict[str, Any]) -> tuple[Concrete, list[Any]]:
        """The first trace that fits as it is, else the first that fits once values are converted."""
        for convert in (False, True):
            for name in self._saved.concrete_functions:
                expected = decoded(self._loader.saved_concrete(name).canonicalized_input_signature)
                values: list[Any] = []
                if _fits((tuple(expected[0]), expected[1]), (tuple(args), kwargs), convert, values):
                    return self._loader.concrete(name), values
        if self.input_signature is not None:
            pairs = [(tensor_spec.TensorSpec(a.shape, a.dtype, s.name), s) for a, s in zip(args, self.input_signature) if isinstance(a, ops.Tensor)]
            given, wanted = next((p for p in pairs if not p[1].is_compatible_with(p[0])), (tuple(args), self.input_signature))
            why = "too many positional arguments" if len(args) > len(self.input_signature) else f"Can not cast {given!r} to {wanted!r}"
            shown = ", ".join(f"{n}: {s!r}" for n, s in zip(self._names, self.input_signature))
            raise function_types.binding_error(why, tuple(args), kwargs, f"({shown})")
        raise ValueError(self._mismatch(args, kwargs))

    def _mismatch(self, args: list[Any], kwargs: dict[str, Any]) -> str:
        def text(positional: Any, named: Any) -> str:
            lines = "\n".join(f"    * {a!r}" for a in positional)
            return f"  Positional arguments ({len(positional)} total):\n{lines}\n  Keyword arguments: {named}"

        options = []
        for i, name in enumerate(self._saved.concrete_functions):
            expected = decoded(self._loader.saved_concrete(name).canonicalized_input_signature)
            options.append(f"Option {i + 1}:\n{text(*expected)}")
        return (
            f"Could not find matching concrete function to call loaded from the SavedModel. Got:\n{text(args, kwargs)}\n\n"
            f" Expected these arguments to match one of the following {len(options)} option(s):\n\n" + "\n\n".join(options)
        )


def _fits(spec: Any, value: Any, convert: bool, out: list[Any]) -> bool:
    """Is the value what the spec says? Its tensors are added to `out`."""
    if isinstance(spec, tensor_spec.TensorSpec):
        return _fits_tensor(spec, value, convert, out)
    if isinstance(spec, tensor_spec.TypeSpec):
        if not hasattr(value, "_parts") or not spec.is_compatible_with(value):
            return False
        out.extend(value._parts())
        return True
    if isinstance(spec, collections.abc.Mapping):
        return isinstance(value, collections.abc.Mapping) and set(spec) == set(value) and all(_fits(spec[k], value[k], convert, out) for k in sorted(spec))
    if isinstance(spec, (list, tuple)):
        return isinstance(value, (list, tuple)) and len(spec) == len(value) and all(_fits(s, v, convert, out) for s, v in zip(spec, value))
    if isinstance(value, (ops.Tensor, np.ndarray, variables.Variable)) or hasattr(value, "_parts"):
        return False
    return bool(spec == value)


def _fits_tensor(spec: Any, value: Any, convert: bool, out: list[Any]) -> bool:
    if isinstance(value, tensor_spec.TensorSpec):
        return value.dtype == spec.dtype and spec.shape.is_compatible_with(value.shape)
    known = isinstance(value, (ops.Tensor, variables.Variable))
    if value is None or not known and not convert or hasattr(value, "_parts"):
        return False
    try:
        made = _tensor(value, None if known else spec.dtype)
    except (TypeError, ValueError):
        return False
    if made.dtype != spec.dtype or not spec.shape.is_compatible_with(made.shape):
        return False
    out.append(made)
    return True
