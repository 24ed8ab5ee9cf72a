// Placing on devices that need not be here.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "session/runtime.h"
#include "session/table_oracle.h"

namespace emplace {
namespace {

constexpr std::string_view kHere = "/job:localhost/replica:0/task:0";
constexpr size_t kMaxUnmet = 1000;

std::vector<DeviceInfo> infos(std::span<const std::string> names) {
  std::vector<DeviceInfo> devices;
  for (const std::string& name : names) {
    DeviceName parsed = DeviceName::try_parse_local(name).value_or(DeviceName{});
    if (parsed.empty()) parsed = DeviceName::parse(name);
    if (!parsed.type || !parsed.id)
      throw invalid_argument(
          fmt::format("'{}' does not name a device: a type and a number are needed (GPU:0)", name));
    parsed.merge_unset(DeviceName::parse(kHere));
    DeviceInfo d = device_info(parsed.to_string());
    d.local = devices.empty() || d.parsed.same_address_space(devices.front().parsed);
    if (std::ranges::any_of(devices, [&](const DeviceInfo& o) { return o.name == d.name; }))
      throw invalid_argument(fmt::format("Device '{}' is named twice", d.name));
    devices.push_back(std::move(d));
  }
  return devices;
}

// Takes requests back while it lives.
class Cleared {
 public:
  explicit Cleared(Graph& graph) : graph_(graph) {}
  ~Cleared() {
    for (const auto& [node, device] : was_) graph_.set_device(node, device);
  }
  bool clear(Node* node) {
    if (node->device().empty()) return false;
    was_.emplace_back(node, node->device());
    graph_.set_device(node, "");
    return true;
  }

 private:
  Graph& graph_;
  std::vector<std::pair<Node*, std::string>> was_;
};

// The kernel table, but that an operation that it has no kernel of is in nobody's way.
class Lenient final : public KernelOracle {
 public:
  explicit Lenient(const KernelOracle& table) : table_(table) {}
  Kernels kernels(const Node& node) const override {
    Kernels k = table_.kernels(node);
    k.any_type |= k.types.empty();
    return k;
  }
  std::string kernel_list(const Node& node) const override { return table_.kernel_list(node); }

 private:
  const KernelOracle& table_;
};

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
  const std::vector<DeviceInfo> devices = infos(names);
  SessionOptions any_gpu;
  any_gpu.virtual_gpus = 1;  // what a GPU can run in principle, not what a card's backend has
  const auto placer = make_placer("simple");
  const TableOracle table(kernel_table(any_gpu), devices);
  const Lenient oracle(table);
  PlacementOptions options;
  options.allow_soft_placement = soft;
  const std::vector<Node*> nodes = graph.nodes();
  const Unmet nowhere = without_kernel(*placer, nodes, devices, table, options);
  Unmet unmet = nowhere;
  WhatIf out;
  Cleared cleared(graph);
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
