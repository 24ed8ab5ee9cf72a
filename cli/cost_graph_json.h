#pragma once
#include <emplace/plan.h>
#include <emplace/what_if.h>

#include <string>

namespace emplace::cli {

// A cost graph from its JSON form (docs/placement.md). Throws InvalidArgument, saying what is wrong
// where.
CostGraph cost_graph_from_json(const std::string& text);

// Devices and links from a JSON object in the same form; "type" may be left out, "links" too.
Topology topology_from_json(const std::string& text);

// The answer: a device for every node, an order or calls, the value and what is known of it.
std::string plan_to_json(const CostGraph& graph, const Plan& plan);

}  // namespace emplace::cli
