#pragma once
#include <span>

#include "op/op_def.h"
#include "op/shape_context.h"

// Input pipelines: datasets and what goes through them.
namespace emplace::stdops {
std::span<const OpRow> dataset_source_ops();
std::span<const OpRow> dataset_ops();
std::span<const OpRow> iterator_ops();
std::span<const OpRow> service_dataset_ops();
std::span<const OpRow> older_dataset_ops();

// Outputs as the attribute output_shapes says.
inline void declared_shapes(ShapeContext& c) {
  const auto& shapes = c.attr<std::vector<Shape>>("output_shapes");
  for (int i = 0; i < c.num_outputs() && i < static_cast<int>(shapes.size()); ++i)
    c.set_output(i, shapes[static_cast<size_t>(i)]);
}
}  // namespace emplace::stdops
