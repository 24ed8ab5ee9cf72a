"""`tf.experimental.dispatch_for_api` and its like: a program's own functions in the place of public ones, where they are
given values of a program's own types.

A public function that has such targets gets a look at its arguments put before it (`_Api`); the others stay as they
are, and cost nothing more.
"""

from __future__ import annotations

import functools
import inspect
import types
import typing
from typing import Any, Callable

from emplace.eager import composite

_UNARY, _BINARY, _ASSERT = "unary elementwise", "binary elementwise", "binary elementwise assert"
_apis: dict[Any, "_Api"] = {}  # public function -> its targets
_elementwise: dict[str, dict[Any, Any]] = {_UNARY: {}, _BINARY: {}, _ASSERT: {}}  # types -> handler

_UNARY_APIS = """
zeros_like ones_like debugging.check_numerics math.abs math.softplus math.sign math.real math.imag math.angle math.round cast
saturate_cast math.sigmoid math.log_sigmoid math.conj math.reciprocal_no_nan math.erfinv math.ndtri math.erfcinv math.ceil math.sqrt
math.exp math.rsqrt math.acos math.floor bitwise.invert math.acosh math.asin math.asinh math.atan math.atanh math.cos math.cosh
math.digamma math.erf math.erfc math.expm1 math.is_finite math.is_inf math.is_nan math.lgamma math.log math.log1p math.logical_not
math.negative math.nextafter math.reciprocal math.rint math.sin math.sinh math.square math.tan math.tanh nn.relu6 nn.leaky_relu nn.gelu
nn.elu nn.relu nn.selu nn.softsign strings.regex_full_match strings.regex_replace strings.length strings.substr strings.to_number
strings.to_hash_bucket strings.as_string io.decode_base64 io.encode_base64 strings.lower strings.upper strings.unicode_transcode
strings.strip strings.to_hash_bucket_fast strings.to_hash_bucket_strong strings.unicode_script math.special.dawsn math.special.expint
math.special.fresnel_cos math.special.fresnel_sin math.special.spence math.bessel_i0 math.bessel_i0e math.bessel_i1 math.bessel_i1e
math.special.bessel_k0 math.special.bessel_k0e math.special.bessel_k1 math.special.bessel_k1e math.special.bessel_j0
math.special.bessel_j1 math.special.bessel_y0 math.special.bessel_y1 clip_by_value nn.silu image.random_brightness
image.stateless_random_brightness image.adjust_brightness image.adjust_gamma image.convert_image_dtype io.decode_compressed
"""
_BINARY_APIS = """
math.divide math.multiply math.subtract math.scalar_mul math.pow dtypes.complex math.truediv math.divide_no_nan math.multiply_no_nan
math.floordiv math.logical_xor math.equal math.not_equal math.add math.xdivy math.xlog1py bitwise.bitwise_and bitwise.bitwise_or
bitwise.bitwise_xor bitwise.left_shift bitwise.right_shift math.atan2 math.floormod math.greater math.greater_equal math.less
math.less_equal math.logical_and math.logical_or math.maximum math.minimum realdiv math.squared_difference truncatediv truncatemod
math.xlogy math.zeta nn.sigmoid_cross_entropy_with_logits
"""
_ASSERT_APIS = " ".join(f"debugging.assert_{word}" for word in ("equal", "none_equal", "near", "less", "less_equal", "greater", "greater_equal"))
_LISTS = {_UNARY: _UNARY_APIS, _BINARY: _BINARY_APIS, _ASSERT: _ASSERT_APIS}

# The public function that stands behind an operator of tensors.
_OPERATORS = {
    "__add__": "math.add", "__sub__": "math.subtract", "__mul__": "math.multiply", "__truediv__": "math.truediv",
    "__floordiv__": "math.floordiv", "__mod__": "math.floormod", "__pow__": "math.pow", "__matmul__": "linalg.matmul",
    "__lt__": "math.less", "__le__": "math.less_equal", "__gt__": "math.greater", "__ge__": "math.greater_equal",
    "__and__": "math.logical_and", "__or__": "math.logical_or", "__xor__": "math.logical_xor",
}  # fmt: skip


# ---- Which values fit an annotation.

_NO, _FITS, _ASKS = range(3)  # _ASKS: fits, and is of a type that functions are looked up for


def _check_annotation(annotation: Any) -> None:
    origin, args = typing.get_origin(annotation), typing.get_args(annotation)
    if args and (origin is typing.Union or origin is types.UnionType or origin is list):
        for a in args:
            _check_annotation(a)
    elif not isinstance(annotation, type):
        raise ValueError(
            f"Type annotation {annotation} is not currently supported by dispatch.  Supported annotations: type objects,  List[...], and Union[...]"
        )


def _fit(value: Any, annotation: Any) -> int:
    origin = typing.get_origin(annotation)
    if origin is None:
        if not isinstance(value, annotation):
            return _NO
        return _ASKS if isinstance(value, composite.Composite) else _FITS
    args = typing.get_args(annotation)
    if origin is list:
        found = [_fit(v, args[0]) for v in value] if isinstance(value, (list, tuple)) else [_NO]
        return _NO if _NO in found else max(found, default=_FITS)
    return max(_fit(value, a) for a in args)


def _may_ask(values: Any) -> bool:
    return any(isinstance(v, composite.Composite) or isinstance(v, (list, tuple)) and _may_ask(v) for v in values)


class _Api:
    """A public function and its targets: (annotations by parameter, what is called, whose it is)."""

    def __init__(self, public: Any) -> None:
        self.public, self.plain = public, public.__wrapped__
        found = inspect.signature(public)
        bare = [p.replace(annotation=inspect.Parameter.empty) for p in found.parameters.values()]
        self.signature = inspect.Signature(bare)
        self.targets: list[tuple[dict[str, Any], Callable[..., Any], Any]] = []

    def add(self, annotations: dict[str, Any], target: Callable[..., Any], owner: Any) -> None:
        if not self.targets:
            self.public._redirect(self)
        self.targets.append((annotations, target, owner))

    def remove(self, owner: Any) -> bool:
        kept = [t for t in self.targets if t[2] is not owner]
        gone, self.targets = len(kept) < len(self.targets), kept
        if gone and not kept:
            self.public._redirect(self.plain)
        return gone

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not _may_ask(args) and not _may_ask(kwargs.values()):
            return self.plain(*args, **kwargs)
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError:
            return self.plain(*args, **kwargs)
        fitting = []
        for annotations, target, _ in self.targets:
            fits = [_fit(bound.arguments[n], a) if n in bound.arguments else _NO for n, a in annotations.items()]
            if fits and _NO not in fits and _ASKS in fits and target not in fitting:
                fitting.append(target)
        if len(fitting) > 1:
            raise ValueError(
                f"Multiple dispatch targets that were registered with tf.dispatch_for ({fitting[0]} and {fitting[1]}) match the arguments to "
                f"{self.public.__name__}"
            )
        result = fitting[0](*args, **kwargs) if fitting else NotImplemented
        return self.plain(*args, **kwargs) if result is NotImplemented else result


def _api(public: Any) -> _Api:
    if not hasattr(public, "_redirect"):
        raise ValueError(f"{public} does not support dispatch.")
    found = _apis.get(public)
    if found is None:
        found = _apis[public] = _Api(public)
    return found


# ---- One function.


def dispatch_for_api(api: Any, *signatures: Any) -> Any:
    """Decorates a function that takes over calls of `api` whose arguments fit a signature: a dict of types by the arguments'
    names, or the function's own annotations."""
    entry = _api(api)
    wanted = [_annotations(entry, s) for s in signatures]

    def decorator(target: Any) -> Any:
        found = wanted
        if not found:
            hints = {k: v for k, v in typing.get_type_hints(target).items() if k != "return"}
            if not hints:
                raise ValueError(
                    "The dispatch_for_api decorator must be called with at least one signature, or applied to a function "
                    "that has type annotations on its parameters."
                )
            found = [_annotations(entry, hints)]
        call = _checked(entry, target)
        for annotations in found:
            entry.add(annotations, call, target)
        return target

    return decorator


def _annotations(entry: _Api, signature: Any) -> dict[str, Any]:
    if not isinstance(signature, dict):
        raise TypeError("signatures must be dictionaries mapping parameter names to type annotations.")
    names, found = list(entry.signature.parameters), {}
    for key, annotation in signature.items():
        name = names[key] if isinstance(key, int) and key < len(names) else key
        if name not in names:
            raise ValueError(f"signature includes annotation for unknown parameter {name!r}.")
        _check_annotation(annotation)
        found[name] = annotation
    return found


def _checked(entry: _Api, target: Any) -> Any:
    """The target as it is called; one without `name` is called without."""
    given = inspect.signature(target)
    bare = given.replace(
        parameters=[p.replace(annotation=inspect.Parameter.empty) for p in given.parameters.values()], return_annotation=inspect.Signature.empty
    )
    names, nameless = list(bare.parameters), "name" in entry.signature.parameters and "name" not in bare.parameters
    if nameless:
        bare = bare.replace(parameters=[*bare.parameters.values(), entry.signature.parameters["name"]])
    if [*names, *(["name"] if nameless else [])] != list(entry.signature.parameters):
        raise ValueError(f"Dispatch function's signature {bare} does not match API's signature {entry.signature}.")
    if not nameless:
        return target

    @functools.wraps(target)
    def call(*args: Any, **kwargs: Any) -> Any:
        bound = entry.signature.bind(*args, **kwargs)
        bound.arguments.pop("name", None)
        return target(*bound.args, **bound.kwargs)

    return call


# ---- Many at once.


def _everywhere(kind: str, count: int, kinds: Any, handler: Any) -> None:
    from emplace.eager import namespace

    key = kinds[0] if count == 1 else kinds
    if key in _elementwise[kind]:
        raise ValueError(f"A {kind} dispatch handler ({_elementwise[kind][key]}) has already been registered for {key}.")
    for annotation in kinds:
        _check_annotation(annotation)
    _elementwise[kind][key] = handler
    for path in _LISTS[kind].split():
        try:
            entry = _api(namespace.lookup(path))
        except AttributeError:  # the catalogue has no such operation
            continue
        names = list(entry.signature.parameters)[:count]
        entry.add(dict(zip(names, kinds)), _elementwise_target(entry, names, handler), handler)


def _elementwise_target(entry: _Api, names: list[str], handler: Any) -> Any:
    def elementwise_dispatch_target(*args: Any, **kwargs: Any) -> Any:
        rest = entry.signature.bind(*args, **kwargs).arguments
        operands = [rest.pop(n) for n in names]
        return handler(lambda *operands: entry.public(*operands, **rest), *operands)

    elementwise_dispatch_target.__qualname__ = f"elementwise_dispatch_target_for_{entry.public.__name__}"
    return elementwise_dispatch_target


def dispatch_for_unary_elementwise_apis(x_type: Any) -> Any:
    """Decorates a function `f(api, x)` that takes over all element-wise functions of one argument of `x_type`."""
    return lambda handler: (_everywhere(_UNARY, 1, (x_type,), handler), handler)[1]


def dispatch_for_binary_elementwise_apis(x_type: Any, y_type: Any) -> Any:
    """Decorates a function `f(api, x, y)` that takes over all element-wise functions of two arguments of these types."""
    return lambda handler: (_everywhere(_BINARY, 2, (x_type, y_type), handler), handler)[1]


def dispatch_for_binary_elementwise_assert_apis(x_type: Any, y_type: Any) -> Any:
    """Decorates a function `f(api, x, y)` that takes over `debugging.assert_equal` and its like for these types."""
    return lambda handler: (_everywhere(_ASSERT, 2, (x_type, y_type), handler), handler)[1]


def unregister_dispatch_for(dispatch_target: Any) -> None:
    """Takes back what a `dispatch_for_…` decorator did for a function."""
    gone = [entry.remove(dispatch_target) for entry in _apis.values()]
    for handlers in _elementwise.values():
        for key in [k for k, h in handlers.items() if h is dispatch_target]:
            del handlers[key]
    if not any(gone):
        raise ValueError(f"Function {dispatch_target} was not registered using a `@dispatch_for_*` decorator.")


def of_operator(name: str, value: Any) -> Any:
    """What an operator of a tensor does with a value it can't convert: Python asks the value's own, or a target is looked for."""
    path = _OPERATORS.get(name)
    if path is None:
        return None
    if hasattr(type(value), f"__r{name[2:]}"):
        return lambda x, y: NotImplemented
    from emplace.eager import namespace

    public = namespace.lookup(path)
    return public if public in _apis and _apis[public].targets else None
