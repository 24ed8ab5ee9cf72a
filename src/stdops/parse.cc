// Examples as bytes.
#include "op/shape_context.h"
#include "stdops/more.h"

namespace emplace::stdops {
namespace {

using namespace shape_rules;
using namespace cost_rules;

constexpr OpRow kRows[] = {
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
