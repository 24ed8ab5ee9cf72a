// Checkpoints, files, and the messages that event files hold.
#include "op/shape_context.h"
#include "stdops/stdops.h"

namespace emplace::stdops {
namespace {

using namespace shape_rules;
using namespace cost_rules;

// A disk's time is not a matter of size: as long as this many operations.
Work slow(const CostContext&) { return {.ops = 1e6}; }

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

void records(ShapeContext& c) {
  for (int i : {0, 1}) c.set_output(i, Shape{Shape::kUnknown});
}

constexpr OpRow kFilesRows[] = {
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
    {"_CheckedPath(path: string) -> (checked: string) | folders: list(string)",
     unchanged, cheap,
     "Lets names of files below certain folders pass."},
    {"MatchingFiles(pattern: string) -> (filenames: string)",
     matching_files, cheap,
     "Files whose names fit a pattern."},
    {"TextLineReader() -> (reader_handle: ref string) | skip_header_lines: int = 0; container: "
     "string = ''; shared_name: string = '' | stateful",
     old_handle, cheap,
     "Gives the lines of files."},
    {"TFRecordReader() -> (reader_handle: ref string) | container: string = ''; shared_name: "
     "string = ''; compression_type: string = '' | stateful",
     old_handle, cheap,
     "Gives the records of files."},
    {"FixedLengthRecordReader() -> (reader_handle: ref string) | header_bytes: int = 0; "
     "record_bytes: int; footer_bytes: int = 0; hop_bytes: int = 0; container: string = ''; "
     "shared_name: string = '' | stateful",
     old_handle, cheap,
     "Gives pieces of files, all of one size."},
    {"WholeFileReader() -> (reader_handle: ref string) | container: string = ''; shared_name: "
     "string = '' | stateful",
     old_handle, cheap,
     "Gives whole files."},
    {"IdentityReader() -> (reader_handle: ref string) | container: string = ''; shared_name: "
     "string = '' | stateful",
     old_handle, cheap,
     "Gives the names of files as they come."},
    {"ReaderRead(reader_handle: ref string, queue_handle: ref string) -> (key: string, value: "
     "string)",
     scalar, cheap,
     "The next record of a reader, from files that a queue names."},
    {"ReaderReadUpTo(reader_handle: ref string, queue_handle: ref string, num_records: int64) -> "
     "(keys: string, values: string)",
     records, cheap,
     "The next records of a reader."},
    {"ReaderNumRecordsProduced(reader_handle: ref string) -> (records_produced: int64)",
     scalar, cheap,
     "How many records a reader has given."},
    {"ReaderNumWorkUnitsCompleted(reader_handle: ref string) -> (units_completed: int64)",
     scalar, cheap,
     "How many files a reader has come through."},
    {"ReaderReset(reader_handle: ref string) -> ()",
     none, cheap,
     "A reader as it was at first."},
    {"ReaderSerializeState(reader_handle: ref string) -> (state: string)",
     scalar, cheap,
     "Where a reader stands, as bytes."},
    {"ReaderRestoreState(reader_handle: ref string, state: string) -> ()",
     none, cheap,
     "A reader as bytes say that it stood."},
    {"TextLineReaderV2() -> (reader_handle: resource) | skip_header_lines: int = 0; container: "
     "string = ''; shared_name: string = '' | stateful",
     scalar, cheap,
     "Gives the lines of files."},
    {"TFRecordReaderV2() -> (reader_handle: resource) | container: string = ''; shared_name: "
     "string = ''; compression_type: string = '' | stateful",
     scalar, cheap,
     "Gives the records of files."},
    {"FixedLengthRecordReaderV2() -> (reader_handle: resource) | header_bytes: int = 0; "
     "record_bytes: int; footer_bytes: int = 0; hop_bytes: int = 0; container: string = ''; "
     "shared_name: string = ''; encoding: string = '' | stateful",
     scalar, cheap,
     "Gives pieces of files, all of one size."},
    {"WholeFileReaderV2() -> (reader_handle: resource) | container: string = ''; shared_name: "
     "string = '' | stateful",
     scalar, cheap,
     "Gives whole files."},
    {"IdentityReaderV2() -> (reader_handle: resource) | container: string = ''; shared_name: "
     "string = '' | stateful",
     scalar, cheap,
     "Gives the names of files as they come."},
    {"ReaderReadV2(reader_handle: resource, queue_handle: resource) -> (key: string, value: "
     "string) | stateful",
     scalar, cheap,
     "The next record of a reader, from files that a queue names."},
    {"ReaderReadUpToV2(reader_handle: resource, queue_handle: resource, num_records: int64) -> "
     "(keys: string, values: string) | stateful",
     records, cheap,
     "The next records of a reader."},
    {"ReaderNumRecordsProducedV2(reader_handle: resource) -> (records_produced: int64) | stateful",
     scalar, cheap,
     "How many records a reader has given."},
    {"ReaderNumWorkUnitsCompletedV2(reader_handle: resource) -> (units_completed: int64) | stateful",
     scalar, cheap,
     "How many files a reader has come through."},
    {"ReaderResetV2(reader_handle: resource) -> () | stateful",
     none, cheap,
     "A reader as it was at first."},
    {"ReaderSerializeStateV2(reader_handle: resource) -> (state: string) | stateful",
     scalar, cheap,
     "Where a reader stands, as bytes."},
    {"ReaderRestoreStateV2(reader_handle: resource, state: string) -> () | stateful",
     none, cheap,
     "A reader as bytes say that it stood."},
    {"DecodeCompressed(bytes: string) -> (output: string) | compression_type: string = ''",
     unchanged, elementwise,
     "Each string unpacked from GZIP or ZLIB."},
};

}  // namespace

std::span<const OpRow> file_ops() { return kFilesRows; }

}  // namespace emplace::stdops
