// Tensors joined, cut and turned.
#include "op/dims.h"
#include "op/shape_context.h"
#include <fmt/format.h>

#include "stdops/stdops.h"

namespace emplace::stdops {
namespace {

using namespace shape_rules;
using namespace cost_rules;

// Dimensions [begin, end).
Shape part(const Shape& s, int begin, int end) {
  Shape p;
  for (int i = begin; i < end; ++i) p.push_back(s[i]);
  return p;
}

// Inputs [begin, end) joined along the axis that input `axis_at` says; asked for when all have the
// same rank.
void concat_along(ShapeContext& c, int begin, int end, int axis_at) {
  int rank = -1;
  for (int i = begin; i < end && rank < 0; ++i) rank = c.input(i).rank();
  if (rank < 0) return c.set_output(0, Shape::unknown());
  if (rank == 0)
    throw invalid_argument("Can't concatenate scalars (use tf.stack instead)");
  for (int i = begin; i < end; ++i) c.with_rank(i, rank);
  const auto axis = c.input_as_scalar(axis_at);
  if (!axis) return c.set_output(0, Shape::unknown_dims(rank));
  const int at = c.wrapped_axis(*axis, rank);
  Shape out = c.with_rank(begin, rank);
  int64_t total = out[at];
  Shape before = part(out, 0, at), after = part(out, at + 1, rank);
  for (int i = begin + 1; i < end; ++i) {
    const Shape other = c.with_rank(i, rank);
    total = add_dims(total, other[at]);
    before = c.merge(before, part(other, 0, at));
    after = c.merge(after, part(other, at + 1, rank));
  }
  before.push_back(total);
  for (int i = 0; i < after.rank(); ++i) before.push_back(after[i]);
  c.set_output(0, std::move(before));
}

void concat(ShapeContext& c) {
  c.with_rank(0, 0);
  concat_along(c, 1, c.num_inputs(), 0);
}

void concat_v2(ShapeContext& c) {
  const int last = c.num_inputs() - 1;
  c.with_rank(last, 0);
  concat_along(c, 0, last, last);
}

void split(ShapeContext& c) {
  c.with_rank(0, 0);
  const Shape& in = c.input(1);
  const auto axis = c.input_as_scalar(0);
  Shape out = in.has_rank() ? Shape::unknown_dims(in.rank()) : Shape::unknown();
  if (axis && in.has_rank()) {
    const int at = c.wrapped_axis(*axis, in.rank());
    const int64_t n = c.num_outputs();
    out = in;
    if (in[at] >= 0 && in[at] % n != 0)
      throw invalid_argument(
          fmt::format("Dimension size must be evenly divisible by {} but is {}\n\tNumber of ways to "
                      "split should evenly divide the split dimension",
                      n, in[at]));
    if (in[at] >= 0) out.set_dim(at, in[at] / n);
  }
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, out);
}

void transpose(ShapeContext& c) {
  const Shape &in = c.input(0), &perm_shape = c.input(1);
  if (perm_shape.has_rank()) c.with_rank(1, 1);
  const int64_t given = perm_shape.rank() == 1 ? perm_shape[0] : Shape::kUnknown;
  if (in.has_rank() && given >= 0 && given != in.rank())
    throw invalid_argument(fmt::format("Dimension must be {} but is {}", in.rank(), given));
  const auto perm = c.input_as_vector(1);
  const int rank = in.has_rank() ? in.rank() : static_cast<int>(given);
  if (rank < 0) return c.set_output(0, Shape::unknown());
  c.with_rank(0, rank);
  Shape out = Shape::unknown_dims(rank);
  if (perm && in.has_rank())
    for (int i = 0; i < rank; ++i)
      out.set_dim(i, in[c.wrapped_axis((*perm)[static_cast<size_t>(i)], rank)]);
  c.set_output(0, std::move(out));
}

constexpr OpRow kJoinRows[] = {
    {"Concat(concat_dim: int32, values: N*T) -> (output: T) | N: int >= 2; T: type",
     concat, elementwise,
     "Tensors joined along a dimension."},
    {"ConcatV2(values: N*T, axis: Tidx) -> (output: T) | N: int >= 2; T: type; Tidx: type in "
     "[int32,int64] = int32",
     concat_v2, elementwise,
     "Tensors joined along a dimension."},
    {"Split(split_dim: int32, value: T) -> (output: num_split*T) | num_split: int >= 1; T: type",
     split, moved,
     "A tensor cut into equal parts."},
    {"Transpose(x: T, perm: Tperm) -> (y: T) | T: type; Tperm: type in [int32,int64] = int32",
     transpose, transposed,
     "Dimensions in another order."},
    {"ConjugateTranspose(x: T, perm: Tperm) -> (y: T) | T: type; Tperm: type in [int32,int64] = "
     "int32",
     transpose, transposed,
     "Dimensions in another order, conjugated."},
};

}  // namespace

std::span<const OpRow> join_ops() { return kJoinRows; }

}  // namespace emplace::stdops
