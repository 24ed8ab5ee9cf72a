"""What TensorFlow's advisories of 2018 to 2021 describe, of the operations that are here."""

import numpy as np

from advisory_values import (
    F64, I32, I64, Table, counted, dataset, dtype, dtypes, empty, filled, functions_that_call_each_other, ints, quantized,
    variable,
)  # fmt: skip

TABLE = Table()
add = TABLE.add

NDHWC = {"data_format": "NDHWC"}

add("2018-001", "DecodeBmp", contents=b"BM" + bytes(10))
add("2018-001", "DecodeBmp", contents=b"BM" + b"\xff" * 60)
add("2018-001", "DecodeBmp", contents=b"BM" + bytes(8) + b"\x40" + bytes(7) + b"\x00\x00\x00\x80" * 2
    + bytes(2) + b"\x18" + bytes(40), channels=3)  # fmt: skip
add("2018-002", "DecodeGif", contents=b"GIF89a" + bytes(7))
add("2018-002", "DecodeGif", contents=b"GIF89a\x01\x00\x01\x00\x00\x00\x00\x3b")
add("2019-001", "DecodeGif", contents=b"GIF87a\xff\xff\xff\xff\x80\x00\x00" + bytes(6) + b",")
add("2019-002", "UnsortedSegmentSum", data=filled(1, 3), segment_ids=ints([0, 9, 1], I32), num_segments=2)
add("2019-002", "UnsortedSegmentSum", data=filled(1, 3), segment_ids=ints([0, -9, 1], I32), num_segments=2)
add("2019-002", "UnsortedSegmentSum", data=filled(1, 3), segment_ids=ints([0], I32), num_segments=2)
add("2020-001", ".constant", value="hello", dtype=dtype("float16"))
for pattern in ("%p", "%s%s%s%n"):
    add("2020-013", "AsString", input=[1.5], fill=pattern)
add("2020-013", ".strings.as_string", input=[1, 2], width=100, fill="s")
add("2020-011", "StringNGrams", data=["aa", "bb", "cc", "dd", "ee", "ff"], data_splits=ints([0, 8]),
    separator=" ", ngram_widths=[3], left_pad="", right_pad="", pad_width=0,
    preserve_short_sequences=False)  # fmt: skip
add("2020-012", "GetSessionHandle", value=1)
add("2020-014", "RandomPoissonV2", shape=[2**32], rate=[0.1], seed=3, seed2=4, dtype=dtype("int32"))
RAGGED_COUNT = {"minlength": -1, "maxlength": -1, "binary_output": False}
for number, splits in (("015", [0, 10]), ("016", [5, 1]), ("016", []), ("017", [0]), ("017", [5, 10])):
    add(f"2020-{number}", "RaggedCountSparseOutput", splits=ints(splits), values=ints([1, 2, 3]),
        weights=filled(1, 3), **RAGGED_COUNT)  # fmt: skip
SPARSE_COUNT = {"minlength": -1, "maxlength": -1, "binary_output": False}
add("2020-018", "SparseCountSparseOutput", indices=ints([[1000000, 0], [0, 5]]), values=ints([1, 2]),
    dense_shape=ints([2, 2]), weights=filled(1, 2), **SPARSE_COUNT)  # fmt: skip
add("2020-019", "SparseCountSparseOutput", indices=ints([[5, 0], [2, 0]]), values=ints([1, 2]),
    dense_shape=ints([], I64), weights=filled(1, 2), **SPARSE_COUNT)  # fmt: skip
add("2020-020", "SparseCountSparseOutput", indices=ints([[0, 0], [0, 1]]), values=ints([1, 2]),
    dense_shape=ints([1, 2]), weights=filled(1, 1), **SPARSE_COUNT)  # fmt: skip
add("2020-020", "RaggedCountSparseOutput", splits=ints([0, 3]), values=ints([1, 2, 3]),
    weights=filled(1, 2), **RAGGED_COUNT)  # fmt: skip
add("2020-021", "SparseFillEmptyRowsGrad", reverse_index_map=ints([0, 9]), grad_values=filled(1, 2))
add("2020-021", "SparseFillEmptyRowsGrad", reverse_index_map=ints([-9]), grad_values=filled(1, 2))
add("2020-022", "SparseFillEmptyRowsGrad", reverse_index_map=ints([[1]]), grad_values=filled(1, 1, 1))
add("2020-026", "Switch", data=ints([]), pred=[True, False])
add("2020-026", "Switch", data=1, pred=True)
add("2020-027", "QuantizeAndDequantizeV4", input=[2.5, 2.5], input_min=0.0, input_max=1.0, axis=10)
add("2020-028", "CropAndResize", image=filled(1, 1, 2, 2, 1), boxes=[[1e300 * 0.0, 3e38, -3e38, 3e38]],
    box_ind=ints([0], I32), crop_size=ints([2, 2], I32))  # fmt: skip
for x, src, dst in (
    ([1, 4], "1234", "1234"), ([1, 4], "HHHH", "WWWW"), ([1, 4], "H", "W"), ([1, 2, 3, 4], "1234", "1253"),
    ([1, 2, 3, 4], "1224", "1423"), ([1, 2, 3, 4], "1234", "432"), ([1, 2, 3, 4], "12345678", "87654321"),
    ([[1, 5], [2, 6], [3, 7], [4, 8]], "12345678", "87654321"),
):  # fmt: skip
    add("2020-030", "DataFormatVecPermute", x=ints(x, I32), src_format=src, dst_format=dst)
add("2020-030", "DataFormatDimMap", x=ints([[1, 5], [2, 6]], I32), src_format="1234", dst_format="8765")
add("2020-032", ".compat.v1.gfile.Glob", filename="/proc/self/task/")

add("2021-001", "RaggedBincount", splits=[0], values=[1, 1, 1, 1, 1], size=5, weights=[1, 2, 3, 4])
add("2021-002", "RaggedBincount", splits=[7, 8], values=[5, 16, 51, 76, 29, 27, 54, 95], size=59,
    weights=[0] * 8)  # fmt: skip
add("2021-003", ".random.truncated_normal", shape=1, mean=20.5, stddev=700.0, dtype=dtype("resource"))
add("2021-003", ".one_hot", indices=[62, 50], depth=136, on_value=237, off_value=158, dtype=dtype("resource"))
add("2021-003", ".range", start=214, limit=660, delta=129, dtype=dtype("resource"))
add("2021-003", "ResourceCountUpTo", resource=I32(30), limit=872, T=dtype("int32"))
add("2021-003", ".convert_to_tensor", value=ints([1, 2], I32), dtype=dtype("resource"))
for op in ("MatrixDiagV2", "MatrixDiagV3"):
    add("2021-004", op, diagonal=empty(0), k=0, num_rows=0, num_cols=0, padding_value=empty(0))
add("2021-005", "RaggedTensorToVariant", rt_nested_splits=[], rt_dense_values=empty(0), batched_input=True)
add("2021-006", "Conv3D", input=empty(0, 0, 0, 0, 0), filter=empty(0, 0, 0, 0, 0),
    strides=[1, 56, 56, 56, 1], padding="VALID", dilations=[1, 1, 1, 23, 1])  # fmt: skip
add("2021-006", "Conv3D", input=empty(2, 2, 2, 2, 0), filter=empty(0, 0, 2, 6, 2),
    strides=[1, 56, 39, 34, 1], padding="VALID")  # fmt: skip
add("2021-007", "GetSessionTensor", handle=["\x12\x1a\x07"], dtype=dtype("uint8"))
add("2021-007", "DeleteSessionTensor", handle=["\x12\x1a\x07"])
add("2021-008", "SparseCross", indices=[ints([[0, 6]]), ints([[0, 0]])], values=[ints([0]), ints([72])],
    shapes=[ints([4, 122]), ints([4, 188])], dense_inputs=[ints([[1], [2], [3], [0]])], hashed_output=False,
    num_buckets=1949315406, hash_key=1869835877, out_type=dtype("string"),
    internal_type=dtype("string"))  # fmt: skip
add("2021-009", "SparseCountSparseOutput", indices=empty(0, 0, dtype=I64), values=empty(0, 0, dtype=I64),
    dense_shape=ints([-100] * 3), weights=empty(0, 0, dtype=I64), binary_output=False)  # fmt: skip
for shape in ([], [0], [0, 3]):
    add("2021-009", "SparseCountSparseOutput", indices=empty(0, len(shape), dtype=I64),
        values=empty(0, dtype=I64), dense_shape=ints(shape), weights=empty(0, dtype=I64),
        binary_output=False)  # fmt: skip
add("2021-010", "Conv3DBackpropInputV2", input_sizes=ints([1, 1, 1, 1, 2], I32), filter=filled(-10, 4, 1, 6, 1, 1),
    out_backprop=filled(-10, 1, 1, 1, 1, 1), strides=[1, 89, 29, 89, 1], padding="SAME")  # fmt: skip
add("2021-010", "Conv3DBackpropFilterV2", input=filled(-10, 7, 7, 7, 7, 7), filter_sizes=ints([7, 7, 7, 1, 1], I32),
    out_backprop=filled(-10, 7, 1, 1, 1, 1), strides=[1, 37, 65, 93, 1], padding="VALID")  # fmt: skip
add("2021-011", "Conv3DBackpropInputV2", input_sizes=ints([0] * 5, I32), filter=empty(0, 0, 0, 1, 0),
    out_backprop=empty(0, 0, 0, 0, 0), strides=[1] * 5, padding="SAME")  # fmt: skip
add("2021-011", "Conv3DBackpropFilterV2", input=filled(1, 1, 1, 1, 1, 1), filter_sizes=ints([0, 0, 0, 1, 0], I32),
    out_backprop=empty(1, 1, 1, 1, 0), strides=[1] * 5, padding="SAME")  # fmt: skip
add("2021-013", "Conv2DBackpropFilter", input=empty(0, 0, 1, 0), filter_sizes=ints([1, 1, 1, 1], I32),
    out_backprop=empty(0, 0, 1, 1), strides=[1, 66, 18, 1], padding="SAME")  # fmt: skip
add("2021-014", "Conv2DBackpropInput", input_sizes=ints([52, 1, 1, 5], I32), filter=empty(0, 1, 5, 0),
    out_backprop=empty(52, 1, 1, 0), strides=[1, 1, 1, 1], padding="SAME")  # fmt: skip
add("2021-015", "Conv2D", input=empty(0, 0, 0, 0), filter=empty(0, 0, 0, 0), strides=[1] * 4, padding="SAME")
add("2021-020", "EncodePng", image=empty(0, 0, 3, dtype=np.uint8))
add("2021-021", "RaggedCross", ragged_values=[], ragged_row_splits=[], sparse_indices=[], sparse_values=[],
    sparse_shape=[], dense_inputs=[empty(92, 0, dtype=I64)], input_order="R", hashed_output=False,
    num_buckets=0, hash_key=0, out_values_type=dtype("int64"), out_row_splits_type=dtype("int64"))  # fmt: skip
add("2021-022", "DrawBoundingBoxes", images=empty(53, 0, 48, 1), boxes=filled(3.9, 53, 31, 4))
add("2021-024", "SparseConcat", indices=[ints([[514, 514], [514, 514]]), ints([[514, 530], [599, 877]])],
    values=[empty(0, dtype=I64)] * 2, shapes=[ints([442, 514, 514, 515, 606, 347, 943, 61, 2]), ints([0] * 9)],
    concat_dim=2)  # fmt: skip
NGRAMS = {"ngram_widths": [7, 6, 11], "pad_width": 50, "preserve_short_sequences": True}
add("2021-029", "StringNGrams", data=[""] * 11, data_splits=ints([0] * 115 + [3]), separator=b"\x020",
    left_pad=b"\x7f\x7f", right_pad=b"%]St", **NGRAMS)  # fmt: skip
add("2021-030", "StringNGrams", data=[""] * 11, data_splits=ints([0] * 115 + [3]), separator="Ss",
    left_pad="ABCDE", right_pad="ZYX", **NGRAMS)  # fmt: skip
add("2021-031", "QuantizeAndDequantizeV4Grad", gradients=filled(0, 1), input=filled(0, 1),
    input_min=filled(0, 1, 1), input_max=filled(0, 1, 1), axis=0)  # fmt: skip
add("2021-032", "CTCGreedyDecoder", inputs=empty(18, 2, 0), sequence_length=ints([-100, 17], I32))
add("2021-038", "FractionalAvgPool", value=filled(60, 1, 1, 1, 1, dtype=I32),
    pooling_ratio=[1.0, 1.0000014345305555, 1.0, 1.0])  # fmt: skip
add("2021-039", "MatrixTriangularSolve", matrix=empty(1, 0), rhs=empty(0, 1), lower=False, adjoint=False)
add("2021-040", "QuantizeAndDequantizeV3", input=[2.5, 2.5], input_min=[0.0, 0.0], input_max=[1.0, 1.0],
    num_bits=[30], signed_input=False, range_given=False, axis=3)  # fmt: skip
add("2021-041", "UnsortedSegmentJoin", inputs=np.array([], object), segment_ids=empty(0, dtype=I32),
    num_segments=empty(0, dtype=I32), separator="")  # fmt: skip
add("2021-042", "DenseCountSparseOutput", values=empty(0, 0, dtype=I64), weights=empty(0), minlength=-1,
    maxlength=58, binary_output=True)  # fmt: skip
NORM = {"epsilon": 0.001, "exponential_avg_factor": 1.0, "is_training": False}
add("2021-043", "FusedBatchNorm", x=empty(1, 1, 1, 0), scale=empty(0), offset=empty(0), mean=empty(0),
    variance=empty(0), **NORM)  # fmt: skip
add("2021-044", "SparseMatMul", a=filled(100, 2, 2), b=empty(0, 2), transpose_a=True, transpose_b=True,
    a_is_sparse=True, b_is_sparse=True)  # fmt: skip
add("2021-045", "Reverse", tensor=empty(0, 1, 1, dtype=I32), dims=[False, True, False])
add("2021-046", "SparseSplit", split_dim=I64(0), indices=ints([[1]]), values=ints([1]), shape=ints([1]), num_split=1)
add("2021-047", "UnicodeEncode", input_values=ints([58], I32), input_splits=ints([81, 101, 0], I32),
    output_encoding="UTF-8")  # fmt: skip
add("2021-048", "RaggedTensorToTensor", shape=ints([10, 10]), values=ints([0]), default_value=I64(0),
    row_partition_tensors=[ints([849] + [0] * 214).reshape(5, 43)], row_partition_types=["ROW_SPLITS"])  # fmt: skip
add("2021-050", "IRFFT", input=filled(-10, 10, 13, dtype=np.complex64), fft_length=ints([0], I32))
add("2021-051", "RFFT", input=filled(1, 1), fft_length=ints([0], I32))
add("2021-052", "EditDistance", hypothesis_indices=ints([[247] * 3]), hypothesis_values=filled(-9.9, 1),
    hypothesis_shape=ints([0] * 3), truth_indices=empty(0, 3, dtype=I64), truth_values=empty(0),
    truth_shape=ints([0] * 3))  # fmt: skip
for number in ("2021-053", "2021-149"):
    add(number, "SparseFillEmptyRows", indices=empty(0, 0, dtype=I64), values=empty(0, dtype=I64),
        dense_shape=empty(0, dtype=I64), default_value=I64(0))  # fmt: skip
for op in ("Dilation2DBackpropInput", "Dilation2DBackpropFilter"):
    add("2021-054", op, input=filled(1.1, 3, 3, 3, 3), filter=empty(0, 0, 3), out_backprop=filled(1.1, 3, 2, 59, 3),
        strides=[1, 40, 1, 1], rates=[1, 56, 56, 1], padding="VALID")  # fmt: skip
add("2021-055", "ParameterizedTruncatedNormal", shape=empty(0, dtype=I32), means=1.0, stdevs=1.0, minvals=1.0,
    maxvals=1.0)  # fmt: skip
add("2021-056", "SparseDenseCwiseMul", sp_indices=empty(10, 0, dtype=I64), sp_values=empty(0, dtype=I64),
    sp_shape=ints([0, 0]), dense=empty(0, dtype=I64))  # fmt: skip
ONES4 = {"ksize": [1] * 4, "strides": [1] * 4, "padding": "SAME"}
ONES5 = {"ksize": [1] * 5, "strides": [1] * 5, "padding": "SAME"}
add("2021-057", "MaxPoolGradWithArgmax", input=filled(10, 1, 1, 3, 1), grad=filled(10, 1, 1, 1, 4), argmax=ints([1]),
    **ONES4)  # fmt: skip
add("2021-059", "DrawBoundingBoxesV2", images=empty(10, 96, 0, 1), boxes=empty(10, 53, 0), colors=empty(0, 1))
add("2021-061", "ReverseSequence", input=empty(1, 1, 1, dtype=I32), seq_lengths=ints([0], I32), seq_dim=-2)
add("2021-062", "MaxPoolGradWithArgmax", input=empty(0, 0, 0, 0), grad=empty(0, 0, 0, 0),
    argmax=empty(0, dtype=I64), **ONES4)  # fmt: skip
add("2021-063", "MaxPool3DGradGrad", orig_input=filled(0, 1, 1, 1, 1, 1), orig_output=filled(0, 1, 1, 1, 1, 1),
    grad=empty(0, 0, 0, 0, 0), **ONES5)  # fmt: skip
add("2021-064", "MaxPool3DGradGrad", orig_input=filled(0.01, 11, 1, 1, 1, 1),
    orig_output=filled(0.01, 1, 1, 1, 1, 1), grad=filled(0.01, 1, 1, 1, 1, 1), **ONES5)  # fmt: skip
add("2021-065", "AvgPool3DGrad", orig_input_shape=ints([10, 6, 3, 7, 7], I32), grad=filled(0.01, 3, 1, 1, 1, 1),
    **ONES5)  # fmt: skip
FRACTIONAL = {"row_pooling_sequence": ints([1]), "col_pooling_sequence": ints([1]), "overlapping": False}
add("2021-066", "FractionalMaxPoolGrad", orig_input=ints([[[[2, 3]]]]), orig_output=empty(0, dtype=I64),
    out_backprop=empty(2, 3, 6, 6, dtype=I64), **FRACTIONAL)  # fmt: skip
add("2021-066", "FractionalMaxPoolGrad", orig_input=ints([1]), orig_output=ints([1]),
    out_backprop=ints([[[[1]]], [[[1]]]]), **FRACTIONAL)  # fmt: skip
add("2021-067", "FractionalAvgPoolGrad", orig_input_tensor_shape=ints([1, 3, 2, 3]), out_backprop=ints([[[[2]]]]),
    **FRACTIONAL)  # fmt: skip
add("2021-068", "MaxPoolGrad", orig_input=filled(0, 1, 1, 1, 1), orig_output=filled(0, 1, 1, 1, 1),
    grad=empty(0, 0, 0, 0), explicit_paddings=[], **ONES4)  # fmt: skip
add("2021-069", "CTCBeamSearchDecoder", inputs=empty(18, 8, 0),
    sequence_length=ints([11, -43, -92, 11, -89, -83, -35, -100], I32), beam_width=10, top_paths=3)  # fmt: skip
add("2021-070", "Dequantize", input=quantized([[10] * 10] * 5, "quint8"), min_range=filled(-10, 1),
    max_range=filled(758, 5), mode="SCALED", narrow_range=True, axis=0)  # fmt: skip
add("2021-071", "SparseSplit", split_dim=I64(1), indices=ints([[0, 0], [0, 1], [4, 3], [5, 0]]), values=filled(1, 4),
    shape=ints([2**60 - 1, 2**60 - 1]), num_split=2)  # fmt: skip
for x, n in ((6, 1), (1, 0)):
    add("2021-072", "FusedBatchNorm", x=empty(10, 10, 10, x), scale=empty(n), offset=empty(n), mean=empty(n),
        variance=empty(n), **NORM)  # fmt: skip
add("2021-075", "SpaceToDepth", input=empty(1, 2, 2, 1), block_size=0)
add("2021-076", "GatherNd", params=empty(0, 2), indices=ints([[0, 0]], I32))
add("2021-077", "Conv2DBackpropInput", input_sizes=ints([1, 4, 4, 1], I32), filter=filled(1, 2, 2, 1, 1),
    out_backprop=filled(1, 1, 4, 4, 1), strides=[1, 0, 0, 1], padding="VALID")  # fmt: skip
add("2021-083", ".nn.embedding_lookup", params=empty(0, 3), ids=ints([0]))
add("2021-095", "RaggedTensorToTensor", shape=ints([-1, -1]), values=empty(0, dtype=I64), default_value=I64(404),
    row_partition_tensors=[ints([269, 404, 0, 0, 0, 0, 0])], row_partition_types=["ROW_SPLITS"])  # fmt: skip
add("2021-096", "SparseAdd", a_indices=empty(10, 97, dtype=I64), a_values=empty(10, dtype=I64),
    a_shape=empty(0, dtype=I64), b_indices=empty(0, 0, dtype=I64), b_values=empty(0, dtype=I64),
    b_shape=empty(0, dtype=I64), thresh=I64(0))  # fmt: skip
add("2021-097", "SparseSparseMinimum", a_indices=filled(1, 45, 92, dtype=I64), a_values=filled(1, 45, dtype=I64),
    a_shape=ints([1]), b_indices=ints([[1]]), b_values=ints([1]), b_shape=ints([1]))  # fmt: skip
add("2021-098", "SparseReshape", input_indices=ints([[41]]), input_shape=ints([0] * 11), new_shape=ints([0]))
QUANT = {"signed_input": False, "range_given": False, "narrow_range": False}
add("2021-099", "QuantizeAndDequantizeV2", input=filled(0, 1), input_min=-10.0, input_max=-10.0, num_bits=1, axis=-2,
    **QUANT)  # fmt: skip
add("2021-100", "BandedTriangularSolve", matrix=empty(0, 1), rhs=filled(1, 1, 2))
for inputs, indices, n in (((10, 16, 0), (8, 0), 8), ((7, 2, 0), (2, 1), 2), ((0, 2, 11), (0, 2), 0)):
    add("2021-101", "CTCLoss", inputs=empty(*inputs), labels_indices=filled(-100, *indices, dtype=I64),
        labels_values=filled(-100, n, dtype=I32), sequence_length=filled(-100, inputs[1], dtype=I32))  # fmt: skip
add("2021-102", ".io.decode_raw", input_bytes=["1", "2", "3", "4"], out_type=dtype("uint16"), fixed_length=4)
add("2021-105", ".transpose", conjugate=True, a=1j)
for pos in ([1, -1], [1, 2]):
    add("2021-106", ".strings.substr", input="abc", len=1, pos=pos)
add("2021-107", "SparseCountSparseOutput", indices=ints([[-7, 3]]), values=ints([-1]), dense_shape=ints([2]),
    weights=filled(1, 3), binary_output=True)  # fmt: skip
add("2021-109", "SparseReduceSum", input_indices=ints([[773] * 3] * 2), input_values=filled(1, 2),
    input_shape=ints([337] * 3), reduction_axes=ints([1], I32))  # fmt: skip
add("2021-109", "SparseReduceMax", input_indices=ints([[773] * 3] * 2), input_values=filled(1, 2),
    input_shape=ints([337] * 3), reduction_axes=ints([9], I32))  # fmt: skip
add("2021-110", "SparseDenseCwiseDiv", sp_indices=ints([[4]]), sp_values=ints([-400]), sp_shape=ints([647]),
    dense=ints([0]))  # fmt: skip
add("2021-112", "RaggedTensorToTensor", shape=ints([1], I32), values=ints([10], I32), default_value=I32(21),
    row_partition_tensors=[ints([0, 0, 0, 0], I32)], row_partition_types=[])  # fmt: skip
add("2021-113", "RestoreV2", prefix=["/tmp"], tensor_names=[], shape_and_slices=["2"], dtypes=dtypes("int32"))
add("2021-113", "RestoreV2", prefix="/tmp", tensor_names=["x"], shape_and_slices=[], dtypes=dtypes("int32"))
add("2021-114", "SparseReshape", input_indices=filled(1, 1, 3, dtype=I64), input_shape=ints([1, 1, 0]),
    new_shape=ints([1, 0]))  # fmt: skip
add("2021-115", "ResourceScatterDiv", resource=variable([1, 2, 3]), indices=[1], updates=[0])
add("2021-116", "RaggedGather", params_nested_splits=[ints(0), ints(0), ints(0)], params_dense_values=ints([1, 1]),
    indices=ints([0, 0, 9, 0, 0]), OUTPUT_RAGGED_RANK=0)  # fmt: skip
add("2021-116", "RaggedGather", params_nested_splits=[ints([0, 7])], params_dense_values=ints([1, 1]),
    indices=ints([0, 9]), OUTPUT_RAGGED_RANK=1)  # fmt: skip
add("2021-117", "TensorListReserve", element_shape=ints([1], I32), num_elements=I32(-1), element_dtype=dtype("int32"))
add("2021-118", "MatrixDiagPartV2", input=filled(1, 2, dtype=I32), k=ints([1, 1], I32), padding_value=empty(0, dtype=I32))
add("2021-119", "QuantizeAndDequantizeV4Grad", gradients=[1.0, 2.0], input=[1.0, 1.0], input_min=[0.0],
    input_max=[10.0], axis=-100)  # fmt: skip
add("2021-120", "StringNGrams", data=["", ""], data_splits=[0, 2], separator=" " * 100, ngram_widths=[-80, 0, 0, -60],
    left_pad=" ", right_pad=" ", pad_width=100, preserve_short_sequences=False)  # fmt: skip
add("2021-121", "SparseTensorSliceDataset", indices=empty(3, 0, dtype=I64), values=[1, 2, 3], dense_shape=ints([3, 3]))
add("2021-122", "SaveV2", prefix=["tensorflow"], tensor_names=["v"], shape_and_slices=[], tensors=[1, 2, 3])
add("2021-125", "FractionalAvgPoolGrad", orig_input_tensor_shape=ints([0, 1, 2, 3]),
    out_backprop=filled(541, 1, 2, 2, 1, dtype=I64), row_pooling_sequence=ints([0] * 5),
    col_pooling_sequence=ints([-2, 0, 0, 2, 0]), overlapping=True)  # fmt: skip
add("2021-127", "ResourceGather", resource=variable(empty(0, 1)), indices=[0], dtype=dtype("float32"), batch_dims=1)
add("2021-128", "ResourceGather", resource=variable(counted(3, 2)), indices=[0], dtype=dtype("float32"), batch_dims=10)
add("2021-129", "ResourceScatterUpdate", resource=variable([b"vvv"]), indices=[0], updates=["1", "2", "3", "4", "5"])
add("2021-130", "RaggedTensorToSparse", rt_nested_splits=[ints([0, 38, 0])], rt_dense_values=empty(0))
add("2021-131", "MatrixDiagV3", diagonal=[1, 0], k=empty(0, dtype=I32), num_rows=[1, 2, 3], num_cols=[4, 5],
    padding_value=empty(0, dtype=I32), align="RIGHT_RIGHT")  # fmt: skip
add("2021-132", "MatrixSetDiagV3", input=[1, 2, 3], diagonal=[1, 1], k=empty(0, dtype=I32), align="RIGHT_LEFT")
for op in ("SqrtGrad", "RsqrtGrad", "TanhGrad", "SigmoidGrad", "ReciprocalGrad"):
    add("2021-133", op, y=[4.0, 16.0], dy=empty(0))
for op in ("InplaceSub", "InplaceAdd", "InplaceUpdate"):
    add("2021-134", op, x=empty(0), i=[-99, -1, -1], v=[1.0, 1.0, 1.0])
add("2021-141", "UnicodeEncode", input_values=empty(0, dtype=I32), input_splits=empty(0, dtype=I64),
    output_encoding="UTF-8", errors="ignore", replacement_char=97)  # fmt: skip
add("2021-138", "QuantizeV2", input=[1.0, 2.0, 3.0], min_range=[1.0, 2.0], max_range=empty(0), T=dtype("qint32"),
    mode="SCALED", round_mode="HALF_AWAY_FROM_ZERO", axis=1, ensure_minimum_range=3.0)  # fmt: skip
add("2021-140", "RaggedTensorToVariant", rt_nested_splits=[], rt_dense_values=[1, 2, 3], batched_input=True)
add("2021-142", "UnravelIndex", indices=-1, dims=[1, 0, 2])
BOXES = np.array([[0.1] * 4, [0.2] * 4, [0.3] * 4], np.float32)
add("2021-143", "NonMaxSuppressionV5", boxes=BOXES, scores=[1.0, 2.0, 3.0], max_output_size=-1, iou_threshold=0.5,
    score_threshold=0.5, soft_nms_sigma=1.0, pad_to_max_output_size=True)  # fmt: skip
add("2021-143", "CombinedNonMaxSuppression", boxes=BOXES[None, :, None], scores=BOXES[None, :, :3],
    max_output_size_per_class=-1, max_total_size=10, iou_threshold=0.5, score_threshold=0.5, pad_per_class=True)  # fmt: skip
for op in ("UpperBound", "LowerBound"):
    add("2021-144", op, sorted_inputs=[1, 2, 3], values=ints([[0] * 3, [1] * 3, [2] * 3], I32), out_type=dtype("int64"))
for op in ("MapPeek", "OrderedMapPeek"):
    add("2021-145", op, key=ints([8]), indices=empty(0, dtype=I32), dtypes=dtypes("int32"), capacity=8, memory_limit=128)
for op in ("MapStage", "OrderedMapStage"):
    add("2021-147", op, key=empty(0, 0, 0, 0, dtype=I64), indices=I32(0), values=[I32(0)],
        dtypes=dtypes("int32", "int64"))  # fmt: skip
add("2021-148", "MaxPoolGrad", orig_input=empty(3, 0, 0, 2), orig_output=empty(3, 0, 0, 2), grad=empty(3, 0, 0, 2),
    ksize=[1, 16, 16, 1], strides=[1, 16, 18, 1], padding="EXPLICIT",
    explicit_paddings=[0, 0, 14, 3, 15, 5, 0, 0])  # fmt: skip
add("2021-150", "Conv2D", input=empty(0, 0, 0, 0), filter=empty(0, 0, 0, 0), strides=[1] * 4, padding="VALID")
add("2021-150", "DepthwiseConv2dNative", input=empty(0, 0, 0, 0), filter=empty(0, 0, 0, 0), strides=[1] * 4,
    padding="SAME")  # fmt: skip
add("2021-151", "Dequantize", input=quantized(-10, "quint8"), min_range=empty(0), max_range=empty(0), axis=-10)
add("2021-153", ".map_fn", fn=lambda tf: lambda r: tf.map_fn(lambda y: r, r),
    elems=lambda tf: tf.ragged.constant([[1, 2, 3], [4, 5], [6]]))  # fmt: skip
add("2021-160", "ExpandDims", input=[1, 2], axis=-100000)
add("2021-169", "FusedBatchNormGrad", y_backprop=counted(1, 1, 3, 3), x=counted(1, 1, 1, 2), scale=[1.0, 1.0],
    reserve_space_1=[1.0, 1.0], reserve_space_2=[1.0, 1.0, 1.0], epsilon=1.0, data_format="NCHW")  # fmt: skip
add("2021-169", "FusedBatchNormGrad", y_backprop=counted(1, 3, 3, 1), x=counted(1, 1, 2, 1), scale=[1.0, 1.0],
    reserve_space_1=[1.0, 1.0], reserve_space_2=[1.0, 1.0, 1.0], epsilon=1.0)  # fmt: skip
add("2021-171", "SparseBincount", indices=ints([[0], [1], [2]]), values=[0, -10000000], dense_shape=ints([1, 1]),
    size=[1], weights=[3, 2, 1])  # fmt: skip
add("2021-172", "SparseFillEmptyRows", indices=ints([[0, 0]] * 3), values=["s" * 60], dense_shape=ints([5, 3]),
    default_value="o")  # fmt: skip
add("2021-173", "SplitV", value=empty(0), size_splits=[-1, -2], axis=0, num_split=2)
add("2021-175", "Exit", data=[False, False])
add("2021-177", "CollectiveReduceV2", input=empty(0), group_size=ints([-10, -10, -10], I32),
    group_key=ints([-10, -10], I32), instance_key=ints([-10], I32), ordering_token=[], merge_op="Mul",
    final_op="Div")  # fmt: skip
add("2021-178", "SparseMatMul", a=filled(1, 1, 3), b=empty(3, 0), b_is_sparse=True)
add("2021-179", "Transpose", x=[1, 2, 3, 4], perm=[-10])
add("2021-180", ".constant", value=functions_that_call_each_other)
add("2021-181", "DeserializeSparse", serialized_sparse=dataset, dtype=dtype("int32"))
add("2021-182", ".ragged.cross", inputs=lambda tf: [tf.ragged.constant([["1"]]), "2"])
add("2021-183", "RaggedCross", ragged_values=[], ragged_row_splits=[], sparse_indices=[ints([5])], sparse_values=[],
    sparse_shape=[ints(5)], dense_inputs=[["a"]], input_order="RD", hashed_output=False, num_buckets=5, hash_key=2,
    out_values_type=dtype("string"), out_row_splits_type=dtype("int64"))  # fmt: skip
RANGES = {"input": [1.0, 1.0], "input_min": [1.0, 10.0], "input_max": [1.0, 10.0], "axis": -100}
add("2021-184", "QuantizeV2", input=[1.0, 1.0], min_range=[1.0, 10.0], max_range=[1.0, 10.0], T=dtype("qint32"),
    round_mode="HALF_TO_EVEN", axis=-100, ensure_minimum_range=10.0)  # fmt: skip
add("2021-185", "QuantizeAndDequantizeV4Grad", gradients=[1.0, 1.0], **RANGES)
add("2021-185", "QuantizeAndDequantizeV4", num_bits=10, **QUANT, **RANGES)
add("2021-185", "QuantizeAndDequantizeV3", num_bits=10, **QUANT, **RANGES)
add("2021-185", "QuantizeAndDequantizeV2", num_bits=10, **QUANT, **RANGES)
add("2021-186", "ParallelConcat", values=[["tf"]], shape=0)
for op, rank in (("Conv2D", 4), ("Conv3D", 5)):
    add("2021-187", op, input=filled(1, *[2] * rank), filter=empty(*[1] * (rank - 2), 0, 2), strides=[1] * rank,
        padding="SAME")  # fmt: skip
add("2021-188", "SparseCountSparseOutput", indices=ints([1]), values=ints([[1]]), dense_shape=ints([10]),
    weights=empty(0), binary_output=True)  # fmt: skip
add("2021-192", "Einsum", inputs=[filled(1, 2, 2), filled(1, 2, 2)], equation="i...,j...->ij")
add("2021-192", "Einsum", inputs=[filled(1, 2, 2)], equation="...->......")
add("2021-194", ".sparse.eye", num_rows=2**63 - 1)
add("2021-194", ".range", start=-1e38, limit=1.0)
add("2021-195", ".image.resize", images=empty(5, 1, 1, 1), size=[1610637938, 1610637938])
add("2021-196", ".tile", input=filled(1, 1, 1, 1), multiples=[100000000] * 3)
add("2021-197", ".summary.create_file_writer", logdir="", flush_millis=filled(1, 1, 2, dtype=F64))
for sizes in ([2**40, 2**40], [2**62, 2]):
    add("2021-198", ".zeros", shape=ints(sizes))
    add("2021-198", "Fill", dims=ints(sizes), value=1.0)
    add("2021-198", "BroadcastTo", input=[1.0], shape=ints(sizes))
add("2021-198", ".sparse.to_dense", sp_input=lambda tf: tf.SparseTensor([[0, 0]], [1], [2**40, 2**40]))
