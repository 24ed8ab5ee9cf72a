"""TensorFlow 1's names: graphs and sessions."""

from __future__ import annotations

import contextlib as _contextlib
import functools as _functools
import importlib as _importlib
import sys as _sys
import types as _types
from typing import Any, TYPE_CHECKING

from emplace.framework import array_ops as _array
from emplace.framework import check_ops as _check
from emplace.framework import clip_ops as _clip
from emplace.framework import constant_op as _constant
from emplace.framework import control_flow_ops as _control
from emplace.framework import dispatch as _dispatch
from emplace.framework import dtypes as dtypes
from emplace.framework import errors as errors
from emplace.framework import gen as _gen
from emplace.framework import init_ops as _init
from emplace.framework import interactive_session as _interactive_session
from emplace.framework import linalg_ops as _linalg
from emplace.framework import linspace as _linspace
from emplace.framework import listing as _listing
from emplace.framework import math_ops as _math
from emplace.framework import conv_ops as _conv
from emplace.framework import image_files as _image_files
from emplace.framework import image_ops as _image
from emplace.framework import image_random_ops as _image_random
from emplace.framework import nn_ops as _nn
from emplace.framework import operators as _operators
from emplace.framework import ops as _ops
from emplace.framework import random_ops as _random
from emplace.framework import session as _session
from emplace.framework import session_tensors as _session_tensors
from emplace.framework import settings as _settings
from emplace.framework import string_ops as _string
from emplace.framework import tensor_shape as _shape
from emplace.framework import thread_state as _thread_state
from emplace.framework import variable_scope as _scope
from emplace.framework import variables as _variables
from emplace.framework.dtypes import (
    DType, as_dtype, bfloat16, bool, complex64, complex128, double, float16, float32, float64, half, int8, int16, int32, int64,
    qint8, qint16, qint32, quint8, quint16, resource, string, uint8, uint16, uint32, uint64, variant,
)
from emplace.framework.device_spec import DeviceSpec as DeviceSpec
from emplace.compat.v1 import _names, _shared

if TYPE_CHECKING:
    from emplace.framework.tensor import Tensor

__version__ = VERSION = "1.15.0"
_operators.install(_ops.Tensor, _variables.Variable)
if "emplace.eager.namespace" not in _sys.modules:  # a TensorFlow 2 program keeps its shapes
    _shape.assume_v2_tensorshape(False)
newaxis = None


def _take(module: Any, *names: str) -> None:
    for name in names:
        globals()[name] = getattr(module, name)


_take(
    _ops, "Graph", "GraphKeys", "Operation", "Tensor", "IndexedSlices", "name_scope", "device", "control_dependencies", "colocate_with",
    "get_default_graph", "reset_default_graph", "get_default_session", "add_to_collection", "add_to_collections", "get_collection",
    "get_collection_ref", "is_tensor",
)
_take(_shape, "Dimension", "TensorShape", "dimension_value")
_take(_session, "Session")
_take(_interactive_session, "InteractiveSession")
_take(_constant, "constant", "register_tensor_conversion_function")
_take(
    _array, "identity", "stop_gradient", "placeholder", "placeholder_with_default", "shape", "shape_n", "size", "rank", "reshape",
    "expand_dims", "squeeze", "transpose", "ensure_shape", "broadcast_dynamic_shape", "zeros", "ones", "zeros_like", "ones_like", "fill",
    "eye", "one_hot", "concat", "stack", "parallel_stack", "unstack", "split", "slice", "strided_slice", "pad", "roll",
    "reverse_sequence", "gather", "gather_nd", "where", "where_v2", "boolean_mask", "sequence_mask", "meshgrid", "unique",
    "unique_with_counts", "setdiff1d", "matrix_diag", "matrix_diag_part", "matrix_set_diag", "matrix_transpose", "space_to_depth",
    "depth_to_space", "guarantee_const", "searchsorted", "tensor_scatter_nd_update",
)
_take(
    _math, "abs", "add", "subtract", "multiply", "divide", "div", "truediv", "floordiv", "div_no_nan", "floormod", "pow", "sqrt", "rsqrt",
    "exp", "floor", "ceil", "acos", "sign", "sigmoid", "log_sigmoid", "round", "real", "imag", "angle", "conj", "complex", "cast",
    "saturate_cast", "to_float", "to_double", "to_int32", "to_int64", "to_bfloat16", "to_complex64", "to_complex128", "equal",
    "not_equal", "logical_xor", "add_n", "accumulate_n", "matmul", "scalar_mul", "reduce_sum", "reduce_mean", "reduce_prod",
    "reduce_max", "reduce_min", "reduce_any", "reduce_all", "reduce_logsumexp", "count_nonzero", "argmax", "argmin", "cumsum",
    "cumprod", "range", "bincount", "tensordot", "trace", "broadcast_static_shape",
)
_take(_clip, "clip_by_value", "clip_by_norm", "global_norm", "clip_by_global_norm")
_take(_control, "no_op", "group", "tuple", "Assert", "Print")
_take(
    _random, "random_uniform", "random_normal", "truncated_normal", "random_shuffle", "multinomial", "random_gamma", "random_poisson",
    "set_random_seed", "get_seed",
)
_take(_string, "string_join", "reduce_join", "string_to_number", "substr", "regex_replace", "string_to_hash_bucket")
_take(_linalg, "norm", "cholesky_solve", "matrix_triangular_solve", "self_adjoint_eig", "self_adjoint_eigvals", "svd", "einsum")
_take(
    _check, "assert_equal", "assert_none_equal", "assert_less", "assert_less_equal", "assert_greater", "assert_greater_equal",
    "assert_positive", "assert_negative", "assert_non_negative", "assert_non_positive", "assert_rank", "assert_rank_at_least",
    "assert_rank_in", "assert_integer", "assert_near", "assert_proper_iterable", "assert_same_float_dtype", "assert_type",
    "assert_scalar", "is_numeric_tensor",
)
_take(
    _variables, "Variable", "VariableSynchronization", "VariableAggregation", "assign", "assign_add", "assign_sub", "scatter_update",
    "scatter_add", "scatter_sub", "scatter_mul", "scatter_div", "scatter_min", "scatter_max", "scatter_nd_update", "scatter_nd_add",
    "scatter_nd_sub", "count_up_to", "is_variable_initialized", "global_variables", "local_variables", "trainable_variables",
    "model_variables", "moving_average_variables", "variables_initializer", "global_variables_initializer",
    "local_variables_initializer", "report_uninitialized_variables", "assert_variables_initialized",
)
_take(_session_tensors, "get_session_handle", "get_session_tensor", "delete_session_tensor")
_take(
    _scope, "AUTO_REUSE", "VariableScope", "get_variable", "get_local_variable", "get_variable_scope", "variable_scope",
    "variable_op_scope", "no_regularizer",
)
mod, initialize_all_variables, all_variables = _math.floormod, _variables.global_variables_initializer, _variables.global_variables
linspace = lin_space = _linspace.linspace
initialize_variables, initialize_local_variables = _variables.variables_initializer, _variables.local_variables_initializer
zeros_initializer, ones_initializer, constant_initializer = _init.Zeros, _init.Ones, _init.Constant
random_uniform_initializer, random_normal_initializer = _init.RandomUniform, _init.RandomNormal
truncated_normal_initializer, variance_scaling_initializer = _init.TruncatedNormal, _init.VarianceScaling
glorot_uniform_initializer, glorot_normal_initializer = _init.GlorotUniform, _init.GlorotNormal
uniform_unit_scaling_initializer, orthogonal_initializer = _init.UniformUnitScaling, _init.Orthogonal
raw_ops = _gen.raw_ops
self_adjoint_eig = _linalg.self_adjoint_eig
diag_part = _array.tensor_diag_part
OpError = errors.OpError
string_length = _string.string_length


def convert_to_tensor(value: Any, dtype: Any = None, name: str | None = None, preferred_dtype: Any = None, dtype_hint: Any = None) -> Tensor:
    """`value` as a tensor: numbers, lists, arrays and objects with a conversion of their own. `dtype` is demanded, `dtype_hint` only
    preferred."""
    return _ops.convert_to_tensor(value, dtype, name, preferred_dtype, dtype_hint)


def control_flow_v2_enabled() -> bool:
    """False: a graph of this API gets the control flow ops of TensorFlow 1."""
    return False


@_contextlib.contextmanager
def op_scope(values: Any, name: Any, default_name: Any = None) -> Any:
    """The older form of `name_scope`: a scope for the ops made within it, `values` first."""
    with _ops.name_scope(name, default_name, values) as scope:
        yield scope


def container(container_name: str) -> Any:
    """Resources of stateful ops made within it are kept in this container, which `Session.reset` can clear."""
    return _ops.get_default_graph().container(container_name)


@_contextlib.contextmanager
def init_scope() -> Any:
    """What is made within it waits for no control dependency from outside."""
    with _ops.control_dependencies(None):
        yield


# ---- The usual first lines of TF 1 programs under TF 2: already so here.


def _nothing(*_: Any, **__: Any) -> None:
    """Does nothing: what it turns off is never on in this API."""
    return None


disable_control_flow_v2 = disable_tensor_equality = _nothing


def disable_eager_execution() -> None:
    """From now on operations of this thread outside of functions go into the default graph, those of TensorFlow 2's names too."""
    _thread_state.state.eager_everywhere = False
    _ops.build_graphs()


disable_v2_tensorshape = _shape.disable_v2_tensorshape  # they are not where TensorFlow 2's API came first


def disable_v2_behavior() -> None:
    """Builds graphs from now on, and makes shapes give `Dimension` objects, as TensorFlow 1 did."""
    disable_eager_execution()
    disable_v2_tensorshape()


def enable_v2_behavior() -> None:
    """Raises RuntimeError unless it holds already: TensorFlow 2's behaviour is that of `import emplace`."""
    if executing_eagerly_outside_functions():
        return
    raise RuntimeError("emplace.compat.v1 is TensorFlow 1's API; `import emplace` has TensorFlow 2's")


def enable_resource_variables() -> None:
    """From now on `get_variable` and `Variable` make resource variables unless told otherwise."""
    _settings.resource_variables = True


def disable_resource_variables() -> None:
    """From now on `get_variable` and `Variable` make reference variables unless told otherwise."""
    _settings.resource_variables = False


enable_eager_execution = enable_control_flow_v2 = enable_tensor_equality = enable_v2_tensorshape = enable_v2_behavior


def executing_eagerly() -> bool:
    """Whether operations run when they are called: in a program of TensorFlow 2 outside of functions and graphs, else never."""
    return _eager_program() and not _ops._default_graphs.stack


def executing_eagerly_outside_functions() -> bool:
    """Whether operations outside of functions run when they are called."""
    return _eager_program() and all(hasattr(g, "_capture") for g in _ops._default_graphs.stack)


def _eager_program() -> bool:
    """Does Emplace stand in TensorFlow 2's place, and was nothing said against eager execution?"""
    return _thread_state.state.eager_everywhere  # type: ignore[no-any-return]


def resource_variables_enabled() -> bool:
    """Whether variables are resource variables unless told otherwise."""
    return _settings.resource_variables


def get_static_value(tensor: Any, partial: Any = False) -> Any:
    """The value of a tensor as an array where it is known without running anything, else None."""
    return _constant.constant_value(tensor)


def make_tensor_proto(*args: Any, **kwargs: Any) -> Any:
    """A value as a TensorProto; `dtype` and `shape` convert it, `verify_shape` refuses another shape."""
    from emplace.framework import graph_io

    return graph_io.make_tensor_proto(*args, **kwargs)


def make_ndarray(tensor: Any) -> Any:
    """The array that a TensorProto holds."""
    from emplace.framework import graph_io

    return graph_io.make_ndarray(tensor)


def import_graph_def(*args: Any, **kwargs: Any) -> Any:
    """Adds a GraphDef's nodes to the default graph below `name`. `input_map` puts tensors of this graph in the place of its
    inputs, `return_elements` names what is returned."""
    from emplace.framework import graph_io

    return graph_io.import_graph_def(*args, **kwargs)


# ---- What is loaded when first asked for.

_MESSAGES = {
    "config_pb2": ("ConfigProto", "GPUOptions", "RunOptions", "RunMetadata", "OptimizerOptions", "GraphOptions", "ThreadPoolOptionProto"),
    "graph_pb2": ("GraphDef", "NodeDef", "AttrValue", "NameAttrList"),
    "saved_model_pb2": ("MetaGraphDef", "SignatureDef", "TensorInfo"),
    "event_pb2": ("Event", "Summary", "SummaryMetadata", "HistogramProto", "SessionLog", "LogMessage"),
}
_LAZY = {name: f"emplace.proto.{module}" for module, names in _MESSAGES.items() for name in names}
_SUBMODULES = ("app", "data", "python_io", "flags", "logging", "test", "train", "losses", "layers", "summary", "metrics", "saved_model", "io", "gfile", "graph_util", "lookup", "distributions", "distribute")
_QUEUES = ("FIFOQueue", "RandomShuffleQueue", "PaddingFIFOQueue", "PriorityQueue", "QueueBase")
_CONTROL_FLOW = {"cond": "cond", "case": "cond", "switch_case": "cond", "TensorArray": "tensor_array_ops", "while_loop": "while_loop", "map_fn": "functional", "foldl": "functional", "foldr": "functional", "scan": "functional", **dict.fromkeys(("py_func", "numpy_function", "py_function"), "py_functions")}
_MORE = frozenset((
    "sort", "argsort", "repeat", "is_non_decreasing", "is_strictly_increasing", "lbeta", "histogram_fixed_width",
    "unsorted_segment_mean", "unsorted_segment_sqrt_n", "sparse_segment_sum", "sparse_segment_mean", "sparse_segment_sqrt_n",
    "confusion_matrix", "verify_tensor_all_finite", "add_check_numerics_ops", "random_crop", "decode_raw",
    "extract_image_patches", "batch_gather", "space_to_batch", "batch_to_space", "clip_by_average_norm", "matrix_solve_ls",
    "dimension_at_index", "tables_initializer",
))
_MORE_OF_MATH = (
    "is_non_decreasing", "is_strictly_increasing", "lbeta", "polyval", "bessel_i0", "bessel_i1", "erfinv", "erfcinv",
    "reciprocal_no_nan", "cumulative_logsumexp", "confusion_matrix", "unsorted_segment_mean", "unsorted_segment_sqrt_n",
)
_RENAMED = {"print": "print_v2", "initialize_all_tables": "tables_initializer"}
_OF_MODULES = {
    "fixed_size_partitioner": "partitioned_variables", "variable_axis_size_partitioner": "partitioned_variables",
    "min_max_variable_partitioner": "partitioned_variables", "make_template": "template",
    "SparseTensor": "sparse_tensor", "SparseTensorValue": "sparse_tensor", "sparse_placeholder": "sparse_tensor",
    "convert_to_tensor_or_sparse_tensor": "sparse_tensor", "string_split": "sparse_tensor",
}
_GRADIENTS = ("gradients", "hessians", "AggregationMethod", "UnconnectedGradients", "custom_gradient", "RegisterGradient", "NotDifferentiable", "NoGradient")


class _Namespace(_types.ModuleType):
    """tf.math, tf.nn, …: their functions, and those the catalogue gives."""

    def __init__(self, name: str, members: dict[str, Any]) -> None:
        super().__init__(f"{__name__}.{name}")
        self._prefix = name
        self.__path__: list[str] = []  # a package to the import statement
        self.__dict__.update(members)

    def __getattr__(self, name: str) -> Any:
        path = f"{self._prefix}.{name}"
        found = _found(path)
        if found is None:
            raise _not_there(path)
        found = _shared.ready(name, found)
        setattr(self, name, found)
        return found

    def __dir__(self) -> list[str]:
        own = {n for n in vars(self) if not n.startswith("_")}
        return sorted(own | _found_below(self._prefix))


# Public name -> the module below `emplace` that has it, and `:` its name there where that is another.
_LATER = {f"nn.{n}": "framework.rnn" for n in ("dynamic_rnn", "static_rnn", "bidirectional_dynamic_rnn", "static_bidirectional_rnn", "raw_rnn")}
_LATER["nn.rnn_cell"] = "framework.rnn_cells"
_SAMPLERS = ("uniform", "log_uniform", "learned_unigram", "fixed_unigram", "all")
_LATER.update({f"{space}.{n}_candidate_sampler": "framework.candidates" for space in ("nn", "random") for n in _SAMPLERS})
_LATER.update({f"nn.{n}": "framework.candidates" for n in ("compute_accidental_hits", "nce_loss", "sampled_softmax_loss")})
_LATER.update({f"math.{n}": "framework.composed_ops" for n in _MORE_OF_MATH})
_SPARSE = (
    "add concat eye expand_dims fill_empty_rows from_dense mask matmul maximum minimum placeholder reduce_max reduce_max_sparse reduce_sum"
    " reduce_sum_sparse reorder reset_shape reshape retain slice softmax sparse_dense_matmul split to_dense to_indicator transpose"
).split()
_LATER.update({f"sparse.{n}": "framework.sparse_ops" for n in _SPARSE})
_LATER["sparse.SparseTensor"] = _LATER["strings.split"] = "framework.sparse_tensor"
_LATER.update({f"sparse.{n}": f"framework.composed_ops:sparse_{n}" for n in ("segment_sum", "segment_mean", "segment_sqrt_n")})
_LATER["nn.embedding_lookup_sparse"] = "framework.sparse_ops"
_LATER.update({n: "framework.sparse_ops" for n in (
    "sparse_add", "sparse_concat", "sparse_fill_empty_rows", "sparse_mask", "sparse_maximum", "sparse_minimum", "sparse_reduce_max",
    "sparse_reduce_max_sparse", "sparse_reduce_sum", "sparse_reduce_sum_sparse", "sparse_reorder", "sparse_reset_shape", "sparse_reshape",
    "sparse_retain", "sparse_slice", "sparse_softmax", "sparse_split", "sparse_tensor_dense_matmul", "sparse_tensor_to_dense",
    "sparse_to_dense", "sparse_to_indicator", "sparse_transpose",
)})
_LATER.update({f"{space}{n}": "framework.parsing_ops" for space in ("", "io.") for n in (
    "FixedLenFeature", "FixedLenSequenceFeature", "VarLenFeature", "SparseFeature", "parse_example", "parse_single_example", "decode_csv",
)})
_LATER.update({n: "framework.readers" for n in (
    "ReaderBase", "TextLineReader", "TFRecordReader", "FixedLengthRecordReader", "WholeFileReader", "IdentityReader",
)})
_LATER.update({f"sets.{n}": f"framework.set_ops:set_{n}" for n in ("difference", "intersection", "size", "union")})
_OF_CONFIG = (
    "list_physical_devices list_logical_devices get_visible_devices set_visible_devices LogicalDevice LogicalDeviceConfiguration PhysicalDevice"
    " get_logical_device_configuration set_logical_device_configuration"
).split()
_LATER.update({f"config.{n}": "eager.config" for n in _OF_CONFIG})
_LATER.update({f"config.experimental.{n}": "eager.config" for n in (
    *_OF_CONFIG[:4], "get_memory_growth", "set_memory_growth", "get_device_details", "get_memory_info", "get_memory_usage", "reset_memory_stats",
)})
_LATER.update({f"nest.{n}": "eager.nest" for n in ("assert_same_structure", "flatten", "is_nested", "map_structure", "pack_sequence_as")})
_LATER["nn.sufficient_statistics"] = "framework.composed_ops"
_LATER["GradientTape"] = _LATER["function"] = "framework.graph_tape"
_LATER.update({f"image.{n}": "eager.functions.similarity" for n in ("ssim", "ssim_multiscale", "combined_non_max_suppression")})
_LATER.update({f"{space}{n}": "framework.sequence_parsing" for space in ("", "io.") for n in ("parse_single_sequence_example",)})
_LATER["io.parse_sequence_example"] = "framework.sequence_parsing"
_LATER["CriticalSection"] = "framework.critical_section"
_LATER.update({n: "framework.accumulators" for n in ("ConditionalAccumulatorBase", "ConditionalAccumulator", "SparseConditionalAccumulator")})
_LATER["sparse.SparseConditionalAccumulator"] = "framework.accumulators"
# What means the same in TensorFlow 2's names, and a few of this API's own.
_LATER.update({public: module for module, names in {
    "eager.functions.spectra": "signal.fftnd signal.fftshift signal.ifftnd signal.ifftshift signal.inverse_stft"
    " signal.inverse_stft_window_fn signal.irfft signal.irfft2d signal.irfft3d signal.irfftnd signal.kaiser_bessel_derived_window"
    " signal.linear_to_mel_weight_matrix signal.rfft signal.rfft2d signal.rfft3d signal.rfftnd"
    " signal.stft spectral.irfft spectral.irfft2d spectral.irfft3d spectral.rfft spectral.rfft2d spectral.rfft3d",
    "eager.functions.signal": "signal.frame signal.hamming_window signal.hann_window signal.kaiser_window signal.overlap_and_add"
    " signal.vorbis_window",
    "eager.functions.cosines": "signal.dct signal.idct signal.inverse_mdct signal.mdct signal.mfccs_from_log_mel_spectrograms"
    " spectral.dct spectral.idct",
    "eager.functions.linalg": "linalg.adjoint linalg.expm linalg.logdet linalg.lstsq linalg.matrix_rank linalg.normalize linalg.pinv",
    "eager.functions.solvers": "linalg.eigh_tridiagonal linalg.lu_matrix_inverse linalg.lu_reconstruct linalg.lu_solve"
    " linalg.tridiagonal_matmul linalg.tridiagonal_solve",
    "eager.functions.maths": "math.sobol_sample",
    "eager.functions.random": "random.stateless_categorical random.stateless_gamma",
    "eager.functions.nn": "nn.normalize_moments",
    "eager.functions.array": "histogram_fixed_width_bins",
    "eager.functions.debugging": "debugging.assert_shapes",
    "eager.tensor_spec": "TensorSpec TypeSpec",
    "framework.ctc_ops": "nn.ctc_loss nn.ctc_greedy_decoder nn.ctc_beam_search_decoder nn.ctc_beam_search_decoder_v2 nn.collapse_repeated nn.ctc_unique_labels",
    "framework.set_ops": "edit_distance sets.set_size sets.set_intersection sets.set_union sets.set_difference",
    "framework.image_windows": "image.draw_bounding_boxes image.sample_distorted_bounding_box image.extract_glimpse",
    "framework.moments": "nn.weighted_moments nn.batch_norm_with_global_normalization",
    "framework.serialize_ops": "serialize_tensor io.serialize_tensor serialize_sparse io.serialize_sparse serialize_many_sparse io.serialize_many_sparse",
    "framework.quantization_ops": "quantize quantize_v2 quantization.quantize dequantize quantization.dequantize",
    "framework.fractional_pools": "nn.fractional_max_pool nn.fractional_avg_pool",
    "framework.readers": "matching_files io.matching_files io.match_filenames_once train.match_filenames_once",
    "framework.random_ops": "random.stateless_multinomial",
    "framework.gradients": "grad_pass_through",
    "framework.indexed_slices": "convert_to_tensor_or_indexed_slices",
    "framework.partitioned_variables": "create_partitioned_variables",
    "framework.sparse_ops": "nn.safe_embedding_lookup_sparse",
    "framework.math_ops": "dtypes.cast dtypes.complex dtypes.saturate_cast",
    "framework.composed_ops": "debugging.is_non_decreasing debugging.is_strictly_increasing io.decode_raw initializers.tables_initializer",
    "framework.array_ops": "manip.gather_nd manip.reshape manip.roll",
}.items() for public in names.split()})


def _later(public: str) -> Any:
    """What a namespace loads when it is first asked for; None if it is not that."""
    if public not in _LATER:
        return None
    where, _, name = _LATER[public].partition(":")
    module = _importlib.import_module(f"emplace.{where}")
    if public == "nn.rnn_cell":
        return _Namespace(public, {n: getattr(module, n) for n in module.PUBLIC})
    return getattr(module, name or public.rpartition(".")[2])


def _found(public: str) -> Any:
    """What a name stands for besides the members of its namespace; None if nothing."""
    return _later(public) or _generated(public) or _shared.found(public)


def _found_below(prefix: str) -> set[str]:
    """The names that `_found` finds in a namespace; "" is the package."""
    start = f"{prefix}." if prefix else ""
    named = {*_LATER, *_operations(), *_shared.names()}
    return {n[len(start) :] for n in named if n.startswith(start) and "." not in n[len(start) :]}


def _more(name: str) -> Any:
    return getattr(_importlib.import_module("emplace.framework.composed_ops"), _RENAMED.get(name, name))


@_functools.cache
def _operations() -> dict[str, str]:
    """Public name -> the operation behind it."""
    lines = (line.partition(" ") for line in _names.TABLE.splitlines())
    return {name: op for op, _, names in lines for name in names.split(",")}


def _generated(public: str) -> Any:
    """The function of an operation whose public name this is; None if there is none."""
    op = _operations().get(public)
    if op is None:
        return None
    name = public.rsplit(".", 1)[-1]
    return _math._scoped(op, name, _gen.definition(op).doc) if public.startswith("math.special.") else _gen.make_function(op, name)


def _subset(*names: str, **renamed: Any) -> dict[str, Any]:
    return {**{n: globals()[n] for n in names}, **renamed}


math = _Namespace("math", _subset(
    "abs", "add", "subtract", "multiply", "divide", "truediv", "floordiv", "floormod", "pow", "sqrt", "rsqrt", "exp", "floor", "ceil",
    "acos", "sign", "sigmoid", "log_sigmoid", "round", "real", "imag", "angle", "conj", "equal", "not_equal", "logical_xor", "add_n",
    "accumulate_n", "scalar_mul", "reduce_sum", "reduce_mean", "reduce_prod", "reduce_max", "reduce_min", "reduce_any", "reduce_all",
    "reduce_logsumexp", "count_nonzero", "argmax", "argmin", "cumsum", "cumprod", "bincount",
    divide_no_nan=_math.div_no_nan, multiply_no_nan=_math.multiply_no_nan, reduce_variance=_math.reduce_variance,
    reduce_std=_math.reduce_std, reduce_euclidean_norm=_math.reduce_euclidean_norm, softplus=_nn.softplus, log_softmax=_nn.log_softmax,
    softmax=_nn.softmax, l2_normalize=_nn.l2_normalize, top_k=_nn.top_k, in_top_k=_nn.in_top_k, mod=_math.floormod, xdivy=_math.xdivy, ndtri=_math.ndtri, xlog1py=_math.xlog1py,
    zero_fraction=_nn.zero_fraction, bessel_i0e=_math.bessel_i0e, bessel_i1e=_math.bessel_i1e, ceiling=_math.ceil,
))
nn = _Namespace("nn", {
    n: getattr(_nn, n) for n in (
        "relu6", "leaky_relu", "crelu", "softplus", "swish", "softmax", "log_softmax", "bias_add", "l2_normalize", "moments",
        "batch_normalization", "fused_batch_norm", "softmax_cross_entropy_with_logits", "softmax_cross_entropy_with_logits_v2",
        "sparse_softmax_cross_entropy_with_logits", "sigmoid_cross_entropy_with_logits", "conv2d", "depthwise_conv2d_native", "max_pool",
        "avg_pool", "embedding_lookup", "weighted_cross_entropy_with_logits", "log_poisson_loss", "in_top_k", "top_k", "dropout", "xw_plus_b", "relu_layer", "zero_fraction",
    )
})
nn.sigmoid, nn.silu = _math.sigmoid, _nn.swish
for _name in (
    "conv1d", "conv3d", "conv2d_transpose", "conv3d_transpose", "conv1d_transpose", "conv_transpose", "convolution", "atrous_conv2d",
    "atrous_conv2d_transpose", "depthwise_conv2d", "separable_conv2d", "max_pool1d", "avg_pool1d", "max_pool3d", "avg_pool3d",
    "max_pool_with_argmax", "pool", "dilation2d", "erosion2d", "conv2d_backprop_input", "conv2d_backprop_filter",
):
    setattr(nn, _name, getattr(_conv, _name))
nn.max_pool2d, nn.avg_pool2d = _nn.max_pool, _nn.avg_pool
linalg = _Namespace("linalg", _subset(
    "norm", "einsum", "matmul", "eye", "trace", "svd", "tensordot", "cholesky_solve", "global_norm",
    diag=_array.matrix_diag, diag_part=_array.matrix_diag_part, set_diag=_array.matrix_set_diag, transpose=_array.matrix_transpose,
    matrix_transpose=_array.matrix_transpose, eigh=_linalg.self_adjoint_eig, eigvalsh=_linalg.self_adjoint_eigvals,
    triangular_solve=_linalg.matrix_triangular_solve, tensor_diag_part=_array.tensor_diag_part, matvec=_math.matvec,
    l2_normalize=_nn.l2_normalize,
))
strings = _Namespace("strings", dict(
    join=_string.string_join, reduce_join=_string.reduce_join, to_number=_string.string_to_number, substr=_string.substr,
    regex_replace=_string.regex_replace, regex_full_match=_string.regex_full_match, length=_string.string_length,
    format=_string.string_format, to_hash_bucket=_string.string_to_hash_bucket,
))
random = _Namespace("random", dict(
    uniform=_random.random_uniform, normal=_random.random_normal, truncated_normal=_random.truncated_normal,
    shuffle=_random.random_shuffle, multinomial=_random.multinomial, categorical=_random.categorical, gamma=_random.random_gamma,
    poisson=_random.random_poisson, set_random_seed=_random.set_random_seed, get_seed=_random.get_seed,
    stateless_uniform=_random.stateless_uniform, stateless_normal=_random.stateless_normal,
    stateless_truncated_normal=_random.stateless_truncated_normal,
))
initializers = _Namespace("initializers", dict(
    zeros=_init.Zeros, ones=_init.Ones, constant=_init.Constant, random_uniform=_init.RandomUniform, random_normal=_init.RandomNormal,
    truncated_normal=_init.TruncatedNormal, variance_scaling=_init.VarianceScaling, glorot_uniform=_init.GlorotUniform,
    glorot_normal=_init.GlorotNormal, orthogonal=_init.Orthogonal, identity=_init.Identity, he_normal=_init.he_normal, he_uniform=_init.he_uniform,
    lecun_normal=_init.lecun_normal, lecun_uniform=_init.lecun_uniform, uniform_unit_scaling=_init.UniformUnitScaling,
    global_variables=_variables.global_variables_initializer, local_variables=_variables.local_variables_initializer,
    variables=_variables.variables_initializer,
))
math.special = _Namespace("math.special", {})
nn.depth_to_space, nn.space_to_depth = _array.depth_to_space, _array.space_to_depth
bitwise, signal, spectral = (_Namespace(n, {}) for n in ("bitwise", "signal", "spectral"))
image = _Namespace("image", {
    n: getattr(module, n) for module in (_image, _image_files, _image_random) for n in dir(module)
    if getattr(getattr(module, n), "__module__", None) == module.__name__ and not n.startswith("_") and not n.lower().endswith("v1")
})
image.ResizeMethod, image.crop_and_resize = _image.ResizeMethodV1, _image.crop_and_resize_v1
image.resize = image.resize_images = _image.resize_v1
image.resize_image_with_crop_or_pad, image.transpose_image = _image.resize_with_crop_or_pad, _image.transpose
image.resize_image_with_pad = image.resize_with_pad = _image.resize_with_pad_v1
quantization, audio, manip, sets, sparse, config = (_Namespace(n, {}) for n in ("quantization", "audio", "manip", "sets", "sparse", "config"))
config.experimental = _Namespace("config.experimental", {})
nest, autograph = _Namespace("nest", {}), _Namespace("autograph", {})
_LATER.update({f"queue.{n}": "framework.queues" for n in _QUEUES})
queue = _Namespace("queue", {})
QUANTIZED_DTYPES = dtypes.QUANTIZED_DTYPES
dtypes = _Namespace("dtypes", {n: v for n, v in vars(dtypes).items() if isinstance(v, DType) or n in ("DType", "as_dtype", "QUANTIZED_DTYPES")})


def _set_log_device_placement(enabled: Any) -> None:
    """Whether sessions made from now on say where each op was placed."""
    _settings.log_device_placement = _builtins_bool(enabled)


def _get_log_device_placement() -> Any:
    """Whether sessions say where each op was placed."""
    return _settings.log_device_placement


_builtins_bool = _importlib.import_module("builtins").bool
debugging = _Namespace("debugging", {
    **{n: getattr(_check, n) for n in dir(_check) if n.startswith("assert_")}, "Assert": _control.Assert,
    "set_log_device_placement": _set_log_device_placement, "get_log_device_placement": _get_log_device_placement,
    "is_numeric_tensor": _check.is_numeric_tensor,
})
compat = _importlib.import_module("emplace.compat")


def _not_there(path: str) -> AttributeError:
    from emplace.posing import private

    return AttributeError(private.refusal(__name__, path))


def __getattr__(name: str) -> Any:
    found: Any = None
    if name in _LATER:
        found = _later(name)
    elif name in _LAZY:
        found = getattr(_importlib.import_module(_LAZY[name]), name)
    elif name in _SUBMODULES:
        found = _importlib.import_module(f"{__name__}.{name}")
    elif name in _MORE or name in _RENAMED:
        found = _more(name)
    elif name in _OF_MODULES:
        found = getattr(_importlib.import_module(f"emplace.framework.{_OF_MODULES[name]}"), name)
    elif name == "contrib" and _importlib.import_module("emplace.posing").posed_as() == "v1":
        found = _importlib.import_module("emplace.compat.v1._contrib")  # TensorFlow 2's compat.v1 has none
    elif name == "keras":
        found = _importlib.import_module("emplace.eager.keras").package()
    elif name == "get_logger":
        found = _importlib.import_module(f"{__name__}.logging").get_logger
    elif name in _QUEUES:
        found = getattr(_importlib.import_module("emplace.framework.queues"), name)
    elif name in _CONTROL_FLOW or name in _GRADIENTS:
        module = "gradients" if name in _GRADIENTS else _CONTROL_FLOW[name]
        found = getattr(_importlib.import_module(f"emplace.framework.{module}"), name)
        if _eager_program() and name in ("cond", "case", "while_loop", "map_fn", "foldl", "foldr", "scan"):
            found = _shared.eager_outside_graphs(found)
    else:
        found = _found(name)
    if found is None:
        raise _not_there(name)
    globals()[name] = found = _shared.ready(name, found)
    return found


_ALSO = (*_LAZY, *_SUBMODULES, *_QUEUES, *_CONTROL_FLOW, *_GRADIENTS, *_MORE, *_RENAMED, *_OF_MODULES, "get_logger", "errors", "keras")


def __dir__() -> list[str]:
    return _listing.of_module(globals(), (*_ALSO, *_found_below("")))()
