#pragma once
#include <vector>

#include "emplace/plan.h"
#include "placement/colocation.h"
#include "placement/cost_source.h"
#include "placement/dynamic/step_nodes.h"

namespace emplace::placement {

// One step of a request as a cost graph: its nodes, then one for each feed and each fetch, which
// stay where those lie. Devices have the request's numbers. Constraints are in it: a node has times
// for the devices that its group may take, and groups are groups.
struct StepCosts {
  CostGraph graph;
  std::vector<int> node;      // of the request, by node of the graph; -1: a feed or a fetch
  std::vector<int> home;      // device of a feed or fetch, by node of the graph; -1: of others
  std::vector<int> liking;    // of each device: the priority of its type
  std::vector<int> at;        // of the graph, by node of the request; -1: not in the step
  std::vector<std::vector<double>> spread;  // by node and device: how far off its time may be
  std::vector<std::vector<char>>
      recorded;                // by node and device: may it be a part of an island there?
  double transient_bytes = 0;  // of all outputs; graph.nodes[i].memory counts kept ones alone
  std::vector<double> outputs;  // bytes of each node's outputs that live for a part of the step
};

// `groups`: built, nothing fixed yet.
StepCosts step_costs(const PlacementRequest& request, Colocation& groups);

// What `node` holds from step to step: variables and constants; 0: nothing.
double kept_bytes(const Node& node);

}  // namespace emplace::placement
