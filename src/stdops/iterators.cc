// What goes through datasets, and other operations on them.
#include "op/shape_context.h"
#include "stdops/datasets.h"

namespace emplace::stdops {
namespace {

using namespace shape_rules;
using namespace cost_rules;

void handle_and_deleter(ShapeContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, Shape{});
}

void serialized_state(ShapeContext& c) { c.set_output(0, Shape{Shape::kUnknown}); }

constexpr OpRow kIteratorsRows[] = {
    {"AnonymousIterator() -> (handle: resource) | output_types: list(type) >= 1; "
     "output_shapes: list(shape) >= 1 | stateful",
     scalar, cheap,
     "An iterator that its handles own."},
    {"AnonymousIteratorV2() -> (handle: resource, deleter: variant) | output_types: list(type)"
     " >= 1; output_shapes: list(shape) >= 1 | stateful",
     handle_and_deleter, cheap,
     "An iterator that its handles own."},
    {"AnonymousIteratorV3() -> (handle: resource) | output_types: list(type) >= 1; "
     "output_shapes: list(shape) >= 1 | stateful",
     scalar, cheap,
     "An iterator that its handles own."},
    {"Iterator() -> (handle: resource) | shared_name: string; container: string; output_types:"
     " list(type) >= 1; output_shapes: list(shape) >= 1 | stateful",
     scalar, cheap,
     "A named iterator."},
    {"IteratorV2() -> (handle: resource) | shared_name: string; container: string; "
     "output_types: list(type) >= 1; output_shapes: list(shape) >= 1 | stateful",
     scalar, cheap,
     "A named iterator."},
    {"OneShotIterator() -> (handle: resource) | dataset_factory: func; output_types: "
     "list(type) >= 1; output_shapes: list(shape) >= 1; container: string = ''; shared_name: "
     "string = '' | stateful",
     scalar, cheap,
     "An iterator over what a function gives."},
    {"MakeIterator(dataset: variant, iterator: resource) -> () | stateful",
     none, cheap,
     "Lets an iterator begin at the start of a dataset."},
    {"DeleteIterator(handle: resource, deleter: variant) -> () | stateful",
     none, cheap,
     "Ends an iterator."},
    {"IteratorGetNext(iterator: resource) -> (components: output_types) | output_types: "
     "list(type) >= 1; output_shapes: list(shape) >= 1 | stateful",
     declared_shapes, cheap,
     "The next element; OutOfRange when there is none."},
    {"IteratorGetNextSync(iterator: resource) -> (components: output_types) | output_types: "
     "list(type) >= 1; output_shapes: list(shape) >= 1 | stateful",
     declared_shapes, cheap,
     "The next element; OutOfRange when there is none."},
    {"IteratorGetNextAsOptional(iterator: resource) -> (optional: variant) | output_types: "
     "list(type) >= 1; output_shapes: list(shape) >= 1 | stateful",
     scalar, cheap,
     "The next element, if there is one."},
    {"IteratorToStringHandle(resource_handle: resource) -> (string_handle: string) | stateful",
     scalar, cheap,
     "A text that stands for an iterator."},
    {"IteratorFromStringHandle(string_handle: string) -> (resource_handle: resource) | "
     "output_types: list(type) >= 0 = []; output_shapes: list(shape) >= 0 = [] | stateful",
     scalar, cheap,
     "The iterator that a text stands for."},
    {"IteratorFromStringHandleV2(string_handle: string) -> (resource_handle: resource) | "
     "output_types: list(type) >= 0 = []; output_shapes: list(shape) >= 0 = [] | stateful",
     scalar, cheap,
     "The iterator that a text stands for."},
    {"IteratorGetDevice(resource: resource) -> (device: string) | stateful",
     scalar, cheap,
     "Where an iterator is."},
    {"IteratorGetModelProto(iterator: resource) -> (model_proto: string) | stateful",
     scalar, cheap,
     "Where the time of a pipeline goes, as a message."},
    {"_DatasetGetModelProto(input_dataset: variant) -> (model_proto: string) | stateful",
     scalar, cheap,
     "Where the time went when a dataset was last gone through, as a message."},
    {"MultiDeviceIterator() -> (handle: resource) | devices: list(string) >= 1; shared_name: "
     "string; container: string; output_types: list(type) >= 1; output_shapes: list(shape) >= 1 "
     "| stateful",
     scalar, cheap,
     "A named iterator whose elements go to several devices in turn."},
    {"AnonymousMultiDeviceIterator() -> (handle: resource, deleter: variant) | devices: "
     "list(string) >= 1; output_types: list(type) >= 1; output_shapes: list(shape) >= 1 | "
     "stateful",
     handle_and_deleter, cheap,
     "An iterator that its handles own, whose elements go to several devices in turn."},
    {"AnonymousMultiDeviceIteratorV3() -> (handle: resource) | devices: list(string) >= 1; "
     "output_types: list(type) >= 1; output_shapes: list(shape) >= 1 | stateful",
     scalar, cheap,
     "An iterator that its handles own, whose elements go to several devices in turn."},
    {"MultiDeviceIteratorInit(dataset: variant, multi_device_iterator: resource, "
     "max_buffer_size: int64) -> (incarnation_id: int64) | stateful",
     scalar, cheap,
     "Lets an iterator for several devices begin at the start of a dataset."},
    {"MultiDeviceIteratorGetNextFromShard(multi_device_iterator: resource, shard_num: int32, "
     "incarnation_id: int64) -> (components: output_types) | output_types: list(type) >= 1; "
     "output_shapes: list(shape) >= 1 | stateful",
     declared_shapes, cheap,
     "The next element for one of several devices; OutOfRange when there is none."},
    {"MultiDeviceIteratorToStringHandle(multi_device_iterator: resource) -> (string_handle: "
     "string) | stateful",
     scalar, cheap,
     "A text that stands for an iterator."},
    {"MultiDeviceIteratorFromStringHandle(string_handle: string) -> (multi_device_iterator: "
     "resource) | output_types: list(type) >= 0 = []; output_shapes: list(shape) >= 0 = [] | "
     "stateful",
     scalar, cheap,
     "The iterator that a text stands for."},
    {"DeleteMultiDeviceIterator(multi_device_iterator: resource, iterators: N*resource, deleter: "
     "variant) -> () | N: int >= 0 | stateful",
     none, cheap,
     "Ends an iterator."},
    {"DummySeedGenerator() -> (handle: resource) | stateful",
     scalar, cheap,
     "No seeds: a dataset makes its own."},
    {"AnonymousSeedGenerator(seed: int64, seed2: int64, reshuffle: bool) -> (handle: resource,"
     " deleter: variant) | stateful",
     handle_and_deleter, cheap,
     "Seeds, a pair for each round."},
    {"AnonymousRandomSeedGenerator(seed: int64, seed2: int64) -> (handle: resource, deleter: "
     "variant) | stateful",
     handle_and_deleter, cheap,
     "Seeds, another pair for each round."},
    {"DeleteSeedGenerator(handle: resource, deleter: variant) -> () | stateful",
     none, cheap,
     "Ends a generator of seeds."},
    {"DeleteRandomSeedGenerator(handle: resource, deleter: variant) -> () | stateful",
     none, cheap,
     "Ends a generator of seeds."},
    {"DatasetCardinality(input_dataset: variant) -> (cardinality: int64) | "
     "cardinality_options: string = ''",
     scalar, cheap,
     "How many elements a dataset has: -1 without end, -2 not known."},
    {"DatasetFingerprint(input_dataset: variant) -> (fingerprint: uint64)",
     scalar, cheap,
     "A number that datasets made in the same way have in common."},
    {"DatasetToGraph(input_dataset: variant) -> (graph: string) | stateful_whitelist: "
     "list(string) >= 0 = []; allow_stateful: bool = false; strip_device_assignment: bool = false",
     scalar, cheap,
     "A dataset as a serialized GraphDef."},
    {"DatasetToGraphV2(input_dataset: variant) -> (graph: string) | external_state_policy: int = "
     "0; strip_device_assignment: bool = false",
     scalar, cheap,
     "A dataset as a serialized GraphDef."},
    {"DatasetFromGraph(graph_def: string) -> (handle: variant)",
     scalar, cheap,
     "The dataset that a serialized GraphDef makes."},
    {"DatasetToTFRecord(input_dataset: variant, filename: string, compression_type: string) -> () "
     "| stateful",
     none, cheap,
     "Writes the strings of a dataset to a file of records."},
    {"ExperimentalDatasetToTFRecord(input_dataset: variant, filename: string, compression_type: "
     "string) -> () | stateful",
     none, cheap,
     "Writes the strings of a dataset to a file of records."},
    {"DatasetToSingleElement(dataset: variant) -> (components: output_types) | output_types: "
     "list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = '' | stateful",
     declared_shapes, cheap,
     "The only element of a dataset."},
    {"ReduceDataset(input_dataset: variant, initial_state: Tstate, other_arguments: "
     "Targuments) -> (components: output_types) | f: func; Tstate: list(type) >= 1; "
     "Targuments: list(type) >= 0; output_types: list(type) >= 1; output_shapes: list(shape) "
     ">= 1; use_inter_op_parallelism: bool = true; metadata: string = '' | stateful",
     declared_shapes, cheap,
     "All elements of a dataset folded into a state."},
    {"WrapDatasetVariant(input_handle: variant) -> (output_handle: variant)",
     scalar, cheap,
     "A dataset as a plain value."},
    {"UnwrapDatasetVariant(input_handle: variant) -> (output_handle: variant)",
     scalar, cheap,
     "The dataset in a plain value."},
    {"DummyMemoryCache() -> (handle: resource) | stateful",
     scalar, cheap,
     "No cache: a dataset makes its own."},
    {"AnonymousMemoryCache() -> (handle: resource, deleter: variant) | stateful",
     handle_and_deleter, cheap,
     "What a dataset keeps."},
    {"DeleteMemoryCache(handle: resource, deleter: variant) -> () | stateful",
     none, cheap,
     "Ends a cache."},
    {"SerializeIterator(resource_handle: resource) -> (serialized: variant) | "
     "external_state_policy: int = 0 | stateful",
     serialized_state, cheap,
     "Where an iterator is."},
    {"DeserializeIterator(resource_handle: resource, serialized: variant) -> () | stateful",
     none, cheap,
     "Puts an iterator where it was."},
    {"SaveDataset(input_dataset: variant, path: string, shard_func_other_args: "
     "Tshard_func_args) -> () | compression: string = ''; shard_func: func; use_shard_func: "
     "bool = true; Tshard_func_args: list(type) >= 0 | stateful",
     none, cheap,
     "Writes the elements of a dataset to a folder."},
};

}  // namespace

std::span<const OpRow> iterator_ops() { return kIteratorsRows; }

}  // namespace emplace::stdops
