// Examples as bytes.
#include "op/shape_context.h"
#include "stdops/more.h"

namespace emplace::stdops {
namespace {

using namespace shape_rules;
using namespace cost_rules;

constexpr int64_t kAny = Shape::kUnknown;

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

constexpr OpRow kRows[] = {
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
};

}  // namespace

std::span<const OpRow> parse_ops() { return kRows; }

}  // namespace emplace::stdops
