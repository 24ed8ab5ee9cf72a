#pragma once
#include <memory>

#include "placement/search/budget.h"

namespace emplace::planning {

enum class Found : uint8_t { kYes, kNo, kGaveUp };

// For alike devices and links that cost nothing (`order_alone_counts`): looks for a schedule that
// ends by a given time. In the order of time each free device starts a node, or stays idle; how
// long devices may be idle in all is known beforehand, and is little where the schedule is hard to
// find. Dead ends are remembered. Starts anew with other orders of preference, forward and
// backward.
class DeadlineSearch {
 public:
  DeadlineSearch(const Problem& p, double deadline, uint64_t seed);
  ~DeadlineSearch();

  // Yes: `best` is such a schedule. No: there is none. May be asked again after giving up.
  Found run(Budget& budget, Solution& best);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace emplace::planning
