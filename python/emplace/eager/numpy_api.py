"""`tf.experimental.numpy`: NumPy's names over tensors, with NumPy's dtypes.

What has an operation here is differentiable and runs inside functions; the rest of NumPy's
functions is NumPy's own, run on the values.
"""

from __future__ import annotations

import builtins
import functools
import types
from typing import Any, TYPE_CHECKING

import numpy as np

from emplace.eager import context
from emplace.framework import array_ops, dtypes, index_values, linalg_ops, listing, math_ops, ops
from emplace.framework.dispatch import execute as _op

if TYPE_CHECKING:
    from emplace.framework.tensor import Tensor

ndarray = ops.Tensor
newaxis = None
pi, e, inf, nan = np.pi, np.e, np.inf, np.nan
_prefer_float32 = False


def experimental_enable_numpy_behavior(prefer_float32: bool = False, dtype_conversion_mode: str = "legacy") -> None:
    """Tensors get the methods of arrays."""
    global _prefer_float32
    _prefer_float32 = prefer_float32
    from emplace.eager import tensor

    members = {
        "T": property(lambda t: transpose(t)), "astype": lambda t, dtype: math_ops.cast(t, np.dtype(dtype) if not isinstance(dtype, dtypes.DType) else dtype),
        "ravel": lambda t: ravel(t), "transpose": lambda t, *axes: transpose(t, axes or None),
        "reshape": lambda t, *shape, **_: reshape(t, shape[0] if len(shape) == 1 else shape),
        "clip": lambda t, low, high: clip(t, low, high), "size": property(lambda t: size(t)), "tolist": lambda t: t.numpy().tolist(),
        "data": property(lambda t: t.numpy().data),
    }  # fmt: skip
    for kind in (tensor.EagerTensor, ops.SymbolicTensor):
        for name, member in members.items():
            setattr(kind, name, member)
        for word in _PROMOTED:
            plain = getattr(kind, word)
            if not hasattr(plain, "_promotes"):
                setattr(kind, word, _promoting(word, plain))


_PROMOTED = [f"__{r}{w}__" for w in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul") for r in ("", "r")]
_PROMOTED += ["__lt__", "__le__", "__gt__", "__ge__"]


def _promoting(word: str, plain: Any) -> Any:
    """The operator over what both are promoted to."""
    def operator(x: Any, y: Any) -> Any:
        plain_value = isinstance(y, (ops.Tensor, np.ndarray, np.generic, builtins.int, builtins.float, builtins.complex))
        wide = plain_value or hasattr(y, "_dense_var_to_tensor")
        if wide and x.dtype.name != "string" and getattr(y, "dtype", None) is not x.dtype:
            kind = result_type(x, y)
            x, y = _tensor(x, kind), _tensor(y, kind)
        return plain(x, y)

    operator.__name__ = word
    made = context.v2(operator)
    made._promotes = True
    return made


# ---- Dtypes.


def _kind(value: Any) -> Any:
    """As np.result_type takes it: plain numbers stay what they are."""
    if isinstance(value, (builtins.bool, builtins.int, builtins.float, builtins.complex)):
        return value
    if hasattr(value, "dtype"):
        return dtypes.as_dtype(value.dtype).as_numpy_dtype
    return np.asarray(value).dtype


def result_type(*values: Any) -> Any:
    found = np.result_type(*(_kind(v) for v in values))
    return np.dtype(np.float32) if _prefer_float32 and found == np.float64 else found


def _tensor(value: Any, dtype: Any = None) -> Any:
    if isinstance(value, ops.Tensor) or hasattr(value, "_dense_var_to_tensor"):
        value = ops.convert_to_tensor(value)
        return value if dtype is None else math_ops.cast(value, dtype)
    if isinstance(value, (list, tuple)) and builtins.any(isinstance(v, ops.Tensor) for v in value):
        return array_ops.stack([_tensor(v, dtype) for v in value])
    array = np.asarray(value, dtype if dtype is None else dtypes.as_dtype(dtype).as_numpy_dtype)
    if _prefer_float32 and array.dtype == np.float64 and dtype is None:
        array = array.astype(np.float32)
    return ops.convert_to_tensor(array)


def _same(*values: Any) -> list[Any]:
    kind = result_type(*values)
    return [_tensor(v, kind) for v in values]


def _floating(*values: Any) -> list[Any]:
    kind = result_type(*values)
    if kind.kind not in "fc":
        kind = np.dtype(np.float32) if _prefer_float32 else np.dtype(np.float64)
    return [_tensor(v, kind) for v in values]


def _public(function: Any) -> Any:
    globals()[function.__name__] = context.v2(function)
    return globals()[function.__name__]


# ---- One value after another.

_UNARY = {
    "abs": "Abs", "absolute": "Abs", "negative": "Neg", "sign": "Sign", "square": "Square", "conj": "Conj", "conjugate": "Conj",
}  # fmt: skip
_FLOAT = {
    "cos": "Cos", "cosh": "Cosh", "sin": "Sin", "sinh": "Sinh", "tan": "Tan", "tanh": "Tanh", "exp": "Exp", "expm1": "Expm1", "log": "Log",
    "log1p": "Log1p", "sqrt": "Sqrt", "ceil": "Ceil", "floor": "Floor", "rint": "Rint", "reciprocal": "Reciprocal", "arccos": "Acos",
    "arcsin": "Asin", "arctan": "Atan", "arccosh": "Acosh", "arcsinh": "Asinh", "arctanh": "Atanh", "isnan": "IsNan", "isinf": "IsInf",
    "isfinite": "IsFinite",
}  # fmt: skip
_BINARY = {
    "add": "AddV2", "subtract": "Sub", "multiply": "Mul", "maximum": "Maximum", "minimum": "Minimum", "equal": "Equal", "not_equal": "NotEqual",
    "less": "Less", "less_equal": "LessEqual", "greater": "Greater", "greater_equal": "GreaterEqual", "floor_divide": "FloorDiv", "mod": "FloorMod",
    "remainder": "FloorMod", "power": "Pow", "bitwise_and": "BitwiseAnd", "bitwise_or": "BitwiseOr", "bitwise_xor": "BitwiseXor",
}  # fmt: skip


def _define_elementwise() -> None:
    def unary(op: str, convert: Any) -> Any:
        return lambda x: _op(op, [convert(x)[0]], {})

    def binary(op: str, convert: Any) -> Any:
        return lambda x1, x2: _op(op, convert(x1, x2), {})

    made = {name: unary(op, _same) for name, op in _UNARY.items()}
    made |= {name: unary(op, _floating) for name, op in _FLOAT.items()}
    made |= {name: binary(op, _same) for name, op in _BINARY.items()}
    made |= {name: binary(op, _floating) for name, op in {"divide": "RealDiv", "true_divide": "RealDiv", "arctan2": "Atan2"}.items()}
    made |= {name: binary(op, lambda *v: [_tensor(x, np.bool_) for x in v]) for name, op in {"logical_and": "LogicalAnd", "logical_or": "LogicalOr"}.items()}
    for name, function in made.items():
        function.__name__ = function.__qualname__ = name
        function.__annotations__["return"] = "Tensor"
        globals()[name] = context.v2(function)


_define_elementwise()


@_public
def logical_not(x: Any) -> Tensor:
    return _op("LogicalNot", [_tensor(x, np.bool_)], {})


@_public
def clip(a: Any, a_min: Any, a_max: Any) -> Tensor:
    a, *limits = _same(*(v for v in (a, a_min, a_max) if v is not None))
    low = limits.pop(0) if a_min is not None else None
    a = a if low is None else _op("Maximum", [a, low], {})
    return a if a_max is None else _op("Minimum", [a, limits[0]], {})


@_public
def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    condition = _tensor(condition, np.bool_)
    if x is None and y is None:
        return nonzero(condition)
    return array_ops.where_v2(condition, *_same(x, y))


# ---- Making arrays.


@_public
def array(val: Any, dtype: Any = None, copy: Any = True, ndmin: int = 0) -> Tensor:
    made = _tensor(val, dtype)
    while made.shape.rank < ndmin:
        made = array_ops.expand_dims(made, 0)
    return array_ops.identity(made) if copy else made


@_public
def asarray(a: Any, dtype: Any = None) -> Tensor:
    return _tensor(a, dtype)


asanyarray = ascontiguousarray = asarray


def _default(dtype: Any) -> Any:
    return np.dtype(np.float32 if _prefer_float32 and dtype in (builtins.float, np.float64) else dtype) if not isinstance(dtype, dtypes.DType) else dtype


def _sizes(shape: Any) -> list[int]:
    return [int(d) for d in np.reshape(np.asarray(shape), -1)]


@_public
def zeros(shape: Any, dtype: Any = float) -> Tensor:
    return array_ops.zeros(_sizes(shape), _default(dtype))


@_public
def ones(shape: Any, dtype: Any = float) -> Tensor:
    return array_ops.ones(_sizes(shape), _default(dtype))


empty = zeros


@_public
def full(shape: Any, fill_value: Any, dtype: Any = None) -> Tensor:
    return _op("BroadcastTo", [_tensor(fill_value, dtype), _sizes(shape)], {})


@_public
def zeros_like(a: Any, dtype: Any = None) -> Tensor:
    a = _tensor(a)
    return array_ops.zeros(a.shape.as_list(), a.dtype if dtype is None else dtype)


@_public
def ones_like(a: Any, dtype: Any = None) -> Tensor:
    a = _tensor(a)
    return array_ops.ones(a.shape.as_list(), a.dtype if dtype is None else dtype)


@_public
def full_like(a: Any, fill_value: Any, dtype: Any = None) -> Tensor:
    a = _tensor(a)
    return full(a.shape.as_list(), fill_value, a.dtype if dtype is None else dtype)


empty_like = zeros_like


# ---- Shapes.


@_public
def reshape(a: Any, newshape: Any, order: str = "C") -> Tensor:
    return array_ops.reshape(_tensor(a), newshape if isinstance(newshape, ops.Tensor) else _sizes(newshape))


@_public
def ravel(a: Any) -> Tensor:
    return array_ops.reshape(_tensor(a), [-1])


@_public
def transpose(a: Any, axes: Any = None) -> Tensor:
    a = _tensor(a)
    axes = axes[0] if isinstance(axes, tuple) and len(axes) == 1 and isinstance(axes[0], (list, tuple)) else axes
    return array_ops.transpose(a, None if axes is None else _sizes(axes))


@_public
def swapaxes(a: Any, axis1: int, axis2: int) -> Tensor:
    a = _tensor(a)
    order = list(range(a.shape.rank))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return array_ops.transpose(a, order)


@_public
def moveaxis(a: Any, source: Any, destination: Any) -> Tensor:
    a = _tensor(a)
    froms, tos = ([index_values.axis(d, a.shape.rank) for d in _sizes(x)] for x in (source, destination))
    order = [d for d in range(a.shape.rank) if d not in froms]
    for to, at in sorted(zip(tos, froms)):
        order.insert(to, at)
    return array_ops.transpose(a, order)


@_public
def expand_dims(a: Any, axis: Any) -> Tensor:
    return array_ops.expand_dims(_tensor(a), axis)


@_public
def squeeze(a: Any, axis: Any = None) -> Tensor:
    return array_ops.squeeze(_tensor(a), axis)


@_public
def broadcast_to(array: Any, shape: Any) -> Tensor:  # noqa: A002
    return _op("BroadcastTo", [_tensor(array), _sizes(shape)], {})


@_public
def concatenate(arys: Any, axis: int = 0) -> Tensor:
    return array_ops.concat(_same(*arys), axis)


@_public
def stack(arrays: Any, axis: int = 0) -> Tensor:
    return array_ops.stack(_same(*arrays), axis)


@_public
def vstack(tup: Any) -> Tensor:
    return array_ops.concat([t if t.shape.rank > 1 else array_ops.reshape(t, [1, -1]) for t in _same(*tup)], 0)


@_public
def hstack(tup: Any) -> Tensor:
    parts = [t if t.shape.rank else array_ops.reshape(t, [1]) for t in _same(*tup)]
    return array_ops.concat(parts, 0 if parts[0].shape.rank == 1 else 1)


@_public
def tile(a: Any, reps: Any) -> Tensor:
    a, reps = _tensor(a), _sizes(reps)
    while a.shape.rank < len(reps):
        a = array_ops.expand_dims(a, 0)
    return _op("Tile", [a, [1] * (a.shape.rank - len(reps)) + reps], {})


@_public
def flip(m: Any, axis: Any = None) -> Tensor:
    m = _tensor(m)
    return _op("ReverseV2", [m, list(range(m.shape.rank)) if axis is None else _sizes(axis)], {})


@_public
def shape(a: Any) -> Any:
    return tuple(_tensor(a).shape.as_list())


@_public
def ndim(a: Any) -> int:
    return _tensor(a).shape.rank


@_public
def size(x: Any, axis: Any = None) -> Any:
    dims = _tensor(x).shape.as_list()
    return int(np.prod(dims, dtype=np.int64)) if axis is None else dims[axis]


@_public
def take(a: Any, indices: Any, axis: Any = None, out: Any = None, mode: str = "clip") -> Tensor:
    a = _tensor(a)
    return array_ops.gather(array_ops.reshape(a, [-1]) if axis is None else a, _tensor(indices), axis=axis or 0)


@_public
def nonzero(a: Any) -> Any:
    a = _tensor(a)
    places = _op("Where", [math_ops.not_equal(a, array_ops.zeros_like(a)) if a.dtype != dtypes.bool else a], {})
    return [places[:, i] for i in range(a.shape.rank)]


# ---- Many values to one.


def _reduction(name: str, inner: Any, convert: Any = _same) -> None:
    def reduce(a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = False) -> Tensor:
        a = convert(a)[0]
        if dtype is not None:
            a = math_ops.cast(a, _default(dtype))
        elif name in ("sum", "prod") and a.dtype in (dtypes.bool, dtypes.int8, dtypes.int16, dtypes.int32):
            a = math_ops.cast(a, dtypes.int64)
        return inner(a, None if axis is None else axis if isinstance(axis, builtins.int) else _sizes(axis), keepdims=builtins.bool(keepdims))

    reduce.__name__ = reduce.__qualname__ = name
    globals()[name] = context.v2(reduce)


for _name, _inner in {
    "sum": math_ops.reduce_sum, "prod": math_ops.reduce_prod, "max": math_ops.reduce_max, "amax": math_ops.reduce_max, "min": math_ops.reduce_min,
    "amin": math_ops.reduce_min,
}.items():  # fmt: skip
    _reduction(_name, _inner)
for _name, _inner in {"mean": math_ops.reduce_mean, "std": math_ops.reduce_std, "var": math_ops.reduce_variance}.items():
    _reduction(_name, _inner, _floating)
for _name, _inner in {"all": math_ops.reduce_all, "any": math_ops.reduce_any}.items():
    _reduction(_name, _inner, lambda a: [_tensor(a, np.bool_)])


@_public
def argmax(a: Any, axis: Any = None) -> Tensor:
    a = _tensor(a)
    return math_ops.argmax(array_ops.reshape(a, [-1]) if axis is None else a, axis or 0)


@_public
def argmin(a: Any, axis: Any = None) -> Tensor:
    a = _tensor(a)
    return math_ops.argmin(array_ops.reshape(a, [-1]) if axis is None else a, axis or 0)


@_public
def cumsum(a: Any, axis: Any = None, dtype: Any = None) -> Tensor:
    a = _tensor(a, dtype)
    return math_ops.cumsum(array_ops.reshape(a, [-1]) if axis is None else a, axis or 0)


@_public
def cumprod(a: Any, axis: Any = None, dtype: Any = None) -> Tensor:
    a = _tensor(a, dtype)
    return math_ops.cumprod(array_ops.reshape(a, [-1]) if axis is None else a, axis or 0)


# ---- Products.


@_public
def matmul(x1: Any, x2: Any) -> Tensor:
    a, b = _same(x1, x2)
    if a.shape.rank == b.shape.rank == 1:
        return math_ops.reduce_sum(a * b)
    if b.shape.rank == 1:
        return array_ops.squeeze(math_ops.matmul(a, array_ops.expand_dims(b, -1)), [-1])
    if a.shape.rank == 1:
        return array_ops.squeeze(math_ops.matmul(array_ops.expand_dims(a, 0), b), [-2])
    return math_ops.matmul(a, b)


@_public
def dot(a: Any, b: Any) -> Tensor:
    a, b = _same(a, b)
    if not a.shape.rank or not b.shape.rank:
        return a * b
    return math_ops.tensordot(a, b, [[-1 % a.shape.rank], [0 if b.shape.rank == 1 else b.shape.rank - 2]])


@_public
def outer(a: Any, b: Any) -> Tensor:
    a, b = _same(a, b)
    return array_ops.reshape(a, [-1, 1]) * array_ops.reshape(b, [1, -1])


@_public
def inner(a: Any, b: Any) -> Tensor:
    a, b = _same(a, b)
    return math_ops.tensordot(a, b, [[a.shape.rank - 1], [b.shape.rank - 1]]) if a.shape.rank and b.shape.rank else a * b


@_public
def tensordot(a: Any, b: Any, axes: Any = 2) -> Tensor:
    return math_ops.tensordot(*_same(a, b), axes)


@_public
def einsum(subscripts: str, *operands: Any, **_: Any) -> Tensor:
    return linalg_ops.einsum(subscripts, *_same(*operands))


# ---- The rest is NumPy's.


def _through_numpy(name: str) -> Any:
    original = getattr(np, name)

    @functools.wraps(original)
    def function(*args: Any, **kwargs: Any) -> Any:
        found = _back(original(*(_plain(a) for a in args), **{k: _plain(v) for k, v in kwargs.items()}))
        return list(found) if name == "meshgrid" else found

    return function


def finfo(dtype: Any) -> Any:
    """The limits of a floating-point dtype, ours too."""
    import ml_dtypes

    return ml_dtypes.finfo(_plain(dtype))


def iinfo(int_type: Any) -> Any:
    """The limits of an integer dtype, ours too."""
    return np.iinfo(_plain(int_type))


def _plain(value: Any) -> Any:
    if hasattr(value, "numpy") or hasattr(value, "_handle"):
        return value.numpy()
    if isinstance(value, ops.Tensor):
        raise NotImplementedError("this function of NumPy is not there for symbolic tensors: call it outside tf.function")
    if isinstance(value, dtypes.DType):
        return value.as_numpy_dtype
    return type(value)(_plain(v) for v in value) if isinstance(value, (list, tuple)) and not hasattr(value, "_fields") else value


def _back(value: Any) -> Any:
    if isinstance(value, (np.ndarray, np.generic, builtins.bool)):
        return context.v2(_tensor)(value)
    return type(value)(_back(v) for v in value) if type(value) in (list, tuple) else value


def __getattr__(name: str) -> Any:
    if name == "random":
        found: Any = _random()
    elif name.startswith("_") or not hasattr(np, name):
        raise AttributeError(f"module 'emplace.experimental.numpy' has no attribute '{name}'")
    else:
        found = getattr(np, name)
        if callable(found) and not isinstance(found, type):
            found = _through_numpy(name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    of_numpy = (n for n in dir(np) if not n.startswith("_") and not isinstance(getattr(np, n), types.ModuleType))
    return listing.of_module(globals(), ("random", *of_numpy))()


def _random() -> Any:
    """`tnp.random`, over the generator of `tf.random`."""
    from emplace.eager.functions import random as eager_random
    from emplace.framework import random_ops

    space = types.SimpleNamespace()
    kind = dtypes.float32 if _prefer_float32 else dtypes.float64

    def uniform(low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        drawn = random_ops.random_uniform(_sizes(() if size is None else size), dtype=kind)
        return _tensor(low, kind) + drawn * (_tensor(high, kind) - _tensor(low, kind))

    def normal(loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return _tensor(loc, kind) + _tensor(scale, kind) * random_ops.random_normal(_sizes(() if size is None else size), dtype=kind)

    def randint(low: Any, high: Any = None, size: Any = None, dtype: Any = np.int64) -> Any:
        low, high = (0, low) if high is None else (low, high)
        return random_ops.random_uniform(_sizes(() if size is None else size), low, high, dtypes.as_dtype(dtype))

    members = {
        "uniform": uniform, "normal": normal, "randint": randint, "randn": lambda *d: normal(size=d), "rand": lambda *d: uniform(size=d),
        "random": lambda size=None: uniform(size=size), "standard_normal": lambda size=None: normal(size=size), "seed": eager_random.set_seed,
        "poisson": lambda lam=1.0, size=None: math_ops.cast(eager_random.poisson(_sizes(() if size is None else size), lam), dtypes.int64),
    }  # fmt: skip
    for name, function in members.items():
        setattr(space, name, context.v2(function))
    return space


def _describe() -> None:
    """NumPy's own words are NumPy's: here it is only said whose meaning a function has."""
    for name, function in list(globals().items()):
        if isinstance(function, types.FunctionType) and not name.startswith("_") and not function.__doc__:
            function.__doc__ = f"What `numpy.{name}` gives, as a tensor: differentiable, and usable in functions."


_describe()
