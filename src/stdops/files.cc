// Checkpoints, files, and the messages that event files hold.
#include "op/shape_context.h"
#include "stdops/stdops.h"

namespace emplace::stdops {
namespace {

using namespace shape_rules;
using namespace cost_rules;

constexpr double kSlow = 1e6;  // a disk's

double slow(const CostContext&) { return kSlow; }

void names_and_slices(ShapeContext& c) {
  c.with_rank(0, 0);
  ShapeContext::merge(c.with_rank(1, 1), c.with_rank(2, 1));
}

// Shapes are whatever the checkpoint says.
void restore(ShapeContext& c) {
  names_and_slices(c);
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, Shape::unknown());
}

void all_scalars(ShapeContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i) c.with_rank(i, 0);
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, Shape{});
}

void merge_checkpoints(ShapeContext& c) {
  c.with_rank(0, 1);
  c.with_rank(1, 0);
}

void nothing(ShapeContext&) {}

void one_message(ShapeContext& c) { c.set_output(0, Shape{}); }

// Its shape stands in the message.
void parsed(ShapeContext& c) {
  c.with_rank(0, 0);
  c.set_output(0, Shape::unknown());
}

void matching_files(ShapeContext& c) {
  c.with_rank_at_most(0, 1);
  c.set_output(0, Shape{Shape::kUnknown});
}

constexpr OpRow kRows[] = {
    {"SaveV2(prefix: string, tensor_names: string, shape_and_slices: string, tensors: dtypes) -> () "
     "| dtypes: list(type) >= 1 | stateful",
     names_and_slices, slow,
     "Writes tensors as a checkpoint."},
    {"RestoreV2(prefix: string, tensor_names: string, shape_and_slices: string) -> (tensors: dtypes) "
     "| dtypes: list(type) >= 1 | stateful",
     restore, slow,
     "Tensors of a checkpoint."},
    {"MergeV2Checkpoints(checkpoint_prefixes: string, destination_prefix: string) -> () | "
     "delete_old_dirs: bool = true; allow_missing_files: bool = false | stateful",
     merge_checkpoints, slow,
     "Makes one checkpoint of several."},
    {"ShardedFilename(basename: string, shard: int32, num_shards: int32) -> (filename: string)",
     all_scalars, cheap,
     "The name of one file of several: base-00001-of-00005."},
    {"ShardedFilespec(basename: string, num_shards: int32) -> (filename: string)",
     all_scalars, cheap,
     "The pattern of their names."},
    {"DisableCopyOnRead(resource: resource) -> () | stateful",
     nothing, cheap,
     "Says that a variable's readers may share its memory: so they do anyway."},
    {"ScalarSummary(tags: string, values: T) -> (summary: string) | T: type in [float,double,int32,"
     "uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64]",
     one_message, cheap,
     "Numbers, each under its tag."},
    {"HistogramSummary(tag: string, values: T) -> (summary: string) | T: type in [float,double,int32,"
     "uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64] = float",
     one_message, cheap,
     "How values are distributed."},
    {"ImageSummary(tag: string, tensor: T) -> (summary: string) | max_images: int >= 1 = 3; T: type in "
     "[uint8,float,half,double] = float; bad_color: tensor = uint8[255,0,0,255]",
     one_message, slow,
     "Pictures, as PNG files."},
    {"AudioSummaryV2(tag: string, tensor: float, sample_rate: float) -> (summary: string) | "
     "max_outputs: int >= 1 = 3",
     one_message, slow,
     "Sounds, as WAV files."},
    {"TensorSummary(tensor: T) -> (summary: string) | T: type; description: string = ''; labels: "
     "list(string) = []; display_name: string = ''",
     one_message, cheap,
     "A tensor, under the node's name."},
    {"TensorSummaryV2(tag: string, tensor: T, serialized_summary_metadata: string) -> (summary: "
     "string) | T: type",
     one_message, cheap,
     "A tensor, its tag, and who is to show it."},
    {"MergeSummary(inputs: N*string) -> (summary: string) | N: int >= 1",
     one_message, cheap,
     "All values of several summaries; a tag may occur once."},
    {"SerializeTensor(tensor: T) -> (serialized: string) | T: type",
     one_message, cheap,
     "A tensor as a message."},
    {"ParseTensor(serialized: string) -> (output: out_type) | out_type: type",
     parsed, cheap,
     "The tensor that a message holds."},
    {"ReadFile(filename: string) -> (contents: string)",
     all_scalars, slow,
     "What is in a file."},
    {"WriteFile(filename: string, contents: string) -> () | stateful",
     all_scalars, slow,
     "Writes a file."},
    {"MatchingFiles(pattern: string) -> (filenames: string)",
     matching_files, cheap,
     "Files whose names fit a pattern."},
};

}  // namespace

std::span<const OpRow> file_ops() { return kRows; }

}  // namespace emplace::stdops
