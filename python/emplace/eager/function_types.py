"""What a function takes and gives, as TensorFlow prints it, and how calls are bound to it."""

from __future__ import annotations

import inspect
import weakref
from typing import Any

from emplace.eager import nest, tensor_spec
from emplace.framework import dtypes, ops, tensor_shape

_LITERALS = (type(None), bool, int, float, complex, str, bytes, dtypes.DType, tensor_shape.TensorShape)


def type_text(value: Any) -> str:
    """`TensorSpec(…)`, `Literal[3]`, `List[…]`."""
    if isinstance(value, tensor_spec.TypeSpec):
        return repr(value)
    if hasattr(value, "_type_spec"):
        return repr(value._type_spec)
    if isinstance(value, ops.Tensor):
        return repr(tensor_spec.TensorSpec(value.shape, value.dtype))
    if isinstance(value, dict):
        return f"Dict[{', '.join(f'[{k!r}, {type_text(v)}]' for k, v in value.items())}]"
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        fields = ", ".join(f"[{k!r}, {type_text(v)}]" for k, v in zip(value._fields, value))
        return f"{type(value).__name__}[{fields}]"
    if isinstance(value, (list, tuple)):
        return f"{type(value).__name__.capitalize()}[{', '.join(type_text(v) for v in value)}]"
    if isinstance(value, _LITERALS):
        return f"Literal[{value!r}]"
    try:
        return f"Weakref[{weakref.ref(value)}])"
    except TypeError:
        return f"Literal[{value!r}]"


def has_tensors(structure: Any) -> bool:
    return any(isinstance(leaf, tensor_spec.TypeSpec) for leaf in nest.flatten(structure))


class FunctionType:
    """Parameters: (name, kind, structure of specs and plain values); `output`: such a structure."""

    def __init__(self, signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        self.output = output
        self.parameters: list[tuple[str, Any, Any]] = []
        kinds = inspect.Parameter
        named = [p for p in signature.parameters.values() if p.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD)]
        variadic = any(p.kind is kinds.VAR_POSITIONAL for p in signature.parameters.values())
        for i, value in enumerate(args):
            kind = kinds.POSITIONAL_ONLY if variadic or i >= len(named) else named[i].kind
            name = named[i].name if i < len(named) else f"args_{i - len(named)}"
            self.parameters.append((name, kind, value))
        self.parameters += [(name, kinds.KEYWORD_ONLY, value) for name, value in kwargs.items()]

    def __str__(self) -> str:
        words = [f"{name}: {type_text(value)}" for name, _, value in self.parameters]
        if self.parameters and all(kind is inspect.Parameter.KEYWORD_ONLY for _, kind, _ in self.parameters):
            words.insert(0, "*")
        inside = ", ".join(words)
        return f"({inside}) -> {type_text(self.output)}"

    __repr__ = __str__

    def pretty(self, captures: list[tuple[Any, Any]]) -> str:
        rows = [f"  {name} ({kind.name}): {type_text(value)}" for name, kind, value in self.parameters]
        held = [f"  {id(outside)}: {_capture_text(inside)}" for outside, inside in captures]
        parts = ["Input Parameters:", *rows, "Output Type:", f"  {type_text(self.output)}"]
        return "\n".join([*parts, "Captures:", *(held or ["  None"])])

    def bound(self, args: Any, kwargs: dict[str, Any]) -> list[Any]:
        """A value for each parameter. What is no tensor may be left out, and must be the same."""
        shown = inspect.Signature(
            [
                inspect.Parameter(n, kind, default=inspect.Parameter.empty if has_tensors(v) else v)
                for n, kind, v in _defaults_last(self.parameters)
            ]
        )
        given = shown.bind(*args, **kwargs)
        given.apply_defaults()
        values = []
        for name, _, wanted in self.parameters:
            value = given.arguments[name]
            if not has_tensors(wanted) and value is not wanted and value != wanted:
                raise TypeError(f"Can not cast {value!r} to {type_text(wanted)}")
            values.append(value)
        return values


def _defaults_last(parameters: list[tuple[str, Any, Any]]) -> list[tuple[str, Any, Any]]:
    """Positional ones that may be left out can't stand before one that may not: such are asked for."""
    kept, late = [], False
    for name, kind, value in reversed(parameters):
        positional = kind is not inspect.Parameter.KEYWORD_ONLY
        if positional and late and not has_tensors(value):
            value = tensor_spec.TypeSpec()  # stands for "must be given"
        late = late or positional and has_tensors(value)
        kept.append((name, kind, value))
    return kept[::-1]


def _capture_text(inside: Any) -> str:
    return repr(tensor_spec.TensorSpec([] if inside.dtype == dtypes.resource else inside.shape, inside.dtype))


def signature_text(signature: inspect.Signature, specs: Any) -> str:
    """`(x: TensorSpec(…), y: … = <captured_default_value>)`; without specs the names alone."""
    words = []
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    for i, p in enumerate(signature.parameters.values()):
        word = stars.get(p.kind, "") + p.name
        if specs is not None and i < len(specs):
            word += f": {type_text(specs[i])}"
        if p.default is not inspect.Parameter.empty:
            word += " = <captured_default_value>" if ":" in word else "=<captured_default_value>"
        words.append(word)
    return f"({', '.join(words)})"


def binding_error(why: Any, args: Any, kwargs: Any, signature: str) -> TypeError:
    return TypeError(f"Binding inputs to tf.function failed due to `{why}`. Received args: {args} and kwargs: {kwargs} for signature: {signature}.")


def check_input_signature(specs: Any, signature: inspect.Signature) -> None:
    wrong = [s for s in nest.flatten(specs) if not isinstance(s, tensor_spec.TypeSpec)]
    if wrong:
        raise TypeError(
            "input_signature must be a possibly nested sequence of TensorSpec objects, got invalid args "
            f"{wrong} with types {[type(w) for w in wrong]}."
        )
    kinds = inspect.Parameter
    named = [p for p in signature.parameters.values() if p.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD)]
    if named and named[0].name == "self":  # a method: bound when it is asked for
        named = named[1:]
    if len(specs) > len(named) and not any(p.kind is kinds.VAR_POSITIONAL for p in signature.parameters.values()):
        raise TypeError(f"input_signature contains {len(specs) - len(named)} extra type constraints.")
    for p in named[len(specs) :]:
        if p.default is kinds.empty:
            raise TypeError(f"input_signature missing type constraint for {p.name}")


def wrong_dtype(name: str, i: int, wanted: Any, given: Any) -> str:
    words = [dtypes.engine_name(d) for d in (wanted, given)]
    return f"cannot compute {name} as input #{i}(zero-based) was expected to be a {words[0]} tensor but is a {words[1]} tensor [Op:{name}]"


def part_specs(composite: Any) -> list[Any]:
    """Specs of a composite's tensors; how many values there are is left open."""
    if hasattr(composite, "_part_specs"):
        return composite._part_specs()
    specs = []
    for i, t in enumerate(composite._parts()):
        dims = t.shape.as_list()
        open_ended = i < 2 if hasattr(composite, "dense_shape") else i != 1
        specs.append(tensor_spec.TensorSpec([None, *dims[1:]] if open_ended and dims else dims, t.dtype))
    return specs
