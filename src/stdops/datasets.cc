// Datasets made of others.
#include "op/shape_context.h"
#include "stdops/datasets.h"

namespace emplace::stdops {
namespace {

using namespace shape_rules;
using namespace cost_rules;

constexpr OpRow kDatasetsRows[] = {
    {"MapDataset(input_dataset: variant, other_arguments: Targuments) -> (handle: variant) | "
     "f: func; Targuments: list(type) >= 0; output_types: list(type) >= 1; output_shapes: "
     "list(shape) >= 1; use_inter_op_parallelism: bool = true; preserve_cardinality: bool = "
     "false; force_synchronous: bool = false; metadata: string = ''",
     scalar, cheap,
     "What a function makes of each element."},
    {"FilterDataset(input_dataset: variant, other_arguments: Targuments) -> (handle: variant) "
     "| predicate: func; Targuments: list(type) >= 0; output_types: list(type) >= 1; "
     "output_shapes: list(shape) >= 1; metadata: string = ''",
     scalar, cheap,
     "The elements that a function says yes to."},
    {"BatchDataset(input_dataset: variant, batch_size: int64) -> (handle: variant) | "
     "output_types: list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = ''",
     scalar, cheap,
     "Elements stacked, so many at a time."},
    {"BatchDatasetV2(input_dataset: variant, batch_size: int64, drop_remainder: bool) -> "
     "(handle: variant) | parallel_copy: bool = false; output_types: list(type) >= 1; "
     "output_shapes: list(shape) >= 1; metadata: string = ''",
     scalar, cheap,
     "Elements stacked, so many at a time."},
    {"RepeatDataset(input_dataset: variant, count: int64) -> (handle: variant) | output_types:"
     " list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = ''",
     scalar, cheap,
     "The elements over and over."},
    {"TakeDataset(input_dataset: variant, count: int64) -> (handle: variant) | output_types: "
     "list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = ''",
     scalar, cheap,
     "The first elements."},
    {"SkipDataset(input_dataset: variant, count: int64) -> (handle: variant) | output_types: "
     "list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = ''",
     scalar, cheap,
     "All but the first elements."},
    {"ZipDataset(input_datasets: N*variant) -> (handle: variant) | output_types: list(type) >="
     " 1; output_shapes: list(shape) >= 1; N: int >= 1; metadata: string = ''",
     scalar, cheap,
     "An element of each, as one."},
    {"ConcatenateDataset(input_dataset: variant, another_dataset: variant) -> (handle: "
     "variant) | output_types: list(type) >= 1; output_shapes: list(shape) >= 1; metadata: "
     "string = ''",
     scalar, cheap,
     "The elements of one, then of the other."},
    {"ShuffleDataset(input_dataset: variant, buffer_size: int64, seed: int64, seed2: int64) ->"
     " (handle: variant) | reshuffle_each_iteration: bool = true; output_types: list(type) >= "
     "1; output_shapes: list(shape) >= 1; metadata: string = ''",
     scalar, cheap,
     "The elements in random order."},
    {"ShuffleDatasetV2(input_dataset: variant, buffer_size: int64, seed_generator: resource) "
     "-> (handle: variant) | output_types: list(type) >= 1; output_shapes: list(shape) >= 1; "
     "metadata: string = '' | stateful",
     scalar, cheap,
     "The elements in random order."},
    {"ShuffleDatasetV3(input_dataset: variant, buffer_size: int64, seed: int64, seed2: int64, "
     "seed_generator: resource) -> (handle: variant) | reshuffle_each_iteration: bool = true; "
     "output_types: list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = '' | "
     "stateful",
     scalar, cheap,
     "The elements in random order."},
    {"PrefetchDataset(input_dataset: variant, buffer_size: int64) -> (handle: variant) | "
     "output_types: list(type) >= 1; output_shapes: list(shape) >= 1; slack_period: int = 0; "
     "legacy_autotune: bool = true; buffer_size_min: int = 0; metadata: string = ''",
     scalar, cheap,
     "The elements, made ahead of time."},
    {"ParallelMapDataset(input_dataset: variant, other_arguments: Targuments, "
     "num_parallel_calls: int32) -> (handle: variant) | f: func; Targuments: list(type) >= 0; "
     "output_types: list(type) >= 1; output_shapes: list(shape) >= 1; "
     "use_inter_op_parallelism: bool = true; sloppy: bool = false; preserve_cardinality: bool "
     "= false; metadata: string = ''",
     scalar, cheap,
     "What a function makes of each element, on several threads."},
    {"ParallelMapDatasetV2(input_dataset: variant, other_arguments: Targuments, "
     "num_parallel_calls: int64) -> (handle: variant) | f: func; Targuments: list(type) >= 0; "
     "output_types: list(type) >= 1; output_shapes: list(shape) >= 1; "
     "use_inter_op_parallelism: bool = true; deterministic: string = 'default'; "
     "preserve_cardinality: bool = false; use_unbounded_threadpool: bool = false; metadata: "
     "string = ''",
     scalar, cheap,
     "What a function makes of each element, on several threads."},
    {"ParallelFilterDataset(input_dataset: variant, other_arguments: Targuments, "
     "num_parallel_calls: int64) -> (handle: variant) | predicate: func; deterministic: string"
     " = 'default'; Targuments: list(type) >= 0; output_types: list(type) >= 1; output_shapes:"
     " list(shape) >= 1; metadata: string = ''",
     scalar, cheap,
     "The elements that a function says yes to, asked on several threads."},
    {"ParallelBatchDataset(input_dataset: variant, batch_size: int64, num_parallel_calls: "
     "int64, drop_remainder: bool) -> (handle: variant) | parallel_copy: bool = false; "
     "output_types: list(type) >= 1; output_shapes: list(shape) >= 1; deterministic: string = "
     "'default'; metadata: string = ''",
     scalar, cheap,
     "Elements stacked, so many at a time, by several threads."},
    {"MapAndBatchDataset(input_dataset: variant, other_arguments: Targuments, batch_size: "
     "int64, num_parallel_calls: int64, drop_remainder: bool) -> (handle: variant) | f: func; "
     "Targuments: list(type) >= 0; output_types: list(type) >= 1; output_shapes: list(shape) "
     ">= 1; preserve_cardinality: bool = false; metadata: string = ''",
     scalar, cheap,
     "What a function makes of each element, stacked."},
    {"TakeWhileDataset(input_dataset: variant, other_arguments: Targuments) -> (handle: "
     "variant) | predicate: func; Targuments: list(type) >= 0; output_types: list(type) >= 1; "
     "output_shapes: list(shape) >= 1; metadata: string = ''",
     scalar, cheap,
     "The elements before the first that a function says no to."},
    {"ShardDataset(input_dataset: variant, num_shards: int64, index: int64) -> (handle: "
     "variant) | require_non_empty: bool = false; output_types: list(type) >= 1; "
     "output_shapes: list(shape) >= 1; metadata: string = ''",
     scalar, cheap,
     "Every so-manieth element."},
    {"ShuffleAndRepeatDataset(input_dataset: variant, buffer_size: int64, seed: int64, seed2: "
     "int64, count: int64) -> (handle: variant) | output_types: list(type) >= 1; "
     "output_shapes: list(shape) >= 1; reshuffle_each_iteration: bool = true; metadata: string"
     " = ''",
     scalar, cheap,
     "The elements in random order, over and over."},
    {"ShuffleAndRepeatDatasetV2(input_dataset: variant, buffer_size: int64, seed: int64, "
     "seed2: int64, count: int64, seed_generator: resource) -> (handle: variant) | "
     "reshuffle_each_iteration: bool = true; output_types: list(type) >= 1; output_shapes: "
     "list(shape) >= 1; metadata: string = '' | stateful",
     scalar, cheap,
     "The elements in random order, over and over."},
    {"FlatMapDataset(input_dataset: variant, other_arguments: Targuments) -> (handle: variant)"
     " | f: func; Targuments: list(type) >= 0; output_types: list(type) >= 1; output_shapes: "
     "list(shape) >= 1; metadata: string = ''",
     scalar, cheap,
     "The elements of the datasets that a function makes."},
    {"InterleaveDataset(input_dataset: variant, other_arguments: Targuments, cycle_length: "
     "int64, block_length: int64) -> (handle: variant) | f: func; Targuments: list(type) >= 0;"
     " output_types: list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = ''",
     scalar, cheap,
     "The elements of the datasets that a function makes, in turns."},
    {"ParallelInterleaveDataset(input_dataset: variant, other_arguments: Targuments, "
     "cycle_length: int64, block_length: int64, sloppy: bool, buffer_output_elements: int64, "
     "prefetch_input_elements: int64) -> (handle: variant) | f: func; Targuments: list(type) "
     ">= 0; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string ="
     " ''",
     scalar, cheap,
     "The elements of datasets in turns, made by several threads."},
    {"ParallelInterleaveDatasetV2(input_dataset: variant, other_arguments: Targuments, "
     "cycle_length: int64, block_length: int64, num_parallel_calls: int64) -> (handle: "
     "variant) | f: func; Targuments: list(type) >= 0; output_types: list(type) >= 1; "
     "output_shapes: list(shape) >= 1; sloppy: bool = false; metadata: string = ''",
     scalar, cheap,
     "The elements of datasets in turns, made by several threads."},
    {"ParallelInterleaveDatasetV3(input_dataset: variant, other_arguments: Targuments, "
     "cycle_length: int64, block_length: int64, num_parallel_calls: int64) -> (handle: "
     "variant) | f: func; deterministic: string = 'default'; Targuments: list(type) >= 0; "
     "output_types: list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = ''",
     scalar, cheap,
     "The elements of datasets in turns, made by several threads."},
    {"ParallelInterleaveDatasetV4(input_dataset: variant, other_arguments: Targuments, "
     "cycle_length: int64, block_length: int64, buffer_output_elements: int64, "
     "prefetch_input_elements: int64, num_parallel_calls: int64) -> (handle: variant) | f: "
     "func; deterministic: string = 'default'; Targuments: list(type) >= 0; output_types: "
     "list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = ''",
     scalar, cheap,
     "The elements of datasets in turns, made by several threads."},
    {"LegacyParallelInterleaveDatasetV2(input_dataset: variant, other_arguments: Targuments, "
     "cycle_length: int64, block_length: int64, buffer_output_elements: int64, "
     "prefetch_input_elements: int64) -> (handle: variant) | f: func; deterministic: string = "
     "'default'; Targuments: list(type) >= 0; output_types: list(type) >= 1; output_shapes: "
     "list(shape) >= 1; metadata: string = ''",
     scalar, cheap,
     "The elements of datasets in turns, made by several threads."},
    {"PaddedBatchDataset(input_dataset: variant, batch_size: int64, padded_shapes: N*int64, "
     "padding_values: Toutput_types) -> (handle: variant) | Toutput_types: list(type) >= 1; "
     "output_shapes: list(shape) >= 1; N: int >= 1; metadata: string = ''",
     scalar, cheap,
     "Elements padded to one shape and stacked."},
    {"PaddedBatchDatasetV2(input_dataset: variant, batch_size: int64, padded_shapes: N*int64, "
     "padding_values: Toutput_types, drop_remainder: bool) -> (handle: variant) | "
     "parallel_copy: bool = false; Toutput_types: list(type) >= 1; output_shapes: list(shape) "
     ">= 1; N: int >= 1; metadata: string = ''",
     scalar, cheap,
     "Elements padded to one shape and stacked."},
    {"UnbatchDataset(input_dataset: variant) -> (handle: variant) | output_types: list(type) "
     ">= 1; output_shapes: list(shape) >= 1; metadata: string = ''",
     scalar, cheap,
     "The rows of the elements."},
    {"WindowDataset(input_dataset: variant, size: int64, shift: int64, stride: int64, "
     "drop_remainder: bool) -> (handle: variant) | output_types: list(type) >= 1; "
     "output_shapes: list(shape) >= 1; metadata: string = ''",
     scalar, cheap,
     "Datasets of neighbouring elements."},
    {"GroupByWindowDataset(input_dataset: variant, key_func_other_arguments: "
     "Tkey_func_other_arguments, reduce_func_other_arguments: Treduce_func_other_arguments, "
     "window_size_func_other_arguments: Twindow_size_func_other_arguments) -> (handle: "
     "variant) | key_func: func; reduce_func: func; window_size_func: func; "
     "Tkey_func_other_arguments: list(type) >= 0; Treduce_func_other_arguments: list(type) >= "
     "0; Twindow_size_func_other_arguments: list(type) >= 0; output_types: list(type) >= 1; "
     "output_shapes: list(shape) >= 1; metadata: string = ''",
     scalar, cheap,
     "What a function makes of windows of elements with one key."},
    {"RebatchDatasetV2(input_dataset: variant, batch_sizes: int64, drop_remainder: bool) -> "
     "(handle: variant) | output_types: list(type) >= 1; output_shapes: list(shape) >= 1",
     scalar, cheap,
     "Batches cut to other sizes."},
    {"ScanDataset(input_dataset: variant, initial_state: Tstate, other_arguments: Targuments) "
     "-> (handle: variant) | f: func; Tstate: list(type) >= 1; Targuments: list(type) >= 0; "
     "output_types: list(type) >= 1; output_shapes: list(shape) >= 1; preserve_cardinality: "
     "bool = false; use_default_device: bool = true; metadata: string = ''",
     scalar, cheap,
     "What a function makes of each element and of a state, which goes on."},
    {"UniqueDataset(input_dataset: variant) -> (handle: variant) | output_types: list(type) >="
     " 1; output_shapes: list(shape) >= 1; metadata: string = ''",
     scalar, cheap,
     "Each element the first time it comes."},
    {"CacheDataset(input_dataset: variant, filename: string) -> (handle: variant) | "
     "output_types: list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = ''",
     scalar, cheap,
     "The elements, kept from the first round."},
    {"CacheDatasetV2(input_dataset: variant, filename: string, cache: resource) -> (handle: "
     "variant) | output_types: list(type) >= 1; output_shapes: list(shape) >= 1; metadata: "
     "string = '' | stateful",
     scalar, cheap,
     "The elements, kept from the first round."},
    {"DirectedInterleaveDataset(selector_input_dataset: variant, data_input_datasets: "
     "N*variant) -> (handle: variant) | output_types: list(type) >= 1; output_shapes: "
     "list(shape) >= 1; N: int >= 1; stop_on_empty_dataset: bool = false",
     scalar, cheap,
     "Elements of several datasets; another one says of which."},
    {"ExperimentalDirectedInterleaveDataset(selector_input_dataset: variant, "
     "data_input_datasets: N*variant) -> (handle: variant) | output_types: list(type) >= 1; "
     "output_shapes: list(shape) >= 1; N: int >= 1",
     scalar, cheap,
     "Elements of several datasets; another one says of which."},
    {"IgnoreErrorsDataset(input_dataset: variant) -> (handle: variant) | output_types: "
     "list(type) >= 1; output_shapes: list(shape) >= 1; log_warning: bool = false",
     scalar, cheap,
     "The elements that could be made."},
    {"SleepDataset(input_dataset: variant, sleep_microseconds: int64) -> (handle: variant) | "
     "output_types: list(type) >= 1; output_shapes: list(shape) >= 1",
     scalar, cheap,
     "The elements, each after a pause."},
    {"OptionsDataset(input_dataset: variant) -> (handle: variant) | serialized_options: "
     "string; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string"
     " = ''",
     scalar, cheap,
     "The elements, made as options say."},
    {"ModelDataset(input_dataset: variant) -> (handle: variant) | algorithm: int = 0; "
     "cpu_budget: int = 0; ram_budget: int = 0; output_types: list(type) >= 1; output_shapes: "
     "list(shape) >= 1",
     scalar, cheap,
     "The elements, with parallelism that adapts."},
    {"FinalizeDataset(input_dataset: variant) -> (handle: variant) | has_captured_ref: bool = "
     "false; output_types: list(type) >= 1; output_shapes: list(shape) >= 1",
     scalar, cheap,
     "The elements: the end of a pipeline."},
    {"OptimizeDataset(input_dataset: variant, optimizations: string) -> (handle: variant) | "
     "output_types: list(type) >= 1; output_shapes: list(shape) >= 1; optimization_configs: "
     "list(string) = []",
     scalar, cheap,
     "The elements: there is nothing to rewrite here."},
    {"OptimizeDatasetV2(input_dataset: variant, optimizations_enabled: string, "
     "optimizations_disabled: string, optimizations_default: string) -> (handle: variant) | "
     "output_types: list(type) >= 1; output_shapes: list(shape) >= 1; optimization_configs: "
     "list(string) = []",
     scalar, cheap,
     "The elements: there is nothing to rewrite here."},
    {"_CopyToDeviceDataset(input_dataset: variant) -> (handle: variant) | device: string; "
     "output_types: list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = ''",
     scalar, cheap,
     "The elements of another one in a device's memory."},
    {"NonSerializableDataset(input_dataset: variant) -> (handle: variant) | output_types: "
     "list(type) >= 1; output_shapes: list(shape) >= 1",
     scalar, cheap,
     "The elements, of a pipeline that is not saved."},
    {"MaxIntraOpParallelismDataset(input_dataset: variant, max_intra_op_parallelism: int64) ->"
     " (handle: variant) | output_types: list(type) >= 1; output_shapes: list(shape) >= 1",
     scalar, cheap,
     "The elements, made by so many threads an operation."},
    {"PrivateThreadPoolDataset(input_dataset: variant, num_threads: int64) -> (handle: "
     "variant) | output_types: list(type) >= 1; output_shapes: list(shape) >= 1",
     scalar, cheap,
     "The elements, made by so many threads."},
    {"AssertCardinalityDataset(input_dataset: variant, cardinality: int64) -> (handle: "
     "variant) | output_types: list(type) >= 1; output_shapes: list(shape) >= 1",
     scalar, cheap,
     "The elements, which must be so many."},
    {"ExperimentalGroupByReducerDataset(input_dataset: variant, key_func_other_arguments: "
     "Tkey_func_other_arguments, init_func_other_arguments: Tinit_func_other_arguments, "
     "reduce_func_other_arguments: Treduce_func_other_arguments, "
     "finalize_func_other_arguments: Tfinalize_func_other_arguments) -> (handle: variant) | "
     "key_func: func; init_func: func; reduce_func: func; finalize_func: func; "
     "Tkey_func_other_arguments: list(type) >= 0; Tinit_func_other_arguments: list(type) >= 0;"
     " Treduce_func_other_arguments: list(type) >= 0; Tfinalize_func_other_arguments: "
     "list(type) >= 0; output_types: list(type) >= 1; output_shapes: list(shape) >= 1 | "
     "stateful",
     scalar, cheap,
     "The elements with one key folded into a state."},
    {"RewriteDataset(input_dataset: variant, rewrite_name: string) -> (handle: variant) | "
     "output_types: list(type) >= 1; output_shapes: list(shape) >= 1",
     scalar, cheap,
     "The elements: there is nothing to rewrite here."},
    {"DenseToSparseBatchDataset(input_dataset: variant, batch_size: int64, row_shape: int64) "
     "-> (handle: variant) | output_types: list(type) >= 1; output_shapes: list(shape) >= 1",
     scalar, cheap,
     "Elements as a sparse tensor, so many at a time."},
    {"SnapshotDatasetV2(input_dataset: variant, path: string, reader_func_other_args: "
     "Treader_func_args, shard_func_other_args: Tshard_func_args) -> (handle: variant) | "
     "output_types: list(type) >= 1; output_shapes: list(shape) >= 1; compression: string = "
     "''; reader_prefix: string = ''; writer_prefix: string = ''; hash_valid: bool = false; "
     "hash: int = 0; reader_func: func; shard_func: func; Treader_func_args: list(type) >= 0; "
     "Tshard_func_args: list(type) >= 0; metadata: string = ''",
     scalar, cheap,
     "The elements, kept in a folder from the first round."},
};

}  // namespace

std::span<const OpRow> dataset_ops() { return kDatasetsRows; }

}  // namespace emplace::stdops
