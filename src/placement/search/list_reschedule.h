#pragma once
#include "placement/search/budget.h"
#include "placement/search/list_bounds.h"

namespace emplace::planning {

// List scheduling over and over, for links without contention and devices that run one node at a
// time: ranks are the ways to the end in the best schedule so far, its devices' queues counted, and
// are shaken a little. Improves `best` in place.
void reschedule_list(const Problem& p, const ListBounds& bounds, uint64_t seed, Budget& budget,
                     Solution& best);

}  // namespace emplace::planning
