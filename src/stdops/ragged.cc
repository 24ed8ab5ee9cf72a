// Ragged tensors: values, and where each row ends.
#include <fmt/format.h>

#include "emplace/error.h"
#include "op/shape_context.h"
#include "stdops/more.h"

namespace emplace::stdops {
namespace {

using namespace shape_rules;
using namespace cost_rules;

void ragged_range(ShapeContext& c) {
  int64_t rows = kAny;
  for (int i = 0; i < 3; ++i) {
    const Shape s = c.with_rank_at_most(i, 1);
    if (s.has_rank() && s.rank() == 1) rows = c.merge_dims(rows, s[0]);
    if (!s.has_rank()) return c.set_output(0, Shape{kAny}), c.set_output(1, Shape{kAny});
  }
  bool scalars = true;
  for (int i = 0; i < 3; ++i) scalars = scalars && c.input(i).rank() == 0;
  c.set_output(0, Shape{scalars ? 2 : rows < 0 ? kAny : rows + 1});
  c.set_output(1, Shape{kAny});
}

void ragged_gather(ShapeContext& c) {
  const auto in = static_cast<int>(c.attr<int64_t>("PARAMS_RAGGED_RANK"));
  const auto out = static_cast<int>(c.attr<int64_t>("OUTPUT_RAGGED_RANK"));
  for (int i = 0; i < in; ++i) c.with_rank(i, 1);
  for (int i = 0; i < out; ++i) c.set_output(i, Shape{kAny});
  Shape values = c.with_rank_at_least(in, 1);
  if (values.has_rank()) values.set_dim(0, kAny);
  c.set_output(out, values);
}

void to_variant(ShapeContext& c) {
  const auto levels = static_cast<int>(c.attr<int64_t>("RAGGED_RANK"));
  for (int i = 0; i < levels; ++i) c.with_rank(i, 1);
  if (!c.attr<bool>("batched_input")) return c.set_output(0, Shape{});
  int64_t rows = kAny;
  if (const Shape first = c.input(0); levels > 0 && first.has_rank() && first[0] >= 1)
    rows = first[0] - 1;
  c.set_output(0, Shape{rows});
}

void from_variant(ShapeContext& c) {
  const auto levels = static_cast<int>(c.attr<int64_t>("output_ragged_rank"));
  for (int i = 0; i < levels; ++i) c.set_output(i, Shape{kAny});
  c.set_output(levels, Shape::unknown());
}

void to_sparse(ShapeContext& c) {
  const auto splits = static_cast<int>(c.attr<int64_t>("RAGGED_RANK"));
  const Shape values = c.with_rank_at_least(splits, 1);
  const int64_t rank = values.has_rank() ? splits + values.rank() : kAny;
  const int64_t count = values.is_fully_known() ? values.num_elements() : kAny;
  c.set_output(0, Shape{count, rank});
  c.set_output(1, Shape{count});
  c.set_output(2, Shape{rank});
}

void ragged_bincount(ShapeContext& c) {
  const Shape splits = c.with_rank(0, 1);
  const auto size = c.input_as_scalar(2);
  c.set_output(0, Shape{splits[0] > 0 ? splits[0] - 1 : kAny, size ? *size : kAny});
}

void ragged_counted(ShapeContext& c) {
  c.set_output(0, Shape{kAny, 2});
  c.set_output(1, Shape{kAny});
  c.set_output(2, Shape{2});
}

void ragged_fill_empty_rows(ShapeContext& c) {
  const int64_t count = c.merge_dims(c.with_rank(0, 1)[0], c.with_rank(1, 1)[0]);
  c.with_rank(2, 0);
  c.with_rank(3, 0);
  const auto rows = c.input_as_scalar(2);
  c.set_output(0, Shape{Shape::kUnknown});
  c.set_output(1, Shape{Shape::kUnknown});
  c.set_output(2, Shape{rows && *rows >= 0 ? *rows : Shape::kUnknown});
  c.set_output(3, Shape{count});
}
void ragged_fill_empty_rows_gradient(ShapeContext& c) {
  c.with_rank(1, 1);
  c.set_output(0, c.with_rank(0, 1));
  c.set_output(1, Shape{});
}

constexpr OpRow kRaggedRows[] = {
    {"RaggedTensorToTensor(shape: Tshape, values: T, default_value: T, row_partition_tensors: "
     "num_row_partition_tensors*Tindex) -> (result: T) | T: type; Tindex: type in [int64,int32]; "
     "Tshape: type in [int64,int32]; num_row_partition_tensors: int >= 1; row_partition_types: "
     "list(string)",
     unknown, elementwise,
     "A ragged tensor filled up to a dense one."},
    {"RaggedRange(starts: T, limits: T, deltas: T) -> (rt_nested_splits: Tsplits, "
     "rt_dense_values: T) | T: type in [bfloat16,float,double,int32,int64] = int32; Tsplits: type "
     "in [int32,int64] = int64",
     ragged_range, elementwise,
     "Ranges of numbers, a row each."},
    {"RaggedGather(params_nested_splits: PARAMS_RAGGED_RANK*Tsplits, params_dense_values: Tvalues, "
     "indices: Tindices) -> (output_nested_splits: OUTPUT_RAGGED_RANK*Tsplits, "
     "output_dense_values: Tvalues) | Tvalues: type; Tindices: type in [int32,int64]; Tsplits: type "
     "in [int32,int64] = int64; PARAMS_RAGGED_RANK: int >= 1; OUTPUT_RAGGED_RANK: int >= 0",
     ragged_gather, elementwise,
     "Rows of a ragged tensor."},
    {"RaggedTensorToVariant(rt_nested_splits: RAGGED_RANK*Tsplits, rt_dense_values: Tvalues) -> "
     "(encoded_ragged: variant) | RAGGED_RANK: int >= 0; Tvalues: type; Tsplits: type in "
     "[int32,int64] = int64; batched_input: bool",
     to_variant, elementwise,
     "A ragged tensor as one value, or each of its rows as one."},
    {"RaggedTensorFromVariant(encoded_ragged: variant) -> (output_nested_splits: "
     "output_ragged_rank*Tsplits, output_dense_values: Tvalues) | input_ragged_rank: int >= -1; "
     "output_ragged_rank: int >= 0; Tvalues: type; Tsplits: type in [int32,int64] = int64",
     from_variant, elementwise,
     "The ragged tensor that values hold, stacked where there are several."},
    {"RaggedTensorToSparse(rt_nested_splits: RAGGED_RANK*Tsplits, rt_dense_values: T) -> "
     "(sparse_indices: int64, sparse_values: T, sparse_dense_shape: int64) | RAGGED_RANK: int >= "
     "1; T: type; Tsplits: type in [int32,int64] = int64",
     to_sparse, elementwise,
     "A ragged tensor as a sparse one."},
    {"RaggedBincount(splits: int64, values: Tidx, size: Tidx, weights: T) -> (output: T) | Tidx: "
     "type in [int32,int64]; T: type in [int32,int64,float,double]; binary_output: bool = false",
     ragged_bincount, elementwise,
     "How often each number is in each row."},
    {"RaggedCountSparseOutput(splits: int64, values: T, weights: output_type) -> (output_indices: "
     "int64, output_values: output_type, output_dense_shape: int64) | T: type in [int32,int64]; "
     "minlength: int >= -1 = -1; maxlength: int >= -1 = -1; binary_output: bool; output_type: type "
     "in [int32,int64,float,double]",
     ragged_counted, elementwise,
     "How often each number is in each row, as a sparse tensor."},
    {"RaggedFillEmptyRows(value_rowids: int64, values: T, nrows: int64, default_value: T) -> "
     "(output_value_rowids: int64, output_values: T, empty_row_indicator: bool, reverse_index_map: "
     "int64) | T: type",
     ragged_fill_empty_rows, elementwise,
     "A value for each row that has none."},
    {"RaggedFillEmptyRowsGrad(reverse_index_map: int64, grad_values: T) -> (d_values: T, "
     "d_default_value: T) | T: type",
     ragged_fill_empty_rows_gradient, elementwise,
     "Carries a gradient back through RaggedFillEmptyRows."},
};

}  // namespace

std::span<const OpRow> ragged_ops() { return kRaggedRows; }

}  // namespace emplace::stdops
