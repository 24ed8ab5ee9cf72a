// Shape rules that several op families share.
#include <fmt/format.h>

#include "emplace/error.h"
#include "op/shape_context.h"

namespace emplace::shape_rules {
namespace {

// Bit set of the reduced axes.
std::vector<bool> reduced_axes(const std::vector<int64_t>& axes, int rank) {
  std::vector<bool> reduced(static_cast<size_t>(rank));
  for (int64_t axis : axes) {
    if (axis < -int64_t{rank} || axis >= rank)
      throw invalid_argument(fmt::format("Invalid reduction dimension {} for input with {} "
                                         "dimensions.",
                                         axis, rank));
    reduced[static_cast<size_t>(axis < 0 ? axis + rank : axis)] = true;
  }
  return reduced;
}

}  // namespace

void unknown(ShapeContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, Shape::unknown());
}

void scalar(ShapeContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, Shape());
}

void none(ShapeContext&) {}

void unchanged(ShapeContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) {
    c.set_output(i, c.input(0));
    c.set_output_handle(i, c.input_handle(0));
  }
}

void broadcast_binary(ShapeContext& c) {
  c.set_output(0, ShapeContext::broadcast(c.input(0), c.input(1)));
}

// Merges from the last input to the first, as TensorFlow does: the error then speaks of the first.
void merge_all(ShapeContext& c) {
  Shape merged = c.input(c.num_inputs() - 1);
  for (int i = c.num_inputs() - 2; i >= 0; --i) {
    try {
      merged = ShapeContext::merge(c.input(i), merged);
    } catch (Error& e) {
      e.append(fmt::format("\n\tFrom merging shape {} with other shapes.", i));
      throw;
    }
  }
  c.set_output(0, std::move(merged));
}

void merge_two(ShapeContext& c) { c.set_output(0, c.merge(c.input(0), c.input(1))); }

void from_first(ShapeContext& c) { c.set_output(0, c.input_as_shape(0)); }

void from_third(ShapeContext& c) { c.set_output(0, c.input_as_shape(2)); }

void old_handle(ShapeContext& c) { c.set_output(0, Shape{2}); }

void reduction(ShapeContext& c) {
  c.with_rank_at_most(1, 1);
  const Shape& in = c.input(0);
  const bool keep = c.attr<bool>("keep_dims");
  const auto axes = c.input_as_vector(1);
  if (!axes || !in.has_rank()) {
    c.set_output(0, keep && in.has_rank() ? Shape::unknown_dims(in.rank()) : Shape::unknown());
    return;
  }
  const auto reduced = reduced_axes(*axes, in.rank());
  Shape out;
  for (int i = 0; i < in.rank(); ++i) {
    if (!reduced[static_cast<size_t>(i)]) out.push_back(in[i]);
    else if (keep) out.push_back(1);
  }
  c.set_output(0, std::move(out));
}

void from_shape_attr(ShapeContext& c) { c.set_output(0, c.attr<Shape>("shape")); }

void matmul(ShapeContext& c) {
  const Shape a = c.with_rank(0, 2), b = c.with_rank(1, 2);
  const bool ta = c.attr<bool>("transpose_a"), tb = c.attr<bool>("transpose_b");
  c.merge_dims(a[ta ? 0 : 1], b[tb ? 1 : 0]);
  c.set_output(0, Shape({a[ta ? 1 : 0], b[tb ? 0 : 1]}));
}

}  // namespace emplace::shape_rules
