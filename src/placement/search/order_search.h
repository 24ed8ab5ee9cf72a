#pragma once
#include "placement/search/budget.h"
#include "placement/search/list_bounds.h"

namespace emplace::planning {

// Alike devices and nothing to transfer: only the order counts, devices follow from it.
bool order_alone_counts(const Problem& p);

// Iterated search over orders for that case: some nodes are moved at random, then the schedule is
// pushed to the right and to the left again (forward-backward improvement), which closes gaps.
void search_orders(const Problem& p, const ListBounds& bounds, uint64_t seed, Budget& budget,
                   Solution& best);

}  // namespace emplace::planning
