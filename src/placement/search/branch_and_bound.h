#pragma once
#include "placement/search/budget.h"
#include "placement/search/list_bounds.h"

namespace emplace::planning {

// Whether `prove_list` can be asked: few nodes that all take time, links without contention, one
// node a time on each device, no groups and no limits of memory.
bool provable(const Problem& p);

// Every schedule in order of starts, cut off where a bound says that it can't beat `best`, which it
// improves in place. True: all were seen, so `best` is optimal; false: the budget ended first.
bool prove_list(const Problem& p, const ListBounds& bounds, Budget& budget, Solution& best);

}  // namespace emplace::planning
