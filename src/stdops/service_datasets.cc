// Datasets for several processes: shares, files to share, and those that a service runs.
#include "op/shape_context.h"
#include "stdops/datasets.h"

namespace emplace::stdops {
namespace {

using namespace shape_rules;
using namespace cost_rules;

constexpr OpRow kServiceDatasetsRows[] = {
    {"AutoShardDataset(input_dataset: variant, num_workers: int64, index: int64) -> (handle: "
     "variant) | auto_shard_policy: int = 0; output_types: list(type) >= 1; output_shapes: "
     "list(shape) >= 1; num_replicas: int = 0",
     scalar, cheap,
     "One worker's share of a dataset: of its files, or of its elements."},
    {"MatchingFilesDataset(patterns: string) -> (handle: variant) | stateful",
     scalar, cheap,
     "The names of files that match patterns."},
    {"GroupByReducerDataset(input_dataset: variant, key_func_other_arguments: "
     "Tkey_func_other_arguments, init_func_other_arguments: Tinit_func_other_arguments, "
     "reduce_func_other_arguments: Treduce_func_other_arguments, "
     "finalize_func_other_arguments: Tfinalize_func_other_arguments) -> (handle: variant) | "
     "key_func: func; init_func: func; reduce_func: func; finalize_func: func; "
     "Tkey_func_other_arguments: list(type) >= 0; Tinit_func_other_arguments: list(type) >= "
     "0; Treduce_func_other_arguments: list(type) >= 0; Tfinalize_func_other_arguments: "
     "list(type) >= 0; output_types: list(type) >= 1; output_shapes: list(shape) >= 1 | "
     "stateful",
     scalar, cheap,
     "One element for each key: what a function makes of all of its elements."},
    {"CompressElement(components: input_types) -> (compressed: variant) | input_types: "
     "list(type) >= 1",
     scalar, cheap,
     "An element as one compressed value."},
    {"UncompressElement(compressed: variant) -> (components: output_types) | output_types: "
     "list(type) >= 1; output_shapes: list(shape) >= 1",
     declared_shapes, cheap,
     "The element of a compressed value."},
    {"_UnpackedValue(packed: string) -> (value: variant)",
     unknown, cheap,
     "A value that graphs can't hold, written by those that hold a dataset."},
    {"InitializeTableFromDataset(table_handle: resource, dataset: variant) -> () | stateful",
     none, cheap,
     "Fills a table with the pairs of a dataset."},
    {"DummyIterationCounter() -> (handle: resource) | stateful",
     scalar, cheap,
     "Counts how often a dataset of a service was gone through."},
    {"RegisterDataset(dataset: variant, address: string, protocol: string) -> (dataset_id: "
     "int64) | external_state_policy: int; element_spec: string = ''; metadata: string = ''",
     scalar, cheap,
     "Makes a dataset known to a service."},
    {"RegisterDatasetV2(dataset: variant, address: string, protocol: string) -> (dataset_id: "
     "string) | external_state_policy: int; element_spec: string = ''; requested_dataset_id: "
     "string = ''; metadata: string = ''",
     scalar, cheap,
     "Makes a dataset known to a service."},
    {"DataServiceDataset(dataset_id: int64, processing_mode: string, address: string, "
     "protocol: string, job_name: string, max_outstanding_requests: int64, "
     "iteration_counter: resource) -> (handle: variant) | task_refresh_interval_hint_ms: int "
     "= -1; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; "
     "data_transfer_protocol: string = ''; target_workers: string = 'AUTO'; "
     "cross_trainer_cache_options: string = '' | stateful",
     scalar, cheap,
     "The elements of a dataset that a service runs."},
    {"DataServiceDatasetV2(dataset_id: int64, processing_mode: string, address: string, "
     "protocol: string, job_name: string, consumer_index: int64, num_consumers: int64, "
     "max_outstanding_requests: int64, iteration_counter: resource) -> (handle: variant) | "
     "task_refresh_interval_hint_ms: int = -1; output_types: list(type) >= 1; output_shapes: "
     "list(shape) >= 1; data_transfer_protocol: string = ''; target_workers: string = "
     "'AUTO'; cross_trainer_cache_options: string = '' | stateful",
     scalar, cheap,
     "The elements of a dataset that a service runs."},
    {"DataServiceDatasetV3(dataset_id: int64, processing_mode: string, address: string, "
     "protocol: string, job_name: string, consumer_index: int64, num_consumers: int64, "
     "max_outstanding_requests: int64, iteration_counter: resource) -> (handle: variant) | "
     "task_refresh_interval_hint_ms: int = -1; output_types: list(type) >= 1; output_shapes: "
     "list(shape) >= 1; data_transfer_protocol: string = ''; target_workers: string = "
     "'AUTO'; uncompress: bool = false; uncompress_fn: func; cross_trainer_cache_options: "
     "string = '' | stateful",
     scalar, cheap,
     "The elements of a dataset that a service runs."},
    {"DataServiceDatasetV4(dataset_id: string, processing_mode: string, address: string, "
     "protocol: string, job_name: string, consumer_index: int64, num_consumers: int64, "
     "max_outstanding_requests: int64, iteration_counter: resource) -> (handle: variant) | "
     "task_refresh_interval_hint_ms: int = -1; output_types: list(type) >= 1; output_shapes: "
     "list(shape) >= 1; data_transfer_protocol: string = ''; target_workers: string = "
     "'AUTO'; uncompress: bool = false; uncompress_fn: func; cross_trainer_cache_options: "
     "string = '' | stateful",
     scalar, cheap,
     "The elements of a dataset that a service runs."},
};

}  // namespace

std::span<const OpRow> service_dataset_ops() { return kServiceDatasetsRows; }

}  // namespace emplace::stdops
