"""What TensorFlow's advisories of 2022 and 2023 describe, of the operations that are here."""

import numpy as np

from advisory_values import (
    F64, I32, I64, Table, counted, dataset, dtype, dtypes, empty, filled, ints, quantized,
)  # fmt: skip

TABLE = Table()
add = TABLE.add

HALF = np.float16
HUGE = 1879048192
GRAD3 = np.array([[[[1], [1], [1]]], [[[2], [2], [2]]], [[[3], [3], [3]]]], np.float32)

add("2022-001", "AvgPoolGrad", orig_input_shape=[1, 1, 1, 1], grad=GRAD3, ksize=[1] * 4, strides=[1, 1, 1, 0],
    padding="VALID", data_format="NCHW")  # fmt: skip
add("2022-001", "AvgPoolGrad", orig_input_shape=[1, 1, 1, 1], grad=GRAD3, ksize=[1] * 4, strides=[1, 1, 0, 1],
    padding="VALID")  # fmt: skip
add("2022-002", "ReverseSequence", input=["aaa", "bbb"], seq_lengths=[1, 1, 1], seq_dim=-10, batch_dim=-10)
for number, kind in (("2022-003", "qint32"), ("2022-004", "quint8")):
    add(number, "Dequantize", input=quantized([1, 1], kind), min_range=[1.0], max_range=[10.0], axis=2**31 - 1)
add("2022-005", "FractionalAvgPoolGrad", orig_input_tensor_shape=ints([2, 2, 2, 2]),
    out_backprop=1 + counted(1, 2, 3, 2, dtype=I64), row_pooling_sequence=ints([-10, 1, 2, 3]),
    col_pooling_sequence=ints([1, 2, 3, 4]), overlapping=True)  # fmt: skip
add("2022-006", "UnravelIndex", indices=-0x100000, dims=[0x100000, 0x100000])
add("2022-007", "ConcatV2", values=[[1, 2, 3], [4, 5, 6]], axis=I64(0xB500005B))
add("2022-007", "ConcatV2", values=[[1, 2, 3], [4, 5, 6]], axis=I32(-(2**31)))
add("2022-009", "StringNGrams", data=["123456"], data_splits=[0, 1], separator="a" * 15, ngram_widths=[], left_pad="",
    right_pad="", pad_width=-5, preserve_short_sequences=True)  # fmt: skip
for op in ("SparseDenseCwiseDiv", "SparseDenseCwiseMul", "SparseDenseCwiseAdd"):
    add("2022-011", op, sp_indices=ints([[9]]), sp_values=ints([5]), sp_shape=ints([92233720368, 92233720368]),
        dense=ints([4]))  # fmt: skip
for op in ("MapStage", "OrderedMapStage"):
    add("2022-013", op, key=ints([[4, 4]]), indices=ints([[6]], I32), values=[ints([-60])], dtypes=dtypes("int64"))
add("2022-014", "FractionalMaxPool", value=ints([[[[1, 4, 2, 3]]]]), pooling_ratio=[1.0, 1.44, 1.73, 1.0])
for shape in ([2**31, 2**31, 2**31], [-1, 2]):
    add("2022-015", ".zeros", shape=ints(shape))
    add("2022-015", "RandomUniform", shape=ints(shape), dtype=dtype("float32"))
    add("2022-015", "EmptyTensorList", element_shape=ints(shape), max_num_elements=2**31 - 1,
        element_dtype=dtype("float32"))  # fmt: skip
add("2022-016", "SparseTensorSliceDataset", indices=empty(1, 0, dtype=I64), values=empty(0), dense_shape=ints([1, 1]))
add("2022-017", "DenseBincount", input=ints([[0], [1], [2]], I32), size=ints([1], I32), weights=ints([3, 2, 1], I32))
add("2022-017", "Bincount", arr=ints([0], I32), size=ints([1, 2], I32), weights=empty(0))
add("2022-019", "SparseCountSparseOutput", indices=ints([[1, 1]]), values=ints([2]), dense_shape=ints([2**31, 2**32]),
    weights=filled(1, 1), binary_output=True)  # fmt: skip
add("2022-020", "SparseCountSparseOutput", indices=ints([[-1, -1]]), values=ints([2]), dense_shape=ints([1, 1]),
    weights=filled(1, 1), binary_output=True)  # fmt: skip
add("2022-061", "TensorSummaryV2", tag="test", tensor=3, serialized_summary_metadata=np.array([], object))
add("2022-062", "QuantizeAndDequantizeV4Grad", gradients=filled(1, 2, 2), input=filled(1, 2, 2), input_min=empty(0),
    input_max=-10.0, axis=-1)  # fmt: skip
add("2022-063", "DeleteSessionTensor", handle=np.array([], object))
add("2022-064", "GetSessionTensor", handle=np.array([], object), dtype=dtype("float32"))
add("2022-065", "StagePeek", index=empty(0, dtype=I32), dtypes=dtypes("int32"))
add("2022-066", "UnsortedSegmentJoin", inputs=["this"] * 12, segment_ids=ints([0] * 12), num_segments=ints([0] * 12))
add("2022-069", "LSTMBlockCell", x=filled(0.8, 28, 29), cs_prev=filled(0, 28, 17), h_prev=filled(0.5, 28, 17),
    w=filled(0.8, 46, 68), wci=empty(), wcf=filled(0, 17), wco=filled(0.5, 28, 17), b=filled(0.7, 68), forget_bias=1.0,
    cell_clip=0.0)  # fmt: skip
add("2022-070", "Conv3DBackpropFilterV2", input=filled(0.5, 2, 2, 2, 2, 1), filter_sizes=I32(0),
    out_backprop=filled(0.5, 2, 2, 2, 2, 1), strides=[1] * 5, padding="VALID")  # fmt: skip
add("2022-071", "DepthwiseConv2dNativeBackpropFilter", input=filled(1, 1, 4, 4, 3),
    filter_sizes=filled(HUGE, 13, dtype=I32), out_backprop=filled(1, 1, 4, 4, 3), strides=[1] * 4,
    padding="SAME")  # fmt: skip
add("2022-071", "DepthwiseConv2dNativeBackpropInput", input_sizes=filled(HUGE, 4, dtype=I32),
    filter=filled(1, 2, 2, 3, 1), out_backprop=filled(1, 1, 4, 4, 3), strides=[1] * 4, padding="SAME")  # fmt: skip
add("2022-072", "QueueIsClosedV2", handle=[])
add("2022-072", ".summary.flush", writer=())
add("2022-073", ".compat.v1.placeholder_with_default", input=ints([2]), shape=quantized([1], "qint8"))
add("2022-074", "SparseTensorDenseAdd", a_indices=empty(17, 2, dtype=I64), a_values=empty(0), a_shape=ints([6, 12]),
    b=filled(-0.2, 6, 12))  # fmt: skip
add("2022-074", "SparseTensorDenseAdd", a_indices=ints([[9, 0]]), a_values=filled(1, 1), a_shape=ints([2, 2]),
    b=filled(0, 2, 2))  # fmt: skip
add("2022-076", "SpaceToBatchND", input=filled(-3.5e35, 10, 19, 22), block_shape=ints([-HUGE, -HUGE]),
    paddings=ints([[0, 0], [0, 0]], I32))  # fmt: skip
add("2022-077", "EditDistance", hypothesis_indices=filled(-1250999896764, 3, 3, dtype=I64),
    hypothesis_values=ints([0, 0, 0]), hypothesis_shape=ints([0, 0, 0]),
    truth_indices=filled(-1250999896764, 3, 3, dtype=I64), truth_values=ints([2, 2, 2]),
    truth_shape=ints([2, 2, 2]))  # fmt: skip
add("2022-078", ".strings.unsorted_segment_join", inputs=["123"], segment_ids=[0], num_segments=-1)
add("2022-079", ".ragged.constant", pylist=[], ragged_rank=8968073515812833920)
for value in (float("nan"), float("inf"), -float("inf")):
    add("2022-080", ".histogram_fixed_width", values=value, value_range=[1.0, 2.0])
for op in ("RFFT2D", "RFFT3D", "IRFFT2D", "IRFFT3D"):
    rank = int(op[-2])
    add("2022-082", op, input=empty(*[0] * rank, dtype=np.complex64 if op[0] == "I" else np.float32),
        fft_length=filled(6, rank, dtype=I32))  # fmt: skip
    add("2022-082", op, input=filled(1, *[2] * rank, dtype=np.complex64 if op[0] == "I" else np.float32),
        fft_length=filled(-6, rank, dtype=I32))  # fmt: skip
add("2022-085", ".reshape", tensor=[[1]], shape=filled(0, 255, dtype=I64))
add("2022-085", ".reshape", tensor=empty(0), shape=ints([2**62, 2**62, 0]))
add("2022-086", "SobolSample", dim=[1, 0], num_results=[1], skip=[1])
add("2022-087", "GatherNd", params=[1, 2], indices=[[2]])
add("2022-088", "TensorListReserve", element_shape=(1, 1), num_elements=[1, 1], element_dtype=dtype("int8"))
add("2022-089", "ScatterNd", indices=[[5], [-1]], updates=[1, 2], shape=[2])
add("2022-090", "RaggedRange", starts=[1.1, 0.1], limits=[10.0, 1e20], deltas=[1.0, 1.0])
add("2022-091", "AvgPool", value=filled(1, 1, 1, 1, 1, dtype=F64), ksize=[1, 10**18, 1, 1], strides=[1] * 4,
    padding="SAME")  # fmt: skip
NEGATIVE = filled(-536870912, 4, dtype=I32)
POOL = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}
for number in ("2022-094", "2022-100"):
    add(number, "AvgPoolGrad", orig_input_shape=NEGATIVE, grad=filled(0.08, 1, 5, 7, 1, dtype=F64), **POOL)
add("2022-094", "AvgPool3DGrad", orig_input_shape=filled(-536870912, 5, dtype=I32), grad=filled(0.08, 1, 5, 7, 7, 1),
    ksize=[1, 2, 2, 2, 1], strides=[1, 2, 2, 2, 1], padding="VALID")  # fmt: skip
ONES = {"row_pooling_sequence": ints([1] * 4), "col_pooling_sequence": ints([1] * 4), "overlapping": True}
add("2022-095", "FractionalAvgPoolGrad", orig_input_tensor_shape=filled(-HUGE, 4, dtype=I64),
    out_backprop=empty(0, 0, 0, 0, dtype=F64), **ONES)  # fmt: skip
add("2022-096", "BlockLSTMGradV2", seq_len_max=I64(1), use_peephole=False, **{
    name: filled(0.5, 1, 1, 1) for name in
    "x cs_prev h_prev w wci wcf wco b i cs f o ci co h cs_grad h_grad".split()})  # fmt: skip
add("2022-097", "LowerBound", sorted_inputs=empty(10, 0), values=empty(10, 10, 0, 10, 0))
add("2022-097", "LowerBound", sorted_inputs=empty(10, 0), values=empty(10, 3))
add("2022-097", "UpperBound", sorted_inputs=empty(2, 2, 0, 0, 0, 0, 0, 2), values=filled(0.3, 2, 4), out_type=dtype("int64"))
add("2022-101", "Conv2DBackpropInput", input_sizes=ints([65534, 65534], I32), filter=filled(0.1, 3, 3, 2, 2),
    out_backprop=empty(), strides=[1] * 4, padding="SAME")  # fmt: skip
MATRIX = filled(0, 2, 3)
add("2022-103", "FakeQuantWithMinMaxVars", inputs=MATRIX, min=MATRIX, max=MATRIX)
add("2022-106", "FakeQuantWithMinMaxVarsPerChannel", inputs=filled(0, 4), min=empty(4, 0, 0), max=filled(0, 4))
add("2022-110", "FractionalMaxPoolGrad", orig_input=filled(0.4, 1, 7, 13, 1), orig_output=filled(0.4, 1, 7, 13, 1),
    out_backprop=filled(0.4, 1, 7, 13, 1), row_pooling_sequence=ints([0] * 5), col_pooling_sequence=ints([0] * 5),
    overlapping=True)  # fmt: skip
add("2022-111", "RaggedTensorToVariant", rt_nested_splits=[ints(0), ints(32), ints(64)],
    rt_dense_values=ints([0, 32, 64]), batched_input=True)  # fmt: skip
add("2022-112", "QuantizeAndDequantizeV3", input=[-3.5], input_min=[-3.5], input_max=[-3.5],
    num_bits=empty(0, dtype=I32), range_given=False, axis=-1)  # fmt: skip
add("2022-113", "SparseBincount", indices=I64(-5), values=I32(7), dense_shape=empty(0, dtype=I64), size=I32(9), weights=empty())
add("2022-115", "ParameterizedTruncatedNormal", shape=ints([-5, 7, 9]), means=filled(1, 3, 3, 3),
    stdevs=filled(1, 3, 3, 3), minvals=filled(0, 3, 3, 3), maxvals=filled(2, 3, 3, 3))  # fmt: skip
add("2022-116", "LRNGrad", input_grads=filled(1, 4, 4, 4, 4), input_image=filled(1, 4, 4, 4, 4),
    output_image=filled(1, 4, 4, 4, 4, 4, 4), depth_radius=1)  # fmt: skip
add("2022-117", "RaggedBincount", splits=empty(0, dtype=I64), values=I32(5), size=I32(3), weights=empty(), binary_output=True)
add("2022-118", "DenseBincount", input=empty(0, 0, dtype=I32), size=I32(5), weights=empty(), binary_output=True)
add("2022-119", ".linalg.matrix_rank", a=empty(0, 1, 1))
add("2022-120", "MaxPool", input=filled(1, 1, 1, 1, 1), ksize=[1, 1, 2, 2], strides=[1] * 4, padding="VALID",
    data_format="NCHW")  # fmt: skip
add("2022-120", "MaxPool", input=filled(1, 1, 1, 1, 1), ksize=[1, 2, 2, 1], strides=[1] * 4, padding="VALID")
add("2022-121", "Conv2DBackpropInput", input_sizes=[3, 1, 1, 2], filter=filled(1, 1, 3, 2, 3),
    out_backprop=filled(1, 3, 1, 0, 3), strides=[1, 1, 2, 1], padding="VALID")  # fmt: skip
add("2022-122", "EmptyTensorList", element_shape=empty(1, 0, dtype=I32), max_num_elements=1, element_dtype=dtype("int32"))
add("2022-123", ".sparse.cross", inputs=[], name="a", separator=lambda tf: tf.constant(["a", "b"]))
add("2022-123", "SparseCrossV2", indices=[], values=[], shapes=[], dense_inputs=[], sep=["a", "b"])
add("2022-124", "Conv2D", input=empty(1, 0, 2, 1), filter=filled(1, 1, 1, 1, 1), strides=[1] * 4, padding="EXPLICIT",
    explicit_paddings=[0, 0, 1, 1, 1, 1, 0, 0])  # fmt: skip
add("2022-125", "AudioSummaryV2", tag="", tensor=filled(0.5, 1, 1), sample_rate=filled(0.5, 2, 1))
add("2022-126", "CollectiveGather", input=1, group_size=1, group_key=1, instance_key=1, shape=(3, 3, 3),
    communication_hint="auto", timeout_seconds=0)  # fmt: skip
add("2022-127", "SetSize", set_indices=1, set_values=[1, 1], set_shape=1)
add("2022-127", "SetSize", set_indices=ints([[0, 0], [9, 0]]), set_values=[1, 1], set_shape=ints([2, 2]))
add("2022-128", "TensorListFromTensor", tensor=filled(1, 6, 6, 2), element_shape=filled(9, 6, 9, 1, 3, dtype=I64))
for op in ("TensorListScatter", "TensorListScatterV2"):
    more = {"num_elements": 3} if op[-1] == "2" else {}
    add("2022-129", op, tensor=filled(1, 2, 2, 2, dtype=HALF), indices=filled(7, 2, 2, 2, dtype=I32),
        element_shape=filled(7, 2, 2, 2, dtype=I32), **more)  # fmt: skip
ONE = filled(0.5, 1, 1)
add("2022-130", "FakeQuantWithMinMaxVarsPerChannelGradient", gradients=ONE, inputs=ONE, min=ONE, max=ONE)
SQUARE = filled(0.5, 2, 2)
add("2022-131", "FakeQuantWithMinMaxVarsGradient", gradients=SQUARE, inputs=SQUARE, min=SQUARE, max=SQUARE)
BIG = ints([60000, 50000, 40000, 30000], I32)
add("2022-132", ".random.gamma", shape=BIG, alpha=filled(0.5, 4, 4, dtype=F64), beta=filled(0.5, 4, 4, 4, 4, 4, dtype=F64),
    dtype=dtype("float64"), seed=48)  # fmt: skip
add("2022-133", "RandomPoissonV2", shape=BIG, rate=filled(0.5, 4, 4, 4, 4, 4), dtype=dtype("int32"))
add("2022-135", "DrawBoundingBoxes", images=filled(0.5, 1, 3, 2, 3, dtype=HALF), boxes=filled(0.5, 1, 2, 4))
add("2022-136", "Eig", input=filled(0.5, 2, 2), Tout=dtype("complex128"), compute_v=True)
add("2022-141", "Range", start=0.0, limit=1e38, delta=1e-30)
add("2022-141", "Range", start=ints(-(2**63)), limit=ints(2**63 - 1), delta=ints(1))
SAMPLER = {"num_true": 2, "num_sampled": 2, "unique": False, "range_max": 2, "seed": 2, "seed2": 2}
add("2022-144", "ThreadUnsafeUnigramCandidateSampler", true_classes=ints([[0x100000, 1]]), **SAMPLER)
add("2022-144", "LearnedUnigramCandidateSampler", true_classes=ints([[-0x100000, 1]]), **SAMPLER)
add("2022-145", "DynamicStitch", indices=[ints([[0, 1]], I32)], data=[[[5, 6]], [[7, 8]]])
add("2022-146", ".broadcast_to", input=[1], shape=list(range(21)))
add("2022-148", "ImageProjectiveTransformV2", images=filled(0.1, 2, 5, 8, 3), transforms=filled(0.3, 2, 8),
    output_shape=ints([HUGE, HUGE], I32), interpolation="BILINEAR", fill_mode="REFLECT")  # fmt: skip
add("2022-149", "ResizeNearestNeighborGrad", grads=filled(1, 1, 8, 16, 3, dtype=HALF), size=ints([HUGE, HUGE], I32),
    align_corners=True)  # fmt: skip
add("2022-152", ".compat.v1.extract_volume_patches", input=ints([1, -1], I32), ksizes=quantized([[1, 4], [5, 2]], "qint16"),
    strides=[1, 1, 1, 1, 1], padding="VALID")  # fmt: skip
add("2022-153", ".experimental.numpy.outer", a=6, b=lambda tf: tf.constant(shape=[2, 1024, 1024, 1024], value=False))
add("2022-154", "TensorListConcat", input_handle=dataset, element_dtype=dtype("float32"), element_shape=[])
add("2022-155", "TensorListResize", size=empty(0, 2, 3, 3, dtype=I32),
    input_handle=lambda tf: tf.raw_ops.TensorListFromTensor(tensor=[3, 4, 5], element_shape=[]))  # fmt: skip
add("2022-157", "MirrorPadGrad", input=[1], paddings=[[0x77F00000, 0xA000000]], mode="REFLECT")
add("2022-157", "MirrorPadGrad", input=[1], paddings=[[-3, 3]], mode="SYMMETRIC")
add("2022-158", "Mfcc", spectrogram=filled(1.3, 1, 1, 4), sample_rate=2, upper_frequency_limit=5.0,
    lower_frequency_limit=1.0, filterbank_channel_count=2**31 - 1, dct_coefficient_count=1)  # fmt: skip
add("2022-159", "FractionalMaxPoolGrad", orig_input=ints([[[[1] * 5]]]), orig_output=ints([[[[1] * 3]]]),
    out_backprop=ints([[[[3], [3], [6]]]]), row_pooling_sequence=ints([-0x4000000, 1, 1]),
    col_pooling_sequence=ints([-0x4000000, 1, 1]))  # fmt: skip
add("2022-160", "SparseFillEmptyRowsGrad", reverse_index_map=empty(0, dtype=I64), grad_values=empty(0))
add("2022-162", "PyFunc", input=[[1, 2]], token=b"\xb0", Tout=dtypes("int32"))
for op in ("FractionalMaxPool", "FractionalAvgPool"):
    add("2022-165", op, value=filled(1, 1, 4, 4, 1), pooling_ratio=[1.0, 0.5, 0.5, 1.0])
    add("2023-003", op, value=filled(1, 3, 30, 50, 3, dtype=F64), pooling_ratio=[2.0, 3.0, 1.0, 1.0])
for number in ("2022-168", "2023-002"):
    add(number, "QuantizeAndDequantizeV2", input=[2.5], input_min=[1.0], input_max=[10.0], num_bits=1, range_given=True,
        narrow_range=True, axis=2**31 - 1)  # fmt: skip
    add(number, "QuantizeAndDequantizeV4Grad", gradients=[2.5], input=[2.5], input_min=[1.0], input_max=[10.0],
        axis=2**31 - 1)  # fmt: skip
FRAMES = b"".join(b",\x00\x00\x00\x00\xff\xff\xff\xff\x00\x02\x02\x4c\x01\x00" for _ in range(400))
add("2022-169", "SobolSample", dim=ints([1, 0], I32), num_results=ints([1], I32), skip=ints([1], I32))
add("2022-170", "TensorListScatter", tensor=filled(0.5, 2, 2, 2, dtype=HALF),
    indices=filled(60000, 2, 2, 2, dtype=I32), element_shape=filled(60000, 2, 2, 2, dtype=I32))  # fmt: skip
add("2023-004", "DecodeGif", contents=b"GIF89a\xff\xff\xff\xff\x80\x00\x00" + bytes(6) + FRAMES + b";")
add("2023-005", "ParallelConcat", shape=0, values=[1])
add("2023-006", "SparseSparseMaximum", a_indices=ints([[1]]), a_values=[0.1], a_shape=ints([2]),
    b_indices=empty(1, 0, dtype=I64), b_values=[2.0], b_shape=ints([2]))  # fmt: skip
add("2023-007", "Bincount", arr=6, size=804, weights=[52, 351])
add("2023-008", "AudioSpectrogram", input=[[14.0], [24.0]], window_size=1, stride=0)
add("2023-009", "RandomShuffle", value=1e20, seed=-4294967297, seed2=-2147483649)
add("2023-010", "AvgPoolGrad", orig_input_shape=[11, 9, 78, 9], grad=filled(1, 16, 16, 16, 16), ksize=[1, 40, 128, 1],
    strides=[1, 128, 128, 30], padding="SAME")  # fmt: skip
for number in ("2023-011", "2023-013"):
    add(number, "TensorListSplit", tensor=[1], element_shape=-1, lengths=ints([0]))
add("2023-012", "TensorArrayConcatV2", handle=["a", "b"], flow_in=0.1, dtype=dtype("int32"), element_shape_except0=1)
add("2023-014", "EditDistance", hypothesis_indices=empty(1, 0, dtype=I64), hypothesis_values=["tmp/"],
    hypothesis_shape=empty(0, dtype=I64), truth_indices=empty(1, 0, dtype=I64), truth_values=[""],
    truth_shape=empty(0, dtype=I64), normalize=False)  # fmt: skip
add("2023-016", "Print", input=[1, 1, 1, 1], data=[[False] * 4, [False], [False] * 3], message="tmp/I", first_n=100,
    summarize=0)  # fmt: skip
add("2023-018", "DynamicStitch", indices=[ints([-559038737], I32), ints([405], I32)], data=[[110.0], [120.0]])
add("2023-018", "DynamicStitch", indices=[ints([2**31 - 1], I32)], data=[[110.0]])
add("2023-019", "AvgPoolGrad", orig_input_shape=[1, 0, 0, 0], grad=filled(0.4, 1, 1, 1, 1), ksize=[1, 0, 0, 0],
    strides=[1, 0, 0, 0], padding="SAME", data_format="NCHW")  # fmt: skip
add("2023-020", "GRUBlockCellGrad", x=filled(20, 2, 2), h_prev=filled(130, 2, 1), w_ru=filled(26, 3, 2),
    w_c=filled(3, 3, 1), b_ru=filled(0.1, 2), b_c=np.float32(0x41414141), r=filled(0.3, 2, 1), u=filled(5, 2, 1),
    c=filled(52, 2, 1), d_h=filled(170, 2, 1))  # fmt: skip
