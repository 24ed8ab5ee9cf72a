"""The CUDA device sources compile with NVRTC, where it is installed: no card is needed for that.

Every template with one dtype of each kind; with EMPLACE_TEST_FULL=1 with every dtype.
"""

import ctypes
import ctypes.util
import os
from pathlib import Path

import pytest

DEVICE = Path(__file__).resolve().parents[2] / "src" / "backends" / "cuda" / "device"
FULL = bool(os.environ.get("EMPLACE_TEST_FULL"))
FLOATS = ["f16", "bf16", "float", "double"] if FULL else ["f16", "float"]
WHOLE = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"] if FULL else ["i32", "u8"]
COMPLEX = ["c64", "c128"] if FULL else ["c64"]
BITS = ["u8", "u16", "u32", "u64", "c128"]

SAME = """Sqrt Rsqrt Exp Expm1 Log Log1p Sin Cos Tan Asin Acos Atan Sinh Cosh Tanh Asinh Acosh Atanh
    Sigmoid Erf Erfc Erfinv Ndtri Lgamma Digamma Floor Ceil Rint Elu Selu Softplus Softsign""".split()
TWO = """Atan2 NextAfter Xdivy Xlogy Xlog1py SigmoidGrad TanhGrad SqrtGrad RsqrtGrad ReciprocalGrad
    InvGrad ReluGrad Relu6Grad EluGrad SeluGrad SoftplusGrad SoftsignGrad""".split()
REAL_TWO = """DivNoNan MulNoNan SquaredDifference FloorDiv FloorMod Mod TruncateMod TruncateDiv
    Maximum Minimum Pow""".split()
RULES = {"GradientDescent": 1, "Momentum": 2, "KerasMomentum": 2, "Adam": 3, "Adagrad": 2,
         "AdagradV2": 2, "RMSProp": 3, "Adadelta": 3, "Ftrl": 3, "FtrlV2": 3, "CenteredRMSProp": 4,
         "AdaMax": 3, "AdamWithAmsgrad": 4, "AddSign": 2, "PowerSign": 2, "ProximalAdagrad": 2}

OF_COMPLEX = """GradientDescent Momentum KerasMomentum Adam Adagrad AdagradV2 RMSProp Adadelta
    CenteredRMSProp""".split()


def unary() -> list[str]:
    names = [f"unary<{f}, {t}, {t}, 4>" for f in SAME for t in FLOATS]
    names += [f"unary<{f}, bool, {t}, 4>" for f in ("IsNan", "IsInf", "IsFinite") for t in FLOATS]
    names += [f"unary<{f}, {t}, {t}, 1>" for f in ("Abs", "Sign", "Round", "Relu", "Relu6")
              for t in FLOATS + WHOLE]
    names += [f"unary<{f}, {t}, {t}, 1>" for f in ("Neg", "Square", "Reciprocal", "ZerosLike")
              for t in FLOATS + WHOLE + COMPLEX]
    names += [f"unary<{f}, float, c64, 1>" for f in ("ComplexAbs", "Angle", "Real", "Imag")]
    return names + ["unary<Conj, c64, c64, 2>", "unary<Invert, u8, u8, 1>",
                    "unary<PopulationCount, u8, i16, 1>", "unary<PopulationCount, u8, i64, 1>",
                    "approximately_equal<double>",
                    "unary<LogicalNot, bool, bool, 16>"]


def binary() -> list[str]:
    names = [f"{loop}" for f in ("Add", "Sub", "Mul", "RealDiv") for t in FLOATS + WHOLE + COMPLEX
             for loop in (f"binary<{f}, {t}, {t}, 1>", f"binary_scalar<{f}, {t}, {t}, 1, true>",
                          f"binary_broadcast<{f}, {t}, {t}>")]
    names += [f"binary<{f}, {t}, {t}, 1>" for f in REAL_TWO for t in FLOATS + WHOLE]
    names += [f"binary<{f}, {t}, {t}, 1>" for f in TWO for t in FLOATS]
    names += [f"binary<{f}, bool, {t}, 1>" for f in ("Less", "GreaterEqual", "Equal", "NotEqual")
              for t in FLOATS + WHOLE]
    names += [f"binary<{f}, {t}, {t}, 1>" for f in ("BitwiseAnd", "LeftShift", "RightShift")
              for t in WHOLE]
    names += [f"{k}<{t}>" for k in ("clip", "bias_add", "add_n") for t in FLOATS]
    names += [f"cast<{a}, {b}>" for a in FLOATS + WHOLE + COMPLEX + ["bool"]
              for b in FLOATS + WHOLE + COMPLEX + ["bool"]]
    return names + [f"select<{t}>" for t in FLOATS + WHOLE + COMPLEX + ["bool"]]


def reduce() -> list[str]:
    names = [f"{k}<{op}, {t}, {t}, true, true>" for op in ("SumOp", "ProdOp", "MeanOp")
             for t in FLOATS + WHOLE + COMPLEX for k in ("rows", "columns")]
    names += [f"short_rows<{op}, {t}, {t}, true, true, {v}>" for op in ("SumOp", "ProdOp", "MeanOp")
              for t in FLOATS + WHOLE + COMPLEX for v in (1, 2)]
    names += [f"rows<{op}, {t}, {t}, true, true>" for op in ("MaxOp", "MinOp")
              for t in FLOATS + WHOLE]
    names += [f"scattered<{op}, {t}, {t}>" for op in ("SumOp", "NormOp") for t in FLOATS]
    for t in FLOATS:
        names += [f"softmax<{t}, true>", f"softmax_short<{t}, false, 2, 3>", f"cross_entropy<{t}>", f"sparse_cross_entropy<{t}, i32>",
                  f"arg_extreme<i64, {t}, true>", f"scan<LogSumExpOp, {t}>",
                  f"rows<HalfSquaresOp, float, {t}, true, false>"]
    return names


def arrange() -> list[str]:
    moves = ("gather_strided", "scatter_strided", "transpose", "band_part", "roll", "mirror_pad")
    names = [f"{k}<{t}>" for k in moves for t in BITS]
    names += [f"{k}<{t}, i32>" for k in ("gather", "gather_nd", "one_hot") for t in BITS]
    return names + [f"scatter<{how}, {t}, i64>" for how in ("Put", "AddTo", "MaxTo", "DivTo")
                    for t in FLOATS + ["i32", "u64"]]


def random() -> list[str]:
    names = [f"{k}<{t}, true>" for k in ("draw", "draw_keyed") for t in FLOATS]
    names += [f"{k}<{t}>" for k in ("draw_truncated", "draw_truncated_keyed") for t in FLOATS]
    return [*names, "draw_int<i64>", "draw_int_keyed<u32>", "move_on"]


def training() -> list[str]:
    names = [name for rule, n in RULES.items() for t in FLOATS
             for name in (f"dense_step<{rule}, {t}, {n}>", f"dense_steps<{rule}, {t}, {n}>",
                          f"sparse_step<{rule}, {t}, i32, {n}>")]
    return names + [f"{loop}<{rule}, {t}, {RULES[rule]}>" for rule in OF_COMPLEX for t in COMPLEX
                    for loop in ("dense_step", "dense_steps")]


def batch_norm() -> list[str]:
    names = ["norm_figures", "norm_grad_figures"]
    for t in ("f16", "bf16", "float"):
        for v in (1, 4 if t == "float" else 8):
            names += [f"norm_moments<{t}, {v}>", f"norm_apply<{t}, {v}, false, false, false>"]
            names += [f"norm_apply<{t}, {v}, true, {relu}, {side}>" for relu in ("true", "false") for side in ("true", "false")]
            names += [f"{kernel}<{t}, {v}, {behind}>" for kernel in ("norm_grad_sums", "norm_grad_apply") for behind in ("true", "false")]
    return names


def nets() -> list[str]:
    return [name for t in FLOATS for name in (
        f"pool<{t}, true>", f"pool_grad<{t}, false>", f"lrn<{t}>", f"lrn_grad<{t}>",
        f"pool_wide<{t}, true, 1>", f"pool_wide<{t}, false, 2>", f"pool_from<{t}, 2>",
        f"pool_grad_wide<{t}, true, 2>", f"pool_grad_wide<{t}, false, 1>", f"lrn_rows<{t}, 4>",
        f"lrn_grad_rows<{t}, 5>")]


def matmul() -> list[str]:
    return [f"small_product<{a}, {b}, {after}, {k}>" for a in ("true", "false")
            for b in ("true", "false") for after in (0, 1, 2) for k in (3, 64)]


def places() -> list[str]:
    names = [f"{k}<{t}>" for k in ("with_band", "band_of") for t in BITS]
    names += [f"space_blocks<{t}, {to}>" for t in BITS for to in ("true", "false")]
    names += [f"reverse_sequence<{t}, {i}>" for t in BITS for i in ("i32", "i64")]
    names += [f"{k}<{i}>" for k in ("dim_map", "vec_permute") for i in ("i32", "i64")]
    names += [f"{k}<{t}>" for k in ("normalize", "normalize_back", "normalize_back_sums") for t in ("f16", "float")]
    return names + [f"cross<{t}>" for t in FLOATS + WHOLE]


def images() -> list[str]:
    return [f"resize_nearest<{t}>" for t in BITS[:4]] + [
        f"{k}<{t}>" for t in FLOATS
        for k in ("resize_nearest_grad", "resize_bilinear", "resize_bilinear_grad")]


def order() -> list[str]:
    names = [f"top_k<{t}, {i}>" for t in FLOATS + WHOLE for i in ("i16", "i32", "i64")]
    names += [f"bound<{t}, i32, {upper}>" for t in FLOATS + WHOLE for upper in ("true", "false")]
    names += [f"bucketize<{t}>" for t in ("float", "double", "i32", "i64")]
    names += [f"bincount<{t}, {i}, {binary}>" for t in ("float", "i32") for i in ("i32", "i64")
              for binary in ("true", "false")]
    return names + ["in_top_k<i32>", "in_top_k<i64>", "histogram<float>", "histogram<double>"]


def dynamic() -> list[str]:
    names = [f"{k}>" for t in FLOATS + WHOLE + COMPLEX + ["bool"]
             for k in (f"where_count<{t}", f"where_write<{t}, i64")]
    names += [f"segments<{t}, {i}, {how}>" for t in FLOATS + WHOLE for i in ("i32", "i64")
              for how in range(5)]
    return [*names, "where_sum", "where_write<u8, i32>"]


def special() -> list[str]:
    one = """I0 I0e I1 I1e J0 J1 K0 K0e K1 K1e Y0 Y1""".split()
    types = FLOATS if FULL else ["float"]  # all computed in double
    names = [f"special_of_one<{f}, {t}>" for t in types for f in
             [*(f"Bessel{b}" for b in one), "Dawsn", "Expint", "FresnelCos", "FresnelSin", "Spence"]]
    names += [f"special_of_two<{f}, {t}>" for t in types for f in
              ("Igamma", "Igammac", "IgammaGradA", "RandomGammaGrad", "Zeta", "Polygamma")]
    return names + [f"betainc<{t}>" for t in types]


def complex_functions() -> list[str]:
    names = [f"unary<{f}, {t}, {t}, 1>" for t in COMPLEX
             for f in ("Exp", "Sin", "Cos", "Tan", "Sinh", "Cosh", "Sign")]
    return names + [f"binary_broadcast<{f}, {t}, {t}>" for t in COMPLEX
                    for f in ("DivNoNan", "MulNoNan", "Xdivy", "Xlogy", "Xlog1py")]


def matrix() -> list[str]:
    names = []
    pairs = [("float", "double"), ("c64", "c128"), ("double", "double"), ("c128", "c128")]
    for t, w in pairs if FULL else pairs[:2]:
        names += [f"{k}<{t}, {w}>" for k in ("cholesky", "solve", "triangle", "self_adjoint")]
        names += [f"{k}<{t}, {w}, {b}>" for b in ("true", "false")
                  for k in ("determinant", "singular", "tridiagonal_solve")]
        names += [f"lu<{t}, {w}, i32>", f"tridiagonal_product<{t}>"]
    return names


def volumes() -> list[str]:
    return [name for t in FLOATS for name in (
        f"volume_pool<{t}, true>", f"volume_pool<{t}, false>", f"pool_with_places<{t}, i64>",
        f"pool_of_largest<{t}>", *(f"volume_pool_grad<{t}, {how}>" for how in range(3)),
        f"dilation<{t}>", f"dilation_grad<{t}, true>", f"dilation_grad<{t}, false>",
        f"narrow<{t}>")] + [f"patches<{t}>" for t in BITS]


def crops() -> list[str]:
    names = [f"{k}<{t}>" for t in FLOATS + WHOLE for k in ("crop", "crop_to_boxes")]
    names += [f"colors<{t}, {how}>" for t in FLOATS for how in range(4)]
    names += [f"{k}>" for t in FLOATS for k in (f"crop_narrow<{t}", f"contrast<{t}, {t}")]
    names += [f"contrast<{t}, float>" for t in ("u8", "i8", "i16", "i32", "double")]
    return [*names, "crop_to_image<float>", "crop_to_image<double>"]


def pieces() -> list[str]:
    names = [f"{k}<{t}>" for k in ("move_strided", "put_rows") for t in BITS]
    names += [f"change_rows<{t}, {how}>" for t in FLOATS + WHOLE for how in range(3)]
    names += [f"scatter<{how}, {t}, i32>" for how in ("Put", "AddTo", "SubFrom") for t in WHOLE + COMPLEX]
    names += [f"scatter<{how}, {t}, i32>" for how in ("MaxTo", "MulTo", "DivTo") for t in WHOLE]
    return [*names, *(f"mirror_pad_grad<{t}>" for t in FLOATS),
            *(f"range_of<{t}>" for t in [*FLOATS, "i64"]), "scatter<Put, bool, i64>"]


def sparse() -> list[str]:
    names = [f"sparse_product<{t}, {i}>" for t in FLOATS + COMPLEX for i in ("i32", "i64")]
    names += [f"{k}<{t}, i32, i64, {how}>" for k in ("segment_rows", "segment_rows_grad")
              for t in FLOATS for how in range(3)]
    return [*names, "mark_rows<i32>", "mark_rows<i64>", "narrowed_sums<f16>", "narrowed_sums<bf16>", "scaled<float>", "scaled<double>"]


def quantize() -> list[str]:
    names = [f"{k}<{t}>" for k in ("channel_ranges", "there_and_back", "back_within") for t in ("float", "double")]
    return [*names, "fake_quant", "fake_quant_grad", "to_floats"]


def direct() -> list[str]:
    return [f"{k}<{t}>" for t in [*FLOATS, "i32"] for k in
            ("direct_forward", "direct_to_input", "direct_to_filter")] + [
        f"fixed_norm_grad<{t}>" for t in FLOATS if t != "double"]


def recurrent() -> list[str]:
    return [f"{k}<{t}>" for t in ("f16", "float") for k in ("widened", "narrowed", "lstm_step", "lstm_back", "lstm_sums")] + [
        "gru_gates", "gru_step", "gru_back_first", "gru_back_second", "gru_back_last", "plus"]


def sparse_places() -> list[str]:
    names = [f"{k}<{t}>" for t in BITS for k in ("from_slice", "fill_values", "fill_rows", "back_to_values")]
    names += [f"back_to_default<{t}, double>" for t in FLOATS] + [f"back_to_default<{t}, i64>" for t in WHOLE]
    return [*names, "flat_keys", "merge_runs", "take_places", "shifted_places", "reshaped_places", "in_box", "part_of_place",
            "row_counts", "filled_sums", "filled_starts"]


def boxes() -> list[str]:
    return [f"project<{t}>" for t in [*FLOATS, "u8", "i32", "i64"]] + ["choose_boxes", "read_and_skip"]


def sums() -> list[str]:
    names = [f"arranged<{t}>" for t in FLOATS + COMPLEX]
    names += [f"{k}<NormOp, {t}, {t}, true, true>" for t in COMPLEX for k in ("rows", "columns")]
    return [*names, "arg_extreme<i32, bool, true>", "scattered<NormOp, c64, c64>"]


def distributions() -> list[str]:
    return [f"{k}<{t}>" for t in FLOATS for k in ("gamma_numbers", "class_sums")] + [
        "draw_classes<i32>", "draw_classes<i64>"] + [
        f"normals_between<{t}>" for t in ("f16", "float", "double")]


def counted() -> list[str]:
    names = [f"{k}<{t}>" for k in ("unique_insert", "unique_number")
             for t in FLOATS + WHOLE + ["bool", "i64", "u64", "double"]]
    names += [f"take_rows<{t}>" for t in BITS] + [f"odd_numbers<{t}>" for t in FLOATS]
    return [*names, "unique_indices<i32>", "unique_indices<i64>", "unique_flags", "part_count",
            "part_place"]


def nvrtc():
    for name in ("/usr/local/cuda/lib64/libnvrtc.so", ctypes.util.find_library("nvrtc")):
        try:
            if name:
                return ctypes.CDLL(name)
        except OSError:
            pass
    pytest.skip("no NVRTC here")


@pytest.mark.parametrize("file, instances", [
    ("elementwise", unary), ("elementwise", binary), ("reduce", reduce), ("arrange", arrange),
    ("random", random), ("training", training), ("nets", nets), ("batch_norm", batch_norm), ("matmul", matmul),
    ("places", places), ("images", images), ("order", order), ("dynamic", dynamic),
    ("special", special), ("elementwise", complex_functions), ("matrix", matrix),
    ("volumes", volumes), ("crops", crops), ("arrange", pieces), ("reduce", sums),
    ("random", distributions), ("dynamic", counted), ("sparse", sparse),
    ("direct", direct), ("boxes", boxes), ("quantize", quantize), ("recurrent", recurrent),
    ("sparse_places", sparse_places)])
def test_compiles(file, instances):
    library = nvrtc()
    source = "\n".join((DEVICE / f"{name}.cuh").read_text() for name in ("prelude", file))
    program = ctypes.c_void_p()
    library.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"emplace.cu", 0, None, None)
    for name in instances():
        assert library.nvrtcAddNameExpression(program, name.encode()) == 0
    flags = (ctypes.c_char_p * 3)(b"--gpu-architecture=sm_90", b"--std=c++17", b"-w")
    result = library.nvrtcCompileProgram(program, 3, flags)
    size = ctypes.c_size_t()
    library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    library.nvrtcGetProgramLog(program, log)
    library.nvrtcDestroyProgram(ctypes.byref(program))
    assert result == 0, log.value.decode()[:3000]
