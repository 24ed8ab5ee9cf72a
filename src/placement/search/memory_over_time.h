#pragma once
#include <span>

#include "emplace/plan.h"

namespace emplace::planning {

// Fills what `step` says of memory from when it runs and copies what: a tensor lives from the start
// of what makes it to the end of the last that reads it, and so does each copy of it.
void add_memory(const CostGraph& graph, std::span<const int> device, PredictedStep& step);

}  // namespace emplace::planning
