#pragma once
#include <vector>

#include "placement/search/budget.h"

namespace emplace::planning {

// A contiguous split over alike accelerators whose fullest load is below `limit`, as devices of
// units: each device takes what lies between two ideals (sets of units that hold all that comes
// before them). All of them are looked at, so that nothing found before the budget ends means that
// there is none. A unit's place is that of its first node: backward nodes go with their forward
// ones. Empty where there is none, where the budget ends, or where units wait for each other.
std::vector<int> split_below(const Problem& p, double limit, Budget& budget);

}  // namespace emplace::planning
