// Gradients of picking and scattering.
#include <fmt/format.h>

#include "grad/rows.h"
#include "graph/known_value.h"

namespace emplace::grad {
namespace {

// The size of `indices` and behind it the sizes of `shape` from `first` on.
Output picked_shape(Output indices, Output shape, int first) {
  const Output count = f("Reshape", f("Size", indices), ints({1}));
  return f("ConcatV2", count, f("Slice", shape, ints({first}), ints({-1})), constant(0));
}

// What was picked along the first axis of something of this shape.
Gradient slices(Output shape, Output indices, Output dy) {
  const Output values = f("Reshape", dy, picked_shape(indices, shape, 1));
  return {values, f("Reshape", indices, ints({-1})), shape};
}

// The sum of the rows of `dy` that were picked, at their places along the first axis of something of
// this shape that is not one of `batches`: every batch has segments of its own.
Output sum_of_rows(Output shape, Output indices, Output dy, int batches) {
  const Output picked = cast(indices, DType::kInt32);
  const Output many = f("Prod", f("Slice", shape, ints({0}), ints({batches})), constant(0));
  const Output rows = f("GatherV2", shape, constant(batches), constant(0));
  const Output firsts = f("ExpandDims", f("Range", constant(0), many, constant(1)), constant(1)) * rows;
  const Output by_batch = f("Reshape", picked, op("Pack", {many, constant(-1)}));
  // What is out of range on the low side goes nowhere, and must not come to the batch before.
  const Output ids = when(f("Less", by_batch, constant(0)), by_batch, by_batch + firsts);
  const Output flat = f("Reshape", dy, picked_shape(indices, shape, batches + 1));
  const Output sums = f("UnsortedSegmentSum", flat, f("Reshape", ids, ints({-1})), many * rows);
  return f("Reshape", sums, shape);
}

int64_t batch_dims(const Forward& n) {
  const int64_t b = n.attr<int64_t>("batch_dims");
  if (b >= 0) return b;
  if (!n.x(1).shape().has_rank())
    throw unimplemented(fmt::format("gradient of {} with batch_dims counted from the end of unknown "
                                    "ranks", n.node.type()))
        .at_node(n.node.name(), n.node.type());
  return b + n.x(1).shape().rank();
}

Back of_first_axis(const Forward& n) { return {slices(shape_of(n.x(0)), n.x(1), n.dy())}; }

Back of_resource_gather(const Forward& n) {
  const Output shape = f("VariableShape", n.x(0));
  const int64_t b = batch_dims(n);
  if (b == 0) return {slices(shape, n.x(1), n.dy())};
  return {sum_of_rows(shape, n.x(1), n.dy(), static_cast<int>(b))};
}

bool is_zero(Output axis) {
  const auto known = known_value(axis);
  return known && known->is_complete() && known->values[0] == 0;
}

// The picked axis goes behind the batches, its rows are summed, and it goes back to its place.
Back of_gather(const Forward& n) {
  const Output x = n.x(0), indices = n.x(1);
  const int64_t b = batch_dims(n);
  if (b == 0 && is_zero(n.x(2))) return of_first_axis(n);
  const Output rank = f("Rank", x), zero = constant(0), one = constant(1);
  const Output batches = constant(static_cast<int32_t>(b));
  const Output axis = f("FloorMod", cast(n.x(2), DType::kInt32) + rank, rank);
  const auto range = [&](Output from, Output to) { return f("Range", from, to, one); };
  // Axes [axis, axis + width) behind the batches, the others as they were.
  const auto forward = [&](Output width, Output all) {
    const Output end = axis + width;
    return f("ConcatV2", range(zero, batches), range(axis, end), range(batches, axis),
             range(end, all), zero);
  };
  const Output front = forward(one, rank);
  const Output of_dy = forward(f("Rank", indices) - batches, f("Rank", n.dy()));
  const Output total = sum_of_rows(f("GatherV2", shape_of(x), front, zero), indices,
                                   f("Transpose", n.dy(), of_dy), static_cast<int>(b));
  return {f("Transpose", total, f("InvertPermutation", front))};
}

Back of_gather_nd(const Forward& n, Output shape) {
  const Shape& picked = n.x(1).shape();
  if (picked.has_rank() && picked.rank() == 2 && picked.dim(1) == 1)
    return {Gradient(n.dy(), f("Reshape", n.x(1), ints({-1})), shape)};
  return {f("ScatterNd", n.x(1), n.dy(), shape)};
}

}  // namespace

void add_gathers(Rows& rows) {
  rows.add("Gather", of_first_axis);
  rows.add("GatherV2", of_gather);
  rows.add("ResourceGather", of_resource_gather);
  rows.add("GatherNd", [](const Forward& n) {
    return of_gather_nd(n, shape_of(n.x(0), n.x(1).dtype()));
  });
  rows.add("ResourceGatherNd", [](const Forward& n) {
    return of_gather_nd(n, op("VariableShape", {n.x(0)}, {{"out_type", n.x(1).dtype()}}));
  });
  rows.add("ScatterNd", [](const Forward& n) -> std::vector<Output> {
    return {{}, f("GatherNd", n.dy(), n.x(0))};
  });
  rows.add("TensorScatterAdd", [](const Forward& n) -> std::vector<Output> {
    return {n.dy(), {}, f("GatherNd", n.dy(), n.x(1))};
  });
  rows.add("TensorScatterUpdate", [](const Forward& n) -> std::vector<Output> {
    return {f("TensorScatterUpdate", n.dy(), n.x(1), zeros_like(n.x(2))), {},
            f("GatherNd", n.dy(), n.x(1))};
  });
}

}  // namespace emplace::grad
