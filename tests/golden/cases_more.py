"""More calls for make_cpu_kernels.py: matrices, strings, Einsum, distributions, rarer ops.

usage: cases_more.py > cpu_kernels_more.txt        (needs TensorFlow; the tests need only the file)
"""
import numpy as np
import tensorflow as tf

from make_cpu_kernels import COMPLEX, FLOATS, INF, INTS, NAN, UNSIGNED, case, sample, update

MATRICES = ["float32", "float64", *COMPLEX]


def i32(*v):
    return np.array(v, "int32")


def i64(*v):
    return np.array(v, "int64")


def strings(*v):
    return np.array(v, object)


def positive(dtype, *shape):
    """Self-adjoint matrices with all eigenvalues well above 0."""
    a = sample(dtype, shape, -1, 1)
    return (a @ np.conj(np.swapaxes(a, -1, -2)) + 3 * np.eye(shape[-1])).astype(dtype)


def regular(dtype, *shape):
    return (sample(dtype, shape, -1, 1) + 4 * np.eye(shape[-2], shape[-1])).astype(dtype)


def matrices() -> None:
    for t in MATRICES:
        for adjoint in (False, True):
            case("MatrixInverse", regular(t, 2, 3, 3), adjoint=adjoint)
            case("MatrixSolve", regular(t, 2, 3, 3), sample(t, (2, 3, 2)), adjoint=adjoint)
            for lower in (False, True):
                case("MatrixTriangularSolve", regular(t, 2, 3, 3), sample(t, (3, 2)), lower=lower, adjoint=adjoint)
                case("BandedTriangularSolve", 2 + sample(t, (2, 4), 0, 1), sample(t, (4, 2)), lower=lower, adjoint=adjoint)
        case("MatrixDeterminant", regular(t, 2, 3, 3)), case("LogMatrixDeterminant", regular(t, 2, 3, 3))
        case("Cholesky", positive(t, 2, 3, 3)), case("Lu", regular(t, 2, 3, 3))
        case("SelfAdjointEigV2", np.diag([1, 2, 3]).astype(t)), case("MatrixSolveLs", regular(t, 5, 3), sample(t, (5, 2)), np.float64(0.1))
        case("MatrixSolveLs", regular(t, 3, 5), sample(t, (3, 2)), np.float64(0), fast=False)
        case("MatrixSolveLs", regular(t, 3, 5), sample(t, (3, 2)), np.float64(0.5))
        for full in (False, True):
            case("Qr", regular(t, 2, 4, 3), full_matrices=full), case("Qr", regular(t, 3, 4), full_matrices=full)
        case("TridiagonalSolve", regular(t, 3, 5), sample(t, (5, 2))), case("TridiagonalMatMul", *(sample(t, (1, 4)) for _ in range(3)), sample(t, (4, 2)))
        case("TridiagonalSolve", regular(t, 3, 4), sample(t, (4, 2)), partial_pivoting=False)
    for t in ("float32", "float64"):
        case("CholeskyGrad", np.tril(positive(t, 3, 3)), sample(t, (3, 3))), case("Svd", np.diag([3, 2, 1]).astype(t)[:, :2])
    case("MatrixInverse", regular("float16", 3, 3)), case("Qr", regular("float16", 3, 2))
    zeros = lambda *s: np.zeros(s, "float32")
    for op in "MatrixInverse MatrixDeterminant LogMatrixDeterminant Cholesky Lu SelfAdjointEigV2 Svd Qr".split():
        case(op, zeros(0, 0)), case(op, zeros(2, 0, 0)), case(op, zeros(3))
    for op in "MatrixInverse MatrixDeterminant Cholesky Lu SelfAdjointEigV2".split():
        case(op, zeros(2, 3))
    for op in "MatrixInverse Lu MatrixDeterminant LogMatrixDeterminant".split():
        case(op, zeros(2, 2))
    case("Cholesky", -np.eye(1, dtype="float32")), case("SelfAdjointEigV2", np.full((2, 2), NAN, "float32"))
    for full in (False, True):
        case("Qr", zeros(0, 2), full_matrices=full), case("Qr", zeros(3, 0), full_matrices=full), case("Svd", zeros(3, 0), full_matrices=full)
    case("MatrixSolve", zeros(2, 2), zeros(2, 1)), case("MatrixSolve", np.eye(2), np.zeros((3, 1))), case("MatrixSolve", zeros(2, 2, 2), zeros(3, 2, 1))
    case("MatrixTriangularSolve", np.eye(2), np.zeros((3, 1))), case("MatrixSolveLs", zeros(2, 2), zeros(2, 1), np.float64(-1))
    case("MatrixSolveLs", zeros(2, 2), zeros(2, 1), np.float64(0)), case("TridiagonalSolve", zeros(3, 3), zeros(3, 1))
    case("BandedTriangularSolve", zeros(2, 3), np.ones((3, 1), "float32"))
    for t in FLOATS + INTS + UNSIGNED:
        case("Cross", sample(t, (2, 3)), sample(t, (2, 3)))
    case("Cross", zeros(2, 2), zeros(2, 2)), case("Cross", zeros(2, 3), zeros(3, 3))


def einsum() -> None:
    a, b = sample("float32", (2, 3)), sample("float32", (3, 4))
    big = sample("float32", (5, 2, 3))
    for equation, *inputs in [
        ("ij,jk->ik", a, b), ("ij,jk->ki", a, b), ("ij->ji", a), ("ij->", a), ("ij->i", a), ("ij->j", a), ("...j,jk->...k", big, b),
        ("...ij,...jk->...ik", big[:1], sample("float32", (4, 3, 2))), ("ii->i", b[:, :3]), ("ii->", b[:, :3]), ("i->ii", b[0]),
        ("ij,ij->ij", a, a), ("ij,ij->", a, a), ("i,j->ij", a[0], b[0]), ("ij,->ij", a, np.float32(2)), (",->", np.float32(2), np.float32(3)),
        ("bij,bjk->bik", big, sample("float32", (5, 3, 2))), ("bij,bkj->bik", big, sample("float32", (5, 7, 3))), ("ijk,k->ji", big, b[:, 0]),
        ("ijk,lk->ljki", big, sample("float32", (2, 3))), ("abc,cd->bd", big, b), ("iij,jk->ik", sample("float32", (2, 2, 3)), b),
        ("...->...", big), ("...i->i...", big), ("i...j,j...->i...", big, sample("float32", (3, 2))), ("ij,jk->ik", a[:0], b), ("ij,jk->ik", a[:, :0], b[:0]),
        ("ij,jk", a, b), ("ij,kj->ik", a, b), ("i->i", a), ("...->", a), ("ii->i", a), ("a,b,c->", a[0], a[0], a[0]), ("i->ij", a[0]), ("aB,B->a", a, a[0]),
    ]:
        case("Einsum", inputs, equation=equation, N=len(inputs))
    for t in FLOATS + COMPLEX + ["int32", "int64"]:
        case("Einsum", [sample(t, (2, 3)), sample(t, (3, 2))], equation="ij,jk->ki", N=2)
        case("Einsum", [sample(t, (2, 3)), sample(t, (3,))], equation="ij,j->ij", N=2), case("Einsum", [sample(t, (2, 3))], equation="ij->j", N=1)


def random() -> None:
    for t in ("float32", "float64", "float16"):
        alpha = np.array([[1, 0.5], [3, 12.5]], t)
        case("RandomGamma", i32(3), alpha, seed=3, seed2=7), case("RandomGamma", i32(0), alpha, seed=3, seed2=7)
        case("StatelessRandomGammaV2", i32(3, 2, 2), i64(4, 5), alpha)
        case("StatelessRandomGammaV3", i32(3, 2, 2), np.array([4], "uint64"), np.array([0, 5], "uint64"), np.int32(1), alpha)
        case("RandomPoisson", i32(4), np.array([0, 0.5, 9, 10, 300], t), seed=1, seed2=9)
        case("RandomPoissonV2", i32(4), np.array([0, 0.5, 9, 10, 300], t), seed=2, seed2=9, dtype=tf.as_dtype(t))
        case("RandomPoissonV2", i32(4), np.array([0, 0.5, 9, 10, 300], t), seed=2, seed2=9, dtype=tf.int32)
    case("StatelessRandomGammaV2", i32(2, 2), i64(1, 2), np.ones(3, "float32")), case("RandomGamma", i32(-2), np.ones(3, "float32"), seed=1, seed2=1)
    case("StatelessRandomPoisson", i32(5, 3), i64(1, 2), np.array([1, 20, 0.1]), dtype=tf.int64)
    for t in FLOATS + ["int32"]:
        case("Multinomial", sample(t, (3, 4)), np.int32(7), seed=1, seed2=5)
        case("StatelessMultinomial", sample(t, (3, 4)), np.int32(7), i64(1, 5))
    case("Multinomial", np.ones((2, 3), "float32"), np.int32(3), seed=1, seed2=5, output_dtype=tf.int32)
    for logits, n in ((np.ones((2, 0), "float32"), np.int32(1)), (np.ones(2, "float32"), np.int32(1)), (np.ones((2, 3), "float32"), np.int32(-1)),
                      (np.ones((0, 3), "float32"), np.int32(2)), (np.array([[NAN, 0, -INF, INF]], "float32"), np.int32(9))):
        case("Multinomial", logits, n, seed=1, seed2=2)
    for t in ("float32", "float64"):
        case("RandomGammaGrad", np.array([0.5, 1, 3], t), np.array([0.1, 1, 2], t))


def special() -> None:
    for op in "I0 I0e I1 I1e J0 J1 K0 K0e K1 K1e Y0 Y1".split():
        for t in ("float32", "float64"):
            case("Bessel" + op, np.array([0.1, 0.5, 1, 2.5, 6], t))
    for op in "Dawsn Expint FresnelCos FresnelSin Spence".split():
        for t in ("float32", "float64", "float16"):
            case(op, np.array([0.1, 0.5, 1, 1.4, 2.5, 6, 9, 45], t))
    rows, ids = i32(0, 1, 3, 1), i32(0, 0, 2, 2)
    for op in "Sum Mean SqrtN".split():
        for t in FLOATS:
            case("SparseSegment" + op, sample(t, (4, 2)), rows, ids), case(f"SparseSegment{op}Grad", sample(t, (3, 2)), rows, ids, np.int32(5))
            case(f"SparseSegment{op}WithNumSegments", sample(t, (4, 2)), rows, ids, np.int32(4))
        for bad, number in ((i32(0, 9, 3, 1), 4), (i32(0, 1), 4), (rows, 2), (rows, -1)):
            case(f"SparseSegment{op}WithNumSegments", np.ones((4, 2), "float32"), bad, ids, np.int32(number))
        case("SparseSegment" + op, np.ones((4, 2), "float32"), rows, i32(0, 2, 1, 3)), case("SparseSegment" + op, np.ones((4, 2), "float32"), i32(), i32())
        case(f"SparseSegment{op}Grad", np.ones((2, 2), "float32"), rows, ids, np.int32(5)), case(f"SparseSegment{op}Grad", np.ones((3, 2), "float32"), rows, ids, np.int32(2))
    case("SparseSegmentSum", sample("int32", (4, 2)), rows, ids)
    for t in ("int32", "int64", "float32", "float64"):
        case("Bucketize", np.array([-5, 0, 3, 10, 99], t), boundaries=[0.0, 10.0, 100.0])
    for t in FLOATS + INTS:
        for reverse in (False, True):
            case("NthElement", sample(t, (2, 5), -9, 9), np.int32(2), reverse=reverse)
    case("NthElement", np.ones(3, "float32"), np.int32(3)), case("NthElement", np.ones(3, "float32"), np.int32(-1))
    case("UnravelIndex", i32(2, 5, 7), i32(3, 3)), case("UnravelIndex", np.int32(4), i32(3, 3)), case("UnravelIndex", i32(9), i32(3, 3)), case("UnravelIndex", i32(0), i32(3, 0))
    for op in "Update Add Sub".split():
        case("Inplace" + op, np.arange(6, dtype="float32").reshape(3, 2), i32(2, 0), np.ones((2, 2), "float32"))
    case("Fingerprint", strings("a", "bc"), "farmhash64"), case("Fingerprint", np.arange(6, dtype="int32").reshape(2, 3), "farmhash64")
    case("GuaranteeConst", np.ones(2)), case("DeepCopy", np.ones(2)), case("Fingerprint", strings("a"), "md5")


def text() -> None:
    a = strings("a", "bc", "", "d é")
    for sep in ("", "-", ", "):
        case("StringJoin", [a, strings("x", "y", "z", "w")], N=2, separator=sep), case("StringJoin", [a, np.array("q", object)], N=2, separator=sep)
    case("StringJoin", [a, a[:1]], N=2), case("StringJoin", [a], N=1)
    numbers = np.array([1.5, -0.0, 1e10, 1e-7, NAN, INF, -INF, 123456.789])
    options = [{}, dict(precision=3), dict(scientific=True), dict(shortest=True), dict(width=10), dict(width=10, fill="0"), dict(width=10, fill="-"),
               dict(width=8, fill=" "), dict(fill="+"), dict(precision=2, width=12, fill="0", scientific=True), dict(shortest=True, precision=4)]
    for o in options:
        case("AsString", numbers.astype("float32"), **o), case("AsString", numbers, **o)
    for t in FLOATS + INTS + UNSIGNED + COMPLEX + ["bool"]:
        case("AsString", sample(t, (3,)))
    case("AsString", i32(5, -3), width=6, fill="0"), case("AsString", i32(5, -3), precision=2), case("AsString", i32(5), scientific=True)
    case("AsString", i32(5), fill="ab"), case("AsString", i32(5), fill="x"), case("AsString", a, width=4), case("AsString", sample("complex64", (2,)), width=9, precision=1)
    for t in (tf.float32, tf.float64, tf.int32, tf.int64, tf.uint32, tf.uint64):
        for s in ("1", "  1  ", "-7", "1.5", "1e3", "0x10", "nan", "inf", "", "abc", "1 2", "+3", "99999999999", "1e400", ".5", "5.", "--1", "+-1", "1f"):
            case("StringToNumber", strings(s), out_type=t)
    case("StringFormat", [np.arange(12)], template="a %s b"), case("StringFormat", [strings("x", "y")], template="{}", placeholder="{}")
    case("StringFormat", [np.arange(60, dtype="float32").reshape(3, 4, 5)], template="{} z", placeholder="{}", summarize=1)
    case("StringFormat", [np.array("s", object), np.float32(1.5)], template="{} {}", placeholder="{}", summarize=-1), case("StringFormat", [np.int32(1)], template="no", placeholder="{}")
    case("StringFormat", [np.zeros((2, 0), "float32")], template="{}", placeholder="{}"), case("StringFormat", [np.array([True, False])], template="%s")
    for unit in ("BYTE", "UTF8_CHAR"):
        case("StringLength", strings("aé", "", "日本"), unit=unit)
        for p, n in ((0, 2), (-3, 2), (5, 1), (6, 1), (-6, 1), (2, -1), (1, 100)):
            case("Substr", strings("héllo"), np.int32(p), np.int32(n), unit=unit)
    case("Substr", strings(["hello", "world"], ["abcde", "fghij"]), i64(1, 2), i64(1, 2)), case("Substr", strings("ab", "cd"), i32(1, 2, 3), i32(1, 2, 3))
    case("Substr", np.array("hello", object), i32(1, 2, 3), i32(1, 2, 3)), case("Substr", strings("ab"), i32(1), np.int32(1)), case("Substr", strings(["hello"], ["world"]), i32(1, 2), i32(1, 2))
    for op in "StringLower StringUpper".split():
        case(op, strings("AbÉé1", "")), case(op, strings("AbÉéßﬁ1", "ÄÖ"), encoding="utf-8"), case(op, strings("a"), encoding="x")
    case("StringStrip", strings(" a b\t\n\v\f\r ", "", "  "))
    for s, d in (("a b  c", " "), ("a b  c", ""), (" a,b ;c", ",;"), ("", "x"), ("  ", "")):
        for k in (True, False):
            case("StringSplit", strings(s, "q"), np.array(d, object), skip_empty=k)
    for s, d, m in ((" a b  c ", " ", -1), (" a  b c ", "", -1), ("a<>b<>c", "<>", -1), ("a<>b<>c", "<>", 1), (" a b c  ", "", 1), ("", "", -1), ("", "x", -1),
                    ("a<>b<>c", "<>", 0), ("  a b ", "", 0), ("aaa", "aa", -1)):
        case("StringSplitV2", strings(s, "q"), np.array(d, object), maxsplit=m)
    case("StringSplitV2", np.array("a b", object), np.array("", object)), case("StringSplitV2", strings("a b"), strings("a"))
    for s, p, r in (("hello world", "(\\w+) (\\w+)", "\\2 \\1"), ("aaa", "a", "b"), ("aaa", "(", "b"), ("aaa", "a", "\\1"), ("é", ".", "x")):
        for g in (True, False):
            case("RegexReplace", strings(s, ""), np.array(p, object), np.array(r, object), replace_global=g)
            case("StaticRegexReplace", strings(s, ""), pattern=p, rewrite=r, replace_global=g)
    for p in ("ab.", "a|abc", "(", ""):
        case("RegexFullMatch", strings("abc", "ab", ""), np.array(p, object)), case("StaticRegexFullMatch", strings("abc", "ab", ""), pattern=p)
    case("RegexFullMatch", strings("abc"), strings("a"))
    m = strings(["a", "b"], ["c", "d"])
    for axes in ([], [0], [1], [0, 1], [1, 0], [-1], [2], [0, 0]):
        case("ReduceJoin", m, i32(*axes), separator=","), case("ReduceJoin", m, i32(*axes), keep_dims=True)
    case("ReduceJoin", np.zeros((0, 2), object), i32(0)), case("ReduceJoin", strings(["a", "b"], ["c", "d"]).reshape(2, 1, 2), i32(2, 0), separator=".")
    case("UnsortedSegmentJoin", strings("a", "b", "c"), i32(1, 0, 1), np.int32(3), separator=":"), case("UnsortedSegmentJoin", m, i32(1, 0), np.int32(3), separator=":")
    case("UnsortedSegmentJoin", m, i32(1, 0, 1, 1).reshape(2, 2), np.int32(3)), case("UnsortedSegmentJoin", strings("a", "b"), i32(-1, 0), np.int32(3))
    case("UnsortedSegmentJoin", strings("a", "b"), i32(7, 0), np.int32(3)), case("UnsortedSegmentJoin", strings("a", "b"), i32(1), np.int32(3)), case("UnsortedSegmentJoin", strings("a"), i32(0), np.int32(-3))
    lengths = [0, 1, 3, 4, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 200, 1000]
    words = np.array([bytes((7 * i + n) % 251 + 1 for i in range(n)) for n in lengths], object)
    for op in "StringToHashBucketFast StringToHashBucket".split():
        case(op, words, num_buckets=2**62), case(op, words, num_buckets=10)
    case("StringToHashBucketStrong", words, num_buckets=2**62, key=[1, 2]), case("StringToHashBucketStrong", words, num_buckets=7, key=[1])
    for t in ("float16", "float32", "float64", "int32", "uint16", "uint8", "int16", "int8", "int64", "complex64", "complex128", "bool", "bfloat16"):
        for little in (True, False):
            case("DecodeRaw", strings(b"\x01\x02\x00\x40" * 8, b"\x03\x00\x01\x3f" * 8) if t != "bool" else strings(b"\x01\x00"), out_type=tf.as_dtype(t), little_endian=little)
    case("DecodeRaw", strings("abc"), out_type=tf.int16), case("DecodeRaw", strings("abcd", "ab"), out_type=tf.int16), case("DecodeRaw", strings(), out_type=tf.int16), case("DecodeRaw", strings(""), out_type=tf.int16)
    for n in (4, 2, 3, 0, -1):
        case("DecodePaddedRaw", strings("abcd", "ab", ""), np.int32(n), out_type=tf.int16)
    for pad in (True, False):
        case("EncodeBase64", strings("hello?>", "", "a", "ab", "abc"), pad=pad)
    for s in ("aGVsbG8_Pg", "aGVsbG8_Pg==", "a", "a+b=", "aGVsbG8_Pg=", "YWI=", "", "===="):
        case("DecodeBase64", strings(s))
    for s in ("aé\U0001f600".encode(), b"a\xff\xe9b", b"\xe2\x82", b"\xf0\x9f\x98a", b"a\x01b", b""):
        for errors in ("replace", "ignore", "strict"):
            case("UnicodeDecode", np.array([s], object), input_encoding="UTF-8", errors=errors), case("UnicodeTranscode", np.array([s], object), input_encoding="UTF-8", output_encoding="UTF-16-BE", errors=errors)
        case("UnicodeDecodeWithOffsets", np.array([s], object), input_encoding="UTF-8", replace_control_characters=True)
    case("UnicodeDecode", np.array([b"\x00a\x00b"], object), input_encoding="UTF-16-BE"), case("UnicodeDecode", np.array([b"a"], object), input_encoding="foo")
    for e in ("UTF-8", "UTF-16-BE", "UTF-32-BE"):
        for errors in ("replace", "ignore", "strict"):
            case("UnicodeEncode", i32(97, 233, 128512, 0xD800, -1), i64(0, 2, 5), output_encoding=e, errors=errors)
    case("UnicodeEncode", i32(97, 98), i64(0, 5), output_encoding="UTF-8"), case("UnicodeEncode", i32(97, 98), i64(0, 2, 1, 2), output_encoding="UTF-8"), case("UnicodeEncode", i32(97, 98), i64(), output_encoding="UTF-8")


def training() -> None:
    for t in ("float32", "float64"):
        v = lambda *s: sample(t, s or (3, 2), 0.5, 1.5)
        c = lambda x: np.array(x, t)
        rows = i32(2, 0)
        update("ResourceApplyAdaMax", [v(), v(), v()], c(0.9), c(0.1), c(0.9), c(0.99), c(1e-3), v())
        update("ResourceApplyAdamWithAmsgrad", [v(), v(), v(), v()], c(0.9), c(0.99), c(0.1), c(0.9), c(0.99), c(1e-3), v())
        for op in "AddSign PowerSign".split():
            update(f"ResourceApply{op}", [v(), v()], c(0.1), c(0.5), c(0.9), c(0.8), v() - c(1))
        for l1 in (0, 0.2):
            update("ResourceApplyProximalGradientDescent", [v()], c(0.1), c(l1), c(0.3), v())
            update("ResourceApplyProximalAdagrad", [v(), v()], c(0.1), c(l1), c(0.3), v())
            update("ResourceApplyAdagradDA", [v(), v(), v()], v(), c(0.1), c(l1), c(0.3), np.int64(3))
            update("ResourceSparseApplyProximalGradientDescent", [v()], c(0.1), c(l1), c(0.3), v(2, 2), rows)
            update("ResourceSparseApplyProximalAdagrad", [v(), v()], c(0.1), c(l1), c(0.3), v(2, 2), rows)
            update("ResourceSparseApplyAdagradDA", [v(), v(), v()], v(2, 2), rows, c(0.1), c(l1), c(0.3), np.int64(3))


def rest() -> None:
    x = sample("float32", (3, 2))
    for op in "Identity Snapshot StopGradient PreventGradient".split():
        case(op, x), case(op, strings("a", "b"))
    case("IdentityN", [x, i32(1, 2)]), case("EnsureShape", x, shape=tf.TensorShape([3, 2])), case("EnsureShape", x, shape=tf.TensorShape([2, 3]))
    case("AccumulateNV2", [x, x], N=2, shape=tf.TensorShape([3, 2])), case("BiasAddV1", x, sample("float32", (2,))), case("BiasAddV1", x, sample("float32", (3,)))
    case("CheckNumericsV2", x, message="m"), case("CheckNumericsV2", np.array([NAN], "float32"), message="m"), case("Eig", np.diag([1.0, 2.0, 3.0]), Tout=tf.complex128)
    case("ParallelDynamicStitch", [i32(0, 3), i32(1)], [x[:2], x[2:]], N=2), case("ScatterNdNonAliasingAdd", x, i32(0, 2, 0).reshape(3, 1), np.ones((3, 2), "float32"))
    for op in "Sum Prod Max Min".split():
        case(f"Segment{op}V2", sample("float32", (4, 2)), i32(0, 0, 2, 1), np.int32(4)), case(f"Segment{op}V2", sample("float32", (2, 2)), i32(0, 9), np.int32(4))
    case("TopK", np.array([1], "float32"), k=2)
    case("Empty", i32(2, 0), dtype=tf.float32, init=True), case("Empty", i32(2, 3), dtype=tf.int32, init=True), case("Empty", i32(-2), dtype=tf.int32, init=True)
    for op in "Add Sub".split():
        update(f"Assign{op}VariableOp", [x], np.ones((3, 2), "float32")), update(f"Assign{op}VariableOp", [x], np.ones(3, "float32"))
    update("ResourceStridedSliceAssign", [x], i32(0, 1), i32(2, 2), i32(1, 1), np.full((2, 1), 9, "float32"))
    update("ResourceStridedSliceAssign", [x], i32(0, 1), i32(2, 2), i32(1, 1), np.full((3, 1), 9, "float32"))


def matrix_functions() -> None:
    for t in MATRICES:
        case("MatrixSquareRoot", positive(t, 2, 3, 3))
    for t in COMPLEX:
        case("MatrixLogarithm", positive(t, 2, 3, 3))
        for op in ("MatrixSquareRoot", "MatrixLogarithm"):
            case(op, np.full((2, 2), NAN, t)), case(op, np.zeros((0, 0), t))
            case(op, np.zeros((2, 3), t)), case(op, np.zeros(3, t))


def candidates() -> None:
    labels = i64(1, 2, 30).reshape(3, 1)
    for kind in "Uniform LogUniform LearnedUnigram ThreadUnsafeUnigram".split():
        for unique in (False, True):
            how = dict(num_sampled=6, unique=unique, seed=3, seed2=5)
            case(f"{kind}CandidateSampler", labels, num_true=1, range_max=50, **how), case(f"{kind}CandidateSampler", labels, num_true=1, range_max=64, **how)
            case(f"{kind}CandidateSampler", i64(0, 1, 2, 3).reshape(2, 2), num_true=2, range_max=6, **how)
            case(f"{kind}CandidateSampler", np.zeros((0, 1), "int64"), num_true=1, range_max=7, **how), case(f"{kind}CandidateSampler", labels, num_true=1, range_max=30, **how)
        case(f"{kind}CandidateSampler", labels, num_true=1, range_max=40, num_sampled=41, unique=True, seed=1, seed2=1)
        case(f"{kind}CandidateSampler", labels, num_true=2, range_max=40, num_sampled=4, unique=True, seed=1, seed2=1), case(f"{kind}CandidateSampler", i64(1), num_true=1, range_max=40, num_sampled=4, unique=True, seed=1, seed2=1)
    for unique in (False, True):
        how = dict(num_true=1, num_sampled=5, unique=unique, seed=2, seed2=9)
        case("FixedUnigramCandidateSampler", labels, range_max=40, unigrams=[float(i) for i in range(1, 41)], distortion=0.75, **how)
        case("FixedUnigramCandidateSampler", i64(3).reshape(1, 1), range_max=9, unigrams=[1.0, 7.0, 2.0, 2.0, 0.5, 9.0, 3.0], num_reserved_ids=2, **how)
        case("FixedUnigramCandidateSampler", i64(3).reshape(1, 1), range_max=5, unigrams=[1.0, 7.0, 2.0, 2.0, 0.5, 9.0, 3.0, 1.0, 1.0, 4.0], num_shards=2, shard=1, **how)
        case("FixedUnigramCandidateSampler", i64(3).reshape(1, 1), range_max=5, unigrams=[1.0, 7.0], **how), case("FixedUnigramCandidateSampler", i64(3).reshape(1, 1), range_max=5, **how)
    case("AllCandidateSampler", labels, num_true=1, num_sampled=31, unique=True, seed=1, seed2=1), case("AllCandidateSampler", labels, num_true=1, num_sampled=30, unique=True, seed=1, seed2=1)
    case("ComputeAccidentalHits", i64(1, 2, 30, 1).reshape(2, 2), i64(30, 1, 5, 1), num_true=2), case("ComputeAccidentalHits", i64(1, 2).reshape(2, 1), i64(3, 4), num_true=1)
    case("ComputeAccidentalHits", i64(1, 2).reshape(1, 2), i64(3, 4), num_true=1), case("ComputeAccidentalHits", i64(1, 2).reshape(2, 1), i64(3).reshape(1, 1), num_true=1)


if __name__ == "__main__":
    matrices()
    einsum()
    random()
    special()
    text()
    training()
    rest()
    matrix_functions()
    candidates()
