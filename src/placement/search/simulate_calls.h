#pragma once
#include <optional>
#include <span>
#include <vector>

#include "placement/search/problem.h"

namespace emplace::planning {

// The end of one sample through calls of accelerators, numbered on each device; nothing where calls
// wait for each other. The number of a CPU node means nothing.
std::optional<double> calls_end(const Problem& p, std::span<const int> where,
                                std::span<const int> call);

// The numbers that a placement without them has: 1 + how often a path to the node left its device
// and came back; where that makes devices wait for each other, the device changes on the way to it.
std::vector<int> default_calls(const Problem& p, std::span<const int> where);

}  // namespace emplace::planning
