// What is needed to place on devices that need not be here.
#pragma once
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "emplace/graph.h"
#include "placement/request.h"

namespace emplace {

// Devices by full or partial names; the first one's process is the caller's. Throws InvalidArgument.
std::vector<DeviceInfo> absent_devices(std::span<const std::string> names);

// Takes requests back while it lives.
class ClearedRequests {
 public:
  explicit ClearedRequests(Graph& graph) : graph_(graph) {}
  ~ClearedRequests() {
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
class LenientOracle final : public KernelOracle {
 public:
  explicit LenientOracle(const KernelOracle& table) : table_(table) {}
  Kernels kernels(const Node& node) const override {
    Kernels k = table_.kernels(node);
    k.any_type |= k.types.empty();
    return k;
  }
  std::string kernel_list(const Node& node) const override { return table_.kernel_list(node); }

 private:
  const KernelOracle& table_;
};

}  // namespace emplace
