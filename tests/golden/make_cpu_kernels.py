#!/usr/bin/env python3
"""Writes cpu_kernels.txt: calls of raw ops with what TensorFlow answers.

usage: make_cpu_kernels.py > cpu_kernels.txt        (needs TensorFlow; the tests need only the file)

A case is a block of lines:
    op NAME
    attr NAME KIND VALUE...
    in DTYPE DIMS VALUES...          dims joined by commas, - for a scalar; strings are percent-coded
    var DTYPE DIMS VALUES...         an input that is a variable
    out DTYPE DIMS VALUES...         or: error CODE
    after DTYPE DIMS VALUES...       what the variables, in order, hold afterwards
"""
import inspect
import sys
import urllib.parse

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import op_def_registry

RNG = np.random.RandomState(7)
FLOATS = ["float32", "float64", "float16", "bfloat16"]
INTS = ["int8", "int16", "int32", "int64"]
UNSIGNED = ["uint8", "uint16", "uint32", "uint64"]
COMPLEX = ["complex64", "complex128"]
NAN, INF = float("nan"), float("inf")


def text(t) -> str:
    shape = ",".join(str(d) for d in t.shape) or "-"
    a = t.numpy() if hasattr(t, "numpy") else t
    name = tf.as_dtype(t.dtype).name
    flat = np.asarray(a).reshape(-1)
    if name == "string":
        words = ["%" + urllib.parse.quote_from_bytes(x) for x in flat]
    elif "complex" in name:
        words = [f"{float(x.real)!r},{float(x.imag)!r}" for x in flat]
    elif "float" in name:
        words = [repr(float(x)) for x in flat]
    else:
        words = [str(int(x)) for x in flat]
    return " ".join([name, shape, *words])


def attr_text(name, value) -> str:
    if isinstance(value, tf.DType):
        return f"attr {name} type {value.name}"
    if isinstance(value, tf.TensorShape):
        return f"attr {name} shape {','.join(str(d) for d in value) or '-'}"
    if isinstance(value, bool):
        return f"attr {name} bool {int(value)}"
    if isinstance(value, int):
        return f"attr {name} int {value}"
    if isinstance(value, float):
        return f"attr {name} float {value!r}"
    if isinstance(value, str):
        plain = value.isalnum() and value.isascii()
        return f"attr {name} string {value}" if plain else f"attr {name} text %{urllib.parse.quote(value, safe='')}"
    if value and isinstance(value[0], str):
        return f"attr {name} texts {' '.join('%' + urllib.parse.quote(v, safe='') for v in value)}"
    if value and isinstance(value[0], tf.DType):
        return f"attr {name} types {' '.join(v.name for v in value)}"
    if value and isinstance(value[0], float):
        return f"attr {name} floats {' '.join(repr(v) for v in value)}"
    return f"attr {name} ints {' '.join(str(v) for v in value)}"


def emit(op, inputs, attrs, outputs, error) -> None:  # inputs: their texts
    print("op", op)
    for name, value in attrs.items():
        print(attr_text(name, value))
    for t in inputs:
        print("in", t)
    if error:
        print("error", error)
    else:
        for t in outputs:
            print("out", text(t))
    print()


def case(op, *inputs, **attrs) -> None:
    """Inputs in the op's order; a list stands for a list argument."""
    function = getattr(tf.raw_ops, op)
    # raw_ops takes inputs and attributes by name; inputs come first in the definition.
    names = [a.name for a in op_def_registry.get(op).input_arg]
    given = [[tf.constant(x) for x in i] if isinstance(i, list) else tf.constant(i) for i in inputs]
    flat = [text(t) for g in given for t in (g if isinstance(g, list) else [g])]  # some ops write there
    names = [n if n in inspect.signature(function).parameters else python_name(function, n, k)
             for k, n in enumerate(names)]
    python_attrs = {python_attr(function, n): v for n, v in attrs.items()
                    if python_attr(function, n) in inspect.signature(function).parameters}
    error, outputs = None, []
    try:
        result = function(**dict(zip(names, given)), **python_attrs)
        outputs = tf.nest.flatten(result)
    except tf.errors.OpError as e:
        error = type(e).__name__.removesuffix("Error")
        if error in ("NotFound", "Unimplemented"):  # no kernel there, perhaps one here
            return
    except (ValueError, TypeError) as e:
        print(op, e, file=sys.stderr)
        return
    emit(op, flat, attrs, outputs, error)


def update(op, variables, *inputs, **attrs) -> None:
    """An op that changes variables, which are its first inputs."""
    made = [tf.Variable(v) for v in variables]
    function = getattr(tf.raw_ops, op)
    names = [a.name for a in op_def_registry.get(op).input_arg]
    values = [v.handle for v in made] + [tf.constant(i) for i in inputs]
    print("op", op)
    for name, value in attrs.items():
        print(attr_text(name, value))
    for v in variables:
        print("var", text(tf.constant(v)))
    for i in inputs:
        print("in", text(tf.constant(i)))
    try:
        function(**dict(zip(names, values)), **attrs)
        for v in made:
            print("after", text(v.read_value()))
    except tf.errors.OpError as e:
        print("error", type(e).__name__.removesuffix("Error"))
    print()


def python_name(function, name, position):
    return list(inspect.signature(function).parameters)[position]


def python_attr(function, name):
    renamed = {"reduction_indices": "axis", "squeeze_dims": "axis"}
    return renamed.get(name, name)


def sample(dtype, shape, low=-3, high=3):
    if dtype == "bool":
        return RNG.rand(*shape) > 0.5
    if dtype == "string":
        return np.array([f"s{i}" for i in range(int(np.prod(shape)))]).reshape(shape).astype(object)
    if "complex" in dtype:
        return (RNG.uniform(low, high, shape) + 1j * RNG.uniform(low, high, shape)).astype(dtype)
    if "int" in dtype:
        low = max(low, 0) if dtype.startswith("u") else low
        return RNG.randint(low, high + 1, shape).astype(dtype)
    values = RNG.uniform(low, high, shape)
    return tf.cast(values, dtype).numpy()


def elementwise() -> None:
    everywhere = "Neg Sign Square".split()
    for op in everywhere:
        for t in FLOATS + INTS + COMPLEX:
            case(op, sample(t, (2, 3)))
    for op in ("Reciprocal Inv Sqrt Rsqrt Exp Expm1 Log Log1p Sin Cos Tan Asin Acos Atan Sinh Cosh "
               "Tanh Asinh Acosh Atanh Sigmoid").split():
        for t in FLOATS + COMPLEX:
            case(op, sample(t, (7,), 0.1, 0.9))
        case(op, np.array([-2.5, 0, 1, 2, NAN, INF, -INF, 30, -30], "float32"))
        case(op, np.array([-2.5, 0, 1, 2, NAN, INF, -INF, 700, -700], "float64"))
    for op in "Abs".split():
        for t in FLOATS + INTS:
            case(op, sample(t, (5,)))
    for op in "Floor Ceil Round IsNan IsInf IsFinite Elu Selu Softplus Softsign Erf Erfc".split():
        for t in FLOATS:
            case(op, sample(t, (5,)))
        case(op, np.array([-2.5, -0.5, 0.5, 1.5, NAN, INF, -INF], "float32"))
    for op in "Rint Erfinv Ndtri Lgamma Digamma".split():
        for t in FLOATS[:2]:
            case(op, sample(t, (9,), 0.1, 0.9))
            case(op, np.array([0.5, 1.5, 0, 1, -1, 2.5, -2.5], t))
    for op in "Relu Relu6".split():
        for t in FLOATS + INTS + UNSIGNED:
            case(op, sample(t, (5,), -9, 9))
        case(op, np.array([NAN, -1, 9], "float32"))
    for op in "Invert PopulationCount".split():
        for t in INTS + UNSIGNED:
            case(op, sample(t, (5,)))
    case("LogicalNot", np.array([True, False]))
    case("LeakyRelu", sample("float32", (5,)), alpha=0.25)
    case("LeakyReluGrad", sample("float32", (5,)), sample("float32", (5,)), alpha=0.25)
    for op in "Real Imag Angle ComplexAbs".split():
        case(op, sample("complex64", (4,)))
        case(op, sample("complex128", (4,)), T=tf.complex128, Tout=tf.float64)
    case("Conj", sample("complex64", (4,)))
    case("Complex", sample("float32", (4,)), sample("float32", (4,)))
    for op in "InvGrad ReciprocalGrad SqrtGrad RsqrtGrad SigmoidGrad TanhGrad".split():
        for t in FLOATS[:2] + COMPLEX:
            case(op, sample(t, (4,), 0.5, 2), sample(t, (4,)))
    for op in ("ReluGrad Relu6Grad EluGrad SeluGrad SoftplusGrad SoftsignGrad").split():
        for t in FLOATS:
            case(op, sample(t, (6,)), sample(t, (6,), -9, 9))


def binary() -> None:
    shapes = [((2, 3), (2, 3)), ((2, 3), ()), ((), (2, 3)), ((2, 3), (3,)), ((2, 1), (1, 3)),
              ((2, 1, 3, 1), (4, 1, 2)), ((0, 3), (3,))]
    for op in "AddV2 Sub Mul".split():
        for a, b in shapes:
            case(op, sample("float32", a), sample("float32", b))
        for t in FLOATS + INTS + UNSIGNED + COMPLEX:
            case(op, sample(t, (2, 3)), sample(t, (3,)))
    case("Add", np.array([b"a", b"b"], object), np.array(b"x", object))
    for op in "RealDiv DivNoNan MulNoNan Xdivy Xlogy Xlog1py".split():
        for t in FLOATS + COMPLEX:
            case(op, sample(t, (5,), 0.1, 2), sample(t, (5,), 0.1, 2))
        case(op, np.array([0, 1, NAN, 0], "float32"), np.array([0, 0, 0, NAN], "float32"))
    for op in "Maximum Minimum Less LessEqual Greater GreaterEqual FloorMod FloorDiv TruncateDiv".split():
        for t in FLOATS + INTS + UNSIGNED:
            case(op, sample(t, (4,), -9, 9), sample(t, (4,), 1, 5))
        case(op, np.array([NAN, 1, 2, -7], "float32"), np.array([1, NAN, 2, 2], "float32"))
    for op in "Mod TruncateMod".split():
        for t in ("float32", "float64", "int32", "int64"):
            case(op, sample(t, (6,), -9, 9), sample(t, (6,), 1, 5))
    case("Div", np.array([-7, 7], "int32"), np.array([2, -2], "int32"))
    case("Div", np.array([1, 2], "int32"), np.array([2, 0], "int32"))
    case("FloorMod", np.array([1, 2], "int64"), np.array([2, 0], "int64"))
    for t in FLOATS + COMPLEX + INTS:
        case("Pow", sample(t, (5,), 1, 3), sample(t, (5,), 0, 3))
    case("Pow", np.array([2], "int32"), np.array([-1], "int32"))
    for t in FLOATS + COMPLEX + ["int32", "int64"]:
        case("SquaredDifference", sample(t, (5,)), sample(t, (5,)))
    for op in "Igamma Igammac Zeta Polygamma NextAfter Atan2 IgammaGradA".split():
        for t in FLOATS[:2]:
            case(op, np.array([1, 2, 3, 4], t), np.array([1.5, 2.5, 0.5, 3], t))
    case("Betainc", sample("float32", (4,), 0.5, 2), sample("float32", (4,), 0.5, 2), sample("float32", (4,), 0.1, 0.9))
    case("Betainc", np.float64(2), np.float64(3), np.array([0.1, 0.5], "float64"))
    for op in "Equal NotEqual".split():
        for t in FLOATS + INTS + UNSIGNED + COMPLEX + ["bool", "string"]:
            case(op, sample(t, (4,)), sample(t, (4,)))
        case(op, np.zeros(2, "float32"), np.zeros(3, "float32"), incompatible_shape_error=False)
        case(op, np.zeros(2, "float32"), np.zeros(3, "float32"))
    for op in "LogicalAnd LogicalOr".split():
        case(op, np.array([True, True, False]), np.array([True, False, False]))
    for op in "BitwiseAnd BitwiseOr BitwiseXor LeftShift RightShift".split():
        for t in INTS + UNSIGNED:
            case(op, sample(t, (4,), -9, 9), sample(t, (4,), 0, 3))
    case("ApproximateEqual", np.array([1, 2], "float32"), np.array([1.05, 3], "float32"), tolerance=0.1)
    for t in FLOATS + INTS + COMPLEX + ["bool", "string"]:
        case("SelectV2", np.array([True, False]), sample(t, (3, 2)), sample(t, (2,)))
    case("Select", np.array([True, False]), sample("float32", (2, 3)), sample("float32", (2, 3)))
    case("Select", np.array(True), sample("float32", (2, 3)), sample("float32", (2, 3)))
    case("ClipByValue", sample("float32", (6,)), np.float32(-1), np.float32(1))
    for t in FLOATS + INTS + COMPLEX:
        case("AddN", [sample(t, (3,)), sample(t, (3,)), sample(t, (3,))], N=3)
    plain = FLOATS + INTS + UNSIGNED + COMPLEX + ["bool"]
    for a in plain:
        for b in plain:
            case("Cast", sample(a, (5,), 0, 9), DstT=tf.as_dtype(b))
    case("Cast", np.array([NAN, INF, -INF, 3e9, -1.5], "float32"), DstT=tf.int32)
    case("Bitcast", np.array([1.5, -2], "float32"), type=tf.int32)
    case("Bitcast", np.array([1.5, -2], "float32"), type=tf.uint8)


def reductions() -> None:
    for op in "Sum Prod Mean EuclideanNorm".split():
        for t in FLOATS + INTS + UNSIGNED + COMPLEX:
            case(op, sample(t, (3, 4), 1, 3), np.array([1], "int32"))
    for op in "Max Min".split():
        for t in FLOATS + INTS + UNSIGNED:
            case(op, sample(t, (3, 4)), np.array([0], "int32"))
    for op in "Sum Mean Max Min Prod".split():
        for axes in ([], [0], [1], [2], [0, 1], [0, 2], [1, 2], [0, 1, 2], [-1]):
            case(op, sample("float32", (2, 3, 4)), np.array(axes, "int64"), keep_dims=len(axes) % 2 == 0)
        case(op, np.zeros((0, 2), "float32"), np.array([0], "int32"))
        case(op, np.zeros(2, "float32"), np.array([1], "int32"))
    for op in "All Any".split():
        case(op, sample("bool", (3, 4)), np.array([1], "int32"))
    for op in "ArgMax ArgMin".split():
        for t in FLOATS + INTS + UNSIGNED:
            case(op, sample(t, (3, 4)), np.int32(1))
        case(op, sample("float32", (3, 4, 2)), np.int32(-2), output_type=tf.int32)
        case(op, np.zeros((0, 2), "float32"), np.int32(0))
    for op in "Cumsum Cumprod".split():
        for t in FLOATS + INTS + COMPLEX:
            case(op, sample(t, (2, 3, 2), 1, 2), np.int32(1))
        for x in (False, True):
            for r in (False, True):
                case(op, sample("float32", (2, 4)), np.int32(-1), exclusive=x, reverse=r)
    for x in (False, True):
        case("CumulativeLogsumexp", sample("float32", (2, 4)), np.int32(1), exclusive=x, reverse=x)
    ids = np.array([0, 0, 2, 3], "int32")
    for op in "Sum Prod Mean Max Min".split():
        for t in ("float32", "int32", "float16"):
            case("Segment" + op, sample(t, (4, 2), 1, 4), ids)
    case("SegmentSum", np.zeros(3, "float32"), np.array([0, 2, 1], "int32"))
    case("SegmentSum", np.zeros(3, "float32"), np.array([0, 2], "int32"))
    for op in "Sum Prod Max Min".split():
        for t in ("float32", "int32", "float64"):
            case("UnsortedSegment" + op, sample(t, (4, 2), 1, 4), np.array([2, 0, -1, 2], "int32"), np.int32(4))
    case("UnsortedSegmentSum", np.zeros(1, "float32"), np.array([9], "int32"), np.int32(4))
    case("Bincount", np.array([1, 2, 2, 7], "int32"), np.int32(4), np.zeros(0, "float32"))
    case("Bincount", np.array([1, 2, 2, 7], "int32"), np.int32(4), np.array([1, 2, 3, 4], "float32"))
    case("Bincount", np.array([-1], "int32"), np.int32(4), np.zeros(0, "float32"))
    for b in (False, True):
        case("DenseBincount", np.array([[1, 2], [2, 2]], "int32"), np.int32(4), np.zeros(0, "float32"), binary_output=b)
    case("HistogramFixedWidth", np.array([-1, 0, 1.5, 2, 5, 15], "float32"), np.array([0, 5], "float32"), np.int32(5))
    case("TopKV2", np.array([[1, 3, 3, 2], [4, 0, 1, 9]], "float32"), np.int32(3))
    case("TopKV2", np.array([1, 3, 2], "int32"), np.int32(4))
    case("InTopKV2", np.array([[1, 2, 3], [1, 1, 1], [NAN, 1, 2]], "float32"), np.array([2, 0, 1], "int32"), np.int32(1))
    case("InTopK", np.array([[1, 2, 3], [3, 2, 1]], "float32"), np.array([2, 2], "int32"), k=2)
    for t in ("float32", "int32", "string"):
        x = np.array([3, 1, 3, 2]).astype(t) if t != "string" else np.array([b"c", b"a", b"c"], object)
        case("Unique", x)
        case("UniqueWithCounts", x)
        case("UniqueV2", x, np.zeros(0, "int64"))
    case("UniqueV2", np.array([[1, 2], [1, 2], [3, 4]], "int32"), np.array([0], "int64"))
    case("UniqueWithCountsV2", np.array([[1, 1, 2], [3, 3, 4]], "int32"), np.array([1], "int64"))
    for op in "LowerBound UpperBound".split():
        case(op, np.array([[1, 3, 3, 7], [0, 2, 4, 6]], "float32"), np.array([[0, 3, 8], [2, 5, 6]], "float32"))


def arrays() -> None:
    x = np.arange(24, dtype="float32").reshape(2, 3, 4)
    i32 = lambda *v: np.array(v, "int32")
    case("Shape", x), case("Shape", x, out_type=tf.int64), case("Size", x), case("Rank", x)
    case("ShapeN", [x, x[0]], N=2)
    case("Reshape", x, i32(4, -1)), case("Reshape", x, i32(5, 5)), case("Reshape", x, i32(-1, -1))
    case("Squeeze", x.reshape(2, 1, 12, 1)), case("Squeeze", x.reshape(2, 1, 12, 1), squeeze_dims=[1])
    case("Squeeze", x, squeeze_dims=[0])
    for d in (0, 1, -1, 3, 4, -5):
        case("ExpandDims", x, np.int32(d))
    case("Transpose", x, i32(2, 0, 1)), case("Transpose", x, i32(0, 0, 1)), case("Transpose", x, i32(1, 0, 2))
    case("Transpose", sample("string", (2, 3)), i32(1, 0))
    case("ConjugateTranspose", sample("complex64", (2, 3)), i32(1, 0))
    case("ConcatV2", [x, x + 1], np.int32(1), N=2), case("ConcatV2", [x, x[:1]], np.int32(0), N=2)
    case("ConcatV2", [x, x[:1]], np.int32(1), N=2), case("Concat", np.int32(2), [x, x], N=2)
    case("ConcatOffset", np.int32(1), [i32(2, 2), i32(2, 5)], N=2)
    case("Split", np.int32(2), x, num_split=2), case("Split", np.int32(1), x, num_split=2)
    case("SplitV", x, np.array([1, -1], "int64"), np.int32(2), num_split=2)
    case("SplitV", x, np.array([1, 5], "int64"), np.int32(2), num_split=2)
    for a in (0, 1, -1, 3):
        case("Pack", [x, x + 1], N=2, axis=a)
    case("Pack", [x, x[:1]], N=2)
    case("Unpack", x, num=3, axis=1), case("Unpack", x, num=2, axis=1)
    case("Slice", x, i32(0, 1, 1), i32(2, -1, 2)), case("Slice", x, i32(0, 1, 1), i32(2, 3, 2))
    specs = [((0, 1), (2, 3), (1, 1), {}), ((1, -1), (2, -4), (1, -2), {}),
             ((0, 0), (0, 0), (-1, 1), dict(begin_mask=3, end_mask=3)),
             ((1, 0, 0), (2, 0, 2), (1, 1, 1), dict(shrink_axis_mask=1, ellipsis_mask=2)),
             ((0, 0, 1), (0, 2, 9), (1, 1, 2), dict(new_axis_mask=1)),
             ((5,), (6,), (1,), dict(shrink_axis_mask=1)), ((0,), (1,), (0,), {}),
             ((-3, -9), (9, 9), (1, 1), {})]
    for b, e, s, masks in specs:
        case("StridedSlice", x, i32(*b), i32(*e), i32(*s), **masks)
    case("StridedSliceGrad", i32(2, 3, 4), i32(0, 1), i32(2, 3), i32(1, 1), np.ones((2, 2, 4), "float32"))
    case("StridedSliceGrad", i32(4), i32(3), i32(-9), i32(-2), np.array([1, 2], "float32"))
    case("TensorStridedSliceUpdate", x, i32(0, 1), i32(2, 3), i32(1, 1), -np.ones((2, 2, 4), "float32"))
    case("TensorStridedSliceUpdate", x, i32(1), i32(2), i32(1), np.zeros((3, 4), "float32"), shrink_axis_mask=1)
    case("Gather", x, i32(1, 0, 1)), case("GatherV2", x, i32(2, 0), np.int32(1))
    case("GatherV2", x, np.array([[0, 1], [2, 2]], "int64"), np.int32(-1))
    case("GatherV2", x, i32(0, 3).reshape(2, 1), np.int32(2), batch_dims=1)
    case("GatherV2", x, i32(5), np.int32(0))
    case("GatherNd", x, np.array([[0, 1], [1, 2]], "int32")), case("GatherNd", x, np.array([[0, 1, 9]], "int32"))
    case("ScatterNd", np.array([[1], [1], [0]], "int32"), np.array([1, 2, 3], "float32"), i32(3))
    case("ScatterNd", np.array([[5]], "int32"), np.array([1], "float32"), i32(3))
    for op in "Update Add Sub Max Min".split():
        for t in ("float32", "int32", "float16"):
            case("TensorScatter" + op, sample(t, (3, 2)), np.array([[0], [2], [0]], "int32"), sample(t, (3, 2)))
    case("Tile", x, i32(2, 1, 2)), case("Tile", x, i32(2, 1)), case("Tile", x, i32(0, 1, 1))
    p = np.array([[1, 0], [0, 2], [1, 1]], "int32")
    case("Pad", x, p), case("PadV2", x, p, np.float32(9)), case("Pad", x, -p)
    for mode in ("REFLECT", "SYMMETRIC"):
        case("MirrorPad", x, p, mode=mode), case("MirrorPad", x, p * 3, mode=mode)
        case("MirrorPadGrad", np.arange(3 * 5 * 6, dtype="float32").reshape(3, 5, 6), p, mode=mode)
    case("ReverseV2", x, i32(0, 2)), case("ReverseV2", x, i32(0, 0)), case("Reverse", x, np.array([True, False, True]))
    case("ReverseSequence", x, np.array([1, 3], "int64"), seq_dim=1, batch_dim=0)
    case("ReverseSequence", x, np.array([2, 0, 1], "int32"), seq_dim=2, batch_dim=1)
    case("Roll", x, i32(1, -2), i32(0, 2)), case("Roll", x, np.int32(5), np.int32(1))
    for axis in (-1, 0, 1):
        case("OneHot", i32(0, 2, -1, 9), np.int32(3), np.float32(5), np.float32(-1), axis=axis)
    case("Range", np.int32(2), np.int32(11), np.int32(4)), case("Range", np.int32(5), np.int32(0), np.int32(-2))
    case("Range", np.float32(0), np.float32(1), np.float32(0.1)), case("Range", np.int32(0), np.int32(3), np.int32(0))
    case("LinSpace", np.float32(0), np.float32(1), np.int32(7)), case("LinSpace", np.float32(0), np.float32(1), np.int32(0))
    for t in ("bool", "float32", "int32", "complex64"):
        case("Where", np.array([[0, 1, 0], [2, 0, 3]]).astype(t))
    case("BroadcastTo", x[0], i32(2, 3, 4)), case("BroadcastTo", x[:, :1, :1], i32(2, 3, 4)), case("BroadcastTo", x, i32(4))
    case("BroadcastArgs", i32(2, 1), i32(3)), case("BroadcastArgs", i32(2), i32(3))
    case("BroadcastGradientArgs", i32(2, 1, 3), i32(1, 3)), case("BroadcastGradientArgs", i32(1, 2, 1), i32(1, 1, 3))
    case("BroadcastGradientArgs", i32(2, 1), i32(2, 1))
    case("InvertPermutation", i32(2, 0, 1)), case("InvertPermutation", i32(2, 2, 1))
    case("ListDiff", i32(1, 2, 3, 4), i32(2, 4)), case("CheckNumerics", np.array([1, NAN], "float32"), message="m")
    case("Fill", i32(2, 3), np.float32(7)), case("ZerosLike", x), case("OnesLike", x)
    case("Diag", i32(1, 2, 3)), case("DiagPart", np.arange(9).reshape(3, 3))
    m = np.arange(24, dtype="int32").reshape(2, 3, 4)
    case("MatrixDiag", m[0]), case("MatrixDiagPart", m), case("MatrixSetDiag", m, np.zeros((2, 3), "int32"))
    for align in ("LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT"):
        for k in ([-1, 1], [0, 2], [-2, 0], [1, 1]):
            case("MatrixDiagPartV3", m, i32(*k), np.int32(9), align=align)
        d = np.arange(1, 10, dtype="int32").reshape(3, 3)
        case("MatrixDiagV3", d, i32(-1, 1), np.int32(-1), np.int32(-1), np.int32(9), align=align)
        case("MatrixSetDiagV3", m[0], d, i32(-1, 1), align=align)
    case("MatrixDiagV2", i32(1, 2), np.int32(1), np.int32(-1), np.int32(-1), np.int32(0))
    case("MatrixDiagV3", i32(1, 2), np.int32(-1), np.int32(3), np.int32(4), np.int32(0))
    case("MatrixDiagPartV2", m, i32(-1, 0), np.int32(7))
    case("MatrixSetDiagV2", m[0], np.ones((2, 3), "int32"), i32(0, 1))
    for low, high in ((0, 0), (1, -1), (-1, 1), (2, 3)):
        case("MatrixBandPart", m, np.int64(low), np.int64(high))
    img = np.arange(1 * 4 * 4 * 4, dtype="float32").reshape(1, 4, 4, 4)
    for f in ("NHWC",):
        case("SpaceToDepth", img, block_size=2, data_format=f), case("DepthToSpace", img, block_size=2, data_format=f)
    pads = np.array([[1, 1], [0, 2]], "int32")
    case("SpaceToBatchND", img, i32(2, 2), pads), case("BatchToSpaceND", np.arange(32, dtype="float32").reshape(4, 2, 4, 1), i32(2, 2), pads)
    case("SpaceToBatch", img, pads, block_size=2), case("BatchToSpace", np.arange(32, dtype="float32").reshape(4, 2, 4, 1), pads, block_size=2)
    case("SpaceToBatchND", img, i32(3, 2), pads)
    case("DynamicPartition", x[0], i32(1, 0, 1), num_partitions=3), case("DynamicPartition", x[0], i32(1, 9, 1), num_partitions=3)
    case("DynamicStitch", [i32(0, 3), i32(1)], [x[0, :2], x[0, 2:]], N=2)
    case("MatMul", x[0], x[1], transpose_b=True), case("MatMul", x[0], x[1], transpose_a=True), case("MatMul", x[0], x[1])
    for t in FLOATS + ["int32", "int64"] + COMPLEX:
        case("MatMul", sample(t, (3, 4)), sample(t, (4, 2)))


def random() -> None:
    i32 = lambda *v: np.array(v, "int32")
    for n, shape in enumerate([(5,), (3, 3), (0,), (130,)]):
        for t in (tf.float32, tf.float64, tf.float16, tf.bfloat16):
            for op in "RandomUniform RandomStandardNormal TruncatedNormal".split():
                if np.prod(shape) < 100 or t == tf.float32:
                    case(op, i32(*shape), seed=3 + n, seed2=7, dtype=t)
            for op in "RandomUniform RandomNormal TruncatedNormal".split():
                case("Stateless" + op, i32(*shape), np.array([1 + n, 2], "int64"), dtype=t)
                key, counter = np.array([7], "uint64"), np.array([1, n], "uint64")
                case("Stateless" + op + "V2", i32(*shape), key, counter, np.int32(1), dtype=t)
        for t in (tf.int32, tf.int64):
            low, high = (np.array(v, t.name) for v in (-5, 1000))
            case("RandomUniformInt", i32(*shape), low, high, seed=5 + n, seed2=1)
            case("StatelessRandomUniformInt", i32(*shape), np.array([1 + n, 2], "int64"), low, high)
            case("StatelessRandomUniformIntV2", i32(*shape), key, counter, np.int32(1), low, high)
        for t in (tf.int32, tf.int64, tf.uint32, tf.uint64):
            case("StatelessRandomUniformFullInt", i32(*shape), np.array([1, n], "int64"), dtype=t)
            case("StatelessRandomUniformFullIntV2", i32(*shape), key, counter, np.int32(1), dtype=t)
    case("RandomUniformInt", i32(2), np.int32(5), np.int32(5), seed=1, seed2=1)
    case("RandomShuffle", np.arange(11, dtype="int32"), seed=4, seed2=2)
    case("RandomShuffle", np.arange(12, dtype="float32").reshape(6, 2), seed=4, seed2=3)
    for op in "StatelessRandomGetKeyCounter StatelessRandomGetKeyCounterAlg".split():
        case(op, np.array([3, 4], "int64"))


def nets() -> None:
    for t in FLOATS:
        case("Softmax", sample(t, (3, 5))), case("LogSoftmax", sample(t, (3, 5)))
        case("L2Loss", sample(t, (3, 5)))
        case("SoftmaxCrossEntropyWithLogits", sample(t, (3, 4)), sample(t, (3, 4), 0, 1))
        case("SparseSoftmaxCrossEntropyWithLogits", sample(t, (3, 4)), np.array([0, 3, 1], "int64"))
    case("Softmax", np.array([[1000, 1001], [-INF, 0]], "float32"))
    case("SoftmaxCrossEntropyWithLogits", sample("float32", (3, 4)), sample("float32", (1, 4), 0, 1))
    case("SparseSoftmaxCrossEntropyWithLogits", sample("float32", (1, 4)), np.array([4], "int64"))
    for t in FLOATS + INTS + COMPLEX:
        case("BiasAdd", sample(t, (2, 3, 4)), sample(t, (4,)))
        case("BiasAddGrad", sample(t, (2, 3, 4)))
    case("BiasAdd", sample("float32", (2, 3, 2, 2)), sample("float32", (3,)), data_format="NCHW")
    case("BiasAddGrad", sample("float32", (2, 3, 2, 2)), data_format="NCHW")
    case("BiasAdd", sample("float32", (2, 3)), sample("float32", (4,)))
    for t in FLOATS + ["int32", "int64"] + COMPLEX:
        case("BatchMatMul", sample(t, (2, 3, 4)), sample(t, (2, 4, 2)))
        case("BatchMatMulV2", sample(t, (2, 1, 4, 3)), sample(t, (3, 2, 4)), adj_x=True, adj_y=True)
    case("BatchMatMulV3", sample("float32", (2, 3, 4)), sample("float32", (4, 2)), Tout=tf.float32)
    case("BatchMatMulV2", sample("float32", (2, 3, 4)), sample("float32", (3, 4, 2)))


def training() -> None:
    for t in ("float32", "float64", "float16"):
        v = lambda *s: sample(t, s or (3, 2), 0.5, 1.5)
        c = lambda x: np.array(x, t)
        rows = np.array([2, 0], "int32")
        update("ResourceApplyGradientDescent", [v()], c(0.1), v())
        for nesterov in (False, True):
            for op in "Momentum KerasMomentum".split():
                update(f"ResourceApply{op}", [v(), v()], c(0.1), v(), c(0.9), use_nesterov=nesterov)
                update(f"ResourceSparseApply{op}", [v(), v()], c(0.1), v(2, 2), rows, c(0.9), use_nesterov=nesterov)
            update("ResourceApplyAdam", [v(), v(), v()], c(0.9), c(0.99), c(0.1), c(0.9), c(0.99), c(1e-3), v(),
                   use_nesterov=nesterov)
        update("ResourceApplyAdagrad", [v(), v()], c(0.1), v())
        update("ResourceApplyAdagrad", [v(), v()], c(0.1), v(), update_slots=False)
        update("ResourceApplyAdagradV2", [v(), v()], c(0.1), c(1e-3), v())
        update("ResourceSparseApplyAdagrad", [v(), v()], c(0.1), v(2, 2), rows)
        update("ResourceSparseApplyAdagradV2", [v(), v()], c(0.1), c(1e-3), v(2, 2), rows)
        update("ResourceApplyRMSProp", [v(), v(), v()], c(0.1), c(0.9), c(0.5), c(1e-3), v())
        update("ResourceSparseApplyRMSProp", [v(), v(), v()], c(0.1), c(0.9), c(0.5), c(1e-3), v(2, 2), rows)
        update("ResourceApplyCenteredRMSProp", [v(), v() / 10, v() * 4, v()], c(0.1), c(0.9), c(0.5), c(1e-3), v())
        update("ResourceSparseApplyCenteredRMSProp", [v(), v() / 10, v() * 4, v()], c(0.1), c(0.9), c(0.5), c(1e-3),
               v(2, 2), rows)
        update("ResourceApplyAdadelta", [v(), v(), v()], c(0.1), c(0.9), c(1e-3), v())
        update("ResourceSparseApplyAdadelta", [v(), v(), v()], c(0.1), c(0.9), c(1e-3), v(2, 2), rows)
        for op in "Update Add Sub Mul Div Max Min".split():
            update(f"ResourceScatter{op}", [v()], np.array([2, 0, 2], "int32"), v(3, 2))
        for op in "Update Add Sub Max Min".split():
            update(f"ResourceScatterNd{op}", [v()], np.array([[2, 1], [0, 0]], "int32"), v(2))
        if t == "float16":  # TensorFlow rounds after every operation, we at the end
            continue
        for m in (False, True):
            update("ResourceApplyFtrl", [v(), v(), v()], v(), c(0.1), c(0.2), c(0.3), c(-0.5), multiply_linear_by_lr=m)
            update("ResourceApplyFtrlV2", [v(), v(), v()], v(), c(0.1), c(0.2), c(0.3), c(0.1), c(-0.7), multiply_linear_by_lr=m)
        update("ResourceSparseApplyFtrl", [v(), v(), v()], v(2, 2), rows, c(0.1), c(0.2), c(0.3), c(-0.5))
        update("ResourceSparseApplyFtrlV2", [v(), v(), v()], v(2, 2), rows, c(0.1), c(0.2), c(0.3), c(0.1), c(-0.5))
    update("ResourceScatterAdd", [np.zeros((3, 2), "float32")], np.array([2, 0], "int32"), np.float32(5))
    update("ResourceScatterAdd", [np.zeros((3, 2), "float32")], np.array([3], "int32"), np.float32(5))
    update("ResourceApplyGradientDescent", [np.zeros(3, "float32")], np.float32(1), np.zeros(2, "float32"))


if __name__ == "__main__":
    elementwise()
    binary()
    reductions()
    arrays()
    random()
    nets()
    training()
