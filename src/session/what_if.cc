// Placing on devices that need not be here.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "placement/placer.h"
#include "session/absent_devices.h"
#include "session/runtime.h"
#include "session/table_oracle.h"

namespace emplace {
namespace {

constexpr size_t kMaxUnmet = 1000;

// One that must be where `node` is, and asks for a device.
Node* partner_that_asks(std::span<Node* const> nodes, const Node& node) {
  const auto groups = node.colocation_groups();
  const auto tied = [](const Output& in) { return in.is_ref() || in.dtype() == DType::kResource; };
  for (Node* other : nodes) {
    if (other->device().empty()) continue;
    for (const Output& in : other->inputs())
      if (in.node == &node && tied(in)) return other;
    for (const Output& in : node.inputs())
      if (in.node == other && tied(in)) return other;
    for (const std::string& group : other->colocation_groups())
      if (std::ranges::find(groups, group) != groups.end()) return other;
  }
  return nullptr;
}

using Unmet = std::unordered_map<const Node*, Error>;

// Nodes that no device has a kernel for, with what the placer says of each by itself.
Unmet without_kernel(const Placer& placer, std::span<Node* const> nodes,
                     std::span<const DeviceInfo> devices, const KernelOracle& table,
                     const PlacementOptions& options) {
  Unmet unmet;
  for (Node* const& node : nodes) {
    const Kernels k = table.kernels(*node);
    if (k.any_type || !k.types.empty() || unmet.size() >= kMaxUnmet) continue;
    try {
      placer.place({{&node, 1}, devices, &table, options});
    } catch (const Error& e) {
      unmet.emplace(node, e);
    }
  }
  return unmet;
}

PlacementReport report_of(const Placement& placed, std::span<const DeviceInfo> devices,
                          const Unmet& nowhere) {
  PlacementReport report;
  for (const PlacedNode& p : placed.explain()) {
    if (nowhere.contains(p.node)) continue;
    PlacementRow row{p.node->name(), p.node->type(), devices[static_cast<size_t>(p.device)].name,
                     p.detail, {}};
    for (const Rejected& r : p.rejected) row.rejected.push_back({r.device, r.why});
    report.rows.push_back(std::move(row));
  }
  return report;
}

}  // namespace

WhatIf place_on(Graph& graph, std::span<const std::string> names, bool soft) {
  if (names.empty()) throw invalid_argument("No devices to place on");
  const std::vector<DeviceInfo> devices = absent_devices(names);
  SessionOptions any_gpu;
  any_gpu.virtual_gpus = 1;  // what a GPU can run in principle, not what a card's backend has
  const auto placer = make_placer("simple");
  const TableOracle table(kernel_table(any_gpu), devices);
  const LenientOracle oracle(table);
  PlacementOptions options;
  options.allow_soft_placement = soft;
  const std::vector<Node*> nodes = graph.nodes();
  const Unmet nowhere = without_kernel(*placer, nodes, devices, table, options);
  Unmet unmet = nowhere;
  WhatIf out;
  ClearedRequests cleared(graph);
  for (bool placed = false; !placed;) {
    try {
      out.report = report_of(placer->place({nodes, devices, &oracle, options}), devices, nowhere);
      placed = true;
    } catch (const Error& e) {
      // The placer names one node at a time: without its request the next one shows.
      Node* node = graph.find(e.node());
      if (node == nullptr) throw;
      unmet.emplace(node, e);
      while (node && !cleared.clear(node)) node = partner_that_asks(nodes, *node);
      if (unmet.size() >= kMaxUnmet || node == nullptr) break;
    }
  }
  std::vector<const Node*> named;
  for (const auto& [node, error] : unmet) named.push_back(node);
  std::ranges::sort(named, {}, &Node::id);
  for (const Node* node : named) out.unmet.push_back(unmet.at(node));
  return out;
}

}  // namespace emplace
