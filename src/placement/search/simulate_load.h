#pragma once
#include <span>
#include <vector>

#include "placement/search/problem.h"

namespace emplace::planning {

// The load of each device of a pipeline: its nodes' times; on accelerators also a transfer for each
// of its nodes that is used elsewhere and for each node elsewhere that it uses.
std::vector<double> device_loads(const Problem& p, std::span<const int> where);
double fullest_load(const Problem& p, std::span<const int> where);

}  // namespace emplace::planning
