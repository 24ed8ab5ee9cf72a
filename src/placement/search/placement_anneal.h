#pragma once
#include "placement/search/budget.h"

namespace emplace::planning {

// List schedules of any kind (links with contention, several slots), judged by the simulation: units
// go from device to device by simulated annealing, alone or with what hangs on them; of the ready
// nodes the one with the longest remaining path runs first. Improves `best` in place.
void anneal_placement(const Problem& p, double bound, uint64_t seed, Budget& budget,
                      Solution& best);

}  // namespace emplace::planning
