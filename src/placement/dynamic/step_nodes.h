#pragma once
#include <functional>
#include <vector>

#include "placement/node_index.h"
#include "placement/request.h"

namespace emplace::placement {

// Positions in the request's nodes, inputs before users (but for what loops hand back).
using StepNodes = std::vector<int>;

// What a value closes a loop with: an edge that no order of execution can obey.
inline bool closes_loop(const Node& node) {
  return node.type() == "NextIteration" || node.type() == "RefNextIteration";
}

// The nodes that a step runs. That is what the request's run needs; where that is not known, or little
// beside what other nodes of the graph need that nobody reads (the first run fills variables, the next
// ones train), it is what the heaviest of those need. `weight`: seconds by position.
StepNodes step_nodes(const PlacementRequest& request, const NodeIndex& index,
                     const std::vector<double>& weight);

}  // namespace emplace::placement
