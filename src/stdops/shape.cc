// Shapes as values, and the same values under another shape.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "op/shape_context.h"
#include "stdops/stdops.h"

namespace emplace::stdops {
namespace {

using namespace shape_rules;
using namespace cost_rules;

void shape_of(ShapeContext& c) {
  const Shape& in = c.input(0);
  c.set_output(0, Shape{in.has_rank() ? in.rank() : Shape::kUnknown});
}

void shape_n(ShapeContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i)
    c.set_output(i, Shape{c.input(i).has_rank() ? c.input(i).rank() : Shape::kUnknown});
}

// How many elements the known sizes stand for.
int64_t known_elements(const Shape& s) {
  std::vector<int64_t> known;
  std::ranges::copy_if(s.dims(), std::back_inserter(known), [](int64_t d) { return d >= 0; });
  return checked_elements(known);
}

int count_unknown(const Shape& s) {
  return static_cast<int>(std::ranges::count_if(s.dims(), [](int64_t d) { return d < 0; }));
}

// The one size that -1 leaves open, where all others are known.
void fill_open_size(const Shape& in, Shape& out, int open) {
  if (!in.is_fully_known()) return;
  const int64_t rest = known_elements(out), n = in.num_elements();
  if (rest == 0 && n != 0)
    throw invalid_argument(fmt::format(
        "Cannot reshape a tensor with {} elements to shape {} ({} elements)", n, out.str(), rest));
  if (rest == 0) return;
  if (n % rest != 0)
    throw invalid_argument(
        fmt::format("Dimension size must be evenly divisible by {} but is {}", rest, n));
  out.set_dim(open, n / rest);
}

void check_elements(const Shape& in, const Shape& out) {
  if (!in.has_rank() || !out.is_fully_known()) return;
  const int64_t m = checked_elements(out.dims());
  const int unknowns = count_unknown(in);
  if (unknowns > 1) return;
  const int64_t n = known_elements(in);
  if (unknowns == 1) {
    if (n > 0 && m % n != 0)
      throw invalid_argument(
          fmt::format("Dimension size must be evenly divisible by {} but is {}", n, m));
    return;
  }
  if (n != m)
    throw invalid_argument(fmt::format(
        "Cannot reshape a tensor with {} elements to shape {} ({} elements)", n, out.str(), m));
}

void reshape(ShapeContext& c) {
  Shape out = c.input_as_shape(1);
  if (!out.has_rank()) {
    c.set_output(0, Shape::unknown());
    return;
  }
  int open = -1, unknowns = 0;
  for (int i = 0; i < out.rank(); ++i)
    if (out[i] == Shape::kUnknown) open = i, ++unknowns;
  if (unknowns == 1) fill_open_size(c.input(0), out, open);
  if (unknowns == 0) check_elements(c.input(0), out);
  c.set_output(0, std::move(out));
}

void squeeze(ShapeContext& c) {
  const Shape& in = c.input(0);
  const auto& chosen = c.attr<std::vector<int64_t>>("squeeze_dims");
  if (!in.has_rank()) return c.set_output(0, Shape::unknown());
  std::vector<bool> drop(static_cast<size_t>(in.rank()));
  for (int64_t axis : chosen) drop[static_cast<size_t>(c.wrapped_axis(axis, in.rank()))] = true;
  Shape out;
  for (int i = 0; i < in.rank(); ++i) {
    if (chosen.empty() && in[i] == Shape::kUnknown) return c.set_output(0, Shape::unknown());
    const bool dropped = chosen.empty() ? in[i] == 1 : drop[static_cast<size_t>(i)];
    if (dropped && in[i] != 1 && in[i] != Shape::kUnknown)
      throw invalid_argument(
          fmt::format("Can not squeeze dim[{}], expected a dimension of 1, got {}", i, in[i]));
    if (!dropped) out.push_back(in[i]);
  }
  c.set_output(0, std::move(out));
}

void expand_dims(ShapeContext& c) {
  const Shape& in = c.input(0);
  const auto axis = c.input_as_vector(1);
  if (!in.has_rank() || !axis) return c.set_output(0, Shape::unknown());
  if (axis->size() != 1)
    throw invalid_argument("'dim' input must be a tensor with a single value");
  const int64_t at = (*axis)[0], most = in.rank();
  if (at < -most - 1 || at > most)
    throw invalid_argument(fmt::format("dim {} not in the interval [{}, {}].", at, -most - 1, most));
  Shape out = in;
  out.insert(c.wrapped_axis(at, in.rank() + 1), 1);
  c.set_output(0, std::move(out));
}

void ensure_shape(ShapeContext& c) {
  c.set_output(0, c.merge(c.attr<Shape>("shape"), c.input(0)));
}

constexpr OpRow kShapeRows[] = {
    {"Shape(input: T) -> (output: out_type) | T: type; out_type: type in [int32,int64] = int32",
     shape_of, cheap,
     "The shape of a tensor."},
    {"ShapeN(input: N*T) -> (output: N*out_type) | N: int >= 1; T: type; out_type: type in "
     "[int32,int64] = int32",
     shape_n, cheap,
     "The shapes of tensors."},
    {"Size(input: T) -> (output: out_type) | T: type; out_type: type in [int32,int64] = int32",
     scalar, cheap,
     "The number of elements."},
    {"Rank(input: T) -> (output: int32) | T: type",
     scalar, cheap,
     "The number of dimensions."},
    {"Reshape(tensor: T, shape: Tshape) -> (output: T) | T: type; Tshape: type in [int32,int64] "
     "= int32",
     reshape, cheap,
     "The elements under another shape; one size may be -1."},
    {"Squeeze(input: T) -> (output: T) | T: type; squeeze_dims: list(int) >= 0 = []",
     squeeze, cheap,
     "Without dimensions of size 1."},
    {"ExpandDims(input: T, dim: Tdim) -> (output: T) | T: type; Tdim: type in [int32,int64] = "
     "int32",
     expand_dims, cheap,
     "With another dimension of size 1."},
    {"EnsureShape(input: T) -> (output: T) | shape: shape; T: type",
     ensure_shape, cheap,
     "The input, which must have the given shape."},
};

}  // namespace

std::span<const OpRow> shape_ops() { return kShapeRows; }

}  // namespace emplace::stdops
