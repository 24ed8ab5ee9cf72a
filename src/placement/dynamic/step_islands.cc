#include "placement/dynamic/step_islands.h"

#include <algorithm>
#include <vector>

#include "placement/search/islands.h"
#include "placement/search/simulate_list.h"

namespace emplace::placement {

namespace {

bool takes_no_time(const CostNode& n, const CostDevice& d) {
  return std::ranges::any_of(n.time,
                             [&](const auto& t) { return t.first == d.name && t.second == 0; });
}

}  // namespace

// An island is what has one phase on one device: a phase ends wherever work comes in from outside.
// Nodes stand in an order in which they may run, but for feeds, which wait for nothing.
void mark_islands(const StepCosts& step, std::span<const int> device, CostGraph& graph) {
  std::vector<std::vector<int>> before(graph.nodes.size());
  for (const CostEdge& e : graph.edges) before[e.dst].push_back(e.src);
  const auto member = [&](int i) { return step.recorded[i][device[i]] != 0; };
  std::vector<int> phase(graph.nodes.size(), 0);
  for (int i = 0; i < static_cast<int>(graph.nodes.size()); ++i) {
    for (const int b : before[i]) {
      // Values that are there from the start interrupt nothing.
      const bool value = before[b].empty() && step.node[b] >= 0 &&
                         takes_no_time(graph.nodes[b], graph.devices[device[b]]);
      const bool inside = member(b) && device[b] == device[i];
      phase[i] = std::max(phase[i], phase[b] + (member(i) && !inside && !value ? 1 : 0));
    }
    graph.nodes[i].island = member(i) ? phase[i] : -1;
  }
}

double island_step_s(const StepCosts& step, const CostGraph& graph, std::span<const int> device,
                     std::span<const int> order) {
  CostGraph marked = graph;
  mark_islands(step, device, marked);
  for (CostDevice& d : marked.devices) d.memory.reset();  // room is looked at elsewhere
  Plan plan;
  plan.device.assign(device.begin(), device.end());
  plan.order.assign(order.begin(), order.end());
  const planning::Merged merged = planning::merge_islands(marked, plan.device);
  const planning::Problem p(merged.graph);
  planning::ListSimulation simulation(p);
  return planning::simulate_merged(p, merged, plan, simulation);
}

}  // namespace emplace::placement
