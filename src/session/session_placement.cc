#include <algorithm>

#include "exec/prune.h"
#include "graph/read_lock.h"
#include "session/session_impl.h"
#include "session/table_oracle.h"

namespace emplace {
void Session::Impl::place(const Signature& signature) {
  std::vector<Node*> nodes = graph.nodes();
  if (options.place_pruned_graph) {
    std::vector<Node*> roots = signature.targets;
    for (const Output& o : signature.fetches) roots.push_back(o.node);
    nodes = needed_nodes(roots, {});
    std::sort(nodes.begin(), nodes.end(), [](Node* a, Node* b) { return a->id() < b->id(); });
  }
  std::vector<int> already;
  already.reserve(nodes.size());
  bool all_placed = true;
  for (const Node* n : nodes) {
    const auto id = static_cast<size_t>(n->id());
    already.push_back(id < assigned.size() ? assigned[id] : -1);
    all_placed &= already.back() >= 0;
  }
  if (all_placed) return;
  PlacementOptions o;
  o.allow_soft_placement = options.allow_soft_placement;
  o.log = options.log_device_placement;
  o.default_local_device = local_device;
  Placement placed = emplace::place(nodes, device_infos, TableOracle(kernels, device_infos), o, already);
  const auto devices_of = placed.devices();
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (already[i] >= 0) continue;
    const auto id = static_cast<size_t>(nodes[i]->id());
    if (id >= assigned.size()) {
      assigned.resize(std::max(id + 1, nodes.size()), -1);
      explained_by.resize(assigned.size(), {-1, -1});
    }
    assigned[id] = devices_of[i];
    explained_by[id] = {static_cast<int>(placements.size()), static_cast<int>(i)};
  }
  if (options.log_device_placement) log_waiting += placed.log_text();
  placements.push_back(std::move(placed));
}

Device* Session::Impl::device_of(const Node& node) const {
  const auto id = static_cast<size_t>(node.id());
  const int d = id < assigned.size() ? assigned[id] : -1;
  return d < 0 ? nullptr : (*devices)[d].get();
}

std::vector<Device*> Session::Impl::place_function(const Function& f, Device* caller,
                                                   std::span<Device* const> homes) const {
  const std::vector<Node*> nodes = f.body->nodes();
  std::vector<int> already(nodes.size(), -1);
  for (size_t i = 0; i < homes.size(); ++i) {
    if (!homes[i]) continue;
    const auto home = std::find_if(devices->begin(), devices->end(),
                                   [&](const auto& d) { return d.get() == homes[i]; });
    already[static_cast<size_t>(f.inputs[i]->id())] = static_cast<int>(home - devices->begin());
  }
  PlacementOptions o;
  o.allow_soft_placement = options.allow_soft_placement;
  o.default_local_device = caller->name();
  o.function = f.name;
  const Placement placed =
      emplace::place(nodes, device_infos, TableOracle(kernels, device_infos), o, already);
  std::vector<Device*> result;  // a whole graph's nodes stand in the order of their ids
  for (size_t i = 0; i < nodes.size(); ++i) result.push_back((*devices)[placed.device(i)].get());
  return result;
}

void Session::Impl::write_waiting_log() {
  std::string text;
  {
    const std::lock_guard lock(place_mutex);
    text.swap(log_waiting);
  }
  if (!text.empty()) write_log(options, text);
}

PlacementReport Session::Impl::placement(std::span<const Output> fetches) {
  if (is_closed) throw cancelled("Session has been closed.");
  Signature signature;
  signature.fetches.assign(fetches.begin(), fetches.end());
  PlacementReport report = placed_report(signature);
  write_waiting_log();
  return report;
}

PlacementReport Session::Impl::placed_report(const Signature& signature) {
  const std::vector<Output>& fetches = signature.fetches;
  const ReadLock reading(graph.mutex());
  const std::lock_guard lock(place_mutex);
  place(signature);
  std::vector<Node*> nodes = graph.nodes();
  if (!fetches.empty()) {
    std::vector<Node*> roots;
    for (const Output& o : fetches) roots.push_back(o.node);
    nodes = needed_nodes(roots, {});
  }
  PlacementReport report;
  for (const Node* n : nodes) {
    const auto id = static_cast<size_t>(n->id());
    if (id >= explained_by.size() || explained_by[id].first < 0) continue;  // not placed
    const auto [round, index] = explained_by[id];
    const PlacedNode placed = placements[round].explain(static_cast<size_t>(index));
    PlacementRow row{n->name(), n->type(), device_infos[placed.device].name, placed.detail, {}};
    for (const Rejected& r : placed.rejected) row.rejected.push_back({r.device, r.why});
    report.rows.push_back(std::move(row));
  }
  return report;
}

}  // namespace emplace
