#include <fmt/format.h>

#include <algorithm>

#include "exec/prune.h"
#include "graph/look_ahead.h"
#include "graph/read_lock.h"
#include "placement/log_text.h"
#include "session/session_impl.h"
#include "session/table_oracle.h"

namespace emplace {
void Session::Impl::place(const Signature& signature) {
  std::vector<Node*> nodes = graph.nodes();
  if (options.place_pruned_graph) {
    std::vector<Node*> roots = signature.targets;
    for (const Output& o : signature.fetches) roots.push_back(o.node);
    FeedIndex fed;
    for (const Output& o : signature.feeds) fed.emplace(o, 0);
    nodes = needed_nodes(roots, fed);
    std::sort(nodes.begin(), nodes.end(), [](Node* a, Node* b) { return a->id() < b->id(); });
  }
  std::vector<int> already(nodes.size(), -1);
  if (!assigned.empty())
    for (size_t i = 0; i < nodes.size(); ++i) {
      look_ahead_ids(nodes, i);
      const auto id = static_cast<size_t>(nodes[i]->id());
      if (id < assigned.size()) already[i] = assigned[id];
    }
  if (weighs && placements.empty() && told.empty()) given = assigned;
  const auto fresh = static_cast<size_t>(std::ranges::count(already, -1));
  if (fresh == 0) return;
  const TableOracle oracle(kernels, device_infos);
  PlacementRequest request{nodes, device_infos, &oracle, placement_options(), already};
  request.options.default_local_device = local_device;
  const std::shared_ptr<const CostSource> costs = weighed_costs();
  request.costs = costs.get();
  const std::vector<int> feed_devices = weighs ? indices(signature.feed_devices) : std::vector<int>();
  request.run = {signature.feeds, signature.fetches, signature.targets, feed_devices,
                 signature.stay};
  Placement placed = placer->place(request);
  // A round remembers all nodes. One that placed few of them tells why at once and is let go, or a
  // graph that grows between runs would take memory by the square.
  const bool kept = fresh * 2 >= nodes.size();
  for (size_t i = 0; i < nodes.size(); ++i) {
    look_ahead_ids(nodes, i);
    if (already[i] >= 0) continue;
    const auto id = static_cast<size_t>(nodes[i]->id());
    if (id >= assigned.size()) {
      assigned.resize(std::max(id + 1, nodes.size()), -1);
      explained_by.resize(assigned.size(), {-1, -1});
    }
    assigned[id] = placed.devices[i];
    if (kept) explained_by[id] = {static_cast<int>(placements.size()), static_cast<int>(i)};
    else told.emplace(nodes[i]->id(), row_of(placed.explain(i)));
  }
  if (options.log_device_placement) {
    // What the environment asks for is for programs that print what they always did.
    if (placed.step_s > 0 && !options.placer.empty())
      log_waiting += fmt::format("Placed by cost: a step takes {:.3g} ms{}{}{}{}\n",
                                 placed.step_s * 1e3, placed.quality.empty() ? "" : ", ",
                                 placed.quality, placed.remark.empty() ? "" : "; ", placed.remark);
    log_waiting += placement_log(request, placed.devices);
  }
  if (kept) placements.push_back(std::move(placed));
}

int Session::Impl::index_of(const Device* device) const {
  const auto at = std::ranges::find(*devices, device, [](const auto& d) { return d.get(); });
  return at == devices->end() ? -1 : static_cast<int>(at - devices->begin());
}

std::vector<int> Session::Impl::indices(std::span<Device* const> some) const {
  std::vector<int> out;
  for (const Device* d : some) out.push_back(d ? index_of(d) : -1);
  return out;
}

PlacementOptions Session::Impl::placement_options() const {
  PlacementOptions o;
  o.allow_soft_placement = options.allow_soft_placement;
  o.log = options.log_device_placement;
  if (options.placer_budget_ms > 0) o.search.budget_ms = options.placer_budget_ms;
  if (options.placer_evaluations > 0) o.search.evaluations = options.placer_evaluations;
  o.search.seed = options.placer_seed;
  return o;
}

std::shared_ptr<const CostSource> Session::Impl::weighed_costs() {
  if (!weighs) return nullptr;
  return told_costs ? told_costs : cost_source();
}

PlacementRow Session::Impl::row_of(const PlacedNode& placed) const {
  PlacementRow row{placed.node->name(), placed.node->type(), device_infos[placed.device].name,
                   placed.detail, {}};
  if (placed.reason == Reason::kCost && !measured_steps.empty())
    row.reason += "; " + measured_steps;
  for (const Rejected& r : placed.rejected) row.rejected.push_back({r.device, r.why});
  return row;
}

Device* Session::Impl::device_of(const Node& node) const {
  const auto id = static_cast<size_t>(node.id());
  const int d = id < assigned.size() ? assigned[id] : -1;
  return d < 0 ? nullptr : (*devices)[d].get();
}

std::vector<Device*> Session::Impl::place_function(const Function& f, Device* caller,
                                                   std::span<Device* const> homes) {
  const std::vector<Node*> nodes = f.body->nodes();
  std::vector<int> already(nodes.size(), -1);
  for (size_t i = 0; i < homes.size(); ++i) {
    if (homes[i]) already[static_cast<size_t>(f.inputs[i]->id())] = index_of(homes[i]);
  }
  const TableOracle oracle(kernels, device_infos);
  PlacementRequest request{nodes, device_infos, &oracle, placement_options(), already};
  request.options.default_local_device = caller->name();
  request.options.function = f.name;
  const std::shared_ptr<const CostSource> costs = weighed_costs();
  request.costs = costs.get();
  std::vector<Output> arguments;
  std::vector<int> where;
  if (weighs)
    for (size_t i = 0; i < f.inputs.size(); ++i) {
      arguments.push_back(f.inputs[i]->output());
      where.push_back(index_of(i < homes.size() && homes[i] ? homes[i] : caller));
    }
  request.run = {arguments, f.outputs, f.control_outputs, where, true};
  const Placement placed = placer->place(request);
  if (options.log_device_placement && logged_functions.emplace(f.name, caller).second)
    log_waiting += placement_log(request, placed.devices);
  std::vector<Device*> result;  // a whole graph's nodes stand in the order of their ids
  for (size_t i = 0; i < nodes.size(); ++i) result.push_back((*devices)[placed.devices[i]].get());
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
  if (remote) throw unimplemented("Where a server places nodes only its own log says.");
  for (const Output& o : fetches) check_node(o.node);
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
  if (is_closed) throw cancelled("Session has been closed.");
  place(signature);
  std::vector<Node*> nodes = graph.nodes();
  if (!fetches.empty()) {
    std::vector<Node*> roots;
    for (const Output& o : fetches) roots.push_back(o.node);
    nodes = needed_nodes(roots, {});
  }
  return report_on(nodes);
}

PlacementReport Session::Impl::report_on(std::span<Node* const> nodes) const {
  PlacementReport report;
  for (const Node* n : nodes) {
    const auto id = static_cast<size_t>(n->id());
    if (const auto at_once = told.find(n->id()); at_once != told.end()) {
      report.rows.push_back(at_once->second);
    } else if (id < explained_by.size() && explained_by[id].first >= 0) {  // else: not placed
      const auto [round, index] = explained_by[id];
      report.rows.push_back(row_of(placements[round].explain(static_cast<size_t>(index))));
    }
  }
  return report;
}

}  // namespace emplace
