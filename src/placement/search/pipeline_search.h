#pragma once
#include "placement/search/budget.h"

namespace emplace::planning {

// Units of a pipeline from device to device by simulated annealing: the loads are kept up to date
// move by move, and what is made small is a high norm of them, which sees all full devices and not
// the fullest alone. Splits need not be contiguous. Improves `best` in place, stops at `bound`.
void anneal_pipeline(const Problem& p, double bound, uint64_t seed, Budget& budget, Solution& best);

// No pipeline is faster: work over all devices at their best speed, and the largest unit.
double pipeline_bound(const Problem& p);

}  // namespace emplace::planning
