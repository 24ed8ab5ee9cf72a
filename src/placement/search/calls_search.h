#pragma once
#include "placement/search/budget.h"

namespace emplace::planning {

// Calls of accelerators by simulated annealing. A node has a device and a level; nodes of one
// accelerator and level are one call, and data go from lower levels to higher ones or stay within a
// call, so that calls never wait for each other. Memory holds at every step. Improves `best` (with
// calls) in place.
void anneal_calls(const Problem& p, double bound, uint64_t seed, Budget& budget, Solution& best);

// No sample is faster: the longest path at the fastest devices' times.
double calls_bound(const Problem& p);

}  // namespace emplace::planning
