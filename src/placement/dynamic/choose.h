#pragma once
#include <string>
#include <vector>

#include "placement/dynamic/cost_graph.h"

namespace emplace::placement {

// Where each node of a step goes, and when it runs there.
struct Choice {
  std::vector<int> device;     // by node of the cost graph
  std::vector<int> order;
  std::vector<double> start_s;
  double step_s = 0;
  double bound_s = 0;    // no placement is better; 0: not known
  std::string found_by;  // "HEFT"
};

// "within 1.7 % of the optimum", or nothing where no bound says much.
std::string quality(const Choice& choice);

// A placement for the whole step: the best of a search, of what the simple placer does (`simple`, by
// node of the cost graph) and of each single device. The search must beat the others by more than a
// guess can be wrong. Without a limit of its own it takes no longer than a few steps would. Throws
// ResourceExhausted, naming nodes and bytes, where variables and constants have no room.
Choice choose(const StepCosts& step, const std::vector<int>& simple, const PlanOptions& options);

}  // namespace emplace::placement
