"""Calls of the families that models from elsewhere bring along, for make_cpu_kernels.py.

usage: cases_imported.py > imported_kernels.txt        (needs TensorFlow; the tests need only the file)
"""
import numpy as np
import tensorflow as tf

from make_cpu_kernels import COMPLEX, FLOATS, case, sample

I8 = [[0, 1], [0, 3], [1, 0], [2, 2]]  # places in a 3×4 matrix


def i32(*v):
    return np.array(v, "int32")


def i64(*v):
    return np.array(v, "int64")


def strings(*v):
    return np.array(v, object)


def matrix(dtype="float32", places=I8, dims=(3, 4)):
    return np.array(places, "int64").reshape(len(places), len(dims)), sample(dtype, (len(places),), 0, 5), i64(*dims)


def listed(op, *inputs, **attrs):
    """… of ops that say how many there are in their list."""
    count = {"SparseConcat": "N", "RaggedTensorToTensor": "num_row_partition_tensors", "RaggedTensorToSparse": "RAGGED_RANK", "RaggedGather": "PARAMS_RAGGED_RANK"}[op]
    case(op, *inputs, **{count: next(len(i) for i in inputs if isinstance(i, list))}, **attrs)


def spectral() -> None:
    for t in COMPLEX:
        real = {"complex64": "float32", "complex128": "float64"}[t]
        for n in (1, 2, 8, 6, 7, 15):
            for op in ("FFT", "IFFT"):
                case(op, sample(t, (2, n)))
            case("RFFT", sample(real, (2, n)), i32(n), Treal=tf.as_dtype(real), Tcomplex=tf.as_dtype(t))
            case("IRFFT", sample(t, (2, n // 2 + 1)), i32(n), Treal=tf.as_dtype(real), Tcomplex=tf.as_dtype(t))
        for op in ("FFT2D", "IFFT2D"):
            case(op, sample(t, (2, 3, 4)))
        for op in ("FFT3D", "IFFT3D"):
            case(op, sample(t, (2, 3, 4)))
        case("RFFT2D", sample(real, (2, 3, 6)), i32(3, 6), Treal=tf.as_dtype(real), Tcomplex=tf.as_dtype(t))
        case("RFFT2D", sample(real, (2, 3, 6)), i32(2, 5), Treal=tf.as_dtype(real), Tcomplex=tf.as_dtype(t))
        case("IRFFT2D", sample(t, (2, 3, 4)), i32(3, 6), Treal=tf.as_dtype(real), Tcomplex=tf.as_dtype(t))
        case("RFFT3D", sample(real, (2, 3, 4)), i32(2, 3, 4), Treal=tf.as_dtype(real), Tcomplex=tf.as_dtype(t))
        case("IRFFT3D", sample(t, (2, 3, 3)), i32(2, 3, 5), Treal=tf.as_dtype(real), Tcomplex=tf.as_dtype(t))
    case("RFFT", sample("float32", (2, 8)), i32(6)), case("RFFT", sample("float32", (2, 4)), i32(6)), case("RFFT", sample("float32", (2, 4)), i32(-1))
    case("FFT", sample("complex64", (2, 0))), case("RFFT", sample("float32", ()), i32(1))


def sparse() -> None:
    for t in ("float32", "int32", "string"):
        indices, values, dims = matrix(t)
        empty = strings("-")[0] if t == "string" else np.array(7, t)
        case("SparseToDense", indices, dims, values, empty), case("SparseReorder", indices[::-1], values, dims)
        listed("SparseConcat", [indices, indices], [values, values], [dims, dims], concat_dim=1), listed("SparseConcat", [indices, indices], [values, values], [dims, dims], concat_dim=-2)
        case("SparseSlice", indices, values, dims, i64(0, 1), i64(2, 2)), case("SparseSlice", indices, values, dims, i64(1, 0), i64(9, 9))
        case("SparseSplit", np.int64(1), indices, values, dims, num_split=2), case("SparseSplit", np.int64(1), indices, values, dims, num_split=3)
        holes = np.array([[1, 0], [1, 2], [3, 3]], "int64")
        case("SparseFillEmptyRows", holes, values[:3], i64(5, 4), empty)
    case("SparseToDense", i64(1, 3), i64(5), np.float32([1, 2]), np.float32(0)), case("SparseToDense", np.int32(2), i32(4), np.float32(5), np.float32(-1))
    case("SparseToDense", i64(3, 1), i64(5), np.float32([1, 2]), np.float32(0)), case("SparseToDense", i64(1, 1), i64(5), np.float32([1, 2]), np.float32(0)), case("SparseToDense", i64(1, 9), i64(5), np.float32([1, 2]), np.float32(0))
    case("SparseToDense", i64(3, 1), i64(5), np.float32([1, 2]), np.float32(0), validate_indices=False)
    indices, values, dims = matrix()
    case("SparseReshape", indices, dims, i64(4, 3)), case("SparseReshape", indices, dims, i64(2, -1)), case("SparseReshape", indices, dims, i64(5, -1)), case("SparseReshape", indices, dims, i64(-1, -1)), case("SparseReshape", indices, dims, i64(12))
    case("SparseSliceGrad", np.float32([1, 2]), indices, i64(0, 1), np.array([[0, 0], [0, 2]], "int64")), case("SparseFillEmptyRowsGrad", i64(2, 1), np.float32([1, 2, 4, 8]))
    case("SparseFillEmptyRowsGrad", i64(2, 9), np.float32([1, 2, 4, 8]))
    for t in ("float32", "float64", "int32", "complex64"):
        indices, values, dims = matrix(t)
        other = (np.array([[0, 0], [0, 3], [2, 2]], "int64"), sample(t, (3,), 0, 5), dims)
        case("SparseAdd", indices, values, dims, *other, np.array(0, "float32" if "complex" in t else t))
        case("SparseTensorDenseAdd", indices, values, dims, sample(t, (3, 4)))
        case("SparseTensorDenseMatMul", indices, values, dims, sample(t, (4, 2)))
        case("SparseTensorDenseMatMul", indices, values, dims, sample(t, (2, 3)), adjoint_a=True, adjoint_b=True)
        case("SparseReduceSum", indices, values, dims, i32(1)), case("SparseReduceSum", indices, values, dims, i32(0, 1)), case("SparseReduceSum", indices, values, dims, i32(0), keep_dims=True)
        case("SparseReduceSumSparse", indices, values, dims, i32(1)), case("SparseReduceSumSparse", indices, values, dims, i32(0), keep_dims=True)
        for op in "Mul Div".split():
            case(f"SparseDenseCwise{op}", indices, values, dims, np.abs(sample(t, (3, 4))) + np.array(1, t)), case(f"SparseDenseCwise{op}", indices, values, dims, np.full((4,), 2, t))
        case("SparseDenseCwiseAdd", indices, values, dims, sample(t, (3, 1)))
        if "complex" not in t:
            for op in "Maximum Minimum".split():
                case(f"SparseSparse{op}", indices, values, dims, *other)
            case("SparseReduceMax", indices, values, dims, i32(1)), case("SparseReduceMax", indices, values, dims, i32(-2)), case("SparseReduceMaxSparse", indices, values, dims, i32(1))
    indices, values, dims = matrix()
    case("SparseAdd", indices, values, dims, indices, -values + np.float32([0, 1, 0, 1]), dims, np.float32(0.5)), case("SparseAdd", indices, values, dims, indices, values, i64(3, 5), np.float32(0))
    case("SparseAddGrad", np.float32([1, 2, 3, 4]), indices[:2], indices[1:], indices), case("SparseTensorDenseMatMul", indices, values, dims, sample("float32", (3, 2))), case("SparseTensorDenseMatMul", indices, values, i64(2, 4), sample("float32", (4, 2)))
    case("SparseDenseCwiseMul", indices, values, dims, sample("float32", (2, 4)))
    for t in ("float32", "float64"):
        case("SparseSoftmax", *matrix(t))
    case("SparseMatMul", sample("float32", (2, 3)), sample("float32", (3, 4))), case("SparseMatMul", sample("bfloat16", (3, 2)), sample("float32", (4, 3)), transpose_a=True, transpose_b=True, Ta=tf.bfloat16)


def counts() -> None:
    for t in ("int32", "int64"):
        numbers = np.array([[1, 2, 2], [0, 5, 1]], t)
        for binary in (False, True):
            case("DenseCountSparseOutput", numbers, np.array([], "float32"), binary_output=binary), case("DenseCountSparseOutput", numbers[0], np.array([], "int64"), binary_output=binary, minlength=5)
            case("RaggedBincount", i64(0, 2, 2, 5), np.array([1, 1, 2, 0, 9], t), np.array(4, t), np.array([], "float32"), binary_output=binary)
            case("RaggedCountSparseOutput", i64(0, 2, 2, 5), np.array([1, 1, 2, 0, 9], t), np.array([], "float32"), binary_output=binary)
            case("SparseBincount", np.array([[0, 0], [0, 1], [1, 0]], "int64"), np.array([1, 1, 3], t), i64(2, 2), np.array(4, t), np.array([], "float32"), binary_output=binary)
            case("SparseCountSparseOutput", np.array([[0, 0], [0, 1], [1, 0]], "int64"), np.array([1, 1, 3], t), i64(2, 2), np.array([], "float32"), binary_output=binary)
        case("DenseCountSparseOutput", numbers, np.float32([[1, 2, 3], [4, 5, 6]]), binary_output=False, maxlength=3)
        case("SparseBincount", np.array([[0], [1]], "int64"), np.array([1, 1], t), i64(4), np.array(3, t), np.float32([0.5, 2]))
    for t in ("int32", "string"):
        a, b = (np.array(x, object if t == "string" else t) for x in ([["1", "2", "2"], ["3", "1", "4"]], [["2", "5"], ["4", "9"]]))
        places = np.array([[0, 0], [0, 1], [1, 0]], "int64")
        for how in ("a-b", "b-a", "intersection", "union"):
            case("DenseToDenseSetOperation", a, b, set_operation=how), case("DenseToSparseSetOperation", a, places, b.ravel()[:3], i64(2, 2), set_operation=how)
            case("SparseToSparseSetOperation", places, a.ravel()[:3], i64(2, 3), places, b.ravel()[:3], i64(2, 2), set_operation=how)
        case("SetSize", places, a.ravel()[:3], i64(2, 3))


def ragged() -> None:
    for t in ("int32", "int64", "float32", "float64"):
        case("RaggedRange", np.array([0, 5, 8], t), np.array([3, 5, 2], t), np.array([1, 1, -2], t)), case("RaggedRange", np.array(1, t), np.array([3, 5], t), np.array(2, t))
    case("RaggedRange", i32(0), i32(3), i32(0)), case("RaggedRange", i32(0, 1), i32(3), i32(1, 1))
    for t in ("float32", "string"):
        values = sample(t, (6,), 0, 9)
        rest = strings("-")[0] if t == "string" else np.array(-1, t)
        listed("RaggedTensorToTensor", np.int64(-1), values, rest, [i64(0, 2, 2, 6)], row_partition_types=["ROW_SPLITS"])
        listed("RaggedTensorToTensor", i64(2, 3), values, rest, [i64(0, 2, 2, 6)], row_partition_types=["ROW_SPLITS"])
        listed("RaggedTensorToTensor", i64(-1, 6), values, rest, [np.int64(4), i64(0, 0, 2, 2, 2, 3)], row_partition_types=["FIRST_DIM_SIZE", "VALUE_ROWIDS"])
        listed("RaggedTensorToTensor", np.int64(-1), values, rest, [i64(0, 1, 3), i64(0, 2, 2, 6)], row_partition_types=["ROW_SPLITS", "ROW_SPLITS"])
        listed("RaggedTensorToSparse", [i64(0, 2, 2, 6)], values), listed("RaggedTensorToSparse", [i64(0, 1, 3), i64(0, 2, 2, 6)], values), listed("RaggedTensorToSparse", [i64(0, 2, 3)], values.reshape(3, 2))
        listed("RaggedGather", [i64(0, 2, 2, 6)], values, i32(2, 0, 2), OUTPUT_RAGGED_RANK=1), listed("RaggedGather", [i64(0, 1, 3), i64(0, 2, 2, 6)], values, i64(1), OUTPUT_RAGGED_RANK=2)
        listed("RaggedGather", [i64(0, 2, 2, 6)], values, i32(2, 0, 1, 1).reshape(2, 2), OUTPUT_RAGGED_RANK=2), listed("RaggedGather", [i64(0, 2, 2, 6)], values, i32(5), OUTPUT_RAGGED_RANK=1)
    listed("RaggedTensorToTensor", np.int64(-1), sample("float32", (3, 2)), np.float32(-1), [i64(0, 2, 3)], row_partition_types=["ROW_SPLITS"]), listed("RaggedTensorToTensor", np.int64(-1), sample("float32", (3, 2)), np.float32([-1, -2]), [i64(0, 2, 3)], row_partition_types=["ROW_SPLITS"])
    listed("RaggedTensorToSparse", [i64(0, 2, 9)], sample("float32", (6,)))


def quantized() -> None:
    x, g = np.linspace(-2, 7, 24, dtype="float32").reshape(6, 4), sample("float32", (6, 4))
    for bits, narrow in ((8, False), (4, True), (16, False)):
        case("FakeQuantWithMinMaxArgs", x, min=-1.0, max=6.0, num_bits=bits, narrow_range=narrow), case("FakeQuantWithMinMaxArgsGradient", g, x, min=-1.0, max=6.0, num_bits=bits, narrow_range=narrow)
        case("FakeQuantWithMinMaxVars", x, np.float32(0.1), np.float32(5), num_bits=bits, narrow_range=narrow), case("FakeQuantWithMinMaxVarsGradient", g, x, np.float32(0.1), np.float32(5), num_bits=bits, narrow_range=narrow)
        low, high = np.float32([-1, 0, -2, 0.5]), np.float32([1, 4, 6, 5])
        case("FakeQuantWithMinMaxVarsPerChannel", x, low, high, num_bits=bits, narrow_range=narrow), case("FakeQuantWithMinMaxVarsPerChannelGradient", g, x, low, high, num_bits=bits, narrow_range=narrow)
    case("FakeQuantWithMinMaxVars", x, np.float32(0), np.float32(0)), case("FakeQuantWithMinMaxVarsGradient", g, x, np.float32(0), np.float32(0)), case("FakeQuantWithMinMaxVarsPerChannel", x, np.float32([0]), np.float32([1]))
    for t in FLOATS[:2]:
        y = x.astype(t)
        for signed in (False, True):
            for given in (False, True):
                case("QuantizeAndDequantizeV2", y, np.array(-1, t), np.array(4, t), signed_input=signed, range_given=given), case("QuantizeAndDequantizeV3", y, np.array(-1, t), np.array(4, t), np.int32(6), signed_input=signed, range_given=given)
        case("QuantizeAndDequantizeV4", y, np.array(-1, t), np.array(4, t), range_given=True, round_mode="HALF_UP", narrow_range=True), case("QuantizeAndDequantizeV3", y, np.full(4, -1, t), np.full(4, 4, t), np.int32(5), range_given=True, axis=1)
        case("QuantizeAndDequantizeV2", y, np.array(4, t), np.array(-1, t), range_given=True)


def pictures() -> None:
    x = sample("float32", (1, 5, 6, 2))
    for kernel in "lanczos1 lanczos3 lanczos5 gaussian box triangle keyscubic mitchellcubic".split():
        for antialias in (False, True):
            case("ScaleAndTranslate", x, i32(3, 8), np.float32([0.6, 1.3]), np.float32([0, 0.5]), kernel_type=kernel, antialias=antialias)
    case("ScaleAndTranslate", sample("uint8", (1, 4, 4, 1), 0, 255), i32(6, 2), np.float32([1.5, 0.5]), np.float32([0, 0])), case("ScaleAndTranslateGrad", sample("float32", (1, 3, 8, 2)), x, np.float32([0.6, 1.3]), np.float32([0, 0.5]))
    turn = np.float32([[0.9, -0.3, 1, 0.3, 0.9, -1, 0.01, 0]])
    for mode in "CONSTANT REFLECT WRAP NEAREST".split():
        for how in "NEAREST BILINEAR".split():
            case("ImageProjectiveTransformV3", x, turn, i32(5, 7), np.float32(0.5), interpolation=how, fill_mode=mode), case("ImageProjectiveTransformV2", x, turn, i32(5, 7), interpolation=how, fill_mode=mode)
    boxes = np.float32([[[0.1, 0.2, 0.8, 0.9], [-0.5, 0, 0.5, 2]]])
    for depth in (1, 3, 4):
        picture = sample("float32", (1, 5, 6, depth))
        case("DrawBoundingBoxes", picture, boxes), case("DrawBoundingBoxesV2", picture, boxes, sample("float32", (2, depth)))
    case("DrawBoundingBoxes", sample("float32", (1, 5, 6, 2)), boxes)
    many, scores = sample("float32", (2, 7, 1, 4), 0, 1), sample("float32", (2, 7, 3), 0, 1)
    for pad in (False, True):
        case("CombinedNonMaxSuppression", many, scores, np.int32(2), np.int32(5), np.float32(0.3), np.float32(0.2), pad_per_class=pad), case("CombinedNonMaxSuppression", np.tile(many, (1, 1, 3, 1)) * 2, scores, np.int32(2), np.int32(9), np.float32(0.3), np.float32(0.2), pad_per_class=pad, clip_boxes=False)
    case("CombinedNonMaxSuppression", many, scores, np.int32(2), np.int32(5), np.float32(1.3), np.float32(0.2))


def sequences() -> None:
    a = (np.array([[0, 0], [0, 1], [1, 0]], "int64"), strings("a", "b", "c"), i64(3, 2))
    b = (np.array([[0, 0], [0, 1], [0, 2], [2, 0]], "int64"), strings("a", "x", "b", "z"), i64(3, 3))
    for normalize in (False, True):
        case("EditDistance", *a, *b, normalize=normalize), case("EditDistance", *b, *a, normalize=normalize)
    for t in ("float32",):  # TensorFlow reckons in single precision whatever it is given
        x = sample(t, (6, 2, 5))
        where, labels = np.array([[0, 0], [0, 1], [0, 2], [1, 0]], "int64"), i32(1, 1, 3, 0)
        for merge in (False, True):
            case("CTCLoss", x, where, labels, i32(6, 4), ctc_merge_repeated=merge), case("CTCLoss", x, where, labels, i32(6, 4), preprocess_collapse_repeated=True, ctc_merge_repeated=merge)
            case("CTCGreedyDecoder", x, i32(6, 3), merge_repeated=merge), case("CTCGreedyDecoder", x, i32(6, 3), merge_repeated=merge, blank_index=0)
        case("CTCLoss", x, where, labels, i32(2, 4)), case("CTCLoss", x, where, labels, i32(2, 4), ignore_longer_outputs_than_inputs=True), case("CTCLoss", x, where, i32(1, 9, 3, 0), i32(6, 4)), case("CTCLoss", x, where, labels, i32(9, 4))
    words, splits = strings("a", "b", "c", "d"), i64(0, 3, 3, 4)
    for width, short in ((0, False), (1, True), (-1, False)):
        case("StringNGrams", words, splits, separator=" ", ngram_widths=[2, 3], left_pad="<", right_pad=">", pad_width=width, preserve_short_sequences=short)
    case("StringNGrams", words, splits, separator="|", ngram_widths=[5], left_pad="", right_pad="", pad_width=0, preserve_short_sequences=True)
    lines = strings("1,2.5,x", '3,,"y,""z"')
    case("DecodeCSV", lines, [i32(0), np.float32([0.5]), strings("")]), case("DecodeCSV", strings("1,2"), [i32(0), np.array([], "float32")]), case("DecodeCSV", strings("1,"), [i32(0), np.array([], "float32")])
    case("DecodeCSV", strings("1,q"), [i32(0), i32(0)]), case("DecodeCSV", strings("1"), [i32(0), i32(0)]), case("DecodeCSV", strings("1;2;3"), [i64(0)], field_delim=";", select_cols=[1])


if __name__ == "__main__":
    spectral()
    sparse()
    counts()
    ragged()
    quantized()
    pictures()
    sequences()
