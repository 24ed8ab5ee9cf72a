// Datasets that begin a pipeline.
#include "op/shape_context.h"
#include "stdops/datasets.h"

namespace emplace::stdops {
namespace {

using namespace shape_rules;
using namespace cost_rules;

constexpr OpRow kDatasetSourcesRows[] = {
    {"RangeDataset(start: int64, stop: int64, step: int64) -> (handle: variant) | "
     "output_types: list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = ''; "
     "replicate_on_split: bool = false | stateful",
     scalar, cheap,
     "The numbers of a range."},
    {"TensorDataset(components: Toutput_types) -> (handle: variant) | Toutput_types: "
     "list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = '' | stateful",
     scalar, cheap,
     "A dataset of one element."},
    {"TensorSliceDataset(components: Toutput_types) -> (handle: variant) | Toutput_types: "
     "list(type) >= 1; output_shapes: list(shape) >= 1; is_files: bool = false; metadata: "
     "string = ''; replicate_on_split: bool = false | stateful",
     scalar, cheap,
     "The rows of tensors."},
    {"RandomDataset(seed: int64, seed2: int64) -> (handle: variant) | output_types: list(type)"
     " >= 1; output_shapes: list(shape) >= 1; metadata: string = '' | stateful",
     scalar, cheap,
     "Random numbers without end."},
    {"RandomDatasetV2(seed: int64, seed2: int64, seed_generator: resource) -> (handle: "
     "variant) | rerandomize_each_iteration: bool = false; output_types: list(type) >= 1; "
     "output_shapes: list(shape) >= 1; metadata: string = '' | stateful",
     scalar, cheap,
     "Random numbers without end."},
    {"GeneratorDataset(init_func_other_args: Tinit_func_args, next_func_other_args: "
     "Tnext_func_args, finalize_func_other_args: Tfinalize_func_args) -> (handle: variant) | "
     "init_func: func; next_func: func; finalize_func: func; Tinit_func_args: list(type) >= 0;"
     " Tnext_func_args: list(type) >= 0; Tfinalize_func_args: list(type) >= 0; output_types: "
     "list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = '' | stateful",
     scalar, cheap,
     "What a function gives until it says that the end is reached."},
    {"TFRecordDataset(filenames: string, compression_type: string, buffer_size: int64) -> "
     "(handle: variant) | metadata: string = '' | stateful",
     scalar, cheap,
     "The records of files in TensorFlow's format."},
    {"TFRecordDatasetV2(filenames: string, compression_type: string, buffer_size: int64, "
     "byte_offsets: int64) -> (handle: variant) | metadata: string = '' | stateful",
     scalar, cheap,
     "The records of files in TensorFlow's format."},
    {"TextLineDataset(filenames: string, compression_type: string, buffer_size: int64) -> "
     "(handle: variant) | metadata: string = '' | stateful",
     scalar, cheap,
     "The lines of files."},
    {"FixedLengthRecordDataset(filenames: string, header_bytes: int64, record_bytes: int64, "
     "footer_bytes: int64, buffer_size: int64) -> (handle: variant) | metadata: string = '' | "
     "stateful",
     scalar, cheap,
     "The records of files, all of one length."},
    {"FixedLengthRecordDatasetV2(filenames: string, header_bytes: int64, record_bytes: int64, "
     "footer_bytes: int64, buffer_size: int64, compression_type: string) -> (handle: variant) "
     "| metadata: string = '' | stateful",
     scalar, cheap,
     "The records of files, all of one length."},
    {"CSVDataset(filenames: string, compression_type: string, buffer_size: int64, header: "
     "bool, field_delim: string, use_quote_delim: bool, na_value: string, select_cols: int64, "
     "record_defaults: output_types) -> (handle: variant) | output_types: list(type) in "
     "[float,double,int32,int64,string] >= 1; output_shapes: list(shape) >= 1 | stateful",
     scalar, cheap,
     "The records of files of comma-separated values."},
    {"CSVDatasetV2(filenames: string, compression_type: string, buffer_size: int64, header: "
     "bool, field_delim: string, use_quote_delim: bool, na_value: string, select_cols: int64, "
     "record_defaults: output_types, exclude_cols: int64) -> (handle: variant) | output_types:"
     " list(type) in [float,double,int32,int64,string] >= 1; output_shapes: list(shape) >= 1 |"
     " stateful",
     scalar, cheap,
     "The records of files of comma-separated values."},
    {"SqlDataset(driver_name: string, data_source_name: string, query: string) -> (handle: "
     "variant) | output_types: list(type) >= 1; output_shapes: list(shape) >= 1 | stateful",
     scalar, cheap,
     "The rows that a query to a data base gives."},
    {"ExperimentalSqlDataset(driver_name: string, data_source_name: string, query: string) -> "
     "(handle: variant) | output_types: list(type) >= 1; output_shapes: list(shape) >= 1 | "
     "stateful",
     scalar, cheap,
     "The rows that a query to a data base gives."},
    {"ListDataset(tensors: Tinput_types) -> (handle: variant) | Tinput_types: list(type) >= 1;"
     " output_types: list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = '' |"
     " stateful",
     scalar, cheap,
     "Elements as they are listed."},
    {"SparseTensorSliceDataset(indices: int64, values: Tvalues, dense_shape: int64) -> "
     "(handle: variant) | Tvalues: type | stateful",
     scalar, cheap,
     "The rows of a sparse tensor."},
    {"LoadDataset(path: string, reader_func_other_args: Treader_func_args) -> (handle: "
     "variant) | output_types: list(type) >= 1; output_shapes: list(shape) >= 1; compression: "
     "string = ''; reader_func: func; Treader_func_args: list(type) >= 0 | stateful",
     scalar, cheap,
     "The elements that were saved in a folder."},
};

}  // namespace

std::span<const OpRow> dataset_source_ops() { return kDatasetSourcesRows; }

}  // namespace emplace::stdops
