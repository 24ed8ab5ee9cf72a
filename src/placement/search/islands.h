#pragma once
#include <span>
#include <utility>
#include <vector>

#include "emplace/plan.h"
#include "placement/search/simulate_list.h"

namespace emplace::planning {

// A cost graph in which every island is one node: what a device launches at once starts when all
// that its nodes wait for is there, and hands over all that it makes at its end.
struct Merged {
  CostGraph graph;
  std::vector<int> of;                           // by node of the original: its node here
  std::vector<std::vector<int>> members;         // by node here: of the original
  std::vector<std::vector<std::pair<int, int>>> outputs;  // by node here: (member, its output)

  std::vector<int> devices(std::span<const int> device) const;  // of the nodes here
};

Merged merge_islands(const CostGraph& graph, std::span<const int> device);

// One step of a plan of the original; its end. `p`: of merged.graph. Throws InvalidArgument where
// the order of the plan waits for itself.
double simulate_merged(const Problem& p, const Merged& merged, const Plan& plan,
                       ListSimulation& simulation);

}  // namespace emplace::planning
