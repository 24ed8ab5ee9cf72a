// Sparse tensors: indices in order, their values, the shape of the whole.
#include <fmt/format.h>

#include "emplace/error.h"
#include "op/dims.h"
#include "op/shape_context.h"
#include "stdops/more.h"

namespace emplace::stdops {
namespace {

using namespace shape_rules;
using namespace cost_rules;

// How many dimensions the input that holds the shape says there are.
int64_t dims_of(ShapeContext& c, int indices, int shape) {
  return c.merge_dims(c.with_rank(indices, 2)[1], c.with_rank(shape, 1)[0]);
}

void check_triple(ShapeContext& c, int first) {
  c.merge_dims(c.with_rank(first, 2)[0], c.with_rank(first + 1, 1)[0]);
  dims_of(c, first, first + 2);
}

// Outputs: a sparse tensor of so many values and dimensions.
void set_triple(ShapeContext& c, int first, int64_t count, int64_t dims) {
  c.set_output(first, Shape{count, dims});
  c.set_output(first + 1, Shape{count});
  if (first + 2 < c.num_outputs()) c.set_output(first + 2, Shape{dims});
}

void to_dense(ShapeContext& c) {
  c.with_rank_at_most(0, 2);
  c.with_rank(1, 1);
  c.set_output(0, c.input_as_shape(1));
}

void dense_product(ShapeContext& c) {
  c.merge_dims(c.with_rank(0, 2)[0], c.with_rank(1, 1)[0]);
  const Shape shape = c.input_as_shape(2), b = c.with_rank(3, 2);
  const bool adjoint_a = c.attr<bool>("adjoint_a"), adjoint_b = c.attr<bool>("adjoint_b");
  const bool known = shape.has_rank() && shape.rank() == 2;
  if (known) c.merge_dims(shape[adjoint_a ? 0 : 1], b[adjoint_b ? 1 : 0]);
  c.set_output(0, Shape{known ? shape[adjoint_a ? 1 : 0] : kAny, b[adjoint_b ? 0 : 1]});
}

void add(ShapeContext& c) {
  check_triple(c, 0);
  check_triple(c, 3);
  c.with_rank(6, 0);
  set_triple(c, 0, kAny, dims_of(c, 0, 2));
}

void add_gradient(ShapeContext& c) {
  c.with_rank(0, 1);
  c.set_output(0, Shape{c.with_rank(1, 2)[0]});
  c.set_output(1, Shape{c.with_rank(2, 2)[0]});
}

void like_dense(ShapeContext& c) {
  check_triple(c, 0);
  c.set_output(0, c.input(3));
}

void like_values(ShapeContext& c) {
  check_triple(c, 0);
  c.set_output(0, c.input(1));
}

void reduced(ShapeContext& c) {
  check_triple(c, 0);
  c.set_output(0, Shape::unknown());
}

void reduced_sparse(ShapeContext& c) {
  check_triple(c, 0);
  set_triple(c, 0, kAny, kAny);
}

void sparse_concat(ShapeContext& c) {
  const auto n = static_cast<int>(c.attr<int64_t>("N"));
  int64_t count = 0, dims = kAny;
  for (int i = 0; i < n; ++i) {
    const Shape indices = c.with_rank(i, 2);
    c.with_rank(n + i, 1);
    dims = c.merge_dims(dims, c.merge_dims(indices[1], c.with_rank(2 * n + i, 1)[0]));
    count = add_dims(count, indices[0]);
  }
  set_triple(c, 0, count, dims);
}

void reorder(ShapeContext& c) {
  check_triple(c, 0);
  c.set_output(0, c.input(0));
  c.set_output(1, c.input(1));
}

void sparse_reshape(ShapeContext& c) {
  const Shape indices = c.with_rank(0, 2), shape = c.with_rank(2, 1);
  dims_of(c, 0, 1);
  c.set_output(0, Shape{indices[0], shape[0]});
  c.set_output(1, Shape{shape[0]});
}

void sparse_slice(ShapeContext& c) {
  check_triple(c, 0);
  int64_t dims = dims_of(c, 0, 2);
  for (int i : {3, 4}) dims = c.merge_dims(dims, c.with_rank(i, 1)[0]);
  set_triple(c, 0, kAny, dims);
}

void slice_gradient(ShapeContext& c) {
  c.with_rank(0, 1);
  c.set_output(0, Shape{c.with_rank(1, 2)[0]});
}

void sparse_split(ShapeContext& c) {
  check_triple(c, 1);
  const int64_t dims = dims_of(c, 1, 3);
  const auto n = static_cast<int>(c.attr<int64_t>("num_split"));
  for (int i = 0; i < n; ++i) {
    c.set_output(i, Shape{kAny, dims});
    c.set_output(n + i, Shape{kAny});
    c.set_output(2 * n + i, Shape{dims});
  }
}

void sparse_fill_empty_rows(ShapeContext& c) {
  check_triple(c, 0);
  c.with_rank(3, 0);
  const Shape whole = c.input_as_shape(2);
  c.set_output(0, Shape{kAny, dims_of(c, 0, 2)});
  c.set_output(1, Shape{kAny});
  c.set_output(2, Shape{whole.has_rank() && whole.rank() > 0 ? whole[0] : kAny});
  c.set_output(3, Shape{c.with_rank(0, 2)[0]});
}

void sparse_fill_empty_rows_gradient(ShapeContext& c) {
  c.with_rank(1, 1);
  c.set_output(0, c.with_rank(0, 1));
  c.set_output(1, Shape{});
}

void of_two(ShapeContext& c) {
  check_triple(c, 0);
  check_triple(c, 3);
  set_triple(c, 0, kAny, dims_of(c, 0, 2));
}

void sparse_bincount(ShapeContext& c) {
  const auto size = c.input_as_scalar(3);
  const Shape whole = c.input_as_shape(2);
  if (!whole.has_rank()) return c.set_output(0, Shape::unknown());
  Shape out;
  if (whole.rank() == 2) out.push_back(whole[0]);
  out.push_back(size ? *size : kAny);
  c.set_output(0, out);
}

void sparse_counted(ShapeContext& c) { set_triple(c, 0, kAny, kAny); }

void set_of_any(ShapeContext& c) { set_triple(c, 0, kAny, kAny); }

void set_size(ShapeContext& c) { c.set_output(0, Shape::unknown()); }

void dense_product_of_two(ShapeContext& c) {
  const Shape a = c.with_rank(0, 2), b = c.with_rank(1, 2);
  const bool ta = c.attr<bool>("transpose_a"), tb = c.attr<bool>("transpose_b");
  c.merge_dims(a[ta ? 0 : 1], b[tb ? 1 : 0]);
  c.set_output(0, Shape{a[ta ? 1 : 0], b[tb ? 0 : 1]});
}

constexpr OpRow kSparseRows[] = {
    {"SparseToDense(sparse_indices: Tindices, output_shape: Tindices, sparse_values: T, "
     "default_value: T) -> (dense: T) | validate_indices: bool = true; T: type; Tindices: type in "
     "[int32,int64]",
     to_dense, elementwise,
     "A dense tensor with given values at given places."},
    {"SparseTensorDenseMatMul(a_indices: Tindices, a_values: T, a_shape: int64, b: T) -> (product: "
     "T) | T: type; Tindices: type in [int32,int64] = int64; adjoint_a: bool = false; adjoint_b: "
     "bool = false",
     dense_product, elementwise,
     "The product of a sparse matrix and a dense one."},
    {"SparseMatMul(a: Ta, b: Tb) -> (product: float) | transpose_a: bool = false; transpose_b: bool "
     "= false; a_is_sparse: bool = false; b_is_sparse: bool = false; Ta: type in [float,bfloat16] "
     "= float; Tb: type in [float,bfloat16] = float",
     dense_product_of_two, cost_rules::matmul,
     "The product of matrices with many zeros."},
    {"SparseAdd(a_indices: int64, a_values: T, a_shape: int64, b_indices: int64, b_values: T, "
     "b_shape: int64, thresh: Treal) -> (sum_indices: int64, sum_values: T, sum_shape: int64) | T: "
     "type in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,"
     "qint16,quint16,uint16,complex128,half,uint32,uint64]; Treal: type in [float,double,int32,"
     "uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64]",
     add, elementwise,
     "The sum of sparse tensors without what is smaller than a threshold."},
    {"SparseAddGrad(backprop_val_grad: T, a_indices: int64, b_indices: int64, sum_indices: int64) "
     "-> (a_val_grad: T, b_val_grad: T) | T: type in [float,double,int32,uint8,int16,int8,"
     "complex64,int64,qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,complex128,half,uint32,"
     "uint64]",
     add_gradient, elementwise,
     "The gradient of SparseAdd."},
    {"SparseTensorDenseAdd(a_indices: Tindices, a_values: T, a_shape: Tindices, b: T) -> (output: "
     "T) | T: type in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,"
     "bfloat16,qint16,quint16,uint16,complex128,half,uint32,uint64]; Tindices: type in [int32,"
     "int64]",
     like_dense, elementwise,
     "A sparse tensor added to a dense one."},
    {"SparseDenseCwiseAdd(sp_indices: int64, sp_values: T, sp_shape: int64, dense: T) -> (output: "
     "T) | T: type in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,"
     "bfloat16,qint16,quint16,uint16,complex128,half,uint32,uint64]",
     like_values, elementwise,
     "The values of a sparse tensor with those of a dense one added."},
    {"SparseDenseCwiseDiv(sp_indices: int64, sp_values: T, sp_shape: int64, dense: T) -> (output: "
     "T) | T: type in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,"
     "bfloat16,qint16,quint16,uint16,complex128,half,uint32,uint64]",
     like_values, elementwise,
     "The values of a sparse tensor divided by those of a dense one."},
    {"SparseDenseCwiseMul(sp_indices: int64, sp_values: T, sp_shape: int64, dense: T) -> (output: "
     "T) | T: type in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,"
     "bfloat16,qint16,quint16,uint16,complex128,half,uint32,uint64]",
     like_values, elementwise,
     "The values of a sparse tensor times those of a dense one."},
    {"SparseReduceSum(input_indices: int64, input_values: T, input_shape: int64, reduction_axes: "
     "int32) -> (output: T) | keep_dims: bool = false; T: type in [float,double,int32,uint8,int16,"
     "int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,complex128,half,"
     "uint32,uint64]",
     reduced, elementwise,
     "Sums over dimensions of a sparse tensor."},
    {"SparseReduceMax(input_indices: int64, input_values: T, input_shape: int64, reduction_axes: "
     "int32) -> (output: T) | keep_dims: bool = false; T: type in [float,double,int32,uint8,int16,"
     "int8,int64,bfloat16,uint16,half,uint32,uint64]",
     reduced, elementwise,
     "The largest over dimensions of a sparse tensor."},
    {"SparseReduceSumSparse(input_indices: int64, input_values: T, input_shape: int64, "
     "reduction_axes: int32) -> (output_indices: int64, output_values: T, output_shape: int64) | "
     "keep_dims: bool = false; T: type in [float,double,int32,uint8,int16,int8,complex64,int64,"
     "qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,complex128,half,uint32,uint64]",
     reduced_sparse, elementwise,
     "Sums over dimensions of a sparse tensor, as one."},
    {"SparseReduceMaxSparse(input_indices: int64, input_values: T, input_shape: int64, "
     "reduction_axes: int32) -> (output_indices: int64, output_values: T, output_shape: int64) | "
     "keep_dims: bool = false; T: type in [float,double,int32,uint8,int16,int8,int64,bfloat16,"
     "uint16,half,uint32,uint64]",
     reduced_sparse, elementwise,
     "The largest over dimensions of a sparse tensor, as one."},
    {"SparseConcat(indices: N*int64, values: N*T, shapes: N*int64) -> (output_indices: int64, "
     "output_values: T, output_shape: int64) | concat_dim: int; N: int >= 2; T: type",
     sparse_concat, elementwise,
     "Sparse tensors one behind the other."},
    {"SparseReorder(input_indices: int64, input_values: T, input_shape: int64) -> (output_indices: "
     "int64, output_values: T) | T: type",
     reorder, elementwise,
     "A sparse tensor with its indices in order."},
    {"SparseReshape(input_indices: int64, input_shape: int64, new_shape: int64) -> "
     "(output_indices: int64, output_shape: int64)",
     sparse_reshape, elementwise,
     "The indices of a sparse tensor under another shape."},
    {"SparseSlice(indices: int64, values: T, shape: int64, start: int64, size: int64) -> "
     "(output_indices: int64, output_values: T, output_shape: int64) | T: type",
     sparse_slice, elementwise,
     "A part of a sparse tensor."},
    {"SparseSliceGrad(backprop_val_grad: T, input_indices: int64, input_start: int64, "
     "output_indices: int64) -> (val_grad: T) | T: type in [float,double,int32,uint8,int16,int8,"
     "complex64,int64,qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,complex128,half,uint32,"
     "uint64]",
     slice_gradient, elementwise,
     "The gradient of SparseSlice."},
    {"SparseSplit(split_dim: int64, indices: int64, values: T, shape: int64) -> (output_indices: "
     "num_split*int64, output_values: num_split*T, output_shape: num_split*int64) | num_split: int "
     ">= 1; T: type",
     sparse_split, elementwise,
     "A sparse tensor in parts."},
    {"SparseSoftmax(sp_indices: int64, sp_values: T, sp_shape: int64) -> (output: T) | T: type in "
     "[half,float,double]",
     like_values, transcendental,
     "Softmax over what is there in each row."},
    {"SparseFillEmptyRows(indices: int64, values: T, dense_shape: int64, default_value: T) -> "
     "(output_indices: int64, output_values: T, empty_row_indicator: bool, reverse_index_map: "
     "int64) | T: type",
     sparse_fill_empty_rows, elementwise,
     "A sparse tensor with a value in each row that had none."},
    {"SparseFillEmptyRowsGrad(reverse_index_map: int64, grad_values: T) -> (d_values: T, "
     "d_default_value: T) | T: type",
     sparse_fill_empty_rows_gradient, elementwise,
     "The gradient of SparseFillEmptyRows."},
    {"SparseSparseMaximum(a_indices: int64, a_values: T, a_shape: int64, b_indices: int64, "
     "b_values: T, b_shape: int64) -> (output_indices: int64, output_values: T) | T: type in "
     "[float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64]",
     of_two, elementwise,
     "The larger of two sparse tensors, place by place."},
    {"SparseSparseMinimum(a_indices: int64, a_values: T, a_shape: int64, b_indices: int64, "
     "b_values: T, b_shape: int64) -> (output_indices: int64, output_values: T) | T: type in "
     "[float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,"
     "quint16,uint16,complex128,half,uint32,uint64]",
     of_two, elementwise,
     "The smaller of two sparse tensors, place by place."},
    {"SparseBincount(indices: int64, values: Tidx, dense_shape: int64, size: Tidx, weights: T) -> "
     "(output: T) | Tidx: type in [int32,int64]; T: type in [int32,int64,float,double]; "
     "binary_output: bool = false",
     sparse_bincount, elementwise,
     "How often each number is in a sparse tensor."},
    {"DenseCountSparseOutput(values: T, weights: output_type) -> (output_indices: int64, "
     "output_values: output_type, output_dense_shape: int64) | T: type in [int32,int64]; minlength: "
     "int >= -1 = -1; maxlength: int >= -1 = -1; binary_output: bool; output_type: type in [int32,"
     "int64,float,double]",
     sparse_counted, elementwise,
     "How often each number is in a tensor, as a sparse tensor."},
    {"SparseCountSparseOutput(indices: int64, values: T, dense_shape: int64, weights: "
     "output_type) -> (output_indices: int64, output_values: output_type, output_dense_shape: "
     "int64) | T: type in [int32,int64]; minlength: int >= -1 = -1; maxlength: int >= -1 = -1; "
     "binary_output: bool; output_type: type in [int32,int64,float,double]",
     sparse_counted, elementwise,
     "How often each number is in a sparse tensor, as a sparse tensor."},
    {"DenseToDenseSetOperation(set1: T, set2: T) -> (result_indices: int64, result_values: T, "
     "result_shape: int64) | set_operation: string; validate_indices: bool = true; T: type in "
     "[int8,int16,int32,int64,uint8,uint16,string]",
     set_of_any, elementwise,
     "Sets along the last dimension, row by row: a-b, b-a, intersection, union."},
    {"DenseToSparseSetOperation(set1: T, set2_indices: int64, set2_values: T, set2_shape: int64) "
     "-> (result_indices: int64, result_values: T, result_shape: int64) | set_operation: string; "
     "validate_indices: bool = true; T: type in [int8,int16,int32,int64,uint8,uint16,string]",
     set_of_any, elementwise,
     "The same, the second sets in a sparse tensor."},
    {"SparseToSparseSetOperation(set1_indices: int64, set1_values: T, set1_shape: int64, "
     "set2_indices: int64, set2_values: T, set2_shape: int64) -> (result_indices: int64, "
     "result_values: T, result_shape: int64) | set_operation: string; validate_indices: bool = "
     "true; T: type in [int8,int16,int32,int64,uint8,uint16,string]",
     set_of_any, elementwise,
     "The same, all sets in sparse tensors."},
    {"SetSize(set_indices: int64, set_values: T, set_shape: int64) -> (size: int32) | "
     "validate_indices: bool = true; T: type in [int8,int16,int32,int64,uint8,uint16,string]",
     set_size, elementwise,
     "How many there are in each set."},
};

}  // namespace

std::span<const OpRow> sparse_ops() { return kSparseRows; }

}  // namespace emplace::stdops
