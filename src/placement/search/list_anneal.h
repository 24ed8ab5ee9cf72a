#pragma once
#include "placement/search/budget.h"
#include "placement/search/list_bounds.h"

namespace emplace::planning {

// Simulated annealing over devices and order together, for graphs small enough that a whole
// evaluation takes about a microsecond. Links without contention. Improves `best` in place and
// stops at its bound.
void anneal_list(const Problem& p, const ListBounds& bounds, uint64_t seed, Budget& budget,
                 Solution& best);

}  // namespace emplace::planning
