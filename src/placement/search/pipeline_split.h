#pragma once
#include <vector>

#include "placement/search/budget.h"

namespace emplace::planning {

// Orders of the units in which those next to each other belong together.
std::vector<std::vector<int>> unit_orders(const Problem& p);

// The best cut of one order of units into spans, one for each device of the largest set of alike
// accelerators: dynamic programming over the cuts, transfers counted. Memory holds. Spans above
// `limit` are not looked at. Devices of units; empty where nothing under the limit was found.
// What is made small: the fullest span, or the spans one after another.
enum class SplitGoal : uint8_t { kFullest, kSum };
std::vector<int> best_split(const Problem& p, const std::vector<int>& order, SplitGoal goal,
                            double limit);

// The largest set of devices that are just alike, accelerators before CPUs.
std::vector<int> alike_accelerators(const Problem& p);

}  // namespace emplace::planning
