#pragma once
#include "placement/search/budget.h"
#include "placement/search/list_bounds.h"

namespace emplace::planning {

// Local search for list schedules of any size, links without contention, one node a time on each
// device: a node of the longest path is taken out and put back where the longest path through it is
// shortest. Every place on every device is judged exactly from the heads and tails of the schedule
// without it, which one pass over the graph gives. Improves `best` in place.
void reinsert_list(const Problem& p, const ListBounds& bounds, uint64_t seed, Budget& budget,
                   Solution& best);

}  // namespace emplace::planning
