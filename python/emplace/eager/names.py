"""Which function stands behind which public name.

A block: a module below `emplace` and the namespaces, then names (`public=attribute` where they
differ). A module after `=` gives its values as they are; others run at once outside graphs.
"""

TABLE = """
framework.math_ops | ,math
abs acos add add_n cumsum divide equal exp floor multiply not_equal pow round scalar_mul sigmoid
sign sqrt subtract truediv reduce_euclidean_norm

framework.math_ops | math
accumulate_n angle bessel_i0e bessel_i1e ceil conj cumprod floordiv imag log_sigmoid logical_xor
multiply_no_nan ndtri real reduce_std reduce_variance rsqrt xdivy xlog1py

framework.math_ops |
cast complex saturate_cast matmul tensordot range broadcast_static_shape

framework.math_ops | dtypes
cast complex saturate_cast

framework.math_ops | linalg
matmul matvec tensordot trace

framework.math_ops | nn
sigmoid

framework.array_ops |
broadcast_dynamic_shape concat ensure_shape eye fill guarantee_const identity meshgrid one_hot ones
parallel_stack rank reshape roll searchsorted sequence_mask shape_n slice stack stop_gradient
tensor_scatter_nd_update unique unique_with_counts zeros

framework.array_ops | linalg
eye matrix_transpose tensor_diag_part diag=matrix_diag diag_part=matrix_diag_part
set_diag=matrix_set_diag

framework.strided |
strided_slice

framework.linalg_ops | ,linalg
einsum

framework.linalg_ops | linalg
cholesky_solve svd triangular_solve=matrix_triangular_solve

framework.clip_ops |
clip_by_global_norm clip_by_norm clip_by_value

framework.clip_ops | linalg
global_norm

framework.nn_ops | nn
l2_normalize batch_normalization bias_add leaky_relu log_poisson_loss relu6 sigmoid_cross_entropy_with_logits
softplus zero_fraction

framework.nn_ops | math
l2_normalize softplus zero_fraction

eager.functions.maths | math,nn
top_k approx_max_k approx_min_k

framework.math_ops | math.special
bessel_i0e bessel_i1e

eager.functions.maths | math.special
bessel_i0 bessel_i1

framework.nn_ops | linalg
l2_normalize

framework.string_ops | strings
regex_full_match regex_replace

framework.random_ops | random
uniform=random_uniform normal=random_normal truncated_normal shuffle=random_shuffle categorical
gamma=random_gamma stateless_uniform stateless_normal stateless_truncated_normal

framework.candidates | random
all_candidate_sampler fixed_unigram_candidate_sampler learned_unigram_candidate_sampler
log_uniform_candidate_sampler uniform_candidate_sampler

framework.candidates | nn
all_candidate_sampler fixed_unigram_candidate_sampler learned_unigram_candidate_sampler compute_accidental_hits
nce_loss=nce_loss_v2 sampled_softmax_loss=sampled_softmax_loss_v2

framework.image_windows | image
sample_distorted_bounding_box=sample_distorted_bounding_box_v2 stateless_sample_distorted_bounding_box

framework.moments | nn
batch_norm_with_global_normalization

framework.serialize_ops | io
serialize_sparse=serialize_sparse_v2 serialize_many_sparse=serialize_many_sparse_v2

eager.sparse.counting | io
deserialize_many_sparse

eager.sparse.counting | sparse
cross_hashed

eager.ragged.functions | ragged
cross_hashed

framework.quantization_ops | quantization
quantize_and_dequantize quantize_and_dequantize_v2=quantize_and_dequantize

framework.string_ops |
fingerprint

=eager.moving_averages | train
ExponentialMovingAverage

=framework.supervisor | train
checkpoints_iterator

=eager.settings_of_files | train
CheckpointOptions

=eager.settings_of_files | saved_model
SaveOptions LoadOptions ASSETS_DIRECTORY ASSETS_KEY CLASSIFY_INPUTS CLASSIFY_METHOD_NAME CLASSIFY_OUTPUT_CLASSES CLASSIFY_OUTPUT_SCORES
DEBUG_DIRECTORY DEBUG_INFO_FILENAME_PB DEFAULT_SERVING_SIGNATURE_DEF_KEY GPU PREDICT_INPUTS PREDICT_METHOD_NAME PREDICT_OUTPUTS
REGRESS_INPUTS REGRESS_METHOD_NAME REGRESS_OUTPUTS SAVED_MODEL_FILENAME_PB SAVED_MODEL_FILENAME_PBTXT SAVED_MODEL_SCHEMA_VERSION
SERVING TPU TRAINING VARIABLES_DIRECTORY VARIABLES_FILENAME

=eager.settings_of_files | saved_model.experimental
VariablePolicy

=eager.resources | saved_model.experimental
TrackableResource

=framework.contracts | placement
require violations outlooks Violation DeviceMemory Forecast Outlook Outlooks

=framework.hints | placement
hint keep_together

=framework.costs | placement
Cost CostBook

=framework.clusters | cluster
find_task status make_keys make_token use_keys on_ray

=eager.about | version
VERSION GIT_VERSION COMPILER_VERSION GRAPH_DEF_VERSION GRAPH_DEF_VERSION_MIN_CONSUMER GRAPH_DEF_VERSION_MIN_PRODUCER

=eager.about | sysconfig
CXX11_ABI_FLAG CXX_VERSION MONOLITHIC_BUILD get_build_info get_compile_flags get_include get_lib get_link_flags

=eager.about | types.experimental
TensorLike Callable ConcreteFunction GenericFunction PolymorphicFunction

=eager.about | experimental
async_scope async_clear_error

=eager.about | debugging
enable_traceback_filtering disable_traceback_filtering is_traceback_filtering_enabled

=framework.dtypes | dtypes
QUANTIZED_DTYPES

framework.check_ops | debugging
assert_same_float_dtype is_numeric_tensor

=framework.constant_op |
register_tensor_conversion_function

eager.functions.array |
constant convert_to_tensor boolean_mask expand_dims squeeze shape size zeros_like ones_like pad
transpose where gather gather_nd reverse_sequence batch_to_space space_to_batch linspace repeat
argsort sort histogram_fixed_width histogram_fixed_width_bins get_static_value split unstack

=eager.functions.array |
is_tensor is_symbolic_tensor

eager.functions.array | nn
space_to_batch

eager.functions.maths | ,math
reduce_sum reduce_mean reduce_max reduce_min reduce_prod reduce_all reduce_any reduce_logsumexp
argmax argmin

eager.functions.maths | math
count_nonzero divide_no_nan reciprocal_no_nan erfinv erfcinv bessel_i0 bessel_i1 bincount
confusion_matrix in_top_k cumulative_logsumexp is_non_decreasing is_strictly_increasing lbeta
polyval unsorted_segment_mean unsorted_segment_sqrt_n sobol_sample softmax log_softmax

eager.functions.array |
required_space_to_batch_paddings

eager.functions.sequences | nn
ctc_loss isotonic_regression embedding_lookup_sparse safe_embedding_lookup_sparse

framework.ctc_ops | nn
ctc_greedy_decoder ctc_beam_search_decoder=ctc_beam_search_decoder_v2

framework.fractional_pools | nn
fractional_max_pool=fractional_max_pool_v2 fractional_avg_pool=fractional_avg_pool_v2

framework.quantization_ops | quantization
quantize dequantize

framework.image_windows | image
extract_glimpse=extract_glimpse_v2 draw_bounding_boxes=draw_bounding_boxes_v2

framework.readers | io
matching_files match_filenames_once

framework.sequence_parsing | io
parse_single_sequence_example parse_sequence_example

=eager.queues |
CriticalSection

eager.functions.sets | sets
size intersection union difference

eager.functions.spectra | signal
rfft rfft2d rfft3d irfft irfft2d irfft3d fftnd ifftnd rfftnd irfftnd fftshift ifftshift stft
inverse_stft inverse_stft_window_fn kaiser_bessel_derived_window linear_to_mel_weight_matrix

eager.functions.spectra |
fftnd ifftnd rfftnd irfftnd

eager.functions.solvers | linalg
lu_reconstruct lu_solve lu_matrix_inverse tridiagonal_solve tridiagonal_matmul eigh_tridiagonal

=eager.autograph_names | autograph
to_code to_graph set_verbosity trace

=eager.autograph_names | autograph.experimental
do_not_convert set_loop_options Feature

=eager.summary | summary
SummaryWriter create_file_writer create_noop_writer flush should_record_summaries record_if write scalar histogram
text image graph trace_on trace_off trace_export experimental

=eager.testing | test
TestCase main is_built_with_cuda is_built_with_rocm is_built_with_xla is_built_with_gpu_support is_gpu_available
gpu_device_name is_cpu_target_available compute_gradient get_temp_dir

=eager.testing | test.experimental
sync_devices

=eager.queues | queue
FIFOQueue PaddingFIFOQueue PriorityQueue RandomShuffleQueue QueueBase

=framework.graph_io |
import_graph_def make_ndarray make_tensor_proto

=framework.check_ops | debugging
assert_proper_iterable

=framework.cluster_spec | train
ClusterSpec

=framework.coordinator | train
Coordinator

eager.functions.signal | signal
frame overlap_and_add hann_window hamming_window vorbis_window kaiser_window

eager.functions.cosines | signal
dct idct mdct inverse_mdct mfccs_from_log_mel_spectrograms

=eager.linear_operators | linalg
LinearOperator LinearOperatorFullMatrix LinearOperatorLowerTriangular LinearOperatorDiag
LinearOperatorIdentity LinearOperatorScaledIdentity LinearOperatorTridiag LinearOperatorBlockDiag
LinearOperatorBlockLowerTriangular

=eager.structured_linear_operators | linalg
LinearOperatorAdjoint LinearOperatorInversion LinearOperatorComposition LinearOperatorKronecker
LinearOperatorLowRankUpdate LinearOperatorZeros LinearOperatorPermutation LinearOperatorHouseholder
LinearOperatorToeplitz LinearOperatorCirculant

eager.functions.linalg | linalg
banded_triangular_solve
norm normalize adjoint eigh eigvalsh eig eigvals logdet lstsq expm matrix_rank pinv

eager.functions.linalg |
norm eig eigvals

eager.functions.nn | nn
softmax log_softmax softmax_cross_entropy_with_logits sparse_softmax_cross_entropy_with_logits
weighted_cross_entropy_with_logits moments sufficient_statistics normalize_moments
weighted_moments gelu silu swish=silu crelu depth_to_space space_to_depth in_top_k embedding_lookup
compute_average_loss scale_regularization_loss dropout conv1d conv2d conv3d conv2d_transpose
depthwise_conv2d separable_conv2d max_pool avg_pool max_pool1d max_pool2d max_pool3d avg_pool1d
avg_pool2d avg_pool3d max_pool_with_argmax

eager.functions.strings | strings
length substr to_number to_hash_bucket join reduce_join format split bytes_split

eager.functions.unicode | strings
unicode_decode unicode_decode_with_offsets unicode_encode unicode_split unicode_split_with_offsets
ngrams unsorted_segment_join

eager.functions.strings | io
decode_raw serialize_tensor read_file decode_csv

eager.functions.random | random
set_seed stateless_categorical stateless_gamma stateless_poisson poisson
stateless_parameterized_truncated_normal stateless_binomial

=eager.functions.random | random,random.experimental
Algorithm

eager.functions.random | random.experimental
stateless_shuffle index_shuffle

=eager.generator | random,random.experimental
Generator get_global_generator set_global_generator create_rng_state

eager.generator | random
split fold_in

eager.generator | random.experimental
stateless_split=split stateless_fold_in=fold_in

eager.functions.flow |
cond case switch_case while_loop map_fn vectorized_map foldl foldr scan group tuple=tuple_ no_op
py_function numpy_function print=tf_print

eager.functions.debugging | debugging
assert_equal assert_none_equal assert_less assert_less_equal assert_greater assert_greater_equal
assert_positive assert_negative assert_non_negative assert_non_positive assert_near assert_rank
assert_rank_at_least assert_rank_in assert_integer assert_scalar assert_shapes assert_all_finite
assert_type Assert

eager.functions.debugging |
assert_equal assert_greater assert_less assert_rank Assert

=eager.functions.debugging | debugging
get_log_device_placement

=eager.context |
device

=eager.context | debugging
set_log_device_placement

=eager.context | config
set_soft_device_placement get_soft_device_placement set_operation_timeout get_operation_timeout
set_placer get_placer

=eager.remote | config
experimental_connect_to_cluster experimental_connect_to_host

=eager.dlpack | experimental.dlpack
to_dlpack from_dlpack

=eager.modes |
get_logger executing_eagerly inside_function control_dependencies name_scope init_scope
get_current_name_scope newaxis

=eager.config | config
list_physical_devices list_logical_devices get_visible_devices set_visible_devices
get_logical_device_configuration set_logical_device_configuration PhysicalDevice LogicalDevice
LogicalDeviceConfiguration run_functions_eagerly functions_run_eagerly

=eager.config | config.experimental
set_memory_growth get_memory_growth list_physical_devices list_logical_devices
set_visible_devices get_visible_devices
set_virtual_device_configuration=set_logical_device_configuration
get_virtual_device_configuration=get_logical_device_configuration
VirtualDeviceConfiguration=LogicalDeviceConfiguration
enable_tensor_float_32_execution tensor_float_32_execution_enabled enable_op_determinism
get_synchronous_execution set_synchronous_execution get_device_policy set_device_policy
get_device_details get_memory_info get_memory_usage reset_memory_stats

=eager.config | config
set_memory_limit
experimental_run_functions_eagerly=run_functions_eagerly
experimental_functions_run_eagerly=functions_run_eagerly

=eager.config | config.optimizer
get_jit set_jit get_experimental_options set_experimental_options

=eager.config | config.gpu
set_per_process_memory_growth get_per_process_memory_growth set_per_process_memory_fraction
get_per_process_memory_fraction

=eager.config | gpu
set_per_process_memory_fraction

=eager.config | config.threading
get_intra_op_parallelism_threads set_intra_op_parallelism_threads
get_inter_op_parallelism_threads set_inter_op_parallelism_threads

=eager.nest | nest
is_nested flatten pack_sequence_as assert_same_structure map_structure

=eager.ragged.functions |
RaggedTensor

=eager.ragged.spec |
RaggedTensorSpec

eager.ragged.functions | ragged
boolean_mask constant cross map_flat_values range row_splits_to_segment_ids segment_ids_to_row_splits stack
stack_dynamic_partitions

=eager.sparse.tensor |
SparseTensor SparseTensorSpec

=eager.sparse.tensor | sparse
SparseTensor

eager.sparse.functions | sparse
add concat map_values reduce_max reduce_sum sampled_addmm split

framework.sparse_ops | sparse
expand_dims eye fill_empty_rows from_dense mask maximum minimum reorder reset_shape reshape retain slice softmax
sparse_dense_matmul to_dense to_indicator transpose

eager.sparse.counting | sparse
bincount cross segment_sum segment_mean segment_sqrt_n

framework.set_ops |
edit_distance

=eager.tensor_spec |
TypeSpec TensorSpec IndexedSlicesSpec type_spec_from_value

=eager.variables |
Variable

=framework.variables |
VariableAggregation=VariableAggregationV2 VariableSynchronization

=eager.ragged.row_partition | experimental
RowPartition

=eager.extension_type | experimental
ExtensionType

=eager.structured_tensor | experimental
StructuredTensor

=eager.api_dispatch | experimental
dispatch_for_api dispatch_for_unary_elementwise_apis dispatch_for_binary_elementwise_apis dispatch_for_binary_elementwise_assert_apis
unregister_dispatch_for

=eager.extension_batch | experimental
BatchableExtensionType ExtensionTypeBatchEncoder

=eager.checkpoint | train
Checkpoint CheckpointView TrackableView

=framework.checkpoints | train
CheckpointManager latest_checkpoint get_checkpoint_state list_variables load_variable load_checkpoint

=eager.saved_model | saved_model
load contains_saved_model save

=eager.lookup | lookup
KeyValueTensorInitializer StaticHashTable StaticVocabularyTable TextFileIndex TextFileInitializer

=eager.lookup | lookup.experimental
DenseHashTable MutableHashTable

=framework.graph_io | io
write_graph

=framework.graph_io | graph_util
import_graph_def

=eager.module |
Module

=posing |
pose_as_tensorflow

=eager.train_optimizers | train
GradientDescentOptimizer MomentumOptimizer AdagradOptimizer AdadeltaOptimizer AdamOptimizer RMSPropOptimizer FtrlOptimizer

=eager.tensor_array |
TensorArray

=eager.datasets.files | data
TextLineDataset TFRecordDataset FixedLengthRecordDataset

=eager.optional | data
DatasetSpec IteratorSpec

=eager.optional |
OptionalSpec

=eager.optional | experimental
Optional

=eager.records | io
TFRecordWriter TFRecordOptions

=eager.examples | io
RaggedFeature

=framework.parsing_ops | io
FixedLenFeature FixedLenSequenceFeature VarLenFeature

eager.protos | io
decode_proto encode_proto

eager.examples | io
parse_example parse_single_example decode_json_example

=proto.example_pb2 | train
Example Feature Features FeatureList FeatureLists SequenceExample BytesList FloatList Int64List

=eager.datasets.dataset | data
Dataset

=eager.datasets.iterators | data
NumpyIterator

=eager.datasets.files | data.experimental
CsvDataset SqlDataset

=eager.datasets.tables | data.experimental
make_csv_dataset make_batched_features_dataset parse_example_dataset

=eager.datasets.building | data
AUTOTUNE INFINITE_CARDINALITY=INFINITE UNKNOWN_CARDINALITY=UNKNOWN

=eager.datasets.iterators | data
Iterator=OwnedIterator

=eager.datasets.options | data
Options ThreadingOptions

=eager.datasets.options | data.experimental
AutoShardPolicy AutotuneAlgorithm AutotuneOptions DistributeOptions ExternalStatePolicy OptimizationOptions ServiceOptions
ThreadingOptions

=eager.datasets.building | data.experimental
AUTOTUNE INFINITE_CARDINALITY=INFINITE UNKNOWN_CARDINALITY=UNKNOWN

=eager.datasets.service | data.experimental.service
DispatchServer WorkerServer DispatcherConfig WorkerConfig CrossTrainerCache ShardingPolicy distribute register_dataset
from_dataset_id

=eager.datasets.service | data.experimental
distributed_save

=eager.datasets.functions | data.experimental
enable_debug_mode

=eager.datasets.saved | data.experimental
TFRecordWriter

=eager.datasets.experimental | data.experimental
Counter RandomDataset SHARD_HINT at to_variant from_variant copy_to_device pad_to_cardinality index_table_from_dataset
choose_from_datasets sample_from_datasets
cardinality get_structure from_list assert_cardinality bucket_by_sequence_length dense_to_ragged_batch
shuffle_and_repeat save load table_from_dataset prefetch_to_device
unique unbatch ignore_errors snapshot take_while group_by_window rejection_resample enumerate_dataset scan
dense_to_sparse_batch parallel_interleave map_and_batch get_single_element get_next_as_optional Reducer group_by_reducer

eager.datasets.reports | data.experimental
get_model_proto

=eager.datasets.saveables | data.experimental
make_saveable_from_iterator

=eager.optional | data.experimental
Optional

=eager.lookup | data.experimental
DatasetInitializer

eager.functions.nn | nn.experimental
general_dropout stateless_dropout

=compat.v1.gfile | io.gfile
GFile exists=Exists isdir=IsDirectory makedirs=MakeDirs mkdir=MkDir listdir=ListDirectory glob=Glob
remove=Remove rmtree=DeleteRecursively copy=Copy rename=Rename stat=Stat walk=Walk join=Join

=eager.initializers |
zeros_initializer=Zeros ones_initializer=Ones constant_initializer=ConstantOfShape
random_normal_initializer=RandomNormal random_uniform_initializer=RandomUniform

framework.image_ops | image
flip_left_right flip_up_down transpose rot90 crop_to_bounding_box pad_to_bounding_box central_crop
resize_with_crop_or_pad random_crop stateless_random_crop resize resize_with_pad crop_and_resize
extract_patches convert_image_dtype adjust_brightness adjust_contrast adjust_hue adjust_saturation
adjust_gamma per_image_standardization rgb_to_yiq yiq_to_rgb rgb_to_yuv yuv_to_rgb rgb_to_grayscale
grayscale_to_rgb

framework.image_files | image
adjust_jpeg_quality random_jpeg_quality stateless_random_jpeg_quality

framework.image_files | image,io
decode_image is_jpeg

eager.functions.similarity | image
ssim ssim_multiscale combined_non_max_suppression non_max_suppression_padded

=framework.image_ops | image
ResizeMethod

framework.image_random_ops | image
random_brightness stateless_random_brightness random_contrast stateless_random_contrast
random_saturation stateless_random_saturation random_hue stateless_random_hue random_flip_left_right
stateless_random_flip_left_right random_flip_up_down stateless_random_flip_up_down image_gradients
sobel_edges total_variation psnr non_max_suppression non_max_suppression_with_scores
non_max_suppression_overlaps

framework.conv_ops | nn
conv1d_transpose conv3d_transpose conv_transpose convolution=convolution_v2
atrous_conv2d atrous_conv2d_transpose pool=pool_v2 dilation2d=dilation2d_v2 erosion2d=erosion2d_v2

=eager.function |
function

=eager.tape |
GradientTape UnconnectedGradients custom_gradient gradients hessians

=eager.recompute |
recompute_grad grad_pass_through

=eager.tape | autodiff
GradientTape ForwardAccumulator

=framework.gradients |
AggregationMethod

=gradients.registry |
RegisterGradient no_gradient

=distribute.contexts | distribute
get_strategy has_strategy get_replica_context in_cross_replica_context experimental_set_strategy

=distribute.strategy | distribute
Strategy StrategyExtended

=distribute.replica_context | distribute
ReplicaContext

=distribute.replica_context | distribute.experimental
ValueContext

=distribute.values | distribute
DistributedValues

=distribute.values | types.experimental.distributed
PerReplica Mirrored

=distribute.inputs | distribute
DistributedDataset DistributedIterator InputContext InputOptions InputReplicationMode

=distribute.cross_device_ops | distribute
CrossDeviceOps HierarchicalCopyAllReduce NcclAllReduce ReduceOp ReductionToOneDevice

=distribute.mirrored_strategy | distribute
MirroredStrategy

=distribute.simple_strategies | distribute
OneDeviceStrategy

=eager.profiler | profiler.experimental
Profile ProfilerOptions Trace start stop

=framework.server | distribute
Server

=distribute.parameter_servers | distribute
ParameterServerStrategy

=distribute.parameter_servers | distribute.experimental
ParameterServerStrategy

=distribute.cluster_coordinator | distribute.coordinator
ClusterCoordinator PerWorkerValue=PerWorkerValues RemoteValue experimental_get_current_worker_index

=distribute.cluster_coordinator | distribute.experimental.coordinator
ClusterCoordinator PerWorkerValues RemoteValue

=distribute.worker_strategies | distribute
MultiWorkerMirroredStrategy RunOptions TPUStrategy

=distribute.worker_strategies | distribute.experimental
CommunicationImplementation CollectiveCommunication=CommunicationImplementation CommunicationOptions
MultiWorkerMirroredStrategy TPUStrategy

=distribute.simple_strategies | distribute.experimental
CentralStorageStrategy

=distribute.cluster_resolver | distribute.cluster_resolver
ClusterResolver SimpleClusterResolver UnionResolver TFConfigClusterResolver SlurmClusterResolver KubernetesClusterResolver
KubernetesExecutableLocation

=framework.tensor_shape |
TensorShape

=framework.dtypes | ,dtypes
as_dtype DType

=framework.ops |
Tensor Operation Graph IndexedSlices

=framework.device_spec |
DeviceSpec=DeviceSpecV2
"""

OPS = """
Acosh acosh,math.acosh
AsString as_string,strings.as_string
Asin asin,math.asin
Asinh asinh,math.asinh
Atan atan,math.atan
Atan2 atan2,math.atan2
Atanh atanh,math.atanh
Betainc math.betainc
Bitcast bitcast
BitwiseAnd bitwise.bitwise_and
BitwiseOr bitwise.bitwise_or
BitwiseXor bitwise.bitwise_xor
BroadcastTo broadcast_to
CheckNumerics debugging.check_numerics
Cholesky linalg.cholesky
Conv2DBackpropFilterV2 conv2d_backprop_filter_v2
Conv2DBackpropInputV2 conv2d_backprop_input_v2
Cos cos,math.cos
Cosh cosh,math.cosh
Cross linalg.cross
DecodeAndCropJpeg image.decode_and_crop_jpeg
DecodeBmp image.decode_bmp
DecodeGif image.decode_gif
DecodeJpeg image.decode_jpeg
DecodePng image.decode_png
Diag linalg.tensor_diag
Digamma math.digamma
DynamicPartition dynamic_partition
DynamicStitch dynamic_stitch
Elu nn.elu
EncodeJpeg image.encode_jpeg
Erf math.erf
Erfc math.erfc
Expm1 math.expm1
ExtractJpegShape image.extract_jpeg_shape
ExtractVolumePatches extract_volume_patches
FFT signal.fft
FFT2D signal.fft2d
FFT3D signal.fft3d
FakeQuantWithMinMaxArgs quantization.fake_quant_with_min_max_args
FakeQuantWithMinMaxArgsGradient quantization.fake_quant_with_min_max_args_gradient
FakeQuantWithMinMaxVars quantization.fake_quant_with_min_max_vars
FakeQuantWithMinMaxVarsGradient quantization.fake_quant_with_min_max_vars_gradient
FakeQuantWithMinMaxVarsPerChannel quantization.fake_quant_with_min_max_vars_per_channel
FakeQuantWithMinMaxVarsPerChannelGradient quantization.fake_quant_with_min_max_vars_per_channel_gradient
FloorMod math.floormod,math.mod
Greater greater,math.greater
GreaterEqual greater_equal,math.greater_equal
HSVToRGB image.hsv_to_rgb
IFFT signal.ifft
IFFT2D signal.ifft2d
IFFT3D signal.ifft3d
IdentityN identity_n
Igamma math.igamma
Igammac math.igammac
Invert bitwise.invert
InvertPermutation math.invert_permutation
IsFinite math.is_finite
IsInf math.is_inf
IsNan math.is_nan
L2Loss nn.l2_loss
LRN nn.local_response_normalization,nn.lrn
LeftShift bitwise.left_shift
Less less,math.less
LessEqual less_equal,math.less_equal
Lgamma math.lgamma
Log math.log
Log1p math.log1p
LogMatrixDeterminant linalg.slogdet
LogicalAnd logical_and,math.logical_and
LogicalNot logical_not,math.logical_not
LogicalOr logical_or,math.logical_or
Lu linalg.lu
MatrixBandPart linalg.band_part
MatrixDeterminant linalg.det
MatrixInverse linalg.inv
MatrixLogarithm linalg.logm
MatrixSolve linalg.solve
MatrixSquareRoot linalg.sqrtm,matrix_square_root
Maximum math.maximum,maximum
Minimum math.minimum,minimum
Neg math.negative,negative
NextAfter math.nextafter
NoOp no_op
Polygamma math.polygamma
Qr linalg.qr
RGBToHSV image.rgb_to_hsv
RandomIndexShuffle random_index_shuffle
RealDiv realdiv
Reciprocal math.reciprocal
Relu nn.relu
ReverseV2 reverse
RightShift bitwise.right_shift
Rint math.rint
ScatterNd scatter_nd
SegmentMax math.segment_max
SegmentMean math.segment_mean
SegmentMin math.segment_min
SegmentProd math.segment_prod
SegmentSum math.segment_sum
Selu nn.selu
Sin math.sin,sin
Sinh math.sinh,sinh
Softsign math.softsign,nn.softsign
SpaceToBatchND space_to_batch_nd
Square math.square,square
SquaredDifference math.squared_difference
StringLower strings.lower
StringStrip strings.strip
StringToHashBucketFast strings.to_hash_bucket_fast
StringToHashBucketStrong strings.to_hash_bucket_strong
StringUpper strings.upper
Tan math.tan,tan
Tanh math.tanh,nn.tanh,tanh
TensorScatterAdd tensor_scatter_nd_add
TensorScatterMax tensor_scatter_nd_max
TensorScatterMin tensor_scatter_nd_min
TensorScatterSub tensor_scatter_nd_sub
Tile tile
Timestamp timestamp
TruncateDiv truncatediv
TruncateMod truncatemod
UnicodeScript strings.unicode_script
UnicodeTranscode strings.unicode_transcode
UnravelIndex unravel_index
UnsortedSegmentMax math.unsorted_segment_max
UnsortedSegmentMin math.unsorted_segment_min
UnsortedSegmentProd math.unsorted_segment_prod
UnsortedSegmentSum math.unsorted_segment_sum
Xlogy math.xlogy
Zeta math.zeta
BesselJ0 math.special.bessel_j0
BesselJ1 math.special.bessel_j1
BesselK0 math.special.bessel_k0
BesselK0e math.special.bessel_k0e
BesselK1 math.special.bessel_k1
BesselK1e math.special.bessel_k1e
BesselY0 math.special.bessel_y0
BesselY1 math.special.bessel_y1
Dawsn math.special.dawsn
Expint math.special.expint
FresnelCos math.special.fresnel_cos
FresnelSin math.special.fresnel_sin
Spence math.special.spence
EncodeBase64 io.encode_base64
DecodeBase64 io.decode_base64
WriteFile io.write_file
MatchingFiles io.matching_files
ParseTensor io.parse_tensor
DecodeAndCropJpeg io.decode_and_crop_jpeg
DecodeBmp io.decode_bmp
DecodeGif io.decode_gif
DecodeJpeg io.decode_jpeg
DecodePng io.decode_png
EncodeJpeg io.encode_jpeg
EncodePng image.encode_png
EncodePng io.encode_png
ExtractJpegShape io.extract_jpeg_shape
DecodeCompressed io.decode_compressed
DecodeWav audio.decode_wav
EncodeWav audio.encode_wav
DepthwiseConv2dNativeBackpropFilter nn.depthwise_conv2d_backprop_filter
DepthwiseConv2dNativeBackpropInput nn.depthwise_conv2d_backprop_input
"""


def index() -> dict[str, tuple[str, str]]:
    """Public name -> (module, attribute); ("op", its name) where an operation's definition says all."""
    found: dict[str, tuple[str, str]] = {}
    for block in TABLE.strip().split("\n\n"):
        head, *lines = block.splitlines()
        module, _, spaces = head.partition("|")
        module = module.strip()
        for word in " ".join(lines).split():
            public, _, attribute = word.partition("=")
            for space in spaces.strip().split(","):
                found[f"{space}.{public}" if space else public] = (module, attribute or public)
    for line in OPS.strip().splitlines():
        op, _, publics = line.partition(" ")
        for public in publics.split(","):
            found[public] = ("op", op)
    return found


def spaces(of: dict[str, tuple[str, str]]) -> set[str]:
    """The modules that an index makes."""
    found = {name.rpartition(".")[0] for name in of} | {"compat"}
    return found | {s.rpartition(".")[0] for s in found}
