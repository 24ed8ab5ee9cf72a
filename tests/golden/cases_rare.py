"""Calls of rarer ops, for make_cpu_kernels.py.

usage: cases_rare.py > rare_kernels.txt        (needs TensorFlow; the tests need only the file)
"""
import numpy as np
import tensorflow as tf
from tensorflow.python.framework import op_def_registry

from make_cpu_kernels import COMPLEX, FLOATS, INF, NAN, attr_text, case, emit, sample, text, update

QUANTIZED = [tf.qint8, tf.quint8, tf.qint16, tf.quint16, tf.qint32]


def i32(*v):
    return np.array(v, "int32")


def i64(*v):
    return np.array(v, "int64")


def old(op, *inputs, **attrs) -> None:
    """An op that only graphs of older producers may have."""
    with tf.Graph().as_default() as graph:
        fed = [tf.compat.v1.placeholder(i.dtype, i.shape, name=f"in{k}") for k, i in enumerate(inputs)]
        definition = graph.as_graph_def()
    definition.versions.producer = 1
    node = definition.node.add(name="call", op=op, input=[t.op.name for t in fed])
    known = {a.name for a in op_def_registry.get(op).attr}
    if "T" in known:
        node.attr["T"].type = tf.as_dtype(inputs[0].dtype).as_datatype_enum
    for name, value in attrs.items():
        node.attr[name].b = value
    count = len(op_def_registry.get(op).output_arg)
    with tf.Graph().as_default():
        outputs = tf.graph_util.import_graph_def(definition, name="", return_elements=[f"call:{i}" for i in range(count)])
        with tf.compat.v1.Session() as session:
            made = session.run(outputs, {f"in{k}:0": i for k, i in enumerate(inputs)})
    emit(op, [text(tf.constant(i)) for i in inputs], attrs, [tf.constant(m) for m in made], None)


def drawn(op, state, *inputs, **attrs) -> None:
    """What a generator gives, and how it is left."""
    variable = tf.Variable(state)
    variable.assign_add(np.zeros_like(state))  # its memory is its own now: TensorFlow's binomial numbers lose what they write to shared one
    names = [a.name for a in op_def_registry.get(op).input_arg]
    print("op", op)
    for name, value in attrs.items():
        print(attr_text(name, value))
    print("var", text(tf.constant(state)))
    for i in inputs:
        print("in", text(tf.constant(i)))
    try:
        out = getattr(tf.raw_ops, op)(**dict(zip(names, [variable.handle, *(tf.constant(i) for i in inputs)])), **attrs)
        for t in tf.nest.flatten(out):
            if isinstance(t, tf.Tensor):
                print("out", text(t))
        print("after", text(variable.read_value()))
    except tf.errors.OpError as e:
        print("error", type(e).__name__.removesuffix("Error"))
    print()


def removed() -> None:
    positive = lambda t: (lambda a: (a @ a.swapaxes(-1, -2) + 3 * np.eye(3)).astype(t))(sample(t, (2, 3, 3), -1, 1))
    for t in ("float32", "float64"):
        p = positive(t)
        old("BatchCholesky", p), old("BatchMatrixDeterminant", p), old("BatchMatrixInverse", p, adjoint=True)
        old("BatchCholeskyGrad", np.tril(p), sample(t, (2, 3, 3)))
        old("BatchMatrixSolve", p, sample(t, (2, 3, 2))), old("BatchMatrixTriangularSolve", p, sample(t, (2, 3, 2)), lower=False)
        old("BatchMatrixSolveLs", p, sample(t, (2, 3, 2)), np.float64(0.1))
        d = np.stack([np.diag([1, 2, 3]), np.diag([4, 5, 7])]).astype(t)
        old("SelfAdjointEig", d[0]), old("BatchSelfAdjointEig", d), old("BatchSelfAdjointEigV2", d)
        old("BatchSvd", np.diag([3, 2, 1]).astype(t)[None, :, :2])
    for t in ("float32", "int32"):
        old("BatchMatrixBandPart", sample(t, (2, 3, 3)), np.int64(1), np.int64(0))
        old("BatchMatrixDiag", sample(t, (2, 3))), old("BatchMatrixDiagPart", sample(t, (2, 3, 3)))
        old("BatchMatrixSetDiag", sample(t, (2, 3, 3)), sample(t, (2, 3)))


def dtypes() -> None:
    """Of dtypes that few use."""
    for t in COMPLEX:
        z, low, high = (np.array(v, t) for v in ([1 + 5j, 3 - 9j, 2 + 2j], 2 + 1j, 4 + 3j))
        case("ClipByValue", z, low, high)
        v = lambda: sample(t, (3,), 1, 4)
        s = lambda x: np.array(x, t)
        update("ResourceApplyGradientDescent", [v()], s(0.5), v()), update("ResourceApplyMomentum", [v(), v()], s(0.1), v(), s(0.9))
        update("ResourceApplyMomentum", [v(), v()], s(0.1), v(), s(0.9), use_nesterov=True)
        update("ResourceApplyKerasMomentum", [v(), v()], s(0.1), v(), s(0.9))
        update("ResourceApplyAdagrad", [v(), v()], s(0.1), v()), update("ResourceApplyAdagradV2", [v(), v()], s(0.1), s(0.01), v())
        update("ResourceApplyAdadelta", [v(), v(), v()], s(0.1), s(0.9), s(0.01), v())
        update("ResourceApplyRMSProp", [v(), v(), v()], s(0.1), s(0.9), s(0.5), s(0.01), v())
        update("ResourceApplyAdam", [v(), v(), v()], s(0.5), s(0.4), s(0.1), s(0.9), s(0.99), s(0.01), v())
    for op in "I0 I0e I1 I1e J0 J1 K0 K0e K1 K1e Y0 Y1".split():
        case("Bessel" + op, np.array([0.5, 1, 2.5, 7], "float16"))
    for a in ("int8", "uint8"):
        for b in ("int8", "uint8"):
            case("BatchMatMulV3", sample(a, (2, 3, 4), 0, 9), sample(b, (4, 2), 0, 9), Tout=tf.int32)
            case("BatchMatMulV3", sample(a, (2, 4, 3), 0, 9), sample(b, (2, 4), 0, 9), Tout=tf.int32, adj_x=True, adj_y=True)
        case("BatchMatMulV3", sample(a, (2, 3, 4), 0, 9), tf.cast(sample("float32", (4, 2)), tf.bfloat16), Tout=tf.bfloat16)
        case("BatchMatMulV3", tf.cast(sample("float32", (3, 4)), tf.bfloat16), sample(a, (4, 2), 0, 9), Tout=tf.bfloat16)
    for t in QUANTIZED:
        a, b = (tf.quantization.quantize(v, 0.0, 4.0, t).output for v in ([0.0, 1.0, 3.0], [0.0, 2.0, 3.0]))
        case("Equal", a, b), case("NotEqual", a, b)


def quantized() -> None:
    x = np.array([[-2.5, -1, -0.3, 0], [0.4, 1.5, 2.7, 9], [-9, 0.004, 1, NAN]], "float32")[:, :3]
    f = np.float32
    for t in QUANTIZED:
        for mode in ("MIN_COMBINED", "MIN_FIRST", "SCALED"):
            for low, high in ((f(-2), f(3)), (f(0), f(1)), (f(0.5), f(0.501))):
                if t != tf.qint32:  # its edges are beyond what a float holds
                    case("QuantizeV2", x, low, high, T=t, mode=mode)
        case("QuantizeV2", np.minimum(x, 2.5), f(-2), f(3), T=t, mode="SCALED", round_mode="HALF_TO_EVEN", narrow_range=True)
        case("QuantizeV2", np.minimum(x, 0.5), np.array([-2, -1, 0], "float32"), np.array([2, 1, 3], "float32"), T=t, mode="SCALED", axis=1)
        case("QuantizeV2", x, f(3), f(-2), T=t), case("QuantizeV2", np.minimum(x, 0), f(0), f(0), T=t, ensure_minimum_range=0.5)
        numbers = tf.quantization.quantize(np.array([[-2, -1, -0.5], [0, 1, 2]], "float32"), -2.0, 2.0, t, "SCALED").output
        for mode in ("MIN_COMBINED", "MIN_FIRST", "SCALED"):
            case("Dequantize", numbers, f(-2), f(2.5), mode=mode), case("Dequantize", numbers, f(0), f(6), mode=mode)
        case("Dequantize", numbers, f(-1), f(2), mode="SCALED", narrow_range=True)
        case("Dequantize", numbers, np.array([-2, -1, 0], "float32"), np.array([2, 1, 3], "float32"), mode="SCALED", axis=1)
        case("Dequantize", numbers, f(-1), f(2), dtype=tf.bfloat16, mode="SCALED"), case("Dequantize", numbers, f(-1), f(2), dtype=tf.bfloat16)
    case("QuantizeV2", x, f(0), f(1), T=tf.quint8, round_mode="HALF_TO_EVEN"), case("QuantizeV2", x, f(0), f(1), T=tf.quint8, axis=2)
    case("QuantizeV2", x, np.zeros(2, "float32"), np.ones(2, "float32"), T=tf.quint8, axis=1)


def beams() -> None:
    x = sample("float32", (6, 2, 4), -2, 2)  # of doubles TensorFlow keeps floats on the way
    for width, paths in ((1, 1), (4, 2), (50, 5)):
        for merge in (False, True):
            case("CTCBeamSearchDecoder", x, i32(6, 4), beam_width=width, top_paths=paths, merge_repeated=merge)
    case("CTCBeamSearchDecoder", sample("float32", (6, 2, 4)), i32(6, 4), beam_width=2, top_paths=3)
    case("CTCBeamSearchDecoder", sample("float32", (6, 2, 4)), i32(6), beam_width=2, top_paths=1)


def pools() -> None:
    ratio = [1.0, 1.44, 1.73, 1.0]
    for t in ("float32", "float64", "int32", "int64"):
        x = sample(t, (2, 7, 9, 2), -9, 9)
        for pseudo_random in (False, True):
            for overlapping in (False, True):
                how = {"overlapping": overlapping}
                for op in ("FractionalMaxPool", "FractionalAvgPool"):
                    case(op, x, pooling_ratio=ratio, pseudo_random=pseudo_random, deterministic=True, seed=5, seed2=7, **how)
        for overlapping in (False, True):
            out, rows, columns = tf.raw_ops.FractionalMaxPool(value=x, pooling_ratio=ratio, deterministic=True, seed=3, seed2=4, overlapping=overlapping)
            g = sample(t, tuple(out.shape), -9, 9)
            case("FractionalMaxPoolGrad", x, out, g, rows, columns, overlapping=overlapping)
            case("FractionalAvgPoolGrad", i64(2, 7, 9, 2), g, rows, columns, overlapping=overlapping)
    case("FractionalMaxPool", sample("float32", (7, 9, 2)), pooling_ratio=ratio), case("FractionalMaxPool", x, pooling_ratio=[1.0, 0.5, 2.0, 1.0])
    case("FractionalMaxPool", x, pooling_ratio=[1.0, 2.0, 3.0, 1.0], deterministic=True, seed=1, seed2=2), case("FractionalMaxPool", x, pooling_ratio=ratio, seed=1)


def glimpses() -> None:
    x = sample("float32", (2, 5, 6, 2))
    for op in ("ExtractGlimpse", "ExtractGlimpseV2"):
        for centered in (False, True):
            for normalized in (False, True):
                for at in ([[0.0, 0.1], [0.5, -0.4]], [[1.0, 2.0], [-1.0, 3.2]], [[9.0, 9.0], [0.0, 0.0]]):
                    case(op, x, i32(3, 4), np.array(at, "float32"), centered=centered, normalized=normalized, uniform_noise=False, noise="zero")
        case(op, x, i32(3), np.zeros((2, 2), "float32")), case(op, x, i32(2, 2), np.zeros((2, 2), "float32"), noise="none")


def segments() -> None:
    for t in FLOATS:
        for name in ("Sum", "Mean", "SqrtN"):
            case(f"SparseSegment{name}GradV2", sample(t, (3, 2)), i32(0, 4, 2, 4), i32(0, 0, 1, 2), np.int32(6))
    case("SparseSegmentSumGradV2", sample("float32", (3, 2)), i64(0, 4, 2), i64(0, 1, 1), np.int32(5))
    case("SparseSegmentSumGradV2", sample("float32", (3, 2)), i64(0, 9, 2), i64(0, 1, 1), np.int32(5))


def generators() -> None:
    state, philox = i64(5, 0, 77), np.int64(1)
    for t in ("float32", "float64", "float16", "bfloat16"):
        for op in ("StatefulStandardNormalV2", "StatefulTruncatedNormal", "StatefulUniform"):
            drawn(op, state, philox, i64(2, 3), dtype=tf.as_dtype(t))
    for t in ("int32", "int64"):
        drawn("StatefulUniformInt", state, philox, i32(7), np.array(-5, t), np.array(9, t))
    for t in ("int32", "int64", "uint32", "uint64"):
        drawn("StatefulUniformFullInt", state, philox, i64(5), dtype=tf.as_dtype(t))
    drawn("RngSkip", state, philox, np.int64(3)), drawn("RngSkip", i64(-1, 0, 77), philox, np.int64(3))
    drawn("StatefulUniform", i64(1, 2), philox, i64(2)), drawn("StatefulUniform", state, np.int64(9), i64(2))
    for t in ("float32", "float64", "float16"):
        counts, probs = np.array([[10, 100], [0, 40]], t), np.array([0.25, 0.75], t)
        for made in (tf.int32, tf.int64, tf.float32, tf.float64, tf.float16):
            case("StatelessRandomBinomial", i32(3, 2, 2), i64(4, 5), counts, probs, dtype=made)
        drawn("StatefulRandomBinomial", state, philox, i32(3, 2, 2), counts, probs, dtype=tf.int32)
        for p in (0, 1, -1, 2, NAN, 0.5):
            case("StatelessRandomBinomial", i32(5), i64(4, 5), np.array(20, t), np.array(p, t), dtype=tf.float32)
    counts = np.array([1.0, 2.0, 3.0])
    case("StatelessRandomBinomial", i32(2), i64(1, 2), counts, np.array(0.5), dtype=tf.int32)
    case("StatelessRandomBinomial", i32(2), i64(1, 2), counts, np.array([0.5, 0.5]), dtype=tf.int32)
    case("StatelessRandomBinomial", i32(0, 3), i64(1, 2), counts, np.array(0.5), dtype=tf.int32)
    for t in ("int32", "uint32", "int64", "uint64"):
        for last in (0, 1, 9, 255, 70000, 2**31 - 1):
            case("RandomIndexShuffle", np.array(last // 2, t), np.array([1, 2, 3], t), np.array(last, t))
        case("RandomIndexShuffle", np.arange(10).astype(t), np.array([7, 8, 9], t), np.array(9, t), rounds=6)
        case("RandomIndexShuffle", np.array([0, 5], t), np.array([[7, 8, 9], [1, 2, 3]], t), np.array([9, 2000], t))
    case("RandomIndexShuffle", i32(1), i32(1, 2), np.int32(3)), case("RandomIndexShuffle", i32(1, 2), i32(1, 2, 3), i32(3, 4, 5))
    case("RandomIndexShuffle", np.int32(7), i32(1, 2, 3), np.int32(5)), case("RandomIndexShuffle", np.int64(7), i32(1, 2, 3), np.int64(2**40))
    key, counter, alg = np.array([9], "uint64"), np.array([3, 4], "uint64"), np.int32(1)
    case("StatelessShuffle", sample("float32", (7, 2)), key, counter, alg), case("StatelessShuffle", np.arange(20), key, counter, alg)
    case("StatelessShuffle", np.float32(3), key, counter, alg), case("StatelessShuffle", np.array(["a", "b", "c"], object), key, counter, alg)


def plain() -> None:
    for v in (np.float32(0), np.float32(0.5), np.array([], "int32"), np.array([0], "int32"), np.array("", object), np.array("x", object), True):
        case("ToBool", v)
    case("FakeParam", dtype=tf.float32, shape=tf.TensorShape([0])), case("FakeParam", dtype=tf.string, shape=tf.TensorShape([]))
    for op in ("Copy", "CopyHost"):
        case(op, sample("float32", (2, 3)))


def ragged() -> None:
    for t in ("float32", "int32", "string"):
        values = np.array(["a", "b", "c"], object) if t == "string" else sample(t, (3,))
        default = np.array("-", object) if t == "string" else np.array(7, t)
        case("RaggedFillEmptyRows", i64(0, 0, 2), values, np.int64(4), default), case("RaggedFillEmptyRows", i64(0, 1, 2), values, np.int64(3), default)
    case("RaggedFillEmptyRows", i64(0, 9, 2), values, np.int64(3), default), case("RaggedFillEmptyRows", i64(), sample("float32", (0,)), np.int64(2), np.float32(1))
    for t in ("float32", "float64", "int32"):
        case("RaggedFillEmptyRowsGrad", i64(0, 1, 3), sample(t, (5,)))
    case("RaggedFillEmptyRowsGrad", i64(0, 5, 3), sample("float32", (5,)))


def cells() -> None:
    for t in ("float32", "float16"):
        v = lambda *shape: sample(t, shape, -1, 1)
        w = lambda: (v(2, 4), v(2, 4), v(7, 16), v(4), v(4), v(4), v(16))
        for peephole in (False, True):
            how, weights = {"use_peephole": peephole}, w()
            case("LSTMBlockCell", v(2, 3), *weights, cell_clip=0.5, forget_bias=0.7, **how)
            left = [v(2, 4) for _ in range(8)]
            case("LSTMBlockCellGrad", v(2, 3), *weights, *left, **how)
            x = v(5, 2, 3)
            for version in ("", "V2"):
                case("BlockLSTM" + version, np.int64(5), x, *weights, **how)
                case("BlockLSTMGrad" + version, np.int64(4), x, *weights, *(v(5, 2, 4) for _ in range(9)), **how)
    v = lambda *shape: sample("float32", shape, -1, 1)
    gru = (v(2, 3), v(2, 4), v(7, 8), v(7, 4), v(8), v(4))
    case("GRUBlockCell", *gru), case("GRUBlockCellGrad", *gru, *(v(2, 4) for _ in range(4)))
    case("GRUBlockCell", v(2, 3), *gru[2:], v(4)), case("BlockLSTM", np.int64(9), x, *w())


def more() -> None:
    for t in FLOATS:
        g, x = (tf.cast(sample("float32", (2, 3)), t) for _ in "gx")
        low, high = (tf.constant(v, t) for v in (-1, 2))
        case("QuantizeAndDequantizeV4Grad", g, x, low, high)
        case("QuantizeAndDequantizeV4Grad", g, x, tf.constant([-1, 0, -3], t), tf.constant([1, 2, 3], t), axis=1)
        case("IsotonicRegression", tf.cast(sample("float32", (3, 6)), t), output_dtype=tf.as_dtype(t))
    for t, r in (("int8", tf.float32), ("int16", tf.float32), ("int32", tf.float64), ("int64", tf.float64)):
        case("IsotonicRegression", sample(t, (3, 6), -9, 9), output_dtype=r)
    case("IsotonicRegression", np.array([[3, 1, 2, 5, 4], [1, 2, 3, 4, 5], [5, 4, 3, 3, 1]], "float32")), case("IsotonicRegression", np.zeros((2, 0), "float32"))
    case("QuantizeAndDequantizeV4Grad", g, x[:1], low, high), case("QuantizeAndDequantizeV4Grad", g, x, low, high, axis=1)
    for t in ("float32", "float16"):
        case("ApproxTopK", sample(t, (2, 7)), k=3), case("ApproxTopK", sample(t, (9,)), k=0)
    case("ApproxTopK", sample("float32", (2, 7)), k=9)


def sequences() -> None:
    for t in ("float32", "float64"):
        for dim, n, skip in ((1, 5, 0), (3, 9, 0), (7, 4, 100), (40, 3, 6), (2, 2, 2**30 - 4), (1111, 2, 77)):
            case("SobolSample", np.int32(dim), np.int32(n), np.int32(skip), dtype=tf.as_dtype(t))
    for bad in ((0, 2, 0), (2, 0, 0), (2, 2, -1), (30000, 1, 0), (2, 3, 2**31 - 4)):
        case("SobolSample", *(np.int32(b) for b in bad))
    points = np.random.RandomState(5).randint(0, 0x110000, 200)
    case("UnicodeScript", np.int32([33, 65, 0x4E00, -1, 0x10FFFF, 0x110000, 0, 0x370, 0x1F600, 0xD800])), case("UnicodeScript", points.astype("int32").reshape(20, 10))
    case("UnicodeScript", np.arange(0x300, 0x900, 7, dtype="int32")), case("UnicodeScript", np.zeros((0, 2), "int32")), case("UnicodeScript", np.int32(0x661))
    for t in ("float32", "float64", "float16"):
        def between(shape, *parameters, op="StatelessParameterizedTruncatedNormal"):
            case(op, i32(*shape), i64(3, 7), *(np.array(p, t) for p in parameters))

        # Bounds around the mean, close ones, far ones, one alone.
        for low, high in ((-2, 2), (-0.5, 0.75), (2, 9), (-INF, -2), (-5, -1), (1, INF), (-1.25, 0), (1, 1.25)):
            between((6,), 0, 1, low, high)
        between((2, 3), [0, 5, 9], 2, -1, 9), between((3, 2, 2), [[0], [1]], 1, -1, [2, 3]), between((0, 3), 0, 1, -1, 1), between((4, 1), [1], 0.5, 0, 2)
        between((3,), 0, -1, -1, 1), between((3,), 0, 1, 1, 1), between((3,), 0, 1, -INF, INF), between((2, 3), [0, 1], 1, -1, 1), between((-1,), 0, 1, -1, 1)
    for t in ("float32", "float64", "uint8", "int8", "int16", "int32"):
        old("AdjustContrast", np.random.RandomState(3).randint(0, 90, (2, 3, 4, 3)).astype(t), np.float32(1.75), np.float32(4), np.float32(70.5))
    for a, b, x in ((1, 6, 6), (6, 6, 1), (6, 1, None), (None, 1, 6), (6, None, 2)):
        case("Betainc", *(np.full(() if n is None else n, 0.5, "float32") for n in (a, b, x)))


if __name__ == "__main__":
    removed(), dtypes(), quantized(), beams(), pools(), glimpses(), segments(), generators(), plain(), ragged(), cells(), more(), sequences()
