// What users say of nodes beside what they demand: attributes, so that graphs bear them anywhere.
#pragma once
#include <optional>
#include <string>

#include "emplace/graph.h"
#include "placement/request.h"

namespace emplace::placement {

// `_placement_cost`, a list of "SECONDS" or "TYPE=SECONDS": what a node takes on a device of a type.
// Throws InvalidArgument, naming the node, where that is no such list.
std::optional<double> hinted_seconds(const Node& node, const DeviceInfo& device);

// `_placement_together`: nodes of one such name should share a device; null: none.
const std::string* hinted_company(const Node& node);

}  // namespace emplace::placement
