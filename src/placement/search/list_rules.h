#pragma once
#include <vector>

#include "placement/search/budget.h"

namespace emplace::planning {

// The classic rules for list schedules, one pass over the nodes each. Where memory runs out, a node
// goes to the device with most room left: `make_fit` mends that afterwards.

// The TensorFlow whitepaper's: nodes as they become ready, each where it would end soonest.
Solution greedy_rule(const Problem& p);

enum class Rank : uint8_t {
  kMean,  // HEFT: the longest way to the end at mean times and mean transfers
  kBest,  // at the fastest device's times, transfers half
  kFree,  // at the fastest device's times, transfers not counted
};

// Highest rank first, each where it ends soonest, gaps between nodes used. `look_ahead`: where end
// plus the best that can follow is soonest.
Solution ranked_rule(const Problem& p, Rank rank, bool look_ahead);

// Two kinds of devices: the nodes that gain most on the second kind go there, the others to the
// first, so that both kinds have as much to do, shifted by `shift` of the work; then as HEFT within
// the kinds. Nothing where there are not two kinds.
Solution affinity_rule(const Problem& p, double shift);

// Everything on one device; nothing where it can't run or hold all.
Solution single_rule(const Problem& p, int device);

std::vector<double> upward_ranks(const Problem& p, Rank rank);

}  // namespace emplace::planning
