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
  std::string doubt;     // what spreading nodes gains or may lose beside a single device, in words
};

std::string milliseconds(double seconds);  // "1.32 ms", as reasons have it

// "within 1.7 % of the optimum", or nothing where no bound says much.
std::string quality(const Choice& choice);

// A placement for the whole step: the best of a search, of what the simple placer does (`simple`,
// by node of the cost graph) and of each single device. The search must beat the others even if
// what it rests on and they don't, nodes elsewhere and copies, takes as long as it may by its
// spread. Without a limit of its own it takes no longer than a few steps would. Throws
// ResourceExhausted, naming nodes and bytes, where variables and constants have no room.
// `alone`: there is no search.
Choice choose(const StepCosts& step, const std::vector<int>& simple, const PlanOptions& options,
              bool alone = false);

}  // namespace emplace::placement
