// Datasets and iterators under the names that they had first.
#include "op/shape_context.h"
#include "stdops/datasets.h"

namespace emplace::stdops {
namespace {

using namespace shape_rules;
using namespace cost_rules;

constexpr OpRow kOlderDatasetsRows[] = {
    {"ExperimentalAutoShardDataset(input_dataset: variant, num_workers: int64, index: int64) "
     "-> (handle: variant) | auto_shard_policy: int = 0; output_types: list(type) >= 1; "
     "output_shapes: list(shape) >= 1",
     scalar, cheap,
     "One worker's share of a dataset: of its files, or of its elements."},
    {"ExperimentalCSVDataset(filenames: string, compression_type: string, buffer_size: "
     "int64, header: bool, field_delim: string, use_quote_delim: bool, na_value: string, "
     "select_cols: int64, record_defaults: output_types) -> (handle: variant) | "
     "output_types: list(type) in [float,double,int32,int64,string] >= 1; output_shapes: "
     "list(shape) >= 1 | stateful",
     scalar, cheap,
     "The records of files of comma-separated values."},
    {"ExperimentalDatasetCardinality(input_dataset: variant) -> (cardinality: int64)",
     scalar, cheap,
     "How many elements a dataset has: -1 without end, -2 not known."},
    {"ExperimentalDenseToSparseBatchDataset(input_dataset: variant, batch_size: int64, "
     "row_shape: int64) -> (handle: variant) | output_types: list(type) >= 1; output_shapes: "
     "list(shape) >= 1",
     scalar, cheap,
     "Batches of tensors of unequal shape as sparse tensors."},
    {"ExperimentalGroupByWindowDataset(input_dataset: variant, key_func_other_arguments: "
     "Tkey_func_other_arguments, reduce_func_other_arguments: Treduce_func_other_arguments, "
     "window_size_func_other_arguments: Twindow_size_func_other_arguments) -> (handle: "
     "variant) | key_func: func; reduce_func: func; window_size_func: func; "
     "Tkey_func_other_arguments: list(type) >= 0; Treduce_func_other_arguments: list(type) "
     ">= 0; Twindow_size_func_other_arguments: list(type) >= 0; output_types: list(type) >= "
     "1; output_shapes: list(shape) >= 1",
     scalar, cheap,
     "What a function makes of windows of elements of one key."},
    {"ExperimentalIgnoreErrorsDataset(input_dataset: variant) -> (handle: variant) | "
     "output_types: list(type) >= 1; output_shapes: list(shape) >= 1; log_warning: bool = "
     "false",
     scalar, cheap,
     "The elements that did not fail."},
    {"ExperimentalIteratorGetDevice(resource: resource) -> (device: string) | stateful",
     scalar, cheap,
     "Where an iterator is."},
    {"ExperimentalMapAndBatchDataset(input_dataset: variant, other_arguments: Targuments, "
     "batch_size: int64, num_parallel_calls: int64, drop_remainder: bool) -> (handle: "
     "variant) | f: func; Targuments: list(type) >= 0; output_types: list(type) >= 1; "
     "output_shapes: list(shape) >= 1; preserve_cardinality: bool = false",
     scalar, cheap,
     "What a function makes of each element, so many at a time."},
    {"ExperimentalMapDataset(input_dataset: variant, other_arguments: Targuments) -> "
     "(handle: variant) | f: func; Targuments: list(type) >= 0; output_types: list(type) >= "
     "1; output_shapes: list(shape) >= 1; use_inter_op_parallelism: bool = true; "
     "preserve_cardinality: bool = false; force_synchronous: bool = false",
     scalar, cheap,
     "What a function makes of each element."},
    {"ExperimentalMatchingFilesDataset(patterns: string) -> (handle: variant) | stateful",
     scalar, cheap,
     "The names of files that match patterns."},
    {"ExperimentalMaxIntraOpParallelismDataset(input_dataset: variant, "
     "max_intra_op_parallelism: int64) -> (handle: variant) | output_types: list(type) >= 1; "
     "output_shapes: list(shape) >= 1",
     scalar, cheap,
     "The elements, made with no more threads to an operation."},
    {"ExperimentalNonSerializableDataset(input_dataset: variant) -> (handle: variant) | "
     "output_types: list(type) >= 1; output_shapes: list(shape) >= 1",
     scalar, cheap,
     "The elements of a dataset."},
    {"ExperimentalParallelInterleaveDataset(input_dataset: variant, other_arguments: "
     "Targuments, cycle_length: int64, block_length: int64, sloppy: bool, "
     "buffer_output_elements: int64, prefetch_input_elements: int64) -> (handle: variant) | "
     "f: func; Targuments: list(type) >= 0; output_types: list(type) >= 1; output_shapes: "
     "list(shape) >= 1",
     scalar, cheap,
     "The elements of datasets that a function makes, taken from several at once."},
    {"ExperimentalPrivateThreadPoolDataset(input_dataset: variant, num_threads: int64) -> "
     "(handle: variant) | output_types: list(type) >= 1; output_shapes: list(shape) >= 1",
     scalar, cheap,
     "The elements, made by so many threads."},
    {"ExperimentalRandomDataset(seed: int64, seed2: int64) -> (handle: variant) | "
     "output_types: list(type) >= 1; output_shapes: list(shape) >= 1 | stateful",
     scalar, cheap,
     "Random numbers without end."},
    {"ExperimentalScanDataset(input_dataset: variant, initial_state: Tstate, "
     "other_arguments: Targuments) -> (handle: variant) | f: func; Tstate: list(type) >= 1; "
     "Targuments: list(type) >= 0; output_types: list(type) >= 1; output_shapes: list(shape) "
     ">= 1; preserve_cardinality: bool = false",
     scalar, cheap,
     "What a function makes of each element and a state."},
    {"ExperimentalSleepDataset(input_dataset: variant, sleep_microseconds: int64) -> "
     "(handle: variant) | output_types: list(type) >= 1; output_shapes: list(shape) >= 1",
     scalar, cheap,
     "The elements, after a while each."},
    {"ExperimentalTakeWhileDataset(input_dataset: variant, other_arguments: Targuments) -> "
     "(handle: variant) | predicate: func; Targuments: list(type) >= 0; output_types: "
     "list(type) >= 1; output_shapes: list(shape) >= 1",
     scalar, cheap,
     "The elements up to the first that a function says no to."},
    {"ExperimentalUnbatchDataset(input_dataset: variant) -> (handle: variant) | "
     "output_types: list(type) >= 1; output_shapes: list(shape) >= 1",
     scalar, cheap,
     "The rows of elements."},
    {"ExperimentalUniqueDataset(input_dataset: variant) -> (handle: variant) | output_types: "
     "list(type) >= 1; output_shapes: list(shape) >= 1",
     scalar, cheap,
     "The elements, each once."},
};

}  // namespace

std::span<const OpRow> older_dataset_ops() { return kOlderDatasetsRows; }

}  // namespace emplace::stdops
