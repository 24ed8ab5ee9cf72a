#include "placement/search/islands.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "emplace/error.h"

namespace emplace::planning {
namespace {

std::vector<int> merged_index(const CostGraph& g, std::span<const int> device, Merged& out) {
  std::map<std::pair<int, int>, int> islands;
  std::vector<int> of;
  for (size_t i = 0; i < g.nodes.size(); ++i) {
    const int next = int(out.members.size());
    const int island = g.nodes[i].island;
    of.push_back(island < 0 ? next : islands.emplace(std::pair(island, device[i]), next).first->second);
    if (of.back() == next) out.members.emplace_back();
    out.members[of.back()].push_back(int(i));
  }
  return of;
}

double time_on(const CostNode& n, const CostDevice& d) {
  double time = 0;
  for (const auto& [key, seconds] : n.time)
    if (key == d.name) return seconds;
    else if (key == d.type) time = seconds;
  return time;
}

CostNode merged_node(const CostGraph& g, const std::vector<int>& members, const CostDevice& d) {
  CostNode out = g.nodes[members.front()];
  if (members.size() == 1) return out;
  out.name = fmt::format("{} (and {} more of its island)", out.name, members.size() - 1);
  double seconds = 0;
  for (int i : members) seconds += time_on(g.nodes[i], d);
  for (size_t k = 1; k < members.size(); ++k) {
    out.memory += g.nodes[members[k]].memory;
    out.cores = std::max(out.cores, g.nodes[members[k]].cores);
  }
  out.time = {{d.name, seconds}};
  out.group = -1;
  return out;
}

// An island goes when its first node would.
std::vector<double> priorities(const Merged& merged, const Plan& plan) {
  std::vector<double> priority(merged.members.size(), -kInfinity);
  for (size_t k = 0; k < plan.order.size(); ++k) {
    double& p = priority[merged.of[plan.order[k]]];
    p = std::max(p, -double(k));
  }
  return priority;
}

}  // namespace

std::vector<int> Merged::devices(std::span<const int> device) const {
  std::vector<int> where;
  for (const auto& nodes : members) where.push_back(device[nodes.front()]);
  return where;
}

double simulate_merged(const Problem& p, const Merged& merged, const Plan& plan,
                       ListSimulation& simulation) {
  const std::vector<int> where = merged.devices(plan.device);
  if (plan.order.empty()) return simulation.by_priority(where, bottom_levels(p, where));
  if (merged.members.size() != merged.of.size())
    return simulation.by_priority(where, priorities(merged, plan));
  const auto end = simulation.in_order(where, plan.order);
  if (!end) throw invalid_argument("The order of the plan waits for itself");
  return *end;
}

Merged merge_islands(const CostGraph& g, std::span<const int> device) {
  Merged out;
  out.of = merged_index(g, device, out);
  out.graph = {g.name, g.model, g.serial_links, g.through_host, g.devices, g.default_link, g.links,
               {}, g.groups, {}};
  for (const auto& members : out.members)
    out.graph.nodes.push_back(merged_node(g, members, g.devices[device[members.front()]]));
  out.outputs.resize(out.members.size());
  std::map<std::pair<int, int>, int> output;
  for (const CostEdge& e : g.edges) {
    const int src = out.of[e.src], dst = out.of[e.dst];
    if (src == dst && out.members[src].size() > 1) continue;
    int o = e.output;
    if (o >= 0) {
      auto& all = out.outputs[src];
      o = output.emplace(std::pair(e.src, e.output), int(all.size())).first->second;
      if (o == int(all.size())) all.emplace_back(e.src, e.output);
    }
    out.graph.edges.push_back({src, dst, e.bytes, o});
  }
  return out;
}

}  // namespace emplace::planning
