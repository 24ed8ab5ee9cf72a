#pragma once
#include <span>

#include "placement/dynamic/cost_graph.h"

namespace emplace::placement {

// Says of each node in which island it is when nodes are where `device` says (by node of the
// graph): on a device that records, nodes that nothing from outside has to come between are
// launched as one. As exec/islands.h makes them of a program.
void mark_islands(const StepCosts& step, std::span<const int> device, CostGraph& graph);

// The step with nodes there, by that; `order`: in which each device takes its nodes; empty: the
// longest remaining path first.
double island_step_s(const StepCosts& step, const CostGraph& graph, std::span<const int> device,
                     std::span<const int> order = {});

}  // namespace emplace::placement
