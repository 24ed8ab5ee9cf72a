"""The conformance table: operations and what NumPy or SciPy says they give.

A new row is a line here; values, shapes, dtypes and devices come from cases.py, the comparison from
test_table.py. References get float64 (or whole) arrays that hold just what the operation got.
"""

from __future__ import annotations

from typing import Any, Callable, NamedTuple

import numpy as np
import scipy.special as sp

FLOATS = ("float32", "float64", "float16", "bfloat16")
WIDE = ("float32", "float64")
COMPLEX = ("complex64", "complex128")
INTS = ("int8", "int16", "int32", "int64", "uint8")
SIGNED = ("int8", "int16", "int32", "int64")


class Row(NamedTuple):
    op: str
    reference: Callable[..., Any]
    dtypes: tuple[str, ...] = FLOATS
    domain: tuple[float, float] = (-4.0, 4.0)  # of what is drawn
    specials: bool = True  # NaN, infinities, zeros of both signs too
    slack: float = 1.0  # times the tolerance of the dtype
    arguments: tuple[str, ...] = ("x", "y")  # their names; as many as the operation takes


def _rows(rows: dict[str, Any], dtypes: tuple[str, ...] = FLOATS, **more: Any) -> list[Row]:
    return [Row(op, f, dtypes, **more) for op, f in rows.items()]


_POSITIVE = (0.05, 6.0)

UNARY: list[Row] = [
    *_rows({
        "Abs": np.abs, "Neg": np.negative, "Sign": np.sign, "Square": np.square, "Floor": np.floor, "Ceil": np.ceil,
        "Round": np.round, "Reciprocal": np.reciprocal, "Inv": np.reciprocal,
    }),
    *_rows({"Relu": lambda x: np.maximum(x, 0), "Relu6": lambda x: np.clip(x, 0, 6)}, arguments=("features",)),
    *_rows({
        "Sqrt": np.sqrt, "Rsqrt": lambda x: 1 / np.sqrt(x), "Exp": np.exp, "Expm1": np.expm1, "Log": np.log,
        "Log1p": np.log1p, "Sin": np.sin, "Cos": np.cos, "Tanh": np.tanh, "Sinh": np.sinh, "Cosh": np.cosh,
        "Asinh": np.arcsinh, "Atan": np.arctan, "Sigmoid": sp.expit,
    }, slack=4),
    *_rows({"Rint": np.rint}, WIDE),
    *_rows({"Erf": sp.erf, "Erfc": sp.erfc}, specials=False, slack=4),  # TensorFlow's Erf of a double infinity is NaN
    *_rows({"Asin": np.arcsin, "Acos": np.arccos, "Atanh": np.arctanh}, domain=(-0.95, 0.95), slack=4),
    *_rows({"Acosh": np.arccosh}, domain=(1.1, 9.0), slack=4),
    *_rows({"Tan": np.tan}, domain=(-1.4, 1.4), slack=8),
    *_rows({"Erfinv": sp.erfinv}, WIDE, domain=(-0.95, 0.95), slack=8),
    *_rows({"Ndtri": sp.ndtri}, WIDE, domain=(0.02, 0.98), slack=8),
    *_rows({"Lgamma": sp.gammaln, "Digamma": sp.psi}, WIDE, domain=_POSITIVE, specials=False, slack=20),
    *_rows({
        "Softplus": lambda x: np.logaddexp(x, 0), "Softsign": lambda x: x / (1 + np.abs(x)),
        "Elu": lambda x: np.where(x > 0, x, np.expm1(x)),
        "Selu": lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x)),
        "LeakyRelu": lambda x: np.where(x > 0, x, np.float64(np.float32(0.2)) * x),  # its alpha is a float
    }, specials=False, slack=4, arguments=("features",)),
    *_rows({"BesselI0e": sp.i0e, "BesselI1e": sp.i1e}, WIDE, specials=False, slack=20),
    *_rows({"IsNan": np.isnan, "IsInf": np.isinf, "IsFinite": np.isfinite}),
    *_rows({"Abs": np.abs, "Neg": np.negative, "Sign": np.sign}, SIGNED, domain=(-100, 100)),
    *_rows({"Square": np.square}, ("int32", "int64"), domain=(-1000, 1000)),
    *_rows({"Invert": np.invert}, INTS, domain=(0, 100)),
    *_rows({"LogicalNot": np.logical_not}, ("bool",)),
    *_rows({"Neg": np.negative, "Square": np.square}, COMPLEX, specials=False),
    *_rows({"Conj": np.conj}, COMPLEX, specials=False, arguments=("input",)),
    *_rows({"Real": np.real, "Imag": np.imag}, ("complex64",), specials=False, arguments=("input",)),
    *_rows({"Exp": np.exp, "Sin": np.sin, "Cos": np.cos, "Sqrt": np.sqrt, "Tanh": np.tanh}, COMPLEX, specials=False, slack=20),
]

BINARY: list[Row] = [
    *_rows({
        "Add": np.add, "AddV2": np.add, "Sub": np.subtract, "Mul": np.multiply,
        "SquaredDifference": lambda x, y: np.conj(x - y) * (x - y),
    }, FLOATS + COMPLEX, specials=False),
    *_rows({"Add": np.add, "Sub": np.subtract, "Mul": np.multiply}),
    *_rows({"RealDiv": np.divide, "Div": np.divide}, slack=2),
    *_rows({"Maximum": np.maximum, "Minimum": np.minimum}),
    *_rows({"Atan2": np.arctan2}, WIDE, slack=4, arguments=("y", "x")),
    *_rows({"Pow": np.power}, WIDE, domain=_POSITIVE, specials=False, slack=20),
    *_rows({"FloorDiv": np.floor_divide}, WIDE, specials=False),
    *_rows({"FloorMod": np.mod}, WIDE, specials=False, slack=8),
    *_rows({"Xlogy": sp.xlogy, "Xlog1py": sp.xlog1py}, WIDE, domain=_POSITIVE, specials=False, slack=4),
    *_rows({
        "Xdivy": lambda x, y: np.where(x == 0, 0, x / y), "DivNoNan": lambda x, y: np.where(y == 0, 0, x / y),
        "MulNoNan": lambda x, y: np.where(y == 0, 0, x * y),
    }, WIDE, specials=False, slack=2),
    *_rows({"NextAfter": np.nextafter}, ("float64",), arguments=("x1", "x2")),
    *_rows({"Igamma": sp.gammainc, "Igammac": sp.gammaincc}, WIDE, domain=_POSITIVE, specials=False, slack=60, arguments=("a", "x")),
    *_rows({"Zeta": sp.zeta}, WIDE, domain=(1.5, 6.0), specials=False, slack=20, arguments=("x", "q")),
    *_rows({
        "Less": np.less, "LessEqual": np.less_equal, "Greater": np.greater, "GreaterEqual": np.greater_equal,
    }),
    *_rows({"Equal": np.equal, "NotEqual": np.not_equal}, FLOATS + COMPLEX),
    *_rows({
        "Less": np.less, "Greater": np.greater, "Equal": np.equal, "Maximum": np.maximum, "Minimum": np.minimum,
        "AddV2": np.add, "Sub": np.subtract, "Mul": np.multiply,
    }, INTS, domain=(0, 11)),
    *_rows({"FloorDiv": np.floor_divide, "FloorMod": np.mod}, SIGNED, domain=(1, 90)),
    *_rows({"TruncateDiv": lambda x, y: np.trunc(x / y), "TruncateMod": np.fmod}, ("int32", "int64"), domain=(1, 900)),
    *_rows({"BitwiseAnd": np.bitwise_and, "BitwiseOr": np.bitwise_or, "BitwiseXor": np.bitwise_xor}, INTS, domain=(0, 100)),
    *_rows({"LeftShift": np.left_shift, "RightShift": np.right_shift}, INTS, domain=(0, 3)),
    *_rows({"LogicalAnd": np.logical_and, "LogicalOr": np.logical_or}, ("bool",)),
]


class Reduction(NamedTuple):
    op: str
    reference: Callable[..., Any]
    dtypes: tuple[str, ...] = WIDE + ("int32", "int64")
    domain: tuple[float, float] = (-2.0, 2.0)
    slack: float = 40.0  # sums of many


REDUCTIONS = [
    Reduction("Sum", np.sum, FLOATS + ("int32", "int64")),
    Reduction("Prod", np.prod, WIDE + ("int32", "int64"), (0.8, 1.25), 400),
    Reduction("Max", np.max, FLOATS + INTS, (0, 9), 1),
    Reduction("Min", np.min, FLOATS + INTS, (0, 9), 1),
    Reduction("Mean", np.mean, WIDE),
    Reduction("All", np.all, ("bool",)),
    Reduction("Any", np.any, ("bool",)),
    Reduction("EuclideanNorm", lambda x, axis, keepdims: np.sqrt(np.sum(np.square(x), axis=axis, keepdims=keepdims)), WIDE),
]


class Fixed(NamedTuple):
    """One call: arrays by argument (drawn from a shape, or given), attributes, what it gives."""

    op: str
    arrays: dict[str, Any]
    reference: Callable[..., Any]
    attrs: dict[str, Any] = {}
    dtypes: tuple[str, ...] = WIDE
    slack: float = 10.0


def _i(*values: Any) -> np.ndarray:
    return np.array(values, np.int32)


def _patches(x: np.ndarray, reduce: Callable[..., Any]) -> np.ndarray:
    n, h, w, c = x.shape
    return reduce(x.reshape(n, h // 2, 2, w // 2, 2, c), axis=(2, 4))


def _conv(x: np.ndarray, f: np.ndarray) -> np.ndarray:
    kh, kw = f.shape[:2]
    windows = np.lib.stride_tricks.sliding_window_view(x, (kh, kw), axis=(1, 2))
    return np.einsum("nhwcij,ijco->nhwo", windows, f)


def _scatter(indices: np.ndarray, updates: np.ndarray, shape: np.ndarray) -> np.ndarray:
    out = np.zeros(shape, updates.dtype)
    np.add.at(out, tuple(np.moveaxis(indices, -1, 0)), updates)
    return out


ANY = WIDE + ("float16", "int32", "int64", "complex64", "bool")

FIXED = [
    Fixed("Transpose", {"x": (3, 4, 5), "perm": _i(2, 0, 1)}, lambda x, perm: np.transpose(x, perm), dtypes=ANY),
    Fixed("Transpose", {"x": (129, 257), "perm": _i(1, 0)}, lambda x, perm: x.T, dtypes=ANY),
    Fixed("Reshape", {"tensor": (3, 8), "shape": _i(4, -1)}, lambda tensor, shape: tensor.reshape(shape), dtypes=ANY),
    Fixed("ExpandDims", {"input": (3, 4), "axis": np.int32(-1)}, lambda input, axis: np.expand_dims(input, axis), dtypes=ANY),
    Fixed("ReverseV2", {"tensor": (3, 4, 2), "axis": _i(0, 2)}, lambda tensor, axis: np.flip(tensor, (0, 2)), dtypes=ANY),
    Fixed("Tile", {"input": (2, 3), "multiples": _i(2, 3)}, lambda input, multiples: np.tile(input, multiples), dtypes=ANY),
    Fixed("Pad", {"input": (2, 3), "paddings": _i((1, 2), (0, 3))}, lambda input, paddings: np.pad(input, paddings), dtypes=ANY),
    Fixed("MirrorPad", {"input": (4, 5), "paddings": _i((1, 2), (2, 1))}, lambda input, paddings: np.pad(input, paddings, "reflect"), {"mode": "REFLECT"}),
    Fixed("Roll", {"input": (4, 5), "shift": _i(1, -2), "axis": _i(0, 1)}, lambda input, shift, axis: np.roll(input, shift, axis), dtypes=ANY),
    Fixed("GatherV2", {"params": (5, 3), "indices": _i(4, 0, 0), "axis": np.int32(0)}, lambda params, indices, axis: np.take(params, indices, axis), dtypes=ANY),
    Fixed("GatherNd", {"params": (4, 3, 2), "indices": _i((3, 0), (1, 2))}, lambda params, indices: params[tuple(indices.T)], dtypes=ANY),
    Fixed("ScatterNd", {"indices": _i((1,), (3,), (1,)), "updates": (3, 2), "shape": _i(5, 2)}, _scatter),
    Fixed("Slice", {"input": (5, 6), "begin": _i(1, 2), "size": _i(3, -1)}, lambda input, begin, size: input[1:4, 2:], dtypes=ANY),
    Fixed("StridedSlice", {"input": (7, 6), "begin": _i(6, 0), "end": _i(0, 6), "strides": _i(-2, 3)}, lambda input, begin, end, strides: input[6:0:-2, 0:6:3], dtypes=ANY),
    Fixed("BroadcastTo", {"input": (3, 1), "shape": _i(2, 3, 4)}, lambda input, shape: np.broadcast_to(input, shape), dtypes=ANY),
    Fixed("MatrixBandPart", {"input": (2, 4, 5), "num_lower": np.int64(1), "num_upper": np.int64(2)}, lambda input, num_lower, num_upper: np.triu(np.tril(input, 2), -1)),
    Fixed("Cumsum", {"x": (3, 40), "axis": np.int32(1)}, lambda x, axis: np.cumsum(x, 1), dtypes=WIDE + ("int32",)),
    Fixed("Cumprod", {"x": (3, 9), "axis": np.int32(0)}, lambda x, axis: np.cumprod(x, 0), slack=40),
    Fixed("ArgMax", {"input": (6, 50), "dimension": np.int32(1)}, lambda input, dimension: np.argmax(input, 1), dtypes=WIDE + ("int32",)),
    Fixed("ArgMin", {"input": (6, 50), "dimension": np.int32(0)}, lambda input, dimension: np.argmin(input, 0), dtypes=WIDE + ("int32",)),
    Fixed("Cross", {"a": (5, 3), "b": (5, 3)}, lambda a, b: np.cross(a, b)),
    Fixed("Diag", {"diagonal": (6,)}, lambda diagonal: np.diag(diagonal)),
    Fixed("SegmentSum", {"data": (6, 2), "segment_ids": _i(0, 0, 1, 3, 3, 3)}, lambda data, segment_ids: _scatter(segment_ids[:, None], data, _i(4, 2))),
    Fixed("UnsortedSegmentSum", {"data": (5, 2), "segment_ids": _i(3, 0, 3, 1, 0), "num_segments": np.int32(5)}, lambda data, segment_ids, num_segments: _scatter(segment_ids[:, None], data, _i(5, 2))),
    Fixed("MatMul", {"a": (7, 5), "b": (5, 9)}, lambda a, b: a @ b, dtypes=FLOATS + ("int32", "complex64")),
    Fixed("MatMul", {"a": (65, 130), "b": (33, 65)}, lambda a, b: a.T @ b.T, {"transpose_a": True, "transpose_b": True}, slack=60),
    Fixed("MatMul", {"a": (0, 5), "b": (5, 3)}, lambda a, b: a @ b),
    Fixed("BatchMatMulV2", {"x": (4, 1, 3, 5), "y": (2, 5, 6)}, lambda x, y: x @ y),
    Fixed("MatrixInverse", {"input": (3, 4, 4)}, lambda input: np.linalg.inv(input), slack=4000),
    Fixed("MatrixDeterminant", {"input": (3, 4, 4)}, lambda input: np.linalg.det(input), slack=400),
    Fixed("MatrixSolve", {"matrix": (2, 4, 4), "rhs": (2, 4, 3)}, lambda matrix, rhs: np.linalg.solve(matrix, rhs), slack=4000),
    Fixed("Softmax", {"logits": (4, 9)}, lambda logits: sp.softmax(logits, -1), dtypes=FLOATS),
    Fixed("LogSoftmax", {"logits": (4, 9)}, lambda logits: sp.log_softmax(logits, -1), dtypes=WIDE),
    Fixed("L2Loss", {"t": (4, 9)}, lambda t: np.sum(t * t) / 2, slack=20),
    Fixed("BiasAdd", {"value": (2, 3, 4), "bias": (4,)}, lambda value, bias: value + bias, dtypes=FLOATS),
    Fixed("Conv2D", {"input": (2, 6, 7, 3), "filter": (3, 2, 3, 4)}, lambda input, filter: _conv(input, filter), {"strides": [1, 1, 1, 1], "padding": "VALID"}, slack=60),
    Fixed("MaxPool", {"input": (2, 4, 6, 3)}, lambda input: _patches(input, np.max), {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}),
    Fixed("AvgPool", {"value": (2, 4, 6, 3)}, lambda value: _patches(value, np.mean), {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}),
    Fixed("Range", {"start": np.int32(3), "limit": np.int32(20), "delta": np.int32(4)}, lambda start, limit, delta: np.arange(start, limit, delta), dtypes=("int32",)),
    Fixed("LinSpace", {"start": np.float32(1), "stop": np.float32(3), "num": np.int32(7)}, lambda start, stop, num: np.linspace(start, stop, num), dtypes=("float32",)),
    Fixed("InvertPermutation", {"x": _i(2, 0, 3, 1)}, lambda x: np.argsort(x), dtypes=("int32",)),
    Fixed("Betainc", {"a": np.full(9, 1.5), "b": np.full(9, 2.5), "x": np.linspace(0.05, 0.95, 9)}, lambda a, b, x: sp.betainc(a, b, x), dtypes=("float64",), slack=1e4),
]
