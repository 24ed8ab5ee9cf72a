// Parts of tensors: slices, gathers, scatters.
#include "op/shape_context.h"
#include "op/strided_slice.h"
#include <fmt/format.h>

#include "stdops/stdops.h"

namespace emplace::stdops {
namespace {

using namespace shape_rules;
using namespace cost_rules;

SliceSpec spec_from(ShapeContext& c, int first) {
  SliceSpec spec;
  spec.begin = c.input_as_vector(first);
  spec.end = c.input_as_vector(first + 1);
  spec.strides = c.input_as_vector(first + 2);
  spec.read_masks(c.attrs());
  int64_t n = Shape::kUnknown;
  for (int i = first; i < first + 3; ++i) n = c.merge_dims(n, c.with_rank(i, 1)[0]);
  spec.entries = static_cast<int>(n);
  if (n > 32) throw invalid_argument("Slice specs have at most 32 entries");
  return spec;
}

void strided_slice(ShapeContext& c) {
  const SliceSpec spec = spec_from(c, 1);
  if (spec.entries < 0 || !c.input(0).has_rank()) return c.set_output(0, Shape::unknown());
  c.set_output(0, plan_slice(c.input(0), spec).result);
}

void strided_slice_grad(ShapeContext& c) { c.set_output(0, c.input_as_shape(0)); }

void slice(ShapeContext& c) {
  const Shape& in = c.input(0);
  const int64_t n = c.merge_dims(c.with_rank(1, 1)[0], c.with_rank(2, 1)[0]);
  if (!in.has_rank() && n < 0) return c.set_output(0, Shape::unknown());
  const int rank = in.has_rank() ? in.rank() : static_cast<int>(n);
  if (n >= 0) c.merge_dims(n, rank);
  const auto begin = c.input_as_vector(1), size = c.input_as_vector(2);
  Shape out = Shape::unknown_dims(rank);
  if (!size)
    if (const Shape some = c.input_as_shape(2); some.has_rank() && some.rank() == rank) out = some;
  for (int i = 0; i < rank && size; ++i) {
    const auto u = static_cast<size_t>(i);
    const int64_t dim = in.has_rank() ? in[i] : Shape::kUnknown;
    const int64_t b = begin ? (*begin)[u] : Shape::kUnknown, s = (*size)[u];
    if (s < -1) throw invalid_argument(fmt::format("Expected size[{}] in [-1, ...], got {}", i, s));
    if (begin && (b < 0 || (dim >= 0 && b > dim)))
      throw invalid_argument(
          fmt::format("Slice of {} elements at {} is not inside dimension {} of {}", s, b, i, dim));
    if (s >= 0) out.set_dim(i, s);  // whether there are as many is seen when it runs
    else if (begin && dim >= 0) out.set_dim(i, dim - b);
  }
  c.set_output(0, std::move(out));
}

void append(Shape& to, const Shape& from, int begin, int end) {
  for (int i = begin; i < end; ++i) to.push_back(from[i]);
}

// params[:axis] + indices[batch_dims:] + params[axis + 1:]
void gather_along(ShapeContext& c, const Shape& params, const Shape& indices,
                  std::optional<int64_t> axis, int64_t batch) {
  if (!params.has_rank() || !indices.has_rank() || !axis) {
    const bool ranks = params.has_rank() && indices.has_rank() && batch >= 0;
    const int rank = params.rank() + indices.rank() - 1 - static_cast<int>(batch);
    return c.set_output(0, ranks && rank >= 0 ? Shape::unknown_dims(rank) : Shape::unknown());
  }
  if (params.rank() == 0) throw invalid_argument("Shape must be at least rank 1 but is rank 0");
  const int at = c.wrapped_axis(*axis, params.rank());
  if (batch < 0) batch += indices.rank();
  if (batch < 0 || batch > indices.rank() || batch > at)
    throw invalid_argument(fmt::format("batch_dims {} must not exceed axis {} or the rank of "
                                       "indices {}", batch, at, indices.rank()));
  Shape out;
  for (int i = 0; i < at; ++i)
    out.push_back(i < batch ? c.merge_dims(params[i], indices[i]) : params[i]);
  append(out, indices, static_cast<int>(batch), indices.rank());
  append(out, params, at + 1, params.rank());
  c.set_output(0, std::move(out));
}

void gather(ShapeContext& c) { gather_along(c, c.input(0), c.input(1), 0, 0); }

void gather_v2(ShapeContext& c) {
  gather_along(c, c.input(0), c.input(1), c.input_as_scalar(2), c.attr<int64_t>("batch_dims"));
}

Shape handle_shape(ShapeContext& c) {
  const HandleInfo& h = c.input_handle(0);
  return h.dtype == DType::kInvalid ? Shape::unknown() : h.shape;
}

void resource_gather(ShapeContext& c) {
  const int64_t batch = c.attr<int64_t>("batch_dims");
  gather_along(c, handle_shape(c), c.input(1), batch, batch);
}

void gather_nd_from(ShapeContext& c, const Shape& params, const Shape& indices) {
  if (!params.has_rank() || !indices.has_rank() || indices.rank() == 0 ||
      indices[indices.rank() - 1] < 0)
    return c.set_output(0, Shape::unknown());
  const int64_t depth = indices[indices.rank() - 1];
  if (depth > params.rank())
    throw invalid_argument(fmt::format("indices.shape[-1] must be <= params.rank, but saw indices "
                                       "shape: {} and params shape: {}", indices.str(),
                                       params.str()));
  Shape out;
  append(out, indices, 0, indices.rank() - 1);
  append(out, params, static_cast<int>(depth), params.rank());
  c.set_output(0, std::move(out));
}

void gather_nd(ShapeContext& c) { gather_nd_from(c, c.input(0), c.with_rank_at_least(1, 1)); }
void resource_gather_nd(ShapeContext& c) {
  gather_nd_from(c, handle_shape(c), c.with_rank_at_least(1, 1));
}

void scatter_nd(ShapeContext& c) { c.set_output(0, c.input_as_shape(2)); }

constexpr OpRow kSliceRows[] = {
    {"Slice(input: T, begin: Index, size: Index) -> (output: T) | T: type; Index: type in [int32,"
     "int64]",
     slice, moved,
     "The part of a tensor from begin, of the given size."},
    {"StridedSlice(input: T, begin: Index, end: Index, strides: Index) -> (output: T) | T: type; "
     "Index: type in [int16,int32,int64]; begin_mask: int = 0; end_mask: int = 0; ellipsis_mask: "
     "int = 0; new_axis_mask: int = 0; shrink_axis_mask: int = 0",
     strided_slice, moved,
     "A slice with steps, new and dropped dimensions."},
    {"StridedSliceGrad(shape: Index, begin: Index, end: Index, strides: Index, dy: T) -> "
     "(output: T) | T: type; Index: type in [int32,int64]; begin_mask: int = 0; end_mask: int = "
     "0; ellipsis_mask: int = 0; new_axis_mask: int = 0; shrink_axis_mask: int = 0",
     strided_slice_grad, moved,
     "The gradient of StridedSlice."},
    {"StridedSliceAssign(ref: ref T, begin: Index, end: Index, strides: Index, value: T) -> "
     "(output_ref: ref T) | T: type; Index: type in [int32,int64]; begin_mask: int = 0; "
     "end_mask: int = 0; ellipsis_mask: int = 0; new_axis_mask: int = 0; shrink_axis_mask: int = "
     "0",
     unchanged, updates,
     "Sets a slice of a variable."},
    {"ResourceStridedSliceAssign(ref: resource, begin: Index, end: Index, strides: Index, value: "
     "T) -> () | T: type; Index: type in [int32,int64]; begin_mask: int = 0; end_mask: int = 0; "
     "ellipsis_mask: int = 0; new_axis_mask: int = 0; shrink_axis_mask: int = 0 | stateful",
     none, updates,
     "Sets a slice of a variable."},
    {"TensorStridedSliceUpdate(input: T, begin: Index, end: Index, strides: Index, value: T) -> "
     "(output: T) | T: type; Index: type in [int32,int64]; begin_mask: int = 0; end_mask: int = "
     "0; ellipsis_mask: int = 0; new_axis_mask: int = 0; shrink_axis_mask: int = 0",
     unchanged, elementwise,
     "The input with one slice replaced."},
    {"Gather(params: Tparams, indices: Tindices) -> (output: Tparams) | validate_indices: bool = "
     "true; Tparams: type; Tindices: type in [int32,int64]",
     gather, moved,
     "Rows of a tensor."},
    {"GatherV2(params: Tparams, indices: Tindices, axis: Taxis) -> (output: Tparams) | "
     "batch_dims: int = 0; Tparams: type; Tindices: type in [int16,int32,int64]; Taxis: type in "
     "[int32,int64]",
     gather_v2, moved,
     "Slices of a tensor along a dimension."},
    {"GatherNd(params: Tparams, indices: Tindices) -> (output: Tparams) | Tparams: type; "
     "Tindices: type in [int16,int32,int64]; bad_indices_policy: string = ''",
     gather_nd, moved,
     "Slices of a tensor, each found by several indices."},
    {"ResourceGather(resource: resource, indices: Tindices) -> (output: dtype) | batch_dims: int "
     "= 0; validate_indices: bool = true; dtype: type; Tindices: type in [int32,int64] | stateful",
     resource_gather, moved,
     "Rows of a variable."},
    {"ResourceGatherNd(resource: resource, indices: Tindices) -> (output: dtype) | dtype: type; "
     "Tindices: type in [int32,int64] | stateful",
     resource_gather_nd, moved,
     "Slices of a variable, each found by several indices."},
    {"ScatterNd(indices: Tindices, updates: T, shape: Tindices) -> (output: T) | T: type; "
     "Tindices: type in [int16,int32,int64]; bad_indices_policy: string = ''",
     scatter_nd, elementwise,
     "A tensor of zeros with updates added at the indices."},
    {"ScatterNdNonAliasingAdd(input: T, indices: Tindices, updates: T) -> (output: T) | T: type "
     "in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,"
     "qint16,quint16,uint16,complex128,half,uint32,uint64,bool]; Tindices: type in [int32,int64];"
     " bad_indices_policy: string = ''",
     unchanged, elementwise,
     "The input with updates added at the indices."},
    {"TensorScatterUpdate(tensor: T, indices: Tindices, updates: T) -> (output: T) | T: type; "
     "Tindices: type in [int16,int32,int64,uint16]; bad_indices_policy: string = ''",
     unchanged, elementwise,
     "The tensor with slices replaced."},
    {"TensorScatterAdd(tensor: T, indices: Tindices, updates: T) -> (output: T) | T: type; "
     "Tindices: type in [int32,int64]; bad_indices_policy: string = ''",
     unchanged, elementwise,
     "The tensor with updates added."},
    {"TensorScatterSub(tensor: T, indices: Tindices, updates: T) -> (output: T) | T: type; "
     "Tindices: type in [int32,int64]; bad_indices_policy: string = ''",
     unchanged, elementwise,
     "The tensor with updates subtracted."},
    {"TensorScatterMax(tensor: T, indices: Tindices, updates: T) -> (output: T) | T: type; "
     "Tindices: type in [int32,int64]; bad_indices_policy: string = ''",
     unchanged, elementwise,
     "The tensor, or the updates where they are larger."},
    {"TensorScatterMin(tensor: T, indices: Tindices, updates: T) -> (output: T) | T: type; "
     "Tindices: type in [int32,int64]; bad_indices_policy: string = ''",
     unchanged, elementwise,
     "The tensor, or the updates where they are smaller."},
};

}  // namespace

std::span<const OpRow> slice_ops() { return kSliceRows; }

}  // namespace emplace::stdops
