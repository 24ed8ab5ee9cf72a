// Examples as bytes.
#include "op/shape_context.h"
#include "stdops/more.h"

namespace emplace::stdops {
namespace {

using namespace shape_rules;
using namespace cost_rules;

void sparse_message(ShapeContext& c) {
  c.with_rank(0, 2);
  c.with_rank(1, 1);
  c.with_rank(2, 1);
  c.set_output(0, Shape{3});
}
void sparse_messages(ShapeContext& c) {
  c.with_rank(0, 2);
  c.with_rank(1, 1);
  c.with_rank(2, 1);
  const auto shape = c.input_as_vector(2);
  c.set_output(0, Shape{shape && !shape->empty() && (*shape)[0] >= 0 ? (*shape)[0] : kAny, 3});
}
void from_messages(ShapeContext& c) {
  c.with_rank_at_least(0, 1);
  c.set_output(0, Shape{kAny, kAny});
  c.set_output(1, Shape{kAny});
  c.set_output(2, Shape{kAny});
}
void from_matrix(ShapeContext& c) {
  c.with_rank(0, 2);
  from_messages(c);
}

constexpr OpRow kParseRows[] = {
    {"ParseExample(serialized: string, names: string, sparse_keys: Nsparse*string, dense_keys: "
     "Ndense*string, dense_defaults: Tdense) -> (sparse_indices: Nsparse*int64, sparse_values: "
     "sparse_types, sparse_shapes: Nsparse*int64, dense_values: Tdense) | Nsparse: int >= 0; "
     "Ndense: int >= 0; sparse_types: list(type) in [float,int64,string] >= 0; Tdense: list(type) "
     "in [float,int64,string] >= 0; dense_shapes: list(shape) >= 0",
     unknown, elementwise,
     "The features of examples: sparse and dense ones."},
    {"SerializeSparse(sparse_indices: int64, sparse_values: T, sparse_shape: int64) -> "
     "(serialized_sparse: out_type) | T: type; out_type: type in [string,variant] = string",
     sparse_message, elementwise,
     "A sparse tensor as three messages."},
    {"SerializeManySparse(sparse_indices: int64, sparse_values: T, sparse_shape: int64) -> "
     "(serialized_sparse: out_type) | T: type; out_type: type in [string,variant] = string",
     sparse_messages, elementwise,
     "Each row of a sparse tensor as three messages."},
    {"DeserializeSparse(serialized_sparse: Tserialized) -> (sparse_indices: int64, sparse_values: "
     "dtype, sparse_shape: int64) | dtype: type; Tserialized: type in [string,variant] = string",
     from_messages, elementwise,
     "The sparse tensor that messages hold; several become one."},
    {"DeserializeManySparse(serialized_sparse: string) -> (sparse_indices: int64, sparse_values: "
     "dtype, sparse_shape: int64) | dtype: type",
     from_matrix, elementwise,
     "Sparse tensors in messages, as the rows of one."},
    {"ParseExampleV2(serialized: string, names: string, sparse_keys: string, dense_keys: string, "
     "ragged_keys: string, dense_defaults: Tdense) -> (sparse_indices: num_sparse*int64, "
     "sparse_values: sparse_types, sparse_shapes: num_sparse*int64, dense_values: Tdense, "
     "ragged_values: ragged_value_types, ragged_row_splits: ragged_split_types) | Tdense: "
     "list(type) in [float,int64,string] >= 0; num_sparse: int >= 0; sparse_types: list(type) in "
     "[float,int64,string] >= 0; ragged_value_types: list(type) in [float,int64,string] >= 0; "
     "ragged_split_types: list(type) in [int32,int64] >= 0; dense_shapes: list(shape) >= 0",
     unknown, elementwise,
     "The features of examples: sparse, dense and ragged ones."},
    {"ParseSingleExample(serialized: string, dense_defaults: Tdense) -> (sparse_indices: "
     "num_sparse*int64, sparse_values: sparse_types, sparse_shapes: num_sparse*int64, "
     "dense_values: Tdense) | num_sparse: int >= 0; sparse_keys: list(string) >= 0; dense_keys: "
     "list(string) >= 0; sparse_types: list(type) in [float,int64,string] >= 0; Tdense: list(type) "
     "in [float,int64,string] >= 0; dense_shapes: list(shape) >= 0",
     unknown, elementwise,
     "The features of one example."},
    {"ParseSequenceExample(serialized: string, debug_name: string, context_dense_defaults: "
     "Tcontext_dense) -> (context_sparse_indices: Ncontext_sparse*int64, context_sparse_values: "
     "context_sparse_types, context_sparse_shapes: Ncontext_sparse*int64, context_dense_values: "
     "Tcontext_dense, feature_list_sparse_indices: Nfeature_list_sparse*int64, "
     "feature_list_sparse_values: feature_list_sparse_types, feature_list_sparse_shapes: "
     "Nfeature_list_sparse*int64, feature_list_dense_values: feature_list_dense_types, "
     "feature_list_dense_lengths: Nfeature_list_dense*int64) | "
     "feature_list_dense_missing_assumed_empty: list(string) >= 0; context_sparse_keys: "
     "list(string) >= 0; context_dense_keys: list(string) >= 0; feature_list_sparse_keys: "
     "list(string) >= 0; feature_list_dense_keys: list(string) >= 0; Ncontext_sparse: int >= 0 = "
     "0; Ncontext_dense: int >= 0 = 0; Nfeature_list_sparse: int >= 0 = 0; Nfeature_list_dense: "
     "int >= 0 = 0; context_sparse_types: list(type) in [float,int64,string] >= 0 = []; "
     "Tcontext_dense: list(type) in [float,int64,string] >= 0 = []; feature_list_dense_types: "
     "list(type) in [float,int64,string] >= 0 = []; context_dense_shapes: list(shape) >= 0 = []; "
     "feature_list_sparse_types: list(type) in [float,int64,string] >= 0 = []; "
     "feature_list_dense_shapes: list(shape) >= 0 = []",
     unknown, elementwise,
     "The features of examples, and their lists over time."},
    {"ParseSequenceExampleV2(serialized: string, debug_name: string, context_sparse_keys: string, "
     "context_dense_keys: string, context_ragged_keys: string, feature_list_sparse_keys: string, "
     "feature_list_dense_keys: string, feature_list_ragged_keys: string, "
     "feature_list_dense_missing_assumed_empty: bool, context_dense_defaults: Tcontext_dense) -> "
     "(context_sparse_indices: Ncontext_sparse*int64, context_sparse_values: context_sparse_types, "
     "context_sparse_shapes: Ncontext_sparse*int64, context_dense_values: Tcontext_dense, "
     "context_ragged_values: context_ragged_value_types, context_ragged_row_splits: "
     "context_ragged_split_types, feature_list_sparse_indices: Nfeature_list_sparse*int64, "
     "feature_list_sparse_values: feature_list_sparse_types, feature_list_sparse_shapes: "
     "Nfeature_list_sparse*int64, feature_list_dense_values: feature_list_dense_types, "
     "feature_list_dense_lengths: Nfeature_list_dense*int64, feature_list_ragged_values: "
     "feature_list_ragged_value_types, feature_list_ragged_outer_splits: "
     "feature_list_ragged_split_types, feature_list_ragged_inner_splits: "
     "feature_list_ragged_split_types) | Ncontext_sparse: int >= 0 = 0; Tcontext_dense: list(type) "
     "in [float,int64,string] >= 0 = []; context_sparse_types: list(type) in [float,int64,string] "
     ">= 0 = []; context_ragged_value_types: list(type) in [float,int64,string] >= 0 = []; "
     "context_ragged_split_types: list(type) in [int32,int64] >= 0 = []; context_dense_shapes: "
     "list(shape) >= 0 = []; Nfeature_list_sparse: int >= 0 = 0; Nfeature_list_dense: int >= 0 = "
     "0; feature_list_dense_types: list(type) in [float,int64,string] >= 0 = []; "
     "feature_list_sparse_types: list(type) in [float,int64,string] >= 0 = []; "
     "feature_list_ragged_value_types: list(type) in [float,int64,string] >= 0 = []; "
     "feature_list_ragged_split_types: list(type) in [int32,int64] >= 0 = []; "
     "feature_list_dense_shapes: list(shape) >= 0 = []",
     unknown, elementwise,
     "The features of examples, and their lists over time; ragged ones too."},
    {"ParseSingleSequenceExample(serialized: string, feature_list_dense_missing_assumed_empty: "
     "string, context_sparse_keys: Ncontext_sparse*string, context_dense_keys: "
     "Ncontext_dense*string, feature_list_sparse_keys: Nfeature_list_sparse*string, "
     "feature_list_dense_keys: Nfeature_list_dense*string, context_dense_defaults: Tcontext_dense, "
     "debug_name: string) -> (context_sparse_indices: Ncontext_sparse*int64, "
     "context_sparse_values: context_sparse_types, context_sparse_shapes: Ncontext_sparse*int64, "
     "context_dense_values: Tcontext_dense, feature_list_sparse_indices: "
     "Nfeature_list_sparse*int64, feature_list_sparse_values: feature_list_sparse_types, "
     "feature_list_sparse_shapes: Nfeature_list_sparse*int64, feature_list_dense_values: "
     "feature_list_dense_types) | Ncontext_sparse: int >= 0 = 0; Ncontext_dense: int >= 0 = 0; "
     "Nfeature_list_sparse: int >= 0 = 0; Nfeature_list_dense: int >= 0 = 0; context_sparse_types: "
     "list(type) in [float,int64,string] >= 0 = []; Tcontext_dense: list(type) in [float,int64,"
     "string] >= 0 = []; feature_list_dense_types: list(type) in [float,int64,string] >= 0 = []; "
     "context_dense_shapes: list(shape) >= 0 = []; feature_list_sparse_types: list(type) in [float,"
     "int64,string] >= 0 = []; feature_list_dense_shapes: list(shape) >= 0 = []",
     unknown, elementwise,
     "The features of one example, and its lists over time."},
};

}  // namespace

std::span<const OpRow> parse_ops() { return kParseRows; }

}  // namespace emplace::stdops
