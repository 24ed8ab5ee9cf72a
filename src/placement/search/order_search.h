#pragma once
#include <span>

#include "placement/search/budget.h"
#include "placement/search/list_bounds.h"

namespace emplace::planning {

// Alike devices and nothing to transfer: only the order counts, devices follow from it.
bool order_alone_counts(const Problem& p);

// Where a node whose inputs are there at `ready` goes then: the device that was free last among those
// free in time; else the one that is free first.
inline int next_device(std::span<const double> free, double ready) {
  int in_time = -1, first = 0;
  for (int d = 0; d < int(free.size()); ++d) {
    if (free[d] <= ready && (in_time < 0 || free[d] > free[in_time])) in_time = d;
    if (free[d] < free[first]) first = d;
  }
  return in_time >= 0 ? in_time : first;
}

// Iterated search over orders for that case: some nodes are moved at random, then the schedule is
// pushed to the right and to the left again (forward-backward improvement), which closes gaps.
void search_orders(const Problem& p, const ListBounds& bounds, uint64_t seed, Budget& budget,
                   Solution& best);

}  // namespace emplace::planning
